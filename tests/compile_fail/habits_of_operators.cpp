// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that tensors do not have, tensors where numbers are wanted, structs where tensors are.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>
#include <dimesh/optim/clip.hpp>
#include <string>

#include "names.hpp"

using matrix = dm::tensor<float, hybrid, batch, hidden>;
using number = dm::tensor<float, whole>;
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, hidden, label>, w),
                           (dm::tensor<float, L, label>, b));
};
using parameters = network<whole>;

// mistake: habits_of_operators__power
// expect: operator^: powers are a function, pow(x, 2), and so is logical_xor(a, b)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x ^ 2; }
#else
auto f(const matrix& x) { return dm::pow(x, 2); }
#endif

// mistake: habits_of_operators__remainder
// expect: operator%: remainders are a function, mod(x, 2), with the sign of the divisor
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const dm::tensor<int, whole, batch>& x) { return x % 2; }
#else
auto f(const dm::tensor<int, whole, batch>& x) { return dm::mod(x, 2); }
#endif

// mistake: habits_of_operators__and
// expect: operator&: of tensors it is a function: logical_and(x > 0, x < 1), of <dimesh/op/logic.hpp>
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return (x > 0) & (x < 1); }
#else
auto f(const matrix& x) { return dm::logical_and(x > 0, x < 1); }
#endif

// mistake: habits_of_operators__or
// expect: operator|: of tensors it is a function: logical_or(x < 0, x > 1), of <dimesh/op/logic.hpp>
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return (x < 0) | (x > 1); }
#else
auto f(const matrix& x) { return dm::logical_or(0 > x, 1 < x); }
#endif

// mistake: habits_of_operators__not
// expect: operator~: of tensors it is a function: logical_not(x > 0), of <dimesh/op/logic.hpp>
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return ~(x > 0); }
#else
auto f(const matrix& x) { return dm::logical_not(0 != x); }
#endif

// mistake: habits_of_operators__truth
// expect: operator!: of tensors it is a function: logical_not(x > 0), of <dimesh/op/logic.hpp>; one truth is value(x)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return !(x > 0); }
#else
auto f(const matrix& x) { return dm::logical_not(x > 0); }
#endif

// mistake: habits_of_operators__increment
// expect: operator++: write x += 1
// expect: wrong_arguments<
// also: BEFORE_IT
#ifdef COMPILE_FAIL
#ifdef BEFORE_IT
void f(matrix& x) { ++x; }
#else
void f(matrix& x) { x++; }
#endif
#else
void f(matrix& x) { x += 1; }
#endif

// mistake: habits_of_operators__number_declared
// expect: tensor: a tensor without dims is no number yet; complete it, and ask value(x)
// expect: not_by_element<
#ifdef COMPILE_FAIL
double f(const matrix& x) { return dm::complete(dm::mean(x)); }
#else
double f(const matrix& x) { return dm::value(dm::complete(dm::mean(x))); }
#endif

// mistake: habits_of_operators__added_to_number
// expect: operator+=: the number on the left cannot become a tensor; add up tensors, or numbers: n += value(x), of one without dims that is complete
// expect: not_by_element<
#ifdef COMPILE_FAIL
void f(double& n, const number& x) { n += x; }
#else
void f(double& n, const number& x) { n += dm::value(x); }
#endif

// mistake: habits_of_operators__taken_from_number
// expect: operator-=: the number on the left cannot become a tensor; add up tensors, or numbers: n -= value(x), of one without dims that is complete
// expect: not_by_element<
#ifdef COMPILE_FAIL
void f(double& n, const number& x) { n -= x; }
#else
void f(double& n, const number& x) { n -= dm::value(x); }
#endif

// mistake: habits_of_operators__loop
// expect: tensor: elements are not reached one by one; broadcast_element(x, {3, 4}) gives one to every rank, to_rank(x) all to one rank, data() this rank's block
// expect: not_by_element<
// levels: 1
#ifdef COMPILE_FAIL
float f(const matrix& x) {
  float s = 0;
  for (auto v : x) s += v;
  return s;
}
#else
float f(const matrix& x) { return dm::value(dm::complete(dm::sum(x))); }
#endif

// mistake: habits_of_operators__element_changed
// expect: tensor: elements are not reached one by one; broadcast_element(x, {3, 4}) gives one to every rank, to_rank(x) all to one rank, data() this rank's block
// expect: not_by_element<
// levels: 1
#ifdef COMPILE_FAIL
void f(matrix& x) { x(1, 2) += 1; }
#else
void f(matrix& x) { x.set(x.at(batch{1}, hidden{2}) + 1, batch{1}, hidden{2}); }
#endif

// mistake: habits_of_operators__rows
// expect: tensor: no tensor stands in brackets; rows of a table are take<dim>(x, ids), and elements where a mask holds select(mask, x, 0)
// expect: not_by_element<
// levels: 1
#ifdef COMPILE_FAIL
auto f(const dm::tensor<float, whole, pixel>& x, const dm::tensor<int, whole, batch>& ids) {
  return x[ids];
}
#else
auto f(const dm::tensor<float, whole, pixel>& x, const dm::tensor<int, whole, batch>& ids) {
  return dm::take<pixel>(x, ids);
}
#endif

// mistake: habits_of_operators__structs_added
// expect: operator+: a struct of tensors is no tensor; for_each_tensor walks several side by side: for_each_tensor([](const auto&, auto& x, auto& y) { x += y; }, p, d)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const parameters& p, const parameters& d) { return p + d; }
#else
void f(parameters& p, const parameters& d) {
  dm::for_each_tensor([](const auto&, auto& x, const auto& y) { x += y; }, p, d);
}
#endif

// mistake: habits_of_operators__structs_subtracted
// expect: operator-: a struct of tensors is no tensor; for_each_tensor walks several side by side: for_each_tensor([](const auto&, auto& x, auto& y) { x -= y; }, p, d)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const parameters& p, const parameters& d) { return p - d; }
#else
void f(parameters& p, const parameters& d) {
  dm::for_each_tensor([](const auto&, auto& x, const auto& y) { x -= y; }, p, d);
}
#endif

// mistake: habits_of_operators__struct_scaled
// expect: operator*: a struct of tensors is no tensor; rescale(p, 0.5) multiplies all in place, and for_each_tensor walks them one by one
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const parameters& p) { return p * 0.5f; }
#else
void f(parameters& p) { dm::rescale(p, 0.5f); }
#endif

// mistake: habits_of_operators__struct_divided
// expect: operator/: a struct of tensors is no tensor; rescale(p, 0.5) multiplies all in place, and for_each_tensor walks them one by one
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const parameters& p) { return p / 2; }
#else
void f(parameters& p) { dm::rescale(p, 0.5f); }
#endif

// mistake: habits_of_operators__walk_swapped
// expect: for_each_tensor: the function comes first, and then the structs whose tensors it takes: for_each_tensor(f, parameters, gradients)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
void f(parameters& p) {
  dm::for_each_tensor(p, [](const auto&, auto& x) { dm::clear(x); });
}
#else
void f(parameters& p) {
  dm::for_each_tensor([](const auto&, auto& x) { dm::clear(x); }, p);
}
#endif

// mistake: habits_of_operators__walk_of_function
// expect: for_each_tensor: a member is neither a tensor, a number, an array or tuple, nor a described struct; describe it by BOOST_HANA_DEFINE_STRUCT
// expect: member_not_walked<
// levels: 1
#ifdef COMPILE_FAIL
auto f() {
  return dm::global_norm([](const auto& p) { return p; });
}
#else
auto f(const parameters& p) { return dm::global_norm(p); }
#endif

// mistake: habits_of_operators__state_of_function
// expect: for_each_tensor: a member is neither a tensor, a number, an array or tuple, nor a described struct; describe it by BOOST_HANA_DEFINE_STRUCT
// expect: member_not_walked<
// levels: 2
#ifdef COMPILE_FAIL
auto f() {
  return dm::adam{}.start([](const auto& p) { return p; });
}
#else
auto f(const parameters& p) { return dm::adam{}.start(p); }
#endif

// mistake: habits_of_operators__text_of_partial
// expect: value: the tensor is a sum, maximum or minimum yet to be made; complete it first
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
auto f(const dm::tensor<float, by_batch, batch>& x) {
  return std::to_string(dm::value(dm::sum(x)));
}
#else
auto f(const matrix& x) { return std::to_string(dm::value(dm::complete(dm::sum(x)))); }
#endif

// mistake: habits_of_operators__zeros_of_template
// expect: zeros: a struct of tensors is made under a layout: zeros<network<L>>(grid)
// expect: not_a_tensor<
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::zeros<network>(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::zeros<network<whole>>(g); }
#endif

// mistake: habits_of_operators__make_of_template
// expect: make: a struct of tensors is made under a layout: make<network<L>>(grid)
// expect: not_a_tensor<
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::make<network>(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::make<network<whole>>(g); }
#endif

// mistake: habits_of_operators__one_bound
// expect: clamp: takes a tensor and two numbers, the least and the greatest: clamp(x, 0, 1); with one bound they are maximum(x, 0), minimum(x, 1)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::clamp(x, 0); }
#else
auto f(const matrix& x) { return dm::clamp(x, 0, 1.0f); }
#endif

// mistake: habits_of_operators__elements_of_text
// expect: tensor: this is no type of elements; the order is tensor<element, layout, dims...>
// expect: not_an_element<
// levels: 1
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::zeros<dm::tensor<std::string, whole, batch>>(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::zeros<dm::tensor<char, whole, batch>>(g); }
#endif
