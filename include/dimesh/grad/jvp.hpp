// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a function's value move when its arguments do? jvp gives the value and its tangent: the
// product of the Jacobian and a vector. A tangent has the layout of what it belongs to.
//
//   auto [y, dy] = jvp(f, x, dx);              // dx like x, dy like y
//   auto [y, dy] = jvp(f, p, x, dp, dx);       // arguments first, then a tangent for each
//
// A pullback is linear in the cotangent that it is given, and its transpose is the Jacobian: the
// way back is recorded and run backwards itself. So whatever gradients of gradients pass through
// has tangents, under every layout, and no operation has rules for them (Radul et al. 2022, "You
// Only Linearize Once", go the other way). It costs about what a gradient of a gradient does.
#pragma once

#include "dimesh/core/any_argument.hpp"
#include "dimesh/core/match_value.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/vjp.hpp"

namespace dimesh {

/// What jvp returns.
template <class Y> struct [[nodiscard]] value_and_tangent {
  Y value;    ///< f(x...): a tensor
  Y tangent;  ///< how fast it moves where x... move with the tangents given
};

namespace detail {

template <class Y> inline constexpr bool has_several<value_and_tangent<Y>> = true;

/// Recorded by type on two tapes: so the transposes of its operations have transposes.
template <class X> using twice_tracked = rebind_layout<rebind_layout<X, tracked>, tracked>;

/// The cotangents of variables, which are recorded: each gets a tangent as its own cotangent.
/// Throws dimesh::error where a tangent has other extents than its variable.
constexpr void seed_tangents(const tensor_core* const* variables,
                             const tensor_core* const* tangents, int count) {
  for (int i = 0; i < count; ++i) {
    const cell& c = *variables[i]->record;
    if (!c.filled || c.bar.record == nullptr) continue;
    match_value({"jvp", "a tangent", "its argument"}, *tangents[i], *variables[i]);
    tensor_core tangent(*tangents[i]);
    tangent.facts = c.bar.facts->dual;
    tangent.record = nullptr;
    c.bar.record->add(std::move(tangent));
  }
}

/// X...: the arguments; V...: their tangents, of the same types.
template <class F, class... X> class jvp_run {
 public:
  template <class Y>
  static constexpr value_and_tangent<Y> run(const F& f, const X&... x, const X&... dx) {
    (check_lengths<X>("jvp", x, dx), ...);
    tape outer;
    recorded_run inner;
    inner.nodes.level = 2;
    std::tuple<twice_tracked<X>...> variables{};
    each([&inner](auto& v, const auto& one) { open(inner, v, one); }, variables, x...);
    const auto y = std::apply([&f](const auto&... v) { return f(v...); }, variables);
    const bool is_reached = inner.begin_at(core_of(y), "jvp");
    value_and_tangent<Y> out{Y(core_of(y)), {}};
    core_of(out.value).record = nullptr;

    auto* const q = outer.add<variable_node>();
    q->on = &outer;
    tensor_core ybar(core_of(y).facts->dual);
    zero_cotangent(ybar, core_of(y));
    ybar.record = q;
    if (is_reached) {
      inner.seed(ybar);
      inner.backward();
      each([](const auto& v, const auto& one) { seed(v, one); }, variables, dx...);
      outer.backward(q);
    }
    collect_gradient(core_of(out.tangent), ybar);
    return out;
  }

 private:
  template <class G, class V> static constexpr void each(const G& g, V& variables, const X&... x) {
    std::apply([&](auto&... v) { (g(v, x), ...); }, variables);
  }
  template <class V, class A>
  static constexpr void open(recorded_run& r, V& variables, const A& x) {
    variables = in_place_of<V>(x);
    const core_list<A> from(x), to(variables);
    r.open(from.at, to.at, to.size, gradients_lie::anywhere);
    sum_where_recorded(variables);
  }
  template <class V, class A> static constexpr void seed(const V& variables, const A& tangents) {
    const core_list<A> to(variables), from(tangents);
    seed_tangents(to.at, from.at, to.size);
  }
};

/// The first difference between the tensors of two lists: of arguments, and of their tangents.
template <class Xs, class Vs> struct tangent_fault {
  using type = no_fault;
};
template <class X, class... Xs, class V, class... Vs>
struct tangent_fault<list<X, Xs...>, list<V, Vs...>> {
  static constexpr auto find() {
    if constexpr (std::is_same_v<X, V>)
      return tag<typename tangent_fault<list<Xs...>, list<Vs...>>::type>{};
    else if constexpr (std::is_same_v<value_of<X>, value_of<V>>)
      return tag<layouts_differ<typename X::layout_type, typename V::layout_type>>{};
    else
      return tag<elements_differ<value_of<X>, value_of<V>>>{};
  }
  using type = typename decltype(find())::type;
};
template <class List> struct all_leaves;
template <class... X> struct all_leaves<list<X...>> {
  using type = typename concat_impl<list<>, typename leaves<X>::type...>::type;
};

/// The first half of a pack, and the second, as lists; with elements 0, 1, ... of a half.
template <class Half, class... A> struct halves;
template <std::size_t... I, class... A> struct halves<std::index_sequence<I...>, A...> {
  using arguments = list<type_at<I, list<A...>>...>;
  using tangents = list<type_at<I + sizeof...(I), list<A...>>...>;
  using x = typename all_leaves<arguments>::type;
  using v = typename all_leaves<tangents>::type;
  using fault = typename parameters_fault<x>::type;
  using difference = typename tangent_fault<x, v>::type;
  static constexpr bool recorded = holds_recorded<x> || holds_recorded<v>;
  static constexpr bool alike = std::is_same_v<arguments, tangents>;

  template <class F>
  using result_of =
      decltype(ask<F>()(std::declval<const twice_tracked<type_at<I, list<A...>>>&>()...));
  template <class F>
  using no_call_fault =
      typename no_recorded_call<F, arguments, list<twice_tracked<type_at<I, list<A...>>>...>>::type;
  template <class Y, class F>
  static constexpr auto run(const F& f, const std::tuple<const A&...>& a) {
    return jvp_run<F, type_at<I, list<A...>>...>::template run<Y>(f, std::get<I>(a)...,
                                                                  std::get<I + sizeof...(I)>(a)...);
  }
};
using no_tangent = value_and_tangent<poison>;

/// Says why f is not called.
template <class Fault> constexpr no_tangent refuse_jvp() {
  static_assert(ok<only<Fault, function_not_callable_with>>,
                "jvp: the function cannot be called with the first half of the arguments; give it "
                "one parameter for each of them, const auto&");
  static_assert(ok<only<Fault, function_not_const, parameter_not_const>>,
                "jvp: the function changes itself or what it is given; take const auto&, and let "
                "operator() be const");
  static_assert(ok<only<Fault, function_takes_plain_only>>,
                "jvp: the function takes plain tensors, and gets recorded ones; take const auto&, "
                "or be a template of the arguments' layouts");
  return {};
}

}  // namespace detail

/// f(x...) and its tangent where x... move by v...: all arguments first, then a tangent of the
/// same type for each. x: tensors or structs of tensors, of real numbers; f gets them recorded and
/// returns a tensor. What else f needs, it captures. Communicates what f communicates, and what its
/// transposes do, there and back. Throws dimesh::error where an operation's transpose has no
/// transpose (fused norms, attention), and where a tangent has other extents than its argument.
template <class F, class... A>
  requires(sizeof...(A) > 0 && sizeof...(A) % 2 == 0 && detail::is_function_object<F>)
constexpr auto jvp(const F& f, const A&... x_then_v) {
  using given = detail::halves<std::make_index_sequence<sizeof...(A) / 2>, A...>;
  static_assert(ok<only<typename given::fault, element_not_differentiable>>,
                "jvp: an argument's elements are no real numbers; let the function capture it");
  static_assert(ok<only<typename given::difference, layouts_differ>>,
                "jvp: a tangent has another layout than its argument; relayout it");
  static_assert(ok<only<typename given::difference, elements_differ>>,
                "jvp: a tangent has other elements than its argument; cast it");
  static_assert(!given::recorded,
                "jvp: an argument is recorded; gradients of tangents are not supported: take the "
                "tangent outside, or of stop_gradient");
  if constexpr (!ok<typename given::fault> || !given::alike || given::recorded) {
    return detail::no_tangent{};
  } else {
    using Y = typename given::template result_of<F>;
    using reached = typename detail::reached_fault<Y, F>::type;
    static_assert(ok<only<reached, function_gives_no_tensor>>,
                  "jvp: the function returns nothing; return a tensor");
    static_assert(ok<only<reached, result_not_recorded>>,
                  "jvp: no argument reaches the value of the function; compute it from them");
    if constexpr (detail::is_refused<Y, F>)
      return detail::refuse_jvp<typename given::template no_call_fault<F>>();
    else if constexpr (!detail::is_tracked<Y>)
      return detail::no_tangent{};
    else
      return given::template run<detail::plain<Y>>(f, std::tie(x_then_v...));
  }
}

/// What it says to other arguments.
template <class F, class... A>
  requires(sizeof...(A) % 2 == 1 || !detail::is_function_object<F>)
constexpr auto jvp(const F&, const A&...) {
  static_assert(ok<wrong_arguments<F, A...>>,
                "jvp: the function comes first, then all its arguments, then a tangent for each: "
                "jvp(f, x, y, dx, dy)");
  return detail::no_tangent{};
}

}  // namespace dimesh
