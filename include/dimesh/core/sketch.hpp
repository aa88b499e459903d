// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do a few annotations say of all other tensors of a program? The program runs on sketches:
// probes of which every dim has a slot, which is open, or says which axes split the dim. Dims that
// an operation joins share a slot; so what is said of one is said of all that it flows to or from.
//
//   sketch s;   sketch_value& x = s.given(facts);   // an argument: its slots are those of the line
//   s.annotate(x, rules, &shard_of<...>::said)  -> x as the first annotation wants it
//   s.joined(a, b)     -> one slot from two, or a quarrel
//
// Who joins what: core/sketch_rule.hpp. What comes of it: plan/parts/settle.hpp.
#pragma once

#include <string>

#include "dimesh/core/facts.hpp"
#include "dimesh/layout/draft.hpp"

namespace dimesh {

/// What fixes a layout: an annotation, shard_of<split<batch, rows>>::said (op/shard.hpp).
struct annotation_note {
  std::string (*text)();
};
/// Or an operation that takes a dim whole only, or leaves it so.
struct an_operation {
  static constexpr annotation_note said{nullptr};
};

namespace detail {

struct sketch;
struct rule_links;

/// What is known of a dim of a tensor. Slots that are the same point at one of them.
struct sketch_slot {
  sketch_slot* same = nullptr;
  const dim_facts* dim = nullptr;
  bool is_said = false;
  bool follows = false;  // whatever the line says, and says nothing itself: a model's own relayout
  layout_rule rule;  // where it is said; no axes: whole
  int by = 0;  // the number of the annotation, 0 of an operation
  const annotation_note* note = nullptr;
  sketch_slot* next = nullptr;  // in the line

  constexpr sketch_slot& root() {
    sketch_slot* s = this;
    while (s->same != nullptr) s = s->same;
    return *s;
  }
  constexpr const sketch_slot& root() const { return const_cast<sketch_slot*>(this)->root(); }
};
/// Do two rules split a dim in the same way?
constexpr bool says_the_same(const layout_rule& a, const layout_rule& b) {
  if (a.axes != b.axes) return false;
  for (int i = 0; i < a.axes; ++i)
    if (a.axis[i] != b.axis[i]) return false;
  return a.axes == 0 || (a.kind == b.kind && a.uneven == b.uneven && a.ragged == b.ragged);
}

constexpr bool have_common_axis(const layout_rule& a, const layout_rule& b) {
  for (int i = 0; i < a.axes; ++i)
    for (int j = 0; j < b.axes; ++j)
      if (a.axis[i] == b.axis[j]) return true;
  return false;
}

/// One tensor of the program. Its address stands in the facts of the probe.
struct sketch_value {
  sketch_value(const sketch_value&) = delete;
  constexpr sketch_value(const tensor_facts& like, sketch& s)
      : facts(like), in(&s), slot(new sketch_slot[static_cast<std::size_t>(like.rank) + 1]) {
    facts.sketched = this;
    for (int d = 0; d < facts.rank; ++d) slot[d].dim = facts.dim[d];
  }
  constexpr ~sketch_value() { delete[] slot; }

  tensor_facts facts;
  sketch* in;
  sketch_slot* slot;  // of each dim
  sketch_value* next = nullptr;  // in the order of the program
  static constexpr int most = 16;
  const sketch_value* of[most]{};  // what it was made of
  bool is_recorded = false;  // on a tape
  bool is_result = false;  // of an operation, by a rule:
  const rule_links* links = nullptr;
  int number = 0;  // of an annotation
  const annotation_note* note = nullptr;
};

/// Two that do not agree of a dim which an operation joins.
struct sketch_quarrel {
  enum kind_of : signed char { none, differ, share, refuse } kind = none;
  const sketch_value* value[2]{};  // differ: the operands
  int operand[2]{};  // their places
  int place[2]{};  // of the dims in them
  sketch_slot said[2]{};  // as it was when they met
  fault_code found = fault_code::none;  // refuse: of the operation

  constexpr bool any() const { return kind != none; }
};

/// A run of a program on sketches. Its tensors, and the line: a slot for each dim of the arguments,
/// which all of them share, for one layout is to serve them all.
struct sketch {
  constexpr sketch() = default;
  sketch(const sketch&) = delete;
  constexpr ~sketch() {
    while (first != nullptr) {
      sketch_value* const gone = first;
      first = gone->next;
      delete gone;
    }
    while (line != nullptr) {
      sketch_slot* const gone = line;
      line = gone->next;
      delete gone;
    }
  }

  /// A tensor of which nothing is said.
  constexpr sketch_value& add(const tensor_facts& like) {
    sketch_value* const v = new sketch_value(like, *this);
    (first == nullptr ? first : last->next) = v;
    last = v;
    return *v;
  }
  /// The slot of the line for a dim.
  constexpr sketch_slot& line_of(const dim_facts* d) {
    sketch_slot** at = &line;
    for (; *at != nullptr; at = &(*at)->next)
      if (same_dim((*at)->dim, d)) return **at;
    *at = new sketch_slot;
    (*at)->dim = d;
    return **at;
  }
  /// An argument of the program.
  constexpr sketch_value& given(const tensor_facts& like) {
    sketch_value& v = add(like);
    for (int d = 0; d < like.rank; ++d) v.slot[d].same = &line_of(like.dim[d]);
    return v;
  }

  /// Two slots become one; false where they say different things.
  static constexpr bool join(sketch_slot& one, sketch_slot& other) {
    sketch_slot &a = one.root(), &b = other.root();
    if (&a == &b || a.follows || b.follows) return true;
    if (a.is_said && b.is_said) return says_the_same(a.rule, b.rule);
    (a.is_said ? b : a).same = a.is_said ? &a : &b;
    return true;
  }
  static constexpr void say(sketch_slot& s, const layout_rule& r, int by,
                            const annotation_note* note) {
    s.is_said = true;
    s.rule = r;
    s.by = by;
    s.note = note;
  }

  /// May all tensors that share a slot take a rule? Not where another dim has one of its axes.
  constexpr bool is_free_for(const sketch_slot& s, const layout_rule& r) const {
    for (const sketch_value* v = first; v != nullptr && r.kind == rule_kind::split; v = v->next) {
      bool shares = false, taken = false;
      for (int d = 0; d < v->facts.rank; ++d) {
        const sketch_slot& here = v->slot[d].root();
        shares = shares || &here == &s;
        taken = taken || (&here != &s && here.is_said && have_common_axis(here.rule, r));
      }
      if (shares && taken) return false;
    }
    return true;
  }

  /// The tensor as an annotation wants it. Dims of which nothing was said get its rules, wherever
  /// they come from, if that is free; else, and where something else was said, they are moved
  /// here. The others stay.
  constexpr sketch_value& annotate(sketch_value& x, const rule_list_view& rules,
                                   const annotation_note* note) {
    sketch_value& y = add(x.facts);
    y.of[0] = &x;
    y.number = ++annotations;
    y.note = note;
    for (int d = 0; d < x.facts.rank; ++d) {
      int at = -1;  // no pointer: g++ 12 with sanitizers compares none to null in constants
      for (int i = 0; i < rules.size; ++i)
        if (same_dim(rules.at[i].dim, x.facts.dim[d])) at = i;
      sketch_slot& s = x.slot[d].root();
      if (at >= 0 && !s.is_said && !s.follows && is_free_for(s, rules.at[at]))
        say(s, rules.at[at], y.number, note);
      if (at < 0 || (s.is_said && says_the_same(s.rule, rules.at[at])))
        y.slot[d].same = &s;
      else
        say(y.slot[d], rules.at[at], y.number, note);
    }
    return y;
  }
  /// The same tensor, whose sums have been made.
  constexpr sketch_value& complete(const sketch_value& x) {
    sketch_value& y = add(x.facts);
    y.of[0] = &x;
    for (int d = 0; d < x.facts.rank; ++d) y.slot[d].same = &x.slot[d];
    return y;
  }
  /// The tensor where a model brings it to what the line says: each dim as it will turn out.
  constexpr sketch_value& follow(const sketch_value& x) {
    sketch_value& y = add(x.facts);
    y.of[0] = &x;
    for (int d = 0; d < x.facts.rank; ++d) y.slot[d].follows = true;
    return y;
  }

  sketch_value *first = nullptr, *last = nullptr;
  sketch_slot* line = nullptr;
  int annotations = 0;
  sketch_quarrel quarrel;  // the first one
};

}  // namespace detail
}  // namespace dimesh
