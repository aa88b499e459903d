// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is below the types of products, compensated sums and variances? Their cost, kernel and
// transpose. The entry points are reductions.hpp.
//
//   prod:  xbar[i] = ybar (the product of x before i) (the product of x behind i)
//   var:   xbar[i] = ybar 2 (x[i] - mean) / (n - less)
#pragma once

#include "dimesh/local/scan_steps.hpp"
#include "dimesh/local/statistics.hpp"
#include "dimesh/op/map.hpp"
#include "dimesh/op/parts/scan_op.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh::detail {

struct times_two_function {
  template <class A, class B, class C>
  KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b, const C& c) const {
    return a * (b * c);
  }
};

/// The product along dim d of x. Its derivative by an element is the product of those before and
/// those behind: nothing is divided.
template <class T> struct prod_op {
  int d;
  static constexpr std::string_view call = "prod";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
    static_assert(is_on_host<T>, "prod: the kernel runs on the host only; use a host space");
    local::products(loops_over(loop_dims(x[0]), y[0], x[0]), x[0].data<const T>(), y[0].data<T>(),
                    y[0].elements());
  }
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    if (!to.wants(0)) return;
    using scan = fold_scan_op<local::times, T>;
    const tensor_core& x = to.x(0);
    const auto product_of = [&](bool reverse) {
      return to.made(x.facts, scan({}, {.exclusive = true, .reverse = reverse}, d, call), x);
    };
    to.pass(0, to.template made<7u>(x.facts->dual, map_op<times_two_function, T, T, T, T>{{}, call},
                                    to.ybar, product_of(false), product_of(true)));
  }
};

/// Sums that keep what they lose.
template <class T> struct compensated_sum_op {
  static constexpr std::string_view call = "compensated_sum";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(6 * x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
    static_assert(is_on_host<T>,
                  "compensated_sum: the kernel runs on the host only; use a host space");
    local::compensated_sum(loops_over(loop_dims(x[0]), y[0], x[0]), x[0].data<const T>(),
                           y[0].data<T>(), y[0].elements());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, expand_op<T, T>{}, to.ybar); }
};

/// c (x - s / n) ybar: the derivative of squared deviations, from the sum s of n elements.
struct deviation_function {
  double share, scale;
  template <class X, class S, class B>
  KOKKOS_INLINE_FUNCTION auto operator()(const X& x, const S& s, const B& bar) const {
    return (x - s * share) * (bar * scale);
  }
};

/// Squared deviations of n elements x summed, times `scale`; the dims that go are whole.
template <class T> struct var_op {
  double share, scale;  // 1 / n
  static constexpr std::string_view call = "var";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(4 * x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
    static_assert(is_on_host<T>, "var: the kernel runs on the host only; use a host space");
    const opened memory;
    const index_t n = y[0].elements();
    const storage means = storage::acquire(static_cast<std::size_t>(2 * n) * sizeof(T));
    T *const to = y[0].data<T>(), *const base = static_cast<T*>(means.data());
    local::deviations(loops_over(loop_dims(x[0]), y[0], x[0]), x[0].data<const T>(), base, base + n,
                      to, n);
    for (index_t i = 0; i < n; ++i) to[i] *= static_cast<T>(scale);
  }
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    if (!to.wants(0)) return;
    const tensor_core sum = to.made(to.y().facts, sum_op<T, T>{}, to.x(0));
    const map_op<deviation_function, T, T, T, T> by{{share, 2 * scale}, call};
    to.pass(0, to.template made<7u>(to.x(0).facts->dual, by, to.x(0), sum, to.ybar));
  }
};

}  // namespace dimesh::detail
