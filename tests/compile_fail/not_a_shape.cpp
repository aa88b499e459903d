// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of a call on tensors with data, as a constant.
// expect: cost_of: an argument has data; name shapes: tensor<float, shaped<layout>, dims...>
// expect: not_a_shape<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "names.hpp"

struct total {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::complete(dm::sum(x));
  }
};
#ifdef COMPILE_FAIL
using x_type = dm::tensor<float, by_batch, batch>;
constexpr auto bytes = dm::cost_of<total, x_type>.bytes<rows>;
#else
using x_type = dm::tensor<float, dm::shaped<by_batch>, batch>;
constexpr auto bytes = dm::cost_of<total, x_type>.bytes<rows>;
#endif
