// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The type declared forgets that the sum is yet to be made.
// expect: tensor: the type declared has another layout than the value; complete what is partial, relayout<layout>(x) what is split, or declare it auto
// expect: layouts_differ<dimesh::layout<pod>, dimesh::layout<pod, dimesh::partial<rows>
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
row f(const matrix& x) { return dm::sum<batch>(x); }
#else
row f(const matrix& x) { return dm::complete(dm::sum<batch>(x)); }
#endif
