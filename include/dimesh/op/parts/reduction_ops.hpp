// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is below the types of products, compensated sums and variances? Their cost, kernel and
// transpose. The entry points are reductions.hpp.
//
//   prod:  xbar[i] = ybar (the product of x before i) (that of x behind i), ybar completed where x
//          is split
//   var:   xbar[i] = ybar 2 (x[i] - mean) / (n - less), ybar completed where x is split
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/scan_steps.hpp"
#include "dimesh/local/statistics.hpp"
#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/map.hpp"
#include "dimesh/op/parts/moments.hpp"
#include "dimesh/op/parts/scan_op.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh::detail {

struct times_two_function {
  template <class A, class B, class C>
  KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b, const C& c) const {
    return a * (b * c);
  }
};

/// Sums that keep what they lose.
template <class T> struct compensated_sum_op {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "compensated_sum";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(6 * x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
    local::compensated_sum(loops_over(loop_dims(x[0]), y[0], x[0]), x[0].data<const T>(),
                           y[0].data<T>(), y[0].elements());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, expand_op<T, T>{}, to.ybar); }
};

/// What is left of x over D..., completed: nothing is partial.
template <class... D> struct var_rule : reduce_rule<use::partial, false, D...> {
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = reduce_rule<use::partial, false, D...>::of(x, out);
    return o.ok() ? allowed(without_axes(o.layout, o.layout.mask(use::partial))) : o;
  }
};

/// A cotangent of what was completed, completed: addends are the facts of what was not.
template <class T>
constexpr tensor_core completed_bar(const auto& to, const moment_place& place,
                                    const tensor_facts* addends, const tensor_core& bar) {
  return place.over == 0 ? bar : to.made(addends->dual, all_reduce_op<T>{{place.over}}, bar);
}

/// The product along dim d of x, over all ranks that split it. Its derivative by an element is the
/// product of those before and those behind: nothing is divided. Addends: the facts of a sum of x
/// that is not completed.
template <class T> struct prod_op {
  int d;
  const tensor_facts* addends;
  std::string_view call;

  constexpr void cost(tally& t, results y, operands x) const {
    moment_place(x[0], y[0]).cost(t, x[0], y[0].bytes(), 1);
    t.compute(x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
    reduce_blocks<T, T>(local::times{}, y, x);
    std::byte* const to = collective::bytes_of(y[0].data<T>());
    if (const unsigned over = moment_place(x[0], y[0]).over; over != 0)
      collective::all_reduce_elements(x[0].grid->along(over), collective::wire_of<T>, to, to,
                                      y[0].elements(), collective::reduction::product);
  }
  static constexpr bool takes_complex = true;
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    if (!to.wants(0)) return;
    using scan = fold_scan_op<local::times, T>;
    const tensor_core& x = as_factor<T>(to, to.x(0));
    const auto product_of = [&](bool reverse) {
      return to.made(x.facts, scan({}, {.exclusive = true, .reverse = reverse}, d, call), x);
    };
    const tensor_core bar = completed_bar<T>(to, moment_place(x, to.y()), addends, to.ybar);
    const tensor_core before = product_of(false), behind = product_of(true);
    if constexpr (is_complex<T>) {  // factor by factor: these say their own cotangents
      using product = map_op<multiply_function, T, T, T>;
      const tensor_core others = to.template made<3u>(x.facts, product{{}, call}, before, behind);
      to.pass(0, to.template made<3u>(x.facts->dual, product{{}, call}, bar, others));
    } else {
      using product = map_op<times_two_function, T, T, T, T>;
      to.pass(0, to.template made<7u>(x.facts->dual, product{{}, call}, bar, before, behind));
    }
  }
};

struct center_function {
  template <class X, class M> KOKKOS_INLINE_FUNCTION auto operator()(X x, M mean, M rest) const {
    return (x - mean) - rest;
  }
};
/// c (x - mean) ybar: the derivative of squared deviations.
struct deviation_function {
  double scale;
  template <class X, class M, class B>
  KOKKOS_INLINE_FUNCTION auto operator()(X x, M mean, M rest, B bar) const {
    return ((x - mean) - rest) * (bar * scale);
  }
};
struct scaled_product_function {
  double scale;
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(A a, B b) const {
    return a * (b * scale);
  }
};
struct less_share_function {
  double share;
  template <class A, class S> KOKKOS_INLINE_FUNCTION auto operator()(A a, S sum) const {
    return a - sum * share;
  }
};

/// x - its mean, from x and the two parts of that, which are numbers: the mean's share in the
/// derivative is here.
template <class T> struct center_op {
  const tensor_facts* addends;
  static constexpr std::string_view call = "var";
  static constexpr map_op<center_function, T, T, T, T> by{{}, call};

  constexpr void cost(tally& t, results y, operands x) const { by.cost(t, y, x); }
  void fill(results y, operands x) const { by.fill(y, x); }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    if (!to.wants(0)) return;
    const moment_place place(to.x(0), to.x(1));
    const tensor_core sum =
        completed_bar<T>(to, place, addends, to.made(to.x(1).facts->dual, sum_op<T, T>{}, to.ybar));
    const map_op<less_share_function, T, T, T> less{{place.share()}, call};
    to.pass(0, to.template made<3u>(to.x(0).facts->dual, less, to.ybar, sum));
  }
};

/// Squared deviations of n elements x summed, over n - less; auxiliary: the mean, and what that
/// lacks for being rounded. Addends: the facts of a sum of x that is not completed.
template <class T> struct var_op {
  static constexpr bool on_host = true;
  double less;
  const tensor_facts* addends;
  static constexpr std::string_view call = "var";

  constexpr void cost(tally& t, results y, operands x) const {
    for (const index_t each : {1, 2})
      moment_place(x[0], y[0]).cost(t, x[0], each * y[0].bytes(), 1);
    t.compute(4 * x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
    const moment_place place(x[0], y[0]);
    T* const to = y[0].data<T>();
    find_moments(place, x[0], y[0], y[1].data<T>(), y[2].data<T>(), to);
    const writes_memory kernel;
    const T by = static_cast<T>(place.all / (place.all - less));
    for (index_t i = 0, n = y[0].elements(); i < n; ++i) to[i] *= by;
  }
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    if (!to.wants(0)) return;
    const tensor_core& x = to.x(0);
    const moment_place place(x, to.y());
    const double scale = 2 / (place.all - less);
    const tensor_core bar = completed_bar<T>(to, place, addends, to.ybar);
    // Copies: where this is recorded the auxiliaries are numbers, and center_op knows it.
    const tensor_core mean = to.y(1), rest = to.y(2);
    if constexpr (std::remove_cvref_t<decltype(to)>::depth > 1) {
      const tensor_core apart = to.made(x.facts, center_op<T>{addends}, x, mean, rest);
      const map_op<scaled_product_function, T, T, T> by{{scale}, call};
      to.pass(0, to.template made<3u>(x.facts->dual, by, apart, bar));
    } else {
      const map_op<deviation_function, T, T, T, T, T> by{{scale}, call};
      to.pass(0, to.template made<0u>(x.facts->dual, by, x, mean, rest, bar));
    }
  }
};

}  // namespace dimesh::detail
