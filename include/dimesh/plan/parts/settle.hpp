// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has come of a run on sketches? The line: a rule for each dim of the arguments of which
// something was said; what annotations move; or the first quarrel and its cheapest repair.
//
//   settled<64>(s).line[0]    -> split<batch, rows>, said by annotation 1
//   settled<64>(s).moves[0]   -> annotation 3: all_gather over cols, 4096 bytes
#pragma once

#include "dimesh/layout/route.hpp"
#include "dimesh/op/parts/cheapest_meeting.hpp"
#include "dimesh/op/shard.hpp"

namespace dimesh {

namespace detail {

constexpr movement movement_of(hop h) {
  return h == hop::all_reduce       ? movement::all_reduce
         : h == hop::reduce_scatter ? movement::reduce_scatter
         : h == hop::all_gather     ? movement::all_gather
         : h == hop::all_to_all     ? movement::all_to_all
                                    : movement::exchange;
}
/// A step that an annotation makes a tensor take.
struct sketched_move {
  int number = 0;
  const annotation_note* note = nullptr;
  movement kind = movement::exchange;
  unsigned axes = 0;
  double bytes = 0;  // that a rank receives
  bool is_sized = true;
};
struct settled_rule {
  layout_rule rule;
  int by = 0;
  const annotation_note* note = nullptr;
};
/// What makes a quarrel go away: an operand, whole along some dims, and then as `like` says, where
/// there is one. Or (instead) that annotation, by its number, making its dim whole.
struct sketched_repair {
  int operand = 0;  // the first one being 1; 0: there is none
  int instead = 0;
  const annotation_note* like = nullptr;
  const dim_facts* whole[max_dims]{};
  int dims = 0;  // so many
  double bytes = 0;
  bool is_sized = true;
};
/// With room for so many moves.
template <int Room> struct sketch_report {
  settled_rule line[2 * max_dims]{};
  int rules = 0;
  sketched_move moves[Room]{};
  int steps = 0;  // of all moves; there may be more than have room
  int annotations = 0;
  sketch_quarrel::kind_of quarrel = sketch_quarrel::none;
  int by[2]{};
  const annotation_note* note[2]{};
  fault_code found = fault_code::none;
  sketched_repair repair;
};

/// The slot that says how dim d of a tensor lies.
constexpr const sketch_slot& speaking(const sketch& s, const sketch_value& v, int d) {
  const sketch_slot& here = v.slot[d].root();
  if (!here.follows) return here;
  for (const sketch_slot* l = s.line; l != nullptr; l = l->next)
    if (same_dim(l->dim, v.facts.dim[d])) return l->root();
  return here;
}
/// A tensor's table. Two dims that are to be split over one axis, neither giving way, are a clash,
/// if it is the first.
constexpr table table_of(const sketch& s, const sketch_value& v, sketch_quarrel& clash) {
  table t;
  t.axes = v.facts.layout.axes;
  for (const bool yielding : {false, true})
    for (int d = 0; d < v.facts.rank; ++d) {
      const sketch_slot& said = speaking(s, v, d);
      const bool yields = v.slot[d].root().follows || said.rule.kind == rule_kind::split_if_free;
      if (!said.is_said || yields != yielding) continue;
      int taken = -1;
      for (int i = 0; i < said.rule.axes; ++i)
        if (const axis_use u = t.axis[static_cast<int>(said.rule.axis[i])]; u.what == use::split)
          taken = u.dim;
      for (int i = 0; i < said.rule.axes && taken < 0; ++i)
        t.set_split(static_cast<int>(said.rule.axis[i]), d);
      if (taken < 0) t.uneven[d] = said.rule.uneven && said.rule.axes > 0;
      if (taken < 0 || yields || clash.any()) continue;
      clash.kind = sketch_quarrel::share;
      clash.value[0] = clash.value[1] = &v;
      clash.place[0] = taken, clash.place[1] = d;
      clash.said[0] = speaking(s, v, taken), clash.said[1] = said;
    }
  return t;
}

/// The axes along which a tensor holds addends: those of its operands, and of what was summed. Sums
/// end where the text completes them, in annotations and relayouts.
constexpr unsigned sums_of(const sketch_value& v) {
  unsigned axes = 0;
  for (int k = 0; v.is_result && k < sketch_value::most && v.of[k] != nullptr; ++k) {
    const tensor_facts& x = v.of[k]->facts;
    axes |= x.layout.mask(use::partial);
    for (int i = 0; i < v.links->size; ++i)
      if (const int d = v.links->place_in(x, v.links->at[i]); d >= 0 && v.links->at[i].is_summed)
        axes |= x.layout.axes_of(d);
  }
  return axes;
}
/// Lays out all tensors, in the order of the text. Finds dims that share an axis.
constexpr void lay_out(sketch& s, sketch_quarrel& clash) {
  for (sketch_value* v = s.first; v != nullptr; v = v->next) {
    table t = table_of(s, *v, clash);
    const unsigned sums = sums_of(*v);
    for (int a = 0; a < t.axes; ++a)
      if (t.axis[a].what == use::replicated && (sums >> a & 1u)) t.axis[a].what = use::partial;
    v->facts.layout = t;
  }
}
/// What a rank receives; open axes count as two ranks, open extents as measure says.
constexpr double bytes_between(const sketch_value& v, const table& from, const table& to) {
  return completing_bytes(measure{}, v.facts, from, to);
}
/// Do its bytes depend on no extent, and on no axis, that only the run knows?
constexpr bool is_sized(const sketch_value& v, const table& from, const table& to) {
  if (bytes_between(v, from, to) == 0) return true;
  if (!v.facts.is_static) return false;
  for (int a = 0; a < from.axes; ++a)
    if (v.facts.axis_sizes()[a] == dynamic &&
        (from.axis[a].what != use::replicated || to.axis[a].what != use::replicated))
      return false;
  return true;
}
/// A tensor's table with dim d split as a rule says. Dims that have one of its axes become whole,
/// which the repair notes.
constexpr table split_anew(const sketch_value& v, int d, const layout_rule& r,
                           sketched_repair& repair) {
  table t = without_axes(v.facts.layout, v.facts.layout.axes_of(d));
  for (int i = 0; i < r.axes; ++i) {
    const axis_use taken = t.axis[static_cast<int>(r.axis[i])];
    if (taken.what != use::split) continue;
    repair.whole[repair.dims++] = v.facts.dim[taken.dim];
    t = without_axes(t, t.axes_of(taken.dim));
  }
  for (int i = 0; i < r.axes; ++i) t.set_split(static_cast<int>(r.axis[i]), d);
  return t;
}
constexpr void keep_cheaper(sketched_repair& best, sketched_repair& other, const sketch_value& v,
                            const table& then) {
  other.bytes = bytes_between(v, v.facts.layout, then);
  other.is_sized = is_sized(v, v.facts.layout, then);
  if (best.operand == 0 || other.bytes < best.bytes) best = other;
}
/// Operands that split a dim differently: one of them is brought to what the other one has.
constexpr sketched_repair repair_of_difference(const sketch_quarrel& q) {
  sketched_repair best;
  for (int k = 0; k < 2; ++k) {
    if (q.value[k] == nullptr) continue;
    const sketch_slot& wanted = q.said[1 - k];
    sketched_repair r{.operand = q.operand[k] + 1};
    const table then = split_anew(*q.value[k], q.place[k], wanted.rule, r);
    if (wanted.rule.axes == 0)
      r.whole[r.dims++] = q.value[k]->facts.dim[q.place[k]];
    else
      r.like = wanted.note;
    keep_cheaper(best, r, *q.value[k], then);
  }
  return best;
}
/// The place in operand x of what is dim d of v, -1 where x does not have it.
constexpr int place_in_operand(const sketch_value& v, int d, const tensor_facts& x) {
  for (int i = 0; v.is_result && i < v.links->size; ++i)
    if (const int at = v.links->place_in(x, v.links->at[i]); v.links->at[i].to == d && at >= 0)
      return at;
  return x.place_of(v.facts.dim[d]);
}
/// Two dims of a result over one axis: the operand that has one of them is made whole along it. Of
/// an argument: its later annotation says so, and then nothing of it is moved.
constexpr sketched_repair repair_of_share(const sketch_quarrel& q) {
  sketched_repair best;
  const sketch_value& v = *q.value[0];
  for (const int d : q.place)
    for (int k = 0; k < sketch_value::most; ++k) {
      const int at = v.of[k] == nullptr ? -1 : place_in_operand(v, d, v.of[k]->facts);
      if (at < 0) continue;
      const table& now = v.of[k]->facts.layout;
      sketched_repair r{.operand = k + 1};
      r.whole[r.dims++] = v.of[k]->facts.dim[at];
      keep_cheaper(best, r, *v.of[k], without_axes(now, now.axes_of(at)));
    }
  if (v.is_result || v.of[0] != nullptr) return best;
  const int later = q.said[1].by > q.said[0].by ? 1 : 0;
  best.instead = q.said[later].by;
  best.whole[best.dims++] = v.facts.dim[q.place[later]];
  return best;
}

/// The rules of the line in mesh order, those that give way after those that do not.
constexpr void settle_line(auto& r, const sketch& s) {
  for (const bool yields : {false, true})
    for (int a = 0; a < max_axes; ++a)
      for (const sketch_slot* l = s.line; l != nullptr; l = l->next) {
        const sketch_slot& said = l->root();
        if (!said.is_said || said.rule.axes == 0 || said.rule.axis[0] != a ||
            (said.rule.kind == rule_kind::split_if_free) != yields)
          continue;
        settled_rule& to = r.line[r.rules++];
        to = {said.rule, said.by, said.note};
        to.rule.dim = l->dim;
      }
}
template <int Room> constexpr void settle_moves(sketch_report<Room>& r, const sketch& s) {
  for (const sketch_value* v = s.first; v != nullptr; v = v->next) {
    if (v->number == 0) continue;
    table now = v->of[0]->facts.layout;
    const route way = route_between(now, v->facts.layout, terms_of(v->facts, v->is_recorded));
    for (int i = 0; i < way.size; ++i) {
      if (way.at[i].kind != hop::own && r.steps++ < Room)
        r.moves[r.steps - 1] = {v->number,
                                v->note,
                                movement_of(way.at[i].kind),
                                moved_axes(now, way.at[i].to),
                                bytes_between(*v, now, way.at[i].to),
                                is_sized(*v, now, way.at[i].to)};
      now = way.at[i].to;
    }
  }
}
template <int Room> constexpr sketch_report<Room> settled(sketch& s) {
  sketch_report<Room> r;
  r.annotations = s.annotations;
  sketch_quarrel q = s.quarrel;
  lay_out(s, q);
  r.quarrel = q.kind;
  r.found = q.found;
  if (q.kind == sketch_quarrel::differ) r.repair = repair_of_difference(q);
  if (q.kind == sketch_quarrel::share) r.repair = repair_of_share(q);
  const int first = q.said[1].by < q.said[0].by ? 1 : 0;
  for (int k = 0; k < 2; ++k) r.by[k] = q.said[k ^ first].by, r.note[k] = q.said[k ^ first].note;
  if (q.any()) return r;
  settle_line(r, s);
  settle_moves(r, s);
  return r;
}

}  // namespace detail
}  // namespace dimesh
