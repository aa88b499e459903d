// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said where a tensor of one type is to become one of another? Which of elements, dims and
// layout differ, and what makes them fit. Here are also the words for what a tensor is: plain,
// recorded, or a shape.
//
//   tensor<float, whole, hidden> y = sum<batch>(x);   -> layouts_differ<...>: complete what is
//                                                        partial, ...
#pragma once

#include "dimesh/layout/spec.hpp"

namespace dimesh {

template <class T, class L, Dim... D> class basic_tensor;
template <class T, class L, Dim... D> class shaped_tensor;
template <class Value> class tracked_tensor;

/// Anything with a spec: a tensor with data, a recorded one, or a shape.
template <class X> concept Tensor = requires { typename X::spec_type; } && !stands_for_tensor<X>;

template <class X> using spec_of = typename X::spec_type;
template <class X> using value_of = typename X::value_type;

namespace detail {

/// What may stand on the right of a tensor's assignment by mistake.
template <class X> concept TensorOrNumber = Tensor<X> || std::is_arithmetic_v<X>;

template <class X> inline constexpr bool is_tracked = false;
template <class V> inline constexpr bool is_tracked<tracked_tensor<V>> = true;
template <class X> inline constexpr bool is_shaped = false;
template <class T, class L, class... D>
inline constexpr bool is_shaped<shaped_tensor<T, L, D...>> = true;
template <class V> inline constexpr bool is_shaped<tracked_tensor<V>> = is_shaped<V>;

/// Its layout is a value at run time: a shape without data, or a tensor of plan/runtime_tensor.hpp.
template <class X> inline constexpr bool is_probe = false;
template <class T, class M, class... D>
inline constexpr bool is_probe<basic_tensor<T, layout<M, at_run_time>, D...>> = true;
template <class T, class M, class... D>
inline constexpr bool is_probe<shaped_tensor<T, layout<M, at_run_time>, D...>> = true;
template <class V> inline constexpr bool is_probe<tracked_tensor<V>> = is_probe<V>;

/// Ranks have nothing to tell each other about D, as X's type says.
template <class X, class D> constexpr bool says_whole() {
  if constexpr (is_probe<X>)
    return false;
  else
    return spec_of<X>::table.axes_of(index_of<D, typename spec_of<X>::dims>) == 0;
}
template <class X, class D> inline constexpr bool is_whole_by_type = says_whole<X, D>();

/// Why a shape X is not a tensor with elements.
template <class X> struct shape_fault {
  using type = no_fault;
};
template <class T, class L, class... D> struct shape_fault<shaped_tensor<T, L, D...>> {
  using type = not_the_same_kind<basic_tensor<T, L, D...>, shaped_tensor<T, L, D...>>;
};
template <class V> struct shape_fault<tracked_tensor<V>> : shape_fault<V> {};

/// Why X, a tensor or a number, is not a tensor of type To.
template <class To, class X> struct conversion_fault {
  using type = wrong_arguments<X>;
};
template <class To, Tensor X> struct conversion_fault<To, X> {
  using to = spec_of<To>;
  using from = spec_of<X>;
  using type = typename first_of<
      std::conditional_t<std::is_same_v<value_of<To>, value_of<X>>, no_fault,
                         elements_differ<value_of<To>, value_of<X>>>,
      std::conditional_t<std::is_same_v<typename to::dims, typename from::dims>, no_fault,
                         dims_differ<typename to::dims, typename from::dims>>,
      std::conditional_t<std::is_same_v<typename to::layout, typename from::layout>, no_fault,
                         layouts_differ<typename to::layout, typename from::layout>>,
      std::conditional_t<is_tracked<To> == is_tracked<X> && is_shaped<To> == is_shaped<X>, no_fault,
                         not_the_same_kind<To, X>>>::type;
};

// A recorded value in a plain variable leaves the function's value plain, too: that is not said
// once more. The friend has a type from where the first mistake is said.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <int> struct kept_plain {
  friend auto is_said(kept_plain);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <int N> struct say_kept_plain {
  friend auto is_said(kept_plain<N>) {}
};
/// Asked when a function has been called on recorded arguments, whose value is X.
template <class X> constexpr bool kept_plain_is_said() {
  return requires(kept_plain<int{sizeof(X*) == 0}> it) { is_said(it); };
}

/// Constructors take it by default, and assignments return it: so this is compiled at once, before
/// anything asks what is said. (By X: of a type that depends on nothing, the compilers instantiate
/// the discarded branch, too.)
struct kind_said {};
template <class To, class X> constexpr auto say_kind() {
  if constexpr (is_tracked<X> && !is_tracked<To>)
    (void)sizeof(say_kept_plain<int{sizeof(X*) == 0}>);
  return kind_said{};
}
template <class To, class X> constexpr auto assert_same() {
  using fault = typename conversion_fault<To, X>::type;
  static_assert(ok<only<fault, elements_differ>>,
                "tensor: the type declared has other elements than the value; cast<type>(x), or "
                "declare it auto");
  static_assert(ok<only<fault, dims_differ>>,
                "tensor: the type declared has other dims than the value, or another order; sum, "
                "rename or permute, or declare it auto");
  static_assert(ok<only<fault, layouts_differ>>,
                "tensor: the type declared has another layout than the value; complete what is "
                "partial, relayout<layout>(x) what is split, or declare it auto");
  static_assert(ok<only<fault, not_the_same_kind>>,
                "tensor: of variable and value, one is recorded (or a shape), the other not; "
                "declare it auto, begin a loop with a recorded value, or take stop_gradient of "
                "it");
  static_assert(ok<only<fault, wrong_arguments>>,
                "tensor: a number is no tensor; fill(x, 0) sets all elements, and clear(x) sets "
                "them to 0");
  return say_kind<To, X>();
}

// (By the plain type, of plain and of recorded ones: said once of a function that is given both.)
template <class Plain> constexpr void assert_not_const() {
  static_assert(ok<parameters_are_const<const Plain>>,
                "tensor: a const one cannot be assigned to, as parameters in a loss; keep the new "
                "values beside them: auto w = 0.5f * p.w");
}

}  // namespace detail

}  // namespace dimesh
