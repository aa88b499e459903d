// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Over which blocks are addends summed, where what is summed moves afterwards, or where several
// ranks hold the same addends? A search on values: axes that hold addends, and those that
// replicate, come to split one dim or another. Counted is what all ranks receive, in the sum and in
// the one step that follows it.
//
//   from {split d over 0, partial 1} to {split e over 0}: the sum scatters to {split d over 0, 1}
#pragma once

#include "dimesh/layout/moved_share.hpp"

namespace dimesh::detail {

/// The search for the blocks of a sum, on the way from one table to another.
class sum_blocks {
  /// Axes, and the dims that they come to split (-1: none), major ones first.
  struct order {
    struct item {
      int axis = 0, dim = -1;
    } at[max_axes]{};
    int count = 0;

    constexpr order without(int i) const {
      order o;
      for (int j = 0; j < count; ++j)
        if (j != i) o.at[o.count++] = at[j];
      return o;
    }
    constexpr order with(int k, item added) const {
      order o;
      for (int j = 0; j <= count; ++j) {
        if (j == k) o.at[o.count++] = added;
        if (j < count) o.at[o.count++] = at[j];
      }
      return o;
    }
  };
  struct found {
    order best;
    double least;
    int tries = 0;
  };

 public:
  /// Blocks that are cut for the sum, what it scatters, and what it leaves.
  struct way {
    table cut, scattered, summed;
  };

  constexpr sum_blocks(const table& from, const table& to, const route_terms& known)
      : from_(from),
        to_(to),
        known_(known),
        share_(from.axes, all_dims(from, to, known), known),
        sums_(from.mask(use::partial) & ~to.mask(use::partial)) {
    bool spares = known.spares;  // it is more steps: only where it is known to move less
    for (int a = 0; a < from.axes; ++a) spares = spares && (known.knows(a) || !is_summed(a));
    for (int a = 0; a < from.axes; ++a) {
      const bool splits = to.axis[a].what == use::split;
      const bool spare = !splits && !is_summed(a) && spares && known.knows(a) && known.sizes[a] > 1;
      if (!is_summed(a) && (from.axis[a].what != use::replicated || !(splits || spare))) continue;
      any_spare_ = any_spare_ || spare;
      first_.at[first_.count++] = {a, splits ? to.axis[a].dim : -1};
    }
    for (int d = 0; d < share_.dims(); ++d)
      if (d < known.dims.size || from.axis_at(d, 0) >= 0 || to.axis_at(d, 0) >= 0)
        dim_[dims_++] = d;
    for (int i = 0; i < first_.count && ways_ <= most_ways; ++i) ways_ *= dims_ + 1 + i;
    share_.look_at(most_blocks / (ways_ < most_ways ? ways_ : most_ways));
  }
  /// Could be cut for the sum what stays replicated?
  constexpr bool any_spare() const { return any_spare_; }
  constexpr double received(const table& now, const table& next) const {
    const unsigned summed = now.mask(use::partial) & ~next.mask(use::partial);
    if (summed == 0) return share_.move(now, next);
    return share_.sum(summed, next, (summed & next.mask(use::split)) != 0);
  }
  /// The best of all ways, where these are few; else what is left when none of the axes, taken up
  /// one after another, has a better place. And what is received on it.
  constexpr double best(way& w) const {
    found f{first_, received(summed(first_))};
    if (ways_ <= most_ways) {
      try_all(order{}, f);
    } else {
      for (double before = f.least + 1; f.least < before;) {
        before = f.least;
        for (int i = 0; i < first_.count; ++i) try_places(f.best.without(i), f.best.at[i].axis, f);
      }
    }
    w.summed = summed(f.best);
    w.scattered = w.summed;
    for (int a = 0; a < from_.axes; ++a)
      if (is_summed(a) && w.summed.axis[a].what == use::replicated)
        w.scattered.axis[a] = {use::partial};
    w.cut = w.scattered;
    for (int a = 0; a < from_.axes; ++a)
      if (is_summed(a) && w.cut.axis[a].what == use::split) {
        w.cut.unsplit(a);
        w.cut.axis[a] = {use::partial};
      }
    return f.least;
  }

 private:
  static constexpr int most_ways = 128, most_blocks = 4096;  // a search is short on every mesh
  const table &from_, &to_;
  const route_terms& known_;
  moved_share share_;
  unsigned sums_;
  order first_;
  bool any_spare_ = false;
  int ways_ = 1;  // if not too many
  int dim_[max_dims]{}, dims_ = 0;  // that may be split

  constexpr bool is_summed(int a) const { return (sums_ >> a & 1u) != 0; }
  static constexpr int all_dims(const table& from, const table& to, const route_terms& known) {
    int dims = known.dims.size;
    for (const table* t : {&from, &to})
      for (int a = 0; a < t->axes; ++a)
        if (t->axis[a].what == use::split && t->axis[a].dim >= dims) dims = t->axis[a].dim + 1;
    return dims;
  }
  /// Tries every order in which the axis stands besides those of `rest`.
  constexpr void try_places(const order& rest, int axis, found& f) const {
    try_all(rest.with(rest.count, {axis, -1}), f);
    for (int i = 0; i < dims_; ++i)
      for (int k = 0; k <= rest.count; ++k)
        if (k == rest.count || rest.at[k].dim == dim_[i]) try_all(rest.with(k, {axis, dim_[i]}), f);
  }
  /// Tries an order, or all that begin with it.
  constexpr void try_all(const order& some, found& f) const {
    if (some.count == first_.count) return weigh(some, f);
    try_places(some, first_.at[some.count].axis, f);
  }
  constexpr void weigh(const order& o, found& f) const {
    if (++f.tries > most_ways) return;
    const table t = summed(o);
    if (const double n = received(t); n < f.least - 1e-9 && is_fit(t)) f.best = o, f.least = n;
  }
  constexpr double received(const table& t) const {
    const unsigned scattered = sums_ & t.mask(use::split);
    return share_.sum(scattered, t, true) + share_.sum(sums_ & ~scattered, t, false) +
           share_.move(t, to_);
  }
  /// Have dims that are cut anew an element for each rank, as far as types say?
  constexpr bool is_fit(const table& t) const {
    for (int d = 0; d < known_.dims.size; ++d)
      if (const unsigned axes = t.axes_of(d); axes != from_.axes_of(d) &&
                                              known_.dims[d]->extent != dynamic &&
                                              known_.dims[d]->extent < share_.ranks(axes))
        return false;
    return true;
  }
  /// The blocks that the sum leaves: those cut for it, and within them what it scatters.
  constexpr table summed(const order& o) const {
    table t = from_;
    for (int a = 0; a < t.axes; ++a)
      if (is_summed(a)) t.axis[a] = {};
    for (const bool sums : {false, true})
      for (int i = 0; i < o.count; ++i)
        if (const auto [a, d] = o.at[i]; d >= 0 && is_summed(a) == sums) {
          t.set_split(a, d);
          t.uneven[d] = true;
        }
    return t;
  }
};

}  // namespace dimesh::detail
