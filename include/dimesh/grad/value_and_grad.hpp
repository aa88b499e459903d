// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the gradient of a function with respect to a struct of parameters? The function runs once
// on recorded parameters and its tape runs backwards. The gradient's layouts follow from the
// parameters': where a parameter is replicated, its gradient is partial, and the user completes it
// (complete.hpp).
//
//   auto [loss, g] = value_and_grad(f, params)(x, y);              // network<L> ->
//                                                                  network<gradient<L>>
//   auto [loss, g] = complete(value_and_grad(f, params)(x, y));    // both whole, summed in one
//                                                                  message
//   value_and_grad(f, params).value(x, y)    -> f(params, x, y), by the same compiled functions
//
// On the timeline (timeline.hpp), the two ways are spans "forward" and "backward".
//
// The loss is a tensor without dims. It need not be completed: addends are seeded with 1
// everywhere; a replicated loss with 1 on every rank, noted to be counted once.
#pragma once

#include "dimesh/core/any_argument.hpp"
#include "dimesh/core/tracked.hpp"
#include "dimesh/core/user_function.hpp"
#include "dimesh/grad/gradient_faults.hpp"
#include "dimesh/grad/recorded_run.hpp"
#include "dimesh/ledger/timeline.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

/// What value_and_grad returns.
template <class Value, class Gradient>
struct [[nodiscard("gradients change no parameter; an optimizer does")]] value_and_gradient {
  Value value;  ///< the loss: a tensor without dims, partial or replicated as f left it
  Gradient
      gradient;  ///< of each parameter, partial where the parameter is replicated; of a complex
  ///< x + iy: dL/dx + i dL/dy
};
// Of a function that was wrong: dropping it is no second mistake.
template <class Gradient> struct value_and_gradient<poison, Gradient> {
  poison value;
  Gradient gradient;
};
// Of a call that was wrong; what is called with it is passed by.
template <> struct value_and_gradient<poison, poison> {
  poison value, gradient;
  template <class... X> constexpr value_and_gradient operator()(const X&...) const { return {}; }
};

namespace detail {

template <class V, class G> inline constexpr bool has_several<value_and_gradient<V, G>> = true;

/// In place of the function that faulty parameters have not, and of what it would give, since that
/// is what who gives the inputs beside the parameters takes it for.
struct poisoned_function : value_and_gradient<poison, poison> {
  template <class... In>
  constexpr value_and_gradient<poison, poison> operator()(const In&...) const {
    return {};
  }
};

/// A tensor of these is malformed, which its type has said.
template <class Leaves> inline constexpr bool any_malformed = false;
template <class... X> inline constexpr bool any_malformed<list<X...>> = (is_poison<X> || ...);

template <class F, class P>
class [[nodiscard("nothing was computed yet; call it with the inputs")]] gradient_of {
 protected:
  using variables = rebind_layout<P, tracked>;
  using gradients = rebind_layout<P, gradient>;
  using nothing = value_and_gradient<poison, gradients>;

  /// What f gives; where it takes no plain parameters, it may be written for recorded ones.
  template <class First, class... In> struct given_to {
    using type = First;
  };
  template <class... In> struct given_to<not_called, In...> {
    using type = decltype(ask<F>()(std::declval<const variables&>(), std::declval<const In&>()...));
  };

 public:
  constexpr gradient_of(const F& f, const P& of) : f_(f), parameters_(&of) {}

  template <class... In> constexpr auto operator()(const In&... in) const {
    // A mistake in f shows on plain parameters first: one error, also where f is called on them
    // elsewhere.
    using tried = std::conditional_t<takes_one_type<F>, variables, P>;
    using first = decltype(ask<F>()(std::declval<const tried&>(), in...));
    using given = typename given_to<first, In...>::type;
    if constexpr (any_malformed<typename leaves<P>::type> || is_poison<given> ||
                  is_broken<first, F, tried, In...>) {
      return nothing{};
    } else {
      constexpr bool as_first = std::is_void_v<given> && !std::is_same_v<first, not_called>;
      using asked_with = std::conditional_t<as_first, tried, variables>;
      using Loss = decltype(ask<F>()(std::declval<const asked_with&>(), in...));
      using fault =
          std::conditional_t<is_refused<Loss, F>, no_fault, typename loss_fault<Loss>::type>;
      using refusal = typename refusal_of<given, Loss, F, list<P, In...>, list<tried, In...>>::type;
      static_assert(ok<only<refusal, function_not_callable_with>>,
                    "value_and_grad: the function cannot be called with the parameters and these "
                    "inputs; give it one parameter for each of them, const auto&");
      static_assert(ok<only<refusal, function_not_const, parameter_not_const>>,
                    "value_and_grad: the function changes itself or what it is given; take const "
                    "auto&, and let operator() be const");
      static_assert(ok<only<refusal, function_takes_plain_only>>,
                    "value_and_grad: the function takes plain tensors, and gets recorded ones; "
                    "take const auto&, or be a template of the parameters' layout");
      static_assert(ok<only<fault, function_gives_no_tensor>>,
                    "value_and_grad: the function returns nothing, or more than the loss; return "
                    "the loss alone");
      static_assert(
          ok<only<fault, result_not_recorded>>,
          "value_and_grad: no parameter reaches the value of the function; compute it from "
          "the parameters");
      static_assert(ok<only<fault, element_not_differentiable>>,
                    "value_and_grad: the function's value is complex; take its real part or its "
                    "norm2");
      static_assert(ok<only<fault, value_not_scalar>>,
                    "value_and_grad: the function's value has dims; sum or average them first");
      if constexpr (!ok<refusal> || !ok<fault> || !is_tracked<Loss>)
        return nothing{};
      else
        return run(nobody<Loss>{}, in...);
    }
  }

  /// f(parameters, inputs...) alone: nothing is kept for a way back. What was compiled for the
  /// gradient runs, where a call of f itself is compiled anew for plain tensors.
  template <class... In> [[nodiscard]] constexpr auto value(const In&... in) const {
    using tried = std::conditional_t<takes_one_type<F>, variables, P>;
    using first = decltype(ask<F>()(std::declval<const tried&>(), in...));
    using given = typename given_to<first, In...>::type;
    if constexpr (any_malformed<typename leaves<P>::type> || is_poison<given> ||
                  is_broken<first, F, tried, In...>) {
      return poison{};
    } else {
      using recorded = decltype(ask<F>()(std::declval<const variables&>(), in...));
      using refusal =
          typename refusal_of<given, recorded, F, list<P, In...>, list<tried, In...>>::type;
      static_assert(ok<only<refusal, function_not_callable_with>>,
                    "value_and_grad: the function cannot be called with the parameters and these "
                    "inputs; give it one parameter for each of them, const auto&");
      static_assert(ok<only<refusal, function_not_const, parameter_not_const>>,
                    "value_and_grad: the function changes itself or what it is given; take const "
                    "auto&, and let operator() be const");
      static_assert(ok<only<refusal, function_takes_plain_only>>,
                    "value_and_grad: the function takes plain tensors, and gets recorded ones; "
                    "take const auto&, or be a template of the parameters' layout");
      static_assert(Operand<recorded> || !ok<refusal>,
                    "value_and_grad: the function returns nothing, or more than the loss; return "
                    "the loss alone");
      if constexpr (!ok<refusal> || !Tensor<recorded>)
        return poison{};
      else
        return value_alone<recorded>(in...);
    }
  }

 protected:
  /// Is told when the way back begins, and has ended. Where g++ does not know the loss, because the
  /// function does not compile, it does not know this type, and so does not run the function, which
  /// would say the same again.
  template <class Loss> struct nobody {
    constexpr void begin(const auto&...) const {}
    constexpr void end() const {}
  };
  template <class Listener, class... In>
  constexpr auto run(const Listener& listener, const In&... in) const {
    recorded_run r;
    variables vars = in_place_of<variables>(*parameters_);
    const storage behind = r.open<P>(vars, *parameters_);
    trace_span forward("forward");
    auto loss = f_(static_cast<const variables&>(vars), in...);
    forward.end();
    const trace_span here("backward");
    value_and_gradient<decltype(loss.value()), gradients> out{loss.value(),
                                                              in_form_of<gradients>(*parameters_)};
    if (!std::is_constant_evaluated()) move_beside(core_of(out.value), behind);
    listener.begin(r, vars, out.value, behind);
    if (r.begin_at(core_of(loss), "value_and_grad")) r.seed(seed_of(core_of(loss)));
    r.backward();
    listener.end();
    r.collect<P>("value_and_grad", out.gradient, vars);
    return out;
  }

  /// What f gives of parameters that have the types of variables, and are on no tape of their own.
  template <class Y, class... In> constexpr auto value_alone(const In&... in) const {
    variables vars = in_place_of<variables>(*parameters_);
    const core_list<P> to(vars);
    take_unrecorded(core_list<P>(*parameters_).at, to.at, to.size);
    const Y y = f_(static_cast<const variables&>(vars), in...);
    if constexpr (is_tracked<Y>)
      return decltype(y.value())(core_of(y));  // with its record: of a tape around this one
    else
      return y;
  }

  F f_;
  const P* parameters_;
};

/// The same with parameters of its own: those given were a temporary.
template <class F, class P>
class [[nodiscard("nothing was computed yet; call it with the inputs")]] gradient_of_own {
 public:
  template <class Q>
  constexpr gradient_of_own(const F& f, Q&& parameters)
      : f_(f), own_(std::forward<Q>(parameters)) {}
  template <class... In> constexpr auto operator()(const In&... in) const {
    return gradient_of<F, P>(f_, own_)(in...);
  }
  template <class... In> [[nodiscard]] constexpr auto value(const In&... in) const {
    return gradient_of<F, P>(f_, own_).value(in...);
  }

 private:
  F f_;
  P own_;
};

}  // namespace detail

/// A function of the inputs that gives f(parameters, inputs...) and its gradient with respect to
/// the parameters: a struct of tensors (see walk.hpp), or one tensor. `parameters` is read
/// at each call and must outlive the returned function. f gets the struct with its layout
/// `tracked`. Its .value(inputs...) gives f(parameters, inputs...) alone, whatever dims that has.
template <class F, class P>
  requires detail::is_function_object<F>
constexpr auto value_and_grad(const F& f, const P& parameters) {
  using fault = detail::parameters_of_fault<P>;
  (void)sizeof(detail::walk_says<fault>);
  static_assert(ok<only<fault, layout_not_first_argument>>,
                "value_and_grad: a tensor of the struct does not follow the struct's layout; write "
                "template <class L> struct network, L first, of tensor<float, L, dims...>");
  static_assert(ok<only<fault, not_a_tensor>>,
                "value_and_grad: parameters are tensors and structs of them, and these hold none; "
                "make a number a tensor without dims");
  static_assert(ok<only<fault, element_not_differentiable>>,
                "value_and_grad: a parameter's elements are no real numbers; use float or double");
  if constexpr (ok<fault>)
    return detail::gradient_of<F, P>(f, parameters);
  else
    return detail::poisoned_function{};
}

/// The same of parameters that nothing else holds: the function keeps them.
template <class F, class P>
  requires(!std::is_lvalue_reference_v<P> && detail::is_function_object<F>)
constexpr auto value_and_grad(const F& f, P&& parameters) {
  using own = std::remove_const_t<P>;
  using fault = detail::parameters_of_fault<own>;
  static_assert(ok<only<fault, member_not_described, member_not_walked>>,
                "value_and_grad: the parameters have a member that is no tensor, or that is not "
                "described; describe all members by BOOST_HANA_DEFINE_STRUCT");
  static_assert(ok<only<fault, layout_not_first_argument>>,
                "value_and_grad: a tensor of the struct does not follow the struct's layout; write "
                "template <class L> struct network, L first, of tensor<float, L, dims...>");
  static_assert(ok<only<fault, not_a_tensor>>,
                "value_and_grad: parameters are tensors and structs of them, and these hold none; "
                "make a number a tensor without dims");
  static_assert(ok<only<fault, element_not_differentiable>>,
                "value_and_grad: a parameter's elements are no real numbers; use float or double");
  if constexpr (ok<fault>)
    return detail::gradient_of_own<F, own>(f, std::forward<P>(parameters));
  else
    return detail::poisoned_function{};
}

/// What it says to other arguments.
template <class... A>
  requires(sizeof...(A) != 2)
constexpr auto value_and_grad(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "value_and_grad: it takes a function and its parameters; what it returns takes the "
                "inputs: value_and_grad(f, params)(x, y)");
  return detail::poisoned_function{};
}
template <class P>
constexpr auto value_and_grad(detail::named_template<std::type_identity_t<P>>, const P&) {
  static_assert(ok<function_not_an_object<poison(const P&)>>,
                "value_and_grad: a function template's name is no object; write a function object: "
                "[](const auto& p, const auto& x) { ... }");
  return detail::poisoned_function{};
}
template <class F, class P>
  requires(!detail::is_function_object<F>)
constexpr auto value_and_grad(const F&, const P&) {
  static_assert(!std::is_function_v<F>,
                "value_and_grad: a function has one type for each parameter, and gets recorded "
                "tensors; write a function object: [](const auto& p, const auto& x) { ... }");
  static_assert(ok<std::conditional_t<std::is_function_v<F>, no_fault, wrong_arguments<F, P>>>,
                "value_and_grad: the function comes first, then its parameters; the inputs go to "
                "what it returns: value_and_grad(f, params)(x, y)");
  return detail::poisoned_function{};
}

}  // namespace dimesh
