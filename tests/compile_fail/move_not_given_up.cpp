// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A handle that is awaited and kept.
// expect: await: it takes a started move, and uses it up: await(std::move(s))
// expect: move_not_given_up<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
auto f(const matrix& x) {
  auto coming = dm::start_all_gather<rows>(x);
#ifdef COMPILE_FAIL
  return dm::sum<batch>(dm::await(coming));
#else
  return dm::sum<batch>(dm::await(std::move(coming)));
#endif
}
