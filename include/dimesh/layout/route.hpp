// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By which collectives does a tensor get from one layout to another? A route: a short list of
// steps, each to a table. What can be cut locally is cut first, so that sums run over less; then
// addends are summed; then one step of moves, or gathers, brings every rank exactly what it still
// lacks. What lives at one place of an axis is sent, or given to all after the first cuts; what
// shall live there goes there at the end (addends: at the beginning, as a sum). Moves over several
// axes may be made axis by axis instead (mesh.hpp, moves_by_axis): more bytes, in fewer messages.
//
//   route_between({split d over 0}, {replicated})         -> gather
//   route_between({split d over 0}, {split e over 0})     -> move
//   route_between({partial 0}, {split d over 0})          -> reduce_scatter
#pragma once

#include "dimesh/layout/sum_blocks.hpp"

namespace dimesh::detail {

enum class hop : signed char {
  own,
  reduce_scatter,
  all_reduce,
  all_to_all,
  all_gather,
  exchange,
  send,
  reduce,
  broadcast,
  place
};

struct route {
  struct step {
    hop kind = hop::own;
    table to;
  };
  static constexpr int longest = 4 * max_axes + 4;
  step at[longest]{};
  int size = 0;

  constexpr void add(hop kind, const table& to) { at[size++] = {kind, to}; }
};

/// The axes whose use differs between two tables, and those that cut what a differing axis cuts.
constexpr unsigned moved_axes(const table& from, const table& to) {
  unsigned moved = 0;
  for (int a = 0; a < from.axes; ++a) {
    const axis_use u = from.axis[a];
    bool differs = !(u == to.axis[a]);
    if (u.what == use::split &&
        from.ragged[static_cast<int>(u.dim)] != to.ragged[static_cast<int>(u.dim)])
      differs = true;
    if (u.what == use::split && !differs)
      for (int level = 0; level < u.level; ++level)
        differs = differs || from.axis_at(u.dim, level) != to.axis_at(u.dim, level);
    if (differs) moved |= 1u << a;
  }
  return moved;
}

/// Lets axes that now have the use `what` split dims where that leads straight to `to`: the axes
/// that split the dim already are the first ones in `to`. True if there was one.
constexpr bool split_straight(table& now, const table& to, use what) {
  bool any = false;
  for (int d = 0; d < max_dims; ++d)
    for (int level = 0;; ++level) {
      const int have = now.axis_at(d, level), want = to.axis_at(d, level);
      if (want < 0) break;
      if (have == want) continue;
      if (have >= 0 || now.axis[want].what != what) break;
      if (level > 0 && now.ragged[d] != to.ragged[d]) break;  // the major axis cuts elsewhere
      now.set_split(want, d);
      now.uneven[d] = now.uneven[d] || to.uneven[d];
      now.ragged[d] = to.ragged[d];
      any = true;
    }
  return any;
}

/// Lets axes that have the use `what` split the dims they shall split, in whatever order they come
/// to stand. Not what is ragged and shall not be: its cuts need not be for more ranks.
constexpr bool split_anyhow(table& now, const table& to, use what) {
  bool any = false;
  for (int a = 0; a < now.axes; ++a)
    if (now.axis[a].what == what && to.axis[a].what == use::split) {
      const int d = to.axis[a].dim;
      if (now.ragged[d] && !to.ragged[d]) continue;
      now.set_split(a, d);
      now.uneven[d] = true;
      any = true;
    }
  return any;
}

/// The last step that sums, -1 if none does.
constexpr int last_sum(const route& r) {
  for (int i = r.size - 1; i >= 0; --i)
    if (r.at[i].kind == hop::reduce_scatter || r.at[i].kind == hop::all_reduce) return i;
  return -1;
}

/// The step that moves blocks: a gather if nothing else changes, an all_to_all if one axis does.
constexpr hop last_hop(const table& now, const table& to) {
  int others = 0, gathered = 0, moved = 0;
  for (int a = 0; a < now.axes; ++a) {
    if (!(moved_axes(now, to) >> a & 1u)) continue;
    const bool was = now.axis[a].what == use::split, is = to.axis[a].what == use::split;
    gathered += was && !is;
    moved += was && is && now.axis[a].dim != to.axis[a].dim;
    others += !was || (is && now.axis[a].dim == to.axis[a].dim);
  }
  if (others == 0 && moved == 0) return hop::all_gather;
  return others == 0 && gathered == 0 && moved == 1 ? hop::all_to_all : hop::exchange;
}

/// An axis at the minor end of its dim that may go straight to the minor end of the dim that it is
/// to split, where all before it stand already; -1: none. The last in the mesh first: it joins the
/// ranks that are nearest.
constexpr int next_move(const table& now, const table& to) {
  for (int a = now.axes - 1; a >= 0; --a) {
    const axis_use u = now.axis[a], v = to.axis[a];
    if (u.what != use::split || v.what != use::split || u.dim == v.dim) continue;
    const int count = now.split_count(v.dim);
    bool fits = u.level + 1 == now.split_count(u.dim) && v.level == count &&
                (count == 0 || now.ragged[v.dim] == to.ragged[v.dim]);
    for (int level = 0; level < count; ++level)
      fits = fits && now.axis_at(v.dim, level) == to.axis_at(v.dim, level);
    if (fits) return a;
  }
  return -1;
}
/// The moves that are left, one axis after another. False, and nothing is added, where they cannot
/// be made so, or where there is but one.
constexpr bool move_by_axis(route& r, table now, const table& to) {
  const int before = r.size;
  for (int a = next_move(now, to); a >= 0; a = next_move(now, to)) {
    const int d = to.axis[a].dim;
    now.unsplit(a);
    now.set_split(a, d);
    now.uneven[d] = now.uneven[d] || to.uneven[d];
    now.ragged[d] = to.ragged[d];
    r.add(hop::all_to_all, now);
  }
  if (moved_axes(now, to) == 0 && r.size > before + 1) {
    r.at[r.size - 1].to = to;
    return true;
  }
  r.size = before;
  return false;
}

/// One step for each axis that has the use `from` now and shall have the use `want`; `by` says how.
/// It then has its use in `to`, or replicates.
constexpr void change_places(route& r, table& now, const table& to, hop by, use from, use want) {
  for (int a = 0; a < now.axes; ++a) {
    const bool here = now.axis[a].what == from && !(now.axis[a] == to.axis[a]);
    const bool there =
        want == use::placed ? to.axis[a].what == use::placed : to.axis[a].what != use::placed;
    if (!here || !there) continue;
    now.axis[a] = want == use::placed ? to.axis[a] : axis_use{};
    r.add(by, now);
  }
}
/// Cuts what can be cut where it lies: replicated dims, and addends that are summed by that. Before
/// a sum, what is replicated and shall be split is cut even if in another order: sums over blocks
/// of a fraction are worth the move of what is left of them.
constexpr void cut_straight(route& r, table& now, const table& to) {
  for (bool more = true; more;) {
    more = split_straight(now, to, use::replicated);
    const bool sums = (now.mask(use::partial) & ~to.mask(use::partial)) != 0;
    if (sums && split_anyhow(now, to, use::replicated)) more = true;
    if (more) r.add(hop::own, now);
    if (split_straight(now, to, use::partial)) r.add(hop::reduce_scatter, now), more = true;
  }
}

/// The route that sums as it comes: over blocks cut as small as they can be without a move.
constexpr route straight_route(table now, const table& goal, bool by_axis) {
  route r;
  table to = goal;  // but for places that are yet to be gone to
  for (int a = 0; a < to.axes; ++a)
    if (to.axis[a].what == use::placed && now.axis[a].what != use::placed &&
        now.axis[a].what != use::partial)
      to.axis[a] = {};
  cut_straight(r, now, to);
  change_places(r, now, to, hop::reduce, use::partial, use::placed);
  change_places(r, now, to, hop::send, use::placed, use::placed);
  change_places(r, now, to, hop::broadcast, use::placed, use::replicated);
  cut_straight(r, now, to);
  if (split_anyhow(now, to, use::partial)) r.add(hop::reduce_scatter, now);
  bool sums = false;
  for (int a = 0; a < now.axes; ++a)
    if (now.axis[a].what == use::partial && to.axis[a].what != use::partial) {
      now.axis[a] = {};
      sums = true;
    }
  if (sums) r.add(hop::all_reduce, now);
  if (moved_axes(now, to) != 0) {
    if (!by_axis || !move_by_axis(r, now, to)) r.add(last_hop(now, to), to);
  } else if (r.size == 0 && !(now == to)) {
    r.add(hop::own, to);  // the same blocks by another name: uneven where they happen to be even
  } else if (r.size > 0) {
    r.at[r.size - 1].to = to;
  }
  now = to;
  change_places(r, now, goal, hop::place, use::replicated, use::placed);
  return r;
}

/// Another route, where what is summed moves afterwards, or several ranks hold the same addends and
/// could share them out, and it moves less. Not instead of moves axis by axis.
constexpr route shared_out(const route& straight, const table& now, const table& goal,
                           const route_terms& known) {
  const sum_blocks search(now, goal, known);
  const int moves = straight.size - 1 - last_sum(straight);
  if (moves > 1 || (moves == 0 && !search.any_spare())) return straight;
  double received = 0;
  for (int i = 0; i < straight.size; ++i)
    received += search.received(i == 0 ? now : straight.at[i - 1].to, straight.at[i].to);
  sum_blocks::way best;
  if (search.best(best) > received - 1e-9) return straight;
  route r;
  table at = now;
  const auto go = [&](hop by, const table& to) {
    if (moved_axes(at, to) != 0) r.add(by, to);
    at = to;
  };
  go(hop::own, best.cut);
  go(hop::reduce_scatter, best.scattered);
  go(hop::all_reduce, best.summed);
  go(last_hop(at, goal), goal);
  r.at[r.size - 1].to = goal;
  return r;
}

/// The route from one table to another over the same dims, which asks for no new addends. Where
/// nothing is summed, ranks receive what they lack, and no more (but by axis, what they pass on).
constexpr route route_between(const table& now, const table& goal, const route_terms& known = {}) {
  const route straight = straight_route(now, goal, known.by_axis);
  if (last_sum(straight) < 0 || !now.placed_alike(goal)) return straight;
  for (int d = 0; d < max_dims; ++d)
    if (now.ragged[d] || goal.ragged[d]) return straight;  // cut where only the run knows
  return shared_out(straight, now, goal, known);
}

}  // namespace dimesh::detail
