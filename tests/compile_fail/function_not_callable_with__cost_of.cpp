// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One shape too many.
// expect: cost_of: the function cannot be called with these shapes; name one for each of its parameters, which are const auto&
// expect: function_not_callable_with<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "names.hpp"

struct mean {
  template <class X> constexpr auto operator()(const X& x) const { return dm::mean(x); }
};
using shape = dm::tensor<float, dm::shaped<whole>, hidden>;
#ifdef COMPILE_FAIL
auto f() { return dm::cost_of<mean, shape, shape>.value; }
#else
auto f() { return dm::cost_of<mean, shape>.value; }
#endif
