// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A maximum yet to be found enters a product.
// expect: einsum: an operand is a maximum or minimum yet to be made; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using maxima = dm::tensor<float, dm::layout<pod, dm::partial_max<cols>>, batch, hidden>;
using weights = dm::tensor<float, whole, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const maxima& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#else
auto f(const maxima& x, const weights& w) { return dm::einsum<batch, label>(dm::complete(x), w); }
#endif
