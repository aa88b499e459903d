// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a user's list of rules say of a tensor with these dims? A draft: a table, or the first
// thing that is wrong with it.
//
//   drafted<layout<pod, split<batch, rows>>, list<batch, hidden>>::result.t  -> the table
#pragma once

#include "dimesh/layout.hpp"
#include "dimesh/layout/fault.hpp"
#include "dimesh/layout/table.hpp"

namespace dimesh::detail {

/// A table in the making: the first fault found wins, its culprits are places.
struct draft {
  enum class fault : signed char {
    none,
    axis_not_in_mesh,
    axis_twice,
    dim_twice,
    repeated,
    shared,
    extent
  };
  table t;
  bool ruled[max_dims]{};       // a split rule has named this dim
  unsigned spread = 0;          // axes that a spread rule has named, by mask
  fault found = fault::none;
  int first = -1, second = -1;  // culprits: dims, or the place of a rule (axis_not_in_mesh)
  int axis = -1;                // the axis concerned
  index_t size = 0;             // and how many ranks lie along the axes so far

  constexpr void blame(fault f, int one, int two, int a, index_t s = 0) {
    if (found == fault::none) found = f, first = one, second = two, axis = a, size = s;
  }
};

template <class D> struct bare_dim {
  using type = D;
  static constexpr bool uneven = false;
  static constexpr index_t halo = 0;
};
template <class D> struct bare_dim<uneven<D>> : bare_dim<D> {
  static constexpr bool uneven = true;
};
template <class D, index_t W> struct bare_dim<halo<D, W>> : bare_dim<D> {
  static_assert(W >= 0 && W <= max_halo,
                "halo: the width is a number from 0 to max_halo; choose one");
  static constexpr index_t halo = W;
};

/// One axis gets a use; a dim of -1 (not of this tensor) leaves it replicated.
constexpr void draft_axis(draft& d, int a, use what, int dim) {
  if (a < 0 || dim == -1) return;
  const axis_use now = d.t.axis[a];
  if (now.what == use::split && what == use::split && now.dim != dim)
    return d.blame(draft::fault::shared, now.dim, dim, a);
  if (now.what != use::replicated) return d.blame(draft::fault::axis_twice, -1, -1, a);
  if (what == use::split)
    d.t.set_split(a, dim);
  else
    d.t.axis[a].what = what;
}

template <class M, class Dims> struct drafter {
  /// Rules that give way to others wait for them.
  template <class D, class... A> static constexpr void rule(draft&, tag<split_if_free<D, A...>>) {}
  template <class R> static constexpr void yielding(draft&, tag<R>) {}
  template <class D, class... A>
  static constexpr void yielding(draft& d, tag<split_if_free<D, A...>>) {
    const bool free = (is_free(d, axis_index<M, A>) && ...);
    if (free) rule(d, tag<split<D, A...>>{});
  }
  static constexpr bool is_free(const draft& d, int a) {
    return a >= 0 && d.t.axis[a].what == use::replicated;
  }
  template <class D, class... A> static constexpr void rule(draft& d, tag<split<D, A...>>) {
    using bare = bare_dim<D>;
    constexpr int dim = index_of<typename bare::type, Dims>;
    if constexpr (dim >= 0) {
      if (d.ruled[dim]) return d.blame(draft::fault::dim_twice, dim, -1, -1);
      d.ruled[dim] = true;
      d.t.uneven[dim] = bare::uneven;
      d.t.halo[dim] = static_cast<signed char>(bare::halo);
      (draft_axis(d, axis_index<M, A>, use::split, dim), ...);
    }
  }
  template <class A> static constexpr void rule(draft& d, tag<partial<A>>) {
    draft_axis(d, axis_index<M, A>, use::partial, -2);
  }
  template <class A> static constexpr void rule(draft& d, tag<partial_max<A>>) {
    draft_axis(d, axis_index<M, A>, use::partial_max, -2);
  }
  template <class A> static constexpr void rule(draft& d, tag<partial_min<A>>) {
    draft_axis(d, axis_index<M, A>, use::partial_min, -2);
  }
  template <class A> static constexpr void rule(draft& d, tag<spread<A>>) {
    constexpr int a = axis_index<M, A>;
    if constexpr (a >= 0) {
      if (d.spread >> a & 1u) return d.blame(draft::fault::axis_twice, -1, -1, a);
      d.spread |= 1u << a;
    }
  }

  /// Spread axes come last: they take the first dim that what is already split leaves divisible.
  template <class R> static constexpr void late(draft&, tag<R>, const index_t*) {}
  template <class A> static constexpr void late(draft& d, tag<spread<A>>, const index_t* extent) {
    constexpr int a = axis_index<M, A>;
    if (a < 0 || d.t.axis[a].what == use::split) return;
    if (d.t.is_partial(a)) return d.blame(draft::fault::axis_twice, -1, -1, a);
    int open = -1;  // a dim whose divisibility only the run can tell
    for (int dim = 0; dim < Dims::size; ++dim) {
      index_t ranks = A::size == dynamic ? 1 : A::size;  // along the axes whose sizes are known
      bool known = A::size != dynamic && extent[dim] != dynamic;
      for (int b = 0; b < M::rank; ++b)
        if (d.t.axis[b].what == use::split && d.t.axis[b].dim == dim) {
          const index_t size = M::static_sizes[static_cast<std::size_t>(b)];
          known = known && size != dynamic;
          if (size != dynamic) ranks *= size;
        }
      if (extent[dim] != dynamic && extent[dim] % ranks != 0) continue;
      if (known) return d.t.set_split(a, dim);
      if (open < 0) open = dim;
    }
    if (open >= 0) d.t.set_split(a, open);
  }
};

/// Static extents that static axes do not divide; and `uneven` that has become idle.
template <class M> constexpr void settle(draft& d, int rank, const index_t* extent) {
  for (int dim = 0; dim < rank; ++dim) {
    index_t ranks = 1;  // along the axes whose sizes are known
    bool known = extent[dim] != dynamic;
    for (int level = 0, a = 0; extent[dim] != dynamic && (a = d.t.axis_at(dim, level)) >= 0;
         ++level) {
      const index_t size = M::static_sizes[static_cast<std::size_t>(a)];
      if (size == dynamic) {
        known = false;
        continue;
      }
      ranks *= size;
      if (extent[dim] % ranks != 0 && !d.t.uneven[dim])
        return d.blame(draft::fault::extent, dim, -1, a, ranks);
    }
    if (d.t.split_count(dim) == 0 || (known && extent[dim] % ranks == 0)) d.t.uneven[dim] = false;
  }
}

template <class L, class Dims> struct drafted;
template <class M, class... Rule, class... D> struct drafted<layout<M, Rule...>, list<D...>> {
  using dims = list<D...>;
  static constexpr draft make() {
    constexpr index_t extent[] = {D::extent..., 0};
    draft d;
    d.t.axes = M::rank;
    (drafter<M, dims>::rule(d, tag<Rule>{}), ...);
    (drafter<M, dims>::yielding(d, tag<Rule>{}), ...);
    (drafter<M, dims>::late(d, tag<Rule>{}, extent), ...);
    settle<M>(d, sizeof...(D), extent);
    return d;
  }
  static constexpr draft result = make();
};

}  // namespace dimesh::detail
