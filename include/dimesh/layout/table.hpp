// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a layout say, as plain numbers? For each mesh axis whether it splits a dim (which one,
// and at which level), leaves addends, holds the tensor at one place, or replicates. Rules of
// operations are constexpr functions on such tables; types are made of the results. Dims and axes
// are places in lists.
//
//   layout<pod, split<batch, rows>> over list<batch, hidden>  ->  axis[0] = {split, dim 0, level 0}
#pragma once

#include "dimesh/detail/config.hpp"
#include "dimesh/layout/dim_facts.hpp"

namespace dimesh {

/// What one mesh axis does to a tensor.
enum class use : signed char { replicated, split, partial, partial_max, partial_min, placed };

namespace detail {

struct axis_use {
  use what = use::replicated;
  signed char dim = -1;  // the dim it splits, as a place in the operation's list of dims
  signed char level = -1;  // its place among the axes of that dim, 0 = major
  short at = -1;  // the coordinate at which the tensor lives, of placed
  /// Dim and level mean something of splits alone, `at` of places. They are not compared elsewhere:
  /// where g++ 12 writes out a constant, it may leave zeros for what these begin with.
  constexpr bool operator==(const axis_use& u) const {
    return what == u.what && (what != use::split || (dim == u.dim && level == u.level)) &&
           (what != use::placed || at == u.at);
  }
};

/// How many elements of neighbouring blocks a block carries before it, and behind it.
struct halo_widths {
  static_assert(max_halo <= 127, "dimesh: widths of halos are kept as signed chars");
  signed char before, after;  // no initialisers: g++ 12 would run them when constants are read

  constexpr halo_widths() = default;
  constexpr halo_widths(index_t b, index_t a)
      : before(static_cast<signed char>(b)), after(static_cast<signed char>(a)) {}
  constexpr bool operator==(const halo_widths&) const = default;
  constexpr bool any() const { return before > 0 || after > 0; }
  constexpr bool is_even() const { return before == after; }
  /// By how much they lengthen a block.
  constexpr index_t both() const { return index_t{before} + after; }
};

struct table {
  int axes = 0;  // of the mesh
  axis_use axis[max_axes]{};  // in mesh order
  bool uneven[max_dims]{};  // per dim: blocks may differ, and are of ceil(n/p)
  bool ragged[max_dims]{};  // per dim: or of lengths that only the run knows; then uneven, too
  halo_widths halo[max_dims]{};  // per dim: elements of the neighbours' blocks that are kept

  constexpr bool operator==(const table&) const = default;

  /// How many axes split dim d.
  constexpr int split_count(int d) const {
    int count = 0;
    for (int a = 0; a < axes; ++a) count += axis[a].what == use::split && axis[a].dim == d;
    return count;
  }
  /// The axis of dim d at a level (0 = major), -1 where there is none.
  constexpr int axis_at(int d, int level) const {
    for (int a = 0; a < axes; ++a)
      if (axis[a].what == use::split && axis[a].dim == d && axis[a].level == level) return a;
    return -1;
  }
  /// Same axes in the same order, same kind of blocks.
  constexpr bool splits_alike(int d, const table& other) const {
    for (int a = 0; a < axes; ++a) {
      const bool mine = axis[a].what == use::split && axis[a].dim == d;
      const bool theirs = other.axis[a].what == use::split && other.axis[a].dim == d;
      if (mine != theirs || (mine && axis[a].level != other.axis[a].level)) return false;
    }
    return uneven[d] == other.uneven[d] && ragged[d] == other.ragged[d] && halo[d] == other.halo[d];
  }
  constexpr bool is_partial(int a) const {
    return axis[a].what == use::partial || axis[a].what == use::partial_max ||
           axis[a].what == use::partial_min;
  }
  constexpr bool any_partial() const { return first_partial() >= 0; }
  /// The first axis along which there is something yet to be joined, -1 if none is. Addends may be
  /// left out.
  constexpr int first_partial(bool addends = true) const {
    for (int a = 0; a < axes; ++a)
      if (is_partial(a) && (addends || axis[a].what != use::partial)) return a;
    return -1;
  }
  /// The first dim whose blocks carry halos, -1 if none do.
  constexpr int first_haloed() const {
    for (int d = 0; d < max_dims; ++d)
      if (halo[d].any()) return d;
    return -1;
  }
  /// The axes that split dim d, by mask.
  constexpr unsigned axes_of(int d) const {
    unsigned m = 0;
    for (int a = 0; a < axes; ++a)
      if (axis[a].what == use::split && axis[a].dim == d) m |= 1u << a;
    return m;
  }
  constexpr void set_split(int a, int d) {
    // Found before: g++ 13.3.0 dies of braces with a call that reads what they are assigned to.
    const int level = split_count(d);
    axis[a] = {use::split, static_cast<signed char>(d), static_cast<signed char>(level)};
  }
  constexpr void set_placed(int a, int coordinate) {
    axis[a] = {use::placed, -1, -1, static_cast<short>(coordinate)};
  }
  /// Do tensors under this table and that one live on the same ranks?
  constexpr bool placed_alike(const table& other) const {
    for (int a = 0; a < axes; ++a) {
      const bool mine = axis[a].what == use::placed, theirs = other.axis[a].what == use::placed;
      if (mine != theirs || (mine && axis[a].at != other.axis[a].at)) return false;
    }
    return true;
  }
  /// The axes along which the rank at some coordinates is not where the tensor lives, by mask. A
  /// coordinate of -1 is any place.
  constexpr unsigned away_from(const index_t* coords) const {
    unsigned m = 0;
    for (int a = 0; a < axes; ++a)
      if (axis[a].what == use::placed && coords[a] != axis[a].at && coords[a] >= 0) m |= 1u << a;
    return m;
  }
  /// Forget that axis a splits: minor axes of the same dim move up.
  constexpr void unsplit(int a) {
    const axis_use gone = axis[a];
    axis[a] = {};
    for (int b = 0; b < axes; ++b)
      if (axis[b].what == use::split && axis[b].dim == gone.dim && axis[b].level > gone.level)
        --axis[b].level;
  }
  /// Bit a is set where axis a has this use.
  constexpr unsigned mask(use what) const {
    unsigned m = 0;
    for (int a = 0; a < axes; ++a)
      if (axis[a].what == what) m |= 1u << a;
    return m;
  }
};

/// Axes no longer split anything, are no longer partial, or no place.
constexpr table without_axes(table t, unsigned axes) {
  for (int a = 0; a < t.axes; ++a)
    if (axes >> a & 1u) {
      if (t.axis[a].what == use::split)
        t.unsplit(a);
      else
        t.axis[a] = {};
    }
  return t;
}

/// A table over some dims as one over others: what split a dim that these lack splits nothing.
constexpr table table_over_dims(const table& t, dim_list from, dim_list to) {
  table out;
  out.axes = t.axes;
  int place[max_dims] = {};
  for (int d = 0; d < from.size; ++d) {
    place[d] = to.place_of(from[d]);
    if (place[d] < 0) continue;
    out.uneven[place[d]] = t.uneven[d];
    out.ragged[place[d]] = t.ragged[d];
    out.halo[place[d]] = t.halo[d];
  }
  for (int a = 0; a < t.axes; ++a) {
    const axis_use u = t.axis[a];
    if (u.what != use::split)
      out.axis[a] = u;
    else if (const int d = place[static_cast<int>(u.dim)]; d >= 0)
      out.axis[a] = {use::split, static_cast<signed char>(d), u.level};
  }
  return out;
}

}  // namespace detail
}  // namespace dimesh
