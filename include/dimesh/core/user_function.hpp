// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Can a function of the user's be called as an operation calls it, and does it return what the
// operation needs? Asked where the user's call is, before anything else is made of the function.
//
//   call_fault<F, float, float>       -> no_fault, or function_not_callable_with<float, float>
//   number_fault<F, float>            -> no_fault, or function_gives_no_number<...>
#pragma once

#include <type_traits>
#include <utility>

#include "dimesh/tensor.hpp"

namespace dimesh::detail {

/// f(a...) is an expression. By itself: what a mistake in f says would be longer by the way through
/// std::is_invocable.
template <class F, class... A>
inline constexpr bool calls = requires { std::declval<F>()(std::declval<A>()...); };

/// Why a call of a function that is not called so is none: what is wrong with the function's
/// const, with its parameters' const, or else with their number and types.
template <class F, class... A> struct no_call {
  static constexpr auto find() {
    if constexpr (calls<F&, A...>)
      return tag<function_not_const<F>>{};
    else if constexpr (calls<const F&, std::remove_cvref_t<A>&...>)
      return tag<parameter_not_const<F>>{};
    else
      return tag<function_not_callable_with<std::remove_cvref_t<A>...>>{};
  }
  using type = typename decltype(find())::type;
};
template <bool Callable> struct call_fault_impl {
  template <class F, class... A> using type = no_fault;
};
template <> struct call_fault_impl<false> {
  template <class F, class... A> using type = typename no_call<F, A...>::type;
};
/// What is wrong with f(a...), f const.
template <class F, class... A>
using call_fault = typename call_fault_impl<calls<const F&, A...>>::template type<F, A...>;

/// What an element can be made of: no tensor, no pointer, nothing that owns memory.
template <class R>
inline constexpr bool is_number = !Operand<R> && is_element<R> && std::is_trivially_copyable_v<R> &&
                                  !std::is_pointer_v<R> && !std::is_empty_v<R>;

/// What is wrong with the result of a function that gives an element.
template <class R> struct result_fault {
  using type = std::conditional_t<is_number<R>, no_fault, function_gives_no_number<R>>;
};
template <> struct result_fault<void> {
  using type = function_gives_no_number<void>;
};
template <bool Callable> struct number_fault_impl {
  template <class F, class... A>
  using type = typename result_fault<std::decay_t<decltype(std::declval<const F&>()(std::declval<A>()...))>>::type;
};
template <> struct number_fault_impl<false> {
  template <class F, class... A> using type = typename no_call<F, A...>::type;
};
/// What is wrong with f(a...), f const, as a new element.
template <class F, class... A>
using number_fault =
    typename number_fault_impl<calls<const F&, A...>>::template type<F, A...>;

/// A function whose parameters are written out, so that it takes no types but these.
template <class F>
inline constexpr bool takes_one_type = std::is_function_v<F> || std::is_pointer_v<F> ||
                                       requires { &F::operator(); };

}  // namespace dimesh::detail
