// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halos along an axis.
// expect: halo_exchange: the width stands in the angle brackets, and then dims; the tensor in the parentheses: halo_exchange<1, north>(x)
// expect: not_a_dim<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::halo_exchange<1, rows>(x); }
#else
auto f(const matrix& x) { return dm::halo_exchange<1, batch>(x); }
#endif
