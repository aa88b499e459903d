// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product of float and double.
// expect: einsum: the operands have different element types; cast one of them
// expect: elements_differ<float, double>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<double, whole, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#else
auto f(const matrix& x, const weights& w) {
  return dm::einsum<batch, label>(x, dm::cast<float>(w));
}
#endif
