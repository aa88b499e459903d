// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A halo wider than a layout can note: said once, where the halo is asked for.
// expect: halo_exchange: a halo is 1 to max_halo elements wide; give such a width
#include <dimesh/dimesh.hpp>
#include <dimesh/op/halo_exchange.hpp>

#include "names.hpp"

using row = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const row& x) { return dm::halo_exchange<dm::max_halo + 1, batch>(x); }
#else
auto f(const row& x) { return dm::halo_exchange<dm::max_halo, batch>(x); }
#endif
