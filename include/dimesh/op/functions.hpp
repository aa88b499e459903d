// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions of one tensor, or of two, come ready-made? Those of local/math.hpp, applied to
// every element. None of them takes addends.
//
//   tanh(tensor[batch/rows, hidden])          -> the same shape and layout
//   maximum(x, y)                             -> the larger of two, element by element
//   exp(partial addends)                      -> partial_operand<axis>: complete them first
#pragma once

#include "dimesh/op/compare.hpp"

namespace dimesh {

namespace detail {

struct exp_function {
  static constexpr std::string_view call = "exp";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::exp(a);
  }
};
struct log_function {
  static constexpr std::string_view call = "log";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::log(a);
  }
};
struct log1p_function {
  static constexpr std::string_view call = "log1p";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::log1p(a);
  }
};
struct tanh_function {
  static constexpr std::string_view call = "tanh";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::tanh(a);
  }
};
struct sigmoid_function {
  static constexpr std::string_view call = "sigmoid";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::sigmoid(a);
  }
};
struct sqrt_function {
  static constexpr std::string_view call = "sqrt";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::sqrt(a);
  }
};
struct rsqrt_function {
  static constexpr std::string_view call = "rsqrt";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::rsqrt(a);
  }
};
struct square_function {
  static constexpr std::string_view call = "square";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::square(a);
  }
};
struct abs_function {
  static constexpr std::string_view call = "abs";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::abs(a);
  }
};
struct relu_function {
  static constexpr std::string_view call = "relu";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::relu(a);
  }
};
struct gelu_function {
  static constexpr std::string_view call = "gelu";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::gelu(a);
  }
};
struct silu_function {
  static constexpr std::string_view call = "silu";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::silu(a);
  }
};
struct softplus_function {
  static constexpr std::string_view call = "softplus";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::softplus(a);
  }
};
struct sin_function {
  static constexpr std::string_view call = "sin";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::sin(a);
  }
};
struct cos_function {
  static constexpr std::string_view call = "cos";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::cos(a);
  }
};
struct floor_function {
  static constexpr std::string_view call = "floor";
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::floor(a);
  }
};
struct pow_function {
  static constexpr std::string_view call = "pow";
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return dimesh::pow(a, b);
  }
};
struct maximum_function {
  static constexpr std::string_view call = "maximum";
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return dimesh::maximum(a, b);
  }
};
struct minimum_function {
  static constexpr std::string_view call = "minimum";
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return dimesh::minimum(a, b);
  }
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(map_op<tanh_function, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<tanh_function, float, float>, 1, 1u);
DIMESH_INSTANCE(map_op<tanh_function, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<tanh_function, double, double>, 1, 1u);
DIMESH_INSTANCE(map_op<square_function, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<square_function, float, float>, 1, 1u);
DIMESH_INSTANCE(map_op<square_function, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<square_function, double, double>, 1, 1u);
DIMESH_INSTANCE(map_op<relu_function, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<relu_function, float, float>, 1, 1u);
DIMESH_INSTANCE(map_op<relu_function, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<relu_function, double, double>, 1, 1u);

}  // namespace detail

/// e to the x.
template <Operand X> constexpr auto exp(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "exp: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::exp_function{}, x);
}
/// Natural logarithm.
template <Operand X> constexpr auto log(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "log: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::log_function{}, x);
}
/// log(1 + x), right for small x.
template <Operand X> constexpr auto log1p(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "log1p: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::log1p_function{}, x);
}
/// Hyperbolic tangent.
template <Operand X> constexpr auto tanh(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "tanh: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::tanh_function{}, x);
}
/// 1 / (1 + exp(-x)).
template <Operand X> constexpr auto sigmoid(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "sigmoid: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::sigmoid_function{}, x);
}
/// Square root.
template <Operand X> constexpr auto sqrt(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "sqrt: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::sqrt_function{}, x);
}
/// 1 / sqrt(x).
template <Operand X> constexpr auto rsqrt(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "rsqrt: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::rsqrt_function{}, x);
}
/// x times x.
template <Operand X> constexpr auto square(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "square: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::square_function{}, x);
}
/// Absolute value; its derivative at 0 is 0.
template <Operand X> constexpr auto abs(const X& x) {
  static_assert(
      ok<detail::map_fault<detail::join_kind::real, X>>,
      "abs: the operand is a sum yet to be made, or complex; complete it, or take sqrt(norm2(x))");
  return detail::map_as<detail::join_kind::real>(detail::abs_function{}, x);
}
/// max(x, 0); its derivative at 0 is 0.
template <Operand X> constexpr auto relu(const X& x) {
  static_assert(
      ok<detail::map_fault<detail::join_kind::real, X>>,
      "relu: the operand is a sum yet to be made, or complex; complete it, or take its real part");
  return detail::map_as<detail::join_kind::real>(detail::relu_function{}, x);
}
/// Gaussian error linear unit in its tanh form (Hendrycks and Gimpel 2016, section 2).
template <Operand X> constexpr auto gelu(const X& x) {
  static_assert(
      ok<detail::map_fault<detail::join_kind::real, X>>,
      "gelu: the operand is a sum yet to be made, or complex; complete it, or take its real part");
  return detail::map_as<detail::join_kind::real>(detail::gelu_function{}, x);
}
/// x * sigmoid(x).
template <Operand X> constexpr auto silu(const X& x) {
  static_assert(
      ok<detail::map_fault<detail::join_kind::real, X>>,
      "silu: the operand is a sum yet to be made, or complex; complete it, or take its real part");
  return detail::map_as<detail::join_kind::real>(detail::silu_function{}, x);
}
/// log(1 + exp(x)).
template <Operand X> constexpr auto softplus(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "softplus: the operand is a sum yet to be made, or complex; complete it, or take "
                "its real part");
  return detail::map_as<detail::join_kind::real>(detail::softplus_function{}, x);
}
/// Sine of radians.
template <Operand X> constexpr auto sin(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "sin: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::sin_function{}, x);
}
/// Cosine of radians.
template <Operand X> constexpr auto cos(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X>>,
                "cos: the operand is a sum yet to be made, or complex; complete it, or map a "
                "function of complex numbers");
  return detail::map_as<detail::join_kind::real>(detail::cos_function{}, x);
}
/// Largest whole number not above x; derivative 0.
template <Operand X> constexpr auto floor(const X& x) {
  static_assert(
      ok<detail::map_fault<detail::join_kind::real, X>>,
      "floor: the operand is a sum yet to be made, or complex; complete it, or take its real part");
  return detail::map_as<detail::join_kind::real>(detail::floor_function{}, x);
}
/// x to the y.
template <Operand X, Operand Y> constexpr auto pow(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X, Y>>,
                "pow: the operands do not fit; complete what is partial, relayout what is split "
                "differently, map a function where they are complex");
  return detail::map_as<detail::join_kind::real>(detail::pow_function{}, x, y);
}
/// The larger of two; ties go to the first.
template <Operand X, Operand Y> constexpr auto maximum(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X, Y>>,
                "maximum: the operands do not fit; complete what is partial, relayout what is "
                "split differently, take real parts of what is complex");
  return detail::map_as<detail::join_kind::real>(detail::maximum_function{}, x, y);
}
/// The smaller of two; ties go to the first.
template <Operand X, Operand Y> constexpr auto minimum(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::real, X, Y>>,
                "minimum: the operands do not fit; complete what is partial, relayout what is "
                "split differently, take real parts of what is complex");
  return detail::map_as<detail::join_kind::real>(detail::minimum_function{}, x, y);
}

}  // namespace dimesh
