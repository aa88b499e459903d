// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of a type of the user's own that lacks what an operation does to them; of a type that
// has it, it is done.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct color {
  float red, green;
};
struct force {
  float x = 0, y = 0;
  force() = default;
  constexpr force(float a) : x(a), y(a) {}  // NOLINT: a number is a force
  constexpr force(float a, float b) : x(a), y(b) {}
  friend constexpr force operator+(force a, force b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr force operator*(force a, force b) { return {a.x * b.x, a.y * b.y}; }
  friend constexpr force operator/(force a, force b) { return {a.x / b.x, a.y / b.y}; }
  friend constexpr force operator-(force a) { return {-a.x, -a.y}; }
  friend constexpr bool operator<(force a, force b) { return a.x < b.x; }
};
template <class T> using vector_of = dm::tensor<T, by_batch, batch>;

// mistake: elements_of_users__sum
// expect: sum: elements of this type have no +, or are not made of 0; map them to numbers, or give the type these operators
// expect: element_not_summable<color>
// levels: 1
// also: MEAN
#ifdef COMPILE_FAIL
#ifdef MEAN
auto f(const vector_of<color>& x) { return dm::mean(x); }
#else
auto f(const vector_of<color>& x) { return dm::sum<batch>(x); }
#endif
#else
auto f(const vector_of<force>& x) { return dm::sum(x) + dm::mean(x); }
#endif

// mistake: elements_of_users__added
// expect: operators and functions: elements of these types have none such, or take no number beside them; write map(f, x, y), f a function of elements
// expect: function_not_callable_with<color, color>
// levels: 1
// also: TIMES
#ifdef COMPILE_FAIL
#ifdef TIMES
auto f(const vector_of<color>& x) { return x * x; }
#else
auto f(const vector_of<color>& x) { return x + x; }
#endif
#else
auto f(const vector_of<force>& x) { return x + x * x; }
#endif

// mistake: elements_of_users__beside_number
// expect: operators and functions: elements of these types have none such, or take no number beside them; write map(f, x, y), f a function of elements
// expect: function_not_callable_with<color>
// levels: 1
// also: PLUS
// also: NEGATED
#ifdef COMPILE_FAIL
#if defined(PLUS)
auto f(const vector_of<color>& x) { return 1 + x; }
#elif defined(NEGATED)
auto f(const vector_of<color>& x) { return -x; }
#else
auto f(const vector_of<color>& x) { return x * 2.0f; }
#endif
#else
auto f(const vector_of<force>& x) { return -x + x * 2.0f + 1.0f; }
#endif

// mistake: elements_of_users__compared
// expect: operators and functions: elements of these types have none such, or take no number beside them; write map(f, x, y), f a function of elements
// expect: function_not_callable_with<color, color>
// levels: 1
#ifdef COMPILE_FAIL
auto f(const vector_of<color>& x) { return x < x; }
#else
auto f(const vector_of<force>& x) { return x < x; }
#endif

// mistake: elements_of_users__compared_with_number
// expect: operators and functions: elements of these types have none such, or take no number beside them; write map(f, x, y), f a function of elements
// expect: function_not_callable_with<color>
// levels: 2
// also: EXPONENTIAL
#ifdef COMPILE_FAIL
#ifdef EXPONENTIAL
auto f(const vector_of<color>& x) { return dm::exp(x); }
#else
auto f(const vector_of<color>& x) { return x < 1; }
#endif
#else
auto f(const vector_of<force>& x) { return x < 1; }
#endif

// mistake: elements_of_users__argmax
// expect: argmax: elements of this type have no order that is known; cast the tensor first
// expect: has_order<
#ifdef COMPILE_FAIL
auto f(const dm::tensor<color, whole, batch>& x) { return dm::argmax<batch>(x); }
#else
auto f(const dm::tensor<bool, whole, batch>& x) { return dm::argmax<batch>(x); }
#endif

// mistake: elements_of_users__argmin
// expect: argmin: elements of this type have no order that is known; cast the tensor first
// expect: has_order<
#ifdef COMPILE_FAIL
auto f(const dm::tensor<color, whole, batch>& x) { return dm::argmin<batch>(x); }
#else
auto f(const dm::tensor<bool, whole, batch>& x) { return dm::argmin<batch>(x); }
#endif
