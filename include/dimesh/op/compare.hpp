// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elements are larger, and what then? Comparisons give tensors of bool, and `select` chooses
// by them. None of them takes addends.
//
//   x > y, x > 0               -> tensor of bool, of the same shape and layout
//   select(x > y, x, y)        -> elementwise choice; the two may be numbers
#pragma once

#include "dimesh/core/number_as_element.hpp"
#include "dimesh/op/arithmetic.hpp"

namespace dimesh {

namespace detail {

struct select_function {
  static constexpr std::string_view call = "select";
  template <class C, class A, class B>
  KOKKOS_INLINE_FUNCTION auto operator()(const C& c, const A& a, const B& b) const {
    return dimesh::select(static_cast<bool>(c), a, b);
  }
};
/// A number where the condition does not hold, or where it does.
template <class T, bool WhereTrue> struct select_number_function {
  static constexpr std::string_view call = "select";
  T n;
  template <class C, class A> KOKKOS_INLINE_FUNCTION auto operator()(const C& c, const A& a) const {
    return dimesh::select(static_cast<bool>(c) != WhereTrue, a, n);
  }
};
/// One of two numbers.
template <class T> struct select_numbers_function {
  static constexpr std::string_view call = "select";
  T where_true, elsewhere;
  template <class C> KOKKOS_INLINE_FUNCTION T operator()(const C& c) const {
    return static_cast<bool>(c) ? where_true : elsewhere;
  }
};
struct less_function {
  static constexpr std::string_view call = "operator<";
  template <class A, class B> KOKKOS_INLINE_FUNCTION bool operator()(const A& a, const B& b) const {
    return a < b;
  }
};
struct less_equal_function {
  static constexpr std::string_view call = "operator<=";
  template <class A, class B> KOKKOS_INLINE_FUNCTION bool operator()(const A& a, const B& b) const {
    return a <= b;
  }
};
struct greater_function {
  static constexpr std::string_view call = "operator>";
  template <class A, class B> KOKKOS_INLINE_FUNCTION bool operator()(const A& a, const B& b) const {
    return a > b;
  }
};
struct greater_equal_function {
  static constexpr std::string_view call = "operator>=";
  template <class A, class B> KOKKOS_INLINE_FUNCTION bool operator()(const A& a, const B& b) const {
    return a >= b;
  }
};
struct equal_function {
  static constexpr std::string_view call = "operator==";
  template <class A, class B> KOKKOS_INLINE_FUNCTION bool operator()(const A& a, const B& b) const {
    return a == b;
  }
};
struct not_equal_function {
  static constexpr std::string_view call = "operator!=";
  template <class A, class B> KOKKOS_INLINE_FUNCTION bool operator()(const A& a, const B& b) const {
    return a != b;
  }
};
/// What `select` chooses by.
template <class C> struct condition_elements {
  using type = std::conditional_t<std::is_same_v<value_of<C>, bool>, no_fault,
                                  elements_differ<value_of<C>, bool>>;
};
template <class C> using condition_fault = unless_poison<C, condition_elements<C>>;
/// A comparison with a number on the right; one on the left is asked the other way round.
template <class F, class T> struct with_number {
  static constexpr std::string_view call = F::call;
  F f;
  T n;
  template <class A> KOKKOS_INLINE_FUNCTION bool operator()(const A& a) const { return f(a, n); }
};
template <class A, class B>
inline constexpr int computes<less_function, A, B> = requires(A a, B b) { a < b; };
template <class A, class B>
inline constexpr int computes<less_equal_function, A, B> = requires(A a, B b) { a <= b; };
template <class A, class B>
inline constexpr int computes<greater_function, A, B> = requires(A a, B b) { a > b; };
template <class A, class B>
inline constexpr int computes<greater_equal_function, A, B> = requires(A a, B b) { a >= b; };
template <class A, class B>
inline constexpr int computes<equal_function, A, B> = requires(A a, B b) { a == b; };
template <class A, class B>
inline constexpr int computes<not_equal_function, A, B> = requires(A a, B b) { a != b; };
template <class F, class T, class A>
inline constexpr int computes<with_number<F, T>, A> = computes<F, A, T>;

/// The type of a number beside elements that take it as T.
template <class N, class T> struct number_compared : std::common_type<N, T> {};
template <class N> struct number_compared<N, no_such_number> {
  using type = no_such_number;
};

template <join_kind Kind, class F, class X, class N>
constexpr auto compare(const F& f, const X& x, N n) {
  using T = typename number_compared<N, number_as<X, N>>::type;
  return map_as<Kind>(with_number<F, T>{f, static_cast<T>(n)}, x);
}

}  // namespace detail

/// x where the condition holds, else y.
template <Operand C, Operand X, Operand Y>
constexpr auto select(const C& condition, const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, C, X, Y>>,
                "select: the operands do not fit; complete what is partial, relayout what is split "
                "differently");
  static_assert(ok<detail::condition_fault<C>>,
                "select: the condition is a tensor of bool, and stands first: select(x > 0, x, y)");
  return detail::map_as<detail::join_kind::nonlinear>(detail::select_function{}, condition, x, y);
}

/// x where the condition holds, else a number. Throws dimesh::error for a whole number that the
/// whole elements of x do not hold.
template <Operand C, Operand X, detail::Number N>
constexpr auto select(const C& condition, const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, C, X>>,
                "select: the operands do not fit; complete what is partial, relayout what is split "
                "differently");
  static_assert(ok<detail::condition_fault<C>>,
                "select: the condition is a tensor of bool, and stands first: select(x > 0, x, y)");
  using T = detail::element_as<X, N>;
  return detail::map_as<detail::join_kind::nonlinear>(
      detail::select_number_function<T, false>{detail::as_element<T>("select", n)}, condition, x);
}
/// A number where the condition holds, else x; likewise.
template <Operand C, detail::Number N, Operand X>
constexpr auto select(const C& condition, N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, C, X>>,
                "select: the operands do not fit; complete what is partial, relayout what is split "
                "differently");
  static_assert(ok<detail::condition_fault<C>>,
                "select: the condition is a tensor of bool, and stands first: select(x > 0, x, y)");
  using T = detail::element_as<X, N>;
  return detail::map_as<detail::join_kind::nonlinear>(
      detail::select_number_function<T, true>{detail::as_element<T>("select", n)}, condition, x);
}

/// One number where the condition holds, else another; elements are of the type that both have in
/// common: select(x > 0, 1.f, -1.f) -> float.
template <Operand C, detail::Number N, detail::Number M>
constexpr auto select(const C& condition, N n, M m) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, C>>,
                "select: the operands do not fit; complete what is partial, relayout what is split "
                "differently");
  static_assert(ok<detail::condition_fault<C>>,
                "select: the condition is a tensor of bool, and stands first: select(x > 0, x, y)");
  using T = std::common_type_t<N, M>;
  return detail::map_as<detail::join_kind::nonlinear>(
      detail::select_numbers_function<T>{static_cast<T>(n), static_cast<T>(m)}, condition);
}

template <Operand X, Operand Y> constexpr auto operator<(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X, Y>>,
                "operator<: the operands do not fit; complete what is partial, relayout what is "
                "split differently, take real parts of what is complex");
  return detail::map_as<detail::join_kind::real>(detail::less_function{}, x, y);
}
template <Operand X, detail::Number N> constexpr auto operator<(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "operator<: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::compare<detail::join_kind::real>(detail::less_function{}, x, n);
}
template <detail::Number N, Operand X> constexpr auto operator<(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "operator<: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::compare<detail::join_kind::real>(detail::greater_function{}, x, n);
}
template <Operand X, Operand Y> constexpr auto operator<=(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X, Y>>,
                "operator<=: the operands do not fit; complete what is partial, relayout what is "
                "split differently, take real parts of what is complex");
  return detail::map_as<detail::join_kind::real>(detail::less_equal_function{}, x, y);
}
template <Operand X, detail::Number N> constexpr auto operator<=(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "operator<=: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::compare<detail::join_kind::real>(detail::less_equal_function{}, x, n);
}
template <detail::Number N, Operand X> constexpr auto operator<=(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "operator<=: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::compare<detail::join_kind::real>(detail::greater_equal_function{}, x, n);
}
template <Operand X, Operand Y> constexpr auto operator>(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X, Y>>,
                "operator>: the operands do not fit; complete what is partial, relayout what is "
                "split differently, take real parts of what is complex");
  return detail::map_as<detail::join_kind::real>(detail::greater_function{}, x, y);
}
template <Operand X, detail::Number N> constexpr auto operator>(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "operator>: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::compare<detail::join_kind::real>(detail::greater_function{}, x, n);
}
template <detail::Number N, Operand X> constexpr auto operator>(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "operator>: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::compare<detail::join_kind::real>(detail::less_function{}, x, n);
}
template <Operand X, Operand Y> constexpr auto operator>=(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X, Y>>,
                "operator>=: the operands do not fit; complete what is partial, relayout what is "
                "split differently, take real parts of what is complex");
  return detail::map_as<detail::join_kind::real>(detail::greater_equal_function{}, x, y);
}
template <Operand X, detail::Number N> constexpr auto operator>=(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "operator>=: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::compare<detail::join_kind::real>(detail::greater_equal_function{}, x, n);
}
template <detail::Number N, Operand X> constexpr auto operator>=(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "operator>=: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::compare<detail::join_kind::real>(detail::less_equal_function{}, x, n);
}
template <Operand X, Operand Y> constexpr auto operator==(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X, Y>>,
                "operator==: the operands do not fit; complete what is partial, relayout what is "
                "split differently");
  return detail::map_as<detail::join_kind::nonlinear>(detail::equal_function{}, x, y);
}
template <Operand X, detail::Number N> constexpr auto operator==(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X>>,
                "operator==: the operand is a sum yet to be made; complete it first");
  return detail::compare<detail::join_kind::nonlinear>(detail::equal_function{}, x, n);
}
template <detail::Number N, Operand X> constexpr auto operator==(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X>>,
                "operator==: the operand is a sum yet to be made; complete it first");
  return detail::compare<detail::join_kind::nonlinear>(detail::equal_function{}, x, n);
}
template <Operand X, Operand Y> constexpr auto operator!=(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X, Y>>,
                "operator!=: the operands do not fit; complete what is partial, relayout what is "
                "split differently");
  return detail::map_as<detail::join_kind::nonlinear>(detail::not_equal_function{}, x, y);
}
template <Operand X, detail::Number N> constexpr auto operator!=(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X>>,
                "operator!=: the operand is a sum yet to be made; complete it first");
  return detail::compare<detail::join_kind::nonlinear>(detail::not_equal_function{}, x, n);
}
template <detail::Number N, Operand X> constexpr auto operator!=(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X>>,
                "operator!=: the operand is a sum yet to be made; complete it first");
  return detail::compare<detail::join_kind::nonlinear>(detail::not_equal_function{}, x, n);
}

}  // namespace dimesh
