// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor whose layout is a value get to another layout? By the route that its type would
// have, found and walked when the program runs.
//
//   walk_probe<goal_rule<L, true>>(x)         -> x under L
//   start_walk_probe<goal_rule<L, true>>(x)   -> the same of elements: the last step begins only
#pragma once

#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/exchange.hpp"
#include "dimesh/op/parts/places.hpp"
#include "dimesh/op/parts/start.hpp"

namespace dimesh::detail {

/// What is known of x on a route. On a tape nothing is cut that stays replicated: the way back of a
/// cut makes addends of a cotangent that all ranks may hold whole, and these want a sum.
constexpr route_terms terms_of(const tensor_facts& x, bool recorded = false) {
  return {x.dims(), x.axis_sizes(), x.moves_by_axis, !recorded};
}
/// The route of x to the layout of a table, as canonical layouts have theirs.
constexpr route tidied_route(const tensor_facts& x, const table& to, bool recorded = false) {
  route r = route_between(x.layout, to, terms_of(x, recorded));
  for (int i = 0; i + 1 < r.size; ++i) r.at[i].to = tidied(x, r.at[i].to);
  return r;
}

/// Calls run(op, facts of the result) with the operation that one step of a probe is.
template <class X, class Run> auto by_step(const X& x, const route::step& step, const Run& run_on) {
  using T = value_of<X>;
  const table& from = core_of(x).layout();
  const tensor_facts& facts = facts_under(spec_facts<spec_of<X>>, step.to);
  const auto run = [&](const auto& op) { return run_on(op, facts); };
  const int a = first_axis(moved_axes(from, step.to));  // of a change of place
  switch (step.kind) {
    case hop::send:
      return run(send_op<T>{a});
    case hop::reduce:
      return run(reduce_op<T>{a});
    case hop::broadcast:
      return run(broadcast_op<T>{a, 0});
    case hop::place:
      return run(place_op<T>{});
    case hop::own:
      return run(cut_op<T>{});
    case hop::reduce_scatter:
      return run(reduce_scatter_op<T>{});
    case hop::all_reduce:
      return run(all_reduce_op<T>{{moved_axes(from, step.to)}});
    case hop::all_gather:
      return run(all_gather_op<T>{});
    default:
      return run(exchange_op<T>{});
  }
}
/// One step of a probe.
template <class X> X stepped(const X& x, const route::step& step) {
  return by_step(x, step, [&x](const auto& op, const tensor_facts& y) -> X {
    const tensor_facts* const facts[] = {&y};
    return apply_on_cores(list<spec_of<X>>{}, facts, op, nullptr, x);
  });
}
/// One step of a runtime tensor, which begins only.
template <class X> started<X> start_stepped(const X& x, const route::step& step) {
  return by_step(x, step, [&](const auto& op, const tensor_facts& y) -> started<X> {
    if constexpr (can_start<std::remove_cvref_t<decltype(op)>>)
      return started<X>(op, core_of(x), &y);
    else
      return started<X>(tag<X>{}, stepped(x, step));
  });
}
/// A sketch under the layout that a relayout names: what that says is said of its dims.
template <class L, class X> constexpr X sketch_under(X x, sketch_value& from) {
  if constexpr (is_at_run_time<L>) {
    core_of(x).facts = &from.in->follow(from).facts;
  } else {
    const table to = target<L>::of(from.facts.dims()).layout;
    sketch_value& y = from.in->add(from.facts);
    y.of[0] = &from;
    for (int d = 0; d < from.facts.rank; ++d) {
      const layout_rule r = rule_in(to, d);
      sketch_slot& s = from.slot[d].root();
      if (!s.is_said && !s.follows) sketch::say(s, r, 0, &an_operation::said);
      sketch::say(y.slot[d], r, 0, &an_operation::said);
    }
    core_of(x).facts = &y.facts;
  }
  return x;
}
/// Walks a route on a probe from step i on; what stands between lives to the end, as in walk.
template <class X> X walked(const X& x, const route& r, int i = 0) {
  return i == r.size ? x : walked(stepped(x, r.at[i]), r, i + 1);
}
/// x under a table that its type does not know.
template <class X> X relaid_probe(const X& x, const table& to) {
  return walked(x, tidied_route(*core_of(x).facts, to, is_tracked<X>));
}
/// Walks all but the last step of a route on a runtime tensor; that one begins only.
template <class X> started<X> start_walked(const X& x, const route& r, int i = 0) {
  return i + 1 == r.size ? start_stepped(x, r.at[i]) : start_walked(stepped(x, r.at[i]), r, i + 1);
}
/// The route of a probe is known when the program runs.
template <class Rule, class X> constexpr X walk_probe(const X& x) {
  if constexpr (requires { typename Rule::goal; })
    if (sketch_value* const s = core_of(x).facts->sketched; s != nullptr)
      return sketch_under<typename Rule::goal>(x, *s);
  const table to = ruled<Rule>("relayout", x).layout;
  return relaid_probe(x, to);
}

/// The same of a runtime tensor, whose last step begins only.
template <class Rule, class X> started<X> start_walk_probe(const X& x) {
  if (core_of(x).is_shape)  // of this type, while costs are counted
    return started_on_shape(core_of(x).count, [&x] { return walk_probe<Rule>(x); });
  const route r = tidied_route(*core_of(x).facts, ruled<Rule>("relayout", x).layout, is_tracked<X>);
  return r.size == 0 ? arrived(starting<X>{x}) : start_walked(x, r);
}

}  // namespace dimesh::detail
