// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a time step leave its result ready for the next one? `stencil_exchange` is a stencil and
// the exchange of its result's halos in one: the result is computed where its halos will be, so
// that nothing is copied but edges.
//
//   u = stencil_exchange(f, boundary::zero, u)
//     -> like u, halos and all; the same as halo_exchange<..>(stencil(f, u))
//   u = stencil_exchange(f, beside_interior(boundary::zero), u)   // halos travel meanwhile
#pragma once

#include <algorithm>

#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/halo_way.hpp"
#include "dimesh/op/stencil.hpp"

namespace dimesh {

namespace detail {

/// The exchange of all halos that a tensor has, in the order of its dims.
constexpr halo_stages stages_of(const tensor_core& x, boundary ends) {
  halo_stages stages{ends};
  for (int d = 0; d < x.rank(); ++d)
    if (x.layout().halo[d].any()) stages.add(d, x.layout().halo[d]);
  return stages;
}

/// A stencil (Op, elements R) whose result has halos.
template <class Op, class R> struct stencil_exchange_op {
  Op op;
  boundary ends;
  bool beside;

  void fill(results y, operands x) const {
    const halo_plan& p = halo_plan::of(y[0], stages_of(y[0], ends), false);
    if (beside && p.first_that_waits() < p.stages.count) return fill_beside(p, y, x);
    op.fill(y, x);
    p.fill<R>(y[0].memory);
  }
  /// First the edges that go to others until a stage waits for them; while these travel, the rest.
  void fill_beside(const halo_plan& p, results y, operands x) const {
    const int waits = p.first_that_waits();
    point_box rest(y[0]);
    bool whole_rows = false;
    for (int i = 0; i <= waits; ++i) {
      const int d = p.stages.dims[i];
      const halo_widths w = p.stages.width[i];
      const auto& stage = p.at[static_cast<std::size_t>(i)];
      point_box low = rest, high = rest;
      low.end[d] = std::min(rest.begin[d] + w.after, rest.end[d]);
      high.begin[d] =
          std::max(rest.end[d] - w.before, stage.gives_low ? low.end[d] : rest.begin[d]);
      if (stage.gives_low) op.fill_at(y, x, low);
      if (stage.gives_high) op.fill_at(y, x, high);
      // Whole rows take less than rows without their ends, as long as these are short; then the
      // ends become what has been sent again: code for rows may round otherwise than that for
      // points. Not where MPI reads them meanwhile, nor where halos are copies of them.
      whole_rows = i == waits && d == rest.last() &&
                   16 * std::max(w.before, w.after) <= rest.extent(d) && !stage.sends_in_place &&
                   !stage.gives_itself;
      if (whole_rows) break;
      if (stage.gives_low) rest.begin[d] = low.end[d];
      if (stage.gives_high) rest.end[d] = high.begin[d];
    }
    const flight_owner f(flight::fresh());
    f->result = y[0].memory;
    f->called = "stencil_exchange";
    p.start<R>(y[0].memory, *f);
    f->begun();
    op.fill_at(y, x, rest);
    if (whole_rows) p.restore_sent(waits, static_cast<const R*>(f->out.data()), y[0].data<R>());
    f->axes = 0;  // the messages have been reported
    f->finish(y[0]);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    op.cost(t, y, x);
    stages_of(y[0], ends).cost(t, placement_of(y[0]), y[0].layout(), y[0], false);
  }
};

/// The same with an operation each, for the record.
template <class S, int D, class Y> constexpr auto exchange_like(const Y& y, boundary ends) {
  if constexpr (D == S::rank)
    return y;
  else if constexpr (!S::table.halo[D].any())
    return exchange_like<S, D + 1>(y, ends);
  else
    return exchange_like<S, D + 1>(
        apply_as<
            relaid_spec<spec_of<Y>, with_halo<D, S::table.halo[D].before, S::table.halo[D].after>>>(
            halo_exchange_op<value_of<Y>>{halo_stages{ends}.add(D, S::table.halo[D])}, y),
        ends);
}

template <class U, class... X> struct stencil_exchange_fault {
  using S = spec_of<U>;
  static constexpr auto find() {
    using rule = typename stencil_fault<U, X...>::type;
    if constexpr (!ok<rule>) {
      return tag<rule>{};
    } else {
      return missing(united<typename S::dims, typename spec_of<X>::dims...>{});
    }
  }
  /// The first dim of all operands that the first one lacks.
  template <class... D> static constexpr auto missing(list<D...>) {
    constexpr int lacks = [] {
      int d = 0, first = -1;
      ((first = first < 0 && index_of<D, typename S::dims> < 0 ? d : first, ++d), ...);
      return first;
    }();
    if constexpr (lacks < 0)
      return tag<no_fault>{};
    else
      return tag<dim_not_in_tensor<type_at<lacks, list<D...>>>>{};
  }
  using type = typename decltype(find())::type;
};
template <class U, class... X>
  requires(is_poison<U> || (is_poison<X> || ...))
struct stencil_exchange_fault<U, X...> {
  using type = no_fault;
};

}  // namespace detail

/// f of every element and its neighbours (as `stencil`), the result with halos like those of u,
/// which are exchanged. Shapes: as u. Sends the surface; copies nothing else.
template <class F, Operand U, Operand... X>
constexpr auto stencil_exchange(const F& f, halo_way way, const U& u, const X&... x) {
  using fault = typename detail::stencil_exchange_fault<U, X...>::type;
  static_assert(ok<only<fault, meshes_differ>>,
                "stencil_exchange: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "stencil_exchange: the operands live on different ranks of this axis; place<axis, "
                "k> what all of them hold (free), or send<axis, k> the other");
  static_assert(
      ok<only<fault, dims_share_mesh_axis, dim_split_in_one_operand_only, dim_split_differently>>,
      "stencil_exchange: the operands split their dims in different ways; relayout one");
  static_assert(ok<only<fault, partial_operand>>,
                "stencil_exchange: an operand is a sum yet to be made; complete it first");
  static_assert(
      ok<only<fault, dim_not_in_tensor>>,
      "stencil_exchange: the first operand lacks a dim of another; let the first be the one "
      "with all dims");
  if constexpr (!ok<fault> || is_poison<U> || (is_poison<X> || ...)) {
    return poison{};
  } else if constexpr (detail::is_probe<U> || (detail::is_probe<X> || ...)) {
    detail::refuse_probed_stencil("stencil_exchange");
    return poison{};
  } else if constexpr (is_poison<decltype(f(std::declval<detail::seen_in<U>>(),
                                            std::declval<detail::seen_in<X>>()...))>) {
    return poison{};  // it looks where there is nothing
  } else if constexpr (detail::is_tracked<U> || (detail::is_tracked<X> || ...)) {
    return detail::exchange_like<spec_of<U>, 0>(stencil(f, u, x...), way.ends);
  } else {
    using given = std::decay_t<decltype(f(std::declval<detail::seen_in<U>>(),
                                          std::declval<detail::seen_in<X>>()...))>;
    using R = detail::kept_as<given, value_of<U>, value_of<X>...>;
    using op = detail::stencil_on<F, R, typename spec_of<U>::dims, U, X...>;
    return detail::apply_as<detail::with_value<spec_of<U>, R>>(
        detail::stencil_exchange_op<op, R>{{f}, way.ends, way.beside_interior}, u, x...);
  }
}

}  // namespace dimesh
