// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pairs of which a rank holds one half.
// expect: rotary: the dim of the vectors is split, which parts the pairs; gather it with whole<dim> first
// expect: dim_is_split<hidden, cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/rotary.hpp>

#include "names.hpp"

using states = dm::tensor<float, hybrid, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const states& x) { return dm::rotary<pixel, hidden>(x); }
#else
auto f(const states& x) { return dm::rotary<pixel, hidden>(dm::whole<hidden>(x)); }
#endif
