// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a table of numbers become a layout type again? Rules are emitted in mesh order, each at
// its first axis, so that equal layouts are one type.
//
//   layout_type<M, list<batch, hidden>, Holder>  -> layout<M, split<batch, rows>, ...>
#pragma once

#include <cstdint>

#include "dimesh/layout.hpp"
#include "dimesh/layout/table.hpp"

namespace dimesh::detail {

/// The rules of a table in canonical order: each a split dim (with its axes), or an axis that is
/// partial or holds the tensor at one place.
struct rule_list {
  struct rule {
    int dim = -1;   // of a split
    int axis = -1;  // of a partial, or a place
    int axes = 0;   // how many axes split the dim
    use what = use::split;
  };
  rule at[max_axes + max_dims]{};
  int size = 0;

  constexpr explicit rule_list(const table& t) {
    bool done[max_dims]{};
    for (int a = 0; a < t.axes; ++a) {
      const axis_use u = t.axis[a];
      if (u.what == use::split && !done[static_cast<int>(u.dim)]) {
        done[static_cast<int>(u.dim)] = true;
        at[size++] = {u.dim, -1, t.split_count(u.dim), use::split};
      } else if (t.is_partial(a) || u.what == use::placed) {
        at[size++] = {-1, a, 0, u.what};
      }
    }
    for (int d = 0; d < max_dims; ++d)
      if (!done[d] && t.halo[d].any()) at[size++] = {d, -1, 0, use::split};
  }
};

template <class D, bool Uneven, bool Ragged, index_t Before, index_t After> struct dressed_dim {
  using type = uneven<typename dressed_dim<D, false, false, Before, After>::type>;
};
template <class D, index_t Before, index_t After> struct dressed_dim<D, true, true, Before, After> {
  using type = ragged<typename dressed_dim<D, false, false, Before, After>::type>;
};
template <class D, index_t Before, index_t After>
struct dressed_dim<D, false, false, Before, After> {
  using type = halo<D, Before, After>;
};
template <class D> struct dressed_dim<D, false, false, 0, 0> {
  using type = D;
};

template <class M, class Dims, class Holder, int R, use What, class Levels> struct rule_type;
template <class M, class Dims, class Holder, int R, std::size_t... I>
struct rule_type<M, Dims, Holder, R, use::split, std::index_sequence<I...>> {
  static constexpr int dim = Holder::rules.at[R].dim;
  using type =
      split<typename dressed_dim<type_at<dim, Dims>, Holder::result.uneven[dim],
                                 Holder::result.ragged[dim], Holder::result.halo[dim].before,
                                 Holder::result.halo[dim].after>::type,
            type_at<Holder::result.axis_at(dim, I), typename M::axes>...>;
};
template <class M, class Dims, class Holder, int R>
struct rule_type<M, Dims, Holder, R, use::partial, std::index_sequence<>> {
  using type = partial<type_at<Holder::rules.at[R].axis, typename M::axes>>;
};
template <class M, class Dims, class Holder, int R>
struct rule_type<M, Dims, Holder, R, use::partial_max, std::index_sequence<>> {
  using type = partial_max<type_at<Holder::rules.at[R].axis, typename M::axes>>;
};
template <class M, class Dims, class Holder, int R>
struct rule_type<M, Dims, Holder, R, use::partial_min, std::index_sequence<>> {
  using type = partial_min<type_at<Holder::rules.at[R].axis, typename M::axes>>;
};
template <class M, class Dims, class Holder, int R>
struct rule_type<M, Dims, Holder, R, use::placed, std::index_sequence<>> {
  static constexpr int axis = Holder::rules.at[R].axis;
  using type = placed<type_at<axis, typename M::axes>, index_t{Holder::result.axis[axis].at}>;
};

template <class M, class Dims, class Holder, class Rules> struct layout_of_table;
template <class M, class Dims, class Holder, std::size_t... R>
struct layout_of_table<M, Dims, Holder, std::index_sequence<R...>> {
  using type =
      layout<M, typename rule_type<M, Dims, Holder, R, Holder::rules.at[R].what,
                                   std::make_index_sequence<Holder::rules.at[R].axes>>::type...>;
};

/// A table in a few numbers: equal tables are one template argument, and make one type once.
struct table_code {
  std::uint64_t uses = 0, uneven = 0;  // a byte for each axis; bits
  std::uint64_t places[2]{};           // two bytes for each axis
  std::uint64_t halo[4]{};             // two bytes for each dim
  bool operator==(const table_code&) const = default;
};
/// Byte a of `uses`: 0 replicated, 1..5 another use, else 8 + 8 * dim + level of a split.
constexpr table_code encoded(const table& t) {
  table_code c;
  for (int a = 0; a < t.axes; ++a) {
    const axis_use u = t.axis[a];
    const int code = u.what == use::split ? 8 + 8 * u.dim + u.level : static_cast<int>(u.what);
    c.uses |= static_cast<std::uint64_t>(code) << 8 * a;
    if (u.what == use::placed) c.places[a / 4] |= static_cast<std::uint64_t>(u.at) << a % 4 * 16;
  }
  for (int d = 0; d < max_dims; ++d) {
    if (t.uneven[d]) c.uneven |= std::uint64_t{1} << d;
    if (t.ragged[d]) c.uneven |= std::uint64_t{1} << (max_dims + d);
    const int widths = t.halo[d].before | t.halo[d].after << 8;
    c.halo[d / 4] |= static_cast<std::uint64_t>(widths) << d % 4 * 16;
  }
  return c;
}
constexpr table decoded(const table_code& c, int axes) {
  table t;
  t.axes = axes;
  for (int a = 0; a < axes; ++a) {
    const int code = static_cast<int>(c.uses >> 8 * a & 255u);
    if (code >= 8)
      t.axis[a] = {use::split, static_cast<signed char>((code - 8) / 8),
                   static_cast<signed char>((code - 8) % 8)};
    else
      t.axis[a].what = static_cast<use>(code);
    if (t.axis[a].what == use::placed)
      t.axis[a].at = static_cast<short>(c.places[a / 4] >> a % 4 * 16 & 65535u);
  }
  for (int d = 0; d < max_dims; ++d) {
    t.uneven[d] = (c.uneven >> d & 1u) != 0;
    t.ragged[d] = (c.uneven >> (max_dims + d) & 1u) != 0;
    const auto widths = static_cast<int>(c.halo[d / 4] >> d % 4 * 16 & 65535u);
    t.halo[d] = {widths & 255, widths >> 8};
  }
  return t;
}
static_assert(max_axes <= 8 && max_dims <= 16, "dimesh: tables are coded in bytes and bits");

/// A table, kept where template arguments can find it.
template <table_code Code, int Axes> struct table_holder {
  static constexpr table result = decoded(Code, Axes);
  static constexpr rule_list rules{result};
};
template <class M, class Dims, table_code Code> struct coded_layout {
  using holder = table_holder<Code, M::rank>;
  using type =
      typename layout_of_table<M, Dims, holder, std::make_index_sequence<holder::rules.size>>::type;
};

/// The layout that a table over Dims describes; Table::result is the table.
template <class M, class Dims, class Table>
using layout_type = typename coded_layout<M, Dims, encoded(Table::result)>::type;

}  // namespace dimesh::detail
