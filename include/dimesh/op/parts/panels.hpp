// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What goes by when blocks are contracted while others travel? Panels: parts of one dim of both
// operands. Who has which, where its elements lie, and the product with those that are there. Also
// the layouts under which the operands meet.
//
//   panel_source(x, facts, 0).owner(17, end)   -> who has element 17 of the dim, and up to where
#pragma once

#include "dimesh/op/parts/blocks.hpp"
#include "dimesh/op/parts/schedules.hpp"

namespace dimesh::detail {

/// What stands between the operands and the result: each operand as it meets the other one, and the
/// share of it that a rank takes (the same where nothing is shared out).
struct panels_facts {
  const dim_facts* through = nullptr;
  int share = -1;
  const tensor_facts *whole[2]{}, *part[2]{};
};

/// What the type of a result says besides its layout: like an operand's, with the dims of a list.
template <class... D> constexpr tensor_facts facts_of_result(const tensor_facts& x, list<D...>) {
  tensor_facts f = x;
  f.rank = 0;
  table whole;  // a temporary would end g++ 12
  whole.axes = x.layout.axes;
  f.layout = whole;
  enter_dims(f, list<D...>{});
  return f;
}
/// The same as tables.
struct panels_tables {
  table whole[2], part[2];
};
constexpr panels_tables tables_of(rule_operands x, const contract_meeting& m) {
  panels_tables t;
  for (int k = 0; k < 2; ++k) {
    t.whole[k] = t.part[k] = tidied(x[k], m.whole[k]);
    if (m.share >= 0)
      t.part[k] = tidied(x[k], with_split(t.whole[k], m.share, x[k].place_of(m.through), true));
  }
  return t;
}

/// Where the panels of an operand come from: its blocks along `over`, by coordinate.
struct panel_source {
  placement where;
  table layout;
  unsigned over = 0;  // the axis, as a mask; 0 where the operand stays
  bool travels = false;  // along an axis of one rank, too
  index_t ranks = 1, me = 0;
  int place = -1;  // of the dim that goes by; -1 where the operand lacks it
  index_t element = 0;

  constexpr panel_source(const tensor_core& x, const panels_facts& f, int k)
      : panel_source(x, x.layout(), f, k) {}
  /// Of operand k under the layout `at`, whose dims, extents and grid x has.
  constexpr panel_source(const tensor_core& x, const table& at, const panels_facts& f, int k)
      : where(placement_of(x)), layout(at), place(x.facts->place_of(f.through)) {
    element = x.facts->element;
    const unsigned moved = moved_axes(at, f.whole[k]->layout);
    travels = moved != 0;
    over = talking(moved, x.sizes());
    ranks = group_size(over, x.sizes());
    if (over != 0 && !x.is_shape) me = x.grid->coords()[std::countr_zero(over)];
  }
  constexpr box block_of(index_t r) const { return where.peers(layout, r, over); }
  /// Who has element `at` of the dim, and where this block ends.
  constexpr index_t owner(index_t at, index_t& end) const {
    for (index_t r = 0; r < ranks; ++r) {
      const box b = block_of(r);
      const index_t e = b.begin[place] + b.length[place];
      if (at < b.begin[place] || at >= e) continue;
      if (e < end) end = e;
      return r;
    }
    return 0;
  }
  /// Elements of a slice of the rank's block that is so long along the dim.
  constexpr index_t slice(index_t length) const {
    box b = where.own(layout);
    b.length[place] = length;
    return b.size();
  }
};

/// f(begin, end, owners) for every panel of a share [begin, end) of the dim, at most so deep.
template <class F>
constexpr void for_each_panel(const panel_source* s, index_t begin, index_t end, index_t depth,
                              const F& f) {
  for (index_t at = begin; at < end;) {
    index_t stop = at + depth < end ? at + depth : end;
    const index_t owner[2] = {s[0].owner(at, stop), s[1].owner(at, stop)};
    f(at, stop, owner);
    at = stop;
  }
}

/// How deep the panels of this rank's share are: at most `depth`. Those of the first share are
/// shallower where another share, which more blocks meet in, has more of them: what the rank at the
/// origin sends is what is foreseen, and others make no more calls.
constexpr index_t depth_of_panels(const panel_source* s, const panels_facts& f,
                                  const index_t* sizes, index_t depth) {
  const int at = s[0].place;
  const table& shares = f.part[0]->layout;
  if (f.share < 0 || s[0].where.own(shares).begin[at] > 0) return depth;
  const auto panels = [&](index_t share, index_t deep) {
    const box b = s[0].where.peers(shares, share, 1u << f.share);
    index_t n = 0;
    for_each_panel(s, b.begin[at], b.begin[at] + b.length[at], deep,
                   [&n](index_t, index_t, const index_t*) { ++n; });
    return n;
  };
  index_t most = 0;
  for (index_t share = 1; share < sizes[f.share]; ++share) {
    const index_t n = panels(share, depth);
    most = n > most ? n : most;
  }
  if (panels(0, depth) >= most) return depth;
  index_t enough = 1, few = depth;  // the first share is the longest: at depth 1 it has enough
  while (few - enough > 1) {
    const index_t middle = (enough + few) / 2;
    (panels(0, middle) >= most ? enough : few) = middle;
  }
  return enough;
}

/// f(begin, end, owners) for every panel of the rank's share of the dim that goes by.
template <class F>
constexpr void for_each_panel_of(const panel_source* s, const panels_facts& facts,
                                 const index_t* sizes, index_t depth, const F& f) {
  const box part = s[0].where.own(facts.part[0]->layout);
  const index_t begin = part.begin[s[0].place], end = begin + part.length[s[0].place];
  for_each_panel(s, begin, end, depth_of_panels(s, facts, sizes, depth), f);
}

/// Elements of a tensor, from those on whose place along the dim that goes by is `begin`.
struct slab {
  void* data = nullptr;
  index_t begin = 0;
  index_t stride[max_dims]{};

  /// Where those begin whose place is `at`, along the dim that goes by, if the tensor has it.
  template <class T> T* from(index_t at, int place) const {
    return static_cast<T*>(data) + (place < 0 ? 0 : (at - begin) * stride[place]);
  }
};

/// The product of two slabs, of the blocks a and b, over the part [begin, end) of the dim that goes
/// by, written to a slab of the block y, or added to it. Dims that y lacks are summed.
template <class T>
void slab_product(const panels_facts& f, const tensor_core& y, const slab& sy, const tensor_core& a,
                  const slab& sa, const tensor_core& b, const slab& sb, index_t begin, index_t end,
                  bool add) {
  local::contraction c;
  const auto stride = [](const tensor_core& x, const slab& s, const dim_facts* d) {
    const int place = x.facts->place_of(d);
    return place < 0 ? 0 : s.stride[place];
  };
  const auto take = [&](const tensor_core& x, int d) {
    const dim_facts* const dim = x.facts->dim[d];
    c.extent[c.outer] = same_dim(dim, f.through) ? end - begin : x.local(d);
    c.a_outer[c.outer] = stride(a, sa, dim);
    c.b_outer[c.outer] = stride(b, sb, dim);
    c.c_outer[c.outer++] = stride(y, sy, dim);
  };
  for (int d = 0; d < y.rank(); ++d) take(y, d);
  for (int d = 0; d < a.rank(); ++d)
    if (y.facts->place_of(a.facts->dim[d]) < 0) take(a, d);
  for (int d = 0; d < b.rank(); ++d)
    if (y.facts->place_of(b.facts->dim[d]) < 0 && a.facts->place_of(b.facts->dim[d]) < 0)
      take(b, d);
  const auto place = [&f](const tensor_core& x) { return x.facts->place_of(f.through); };
  local::contract(c, static_cast<const T*>(sa.from<T>(begin, place(a))),
                  static_cast<const T*>(sb.from<T>(begin, place(b))), sy.from<T>(begin, place(y)),
                  add);
}
/// The elements of a tensor where they lie.
inline slab slab_of(const tensor_core& x, int place) {
  slab s{x.data<void>(), place < 0 ? 0 : x.own(place).offset, {}};
  for (int d = 0; d < x.rank(); ++d) s.stride[d] = x.stride(d);
  return s;
}
/// Elements of a box one after another.
inline slab slab_of(const box& b, void* data, int place) {
  slab s{data, place < 0 ? 0 : b.begin[place], {}};
  const strides stride(b);
  for (int d = 0; d < b.rank; ++d) s.stride[d] = stride.at[d];
  return s;
}

}  // namespace dimesh::detail
