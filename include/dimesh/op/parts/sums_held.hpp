// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does the type of whole numbers hold their sum? Where it does not, the sum is another number;
// checked builds sum in double precision first, and tell.
//
//   require_sums_held<int>(x, loops_over(...), y)     // throws dimesh::error
#pragma once

#include <limits>
#include <string>

#include "dimesh/core/operation.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/reduce_over.hpp"
#include "dimesh/op/parts/expand.hpp"

namespace dimesh::detail {

/// y: sums R of elements T of x, made by these loops.
template <class R, class T, class Loops>
void require_sums_held(const tensor_core& y, const tensor_core& x, const Loops& loops) {
  constexpr auto least = static_cast<double>(std::numeric_limits<R>::min());
  constexpr auto most = static_cast<double>(std::numeric_limits<R>::max());
  const auto count = static_cast<std::size_t>(y.elements());
  const auto all = storage::acquire(count * sizeof(double));
  auto* const sums = static_cast<double*>(all.data());
  local::map_reduce_over(local::plus{}, loops, local::detail::itself{}, sums, x.data<const T>());
  const writes_memory kernel;
  for (std::size_t i = 0; i < count; ++i)
    if (sums[i] > most + 0.5 || sums[i] < least - 0.5)
      throw error("sum: a sum of whole numbers is " + std::to_string(sums[i]) +
                  ", and its type has those up to " +
                  std::to_string(std::numeric_limits<R>::max()) +
                  "; state a larger one: sum<double>(x), sum<std::int64_t>(x)");
}

}  // namespace dimesh::detail
