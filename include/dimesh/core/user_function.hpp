// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Can a function of the user's be called as an operation calls it, and does it return what the
// operation needs? Asked where the user's call is, before anything else is made of the function.
//
//   decltype(ask<F>()(1.f, 2.f))          -> what f gives, or not_called, and then
//   no_call<F, float, float>::type        -> function_not_callable_with<float, float>
//   result_fault<void>::type              -> function_gives_no_number<void>
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "dimesh/detail/name.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh::detail {

/// f(a...) is an expression.
template <class F, class... A>
inline constexpr bool calls = requires { std::declval<F>()(std::declval<A>()...); };

/// What a function gives that cannot be called so.
struct not_called {};

/// A function whose text is wrong, which the compiler has said where it asked for its result. Clang
/// takes that for an int then, although it knows no such call.
template <class Result, class F, class... A> inline constexpr bool is_broken = false;
template <class F, class... A>
inline constexpr bool is_broken<int, F, A...> = !calls<const F&, const A&...>;

/// F has an operator(): its name is ambiguous beside another one.
struct some_call {
  void operator()();
};
template <class F> struct beside_some_call : F, some_call {};
template <class F> inline constexpr bool has_call = false;
template <class F>
  requires(std::is_class_v<F> && !std::is_final_v<F>)
inline constexpr bool has_call<F> = !requires { &beside_some_call<F>::operator(); };

/// F, never called: gives what a const F gives, or not_called. By choice of an overload, and not by
/// a constraint, which would stand in all that the compilers say of mistakes inside of f.
template <class F, bool = has_call<F>> struct asked : F {
  using F::operator();
  not_called operator()(...) const;
};
template <class F> struct asked<F, false> {
  template <class... A>
    requires calls<const F&, A...>
  auto operator()(A&&... a) const -> decltype(std::declval<const F&>()(std::forward<A>(a)...));
  not_called operator()(...) const;
};
template <class F> const asked<F>& ask();

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
/// A function whose parameters are written out, so that it takes no types but these.
template <class F>
inline constexpr bool takes_one_type =
    std::is_function_v<F> || std::is_pointer_v<F> || requires { &F::operator(); };

/// Why a function that gradients are wanted of cannot be called: as any function, or because it
/// takes plain tensors and gets recorded ones.
template <class F, class Plain, class Recorded> struct no_recorded_call;
template <class F, class... X, class... V> struct no_recorded_call<F, list<X...>, list<V...>> {
  using given = typename no_call<F, const V&...>::type;
  using type =
      std::conditional_t<calls<const F&, const X&...>, function_takes_plain_only<F>, given>;
};

/// Does a type that is spelled so belong to a lambda? nvcc says "lambda [](long)->float", g++
/// "f()::<lambda(long)>": both passes have to find the same.
constexpr bool is_lambda(std::string_view spelled) {
  const auto from = spelled.find("T = ") + 4;
  if (spelled.substr(from).starts_with("lambda [")) return true;
  int depth = 0;  // among the arguments of templates and functions
  for (std::size_t i = from; i < spelled.size() && spelled[i] != ';'; ++i) {
    if (depth == 0 && spelled.substr(i).starts_with("<lambda(")) return true;
    if (spelled.substr(i).starts_with("::operator"))  // its signs are no brackets
      i = std::min(spelled.find_first_not_of("<>=-", i + 10), spelled.size() - 1);
    depth += spelled[i] == '<' || spelled[i] == '(';
    depth -= spelled[i] == '>' || spelled[i] == ')';
  }
  return false;
}
/// nvcc compiles kernels of function objects that have names and of lambdas that are made for them
/// (KOKKOS_LAMBDA); of other lambdas it tells, once it has gone on, in files of its own.
#if defined(__CUDACC__) && defined(__CUDACC_EXTENDED_LAMBDA__)
template <class F>
inline constexpr bool is_lambda_of_host =
    is_lambda(spelled<F>()) && !__nv_is_extended_device_lambda_closure_type(F) &&
    !__nv_is_extended_host_device_lambda_closure_type(F);
#else
template <class F> inline constexpr bool is_lambda_of_host = false;
#endif
template <class F> constexpr void assert_kernel_function() {
  static_assert(!is_lambda_of_host<F>,
                "the function is a lambda, of which nvcc makes no kernel; write KOKKOS_LAMBDA, or "
                "a function object that has a name, with KOKKOS_FUNCTION");
}

}  // namespace dimesh::detail
