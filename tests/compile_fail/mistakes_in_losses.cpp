// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compilers say themselves of a function's text is said once, although a gradient asks for
// the function with plain parameters and with recorded ones.
#define RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

// mistake: mistakes_in_losses__member
// expect: no member named
// lines: 18
struct step {
  template <class P, class X> auto operator()(const P& p, const X& x) const {
#ifdef COMPILE_FAIL
    return dm::einsum<batch, label>(x, p.weight);
#else
    return dm::einsum<batch, label>(x, p.w);
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

// mistake: mistakes_in_losses__plain
// expect: no member named
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& p, const auto& x) { return dm::mean(x * p.weight); };
#else
constexpr auto loss = [](const auto& p, const auto& x) {
  return dm::mean(dm::einsum<batch, label>(x, p.w));
};
#endif
auto f(const parameters<hybrid>& p, const inputs& x) {
  auto [value, gradient] = dm::complete(dm::value_and_grad(loss, p)(x));
  return dm::value(value);
}

// mistake: mistakes_in_losses__declared
// expect: tensor: of variable and value, one is recorded (or a shape), the other not; declare it auto, begin a loop with a recorded value, or take stop_gradient of it
// expect: not_the_same_kind<
// lines: 18
using matrix = dm::tensor<float, whole, batch, hidden>;
auto f(const matrix& p, const matrix& x) {
  return dm::value_and_grad(
      [&](const auto& w) {
#ifdef COMPILE_FAIL
        const matrix y = w * x;
#else
        const auto y = w * x;
#endif
        return dm::sum(y);
      },
      p)();
}
