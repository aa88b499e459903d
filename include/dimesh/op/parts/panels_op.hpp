// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are blocks contracted while others are on their way? One dim goes by in panels: of a ring,
// the block that a neighbour sends; else slices that those who have them broadcast. The next one
// travels while the product with this one is computed. Rule: a schedule (schedules.hpp).
//
//   panels_op<float>{facts, 0}     x[m/rows, k] . y[k, n/rows]: y's blocks go round the ring
//   panels_op<float>{facts, 256}   x[m/rows, k/cols] . y[k/rows, n/cols]: 256 elements of k a time
#pragma once

#include "dimesh/collective/broadcast.hpp"
#include "dimesh/collective/neighbors.hpp"
#include "dimesh/op/parts/panels.hpp"

namespace dimesh::detail {

/// Elements T. Depth: how many elements of the dim that goes by make a panel; 0 for a ring.
template <class T> struct panels_op {
  panels_facts facts;
  index_t depth = 0;
  static constexpr std::string_view call = "contract";
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    const panel_source s[2] = {{x[0], facts, 0}, {x[1], facts, 1}};
    const box part[2] = {s[0].where.own(facts.part[0]->layout),
                         s[1].where.own(facts.part[1]->layout)};
    index_t summed = 1;
    bool sums = false;
    for (int d = 0; d < x[0].rank(); ++d)
      if (y[0].facts->place_of(x[0].facts->dim[d]) < 0) summed *= part[0].length[d], sums = true;
    const index_t read = (part[0].size() + part[1].size()) * s[0].element;
    t.compute((sums ? 2 : 1) * y[0].elements() * summed, y[0].bytes() + read);
    if (depth == 0) return ring_cost(t, s);
    const int at = s[0].place;
    const index_t begin = part[0].begin[at], end = begin + part[0].length[at];
    const index_t deep = depth_of_panels(s, facts, x[0].sizes(), depth);
    for_each_panel(s, begin, end, deep, [&](index_t from, index_t to, const index_t* owner) {
      for (int k = 0; k < 2; ++k)
        if (const index_t n = s[k].slice(to - from) * s[k].element; s[k].over != 0 && n > 0)
          t.collective(event_kind::broadcast, s[k].over, owner[k] == s[k].me ? n : 0, n);
    });
  }
  static constexpr bool puts_off = true;
  static constexpr bool needs(int k, unsigned wanted) {
    return (k == 0 && (wanted & 2u)) || (k == 1 && (wanted & 1u));
  }
  constexpr void transpose(const auto& to) const {
    for (const int k : {0, 1})
      if (to.wants(k)) give(to, k);
  }
  void fill(results y, operands x) const {
    const panel_source s[2] = {{x[0], facts, 0}, {x[1], facts, 1}};
    if (depth == 0)
      go_round(y[0], x, s);
    else
      go_by(y[0], x, s);
  }

 private:
  static constexpr void ring_cost(tally& t, const panel_source* s) {
    for (int k = 0; k < 2; ++k)
      for (index_t step = 0; s[k].over != 0 && step + 1 < s[k].ranks; ++step)
        if (const index_t n = s[k].block_of((s[k].me + step) % s[k].ranks).size() * s[k].element;
            n > 0)
          t.collective(event_kind::message, s[k].over, n, n);
  }
  /// The cotangent of operand k: ybar times the other operand as it was met, summed to where k's
  /// elements live.
  constexpr void give(const auto& to, int k) const {
    const int o = 1 - k;
    tensor_core other = to.x(o);
    if constexpr (is_complex<T>) other = to.made(other.facts, conj_op<T>{}, other);
    if (moved_axes(other.layout(), facts.whole[o]->layout) != 0)
      other = to.made(facts.whole[o], all_gather_op<T>{}, other);
    if (facts.share >= 0) other = to.made(facts.part[o], cut_op<T>{}, other);
    if (facts.share < 0 && moved_axes(to.x(k).layout(), facts.whole[k]->layout) == 0)
      return to.give(k, einsum_op<T>{}, to.ybar, other);
    tensor_core sum = to.made(facts.addends[k], einsum_op<T>{}, to.ybar, other);
    if (facts.share >= 0) sum = to.made(facts.padded[k], pad_op<T>{}, sum);
    to.give(k, reduce_scatter_op<T>{}, sum);
  }
  /// y without a product.
  void clear(const tensor_core& y, operands x) const {
    slab_product<T>(facts, y, x[0], slab_of(x[0], -1), x[1], slab_of(x[1], -1), 0, 0, false);
  }
  bool is_summed(const tensor_core& y) const { return y.facts->place_of(facts.through) < 0; }

  /// Blocks of one operand from neighbour to neighbour, one's own first.
  void go_round(const tensor_core& y, operands x, const panel_source* s) const {
    const int k = s[1].travels ? 1 : 0, o = 1 - k;
    const panel_source& from = s[k];
    const bool moves = from.over != 0;
    const communicator* const c = moves ? &x[k].grid->along(from.over) : nullptr;
    if (moves) collective::prepare(*c, "contract", 0, collective::wire_of<T>);
    const int tag = moves ? c->next_tag() : 0;
    const int n = static_cast<int>(from.ranks), me = static_cast<int>(from.me);
    storage room[2];
    const void* now = x[k].data<const void>();
    const slab stays = slab_of(x[o], s[o].place);
    bool any = false;
    for (int step = 0; step < n; ++step) {
      const box here = from.block_of((me + step) % n);
      collective::requests under_way;
      storage& next = room[step % 2];
      if (step + 1 < n) {
        const index_t coming = from.block_of((me + step + 1) % n).size();
        next = storage::acquire(static_cast<std::size_t>(coming) * sizeof(T));
        under_way.keep(room[0]), under_way.keep(room[1]), under_way.keep(x[k].memory);
        collective::start_exchange_some(
            *c, collective::wire_of<T>, static_cast<const std::byte*>(now),
            messages((me + n - 1) % n, here.size()), static_cast<std::byte*>(next.data()),
            messages((me + 1) % n, coming), "contract", tag, collective::most_per_call<T>,
            under_way);
      }
      const index_t begin = here.begin[from.place], end = begin + here.length[from.place];
      if (end > begin) {
        const slab moving = slab_of(here, now, from.place);
        const slab& a = k == 0 ? moving : stays;
        const slab& b = k == 0 ? stays : moving;
        slab_product<T>(facts, y, x[0], a, x[1], b, begin, end, any && is_summed(y));
        any = true;
      }
      if (step + 1 < n) under_way.wait("contract");
      now = next.data();
    }
    if (!any && is_summed(y)) clear(y, x);
  }
  static std::vector<collective::message> messages(int peer, index_t n) {
    if (n == 0) return {};
    return {{peer, {0, n}}};
  }

  /// A panel of both operands that is on its way.
  struct panel {
    index_t begin = 0, end = 0;
    slab of[2];
    storage room[2];
    collective::requests under_way;
  };
  void begin(panel& p, operands x, const panel_source* s, const index_t* owner) const {
    for (int k = 0; k < 2; ++k) {
      const int place = s[k].place;
      if (s[k].over == 0) {
        p.of[k] = slab_of(x[k], place);
        continue;
      }
      box own = s[k].where.own(s[k].layout), part = own;
      part.begin[place] = p.begin;
      part.length[place] = p.end - p.begin;
      const index_t n = part.size();
      p.room[k] = storage::acquire(static_cast<std::size_t>(n) * sizeof(T));
      T* const to = static_cast<T*>(p.room[k].data());
      if (owner[k] == s[k].me && n > 0)
        local::pack(part.rank, part.length, x[k].data<const T>() + offset_in(own, part),
                    strides(own).data(), to);
      p.under_way.keep(p.room[k]);
      collective::broadcast(x[k].grid->along(s[k].over), to, n, static_cast<int>(owner[k]),
                            collective::most_per_call<T>, &p.under_way);
      p.of[k] = slab_of(part, to, place);
    }
  }
  /// Panels of both operands, each broadcast by who has it, one ahead of the product.
  void go_by(const tensor_core& y, operands x, const panel_source* s) const {
    const box part = s[0].where.own(facts.part[0]->layout);
    const index_t first = part.begin[s[0].place], last = first + part.length[s[0].place];
    panel ahead[2];
    int count = 0;
    const auto finish = [&](panel& p, bool add) {
      p.under_way.wait("contract");
      slab_product<T>(facts, y, x[0], p.of[0], x[1], p.of[1], p.begin, p.end, add);
    };
    const index_t deep = depth_of_panels(s, facts, x[0].sizes(), depth);
    for_each_panel(s, first, last, deep, [&](index_t from, index_t to, const index_t* owner) {
      panel& p = ahead[count % 2];
      p.begin = from, p.end = to;
      begin(p, x, s, owner);
      if (count > 0) finish(ahead[(count - 1) % 2], count > 1);
      ++count;
    });
    if (count > 0)
      finish(ahead[(count - 1) % 2], count > 1);
    else
      clear(y, x);
  }
};

}  // namespace dimesh::detail
