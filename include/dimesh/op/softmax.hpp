// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do numbers along a dim become shares of one? By their exponentials, shifted by the greatest
// so that none overflows. Composed of max, sum and complete, which communicate where the dim is
// split and only there.
//
//   softmax<label>(logits[batch/rows, label/cols])      -> the same type; two all-reduces over cols
//   log_sum_exp<label>(logits[batch/rows, label/cols])  -> tensor[batch/rows]
#pragma once

#include "dimesh/op/cast.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/refusals/misuse.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh {

namespace detail {

/// The shift: the maximum, unless it is infinite, where the limit needs none.
template <class M> KOKKOS_INLINE_FUNCTION M shift_of(const M& m) {
  return dimesh::select(dimesh::abs(m) < std::numeric_limits<M>::infinity(), m, M(0));
}
struct shifted_exp_function {
  template <class A, class M> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const M& m) const {
    return dimesh::exp(a - shift_of(m));
  }
};
struct log_plus_shift_function {
  template <class A, class M> KOKKOS_INLINE_FUNCTION auto operator()(const A& s, const M& m) const {
    return dimesh::log(s) + shift_of(m);
  }
};
struct log_share_function {
  template <class A, class M, class B>
  KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const M& m, const B& s) const {
    return a - shift_of(m) - dimesh::log(s);
  }
};

/// Calls then(x, m, e, s): the maxima over D..., exp(x - m), and the sums of these over D... Of
/// elements that only store in float, rounded once: half does not hold the sum of 70000 ones. Of
/// whole numbers in double.
template <class... D, class X, class Then>
constexpr auto over_exponentials(const X& x, const Then& then) {
  using fault = typename over_dims_fault<false, X, D...>::type;
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else if constexpr (is_storage_only<value_of<X>>) {
    return cast<value_of<X>>(over_exponentials<D...>(cast<computed<value_of<X>>>(x), then));
  } else if constexpr (std::is_integral_v<value_of<X>>) {
    return over_exponentials<D...>(cast<double>(x), then);
  } else {
    const auto m = complete(max<D...>(dimesh::stop_gradient(x)));
    const auto e = map_as<join_kind::nonlinear>(shifted_exp_function{}, x, m);
    return then(x, m, e, complete(sum<D...>(e)));
  }
}

struct softmax_of {
  template <class X, class M, class E, class S>
  constexpr auto operator()(const X&, const M&, const E& e, const S& s) const {
    return e / s;
  }
};
struct log_sum_exp_of {
  template <class X, class M, class E, class S>
  constexpr auto operator()(const X&, const M& m, const E&, const S& s) const {
    return map_as<join_kind::nonlinear>(log_plus_shift_function{}, s, m);
  }
};
struct log_softmax_of {
  template <class X, class M, class E, class S>
  constexpr auto operator()(const X& x, const M& m, const E&, const S& s) const {
    return map_as<join_kind::nonlinear>(log_share_function{}, x, m, s);
  }
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(map_op<shifted_exp_function, float, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<shifted_exp_function, float, float, float>, 1, 1u);
DIMESH_INSTANCE(map_op<shifted_exp_function, double, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<shifted_exp_function, double, double, double>, 1, 1u);
DIMESH_INSTANCE(map_op<log_plus_shift_function, float, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<log_plus_shift_function, float, float, float>, 1, 1u);
DIMESH_INSTANCE(map_op<log_plus_shift_function, double, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<log_plus_shift_function, double, double, double>, 1, 1u);

}  // namespace detail

/// exp(x) / sum of exp(x) over the dims named. Integers give double. Communicates where one of them
/// is split: completes a maximum and a sum over its axes, and one sum more on the way back.
template <Dim D, Dim... More, Operand X> constexpr auto softmax(const X& x) {
  using fault = typename detail::over_dims_fault<false, X, D, More...>::type;
  static_assert(
      ok<only<fault, dim_not_in_tensor, dim_repeated>>,
      "softmax: the tensor lacks this dim, or it is named twice; name its own dims, each once");
  static_assert(ok<only<fault, partial_operand>>,
                "softmax: the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, element_is_complex>>,
                "softmax: complex numbers have no order; take real(x) or norm2(x) first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "softmax: blocks of this dim carry a halo, which would count twice; take the "
                "tensor without it");
  return detail::over_exponentials<D, More...>(x, detail::softmax_of{});
}

/// The logarithm of softmax, exact also where that underflows. Communicates as softmax does.
template <Dim D, Dim... More, Operand X> constexpr auto log_softmax(const X& x) {
  using fault = typename detail::over_dims_fault<false, X, D, More...>::type;
  static_assert(
      ok<only<fault, dim_not_in_tensor, dim_repeated>>,
      "log_softmax: the tensor lacks this dim, or it is named twice; name its own dims, each once");
  static_assert(ok<only<fault, partial_operand>>,
                "log_softmax: the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, element_is_complex>>,
                "log_softmax: complex numbers have no order; take real(x) or norm2(x) first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "log_softmax: blocks of this dim carry a halo, which would count twice; take the "
                "tensor without it");
  return detail::over_exponentials<D, More...>(x, detail::log_softmax_of{});
}

/// log(sum of exp(x)) over the dims named. Shapes: x without them. Communicates as softmax does.
template <Dim D, Dim... More, Operand X> constexpr auto log_sum_exp(const X& x) {
  using fault = typename detail::over_dims_fault<false, X, D, More...>::type;
  static_assert(
      ok<only<fault, dim_not_in_tensor, dim_repeated>>,
      "log_sum_exp: the tensor lacks this dim, or it is named twice; name its own dims, each once");
  static_assert(ok<only<fault, partial_operand>>,
                "log_sum_exp: the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, element_is_complex>>,
                "log_sum_exp: complex numbers have no order; take real(x) or norm2(x) first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "log_sum_exp: blocks of this dim carry a halo, which would count twice; take the "
                "tensor without it");
  return detail::over_exponentials<D, More...>(x, detail::log_sum_exp_of{});
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using log_sum_exp_call = call_taking<some_dims, 1, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::log_sum_exp_call, detail::list<N...>, A...>
constexpr poison log_sum_exp(const A&...) {
  static_assert(ok<detail::misuse<detail::log_sum_exp_call, detail::list<N...>, A...>>,
                "log_sum_exp: dims stand in the angle brackets, a tensor in the parentheses: "
                "log_sum_exp<label>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison log_sum_exp(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "log_sum_exp: dims stand in the angle brackets, a tensor in the parentheses: "
                "log_sum_exp<label>(x)");
  return {};
}

}  // namespace dimesh
