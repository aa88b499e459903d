// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step against the gradient, written as one of numbers.
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/clip.hpp>

#include "names.hpp"

template <class L> struct net {
  BOOST_HANA_DEFINE_STRUCT(net, (dm::tensor<float, L, hidden>, w));
};
using parameters = net<whole>;
constexpr auto add = [](const auto&, auto& x, auto& y) { x += y; };
constexpr auto subtract = [](const auto&, auto& x, auto& y) { x -= y; };

// mistake: wrong_arguments__scaled_struct_step
// expect: operator*: a struct of tensors is no tensor; rescale(p, 0.5) multiplies all in place, and for_each_tensor walks them one by one
#ifdef COMPILE_FAIL
void f(parameters& p, parameters& d) { p -= 0.1f * d; }
#else
void f(parameters& p, parameters& d) { dm::rescale(d, 0.1), dm::for_each_tensor(subtract, p, d); }
#endif

// mistake: wrong_arguments__struct_step
// expect: operator-=: a struct of tensors is no tensor; an optimizer steps: sgd{.rate = 0.1}(p, gradients), and for_each_tensor walks several side by side
#ifdef COMPILE_FAIL
void f(parameters& p, parameters& d) { p -= d; }
#else
void f(parameters& p, parameters& d) { dm::for_each_tensor(subtract, p, d); }
#endif

// mistake: wrong_arguments__struct_sum
// expect: operator+=: a struct of tensors is no tensor; for_each_tensor walks several side by side: for_each_tensor([](const auto&, auto& x, auto& y) { x += y; }, p, d)
#ifdef COMPILE_FAIL
void f(parameters& p, parameters& d) { p += d; }
#else
void f(parameters& p, parameters& d) { dm::for_each_tensor(add, p, d); }
#endif
