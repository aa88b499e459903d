// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which dims does an operation join? Its typing rule knows: split a dim in all operands that have
// it, ask the rule, and see where the split has gone. So sketches have no rules of their own.
//
//   einsum<batch, hidden>(x[batch, pixel], w[pixel, hidden]):
//     batch  free, goes to place 0;  hidden  free, to place 1;  pixel  free, is summed
//   sort<pixel>(x):  pixel is not free: it must be whole
//   concat_exchange<both, left, right>(x, y):  left and right are free together (its rule: as_one)
#pragma once

#include "dimesh/core/rule_types.hpp"
#include "dimesh/core/sketch.hpp"

namespace dimesh::detail {

/// What a rule does to the dims of its operands.
struct rule_links {
  struct link {
    const dim_facts* dim = nullptr;
    bool is_free = false;  // all operands that have it may split it
    int to = -1;  // its place in the result, -1 where it is gone or whole
    bool is_summed = false;  // blocks of it give addends
  };
  link at[2 * max_dims]{};
  int size = 0;
  outcome plain;  // of operands that are split nowhere
  dim_list as_one{};  // dims that stand in each other's place: all are split alike

  constexpr bool is_one(const dim_facts* a, const dim_facts* b) const {
    return same_dim(a, b) || (as_one.place_of(a) >= 0 && as_one.place_of(b) >= 0);
  }
  /// The place of a dim, -1 where no operand has it.
  constexpr int place_of(const dim_facts* d) const {
    for (int i = 0; i < size; ++i)
      if (is_one(at[i].dim, d)) return i;
    return -1;
  }
  /// The place in an operand of the dim of a link, -1 where it does not have it.
  constexpr int place_in(const tensor_facts& x, const link& l) const {
    for (int d = 0; d < x.rank; ++d)
      if (is_one(l.dim, x.dim[d])) return d;
    return -1;
  }
};

/// Axes of which nobody knows the size: no extent is refused for their sake.
struct unsized_axes {
  index_t size[max_axes]{};
  constexpr unsized_axes() {
    for (index_t& s : size) s = dynamic;
  }
};
inline constexpr unsized_axes any_sizes;

using rule_function = outcome (*)(rule_operands, dim_list);

/// Asks a rule about one dim, split over some axis in every operand that has it, and no other dim.
constexpr void ask_of_dim(const rule_links& all, rule_links::link& l, rule_function rule,
                          const tensor_facts* const* x, int count, dim_list out) {
  tensor_facts* const split = new tensor_facts[static_cast<std::size_t>(count)];
  const tensor_facts** const at = new const tensor_facts*[static_cast<std::size_t>(count)];
  shared_facts unsized = *x[0]->shared;
  unsized.axis_sizes = any_sizes.size;
  for (int a = 0; a < x[0]->layout.axes && !l.is_free; ++a) {
    for (int k = 0; k < count; ++k) {
      split[k] = *x[k];
      split[k].shared = &unsized;
      split[k].at_run_time = split[k].is_open = false;
      for (axis_use& u : split[k].layout.axis)
        if (u.what == use::split) u = {};  // as types of operands beside a sketch say
      if (const int d = all.place_in(*x[k], l); d >= 0) split[k].layout.set_split(a, d);
      at[k] = &split[k];
    }
    const outcome o = rule({at, count}, out);
    l.is_free = o.ok();
    if (o.ok() && o.layout.axis[a].what == use::split) l.to = o.layout.axis[a].dim;
    l.is_summed = o.ok() && o.layout.is_partial(a);
  }
  delete[] at;
  delete[] split;
}
constexpr rule_links links_of(rule_function rule, const tensor_facts* const* x, int count,
                              dim_list out, dim_list as_one) {
  rule_links all;
  all.as_one = as_one;
  all.plain = rule({x, count}, out);
  for (int k = 0; k < count && all.plain.ok(); ++k)
    for (int d = 0; d < x[k]->rank; ++d) {
      if (all.place_of(x[k]->dim[d]) >= 0 || all.size == 2 * max_dims) continue;
      rule_links::link& l = all.at[all.size++];
      l.dim = x[k]->dim[d];
      ask_of_dim(all, l, rule, x, count, out);
    }
  return all;
}
template <class Rule, class... S> struct links_by_rule {
  static constexpr outcome ask(rule_operands x, dim_list out) { return Rule::of(x, out); }
  using dims = typename Rule::template dims<typename S::dims...>::type;
  static constexpr dim_list as_one() {
    if constexpr (requires { Rule::as_one; })
      return Rule::as_one;
    else
      return {};
  }
  static constexpr rule_links value =
      links_of(&ask, facts_list<S...>::at, sizeof...(S), dims_in<dims>, as_one());
};

/// Joins what the operands' dims say; the slot of each dim of the links, null where no sketch has
/// it. The first quarrel is kept.
constexpr void join_operands(sketch& s, const rule_links& links, const tensor_facts* const* x,
                             int count, sketch_slot** slots) {
  const bool quiet = s.quarrel.any();
  const auto blame = [&](sketch_quarrel::kind_of kind) {
    if (quiet || s.quarrel.any()) return false;
    s.quarrel.kind = kind;
    return true;
  };
  if (!links.plain.ok() && blame(sketch_quarrel::refuse)) s.quarrel.found = links.plain.found;
  for (int i = 0; i < links.size; ++i) {
    int held_by = -1, held_at = -1;
    for (int k = 0; k < count; ++k) {
      const int d = x[k]->sketched == nullptr ? -1 : links.place_in(*x[k], links.at[i]);
      if (d < 0) continue;
      sketch_slot& here = x[k]->sketched->slot[d];
      if (!links.at[i].is_free && !here.root().is_said && !here.root().follows)
        sketch::say(here.root(), {}, 0, &an_operation::said);
      sketch_slot whole;
      sketch::say(whole, {}, 0, &an_operation::said);
      sketch_slot& held = links.at[i].is_free && slots[i] != nullptr ? *slots[i] : whole;
      const bool agree =
          slots[i] == nullptr && links.at[i].is_free ? true : sketch::join(held, here);
      if (!agree && blame(sketch_quarrel::differ)) {
        sketch_quarrel& q = s.quarrel;
        q.value[0] = held_by < 0 ? nullptr : x[held_by]->sketched;
        q.value[1] = x[k]->sketched;
        q.operand[0] = held_by, q.operand[1] = k;
        q.place[0] = held_at, q.place[1] = d;
        q.said[0] = held.root(), q.said[1] = here.root();
      }
      if (slots[i] == nullptr || slots[i]->root().follows) {
        slots[i] = &here;
        held_by = k, held_at = d;
      }
    }
  }
}

/// What a table says of dim d, as a rule.
constexpr layout_rule rule_in(const table& t, int d) {
  layout_rule r;
  r.kind = rule_kind::split;
  r.uneven = t.uneven[d], r.ragged = t.ragged[d];
  for (int a = 0; (a = t.axis_at(d, r.axes)) >= 0;)
    r.axis[static_cast<int>(r.axes++)] = static_cast<signed char>(a);
  return r;
}

/// The result of an operation on sketches, which have been joined.
constexpr const tensor_facts& sketch_result(sketch& s, const rule_links& links,
                                            const tensor_facts& like, const tensor_facts* const* x,
                                            int count) {
  sketch_slot* slots[2 * max_dims] = {};
  join_operands(s, links, x, count, slots);
  sketch_value& y = s.add(like);
  y.is_result = true;
  y.links = &links;
  for (int k = 0; k < count && k < sketch_value::most; ++k) y.of[k] = x[k]->sketched;
  for (int i = 0; i < links.size; ++i)
    if (links.at[i].is_free && links.at[i].to >= 0 && slots[i] != nullptr)
      y.slot[links.at[i].to].same = slots[i];
  for (int d = 0; d < like.rank; ++d) {
    sketch_slot& own = y.slot[d];
    if (own.same != nullptr) continue;
    // A dim that the operation cuts; one that stays, whatever its split: it has been made whole.
    // Another one is new, and open.
    if (const layout_rule cut = rule_in(links.plain.layout, d); cut.axes > 0)
      sketch::say(own, cut, 0, &an_operation::said);
    else if (links.place_of(like.dim[d]) >= 0)
      sketch::say(own, {}, 0, &an_operation::said);
  }
  return y.facts;
}

/// The run of which an operand is a sketch; null where none is.
constexpr sketch* sketch_among(const tensor_facts* const* x, int count) {
  for (int k = 0; k < count; ++k)
    if (x[k]->sketched != nullptr) return x[k]->sketched->in;
  return nullptr;
}

}  // namespace dimesh::detail
