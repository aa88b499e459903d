// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/route.hpp"

#include <doctest/doctest.h>

#include "dimesh/layout/box.hpp"
#include "support/layouts.hpp"

namespace {

using namespace dimesh::detail;
using dimesh::index_t;
using dimesh::use;
namespace td = test_support::detail;

/// What a rank receives over a route without sums, in elements, and what it lacks at the start.
struct volume {
  index_t received = 0, lacked = 0;
};
volume volume_of(const route& r, const table& from, const table& to, const placement& where) {
  volume v;
  v.lacked = where.own(to).size() - intersection(where.own(from), where.own(to)).size();
  const table* now = &from;
  for (int i = 0; i < r.size; ++i) {
    const box had = where.own(*now), got = where.own(r.at[i].to);
    v.received += got.size() - intersection(had, got).size();
    now = &r.at[i].to;
  }
  return v;
}

/// Is the step what its name says?
bool is_sound(hop kind, const table& now, const table& next) {
  const unsigned moved = moved_axes(now, next);
  for (int a = 0; a < now.axes; ++a) {
    if (!(moved >> a & 1u)) continue;
    const use was = now.axis[a].what, is = next.axis[a].what;
    switch (kind) {
      case hop::own:
        if (was != use::replicated || is != use::split) return false;
        break;
      case hop::reduce_scatter:
        if (was != use::partial || is != use::split) return false;
        break;
      case hop::all_reduce:
        if (was != use::partial || is != use::replicated) return false;
        break;
      case hop::all_gather:
        if (was != use::split || is != use::replicated) return false;
        break;
      case hop::send:
        if (was != use::placed || is != use::placed) return false;
        break;
      case hop::reduce:
        if (was != use::partial || is != use::placed) return false;
        break;
      case hop::broadcast:
        if (was != use::placed || is != use::replicated) return false;
        break;
      case hop::place:
        if (was != use::replicated || is != use::placed) return false;
        break;
      default:
        if (was == use::partial || is == use::partial) return false;
        if (was == use::placed || is == use::placed) return false;
    }
  }
  return true;
}

template <class F> void for_each_pair(int axes, int dims, F&& f, int places = 0) {
  const auto sources =
      td::tables_now(axes, dims, {.partial = true, .uneven = true, .places = places});
  const auto targets = td::tables_now(axes, dims, {.uneven = true, .places = places});
  for (const table& source : sources)
    for (const table& target : targets) f(source, target);
}

TEST_CASE("a route ends where it should, by steps that are what they are called") {
  int routes = 0, wrong = 0;
  int by_axis = 0;
  const auto check_one = [&](const table& from, const table& to, const route& r) {
    table now = from;
    bool sound = true;
    for (int i = 0; i < r.size; ++i) {
      sound = sound && is_sound(r.at[i].kind, now, r.at[i].to);
      now = r.at[i].to;
    }
    ++routes;
    wrong += !(sound && now == to && (r.size == 0) == (from == to));
  };
  const auto check = [&](const table& from, const table& to) {
    const route r = route_between(from, to), s = route_between(from, to, {.by_axis = true});
    check_one(from, to, r), check_one(from, to, s);
    by_axis += s.size > r.size;
    for (int i = s.size - 2; s.size > r.size && i < s.size; ++i)
      wrong += s.at[i].kind != hop::all_to_all;  // in the place of the last step
  };
  for (const auto& [axes, dims] : {std::pair{1, 1}, {1, 3}, {2, 2}, {2, 3}, {3, 2}})
    for_each_pair(axes, dims, check);
  for (const auto& [axes, dims] : {std::pair{1, 1}, {1, 3}, {2, 2}})
    for_each_pair(axes, dims, check, 2);
  CHECK(routes > 9000);
  CHECK(by_axis > 50);
  CHECK(wrong == 0);
}

TEST_CASE("without sums, no rank receives an element that it has") {
  int checked = 0, wasteful = 0;
  const index_t sizes[] = {2, 3, 2}, extents[][3] = {{12, 12, 4}, {5, 7, 3}, {1, 2, 0}};
  for (const auto& [axes, dims] : {std::pair{1, 2}, {2, 2}, {2, 3}, {3, 2}})
    for (const auto& extent : extents)
      for_each_pair(axes, dims, [&](const table& from, const table& to) {
        if (from.any_partial()) return;
        const route r = route_between(from, to);
        placement where;
        where.rank = dims;
        std::copy(extent, extent + dims, where.extent);
        where.sizes = sizes;
        for (index_t rank = 0; rank < group_size((1u << axes) - 1, sizes); ++rank) {
          const peer here(rank, (1u << axes) - 1, sizes, nullptr);
          where.coords = here.coords;
          const volume v = volume_of(r, from, to, where);
          ++checked;
          wasteful += v.received != v.lacked;
        }
      });
  CHECK(checked > 10000);
  CHECK(wasteful == 0);
}

TEST_CASE("sums run over blocks that have been cut") {
  table from, to;
  from.axes = to.axes = 3;
  from.axis[0].what = use::partial;
  from.axis[1].what = use::partial;
  to.set_split(2, 0);
  to.set_split(1, 0);
  const route r = route_between(from, to);
  REQUIRE(r.size == 3);
  CHECK(r.at[0].kind == hop::own);           // over axis 2, which is replicated
  CHECK(r.at[1].kind == hop::reduce_scatter);  // over axis 1, within those blocks
  CHECK(r.at[2].kind == hop::all_reduce);      // over axis 0, on what is left
}

TEST_CASE("a mesh that moves by axis: the last axis first, and back the same way") {
  table tokens, experts;  // over axes 0 (nodes) and 1 (ranks of a node)
  tokens.axes = experts.axes = 2;
  tokens.set_split(0, 0), tokens.set_split(1, 0);
  experts.set_split(1, 1), experts.set_split(0, 1);
  CHECK(route_between(tokens, experts).size == 1);
  const route there = route_between(tokens, experts, {.by_axis = true});
  REQUIRE(there.size == 2);
  CHECK(moved_axes(tokens, there.at[0].to) == 0b10);
  CHECK(moved_axes(there.at[0].to, experts) == 0b01);
  const route back = route_between(experts, tokens, {.by_axis = true});
  REQUIRE(back.size == 2);
  CHECK(back.at[0].to == there.at[0].to);
  table in_mesh_order = tokens;  // blocks of experts do not nest so: one step
  in_mesh_order.axis[0].dim = in_mesh_order.axis[1].dim = 1;
  CHECK(route_between(tokens, in_mesh_order, {.by_axis = true}).size == 1);
}

}  // namespace
