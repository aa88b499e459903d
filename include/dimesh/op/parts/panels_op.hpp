// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are blocks contracted while others are on their way? One dim goes by in panels: of a ring,
// the block that a neighbour sends; else slices that those who have them broadcast. The next one
// travels while the product with this one is computed. Rule: a schedule (schedules.hpp).
//
//   panels_op<float>{facts, 0}     x[m/rows, k] . y[k, n/rows]: y's blocks go round the ring
//   panels_op<float>{facts, 256}   x[m/rows, k/cols] . y[k/rows, n/cols]: 256 elements of k a time
#pragma once

#include "dimesh/op/parts/panels_pull.hpp"

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
    if (depth == 0) {
      for (const panel_source& one : s) cost_of_ring(t, one);
      return;
    }
    for_each_panel_of(s, facts, x[0].sizes(), depth,
                      [&](index_t from, index_t to, const index_t* owner) {
                        for (int k = 0; k < 2; ++k) cost_of_panel(t, s[k], owner[k], to - from);
                      });
  }
  static constexpr bool puts_off = true;
  static constexpr bool needs(int k, unsigned wanted) {
    return (k == 0 && (wanted & 2u)) || (k == 1 && (wanted & 1u));
  }
  constexpr void transpose(const auto& to) const {
    for (const int k : {0, 1})
      if (to.wants(k))
        to.give(k, panels_pull_op<T>{facts, depth, k}, to.ybar, conjugated<T>(to, 1 - k));
  }
  void fill(results y, operands x) const {
    const panel_source s[2] = {{x[0], facts, 0}, {x[1], facts, 1}};
    if (depth == 0)
      by_ring(y[0], x, s);
    else
      by_panels(y[0], x, s);
  }

 private:
  int place_in(const tensor_core& y) const { return y.facts->place_of(facts.through); }

  /// Blocks of one operand from neighbour to neighbour, one's own first.
  void by_ring(const tensor_core& y, operands x, const panel_source* s) const {
    const int k = s[1].travels ? 1 : 0, o = 1 - k;
    const slab all = slab_of(y, place_in(y)), stays = slab_of(x[o], s[o].place);
    bool any = false;
    go_round<T>(x[k], s[k], [&](index_t begin, index_t end, const slab& moving) {
      slab_product<T>(facts, y, all, x[k], moving, x[o], stays, begin, end, any && place_in(y) < 0);
      any = true;
    });
    if (!any) zero_bytes(y.data<void>(), y.bytes());
  }

  /// A panel of both operands that is on its way.
  struct panel {
    index_t begin = 0, end = 0;
    slab of[2];
    storage room[2];
    collective::requests under_way;
  };
  /// Panels of both operands, each broadcast by who has it, one ahead of the product.
  void by_panels(const tensor_core& y, operands x, const panel_source* s) const {
    panel ahead[2];
    int count = 0;
    const slab all = slab_of(y, place_in(y));
    const auto finish = [&](panel& p, bool add) {
      p.under_way.wait("contract");
      slab_product<T>(facts, y, all, x[0], p.of[0], x[1], p.of[1], p.begin, p.end, add);
    };
    for_each_panel_of(
        s, facts, x[0].sizes(), depth, [&](index_t from, index_t to, const index_t* owner) {
          panel& p = ahead[count % 2];
          p.begin = from, p.end = to;
          for (int k = 0; k < 2; ++k)
            p.of[k] = start_panel<T>(x[k], s[k], owner[k], from, to, p.room[k], p.under_way);
          if (count > 0) finish(ahead[(count - 1) % 2], count > 1);
          ++count;
        });
    if (count > 0)
      finish(ahead[(count - 1) % 2], count > 1);
    else
      zero_bytes(y.data<void>(), y.bytes());
  }
};

}  // namespace dimesh::detail
