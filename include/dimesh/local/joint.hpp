// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In what type do two scalars meet, one of which is a dual number? In the wider dual; and compared
// they are in the type of their values.
//
//   detail::joint_t<dual<float, 2>, int>    -> dual<float, 2>
//   detail::compared<dual<float, 2>, int>   -> float
#pragma once

#include <type_traits>

namespace dimesh {

template <class T, int N> struct dual;

namespace detail {

/// The dual type of an operation on A and B, one of which may be a plain number.
template <class A, class B> struct joint {};
template <class T, int N> struct joint<dual<T, N>, dual<T, N>> : std::type_identity<dual<T, N>> {};
template <class T, int N, class S>
  requires std::is_arithmetic_v<S>
struct joint<dual<T, N>, S> : std::type_identity<dual<T, N>> {};
template <class T, int N, class S>
  requires std::is_arithmetic_v<S>
struct joint<S, dual<T, N>> : std::type_identity<dual<T, N>> {};
template <class T, int M, int N>
struct joint<dual<dual<T, M>, N>, dual<T, M>> : std::type_identity<dual<dual<T, M>, N>> {};
template <class T, int M, int N>
struct joint<dual<T, M>, dual<dual<T, M>, N>> : std::type_identity<dual<dual<T, M>, N>> {};
template <class A, class B> using joint_t = typename joint<A, B>::type;

template <class X> struct primal : std::type_identity<X> {};
template <class T, int N> struct primal<dual<T, N>> : std::type_identity<T> {};
/// Said where values of two types are compared, so that it is no conversion in silence.
template <class X, class Y>
using compared = std::common_type_t<typename primal<X>::type, typename primal<Y>::type>;

}  // namespace detail
}  // namespace dimesh
