// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a batch that does not fit into memory become one step? Its micro-batches run one after
// another, and their gradients add up where those of the first one lie, still partial: the sum over
// the ranks is made once, at the end.
//
//   auto step = complete(accumulate(n, [&](index_t i) {
//     return value_and_grad(f, params)(x[i], y[i]);       // partial: not completed here
//   }));                                                  // one reduction, whatever n is
#pragma once

#include "dimesh/grad/complete.hpp"

namespace dimesh {

namespace detail {

struct add_and_scale {
  double factor;
  template <class T> KOKKOS_FORCEINLINE_FUNCTION T operator()(T a, T b) const {
    return (a + b) * static_cast<T>(factor);
  }
};

/// sum = (sum + x) * factor in the memory of sum. Both may be counted once along some axes; where
/// only one is, it first becomes addends.
template <class X> constexpr void add_in_place(X& sum, X& x, double factor) {
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
    local::map(sum.local_size(), add_and_scale{factor}, sum.data(),
               static_cast<const T*>(sum.data()), addends);
  }
  sum.set_once(whole);
}

template <class... A> inline constexpr bool accumulates = false;
template <class N, class F>
inline constexpr bool accumulates<N, F> =
    std::is_convertible_v<N, index_t> && std::is_invocable_v<const F&, index_t>;

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
  auto sum = one_batch(index_t{0});
  if constexpr (!is_poison<decltype(sum.value)>) {
    for (index_t i = 1; i < n; ++i) {
      auto next = one_batch(i);
      const double factor = i + 1 == n ? 1.0 / static_cast<double>(n) : 1.0;
      const auto add = [factor](const auto&, auto& s, auto& x) {
        detail::add_in_place(s, x, factor);
      };
      detail::check_lengths<std::remove_cvref_t<decltype(sum.gradient)>>("accumulate", sum.gradient,
                                                                         next.gradient);
      for_each_tensor(add, sum.gradient, next.gradient);
      add(0, sum.value, next.value);
    }
  }
  return sum;
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
