// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a function of an element and its neighbours run over a grid of points? `stencil` applies
// it to tensors that carry halos, in one local pass; the result has none. It differentiates itself.
//
//   stencil([](const auto& u) { return at<row>(u, -1) + at<row>(u, 1) - 2 * at<>(u); },
//           tensor<T, layout<pod, split<halo<row, 1>, rows>>, row, col>)
//     -> tensor<T, layout<pod, split<row, rows>>, row, col>
//
// The function reads the same neighbours at every point: it chooses between values by `select`.
#pragma once

#include <tuple>

#include "dimesh/op/map.hpp"
#include "dimesh/op/parts/stencil_rows.hpp"
#include "dimesh/op/parts/wanted.hpp"

namespace dimesh {

namespace detail {

struct without_halos {
  static constexpr table of(table t) {
    for (signed char& h : t.halo) h = 0;
    return t;
  }
};
template <class S> using bare_spec = relaid_spec<S, without_halos>;

/// The cotangents of all wanted operands, stored like them: halos and all.
template <class F, bool... Wanted> struct stencil_transpose_op {
  F f;
  using select = selection<Wanted...>;

  template <class B, class... S> using result = typename wanted_specs<select, S...>::type;

  template <class Bars, class B, class... X>
  constexpr void cost(tally& t, const Bars& bars, const B& ybar, const X&... x) const {
    index_t bytes = ybar.local_bytes() + (x.local_bytes() + ...);
    with_items([&](const auto&... b) { bytes += (b.local_bytes() + ...); }, bars);
    t.compute(2 * (1 + (int{Wanted} + ...)) * ybar.local_size(), bytes);
  }
  template <class Bars, class B, class... X>
  void fill(Bars& bars, const B& ybar, const X&... x) const {
    fill_each(bars, std::make_index_sequence<sizeof...(X)>{}, ybar, x...);
  }

 private:
  template <class Bars, std::size_t... K, class B, class... X>
  void fill_each(Bars& bars, std::index_sequence<K...>, const B& ybar, const X&... x) const {
    using dims = typename spec_of<B>::dims;
    const std::tuple in(lattice<spec_of<X>, dims>(x.data(), x)...);
    (fill_one<K>(bars, ybar, in), ...);
  }
  template <std::size_t V, class Bars, class B, class... L>
  void fill_one(Bars& bars, const B& ybar, const std::tuple<L...>& in) const {
    if constexpr (select::at[V]) {
      auto& bar = item<select::place(V)>(bars);
      zero_bytes(bar.data(), bar.local_bytes());
      std::tuple_element_t<V, std::tuple<L...>> to(bar.data(), bar);
      std::vector<index_t> asked;
      std::vector<index_t> others;
      ask<V>(asked, others, in, std::index_sequence_for<L...>{});
      for (const index_t away : asked) {
        const stencil_back_row<V, F, value_of<B>, B::rank, L...> row{
            f, ybar.data(), points_of(ybar), in, to, away};
        for_each_row<B::rank>(row.extent, row);
      }
    }
  }
  /// Which neighbours of operand V does f read?
  template <std::size_t V, class... L, std::size_t... K>
  void ask(std::vector<index_t>& asked, std::vector<index_t>& others, const std::tuple<L...>& in,
           std::index_sequence<K...>) const {
    (void)f(seen_nothing<typename L::spec_type>{std::get<K>(in).far, K == V ? &asked : &others}...);
  }
};

template <class F> struct stencil_op {
  F f;

  template <class... S>
  using result = typename map_rule<join_kind::nonlinear, bare_spec<S>...>::template result<
      std::decay_t<std::invoke_result_t<const F&, seen_values<S>...>>>;

  template <class Y, class... X> void fill(const Y& y, const X&... x) const {
    using dims = typename spec_of<Y>::dims;
    const stencil_row<F, Y::rank, lattice<spec_of<Y>, dims>, lattice<spec_of<X>, dims>...> row{
        f,
        lattice<spec_of<Y>, dims>(y.data(), y),
        points_of(y),
        {lattice<spec_of<X>, dims>(x.data(), x)...}};
    for_each_row<Y::rank>(row.extent, row);
  }
  template <class Y, class... X> constexpr void cost(tally& t, const Y& y, const X&... x) const {
    t.compute(y.local_size(), y.local_bytes() + (x.local_bytes() + ...));
  }
  static constexpr bool needs(int k, unsigned wanted) { return k >= 0 && wanted != 0; }

  template <bool... Wanted, std::size_t N, class B, class Y, class... X>
  constexpr auto transpose(const slots<N>& to, const B& ybar, const Y&, const X&... x) const {
    return all_wanted<Wanted...>(stencil_transpose_op<F, Wanted...>{f}, to, ybar, x...);
  }
};

template <class... X> struct stencil_fault {
  using type = typename map_rule<join_kind::nonlinear, bare_spec<spec_of<X>>...>::fault;
};
template <class... X>
  requires(is_poison<X> || ...)
struct stencil_fault<X...> {
  using type = no_fault;
};

}  // namespace detail

/// f of every element and its neighbours. f gets an accessor for each operand (see `at`) and
/// returns a scalar; it must be pure. Shapes: the result has the operands' dims, without halos.
/// Local: exchange halos first.
template <class F, Operand... X>
  requires(sizeof...(X) > 0)
constexpr auto stencil(const F& f, const X&... x) {
  using fault = typename detail::stencil_fault<X...>::type;
  static_assert(ok<only<fault, meshes_differ>>,
                "stencil: the operands live on different meshes; put them on one");
  static_assert(ok<only<fault, dims_share_mesh_axis>>,
                "stencil: the operands split different dims over one mesh axis; relayout one");
  static_assert(ok<only<fault, dim_split_in_one_operand_only>>,
                "stencil: one operand has only its block of this dim, another has all of it; take "
                "own<dim, axis> of the other, or gather the one");
  static_assert(ok<only<fault, dim_split_differently>>,
                "stencil: the operands split this dim in different ways; relayout one of them");
  static_assert(ok<only<fault, partial_operand>>,
                "stencil: an operand is a sum yet to be made; complete it first");
  if constexpr (!ok<fault> || (is_poison<X> || ...))
    return poison{};
  else if constexpr (is_poison<decltype(f(std::declval<detail::seen_values<spec_of<X>>>()...))>)
    return poison{};  // it looks where there is nothing
  else
    return apply(detail::stencil_op<F>{f}, x...);
}

}  // namespace dimesh
