// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of a type of the user's own that lacks what is done to them in products, scans and
// orders.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/reductions.hpp>
#include <dimesh/op/scan.hpp>
#include <dimesh/op/sort.hpp>
#include <dimesh/op/sort_all_to_all.hpp>
#include <dimesh/op/top_k_all_gather.hpp>

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
  friend constexpr bool operator==(force a, force b) { return a.x == b.x; }
  friend constexpr bool operator>(force a, force b) { return a.x > b.x; }
};
template <class T> using matrix_of = dm::tensor<T, whole, batch, hidden>;
template <class T> using weights_of = dm::tensor<T, whole, hidden, label>;
struct best : dm::dim<2> {};

// mistake: element_not_summable__product
// expect: einsum: elements of this type have no * or +, or are not made of 0; map them to numbers, or give the type these operators
// expect: element_not_summable<color>
#ifdef COMPILE_FAIL
auto f(const matrix_of<color>& x, const weights_of<color>& w) {
  return dm::einsum<batch, label>(x, w);
}
#else
auto f(const matrix_of<force>& x, const weights_of<force>& w, const matrix_of<color>& c) {
  (void)dm::einsum<hidden, batch>(c);  // the order of dims alone
  return dm::einsum<batch, label>(x, w);
}
#endif

// mistake: element_not_summable__prod
// expect: prod: elements of this type have no *, or are not made of 1; map them to numbers, or give the type these
// expect: element_not_summable<color>
// levels: 1
#ifdef COMPILE_FAIL
auto f(const matrix_of<color>& x) { return dm::prod<hidden>(x); }
#else
auto f(const matrix_of<force>& x) { return dm::prod<hidden>(x); }
#endif

// mistake: element_not_summable__var
// expect: var, stddev: elements of this type are no numbers; map them to numbers first
// expect: element_not_summable<color>
// levels: 1
// also: ROOT
#ifdef COMPILE_FAIL
#ifdef ROOT
auto f(const matrix_of<color>& x) { return dm::stddev<hidden>(x); }
#else
auto f(const matrix_of<color>& x) { return dm::var<hidden>(x); }
#endif
#else
auto f(const matrix_of<color>& x) {
  return dm::var<hidden>(dm::map([](color c) { return c.red; }, x));
}
#endif

// mistake: element_not_summable__scan
// expect: cumsum, cumprod, cummax, cummin: elements of this type have no +, no *, or no order that is known; map them to numbers, or scan<dim>(f, first, x)
// expect: element_not_summable<
// levels: 1
// also: PRODUCTS
// also: GREATEST
#ifdef COMPILE_FAIL
#if defined PRODUCTS
auto f(const matrix_of<color>& x) { return dm::cumprod<hidden>(x); }
#elif defined GREATEST
auto f(const matrix_of<force>& x) { return dm::cummax<hidden>(x); }
#else
auto f(const matrix_of<color>& x) { return dm::cumsum<hidden>(x); }
#endif
#else
auto f(const matrix_of<force>& x) { return dm::cumsum<hidden>(x) + dm::cumprod<hidden>(x); }
#endif

// mistake: element_not_summable__sorted
// expect: sort, argsort, top_k: elements of this type have no order that is known (nth_largest, nth_smallest: no > or ==); map them to numbers first
// expect: element_not_summable<
// levels: 1
// also: PLACES
// also: GREATEST
// also: NTH
#ifdef COMPILE_FAIL
#if defined PLACES
auto f(const matrix_of<force>& x) { return dm::argsort<hidden>(x); }
#elif defined GREATEST
auto f(const matrix_of<color>& x) { return dm::top_k<hidden, best>(x); }
#elif defined NTH
auto f(const matrix_of<color>& x) { return dm::nth_smallest<hidden>(x, 1); }
#else
auto f(const matrix_of<color>& x) { return dm::sort<hidden>(x); }
#endif
#else
auto f(const matrix_of<force>& x) {
  (void)dm::argsort<hidden>(dm::map([](force v) { return v.x; }, x));
  return dm::nth_largest<hidden>(x, 1);
}
#endif

// mistake: element_not_summable__sorted_across
// expect: sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: elements of this type have no order that is known; map them to numbers first
// expect: element_not_summable<color>
// levels: 1
// also: GREATEST
#ifdef COMPILE_FAIL
#ifdef GREATEST
auto f(const matrix_of<color>& x) { return dm::top_k_all_gather<hidden, best>(x); }
#else
auto f(const matrix_of<color>& x) { return dm::sort_all_to_all<hidden>(x); }
#endif
#else
auto f(const matrix_of<color>& x) {
  return dm::sort_all_to_all<hidden>(dm::map([](color c) { return c.red; }, x));
}
#endif
