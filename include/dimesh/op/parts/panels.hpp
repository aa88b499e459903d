// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What goes by when blocks are contracted while others travel? Panels: parts of one dim of both
// operands. Who has which, where its elements lie, and the product with those that are there. Also
// the layouts between operands and results, which the transpose needs.
//
//   panel_source(x, facts, 0).owner(17, end)   -> who has element 17 of the dim, and up to where
#pragma once

#include "dimesh/op/parts/blocks.hpp"
#include "dimesh/op/parts/schedules.hpp"

namespace dimesh::detail {

/// What stands between the operands and the result: each operand as it meets the other one, the
/// share of it that a rank takes (the same where nothing is shared out), the addends of its
/// cotangent, and these among zeros.
struct panels_facts {
  const dim_facts* through = nullptr;
  int share = -1;
  const tensor_facts *whole[2]{}, *part[2]{}, *addends[2]{}, *padded[2]{};
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
/// The same as tables. Dims: of the operands.
struct panels_tables {
  table whole[2], part[2], addends[2], padded[2];
};
constexpr panels_tables tables_of(rule_operands x, const contract_meeting& m,
                                  const tensor_facts& y) {
  panels_tables t;
  tensor_facts part[2] = {x[0], x[1]}, ybar = y;
  ybar.layout = dual_of(m.found.layout);
  for (int k = 0; k < 2; ++k) {
    t.whole[k] = t.part[k] = tidied(x[k], m.whole[k]);
    if (m.share >= 0)
      t.part[k] = tidied(x[k], with_split(t.whole[k], m.share, x[k].place_of(m.through), true));
    part[k].layout = t.part[k];
  }
  for (int k = 0; k < 2; ++k) {
    const tensor_facts* at[2] = {&ybar, &part[1 - k]};
    t.addends[k] =
        tidied(x[k], product_rule({at, 2}, dim_union({at, 2}).all(), x[k].dims()).layout);
    t.padded[k] = t.addends[k];
    if (m.share < 0) continue;
    t.padded[k] = without_axes(t.padded[k], 1u << m.share);
    t.padded[k].axis[m.share] = {use::partial};
    t.padded[k] = tidied(x[k], t.padded[k]);
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
      : where(placement_of(x)), layout(x.layout()), place(x.facts->place_of(f.through)) {
    element = x.facts->element;
    const unsigned moved = moved_axes(x.layout(), f.whole[k]->layout);
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

/// An operand's elements, from those on whose place along the dim that goes by is `begin`.
struct slab {
  const void* data = nullptr;
  index_t begin = 0;
  index_t stride[max_dims]{};
};

/// The product of two slabs over the part [begin, end) of the dim that goes by, written to y or
/// added to it.
template <class T>
void slab_product(const panels_facts& f, const tensor_core& y, const tensor_core& a, const slab& sa,
                  const tensor_core& b, const slab& sb, index_t begin, index_t end, bool add) {
  local::contraction c;
  T* to = y.data<T>();
  const auto take = [&](const dim_facts* d, index_t length, index_t step) {
    const int pa = a.facts->place_of(d), pb = b.facts->place_of(d);
    c.extent[c.outer] = same_dim(d, f.through) ? end - begin : length;
    c.a_outer[c.outer] = pa < 0 ? 0 : sa.stride[pa];
    c.b_outer[c.outer] = pb < 0 ? 0 : sb.stride[pb];
    c.c_outer[c.outer++] = step;
  };
  for (int d = 0; d < y.rank(); ++d) {
    take(y.facts->dim[d], y.local(d), y.stride(d));
    if (same_dim(y.facts->dim[d], f.through)) to += (begin - y.own(d).offset) * y.stride(d);
  }
  for (int d = 0; d < a.rank(); ++d)
    if (y.facts->place_of(a.facts->dim[d]) < 0) take(a.facts->dim[d], a.local(d), 0);
  const auto from = [&](const tensor_core& x, const slab& s) {
    const int place = x.facts->place_of(f.through);
    const index_t skipped = place < 0 ? 0 : (begin - s.begin) * s.stride[place];
    return static_cast<const T*>(s.data) + skipped;
  };
  local::contract(c, from(a, sa), from(b, sb), to, add);
}
/// The elements of a tensor where they lie.
inline slab slab_of(const tensor_core& x, int place) {
  slab s{x.data<const void>(), place < 0 ? 0 : x.own(place).offset, {}};
  for (int d = 0; d < x.rank(); ++d) s.stride[d] = x.stride(d);
  return s;
}
/// Elements of a box one after another.
inline slab slab_of(const box& b, const void* data, int place) {
  slab s{data, b.begin[place], {}};
  const strides stride(b);
  for (int d = 0; d < b.rank; ++d) s.stride[d] = stride.at[d];
  return s;
}

}  // namespace dimesh::detail
