// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are features brought to one scale? Layer normalisation takes off their mean and divides by
// their deviation; RMS normalisation divides by their root mean square. One pass over memory where
// the dim is stored last and not split; composed of mean and complete elsewhere, which communicate
// where the dim is split and only there.
//
//   layer_norm<model>(x[batch/rows, model], gain[model], bias[model])  -> like x; local
//   rms_norm<model>(x[batch, model/cols], gain[model/cols])  -> like x; one all-reduce over cols
#pragma once

#include "dimesh/detail/number_given.hpp"
#include "dimesh/local/norm.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh {

namespace detail {

/// Rows of x, all dims but the last, and how long they are.
struct norm_rows {
  index_t rows, length;
  explicit norm_rows(const tensor_core& x) : rows(0), length(x.local(x.rank() - 1)) {
    if (length != 0) rows = x.elements() / length;
  }
};

/// xbar, and the cotangents of gain and bias, as far as they are wanted: from ybar, x, gain, bias.
template <bool Center, class T> struct norm_transpose_op {
  double epsilon;

  constexpr void cost(tally& t, results, operands in) const {
    t.compute(12 * in[0].elements(), bytes_of(in) + in[0].bytes());
  }
  void fill(results bars, operands in) const {
    const norm_rows n(in[1]);
    T* to[3] = {};
    for (int k = 0; k < bars.count(); ++k) to[k] = bars.data<T>(k);
    local::normalize_transpose<Center>(
        n.rows, n.length, static_cast<T>(epsilon), in[0].data<const T>(), in[1].data<const T>(),
        in.count() > 2 ? in[2].data<const T>() : nullptr, to[0], to[1], to[2]);
  }
};

/// What the user called.
template <bool Center> constexpr std::string_view norm_call() {
  return Center ? "layer_norm" : "rms_norm";
}

/// x[..., D], gain[D] and bias[D] as far as there are any; D is whole.
template <bool Center, class T> struct norm_op {
  double epsilon;
  std::string_view call = norm_call<Center>();

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute((Center ? 8 : 6) * y[0].elements(), y[0].bytes() + x[0].bytes());
  }
  static constexpr bool needs(int k, unsigned wanted) {
    return k == 0 || (k == 1 && (wanted & 1u) != 0);
  }
  void fill(results y, operands x) const {
    const T* rows[2] = {};
    for (int k = 1; k < x.count(); ++k) rows[k - 1] = x[k].data<const T>();
    const norm_rows n(x[0]);
    local::normalize<Center>(n.rows, n.length, static_cast<T>(epsilon), x[0].data<const T>(),
                             rows[0], rows[1], y[0].data<T>());
  }
  constexpr void transpose(const auto& to) const {
    to.give_all(norm_transpose_op<Center, T>{epsilon});
  }
};

struct normalize_function {
  double epsilon;
  template <class X, class V, class... G>
  KOKKOS_INLINE_FUNCTION auto operator()(const X& x, const V& v, const G&... g) const {
    return with_gain(x * dimesh::rsqrt(v + static_cast<V>(epsilon)), g...);
  }
  template <class U> KOKKOS_INLINE_FUNCTION static auto with_gain(const U& u) { return u; }
  template <class U, class G>
  KOKKOS_INLINE_FUNCTION static auto with_gain(const U& u, const G& gain) {
    return u * gain;
  }
  template <class U, class G, class B>
  KOKKOS_INLINE_FUNCTION static auto with_gain(const U& u, const G& gain, const B& bias) {
    return u * gain + bias;
  }
};

/// One kernel does it: D is stored last and whole, gain and bias have no other dim.
template <class D, class X, class... G>
inline constexpr bool norm_may_be_local =
    index_of<D, typename spec_of<X>::dims> == X::rank - 1 &&
    std::is_floating_point_v<value_of<X>> &&
    (std::is_same_v<typename spec_of<G>::dims, list<D>> && ...) &&
    (std::is_same_v<value_of<G>, value_of<X>> && ...);

/// The first dim of a gain that the tensor lacks.
template <class X, class... G> struct gain_fault {
  template <class... D> static constexpr auto of_dims(list<D...>) {
    return tag<typename first_of<std::conditional_t<(index_of<D, typename spec_of<X>::dims> >= 0),
                                                    no_fault, dim_not_in_tensor<D>>...>::type>{};
  }
  static constexpr auto find() {
    if constexpr (is_poison<X> || (is_poison<G> || ...))
      return tag<no_fault>{};
    else
      return tag<typename first_of<typename decltype(of_dims(
          typename spec_of<G>::dims{}))::type...>::type>{};
  }
  using type = typename decltype(find())::type;
};

/// Why gain and bias do not meet the tensor, where nothing is wrong with that alone.
template <class Fault, class X, class... G> struct fits_fault {
  using type = no_fault;
};
template <class X, class... G> struct fits_fault<no_fault, X, G...> {
  using type = map_fault<join_kind::nonlinear, X, G...>;
};

/// What is left of a mean that has been taken off, taken off too: zero but for rounding, whatever
/// the elements were, so that it has no derivative. D is whole.
template <class D, class X> constexpr auto less_rest_of_mean(const X& x) {
  return x - mean<D>(stop_gradient(x));
}
/// x less its mean over D. Near 1e7 float's rounding of a mean is as large as deviations from it:
/// where D is whole, so that no rank is asked, its rest goes, too.
template <class D, class X> constexpr auto centered_over(const X& x) {
  const auto moved = x - complete(mean<D>(x));
  if constexpr (is_probe<X>) {
    constexpr int d = index_of<D, typename spec_of<X>::dims>;
    return core_of(x).layout().split_count(d) == 0 ? less_rest_of_mean<D>(moved) : moved;
  } else if constexpr (is_split<spec_of<X>, D>) {
    return moved;
  } else {
    return less_rest_of_mean<D>(moved);
  }
}
/// Of means and sums, whatever splits D.
template <bool Center, class D, class X, class... G>
constexpr auto composed_norm(double epsilon, const X& x, const G&... g) {
  if constexpr (Center) {
    const auto centered = centered_over<D>(x);
    const auto variance =
        complete(mean<D>(map_as<join_kind::nonlinear>(square_function{}, centered)));
    return map_called<join_kind::nonlinear>(norm_call<Center>(), normalize_function{epsilon},
                                            centered, variance, g...);
  } else {
    const auto square = complete(mean<D>(map_as<join_kind::nonlinear>(square_function{}, x)));
    return map_called<join_kind::nonlinear>(norm_call<Center>(), normalize_function{epsilon}, x,
                                            square, g...);
  }
}

template <bool Center, class D, class X, class... G>
constexpr auto normalized(double epsilon, const X& x, const G&... g) {
  require_not_negative(norm_call<Center>(), "epsilon", epsilon);
  using dims = typename over_dims_fault<false, X, D>::type;
  if constexpr (!ok<dims> || is_poison<X> || (is_poison<G> || ...)) {
    return poison{};
  } else if constexpr (!ok<map_fault<join_kind::nonlinear, X, G...>> ||
                       !ok<typename gain_fault<X, G...>::type>) {
    return poison{};
  } else if constexpr (is_storage_only<value_of<X>>) {  // in float, and rounded once
    return cast<value_of<X>>(normalized<Center, D>(epsilon, cast<computed<value_of<X>>>(x),
                                                   cast<computed<value_of<G>>>(g)...));
  } else if constexpr (std::is_integral_v<value_of<X>>) {  // their squares would leave the type
    return normalized<Center, D>(epsilon, cast<double>(x), g...);
  } else if constexpr (!norm_may_be_local<D, X, G...>) {
    return composed_norm<Center, D>(epsilon, x, g...);
  } else {
    const norm_op<Center, value_of<X>> op{epsilon};
    if constexpr (is_probe<X>) {
      constexpr auto call = norm_call<Center>();
      check<reduce_rule<use::partial, false, D>>(call, x);
      check<elementwise_rule<join_kind::nonlinear>>(call, x, g...);
      return core_of(x).layout().split_count(X::rank - 1) == 0
                 ? apply_rule<like_rule, value_of<X>>(op, x, g...)
                 : composed_norm<Center, D>(epsilon, x, g...);
    } else if constexpr (is_split<spec_of<X>, D>) {
      return composed_norm<Center, D>(epsilon, x, g...);
    } else {
      return apply_rule<like_rule, value_of<X>>(op, x, g...);
    }
  }
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(norm_op<true, float>, 0);
DIMESH_INSTANCE(norm_op<true, float>, 1);
DIMESH_INSTANCE(norm_op<true, double>, 0);
DIMESH_INSTANCE(norm_op<true, double>, 1);
DIMESH_INSTANCE(norm_op<false, float>, 0);
DIMESH_INSTANCE(norm_op<false, float>, 1);
DIMESH_INSTANCE(norm_op<false, double>, 0);
DIMESH_INSTANCE(norm_op<false, double>, 1);

}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * gain + bias, mean and variance over D (Ba, Kiros and
/// Hinton 2016, section 3). Shapes: gain and bias, if given, any dims of x. Communicates where D is
/// split: completes a mean and a variance; the mean is taken off as it is rounded there. Throws
/// dimesh::error unless epsilon is at least 0, and finite.
template <Dim D, Operand X, Operand... G>
  requires(sizeof...(G) <= 2)
constexpr auto layer_norm(double epsilon, const X& x, const G&... gain_and_bias) {
  using fault = typename detail::over_dims_fault<false, X, D>::type;
  using fits = typename detail::fits_fault<fault, X, G...>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "layer_norm: the tensor lacks this dim; name one of its own");
  static_assert(ok<only<fault, partial_operand>>,
                "layer_norm: the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, element_is_complex>>,
                "layer_norm: the elements are complex, and real ones are wanted; norm real(x) and "
                "imag(x), or divide by a root of mean(norm2(x))");
  static_assert(ok<only<fault, dim_has_halo>>,
                "layer_norm: blocks of this dim carry a halo, which would count twice; take the "
                "tensor without it");
  static_assert(ok<fits>,
                "layer_norm: gain and bias do not fit the tensor; complete what is partial, "
                "relayout what is split differently");
  static_assert(!ok<fault> || !ok<fits> || ok<typename detail::gain_fault<X, G...>::type>,
                "layer_norm: a gain or bias has a dim that the tensor lacks; the tensor comes "
                "first, and the gain has dims of it: layer_norm<hidden>(x, gain, bias)");
  return detail::normalized<true, D>(epsilon, x, gain_and_bias...);
}
/// The same with an epsilon of 1e-5.
template <Dim D, Operand X, Operand... G>
  requires(sizeof...(G) <= 2)
constexpr auto layer_norm(const X& x, const G&... gain_and_bias) {
  return dimesh::layer_norm<D>(1e-5, x, gain_and_bias...);
}

/// x / sqrt(mean of squares + epsilon) * gain, the mean over D (Zhang and Sennrich 2019, section
/// 4). Shapes, communication and errors as layer_norm.
template <Dim D, Operand X, Operand... G>
  requires(sizeof...(G) <= 1)
constexpr auto rms_norm(double epsilon, const X& x, const G&... gain) {
  using fault = typename detail::over_dims_fault<false, X, D>::type;
  using fits = typename detail::fits_fault<fault, X, G...>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "rms_norm: the tensor lacks this dim; name one of its own");
  static_assert(ok<only<fault, partial_operand>>,
                "rms_norm: the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, element_is_complex>>,
                "rms_norm: the elements are complex, and real ones are wanted; norm real(x) and "
                "imag(x), or divide by a root of mean(norm2(x))");
  static_assert(ok<only<fault, dim_has_halo>>,
                "rms_norm: blocks of this dim carry a halo, which would count twice; take the "
                "tensor without it");
  static_assert(ok<fits>,
                "rms_norm: the gain does not fit the tensor; complete what is partial, relayout "
                "what is split differently");
  static_assert(!ok<fault> || !ok<fits> || ok<typename detail::gain_fault<X, G...>::type>,
                "rms_norm: the gain has a dim that the tensor lacks; the tensor comes first, and "
                "the gain has dims of it: rms_norm<hidden>(x, gain)");
  return detail::normalized<false, D>(epsilon, x, gain...);
}
/// The same with an epsilon of 1e-5.
template <Dim D, Operand X, Operand... G>
  requires(sizeof...(G) <= 1)
constexpr auto rms_norm(const X& x, const G&... gain) {
  return dimesh::rms_norm<D>(1e-5, x, gain...);
}

}  // namespace dimesh
