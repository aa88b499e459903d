// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do several tensors become one along a dim that ranks split? Side by side, as concat has it
// where the dim is whole in each. The result is cut over the same axes; an element travels if its
// place is then on another rank, and all that one rank has for another goes in one message.
//
//   concat_exchange<uneven<length>>(x, y)      [length/rows] each, length : dim<>
//   concat_exchange<both, left, right>(x, y)   [.., left/rows, ..], [.., right/rows, ..]
//     -> [.., both/rows, ..]
//
// Back, every operand gets its part by messages of its own (slice_exchange.hpp).
#pragma once

#include "dimesh/op/concat.hpp"
#include "dimesh/op/gather.hpp"
#include "dimesh/op/slice_exchange.hpp"

namespace dimesh {

namespace detail {

/// Rule of operands that have nth_dim<k> where the result has To (which may be written uneven<To>):
/// all are cut over the same axes there.
template <class To> struct concat_exchange_rule {
  using named = list<plain_dim<To>>;
  static constexpr dim_list as_one{nth, max_operands};
  template <class First, class...> struct dims : replaced_dims<nth_dim<0>, plain_dim<To>, First> {};

  static constexpr outcome of(rule_operands x, dim_list out) {
    if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
    constexpr const dim_facts* to = &facts_of_dim<plain_dim<To>>;
    facts_of_own_dims seen[max_operands];
    const tensor_facts* at[max_operands]{};
    bool uneven = bare_dim<To>::uneven;
    for (int k = 0; k < x.count; ++k) {
      if (x[k].place_of(to) >= 0) return blamed(fault_code::dim_already_in_tensor, to);
      if (haloed_dim(x[k]) != nullptr) return blamed(fault_code::dim_has_halo, to);
      at[k] = &(seen[k] = x[k]);
      const int d = x[k].place_of(nth[k]);
      seen[k].set_dim(d, to);
      uneven = uneven || x[k].layout.uneven[d] || x[k].layout.ragged[d];
    }
    for (int k = 0; k < x.count; ++k) {
      if (const dim_facts* lacking = dim_beside(seen[0], to, seen[k], to); lacking != nullptr)
        return blamed(fault_code::dim_not_in_tensor, lacking);
      // Whether blocks are even where they are joined is the result's business.
      const int d = seen[k].place_of(to);
      seen[k].layout.uneven[d] = seen[0].layout.split_count(seen[0].place_of(to)) > 0 && uneven;
      seen[k].layout.ragged[d] = false;
    }
    const outcome o = join_operands(join_kind::sum, {at, x.count}, out);
    if (!o.ok()) return o;
    tensor_facts y = seen[0];
    y.dim = out.at, y.rank = out.size;
    y.layout = o.layout;
    return cut_alike(y, to, to, uneven, out);
  }
};

/// What operands have of dim `to` of y, which joins them.
struct concat_map {
  const tensor_core& y;
  operands x;
  const dim_facts* to;

  /// Calls f(k, which elements of operand k are which of y).
  template <class X, class F>
  static constexpr void each_part(int count, const X& operand, const F& f) {
    index_t at = 0;
    for (int k = 0; k < count; ++k) {
      const tensor_core& part = operand(k);
      const index_t n = part.extent(part.facts->place_of(nth[k]));
      f(k, strided{0, 1, at, 1, n});
      at += n;
    }
  }
  template <class F> constexpr void each(index_t owner, index_t wanting, F&& f) const {
    each_part(
        x.count(), [this](int k) -> const tensor_core& { return x[k]; },
        [&](int k, const strided& w) {
          strided_map(x[k], nth[k], y, to, w, k).each(owner, wanting, f);
        });
  }
};

/// Who sends what: kept where there are two operands, both of even or uneven blocks.
inline const line_moves& concat_moves(const tensor_core& y, operands x, const dim_facts* to,
                                      const cut_dim& dim, index_t across,
                                      std::optional<line_moves>& room) {
  const auto make = [&] { return line_moves(concat_map{y, x, to}, *y.grid, dim.talk, across); };
  if (x.count() != 2 || x[1].facts->ragged != 0) return room.emplace(make());
  const index_t second = x[1].extent(x[1].facts->place_of(nth[1]));
  const auto facts = static_cast<index_t>(reinterpret_cast<std::uintptr_t>(x[1].facts));
  return kept_moves<concat_map>(x[0], y, {facts, second}, room, make);
}

/// Operands of elements T along `to`, which has `extent` elements.
template <class T> struct concat_exchange_op {
  const dim_facts* to;
  index_t extent;
  static constexpr std::string_view call = "concat_exchange";
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, to) ? extent : dynamic;
  }
  constexpr cut_dim dim_of(const tensor_core& y) const {
    return cut_dim(placement_of(y), y.layout(), y.facts->place_of(to), boundary::zero);
  }
  void fill(results y, operands x) const {
    const cut_dim dim = dim_of(y[0]);
    const lines_at<T> there(y[0], dim.d, 1);
    std::vector<lines_at<const T>> here;
    for (int k = 0; k < x.count(); ++k) here.emplace_back(x[k], x[k].facts->place_of(nth[k]), 1);
    std::optional<line_moves> room;
    move_lines<T>(concat_moves(y[0], x, to, dim, there.of.across(), room), here.data(), there,
                  "concat_exchange");
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const cut_dim dim = dim_of(y[0]);
    const index_t each = line_block(y[0], dim.d, 1).across() * y[0].facts->element;
    count_lines(t, concat_map{y[0], x, to}, dim.talk, y[0].sizes(), dim.me(), each);
    t.compute(0, 2 * y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& back) const {
    concat_map::each_part(
        back.count(), [&back](int k) -> const tensor_core& { return back.x(k); },
        [&](int k, const strided& w) {
          if (back.wants(k))
            back.give(k, strided_exchange_op<T>{w.turned(), to, nth[k], w.count, T{}, call},
                      back.ybar);
        });
  }
};

template <class Fault> constexpr void assert_joined_over_ranks() {
  static_assert(ok<only<Fault, extent_is_static>>,
                "concat_exchange: the dim's extent is part of its type; name the dims of result "
                "and operands: concat_exchange<both, left, right>(x, y)");
  static_assert(ok<only<Fault, elements_differ>>,
                "concat_exchange: the operands have elements of several types; cast some");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "concat_exchange: an operand lacks a dim that another has; all have the same dims "
                "but for the one that is joined");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "concat_exchange: an operand has the new dim already; choose another name");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "concat_exchange: the blocks carry halos; join before halo_exchange");
  static_assert(ok<only<Fault, partial_meets_replicated, partial_meets_split, partial_operand>>,
                "concat_exchange: an operand is a sum yet to be made, and not all are along the "
                "same axis; complete it");
  static_assert(
      ok<only<Fault, dim_split_in_one_operand_only, dim_split_differently, dims_share_mesh_axis>>,
      "concat_exchange: the operands are split over different axes; relayout one of "
      "them");
  static_assert(ok<only_placed<Fault>>,
                "concat_exchange: the operands live on different ranks of this axis; place<axis, "
                "k> what all ranks hold, or send<axis, k> what lives elsewhere");
  static_assert(ok<only_not_divisible<Fault>>,
                "concat_exchange: the axes that split the dim do not divide the extent of the "
                "result; write it as uneven<dim>");
  static_assert(ok<only<Fault, meshes_differ>>,
                "concat_exchange: the operands live on different meshes; put them on one");
}

/// What is wrong with joining X... along To, where they have From...
template <class To, class From, class Numbers, class... X> struct concat_exchange_fault;
template <class To, class... From, std::size_t... K, class... X>
struct concat_exchange_fault<To, list<From...>, std::index_sequence<K...>, X...> {
  static constexpr auto find() {
    if constexpr ((is_poison<X> || ...)) {
      return tag<no_fault>{};
    } else {
      using own = typename first_of<lacks_dim<From, X>..., elements_fault<X...>>::type;
      if constexpr (!ok<own>)
        return tag<own>{};
      else
        return tag<fault_of<concat_exchange_rule<To>, decltype(dimesh::rename<From, nth_dim<K>>(
                                                          std::declval<const X&>()))...>>{};
    }
  }
  using type = typename decltype(find())::type;
};

/// Operands whose dims are called nth_dim<k>, along To.
template <class To, std::size_t... K, class... X>
constexpr auto joined_over_ranks(std::index_sequence<K...>, index_t extent, const X&... x) {
  using first = type_at<0, list<X...>>;
  return apply_rule<concat_exchange_rule<To>, value_of<first>>(
      concat_exchange_op<value_of<first>>{&facts_of_dim<plain_dim<To>>, extent},
      permuted<dims_beside<first, nth_dim<0>, nth_dim<K>>>(x)...);
}
template <class To, class... From, std::size_t... K, class... X>
constexpr auto concat_over_ranks(list<From...>, std::index_sequence<K...> each, const X&... x) {
  return joined_over_ranks<To>(
      each,
      joined_extent<plain_dim<To>>("concat_exchange",
                                   (index_t{0} + ... + x.template extent<From>())),
      dimesh::rename<From, nth_dim<K>>(x)...);
}

}  // namespace detail

/// x..., up to 16, side by side along a dim To, which is From... in each, and which may be written
/// uneven<To>. Shapes: the dims of the first, To in the place of its From, cut over the same axes
/// in all. The cotangents go to where the elements stood. Throws dimesh::error where a static
/// extent is not their sum, or the axes do not divide the sum.
template <class To, Dim... From, Operand... X>
  requires(Dim<detail::plain_dim<To>> && sizeof...(From) > 0 && sizeof...(From) == sizeof...(X) &&
           sizeof...(X) <= static_cast<std::size_t>(detail::max_operands))
constexpr auto concat_exchange(const X&... x) {
  using fault = typename detail::concat_exchange_fault<To, detail::list<From...>,
                                                       std::index_sequence_for<X...>, X...>::type;
  detail::assert_joined_over_ranks<fault>();
  if constexpr (!ok<fault> || (is_poison<X> || ...))
    return poison{};
  else
    return detail::concat_over_ranks<To>(detail::list<From...>{}, std::index_sequence_for<X...>{},
                                         x...);
}
/// x... side by side along a dim of all of them, whose extent is given at run time, and which may
/// be written uneven<D>.
template <class D, Operand... X>
  requires(Dim<detail::plain_dim<D>> && sizeof...(X) > 0 &&
           sizeof...(X) <= static_cast<std::size_t>(detail::max_operands))
constexpr auto concat_exchange(const X&... x) {
  using dim = detail::plain_dim<D>;
  using all = detail::list<std::conditional_t<(sizeof(X) > 0), dim, void>...>;
  using fault = typename detail::first_of<
      std::conditional_t<is_static_dim<dim>, extent_is_static<dim>, no_fault>,
      typename detail::concat_exchange_fault<D, all, std::index_sequence_for<X...>,
                                             X...>::type>::type;
  detail::assert_joined_over_ranks<fault>();
  if constexpr (!ok<fault> || (is_poison<X> || ...))
    return poison{};
  else
    return detail::concat_over_ranks<D>(all{}, std::index_sequence_for<X...>{}, x...);
}

}  // namespace dimesh
