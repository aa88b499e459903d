// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do blocks of any lengths change places along an axis? Each takes its length along, so that
// the result is cut otherwise: where blocks of 3, 0 and 5 elements go one place on, there are 5, 3
// and 0. All ranks know all cuts, and so what comes to them.
#pragma once

#include <vector>

#include "dimesh/collective/neighbors.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/op/parts/far_grid.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// The cuts of x when the blocks of the dim that axis a splits have gone from i to to[i] along it.
cut_list permuted_cuts(const tensor_core& x, int a, const std::vector<index_t>& to);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline cut_list permuted_cuts(const tensor_core& x, int a,
                                             const std::vector<index_t>& to) {
  const table& t = x.layout();
  const int d = t.axis[a].dim;
  const cut_record& was = *cuts_of_dim(x.cuts.first(), x.facts->dim[d]);
  index_t below = 1;  // blocks within one of axis a's
  for (int level = t.axis[a].level + 1, b = 0; (b = t.axis_at(d, level)) >= 0; ++level)
    below *= x.sizes()[b];
  const index_t each = was.ranks() / ranks_over(t, d, x.sizes());  // finer cuts go along
  std::vector<index_t> begin(was.begin.size(), 0);
  for (index_t i = 0; i < was.ranks(); ++i) {
    const index_t block = i / each / below % x.sizes()[a];
    const index_t at = i + (to[static_cast<std::size_t>(block)] - block) * below * each;
    begin[static_cast<std::size_t>(at + 1)] = was.at(i, was.ranks()).length;
  }
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  cut_list all;
  all.add(x.facts->dim[d], std::move(begin));
  all.add_all(x.cuts);
  return all;
}
#endif

/// Elements T, along axis a; to, from and sends as of blocks that are equal. Cuts are those of the
/// result, which stands where the operand does.
template <class T> struct permute_ragged_op {
  int a = 0, to = 0, from = 0;
  bool sends = false;
  far_grid where;
  cut_list cuts;
  unsigned once = 0;
  static constexpr std::string_view call = "permute_along";
  static constexpr event_kind kind = event_kind::message;
  static constexpr bool takes_complex = true;

  void land(tensor_core& y) const {
    where.take(y);
    y.once = once & y.facts->partial;
    y.cuts = cuts;
  }
  void fill(results y, operands x) const {
    const communicator* const c = others(y[0], x[0]);
    if (c == nullptr) return;
    const moves m(*this, y[0], x[0], *c);
    collective::exchange_some(*c, x[0].data<const T>(), m.out, y[0].data<T>(), m.in, call.data(),
                              {&x[0].memory, &y[0].memory});
  }
  void start(results y, operands x, flight& f) const {
    const communicator* const c = others(y[0], x[0]);
    if (c == nullptr) return;
    f.axes = c->axes();
    collective::prepare(*c, call.data(), 0, collective::wire_of<T>);
    const moves m(*this, y[0], x[0], *c);
    collective::start_exchange_some(*c, collective::wire_of<T>,
                                    collective::bytes_of(x[0].data<const T>()), m.out,
                                    collective::bytes_of(y[0].data<T>()), m.in, call.data(),
                                    f.tag_of(*c, 0), collective::most_per_call<T>, f.under_way);
  }
  constexpr void cost(tally& t, results, operands x) const {
    const index_t bytes = x[0].bytes();
    if (sends && bytes > 0) t.collective(event_kind::message, 1u << a, bytes, bytes);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& way) const {
    cut_list before = way.x(0).cuts;
    before.add_all(way.ybar.cuts);
    way.give(0,
             permute_ragged_op{a, from, to, sends, far_grid::of(way.x(0)), before, way.ybar.once},
             way.ybar);
  }

 private:
  /// The messages of this rank: of no elements there is none.
  struct moves {
    std::vector<collective::message> out, in;
    moves(const permute_ragged_op& o, const tensor_core& y, const tensor_core& x,
          const communicator& c) {
      if (o.to == c.rank()) return;
      if (x.elements() > 0) out.push_back({o.to, {0, x.elements()}});
      if (y.elements() > 0) in.push_back({o.from, {0, y.elements()}});
    }
  };
  /// The ranks among which blocks go; null where no block has an element, or there is nobody else.
  /// A block that stays is copied.
  const communicator* others(const tensor_core& y, const tensor_core& x) const {
    const communicator& c = x.grid->along(1u << a);
    if (to == c.rank()) collective::copy(x.data<const T>(), y.data<T>(), x.elements());
    const bool empty = placement_of(x).most(x.layout()) == 0;
    return c.size() == 1 || empty ? nullptr : &c;
  }
};

}  // namespace dimesh::detail
