// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a contraction do under a schedule? Bring the operands to where they meet, by relayout
// before one product or by panels while it is computed. (by::best: contract_best.hpp.)
//
//   contract_call<by::ring<rows>, list<m, n>>::rule      asserted at the entry point
//   contract_call<by::ring<rows>, list<m, n>>::run(x, y)
#pragma once

#include "dimesh/op/einsum.hpp"
#include "dimesh/op/parts/panels_op.hpp"
#include "dimesh/op/reduce_scatter.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/schedule.hpp"

namespace dimesh::detail {

template <class S> inline constexpr bool goes_by = requires { S::depth; };

/// What a schedule says of two operands.
template <class Schedule> constexpr contract_meeting meeting_by(rule_operands x, dim_list out) {
  if (foreign_operand(x) >= 0) return no_meeting(einsum_rule_of(x, out));
  return Schedule::meet(x, out);
}
template <class Schedule, class Out> struct contract_rule {
  using named = Out;
  using axes = typename Schedule::axes;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    return meeting_by<Schedule>(x, out).found;
  }
};

// ---- facts of what stands between ---------------------------------------------------------------

/// S under the table Table::result.
template <class S, class Table>
using spec_under = spec_of_table<typename S::value_type, typename S::mesh, typename S::dims, Table>;

template <class Schedule, class Out, class A, class B> struct met {
  static constexpr rule_operands operands{facts_list<A, B>::at, 2};
  static constexpr contract_meeting value = meeting_by<Schedule>(operands, dims_in<Out>);
  static constexpr panels_tables tables = tables_of(operands, value);
  template <table (panels_tables::*Which)[2], int K> struct of {
    static constexpr table result = (tables.*Which)[K];
  };
  template <table (panels_tables::*Which)[2], int K>
  using spec_of = spec_under<std::conditional_t<K == 0, A, B>, of<Which, K>>;
  template <int K> using whole = spec_of<&panels_tables::whole, K>;
  template <int K> using part = spec_of<&panels_tables::part, K>;
  static constexpr panels_facts facts() {
    return {value.through,
            value.share,
            {&spec_facts<whole<0>>, &spec_facts<whole<1>>},
            {&spec_facts<part<0>>, &spec_facts<part<1>>}};
  }
};
/// The same of probes, when the program runs.
template <class Schedule, class Out, class A, class B>
panels_facts met_at_run_time(const A& a, const B& b) {
  const tensor_facts* const at[] = {core_of(a).facts, core_of(b).facts};
  const rule_operands x{at, 2};
  const contract_meeting m = meeting_by<Schedule>(x, dims_in<Out>);
  const panels_tables t = tables_of(x, m);
  panels_facts f{m.through, m.share};
  const tensor_facts* const like[] = {&spec_facts<spec_of<A>>, &spec_facts<spec_of<B>>};
  for (int k = 0; k < 2; ++k) {
    f.whole[k] = &facts_under(*like[k], t.whole[k]);
    f.part[k] = &facts_under(*like[k], t.part[k]);
  }
  return f;
}

// ---- how they run -------------------------------------------------------------------------------

/// The local product of operands brought to the layouts under which they meet.
template <class Schedule, class Out, class A, class B>
constexpr auto contract_gathered(const A& a, const B& b) {
  if constexpr (is_probe<A> || is_probe<B>) {
    const tensor_facts* const at[] = {core_of(a).facts, core_of(b).facts};
    const contract_meeting m = meeting_by<Schedule>({at, 2}, dims_in<Out>);
    return einsum_as<void, Out>(relaid_probe(a, m.whole[0]), relaid_probe(b, m.whole[1]));
  } else {
    using both = met<Schedule, Out, spec_of<A>, spec_of<B>>;
    using L = typename both::template part<0>::layout;
    using M = typename both::template part<1>::layout;
    return einsum_as<void, Out>(relayout<L>(a), relayout<M>(b));
  }
}
template <class Schedule, class Out, class A, class B>
constexpr auto contract_by(const A& a, const B& b) {
  using T = value_of<A>;
  constexpr bool probes = is_probe<A> || is_probe<B>;
  if constexpr (!goes_by<Schedule> || is_storage_only<T> || !element_traits<T>::has_products) {
    return contract_gathered<Schedule, Out>(a, b);
  } else {
    using rule = contract_rule<Schedule, Out>;
    if constexpr (probes) {
      check<rule>("contract", a, b);
      return apply_rule<rule, T>(
          panels_op<T>{met_at_run_time<Schedule, Out>(a, b), Schedule::depth}, a, b);
    } else {
      return apply_rule<rule, T>(
          panels_op<T>{met<Schedule, Out, spec_of<A>, spec_of<B>>::facts(), Schedule::depth}, a, b);
    }
  }
}

/// A schedule of which everything is said above.
template <class Schedule, class Out> struct contract_call {
  using rule = contract_rule<Schedule, Out>;
  template <class A, class B> static constexpr auto run(const A& a, const B& b) {
    return contract_by<Schedule, Out>(a, b);
  }
};

template <class D, class A, class Out> struct contract_scattered_rule {
  using named = typename concat_impl<Out, list<plain_dim<D>>>::type;
  using axes = list<A>;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = meeting_by<by::reduce_scatter<D, A>>(x, out).found;
    if (!o.ok()) return o;
    tensor_facts y = facts_of_result(x[0], Out{});
    y.layout = o.layout;
    return scatter_rule_of(y, y.axis_of(type_number<A>), use::partial, &facts_of_dim<plain_dim<D>>,
                           bare_dim<D>::uneven, bare_dim<D>::ragged);
  }
};
/// Cut first, and summed at the end.
template <class D, class A, class Out> struct contract_call<by::reduce_scatter<D, A>, Out> {
  using rule = contract_scattered_rule<D, A, Out>;
  template <class X, class Y> static constexpr auto run(const X& x, const Y& y) {
    return reduce_scatter<D, A>(contract_by<by::reduce_scatter<D, A>, Out>(x, y));
  }
};

}  // namespace dimesh::detail
