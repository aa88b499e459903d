// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has come of a run on sketches? The line: a rule for each dim of the arguments of which
// something was said; what annotations move; or the first quarrel and its cheapest repair.
//
//   settled(s).line[0]    -> split<batch, rows>, said by annotation 1
//   settled(s).moves[0]   -> annotation 3: all_gather over cols, 4096 bytes
#pragma once

#include "dimesh/core/sketch.hpp"
#include "dimesh/layout/route.hpp"
#include "dimesh/op/parts/schedules.hpp"

namespace dimesh::detail {

/// A step that an annotation makes a tensor take.
struct sketched_move {
  int number = 0;
  const annotation_note* note = nullptr;
  hop kind = hop::own;
  unsigned axes = 0;
  double bytes = 0;  // that a rank receives
};
struct settled_rule {
  layout_rule rule;
  int by = 0;
  const annotation_note* note = nullptr;
};
/// What makes a quarrel go away: an operand, brought to what `like` says, or whole along `dim`.
struct sketched_repair {
  int operand = 0;  // the first one being 1; 0: there is none
  const annotation_note* like = nullptr;
  const dim_facts* dim = nullptr;
  double bytes = 0;
};
struct sketch_report {
  static constexpr int most_moves = 64;
  settled_rule line[2 * max_dims]{};
  int rules = 0;
  sketched_move moves[most_moves]{};
  int steps = 0;  // there may be more than moves
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
/// A tensor's table. Two dims that are to be split over one axis, neither giving way: that is put
/// in `clash`, if there is one.
constexpr table table_of(const sketch& s, const sketch_value& v, sketch_quarrel* clash = nullptr) {
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
      if (taken < 0 || yields || clash == nullptr || clash->any()) continue;
      clash->kind = sketch_quarrel::share;
      clash->value[0] = clash->value[1] = &v;
      clash->place[0] = taken, clash->place[1] = d;
      clash->said[0] = speaking(s, v, taken), clash->said[1] = said;
    }
  return t;
}

constexpr double bytes_between(const sketch_value& v, const table& from, const table& to) {
  tensor_facts f = v.facts;
  f.layout = from;
  return lacking_bytes(measure{}, f, to);
}
/// A tensor's table with dim d split as a rule says; false where another dim has one of its axes.
constexpr bool split_anew(table& t, int d, const layout_rule& r) {
  t = without_axes(t, t.axes_of(d));
  for (int i = 0; i < r.axes; ++i)
    if (t.axis[static_cast<int>(r.axis[i])].what != use::replicated) return false;
  for (int i = 0; i < r.axes; ++i) t.set_split(static_cast<int>(r.axis[i]), d);
  return true;
}
constexpr void keep_cheaper(sketched_repair& best, const sketched_repair& other) {
  if (best.operand == 0 || other.bytes < best.bytes) best = other;
}
/// Operands that split a dim differently: one of them is brought to what the other one has.
constexpr sketched_repair repair_of_difference(const sketch& s, const sketch_quarrel& q) {
  sketched_repair best;
  for (int k = 0; k < 2; ++k) {
    if (q.value[k] == nullptr) continue;
    const sketch_slot& wanted = q.said[1 - k];
    const table now = table_of(s, *q.value[k]);
    table then = now;
    if (!split_anew(then, q.place[k], wanted.rule)) continue;
    sketched_repair r{q.operand[k] + 1, wanted.note, nullptr,
                      bytes_between(*q.value[k], now, then)};
    if (wanted.rule.axes == 0) r.like = nullptr, r.dim = q.value[k]->facts.dim[q.place[k]];
    keep_cheaper(best, r);
  }
  return best;
}
/// Two dims of a result over one axis: the operand that has one of them is made whole along it.
constexpr sketched_repair repair_of_share(const sketch& s, const sketch_quarrel& q) {
  sketched_repair best;
  const sketch_value& v = *q.value[0];
  for (const int d : q.place)
    for (int k = 0; k < sketch_value::most; ++k) {
      if (v.of[k] == nullptr) continue;
      const int at = v.of[k]->facts.place_of(v.facts.dim[d]);
      if (at < 0) continue;
      const table now = table_of(s, *v.of[k]);
      keep_cheaper(best, {k + 1, nullptr, v.facts.dim[d],
                          bytes_between(*v.of[k], now, without_axes(now, now.axes_of(at)))});
    }
  return best;
}

/// The rules of the line in mesh order, those that give way after those that do not.
constexpr void settle_line(sketch_report& r, const sketch& s) {
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
constexpr void settle_moves(sketch_report& r, const sketch& s) {
  for (const sketch_value* v = s.first; v != nullptr; v = v->next) {
    if (v->number == 0) continue;
    table now = table_of(s, *v->of[0]);
    const route way = route_between(now, table_of(s, *v));
    for (int i = 0; i < way.size; ++i) {
      if (way.at[i].kind != hop::own && r.steps++ < sketch_report::most_moves)
        r.moves[r.steps - 1] = {v->number, v->note, way.at[i].kind,
                                moved_axes(now, way.at[i].to),
                                bytes_between(*v, now, way.at[i].to)};
      now = way.at[i].to;
    }
  }
}
constexpr sketch_report settled(const sketch& s) {
  sketch_report r;
  r.annotations = s.annotations;
  sketch_quarrel q = s.quarrel;
  for (const sketch_value* v = s.first; v != nullptr && !q.any(); v = v->next)
    (void)table_of(s, *v, &q);
  r.quarrel = q.kind;
  r.found = q.found;
  if (q.kind == sketch_quarrel::differ) r.repair = repair_of_difference(s, q);
  if (q.kind == sketch_quarrel::share) r.repair = repair_of_share(s, q);
  for (int k = 0; k < 2; ++k) r.by[k] = q.said[k].by, r.note[k] = q.said[k].note;
  if (q.any()) return r;
  settle_line(r, s);
  settle_moves(r, s);
  return r;
}

}  // namespace dimesh::detail
