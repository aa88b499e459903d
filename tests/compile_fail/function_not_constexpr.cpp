// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost, as a constant, of a function that the compiler cannot run.
// expect: cost_of: the compiler cannot run the function; declare operator() constexpr, and let it read nothing that only the run knows, or use count(f, shapes...)
// expect: function_not_constexpr<mean_of>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "names.hpp"

using shape = dm::tensor<float, dm::shaped<whole>, hidden>;
#ifdef COMPILE_FAIL
struct mean_of {
  auto operator()(const auto& x) const { return dm::mean(x); }
};
#else
struct mean_of {
  constexpr auto operator()(const auto& x) const { return dm::mean(x); }
};
#endif
constexpr auto cost = dm::cost_of<mean_of, shape>;
