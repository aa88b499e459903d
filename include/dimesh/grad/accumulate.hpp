// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a batch that does not fit into memory become one step? Its micro-batches run one after
// another, and their gradients add up where those of the first one lie, still partial: the sum over
// the ranks is made once, at the end.
//
//   auto step = complete(accumulate(n, [&](index_t i) {
//     return value_and_grad(f, params)(x[i], y[i]);       // partial: not completed here
//   }));                                                  // one reduction, whatever n is
#pragma once

#include <cmath>
#include <initializer_list>
#include <ranges>
#include <vector>

#include "dimesh/grad/complete.hpp"

namespace dimesh {

namespace detail {

struct add_and_scale {
  double factor;
  template <class T> KOKKOS_FORCEINLINE_FUNCTION T operator()(T a, T b) const {
    return (a + b) * static_cast<T>(factor);
  }
};
/// A weight of 0 says that it is not there, whatever it is: 0 * NaN would be NaN.
struct weigh_and_add {
  double of_sum, of_new;
  template <class T> KOKKOS_FORCEINLINE_FUNCTION T operator()(T a, T b) const {
    return weighed(of_sum, a) + weighed(of_new, b);
  }
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static T weighed(double w, T x) {
    return w == 0 ? T(0) : x * static_cast<T>(w);
  }
};
/// How number i of n micro-batches is added, in elements T. Each is weighed as it comes where T
/// only stores: half does not hold the sum of many.
template <class T> constexpr auto adds_to_mean(index_t i, index_t n) {
  const double part = 1.0 / static_cast<double>(n);
  if constexpr (is_storage_only<T>)
    return weigh_and_add{i == 1 ? part : 1.0, part};
  else
    return add_and_scale{i + 1 == n ? part : 1.0};
}

/// sum = f(sum, x), elementwise, in the memory of sum. Both may be counted once along some axes;
/// where only one is, it first becomes addends.
template <class X, class F> constexpr void add_in_place(X& sum, X& x, const F& f) {
  const unsigned whole = sum.once() & x.once();
  if (core_of(sum).is_shape) {
    const running here(sink_of(core_of(sum)), "accumulate");
    if (tally* const t = core_of(sum).count; t != nullptr)
      t->compute(2 * sum.local_size(), 3 * sum.local_bytes());
  } else if constexpr (!is_shaped<X>) {
    using T = value_of<X>;
    const grid_state& grid = sum.grid().state();
    const running here(watcher, "accumulate");
    const watched event(2 * sum.local_size(), 3 * sum.local_bytes());
    const in_space there(core_of(sum).facts->space);
    own_memory(sum, true);
    // Where only one of them is counted once, it is so by the first rank alone from here on.
    if (sum.once() != whole && !grid.is_first(sum.once() & ~whole))
      zero_bytes(sum.data(), sum.local_bytes());
    if (x.once() != whole && !grid.is_first(x.once() & ~whole)) {
      own_memory(x, false);
      zero_bytes(x.data(), x.local_bytes());
    }
    const T* const addends = x.data();
    local::map(sum.local_size(), f, sum.data(), static_cast<const T*>(sum.data()), addends);
  }
  sum.set_once(whole);
}

/// The first micro-batch, to which the others are added: by the function that next_of<T>(i) gives
/// for elements T.
template <class F, class Next>
constexpr auto add_up(index_t n, const F& one_batch, const Next& next_of) {
  auto sum = one_batch(index_t{0});
  if constexpr (!is_poison<decltype(sum.value)>) {
    for (index_t i = 1; i < n; ++i) {
      auto next = one_batch(i);
      const auto add = [&](const auto&, auto& s, auto& x) {
        add_in_place(s, x,
                     next_of.template operator()<value_of<std::remove_cvref_t<decltype(s)>>>(i));
      };
      check_lengths<std::remove_cvref_t<decltype(sum.gradient)>>("accumulate", sum.gradient,
                                                                 next.gradient);
      for_each_tensor(add, sum.gradient, next.gradient);
      add(0, sum.value, next.value);
    }
  }
  return sum;
}

/// What a list of weights holds.
template <class W>
concept Weights =
    std::ranges::range<const W> && std::is_arithmetic_v<std::ranges::range_value_t<const W>>;

/// Their sum. Throws dimesh::error where they are no weights.
inline double sum_of_weights(const std::vector<double>& weights) {
  double sum = 0;
  bool good = true;
  for (const double w : weights) good = good && w >= 0 && std::isfinite(w), sum += w;
  if (!good || !(sum > 0))
    throw error(
        "accumulate: the weights of the micro-batches are numbers from 0 on, of which one at least "
        "is greater");
  return sum;
}

template <class... A> inline constexpr bool accumulates = false;
template <class N, class F>
inline constexpr bool accumulates<N, F> =
    (std::is_convertible_v<N, index_t> || Weights<N>) && std::is_invocable_v<const F&, index_t>;

}  // namespace detail

/// The means of the losses and of the gradients of n micro-batches (n >= 1), in the form in which
/// one_batch(i), i = 0 ... n-1, returns them: a fresh value_and_gradient each. That of the first is
/// summed into; besides it, one other lives at a time. Local: communicates only what one_batch
/// does. Throws dimesh::error if n < 1.
template <class F>
  requires(std::is_invocable_v<const F&, index_t>)
constexpr auto accumulate(index_t n, const F& one_batch) {
  if (n < 1)
    (detail::words() << "accumulate: " << n << " micro-batches; give it one or more").raise();
  return detail::add_up(n, one_batch,
                        [n]<class T>(index_t i) { return detail::adds_to_mean<T>(i, n); });
}
/// The same, weighted: the sum of weights[i] times that of micro-batch i, divided by the sum of the
/// weights. Where a loss is a mean over what a micro-batch holds (tokens, records that are there),
/// and they hold different numbers of it, these are the weights, of all ranks together: then it is
/// the mean over all of them, as of the whole batch. One of weight 0 changes nothing, NaN or not.
/// Throws dimesh::error where weights are negative or not finite, or where there is none but 0.
template <detail::Weights W, class F>
  requires(std::is_invocable_v<const F&, index_t>)
auto accumulate(const W& weights, const F& one_batch) {
  std::vector<double> all;
  for (const auto w : weights) all.push_back(static_cast<double>(w));
  const double sum = detail::sum_of_weights(all);
  return detail::add_up(static_cast<index_t>(all.size()), one_batch, [&all, sum]<class>(index_t i) {
    const auto at = static_cast<std::size_t>(i);
    return detail::weigh_and_add{i == 1 ? all[0] / sum : 1.0, all[at] / sum};
  });
}
template <class F>
  requires(std::is_invocable_v<const F&, index_t>)
auto accumulate(std::initializer_list<double> weights, const F& one_batch) {
  return accumulate(std::vector<double>(weights), one_batch);
}
/// What it says to other arguments.
template <class... A>
  requires(!detail::accumulates<A...>)
constexpr auto accumulate(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "accumulate: the arguments are a number of micro-batches, and a function of a "
                "batch's number: accumulate(4, [&](index_t i) { ... })");
  return value_and_gradient<poison, poison>{};
}

}  // namespace dimesh
