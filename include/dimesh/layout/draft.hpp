// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a user's list of rules say of a tensor with these dims? A draft: a table, or the first
// thing that is wrong with it. The rules of a layout are values, made once for each layout; so a
// draft can be made of rules that a type says as well as of those that only the run knows.
//
//   rules_in<layout<pod, split<batch, rows>>>.at[0]  -> {split, batch, axis 0}
//   drafted<layout<pod, split<batch, rows>>, list<batch, hidden>>::result.t  -> the table
#pragma once

#include "dimesh/layout.hpp"
#include "dimesh/layout/dim_facts.hpp"
#include "dimesh/layout/fault.hpp"
#include "dimesh/layout/table.hpp"

namespace dimesh::detail {

template <class D> struct bare_dim {
  using type = D;
  static constexpr bool uneven = false, ragged = false;
  static constexpr halo_widths halo{};
};
template <class D> struct bare_dim<uneven<D>> : bare_dim<D> {
  static constexpr bool uneven = true;
};
template <class D> struct bare_dim<ragged<D>> : bare_dim<D> {
  static constexpr bool uneven = true, ragged = true;
};
template <class D, index_t Before, index_t After, bool Fit>
struct bare_dim<halo<D, Before, After, Fit>> : bare_dim<D> {
  static constexpr halo_widths halo = Fit ? halo_widths(Before, After) : halo_widths();
};
template <class H> inline constexpr bool is_dim_with_halo = false;
template <class D, index_t Before, index_t After, bool Fit>
inline constexpr bool is_dim_with_halo<halo<D, Before, After, Fit>> = Dim<D>;
/// (Widths that are none have been refused where the type was named.)
template <class H> inline constexpr bool is_no_halo = false;
template <class D> inline constexpr bool is_no_halo<halo<D, 0, 0, true>> = true;

// ---- rules as values ----------------------------------------------------------------------------

enum class rule_kind : signed char { none, split, split_if_free, spread, use };

/// One rule of a layout. Axes are places in the mesh, -1 where it has no such axis.
struct layout_rule {
  rule_kind kind = rule_kind::none;
  use what = use::replicated;  // of kind use
  bool uneven = false, ragged = false;
  halo_widths halo{};
  short place = -1;  // of use placed: the coordinate, -1 where there can be none
  signed char axes = 0;
  signed char axis[max_axes + 1]{};  // of more than all axes of a mesh one comes again
  const dim_facts* dim = nullptr;  // of a split
};
/// Some rules for a mesh: how many axes that has, and their sizes as far as they are known.
struct rule_list_view {
  const layout_rule* at;
  int size;
  int axes;
  const index_t* axis_sizes;
};

template <class M, class... A> constexpr layout_rule axes_rule(rule_kind kind) {
  layout_rule r;
  r.kind = kind;
  ((r.axes <= max_axes
        ? void(r.axis[static_cast<int>(r.axes++)] = static_cast<signed char>(axis_index<M, A>))
        : void()),
   ...);
  return r;
}
template <class M, class D, class... A> constexpr layout_rule split_rule(rule_kind kind) {
  using bare = bare_dim<D>;
  layout_rule r = axes_rule<M, A...>(kind);
  r.dim = &facts_of_dim<typename bare::type>;
  r.uneven = bare::uneven;
  r.ragged = bare::ragged;
  r.halo = bare::halo;
  return r;
}
template <class M, class A> constexpr layout_rule use_rule(use what) {
  layout_rule r = axes_rule<M, A>(rule_kind::use);
  r.what = what;
  return r;
}
/// Coordinates of places are kept in two bytes.
inline constexpr index_t max_places = 32767;
template <class M, class A> constexpr layout_rule place_rule(index_t coordinate) {
  layout_rule r = use_rule<M, A>(use::placed);
  r.place = static_cast<short>(coordinate >= 0 && coordinate < max_places ? coordinate : -1);
  return r;
}
template <class M, class Rule> struct rule_value {
  static constexpr layout_rule make() { return {}; }
};
template <class M, class D, class... A> struct rule_value<M, split<D, A...>> {
  static constexpr layout_rule make() { return split_rule<M, D, A...>(rule_kind::split); }
};
template <class M, class D, class... A> struct rule_value<M, split_if_free<D, A...>> {
  static constexpr layout_rule make() { return split_rule<M, D, A...>(rule_kind::split_if_free); }
};
template <class M, class A> struct rule_value<M, spread<A>> {
  static constexpr layout_rule make() { return axes_rule<M, A>(rule_kind::spread); }
};
template <class M, class A> struct rule_value<M, partial<A>> {
  static constexpr layout_rule make() { return use_rule<M, A>(use::partial); }
};
template <class M, class A, index_t K> struct rule_value<M, placed<A, K>> {
  static constexpr layout_rule make() { return place_rule<M, A>(K); }
};
template <class M, class A> struct rule_value<M, partial_max<A>> {
  static constexpr layout_rule make() { return use_rule<M, A>(use::partial_max); }
};
template <class M, class A> struct rule_value<M, partial_min<A>> {
  static constexpr layout_rule make() { return use_rule<M, A>(use::partial_min); }
};

template <class L> struct layout_rules;
template <class M, class... Rule> struct layout_rules<layout<M, Rule...>> {
  static constexpr layout_rule at[sizeof...(Rule) + 1] = {rule_value<M, Rule>::make()...,
                                                          layout_rule{}};
  static constexpr rule_list_view all{at, sizeof...(Rule), M::rank, M::static_sizes.data()};
};
/// The rules of a layout as values.
template <class L> inline constexpr const rule_list_view& rules_in = layout_rules<L>::all;

// ---- from rules to a table ----------------------------------------------------------------------

/// A table in the making: the first fault found wins, its culprits are places.
struct draft {
  table t;
  bool ruled[max_dims]{};  // a split rule has named this dim
  unsigned spread = 0;  // axes that a spread rule has named, by mask
  fault_code found = fault_code::none;
  int first = -1, second = -1;  // culprits: dims
  int axis = -1;  // the axis concerned
  index_t size = 0;  // and how many ranks lie along the axes so far

  constexpr void blame(fault_code f, int one, int two, int a, index_t s = 0) {
    if (found == fault_code::none) found = f, first = one, second = two, axis = a, size = s;
  }
};

/// One axis gets a use; a dim of -1 (not of this tensor) leaves it replicated.
constexpr void draft_axis(draft& d, int a, use what, int dim) {
  if (a < 0 || dim == -1) return;
  const axis_use now = d.t.axis[a];
  if (now.what == use::split && what == use::split && now.dim != dim)
    return d.blame(fault_code::dims_share_mesh_axis, now.dim, dim, a);
  if (now.what != use::replicated) return d.blame(fault_code::axis_used_twice, -1, -1, a);
  if (what == use::split)
    d.t.set_split(a, dim);
  else
    d.t.axis[a].what = what;
}
/// Only the ranks at one coordinate of an axis, of a size if it is known, hold the tensor.
constexpr void draft_place(draft& d, int a, int coordinate, const index_t* axis_sizes) {
  if (a < 0) return;
  if (d.t.axis[a].what != use::replicated) return d.blame(fault_code::axis_used_twice, -1, -1, a);
  const index_t size = axis_sizes[a];
  if (coordinate < 0 || (size != dynamic && coordinate >= size))
    return d.blame(fault_code::place_not_on_axis, -1, -1, a, size);
  d.t.set_placed(a, coordinate);
}
constexpr void draft_split(draft& d, const layout_rule& r, dim_list dims) {
  const int dim = dims.place_of(r.dim);
  if (dim < 0) return;
  if (d.ruled[dim]) return d.blame(fault_code::dim_has_two_rules, dim, -1, -1);
  d.ruled[dim] = true;
  d.t.uneven[dim] = r.uneven;
  d.t.ragged[dim] = r.ragged;
  d.t.halo[dim] = r.halo;
  for (int i = 0; i < r.axes; ++i) draft_axis(d, r.axis[i], use::split, dim);
}
/// Rules that give way to others wait for them.
constexpr void draft_yielding(draft& d, const layout_rule& r, dim_list dims) {
  for (int i = 0; i < r.axes; ++i)
    if (r.axis[i] < 0 || d.t.axis[static_cast<int>(r.axis[i])].what != use::replicated) return;
  draft_split(d, r, dims);
}
constexpr void note_spread(draft& d, const layout_rule& r) {
  const int a = r.axis[0];
  if (a < 0) return;
  if (d.spread >> a & 1u) return d.blame(fault_code::axis_used_twice, -1, -1, a);
  d.spread |= 1u << a;
}
/// Spread axes come last: they take the first dim that what is already split leaves divisible. An
/// axis that splits something, or holds the tensor at one place, has nothing to spread.
constexpr void draft_spread(draft& d, int a, dim_list dims, const index_t* axis_sizes) {
  if (a < 0 || d.t.axis[a].what == use::split || d.t.axis[a].what == use::placed) return;
  if (d.t.is_partial(a)) return d.blame(fault_code::axis_used_twice, -1, -1, a);
  int open = -1;  // a dim whose divisibility only the run can tell
  for (int dim = 0; dim < dims.size; ++dim) {
    const index_t extent = dims[dim]->extent;
    index_t ranks = axis_sizes[a] == dynamic ? 1 : axis_sizes[a];  // along axes of known sizes
    bool known = axis_sizes[a] != dynamic && extent != dynamic;
    for (int b = 0; b < d.t.axes; ++b)
      if (d.t.axis[b].what == use::split && d.t.axis[b].dim == dim) {
        known = known && axis_sizes[b] != dynamic;
        if (axis_sizes[b] != dynamic) ranks *= axis_sizes[b];
      }
    if (extent != dynamic && extent % ranks != 0) continue;
    if (known) return d.t.set_split(a, dim);
    if (open < 0) open = dim;
  }
  if (open >= 0) d.t.set_split(a, open);
}

/// Static extents that static axes do not divide; and `uneven` that has become idle.
constexpr void settle(draft& d, dim_list dims, const index_t* axis_sizes) {
  for (int dim = 0; dim < dims.size; ++dim) {
    const index_t extent = dims[dim]->extent;
    index_t ranks = 1;  // along the axes whose sizes are known
    bool known = extent != dynamic;
    for (int level = 0, a = 0; extent != dynamic && (a = d.t.axis_at(dim, level)) >= 0; ++level) {
      if (axis_sizes[a] == dynamic) {
        known = false;
        continue;
      }
      ranks *= axis_sizes[a];
      if (extent % ranks != 0 && !d.t.uneven[dim])
        return d.blame(fault_code::extent_not_divisible, dim, -1, a, ranks);
    }
    if (d.t.split_count(dim) == 0) d.t.ragged[dim] = false;
    if (d.t.split_count(dim) == 0 || (known && extent % ranks == 0 && !d.t.ragged[dim]))
      d.t.uneven[dim] = false;
  }
}

/// What some rules say of a tensor with these dims.
constexpr draft draft_of(const rule_list_view& rules, dim_list dims) {
  draft d;
  d.t.axes = rules.axes;
  for (int i = 0; i < rules.size; ++i) {
    const layout_rule& r = rules.at[i];
    if (r.kind == rule_kind::split)
      draft_split(d, r, dims);
    else if (r.kind == rule_kind::use && r.what == use::placed)
      draft_place(d, r.axis[0], r.place, rules.axis_sizes);
    else if (r.kind == rule_kind::use)
      draft_axis(d, r.axis[0], r.what, -2);
    else if (r.kind == rule_kind::spread)
      note_spread(d, r);
  }
  for (int i = 0; i < rules.size; ++i)
    if (rules.at[i].kind == rule_kind::split_if_free) draft_yielding(d, rules.at[i], dims);
  for (int i = 0; i < rules.size; ++i)
    if (rules.at[i].kind == rule_kind::spread)
      draft_spread(d, rules.at[i].axis[0], dims, rules.axis_sizes);
  settle(d, dims, rules.axis_sizes);
  return d;
}

/// What layout L says of a list of dims.
template <class L, class Dims> struct drafted {
  static constexpr draft result = draft_of(rules_in<L>, dims_in<Dims>);
};

}  // namespace dimesh::detail
