// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of a product live on different meshes.
// expect: einsum: the operands live on different meshes; put them on one
// expect: meshes_differ<pod, row>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
#ifdef COMPILE_FAIL
using w_layout = dm::layout<row>;
#else
using w_layout = dm::layout<pod>;
#endif
auto f(const dm::tensor<float, whole, batch, pixel>& x,
       const dm::tensor<float, w_layout, pixel, hidden>& w) {
  return dm::einsum<batch, hidden>(x, w);
}
