// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pullbacks that are called with no cotangent, and recurrences without parameters.
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recur.hpp>
#include <dimesh/grad/vjp.hpp>

#include "names.hpp"

struct line : dm::mesh<rows> {};
using matrix = dm::tensor<float, dm::layout<line, dm::split<batch, rows>>, batch, hidden>;
using row = dm::tensor<float, dm::layout<line>, hidden>;
struct length : dm::dim<5> {};
using rows_in_time = dm::tensor<float, dm::layout<line>, length, hidden>;
constexpr auto scaled = [](const auto& w, const auto& x) { return w * x; };
constexpr auto step = [](const auto&, const auto& s, const auto& x) {
  const auto n = s + x;
  return std::tuple{n, n};
};

// mistake: pulled_back_wrongly__by_nothing
// expect: vjp: the pullback takes one cotangent, a tensor like the function's value: back(ybar); of a value without dims value_and_grad gives the gradient
// expect: wrong_arguments<>
// levels: 1
#ifdef COMPILE_FAIL
void f(const row& w, const matrix& x) {
  auto [y, back] = dm::vjp(scaled, w, x);
  (void)back();
}
#else
void f(const row& w, const matrix& x) {
  auto [y, back] = dm::vjp(scaled, w, x);
  (void)back(y);
}
#endif

// mistake: pulled_back_wrongly__by_number
// expect: vjp: the pullback takes one cotangent, a tensor like the function's value: back(ybar); of a value without dims value_and_grad gives the gradient
// expect: wrong_arguments<float>
// levels: 1
#ifdef COMPILE_FAIL
void f(const row& w, const matrix& x) {
  auto [y, back] = dm::vjp(scaled, w, x);
  (void)back(1.0f);
}
#else
void f(const row& w, const matrix& x) {
  auto [y, back] = dm::vjp(scaled, w, x);
  (void)back(y);
}
#endif

// mistake: pulled_back_wrongly__const
// expect: vjp: a call uses the pullback up, and this one is const; take it with auto [y, back] = vjp(f, x), and let a lambda that holds it be mutable
// expect: wrong_arguments<
// levels: 1
#ifdef COMPILE_FAIL
void f(const row& w, const matrix& x) {
  const auto [y, back] = dm::vjp(scaled, w, x);
  (void)back(y);
}
#else
void f(const row& w, const matrix& x) {
  auto [y, back] = dm::vjp(scaled, w, x);
  (void)back(y);
}
#endif

// mistake: pulled_back_wrongly__recur_without_parameters
// expect: recur: the step, its parameters (std::tuple{} for none), the first carry, then what each step gets an element of: recur<length>(step, p, start, x)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const row& s, const rows_in_time& x) { return dm::recur<length>(step, s, x); }
#else
auto f(const row& s, const rows_in_time& x) { return dm::recur<length>(step, std::tuple{}, s, x); }
#endif
