// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function object that counts its calls.
// expect: value_and_grad: the function changes itself or what it is given; take const auto&, and let operator() be const
// expect: function_not_const<counting>
// levels: 0
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
struct counting {
  int calls = 0;
#ifdef COMPILE_FAIL
  template <class X> auto operator()(const X& x) {
    ++calls;
    return dm::mean(x);
  }
};
auto f(const row& x) { return dm::value_and_grad(counting{}, x)(); }
#else
  template <class X> auto operator()(const X& x) const { return dm::mean(x); }
};
auto f(const row& x) { return dm::value_and_grad(counting{}, x)(); }
#endif
