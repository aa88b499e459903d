// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the places of a dim that ranks split put in a random order? In that of shuffle, which is
// the same for the same key under every layout; the result is cut as x is. A place travels if it
// changes rank, straight to where it belongs: one all-to-all. The gradient goes the same way back.
//
//   shuffle_exchange<batch>(key, x[batch/rows, hidden])   -> row i is row order(i) of x
#pragma once

#include <algorithm>
#include <vector>

#include "dimesh/collective/all_to_all.hpp"
#include "dimesh/op/parts/line_moves.hpp"
#include "dimesh/op/shuffle.hpp"

namespace dimesh {

namespace detail {

/// Which places of this rank's block go to which rank, and come from there: those of each rank side
/// by side, in the order in which they stand in the result.
struct shuffled_places {
  std::vector<index_t> leave, arrive;
  std::vector<collective::run> out, in;  // in places, by rank, the own one too

  /// Place i of the result is place order(i), or Back: the place of number i.
  shuffled_places(const cut_dim& cut, index_t me, const random_permutation& order, bool back) {
    const block own = cut.of(me);
    std::vector<moved> goes, comes;
    for (index_t i = 0; i < own.length; ++i) {
      const index_t number = order(own.offset + i), place = order.inverse(own.offset + i);
      goes.push_back({back ? number : place, i});
      comes.push_back({back ? place : number, i});
    }
    std::sort(goes.begin(), goes.end(), by_there);
    std::sort(comes.begin(), comes.end(), by_there);
    for (index_t r = 0; r < cut.ranks(); ++r) {
      const block other = cut.of(r);
      out.push_back(add(goes, other, leave));
      in.push_back(add(comes, other, arrive));
      std::sort(arrive.begin() + in.back().at, arrive.end());
    }
  }

 private:
  struct moved {
    index_t there, here;  // the place in the whole, where it stands on the other side; in the block
  };
  static bool by_there(const moved& a, const moved& b) { return a.there < b.there; }
  static collective::run add(const std::vector<moved>& all, const block& other,
                             std::vector<index_t>& places) {
    const auto at = [&](index_t there) {
      return std::lower_bound(all.begin(), all.end(), moved{there, 0}, by_there);
    };
    const auto first = static_cast<index_t>(places.size());
    for (auto m = at(other.offset); m != at(other.offset + other.length); ++m)
      places.push_back(m->here);
    return {first, static_cast<index_t>(places.size()) - first};
  }
};

/// Elements T, along dim d: place i gets what is at place order(i), or back.
template <class T> struct shuffle_exchange_op {
  int d;
  random_key key;
  bool back = false;
  static constexpr std::string_view call = "shuffle_exchange";
  static constexpr bool takes_complex = true;

  constexpr cut_dim cut_of(const tensor_core& x) const {
    return {placement_of(x), x.layout(), d, boundary::zero};
  }
  /// As though each rank had as much for every other: what it has hangs on the key.
  constexpr void cost(tally& t, results y, operands x) const {
    const cut_dim cut = cut_of(x[0]);
    const index_t away = x[0].bytes() - x[0].bytes() / cut.ranks();
    if (cut.talk != 0 && cut.extent() * line_block(x[0], d, 1).across() > 0)
      t.collective(event_kind::all_to_all, cut.talk, away, away);
    t.compute(0, y[0].bytes() + x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
    const cut_dim cut = cut_of(x);
    const communicator* const over = cut.talk == 0 ? nullptr : &x.grid->along(cut.talk);
    const index_t me = over == nullptr ? 0 : over->rank();
    shuffled_places way(cut, me, {key, cut.extent()}, back);
    const storage leave = near(way.leave), arrive = near(way.arrive);
    const index_t* const from = static_cast<const index_t*>(leave.data());
    const index_t* const to = static_cast<const index_t*>(arrive.data());
    const line_block l(x, d, 1);
    const auto own = static_cast<std::size_t>(me);
    local::move_places({l.outer, way.out[own].count, l.n, l.n, l.inner}, from + way.out[own].at,
                       to + way.in[own].at, x.data<const T>(), y[0].data<T>());
    if (over != nullptr) exchange(*over, cut, way, from, to, l, x.data<const T>(), y[0].data<T>());
  }
  constexpr void transpose(const auto& to) const {
    to.give(0, shuffle_exchange_op{d, key, !back}, to.ybar);
  }

 private:
  /// The numbers where kernels read them.
  static storage near(const std::vector<index_t>& of) {
    const std::size_t bytes = of.size() * sizeof(index_t);
    storage s = storage::acquire(bytes);
    copy_from_host(s.data(), of.data(), static_cast<index_t>(bytes));
    return s;
  }
  /// Those of other ranks: packed, sent, unpacked.
  static void exchange(const communicator& over, const cut_dim& cut, shuffled_places& way,
                       const index_t* from, const index_t* to, const line_block& l, const T* x,
                       T* y) {
    const index_t across = l.across();
    const auto bytes = static_cast<std::size_t>(l.n * across) * sizeof(T);
    const storage out = storage::acquire(bytes), in = storage::acquire(bytes);
    T *const sent = static_cast<T*>(out.data()), *const came = static_cast<T*>(in.data());
    way.out[static_cast<std::size_t>(over.rank())] = {};
    way.in[static_cast<std::size_t>(over.rank())] = {};
    std::vector<collective::run> send, receive;
    for (const collective::run& r : way.out) {
      local::move_places({l.outer, r.count, l.n, r.count, l.inner}, from + r.at, nullptr, x,
                         sent + r.at * across);
      send.push_back({r.at * across, r.count * across});
    }
    for (const collective::run& r : way.in) receive.push_back({r.at * across, r.count * across});
    const placement& where = cut.where;
    const index_t longest = longest_block(cut.layout, cut.d, cut.extent(), where.sizes, where.cuts);
    collective::all_to_all_v(over, sent, send.data(), came, receive.data(), longest * across);
    for (const collective::run& r : way.in)
      local::move_places({l.outer, r.count, r.count, l.n, l.inner}, nullptr, to + r.at,
                         came + r.at * across, y);
  }
};

/// D may be split; halos would be shuffled along.
template <class D> struct shuffle_exchange_rule : keeps_dims {
  using named = list<D>;
  static constexpr outcome of(rule_operands x, dim_list) {
    if (x[0].place_of(&facts_of_dim<D>) < 0)
      return blamed(fault_code::dim_not_in_tensor, &facts_of_dim<D>);
    const dim_facts* const h = haloed_dim(x[0]);
    return h == nullptr ? allowed(x[0].layout) : blamed(fault_code::dim_has_halo, h);
  }
};

}  // namespace detail

/// x with the places of D in a random order that the key says, whoever holds them. Shapes and
/// layout stay. One all-to-all over the axes that split D; costs are foreseen as though each rank
/// had as much for every other.
template <Dim D, Operand X> constexpr auto shuffle_exchange(random_key key, const X& x) {
  using rule = detail::shuffle_exchange_rule<D>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "shuffle_exchange: the tensor lacks the dim to be shuffled; name one of its dims");
  static_assert(ok<only<fault, dim_has_halo>>,
                "shuffle_exchange: the blocks carry halos; shuffle before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::apply_rule<rule, value_of<X>>(
        detail::shuffle_exchange_op<value_of<X>>{detail::index_of<D, typename spec_of<X>::dims>,
                                                 key},
        x);
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using shuffle_exchange_call = call_taking<one_dim, 2, random_key, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::shuffle_exchange_call, detail::list<N...>, A...>
constexpr poison shuffle_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::shuffle_exchange_call, detail::list<N...>, A...>>,
                "shuffle_exchange: a dim stands in the angle brackets, a key and then a tensor in "
                "the parentheses: shuffle_exchange<sample>(key, x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison shuffle_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "shuffle_exchange: a dim stands in the angle brackets, a key and then a tensor in "
                "the parentheses: shuffle_exchange<sample>(key, x)");
  return {};
}

}  // namespace dimesh
