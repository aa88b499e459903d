// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an optimizer visit its tensors? One pass over the memory of each parameter, its gradient
// and its state together, in place. Optimizers differ only in the scalar rule they apply.
//
//   update_each(rule, params, grads, state...)   // rule(p, g, s...): references to elements
#pragma once

#include <algorithm>

#include "dimesh/core/results.hpp"
#include "dimesh/core/rule.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/map.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/optim/forms.hpp"
#include "dimesh/optim/own_places.hpp"
#ifdef DIMESH_CHECKED
#include "dimesh/detail/replicas_in.hpp"
#endif
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

namespace detail {

template <class P, class G> struct step_fault {
  using type = no_fault;  // of layouts that are values: the step asks when it is made
};
template <class P, class G>
  requires(!is_probe<P> && !is_probe<G>)
struct step_fault<P, G> {
  static constexpr auto find() {
    constexpr table p = spec_of<P>::table, g = spec_of<G>::table;
    constexpr int axis = [p, g] {  // partial there, but not in the parameter
      for (int a = 0; a < g.axes; ++a)
        if (g.is_partial(a) && !p.is_partial(a)) return a;
      return -1;
    }();
    if constexpr (axis >= 0)
      return tag<gradient_not_complete<type_at<axis, typename P::mesh_type::axes>>>{};
    else if constexpr (!std::is_same_v<typename P::layout_type, typename G::layout_type>)
      return tag<layouts_differ<typename P::layout_type, typename G::layout_type>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};

/// The first fault of a parameter with its gradient.
template <class Parameters, class Gradients> struct steps_fault {
  using type = no_fault;
};
template <class P, class... Ps, class G, class... Gs>
struct steps_fault<list<P, Ps...>, list<G, Gs...>> : steps_fault<list<Ps...>, list<Gs...>> {};
template <class P, class... Ps, class G, class... Gs>
  requires(!ok<typename step_fault<P, G>::type>)
struct steps_fault<list<P, Ps...>, list<G, Gs...>> : step_fault<P, G> {};
template <class P, class G>
using update_fault = typename first_of<
    form_fault<P, G>, typename lengths_fault<P, G>::type,
    typename steps_fault<typename leaves<P>::type, typename leaves<G>::type>::type>::type;

/// The first parameter of a type that is computed with in a wider one.
template <class Leaves> struct rounded_fault {
  using type = no_fault;
};
template <class P, class... Rest>
struct rounded_fault<list<P, Rest...>> : rounded_fault<list<Rest...>> {};
template <class P, class... Rest>
  requires(is_storage_only<value_of<P>>)
struct rounded_fault<list<P, Rest...>> {
  using type = parameter_is_rounded<value_of<P>>;
};
/// What optimizers refuse; update_each, which knows no training, asks less.
template <class P, class G>
using training_fault =
    std::conditional_t<ok<typename rounded_fault<typename leaves<P>::type>::type>,
                       update_fault<P, G>, typename rounded_fault<typename leaves<P>::type>::type>;

/// One element and those of its states, held in variables of their own.
template <class T, class... S> struct held_update {
  template <class Rule>
  [[gnu::always_inline]] static void run(Rule& rule, T d, T& home, T x, S&... homes, S... y) {
    rule(x, d, y...);
    home = x;
    ((homes = y), ...);
  }
};
// One pass on a thread of a host, with 0, 1 or 2 arrays of state of length n. Elements held in
// variables of their own become vector code whatever the rule and the optimization level, which
// those of local::for_each do not. Where the gradient's memory is the parameter's own (a gradient
// handed to its own parameter), an element is read before it is written.
template <class Rule, class T, class... S>
[[gnu::noinline]] void update_loop(Rule rule, index_t n, T* p, const T* g, S*... s) {
  const dimesh::detail::writes_memory kernel;
#pragma omp simd
  for (index_t i = 0; i < n; ++i)
    held_update<T, S...>::run(rule, g[i], p[i], p[i], s[i]..., s[i]...);
}

/// An operation an element, as of a map; the parameter and its states are read and written.
struct update_cost {
  index_t flops, moved;
  update_cost(const tensor_core& p, std::size_t states)
      : flops(p.elements()), moved(p.bytes() * (3 + 2 * static_cast<index_t>(states))) {}
};
/// Costs are being counted: enters that of one tensor's update.
inline void foresee_update(const tensor_core& p, std::size_t states) {
  if (p.count == nullptr) return;
  const update_cost cost(p, states);
  const running here(p.count->sink, "update_each");
  p.count->mesh = p.facts->mesh;
  p.count->compute(cost.flops, cost.moved);
}

template <class T, class Rule, class... S>
void update_tensor(const Rule& rule, tensor_core& p, const tensor_core& g, S&... s) {
  const update_cost cost(p, sizeof...(S));
  const running named(watcher, "update_each");
  const watched here(cost.flops, cost.moved);
  const in_space there(p.facts->space);
  own_memory(p.memory, p.bytes(), true);
  (own_memory(s.memory, s.bytes(), true), ...);
  const index_t n = p.elements();
  const T* const from = g.data<const T>();
  if constexpr (on_host && sizeof...(S) <= 2)
    local::in_ranges<local::default_space>(
        n,
        [&rule, from, to = p.data<T>(), ... state = s.template data<T>()](index_t i, index_t end) {
          update_loop(rule, end - i, to + i, from + i, (state + i)...);
        });
  else
    local::for_each(n, rule, p.data<T>(), from, s.template data<T>()...);
}

/// Updates the tensors of elements T among `count` of each list; rule_of(i) is the i-th one's rule.
/// Their places have been checked.
template <class T, class RuleOf, class... S>
void update_all(const RuleOf& rule_of, int count, tensor_core* const* p, tensor_core* const* g,
                S... s) {
  for (int i = 0; i < count; ++i) {
    if (p[i]->facts->kind != element_traits<T>::kind) continue;
    if (is_absent(*p[i]) || p[i]->away != 0) continue;
    if (p[i]->is_shape)
      foresee_update(*p[i], sizeof...(S));
    else
      update_tensor<T>(rule_of(i, p[i]->rank()), *p[i], *g[i], *s[i]...);
  }
}
template <class Leaves> struct values_of;
template <class... X> struct values_of<list<X...>> {
  using type = united<list<value_of<X>...>>;
};
template <class... T, class RuleOf, class To, class... List>
void update_each_kind(list<T...>, const RuleOf& rule_of, const To& to, const List&... lists) {
  require_places(to.at, to.size, {lists.at...});
  (update_all<T>(rule_of, to.size, static_cast<tensor_core* const*>(to.at),
                 static_cast<tensor_core* const*>(lists.at)...),
   ...);
}

/// Updates all tensors, the i-th one (of so many dims) by rule_of(i, rank); callers have asserted
/// that there is no fault.
template <class RuleOf, class P, class G, class... S>
void update_tensors_by(const RuleOf& rule_of, P& parameters, const G& gradients, S&... states) {
  if constexpr (assert_updated<update_fault<P, G>, P, G>()) {
    assert_described<P>();
    using values = typename values_of<typename leaves<P>::type>::type;
    const core_list<P> to(parameters);
#ifdef DIMESH_CHECKED  // (of shapes they find nothing to compare)
    require_replicas_in("an optimizer's step", "gradient", gradients);
    require_replicas_in("an optimizer's step", "parameter", parameters);
#endif
    update_each_kind(values{}, rule_of, to, core_list<P>(gradients), core_list<P>(states)...);
  }
}
/// The same rule for all.
template <class Rule> struct one_rule {
  Rule rule;
  const Rule& operator()(int, int) const { return rule; }
};
template <class Rule, class P, class G, class... S>
void update_tensors(const Rule& rule, P& parameters, const G& gradients, S&... states) {
  update_tensors_by(one_rule<Rule>{rule}, parameters, gradients, states...);
}

}  // namespace detail

/// Applies rule(p, g, s...) to every element of the parameters, their gradients and states: structs
/// of one form and of the same layouts. Parameters and states change in place; copies that share
/// their memory keep their values.
template <class Rule, class P, class G, class... S>
void update_each(const Rule& rule, P& parameters, const G& gradients, S&... states) {
  using fault = detail::update_fault<P, G>;
  static_assert(
      ok<only<fault, parameters_are_const>>,
      "update_each: the parameters are const, and change in place; pass them without const");
  static_assert(
      ok<only<fault, structs_differ>>,
      "update_each: parameters and gradients are structs of two forms; pass the gradients of "
      "these parameters");
  static_assert(ok<only<fault, gradient_not_complete>>,
                "update_each: a gradient is a sum yet to be made; pass complete(gradients)");
  static_assert(
      ok<only<fault, layouts_differ>>,
      "update_each: a parameter and its gradient have different layouts; relayout one of them");
  static_assert(ok<only<fault, lengths_differ>>,
                "update_each: the structs differ in the length of an array; pass structs of one "
                "form");
  if constexpr (ok<fault> && !is_poison<G>)
    detail::check_lengths<P>("update_each", parameters, gradients, states...);
  detail::update_tensors(rule, parameters, gradients, states...);
}

namespace detail {
/// Zeros that lie as the tensors of a list do.
void make_zeros_like(const tensor_core* const* from, tensor_core* const* to, int count);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void make_zeros_like(const tensor_core* const* from, tensor_core* const* to,
                                           int count) {
  for (int i = 0; i < count; ++i) {
    tensor_core& s = *to[i];
    if (is_absent(*from[i])) continue;
    s.place_like(*from[i]);
    if (s.is_shape) {
      s.count = from[i]->count;
      s.live = live_bytes(s.count, s.bytes());
      continue;
    }
    s.memory = s.fresh_memory();
    const in_space here(s.facts->space);
    zero_bytes(s.memory.data(), s.bytes());
  }
}
#endif
/// A struct like `parameters`, all zeros: where optimizers keep their state.
template <class P> P zeros_in_form_of(const P& parameters) {
  (void)sizeof(walked_form<P>);  // what cannot be walked says so, before anything else does
  P state = in_form_of<P>(parameters);
  const core_list<P> to(state), from(parameters);
  make_zeros_like(from.at, to.at, to.size);
  return state;
}
}  // namespace detail

}  // namespace dimesh
