// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout before the type of the elements.
// expect: tensor: this is no type of elements; the order is tensor<element, layout, dims...>
// expect: not_an_element<dimesh::layout<pod
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
dm::tensor<by_batch, float, batch, hidden> x;
#else
dm::tensor<float, by_batch, batch, hidden> x;
#endif
