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

/// Who holds a place of a dim that ranks cut.
class place_holders {
 public:
  explicit place_holders(const cut_dim& cut) {
    for (index_t r = 0; r < cut.ranks(); ++r) {
      const block b = cut.of(r);
      if (b.length > 0) all_.push_back({b.offset + b.length, r});
    }
    std::sort(all_.begin(), all_.end(), ends_before);
  }
  std::size_t operator()(index_t place) const {
    const auto it = std::upper_bound(all_.begin(), all_.end(), held{place, 0}, ends_before);
    return static_cast<std::size_t>(it->rank);
  }

 private:
  struct held {
    index_t end, rank;
  };
  static bool ends_before(const held& a, const held& b) { return a.end < b.end; }
  std::vector<held> all_;
};

/// Which places of this rank's block go to which rank, and come from there: those of each rank side
/// by side, in the order in which they stand in the result. Only what goes to other ranks has to be
/// sorted for that.
struct shuffled_places {
  std::vector<index_t> leave, arrive;
  std::vector<collective::run> out, in;  // in places, by rank, the own one too

  /// Place i of the result is place order(i), or Back: the place of number i.
  shuffled_places(const cut_dim& cut, index_t me, const random_permutation& order, bool back)
      : in(static_cast<std::size_t>(cut.ranks())) {
    const block own = cut.of(me);
    const std::vector<index_t> source = sources(own, order, back);
    put_by_rank(source, place_holders(cut));
    const std::vector<moved> goes = leaving(own, order, back);
    for (index_t r = 0; r < cut.ranks(); ++r) {
      const auto first = static_cast<index_t>(leave.size());
      if (r == me)
        stay(source, own, in[static_cast<std::size_t>(r)]);
      else
        add(goes, cut.of(r));
      out.push_back({first, static_cast<index_t>(leave.size()) - first});
    }
  }

 private:
  struct moved {
    index_t there, here;  // the place in the whole, where it stands in the result; in the block
  };
  static bool by_there(const moved& a, const moved& b) { return a.there < b.there; }

  /// Where each place of the result comes from.
  static std::vector<index_t> sources(const block& own, const random_permutation& order,
                                      bool back) {
    std::vector<index_t> source(static_cast<std::size_t>(own.length));
    for (index_t i = 0; i < own.length; ++i)
      source[static_cast<std::size_t>(i)] =
          back ? order.inverse(own.offset + i) : order(own.offset + i);
    return source;
  }
  /// What comes, by ranks: counted, and then put where those of its rank begin.
  void put_by_rank(const std::vector<index_t>& source, const place_holders& holder) {
    std::vector<std::size_t> rank(source.size()), next(in.size());
    for (std::size_t i = 0; i < source.size(); ++i) ++in[rank[i] = holder(source[i])].count;
    for (std::size_t r = 1; r < in.size(); ++r) in[r].at = in[r - 1].at + in[r - 1].count;
    for (std::size_t r = 0; r < in.size(); ++r) next[r] = static_cast<std::size_t>(in[r].at);
    arrive.resize(source.size());
    for (std::size_t i = 0; i < source.size(); ++i)
      arrive[next[rank[i]]++] = static_cast<index_t>(i);
  }
  /// What goes to other ranks, as it stands in the result.
  static std::vector<moved> leaving(const block& own, const random_permutation& order, bool back) {
    std::vector<moved> goes;
    if (own.length == order.size()) return goes;
    for (index_t i = 0; i < own.length; ++i) {
      const index_t there = back ? order(own.offset + i) : order.inverse(own.offset + i);
      if (there < own.offset || there >= own.offset + own.length) goes.push_back({there, i});
    }
    std::sort(goes.begin(), goes.end(), by_there);
    return goes;
  }
  void stay(const std::vector<index_t>& source, const block& own, const collective::run& of) {
    for (index_t k = of.at; k < of.at + of.count; ++k)
      leave.push_back(source[static_cast<std::size_t>(arrive[static_cast<std::size_t>(k)])] -
                      own.offset);
  }
  void add(const std::vector<moved>& goes, const block& other) {
    const auto at = [&](index_t there) {
      return std::lower_bound(goes.begin(), goes.end(), moved{there, 0}, by_there);
    };
    for (auto m = at(other.offset); m != at(other.offset + other.length); ++m)
      leave.push_back(m->here);
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
