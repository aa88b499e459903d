// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cost as a constant over a dim whose extent only the run knows.
// expect: cost_of: the extent of a dim is left open; give it one, dim<64>, or use count(f, shapes...) when the program runs
// expect: dim_without_extent<length>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "names.hpp"

struct total {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::complete(dm::sum(x));
  }
};
#ifdef COMPILE_FAIL
struct length : dm::dim<> {};
using x_type = dm::tensor<float, dm::shaped<by_batch>, batch, length>;
constexpr auto flops = dm::cost_of<total, x_type>.flops;
#else
struct length : dm::dim<64> {};
using x_type = dm::tensor<float, dm::shaped<by_batch>, batch, length>;
constexpr auto flops = dm::cost_of<total, x_type>.flops;
#endif
