// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim gets one halo.
// expect: halo_exchange: a dim is named twice; name it once, with a wider halo if that is meant
// expect: dim_repeated<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::halo_exchange<1, batch, batch>(x); }
#else
auto f(const matrix& x) { return dm::halo_exchange<1, batch, hidden>(x); }
#endif
