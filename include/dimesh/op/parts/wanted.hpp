// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a transpose that gives several cotangents in one pass give only those that are wanted?
// It runs as an operation whose results are the wanted ones; the others become `none`.
//
//   all_wanted<true, false, true>(transpose_op{}, to, ybar, x, b, m)  -> bundle(xbar, none, mbar)
#pragma once

#include "dimesh/op/parts/apply.hpp"

namespace dimesh::detail {

/// Which operands want a cotangent, and the place of each among those that do.
template <bool... Wanted> struct selection {
  static constexpr bool at[sizeof...(Wanted)] = {Wanted...};
  static constexpr std::size_t place(std::size_t k) {
    std::size_t before = 0, i = 0;
    ((before += Wanted && i < k, ++i), ...);
    return before;
  }
};

/// The specs of the wanted cotangents of operands with specs S...
template <class Select, class... S> struct wanted_specs;
template <bool... Wanted, class... S> struct wanted_specs<selection<Wanted...>, S...> {
  template <bool W, class X> using bar_if = std::conditional_t<W, list<cotangent_spec<X>>, list<>>;
  using type = typename concat_impl<list<>, bar_if<Wanted, S>...>::type;
};

template <bool W, std::size_t I, class Bars> constexpr auto bar_or_none(Bars& bars) {
  if constexpr (W)
    return item<I>(bars);
  else
    return none{};
}

template <bool... Wanted, std::size_t... K, class Op, class... X>
constexpr auto wanted_each(std::index_sequence<K...>, const Op& op,
                           const slots<sizeof...(Wanted)>& to, const X&... x) {
  slots<sizeof...(Wanted)> packed{};
  ((Wanted ? void(packed.at[selection<Wanted...>::place(K)] = to.at[K]) : void()), ...);
  auto bars = apply_into(op, packed, x...);
  return bundle(bar_or_none<Wanted, selection<Wanted...>::place(K)>(bars)...);
}

/// Runs an operation whose results are the wanted cotangents; a bundle with a place for each
/// operand of the operation that is transposed.
template <bool... Wanted, class Op, class... X>
constexpr auto all_wanted(const Op& op, const slots<sizeof...(Wanted)>& to, const X&... x) {
  return wanted_each<Wanted...>(std::make_index_sequence<sizeof...(Wanted)>{}, op, to, x...);
}

}  // namespace dimesh::detail
