// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do cotangents come of a product whose operands went by in blocks or panels? The same way: the
// other operand goes by again, or the cotangent's addends go to who has the block that they are of,
// one panel or block at a time (van de Geijn and Watts 1997, section 3). So a gradient needs no
// operand whole: its scratch is three blocks, or six panels; of complex numbers the other operand's
// block once more, conjugated.
//
//   panels_pull_op<float>{facts, 256, 0}(ybar, y)   -> the cotangent of x, of panels_op{facts, 256}
#pragma once

#include "dimesh/collective/reduce.hpp"
#include "dimesh/layout/cotangent.hpp"
#include "dimesh/op/parts/panels_sent.hpp"

namespace dimesh::detail {

template <class T> struct panels_op;

/// Operand k of a product of elements T; where they are complex, its conjugate.
template <class T> constexpr tensor_core conjugated(const auto& to, int k) {
  if constexpr (is_complex<T>)
    return to.made(to.x(k).facts, conj_op<T>{}, to.x(k));
  else
    return to.x(k);
}

/// Elements T; facts and depth of the product. K: the operand whose cotangent it is. From the
/// result's cotangent and the other operand (where complex: its conjugate).
template <class T> struct panels_pull_op {
  panels_facts facts;
  index_t depth = 0;
  int k = 0;
  static constexpr std::string_view call = "contract";
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results g, operands x) const {
    const sources from(*this, g[0], x[1]);
    const panel_source &mine = from.of[k], &other = from.of[1 - k];
    const bool alone = own_only(mine, x[0]);
    index_t length = 0;  // of the dim that goes by, multiplied here
    if (goes_round(mine)) {
      cost_of_ring(t, other);
      length = other.where.own(facts.whole[1 - k]->layout).length[other.place];
    } else {
      for_each_part(from.of, x[1].sizes(), [&](index_t begin, index_t end, const index_t* owner) {
        if (alone && owner[k] != mine.me) return;
        cost_of_panel(t, other, owner[1 - k], end - begin);
        length += end - begin;
        const index_t n = mine.slice(end - begin) * mine.element;
        if (!alone && n > 0) t.collective(event_kind::reduce, mine.over, n, n);
      });
    }
    bool sums = false;
    const auto take = [&](const tensor_core& y, const auto& unless) {
      for (int d = 0; d < y.rank(); ++d) {
        const dim_facts* const dim = y.facts->dim[d];
        sums = sums || g[0].facts->place_of(dim) < 0;
        if (!same_dim(dim, facts.through) && !unless(dim)) length *= y.local(d);
      }
    };
    take(x[0], [](const dim_facts*) { return false; });
    take(x[1], [&](const dim_facts* d) { return x[0].facts->place_of(d) >= 0; });
    t.compute((sums ? 2 : 1) * length, g[0].bytes() + x[0].bytes() + x[1].bytes());
  }
  static constexpr bool needs(int o, unsigned wanted) {
    return (o == 0 && (wanted & 2u)) || (o == 1 && (wanted & 1u));
  }
  constexpr void transpose(const auto& to) const {
    if (to.wants(0)) {
      const tensor_core other = conjugated<T>(to, 1);
      const tensor_core* const both[] = {&to.ybar, &other};
      to.give(0, panels_op<T>{facts, depth}, *both[k], *both[1 - k]);
    }
    if (to.wants(1)) to.give(1, panels_pull_op{facts, depth, 1 - k}, conjugated<T>(to, 0), to.ybar);
  }
  void fill(results g, operands x) const {
    const sources from(*this, g[0], x[1]);
    if (facts.share >= 0) zero_bytes(g[0].data<void>(), g[0].bytes());  // what others share
    if (goes_round(from.of[k]))
      by_ring(g[0], x, from.of[1 - k]);
    else
      by_parts(g[0], x, from.of);
  }

 private:
  /// Where panels of the two operands are, in their order: of this one, whose cotangent g is.
  struct sources {
    panel_source of[2];
    constexpr sources(const panels_pull_op& op, const tensor_core& g, const tensor_core& other)
        : of{op.k == 0 ? op.mine(g) : panel_source(other, op.facts, 0),
             op.k == 0 ? panel_source(other, op.facts, 1) : op.mine(g)} {}
  };
  /// Does each rank have all of what would be summed along the axis? Then it needs no other's, and
  /// only its own block of the cotangent.
  static constexpr bool own_only(const panel_source& mine, const tensor_core& ybar) {
    return (mine.over & ~ybar.once) == 0;
  }
  /// The other operand does, whose blocks are needed again.
  constexpr bool goes_round(const panel_source& mine) const { return depth == 0 && !mine.travels; }
  /// f(begin, end, owners) for the panels of this rank's share; or, of an operand that went round,
  /// for its blocks.
  template <class F>
  constexpr void for_each_part(const panel_source* s, const index_t* sizes, const F& f) const {
    if (depth > 0) return for_each_panel_of(s, facts, sizes, depth, f);
    for (index_t r = 0; r < s[k].ranks; ++r) {
      const box b = s[k].block_of(r);
      const index_t owner[2] = {k == 0 ? r : 0, k == 0 ? 0 : r}, at = b.begin[s[k].place];
      if (const index_t n = b.length[s[k].place]; n > 0) f(at, at + n, owner);
    }
  }
  constexpr panel_source mine(const tensor_core& g) const {
    return {g, dual_of(g.layout()), facts, k};
  }
  void multiply(const tensor_core& g, const slab& to, operands x, const slab& other, index_t begin,
                index_t end, bool add) const {
    const slab ybar = slab_of(x[0], x[0].facts->place_of(facts.through));
    slab_product<T>(facts, g, to, x[0], ybar, x[1], other, begin, end, add);
  }

  /// The blocks of the other operand go round.
  void by_ring(const tensor_core& g, operands x, const panel_source& other) const {
    const int place = g.facts->place_of(facts.through);
    const slab to = slab_of(g, place);
    bool any = false;
    go_round<T>(x[1], other, [&](index_t begin, index_t end, const slab& moving) {
      multiply(g, to, x, moving, begin, end, any && place < 0);
      any = true;
    });
    if (!any) zero_bytes(g.data<void>(), g.bytes());
  }
  /// A panel of the other operand that is on its way, and what this one's cotangent gets of it.
  struct part {
    index_t begin = 0, end = 0, owner = 0;
    slab other;
    storage room, addend, sum;
    collective::requests coming, going;
  };
  void by_parts(const tensor_core& g, operands x, const panel_source* s) const {
    const panel_source &mine = s[k], &other = s[1 - k];
    const box own = mine.where.own(mine.layout);
    const bool alone = own_only(mine, x[0]);
    const auto finish = [&](part& p) {
      p.coming.wait("contract");
      const slab in_place = slab_of(g, mine.place);
      if (alone) return multiply(g, in_place, x, p.other, p.begin, p.end, false);
      const box block = part_in_panel(mine, p.begin, p.end);
      const auto bytes = static_cast<std::size_t>(block.size()) * sizeof(T);
      p.addend = storage::acquire(bytes);
      if (p.owner == mine.me) p.sum = storage::acquire(bytes);
      multiply(g, slab_of(block, p.addend.data(), mine.place), x, p.other, p.begin, p.end, false);
      p.room = storage();
      p.going.keep(p.addend), p.going.keep(p.sum);
      collective::reduce(g.grid->along(mine.over), static_cast<const T*>(p.addend.data()),
                         static_cast<T*>(p.sum.data()), block.size(), static_cast<int>(p.owner),
                         collective::most_per_call<T>, &p.going);
    };
    const auto settle = [&](part& p) {
      p.going.wait("contract");
      const box block = part_in_panel(mine, p.begin, p.end);
      if (!alone && p.owner == mine.me && block.size() > 0)
        local::unpack(block.rank, block.length, static_cast<const T*>(p.sum.data()),
                      g.data<T>() + offset_in(own, block), strides(own).data());
      p.room = p.addend = p.sum = storage();  // before more is taken
    };
    part ahead[3];  // one that comes, one that is multiplied, one whose sum is made
    int count = 0;
    const auto go_on = [&] {
      if (count > 0) finish(ahead[(count - 1) % 3]);
      if (count > 1) settle(ahead[(count - 2) % 3]);
    };
    for_each_part(s, x[1].sizes(), [&](index_t from, index_t to, const index_t* owner) {
      if (alone && owner[k] != mine.me) return;
      part& p = ahead[count % 3];
      p.begin = from, p.end = to, p.owner = owner[k];
      p.other = start_panel<T>(x[1], other, owner[1 - k], from, to, p.room, p.coming);
      go_on();
      ++count;
    });
    go_on();
    if (count > 0) settle(ahead[(count - 1) % 3]);
  }
};

}  // namespace dimesh::detail
