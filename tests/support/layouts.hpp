// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Over which layouts does a law hold? Over all of them: each axis replicates, splits one of the
// dims, or (if asked) holds addends or has the tensor at one place, and several axes may split one
// dim, in every order. Layouts are types, so each costs a compilation; extents and axis sizes are
// run-time numbers and cost nothing.
//
//   for_each_layout<plane, list<p, q>>([](auto t) { using L = typename decltype(t)::type; ... })
//     -> 11 layouts: 9 pairs of uses, and the second order of (x, y) for either dim
//   for_each_sizes<plane>(4, [](const mesh_sizes<plane>& s) { ... })   -> 1x4, 2x2, 4x1
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "dimesh/layout/canonical.hpp"

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

struct table_set {
  static constexpr int capacity = 1024;
  std::array<table, capacity> at{};
  int size = 0;
  constexpr void add(const table& t) {
    for (int i = 0; i < size; ++i)
      if (at[static_cast<std::size_t>(i)] == t) return;
    at[static_cast<std::size_t>(size++)] = t;
  }
};

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

constexpr table_set all_tables(int axes, int dims, layout_choice choice) {
  table_set found;
  const int uses = uses_of(dims, choice);
  int codes = 1;
  for (int a = 0; a < axes; ++a) codes *= uses;
  const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int code = 0; code < codes; ++code)
    for (const auto& order : orders) {
      bool fits = true;  // a permutation of the axes there are
      for (int i = 0; i < 3; ++i) fits = fits && (i < axes ? order[i] < axes : order[i] == i);
      if (fits && (choice.orders || &order == &orders[0]))
        found.add(table_of(code, axes, dims, order, choice));
    }
  return found;
}

template <class M, int Dims, layout_choice Choice> struct tables {
  static_assert(M::rank <= 3, "for_each_layout: meshes of at most three axes");
  static constexpr table_set all = all_tables(M::rank, Dims, Choice);
};

template <class M, class Dims, layout_choice Choice, int I> struct table_at {
  static constexpr table result = tables<M, Dims::size, Choice>::all.at[I];
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
    (detail::tables<M, Dims::size, Choice>::all.size - Choice.first + Choice.stride - 1) /
    Choice.stride;

/// Calls f(tag<L>) for every legal layout L of a tensor with these dims on the mesh.
template <class M, class Dims, layout_choice Choice = evenly, class F> void for_each_layout(F&& f) {
  detail::visit_all<M, Dims, Choice>(
      std::make_integer_sequence<int, layout_count<M, Dims, Choice>>{}, f);
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
