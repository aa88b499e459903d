// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What keeps a function from having a gradient? Parameters without one, a value that is no
// recorded number, a function that does not take what is recorded. And a gradient from having a
// length: addends, halos.
//
//   parameters_of_fault<net<L>>      -> no_fault, or layout_not_first_argument<net<L>> ...
//   loss_fault<tracked_tensor<X>>::type  -> no_fault, or value_not_scalar<batch> ...
//   incomplete_fault<list<X>>::type  -> no_fault, or gradient_not_complete<rows>
#pragma once

#include "dimesh/core/tracked.hpp"
#include "dimesh/core/user_function.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::detail {

template <class X> struct loss_fault {
  static constexpr auto find() {
    if constexpr (is_poison<X>)
      return tag<no_fault>{};
    else if constexpr (!is_tracked<X> && kept_plain_is_said<X>())
      return tag<no_fault>{};
    else if constexpr (!Tensor<X> && !std::is_arithmetic_v<X>)
      return tag<function_gives_no_tensor<X>>{};
    else if constexpr (!is_tracked<X>)
      return tag<result_not_recorded<X>>{};
    else if constexpr (is_complex<value_of<X>>)
      return tag<element_not_differentiable<value_of<X>>>{};
    else if constexpr (X::rank > 0)
      return dims_of(typename spec_of<X>::dims{});
    else
      return tag<no_fault>{};
  }
  template <class... D> static constexpr auto dims_of(list<D...>) {
    return tag<value_not_scalar<D...>>{};
  }
  using type = typename decltype(find())::type;
};
template <> struct loss_fault<void> {
  using type = function_gives_no_tensor<void>;
};
template <> struct loss_fault<not_called> {
  using type = no_fault;
};

/// The first parameter whose elements are no real or complex numbers.
template <class Leaves> struct parameters_fault {
  using type = no_fault;
};
template <class X, class... Rest>
struct parameters_fault<list<X, Rest...>> : parameters_fault<list<Rest...>> {};
template <class X, class... Rest>
  requires(!has_gradient<value_of<X>>)
struct parameters_fault<list<X, Rest...>> {
  using type = element_not_differentiable<value_of<X>>;
};

/// A function does not take recorded arguments, or makes plain tensors of them first.
template <class Y, class F>
inline constexpr bool is_refused =
    std::is_same_v<Y, not_called> ||
    (takes_one_type<F> && !is_tracked<Y> && !is_poison<Y> && !std::is_void_v<Y>);
/// Why a function is not run that gives Given on plain parameters, or else on recorded ones, and
/// Loss on those that it would be run on.
template <class Given, class Loss, class F, class Plain, class Recorded> struct refusal_of {
  using type = std::conditional_t<is_refused<Loss, F>, function_takes_plain_only<F>, no_fault>;
};
template <class Loss, class F, class Plain, class Recorded>
struct refusal_of<not_called, Loss, F, Plain, Recorded> : no_recorded_call<F, Plain, Recorded> {};
/// What is wrong with the value of a function of recorded arguments.
template <class Y, class F> struct reached_fault {
  using type = std::conditional_t<is_tracked<Y> || is_poison<Y> || is_refused<Y, F> ||
                                      kept_plain_is_said<Y>(),
                                  no_fault, result_not_recorded<Y>>;
};
template <class F> struct reached_fault<void, F> {
  using type = function_gives_no_tensor<void>;
};

/// What may be a function, and what its arguments.
template <class F>
inline constexpr bool is_function_object = !Operand<F> && !std::is_function_v<F> && !is_walkable<F>;
/// What a function template's name becomes, and nothing else does: with parameters P it stands for
/// one function, of inputs that say nothing.
template <class P> struct named_template {
  named_template(poison (*)(const P&));
  named_template(poison (*)(const P&, const poison&));
  named_template(poison (*)(const P&, const poison&, const poison&));
};
template <class P> inline constexpr bool has_tensors = Operand<P> || is_walkable<P>;

/// What is wrong with parameters: members that walks would pass by, elements without gradients.
template <class P>
using differentiable_fault =
    typename first_of<typename walk_fault<P>::type,
                      typename parameters_fault<typename leaves<P>::type>::type>::type;

/// All tensors of a struct become recorded with it.
template <class Leaves> inline constexpr bool all_recorded = false;
template <class... X>
inline constexpr bool all_recorded<list<X...>> = ((is_tracked<X> || is_poison<X>) && ...);
/// Numbers, or arrays of numbers. A struct without tensors may be, where what else the function
/// gives is recorded by another tape.
template <class P>
inline constexpr bool is_without_tensors = !Operand<P> && !is_described<P> && !std::is_empty_v<P> &&
                                           std::is_same_v<typename leaves<P>::type, list<>>;
template <class P, class Fault> struct recording_fault {
  using type = Fault;
};
template <class P> struct recording_fault<P, no_fault> {
  using type = std::conditional_t<all_recorded<typename leaves<rebind_layout<P, tracked>>::type>,
                                  no_fault, layout_not_first_argument<P>>;
};
template <class P>
  requires is_without_tensors<P>
struct recording_fault<P, no_fault> {
  using type = not_a_tensor<P>;
};
/// The same, parameters that are no tensors, and a struct whose tensors do not follow its layout.
template <class P>
using parameters_of_fault = typename recording_fault<P, differentiable_fault<P>>::type;

/// The first axis along which a tensor of the struct is a sum yet to be made.
template <class Leaves> struct incomplete_fault {
  using type = no_fault;
};
template <class X, class... Rest>
struct incomplete_fault<list<X, Rest...>> : incomplete_fault<list<Rest...>> {};
template <class X, class... Rest>
  requires(spec_of<X>::table.any_partial())
struct incomplete_fault<list<X, Rest...>> {
  static constexpr int axis = spec_of<X>::table.first_partial();
  using type = gradient_not_complete<type_at<axis, typename X::mesh_type::axes>>;
};

/// The first dim along which a tensor of the struct carries a halo: squares would count twice.
template <class Leaves> struct haloed_fault {
  using type = no_fault;
};
template <class X, class... Rest>
struct haloed_fault<list<X, Rest...>> : haloed_fault<list<Rest...>> {};
template <class X, class... Rest>
  requires(spec_of<X>::table.first_haloed() >= 0)
struct haloed_fault<list<X, Rest...>> {
  using type = dim_has_halo<type_at<spec_of<X>::table.first_haloed(), typename spec_of<X>::dims>>;
};

}  // namespace dimesh::detail
