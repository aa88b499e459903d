// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A partial sum assigned to a whole one.
// expect: tensor: the type declared has another layout than the value; complete what is partial, relayout<layout>(x) what is split, or declare it auto
// expect: layouts_differ<dimesh::layout<pod>, dimesh::layout<pod, dimesh::partial<rows>
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
void f(const matrix& x, row& y) { y = dm::sum<batch>(x); }
#else
void f(const matrix& x, row& y) { y = dm::complete(dm::sum<batch>(x)); }
#endif
