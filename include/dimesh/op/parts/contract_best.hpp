// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a contraction do that takes the best schedule? What the compiler finds cheapest, or the
// run where extents or sizes are open; of probes the run finds the same, from the layouts that it
// knows.
//
//   contract_call<by::best<>, list<m, n>>::run(x, y)
#pragma once

#include "dimesh/op/parts/contract_call.hpp"

namespace dimesh::detail {

/// An axis along which a goal holds addends that no product of the operands has, -1 if there is
/// none: operands hold them, or it splits a summed dim; of two, so that they meet for all of them.
constexpr int axis_without_addends(const table& goal, rule_operands x, const tensor_facts& y) {
  for (int a = 0; a < goal.axes; ++a) {
    const use what = goal.axis[a].what;
    bool some = what != use::partial && what != use::partial_max && what != use::partial_min;
    for (int k = 0; k < x.count && !some; ++k) {
      const axis_use u = x[k].layout.axis[a];
      some = u.what == what ||
             (what == use::partial && u.what == use::split && y.place_of(x[k].dim[u.dim]) < 0);
    }
    if (!some) return a;
  }
  if (x.count != 2 || goal.mask(use::partial) == 0) return -1;
  const outcome met = cheapest_meeting(x, y.dims(), {{}, &goal, &y, 0, true}).found;
  for (int a = 0; a < goal.axes && met.ok(); ++a)
    if (goal.axis[a].what == use::partial && met.layout.axis[a].what != use::partial) return a;
  return -1;
}
/// The layout of the result: the caller's, or what keeps the splits.
template <class L> constexpr outcome goal_of_product(rule_operands x, const tensor_facts& y) {
  if constexpr (std::is_void_v<L>) {
    return allowed(kept_splits(x, y));
  } else {
    if (x[0].mesh != type_number<typename L::mesh>)
      return blamed_place(fault_code::meshes_differ, 0);
    outcome o = target<L>::of(y.dims());
    o.is_of_goal = !o.ok();
    const int a = o.ok() ? axis_without_addends(o.layout, x, y) : -1;
    return a < 0 ? o : blamed_axis(fault_code::axis_not_partial, a);
  }
}
/// A layout that is to hold addends, too.
constexpr table with_addends(table t, unsigned axes) {
  for (int a = 0; a < t.axes; ++a)
    if ((axes >> a & 1u) != 0) t.axis[a] = {use::partial};
  return t;
}
/// Do types say all extents, and how many ranks there are?
constexpr bool is_sized(rule_operands x) {
  for (int k = 0; k < x.count; ++k) {
    for (int d = 0; d < x[k].rank; ++d)
      if (x[k].dim[d]->extent == dynamic) return false;
    for (int a = 0; a < x[k].layout.axes; ++a)
      if (x[k].axis_sizes()[a] < 1) return false;
  }
  return true;
}
template <class L> struct named_goal {
  using goal = L;
};
template <> struct named_goal<void> {};
template <class L, index_t Memory, class Out> struct best_rule : named_goal<L> {
  using named = Out;
  using axes = list<>;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = cheapest_meeting_or_fault(x, out);
    return o.ok() ? goal_of_product<L>(x, facts_of_result(x[0], Out{})) : o;
  }
  static constexpr outcome cheapest_meeting_or_fault(rule_operands x, dim_list out) {
    if (foreign_operand(x) >= 0) return einsum_rule_of(x, out);
    search any;
    any.sums = true;
    return cheapest_meeting(x, out, any).found;
  }
  static constexpr double memory = static_cast<double>(Memory);
  /// The choice where extents are what `by` says, and so many bytes may be gathered (0: any).
  static constexpr contract_choice chosen(rule_operands x, const measure& by, double bound,
                                          unsigned stay) {
    tensor_facts y = facts_of_result(x[0], Out{});
    const table goal = with_addends(goal_of_product<L>(x, y).layout, stay);
    return best_choice(x, y.dims(), {by, &goal, &y, bound, true});
  }
  /// The memory that operands want whose sizes are known, 0 where they have enough.
  static constexpr index_t wanted(rule_operands x) {
    if (Memory == 0 || !is_sized(x)) return 0;
    const measure by;
    return memory_wanted({by, nullptr, nullptr, memory}, x, chosen(x, by, memory, 0));
  }
};

/// Of a product that wants so many bytes, 0 where it has enough.
template <index_t Wanted, index_t Memory>
using memory_fault =
    std::conditional_t<Wanted == 0, no_fault, operands_exceed_memory<Wanted, Memory>>;

/// The choices where dims of neither, of the first or of the second operand are long; where memory
/// is bounded each of them as though all fitted, and nothing did, too: the run knows what fits. One
/// choice where types say all.
struct best_choices {
  int count = 1;
  contract_choice at[9];

  template <class Rule> static constexpr best_choices of(rule_operands x, unsigned stay = 0) {
    const double bounds[] = {Rule::memory, 0, 1};
    const tensor_facts* const large[] = {nullptr, x.at[0], x.at[1]};
    best_choices c;
    c.count = is_sized(x) ? 1 : Rule::memory > 0 ? 9 : 3;
    for (int i = 0; i < c.count; ++i) {
      measure by;
      by.large = large[i % 3];
      c.at[i] = Rule::chosen(x, by, bounds[i / 3], stay);
    }
    return c;
  }
  constexpr bool is_new(int i) const {
    for (int j = 0; j < i; ++j)
      if (at[i] == at[j]) return false;
    return true;
  }
  /// Are those behind it among those up to it?
  constexpr bool is_last(int i) const {
    while (++i < count)
      if (is_new(i)) return false;
    return true;
  }
  /// Whatever the run knows.
  constexpr bool is_settled() const { return is_last(0); }
  /// The one that a search takes, for a result y: a gather within the memory, else what sends block
  /// by block, of those the one that costs the fewest bytes; else the smallest gather.
  constexpr int cheapest(const search& s, rule_operands x) const {
    const auto order = [&](const contract_choice& c) {
      if (c.rows >= 0) return 1;
      return s.memory == 0 || gathered_bytes(s, x, c.m) <= s.memory ? 0 : 2;
    };
    const auto cost = [&](const contract_choice& c, int by) {
      return by == 2 ? gathered_bytes(s, x, c.m) : bytes_of_meeting(s, x, c.m);
    };
    int wanted = 0;
    for (int i = 1; i < count; ++i) {
      const int here = order(at[i]), there = order(at[wanted]);
      if (here < there || (here == there && cost(at[i], here) < cost(at[wanted], here))) wanted = i;
    }
    return wanted;
  }
};
template <class Rule, class A, class B> struct best_of {
  static constexpr rule_operands operands{facts_list<A, B>::at, 2};
  static constexpr best_choices found = best_choices::of<Rule>(operands);
  template <int I, int K> struct meets {
    static constexpr table result = found.at[I].m.whole[K];
  };
  template <int I> using first = spec_under<A, meets<I, 0>>;
  template <int I> using second = spec_under<B, meets<I, 1>>;
};
/// by::ring, of whose operands K travels: which way costs less only the run may know.
template <class A, int K> struct ring_of {
  using axes = list<A>;
  static constexpr index_t depth = by::ring<A>::depth;
  static constexpr contract_meeting meet(rule_operands x, dim_list out) {
    return ring_meeting(x, out, x[0].axis_of(type_number<A>), K);
  }
};
/// Choice I of a list.
template <class Best, int I, class Out, class A, class B>
constexpr auto contract_chosen(const A& a, const B& b) {
  constexpr contract_choice c = Best::found.at[I];
  using mesh_axes = typename spec_of<A>::mesh::axes;
  if constexpr (c.cols >= 0)
    return contract_by<by::summa<type_at<c.rows, mesh_axes>, type_at<c.cols, mesh_axes>>, Out>(a,
                                                                                               b);
  else if constexpr (c.rows >= 0)
    return contract_by<ring_of<type_at<c.rows, mesh_axes>, c.m.travels>, Out>(a, b);
  else
    return einsum_as<void, Out>(relayout<typename Best::template first<I>::layout>(a),
                                relayout<typename Best::template second<I>::layout>(b));
}
/// What the run knows of two operands.
constexpr measure measured(const tensor_core& a, const tensor_core& b) {
  measure by;
  by.sizes = a.sizes();
  for (const tensor_core* x : {&a, &b})
    for (int d = 0; d < x->rank(); ++d) {
      by.dim[by.count] = x->facts->dim[d];
      by.extent[by.count++] = x->extent(d);
    }
  return by;
}
/// What the run finds by::best to gather is within its memory, on all ranks or on none.
constexpr void require_memory(const search& s, rule_operands x, const contract_choice& c) {
  if (const index_t n = memory_wanted(s, x, c); n > 0)
    (words() << "contract: by::best may gather " << static_cast<index_t>(s.memory)
             << " bytes of operands at once, and these send no blocks by ring or panels; allow it "
             << n << " bytes, or split the operands further")
        .raise();
}
template <class Rule, class Best, class G, int I, class Out, class A, class B>
constexpr auto contract_cheapest(int wanted, const A& a, const B& b) {
  if constexpr (!Best::found.is_new(I))
    return contract_cheapest<Rule, Best, G, I + 1, Out>(wanted, a, b);
  else if constexpr (Best::found.is_last(I))
    return relayout<G>(contract_chosen<Best, I, Out>(a, b));
  else if (wanted == I)
    return relayout<G>(contract_chosen<Best, I, Out>(a, b));
  else
    return contract_cheapest<Rule, Best, G, I + 1, Out>(wanted, a, b);
}
/// The axis, or the pair of them, that the run knows, of probes: the schedule as a type.
template <int I, class Out, class A, class B>
constexpr auto contract_along(const contract_choice& c, const A& a, const B& b) {
  using mesh_axes = typename spec_of<A>::mesh::axes;
  constexpr int n = spec_of<A>::mesh::rank, i = I / n, j = I % n;
  if constexpr (I + 1 < n * n)
    if (c.rows != i || (c.cols < 0 ? i : c.cols) != j) return contract_along<I + 1, Out>(c, a, b);
  using along = type_at<i, mesh_axes>;
  if constexpr (i == j) {
    if (c.m.travels == 0) return contract_by<ring_of<along, 0>, Out>(a, b);
    return contract_by<ring_of<along, 1>, Out>(a, b);
  } else {
    return contract_by<by::summa<along, type_at<j, mesh_axes>>, Out>(a, b);
  }
}
/// The same program as of tensors whose types say what these probes are. Addends along some axes
/// stay.
template <class L, index_t Memory, class Out, class A, class B>
auto contract_best_probes(const A& a, const B& b, unsigned stay = 0) {
  using rule = best_rule<L, Memory, Out>;
  check<rule>("contract", a, b);
  const tensor_facts* const at[] = {core_of(a).facts, core_of(b).facts};
  const rule_operands x{at, 2};
  const best_choices found = best_choices::of<rule>(x, stay);
  tensor_facts y = facts_of_result(*at[0], Out{});
  const table to = with_addends(goal_of_product<L>(x, y).layout, stay);
  const measure by = measured(core_of(a), core_of(b));
  const search s{by, &to, &y, rule::memory};
  const contract_choice& c = found.at[found.is_settled() ? 0 : found.cheapest(s, x)];
  require_memory(s, x, c);
  const auto product = [&] {
    if constexpr (Memory > 0)
      if (c.rows >= 0) return contract_along<0, Out>(c, a, b);
    return einsum_as<void, Out>(relaid_probe(a, c.m.whole[0]), relaid_probe(b, c.m.whole[1]));
  };
  return relaid_probe(product(), to);
}
template <class L, index_t Memory, class Out> struct contract_call<by::best<L, Memory>, Out> {
  using rule = best_rule<L, Memory, Out>;
  template <class A, class B> static constexpr auto run(const A& a, const B& b) {
    if constexpr (is_probe<A> || is_probe<B>) {
      const tensor_facts* const at[] = {core_of(a).facts, core_of(b).facts};
      if (sketch_among(at, 2) == nullptr) return contract_best_probes<L, Memory, Out>(a, b);
    }
    using best = best_of<rule, spec_of<A>, spec_of<B>>;
    using S = result_spec<rule, value_of<A>, spec_of<A>, spec_of<B>>;
    using goal = typename S::layout;
    if constexpr (best::found.is_settled() && (Memory == 0 || is_sized(best::operands))) {
      return relayout<goal>(contract_chosen<best, 0, Out>(a, b));
    } else {
      const measure by = measured(core_of(a), core_of(b));
      const tensor_facts y = facts_of_result(*core_of(a).facts, Out{});
      const search s{by, &spec_facts<S>.layout, &y, rule::memory};
      const int wanted = best::found.cheapest(s, best::operands);
      require_memory(s, best::operands, best::found.at[wanted]);
      return contract_cheapest<rule, best, goal, 0, Out>(wanted, a, b);
    }
  }
};

}  // namespace dimesh::detail
