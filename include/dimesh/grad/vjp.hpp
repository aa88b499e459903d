// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one hold a backward pass in one's hands? vjp runs a function once and keeps its tape;
// called with a cotangent of the value, the pullback gives those of the arguments: the product of a
// vector and the Jacobian. Several may be kept, and used in any order.
//
//   auto [y, back] = vjp(f, params, x);      // y = f(params, x)
//   auto [pbar, xbar] = back(ybar);          // network<gradient<L>>, and the gradient of x
//   auto [z, on] = vjp(f, x);  xbar = on(zbar);   // of one argument: itself, not a tuple
//
// value_and_grad (value_and_grad.hpp) is the same in one call, of a loss.
#pragma once

#include <memory>
#include <tuple>

#include "dimesh/core/any_argument.hpp"
#include "dimesh/core/match_value.hpp"
#include "dimesh/grad/value_and_grad.hpp"

namespace dimesh {

/// What vjp returns.
template <class Y, class Pullback> struct [[nodiscard]] value_and_pullback {
  Y value;  ///< f(x...): a tensor
  Pullback pullback;  ///< from a cotangent of the value to those of x..., once
};

namespace detail {

template <class Y, class P> inline constexpr bool has_several<value_and_pullback<Y, P>> = true;

/// What is wrong with the cotangent that a pullback is given.
template <class Y, class YBar> struct cotangent_fault {
  using type = std::conditional_t<
      std::is_same_v<plain<YBar>, bar_of_type<plain<Y>>>, no_fault,
      layouts_differ<typename YBar::layout_type, typename bar_of_type<Y>::layout_type>>;
};
template <class Y, class YBar>
  requires(is_poison<Y> || is_poison<YBar>)
struct cotangent_fault<Y, YBar> {
  using type = no_fault;
};

/// One run of a function of X... with the value Y, waiting to go backwards. Owns its tape.
template <class Y, class... X> class vjp_pullback {
  using gradients = std::tuple<rebind_layout<X, gradient>...>;

 public:
  template <class F>
  vjp_pullback(const F& f, Y& value, const X&... x) : run_(std::make_unique<recorded_run>()) {
    std::apply([&](auto&... v) { (open(v, x), ...); }, variables_);
    const trace_span forward("forward");
    const auto y = std::apply([&f](const auto&... v) { return f(v...); }, variables_);
    run_->begin_at(core_of(y), "vjp");
    value = y.value();
    like_ = core_of(y);
    like_.forget_data();
    like_.record = nullptr;
  }

  /// Called with a number, with nothing, or with several tensors.
  template <class... A>
    requires(!(sizeof...(A) == 1 && (Operand<A> && ...)))
  poison operator()(const A&...) {
    static_assert(ok<wrong_arguments<A...>>,
                  "vjp: the pullback takes one cotangent, a tensor like the function's value: "
                  "back(ybar); of a value without dims value_and_grad gives the gradient");
    return {};
  }

  /// Of one that is const.
  template <class... A> poison operator()(const A&...) const {
    static_assert(ok<wrong_arguments<A...>>,
                  "vjp: a call uses the pullback up, and this one is const; take it with auto [y, "
                  "back] = vjp(f, x), and let a lambda that holds it be mutable");
    return {};
  }

  /// The cotangents of the arguments: a tuple of them, or the one. Layouts and structs are those of
  /// the arguments with `gradient` around the layout. Throws dimesh::error if it was called before,
  /// if it was made inside another gradient that is over, or if the cotangent has other extents
  /// than the value, or lives on another grid.
  template <Operand YBar> auto operator()(const YBar& ybar) {
    using fault = typename cotangent_fault<Y, YBar>::type;
    static_assert(ok<fault>,
                  "vjp: the pullback's argument is no cotangent of the value: it has another "
                  "layout; relayout it to that of the value's gradient");
    if (run_ == nullptr)
      (words() << "vjp: the pullback was called before; a tape runs backwards once: call vjp again")
          .raise();
    if (run_->nodes.is_orphan())
      (words()
       << "vjp: the value_and_grad (or vjp) around this pullback is over, and its tape with "
          "what the pullback adds to; call the pullback inside the function that made it")
          .raise();
    if constexpr (is_probe<YBar>)
      if (core_of(ybar).layout() != like_.facts->dual->layout)
        (words() << "vjp: the pullback's argument is no cotangent of the value: it has another "
                    "layout; relayout it to that of the value's gradient")
            .raise();
    const trace_span here("backward");
    gradients out{};
    if constexpr (ok<fault> && !is_poison<YBar>) {
      match_value({"vjp", "the cotangent", "the function's value"}, core_of(ybar), like_);
      // Whatever happens from here on, nothing of this run is kept.
      const std::unique_ptr<recorded_run> r = std::move(run_);
      auto variables = std::move(variables_);
      if (r->is_reached()) r->seed(core_of(ybar));
      r->backward();
      std::apply([&](auto&... g) { collect(*r, variables, g...); }, out);
    }
    if constexpr (sizeof...(X) == 1)
      return std::move(std::get<0>(out));
    else
      return out;
  }

 private:
  template <class V, class A> void open(V& variable, const A& argument) {
    variable = in_place_of<V>(argument);
    run_->template open<A>(variable, argument);
  }
  template <class... G> static void collect(recorded_run& r, auto& variables, G&... gradient) {
    const auto one = [&r](auto& v, auto& g) {
      using form = std::remove_cvref_t<decltype(g)>;
      g = in_form_of<form>(v);
      r.collect<form>("vjp", g, v);
    };
    std::apply([&](auto&... v) { (one(v, gradient), ...); }, variables);
  }

  std::unique_ptr<recorded_run> run_;  // in one place, however the pullback moves
  std::tuple<rebind_layout<X, tracked>...> variables_{};
  tensor_core like_;  // the value, without its elements
};

template <class... A> inline constexpr bool takes_vjp = false;
template <class F, class... X>
inline constexpr bool takes_vjp<F, X...> = sizeof...(X) > 0 && is_function_object<F> &&
                                           (has_tensors<X> && ...);

/// In place of the pullback of a function that is at fault.
struct poisoned_pullback {
  template <class YBar> poison operator()(const YBar&) const { return {}; }
};

/// Says why f is not called with recorded arguments X....
template <class F, class... X> constexpr void refuse_vjp() {
  using fault = typename no_recorded_call<F, list<X...>, list<rebind_layout<X, tracked>...>>::type;
  static_assert(ok<only<fault, function_not_callable_with>>,
                "vjp: the function cannot be called with these arguments; give it one parameter "
                "for each of them, const auto&");
  static_assert(ok<only<fault, function_not_const, parameter_not_const>>,
                "vjp: the function changes itself or what it is given; take const auto&, and let "
                "operator() be const");
  static_assert(ok<only<fault, function_takes_plain_only>>,
                "vjp: the function takes plain tensors, and gets recorded ones; take const auto&, "
                "or be a template of the arguments' layouts");
}

/// The first argument's fault: elements without gradients.
template <class... X>
using arguments_fault = typename parameters_fault<
    typename concat_impl<list<>, typename leaves<X>::type...>::type>::type;

}  // namespace detail

/// f(x...) and its pullback. x: tensors or structs of tensors, of real numbers; f gets them with
/// the layout `tracked` and returns a tensor. What else f needs, it captures. Communicates what f
/// communicates; the pullback what f's operations do backwards.
template <class F, class... X>
  requires(sizeof...(X) > 0 && detail::is_function_object<F> && (detail::has_tensors<X> && ...))
auto vjp(const F& f, const X&... x) {
  using fault = detail::arguments_fault<X...>;
  static_assert(ok<only<fault, element_not_differentiable>>,
                "vjp: an argument's elements are no real numbers; let the function capture it");
  if constexpr (!ok<fault>) {
    return value_and_pullback<poison, detail::poisoned_pullback>{};
  } else {
    using Y = decltype(detail::ask<F>()(std::declval<const rebind_layout<X, tracked>&>()...));
    using reached = typename detail::reached_fault<Y, F>::type;
    static_assert(ok<only<reached, function_gives_no_tensor>>,
                  "vjp: the function returns nothing; return a tensor");
    static_assert(ok<only<reached, result_not_recorded>>,
                  "vjp: no argument reaches the value of the function; compute it from them");
    if constexpr (detail::is_refused<Y, F>) detail::refuse_vjp<F, X...>();
    if constexpr (!detail::is_tracked<Y>) {
      return value_and_pullback<poison, detail::poisoned_pullback>{};
    } else {
      using V = decltype(std::declval<const Y&>().value());  // recorded by a tape around this one?
      V value{};
      detail::vjp_pullback<V, X...> pullback(f, value, x...);
      return value_and_pullback<V, detail::vjp_pullback<V, X...>>{std::move(value),
                                                                  std::move(pullback)};
    }
  }
}

/// What it says to other arguments.
template <class... A>
  requires(!detail::takes_vjp<A...>)
value_and_pullback<poison, detail::poisoned_pullback> vjp(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "vjp: the function comes first, then its arguments, tensors or structs of them: "
                "vjp(f, params, x)");
  return {};
}

}  // namespace dimesh
