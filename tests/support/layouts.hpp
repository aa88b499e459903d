// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Over which layouts does a law hold? Over all of them: each axis replicates, splits one of the
// dims, or (if asked) holds addends or has the tensor at one place, and several axes may split one
// dim, in every order. As types each costs a compilation; as values, and like extents and axis
// sizes, they cost nothing: a function is compiled for a sample of types and once for all values.
//
//   for_each_layout<plane, list<p, q>>([](auto t) { using L = typename decltype(t)::type; ... })
//     -> 11 layouts: 9 pairs of uses, and the second order of (x, y) for either dim
//   for_all_layouts<plane, list<p, q>>(...)   the same 11 as values, and two of them as types
//   for_each_sizes<plane>(4, [](const mesh_sizes<plane>& s) { ... })   -> 1x4, 2x2, 4x1
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "dimesh/layout/canonical.hpp"
#include "dimesh/plan/runtime_tensor.hpp"

namespace test_support {

using dimesh::index_t;

// Axes and dims whose sizes are given at run time: one instantiation serves every size.
struct x : dimesh::axis<> {};
struct y : dimesh::axis<> {};
struct z : dimesh::axis<> {};
struct line : dimesh::mesh<x> {};
struct plane : dimesh::mesh<x, y> {};
struct cube : dimesh::mesh<x, y, z> {};

struct p : dimesh::dim<> {};
struct q : dimesh::dim<> {};
struct r : dimesh::dim<> {};
struct s : dimesh::dim<> {};

/// Which layouts to enumerate.
struct layout_choice {
  bool partial = false;  // axes may hold addends
  bool uneven = false;  // splits are uneven<>: legal for every extent
  bool split = true;  // axes may split dims
  bool ragged = false;  // splits are ragged<>: blocks of any lengths
  bool orders = true;  // several axes of one dim in every order, not in mesh order only
  int places = 0;  // axes may hold the tensor at one of their first so many places
  int stride = 1, first = 0;  // every stride-th layout, from the first-th on: a sample
};
inline constexpr layout_choice evenly{};
inline constexpr layout_choice unevenly{.uneven = true};
inline constexpr layout_choice with_partial{.partial = true};
inline constexpr layout_choice unevenly_with_partial{.partial = true, .uneven = true};

namespace detail {

using dimesh::use;
using dimesh::detail::list;
using dimesh::detail::table;
using dimesh::detail::tag;

/// What an axis may do.
constexpr int uses_of(int dims, layout_choice choice) {
  return 1 + (choice.split ? dims : 0) + (choice.partial ? 1 : 0) + choice.places;
}
/// The tables in which every axis has one of the uses, its digit of `code`; axes take their levels
/// in the order given.
constexpr table table_of(int code, int axes, int dims, const int* order, layout_choice choice) {
  table t;
  t.axes = axes;
  int digit[dimesh::max_axes] = {};
  const int uses = uses_of(dims, choice);
  for (int a = 0; a < axes; ++a, code /= uses) digit[a] = code % uses;
  for (int i = 0; i < axes; ++i) {
    const int a = order[i];
    if (digit[a] == 0) continue;
    if (digit[a] >= uses - choice.places) {
      t.set_placed(a, digit[a] - (uses - choice.places));
    } else if (choice.partial && digit[a] == uses - choice.places - 1) {
      t.axis[a].what = use::partial;
    } else {
      t.set_split(a, digit[a] - 1);
      t.uneven[digit[a] - 1] = choice.uneven || choice.ragged;
      t.ragged[digit[a] - 1] = choice.ragged;
    }
  }
  return t;
}

/// The orders in which up to three axes may take their levels.
inline constexpr int axis_orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
/// Is this table that of an order before it? Only axes that split one dim have an order.
constexpr bool is_repeated(int code, int axes, int dims, int order, layout_choice choice) {
  int digit[3] = {};
  const int uses = uses_of(dims, choice);
  for (int a = 0; a < axes; ++a, code /= uses) digit[a] = code % uses;
  const auto splits = [&](int a) { return digit[a] > 0 && digit[a] <= (choice.split ? dims : 0); };
  const auto place = [](const int* of, int a) { return of[0] == a ? 0 : of[1] == a ? 1 : 2; };
  for (int before = 0; before < order; ++before) {
    bool same = axes == 3 || axis_orders[before][2] == 2;
    for (int a = 0; a < axes; ++a)
      for (int b = 0; b < a; ++b)
        if (splits(a) && digit[a] == digit[b])
          same = same && (place(axis_orders[before], a) < place(axis_orders[before], b)) ==
                             (place(axis_orders[order], a) < place(axis_orders[order], b));
    if (same) return true;
  }
  return false;
}
/// Calls f(code, order) for every table, each once.
template <class F>
constexpr void for_each_table(int axes, int dims, layout_choice choice, const F& f) {
  int codes = 1;
  for (int a = 0; a < axes; ++a) codes *= uses_of(dims, choice);
  for (int code = 0; code < codes; ++code)
    for (int o = 0; o < (choice.orders ? 6 : 1); ++o) {
      bool fits = true;  // a permutation of the axes there are
      for (int i = axes; i < 3; ++i) fits = fits && axis_orders[o][i] == i;
      if (fits && !is_repeated(code, axes, dims, o, choice)) f(code, o);
    }
}
/// What a choice says but for the sample that it takes.
constexpr layout_choice without_stride(layout_choice c) {
  c.stride = 1, c.first = 0;
  return c;
}
/// Code and order of every table, for all meshes of so many axes and all samples.
template <int Axes, int Dims, layout_choice Choice> struct listed_tables {
  static_assert(Axes <= 3, "for_each_layout: meshes of at most three axes");
  static constexpr int size = [] {
    int n = 0;
    for_each_table(Axes, Dims, Choice, [&](int, int) { ++n; });
    return n;
  }();
  struct list {
    short code[size], order[size];
  };
  static constexpr list at = [] {
    list l{};
    int n = 0;
    for_each_table(Axes, Dims, Choice, [&](int code, int order) {
      l.code[n] = static_cast<short>(code);
      l.order[n++] = static_cast<short>(order);
    });
    return l;
  }();
};
template <class M, class Dims, layout_choice Choice>
using tables = listed_tables<M::rank, Dims::size, without_stride(Choice)>;

template <class M, class Dims, layout_choice Choice, int I> struct table_at {
  static constexpr table result =
      table_of(tables<M, Dims, Choice>::at.code[I], M::rank, Dims::size,
               axis_orders[tables<M, Dims, Choice>::at.order[I]], Choice);
};

template <class M, class Dims, layout_choice Choice, int I>
using layout_at = dimesh::detail::layout_type<M, Dims, table_at<M, Dims, Choice, I>>;

/// Calls f(tag<L>) unless the static extents make L illegal.
template <class L, class... D, class F> void visit(list<D...>, F& f) {
  if constexpr (dimesh::ok<dimesh::layout_fault<L, D...>>) f(tag<dimesh::canonical<L, D...>>{});
}

template <class M, class Dims, layout_choice Choice, int... I, class F>
void visit_all(std::integer_sequence<int, I...>, F& f) {
  (visit<layout_at<M, Dims, Choice, Choice.first + I * Choice.stride>>(Dims{}, f), ...);
}

}  // namespace detail

/// How many layouts for_each_layout meets, those included that static extents rule out.
template <class M, class Dims, layout_choice Choice = evenly>
inline constexpr int layout_count =
    (detail::tables<M, Dims, Choice>::size - Choice.first + Choice.stride - 1) / Choice.stride;

/// Calls f(tag<L>) for every legal layout L of a tensor with these dims on the mesh.
template <class M, class Dims, layout_choice Choice = evenly, class F> void for_each_layout(F&& f) {
  detail::visit_all<M, Dims, Choice>(
      std::make_integer_sequence<int, layout_count<M, Dims, Choice>>{}, f);
}

namespace detail {
/// The same tables, worked out by the program.
inline std::vector<table> tables_now(int axes, int dims, layout_choice choice) {
  std::vector<table> all;
  for_each_table(axes, dims, choice, [&](int code, int order) {
    all.push_back(table_of(code, axes, dims, axis_orders[order], choice));
  });
  return all;
}
/// The rules that a table says of some dims.
inline std::vector<dimesh::detail::layout_rule> rules_of(const table& t,
                                                         dimesh::detail::dim_list dims) {
  std::vector<dimesh::detail::layout_rule> rules;
  for (int d = 0; d < dims.size; ++d)
    if (t.axes_of(d) != 0) {
      rules.push_back(dimesh::detail::rule_in(t, d));
      rules.back().dim = dims[d];
    }
  for (int a = 0; a < t.axes; ++a)
    if (t.axis[a].what != use::replicated && t.axis[a].what != use::split) {
      dimesh::detail::layout_rule& r = rules.emplace_back();
      r.kind = dimesh::detail::rule_kind::use;
      r.what = t.axis[a].what;
      if (r.what == use::placed) r.place = static_cast<short>(t.axis[a].at);
      r.axis[static_cast<int>(r.axes++)] = static_cast<signed char>(a);
    }
  return rules;
}
}  // namespace detail

namespace detail {
/// "dim 0 over axes 1 0, axis 2: partial": what the rules say.
inline std::string said(const std::vector<dimesh::detail::layout_rule>& rules) {
  std::string text;
  for (const auto& r : rules) {
    if (!text.empty()) text += ", ";
    text += r.dim != nullptr ? "dim '" + std::string(r.dim->name) + "' over axes"
                             : "use " + std::to_string(static_cast<int>(r.what)) + " of axis";
    for (int i = 0; i < r.axes; ++i) text += " " + std::to_string(r.axis[i]);
  }
  return text;
}
}  // namespace detail

/// Calls f(tag<L>), L = layout<M, held_at_run_time>, under the rules of every legal layout of a
/// tensor with these dims on the mesh.
template <class M, class Dims, class F>
void for_each_layout_value(const layout_choice& choice, F&& f) {
  namespace dd = dimesh::detail;
  const auto all = detail::tables_now(M::rank, Dims::size, choice);
  for (std::size_t i = static_cast<std::size_t>(choice.first); i < all.size();
       i += static_cast<std::size_t>(choice.stride)) {
    const auto rules = detail::rules_of(all[i], dd::dims_in<Dims>);
    const dd::rule_list_view view{rules.data(), static_cast<int>(rules.size()), M::rank,
                                  M::static_sizes.data()};
    if (!dd::formed(dd::draft_of(view, dd::dims_in<Dims>), dd::dims_in<Dims>).ok()) continue;
    const dd::under_rules here(dd::type_number<M>, view);
    INFO("the layout as a value: ", detail::said(rules));
    f(detail::tag<dimesh::layout<M, dimesh::held_at_run_time>>{});
  }
}
template <class M, class Dims, layout_choice Choice = evenly, class F>
void for_each_layout_value(F&& f) {
  for_each_layout_value<M, Dims>(Choice, f);
}

/// The same, and f(tag<L>) for two of them as types, in which what types alone decide is compiled.
template <class M, class Dims, layout_choice Choice = evenly, class F> void for_all_layouts(F&& f) {
  constexpr int count = layout_count<M, Dims, Choice>;
  constexpr layout_choice sample = [] {
    layout_choice c = Choice;
    c.first += c.stride * (count / 3);
    c.stride *= count / 2 + 1;  // two at most
    return c;
  }();
  for_each_layout<M, Dims, sample>(f);
  for_each_layout_value<M, Dims, Choice>(f);
}

/// Calls f(tag<T>) for each type.
template <class... T, class F> void for_each_type(F&& f) { (f(detail::tag<T>{}), ...); }

/// All ways to write `ranks` as a product of so many factors, in order: 4, 2 -> 1x4 2x2 4x1.
inline std::vector<std::vector<index_t>> factorisations(index_t ranks, int factors) {
  if (factors == 0)
    return ranks == 1 ? std::vector<std::vector<index_t>>{{}} : std::vector<std::vector<index_t>>{};
  std::vector<std::vector<index_t>> all;
  for (index_t first = 1; first <= ranks; ++first) {
    if (ranks % first != 0) continue;
    for (auto rest : factorisations(ranks / first, factors - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(rest);
    }
  }
  return all;
}

/// Calls f(sizes) for every shape that a mesh of dynamic axes can have on so many ranks.
template <class M, class F> void for_each_sizes(index_t ranks, F&& f) {
  for (const auto& sizes : factorisations(ranks, M::rank)) {
    dimesh::mesh_sizes<M> given;
    for (std::size_t a = 0; a < sizes.size(); ++a) given.size[a] = sizes[a];
    f(static_cast<const dimesh::mesh_sizes<M>&>(given));
  }
}

}  // namespace test_support
