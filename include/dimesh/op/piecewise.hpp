// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ready-made functions of elements bend at zero, or jump? Those of local/piecewise.hpp,
// applied to every element. None of them takes addends.
//
//   elu(x)   selu(x)   leaky_relu(x, 0.2)   sign(x)      -> the same shape and layout
//   floor_div(x, y)   floor_div(x, 3)   mod(x, y)   mod(ids, 10)
//
// relu, floor, abs, maximum and minimum are in functions.hpp; clamp is in logic.hpp.
#pragma once

#include "dimesh/local/piecewise.hpp"
#include "dimesh/op/beside_number.hpp"

namespace dimesh {

namespace detail {

struct elu_function {
  static constexpr std::string_view call = "elu";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::elu(a);
  }
};
struct selu_function {
  static constexpr std::string_view call = "selu";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::selu(a);
  }
};
struct leaky_relu_function {
  static constexpr std::string_view call = "leaky_relu";
  template <class A, class T>
  KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const T& slope) const {
    return dimesh::leaky_relu(a, slope);
  }
};
struct sign_function {
  static constexpr std::string_view call = "sign";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::sign(a);
  }
};
struct floor_div_function {
  static constexpr std::string_view call = "floor_div";
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return dimesh::floor_div(a, b);
  }
};
struct mod_function {
  static constexpr std::string_view call = "mod";
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return dimesh::mod(a, b);
  }
};
/// f of n and an element.
template <class F> struct turned_function {
  static constexpr std::string_view call = F::call;
  F f;
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return f(b, a);
  }
};

}  // namespace detail

/// x where it is not below 0, else e^x - 1 (Clevert et al., arXiv:1511.07289); its derivative at 0
/// is 1.
template <Operand X> constexpr auto elu(const X& x) {
  static_assert(
      ok<detail::map_fault<detail::join_kind::real, X>>,
      "elu: the operand is a sum yet to be made, or complex; complete it, or take its real part");
  return detail::map_as<detail::join_kind::real>(detail::elu_function{}, x);
}
/// 1.0507 times x where it is not below 0, else times 1.6733 (e^x - 1) (Klambauer et al.,
/// arXiv:1706.02515); its derivative at 0 is 1.0507.
template <Operand X> constexpr auto selu(const X& x) {
  static_assert(
      ok<detail::map_fault<detail::join_kind::real, X>>,
      "selu: the operand is a sum yet to be made, or complex; complete it, or take its real part");
  return detail::map_as<detail::join_kind::real>(detail::selu_function{}, x);
}
/// x where it is above 0, else slope times x; its derivative at 0 is the slope. (Libraries differ
/// in the slope that they take if none is said: 0.2 here and in TensorFlow, 0.01 in PyTorch.)
template <Operand X> constexpr auto leaky_relu(const X& x, double slope = 0.2) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "leaky_relu: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::map_beside(detail::leaky_relu_function{}, x,
                            static_cast<detail::number_as<X, double>>(slope));
}
/// -1, 0 or 1; NaN stays NaN. Elements keep their type. Its derivative is 0.
template <Operand X> constexpr auto sign(const X& x) {
  static_assert(
      ok<detail::map_fault<detail::join_kind::real, X>>,
      "sign: the operand is a sum yet to be made, or complex; complete it, or take its real part");
  return detail::map_as<detail::join_kind::real>(detail::sign_function{}, x);
}

/// The greatest whole number that is not above x / y; of whole elements exactly, where x / y cuts
/// off what is behind the point; of others x / y is rounded first (1.0 and 0.1 give 10). Its
/// derivatives are 0. Of whole elements it is 0 where y is; throws dimesh::error where y is the
/// number 0.
template <Operand X, Operand Y> constexpr auto floor_div(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X, Y>>,
                "floor_div: the operands do not fit; complete what is partial, relayout what is "
                "split differently, take real parts of what is complex");
  return detail::map_as<detail::join_kind::real>(detail::floor_div_function{}, x, y);
}
template <Operand X, detail::Number N> constexpr auto floor_div(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "floor_div: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::map_beside(detail::floor_div_function{}, x,
                            detail::met_as_divisor<detail::number_as<X, N>>("floor_div", n));
}
template <detail::Number N, Operand X> constexpr auto floor_div(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "floor_div: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::map_beside(detail::turned_function<detail::floor_div_function>{}, x,
                            detail::met_as<detail::number_as<X, N>>("floor_div", n));
}

/// What is left of x, x - y floor(x / y) with the exact quotient: 0, or of the sign of y and
/// smaller than y, before it is rounded (the % of C++ has the sign of x). Its derivative by x is 1,
/// that by y -floor_div(x, y). Of whole elements it is 0 where y is; throws dimesh::error where y
/// is the number 0.
template <Operand X, Operand Y> constexpr auto mod(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X, Y>>,
                "mod: the operands do not fit; complete what is partial, relayout what is split "
                "differently, take real parts of what is complex");
  return detail::map_as<detail::join_kind::real>(detail::mod_function{}, x, y);
}
template <Operand X, detail::Number N> constexpr auto mod(const X& x, N n) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "mod: the operand is a sum yet to be made, or complex; complete it, or take its "
                "real part");
  return detail::map_beside(detail::mod_function{}, x,
                            detail::met_as_divisor<detail::number_as<X, N>>("mod", n));
}
template <detail::Number N, Operand X> constexpr auto mod(N n, const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "mod: the operand is a sum yet to be made, or complex; complete it, or take its "
                "real part");
  return detail::map_beside(detail::turned_function<detail::mod_function>{}, x,
                            detail::met_as<detail::number_as<X, N>>("mod", n));
}

}  // namespace dimesh
