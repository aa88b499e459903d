// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are features brought to one scale? Layer normalisation takes off their mean and divides by
// their deviation; RMS normalisation divides by their root mean square. One pass over memory where
// the dim is stored last and not split; composed of mean and complete elsewhere, which communicate
// where the dim is split and only there.
//
//   layer_norm<model>(x[batch/rows, model], gain[model], bias[model])  -> like x; local
//   rms_norm<model>(x[batch, model/cols], gain[model/cols])  -> like x; one all-reduce over cols
#pragma once

#include "dimesh/local/norm.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh {

namespace detail {

/// xbar, and the cotangents of gain and bias, as far as they are wanted.
template <bool Center, bool... Wanted> struct norm_transpose_op {
  double epsilon;
  using select = selection<Wanted...>;

  template <class B, class... S> using result = typename wanted_specs<select, S...>::type;
  template <class Bars, class B, class... X>
  constexpr void cost(tally& t, const Bars&, const B& ybar, const X&... x) const {
    t.compute(12 * ybar.local_size(), 2 * ybar.local_bytes() + (x.local_bytes() + ...));
  }
  template <class Bars, class B, class X, class... G>
  void fill(Bars& bars, const B& ybar, const X& x, const G&... g) const {
    using T = value_of<X>;
    T* to[3] = {};
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((to[K] = data_at<K>(bars)), ...);
    }(std::make_index_sequence<sizeof...(G) + 1>{});
    const T* gain[] = {g.data()..., nullptr};
    const index_t n = x.local(X::rank - 1);
    local::normalize_transpose<Center>(n == 0 ? 0 : x.local_size() / n, n, static_cast<T>(epsilon),
                                       ybar.data(), x.data(), gain[0], to[0], to[1], to[2]);
  }

 private:
  template <std::size_t K, class Bars> static auto* data_at(Bars& bars) {
    if constexpr (select::at[K])
      return item<select::place(K)>(bars).data();
    else
      return nullptr;
  }
};

/// x[..., D], gain[D] and bias[D] as far as there are any; D is whole.
template <bool Center> struct norm_op {
  double epsilon;

  template <class S, class... G> using result = S;
  template <class Y, class X, class... G>
  constexpr void cost(tally& t, const Y& y, const X& x, const G&...) const {
    t.compute((Center ? 8 : 6) * y.local_size(), y.local_bytes() + x.local_bytes());
  }
  static constexpr bool needs(int k, unsigned wanted) {
    return k == 0 || (k == 1 && (wanted & 1u) != 0);
  }
  template <class Y, class X, class... G> void fill(Y& y, const X& x, const G&... g) const {
    static_assert(is_on_host<Y>, "norm: the kernel runs on the host only; use a host space");
    using T = value_of<X>;
    const T* rows[] = {g.data()..., nullptr, nullptr};
    const index_t n = x.local(X::rank - 1);
    local::normalize<Center>(n == 0 ? 0 : x.local_size() / n, n, static_cast<T>(epsilon), x.data(),
                             rows[0], rows[1], y.data());
  }
  template <bool... Wanted, std::size_t N, class B, class Y, class... X>
  constexpr auto transpose(const slots<N>& to, const B& ybar, const Y&, const X&... x) const {
    return all_wanted<Wanted...>(norm_transpose_op<Center, Wanted...>{epsilon}, to, ybar, x...);
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
inline constexpr bool norm_is_local =
    index_of<D, typename spec_of<X>::dims> == X::rank - 1 && !is_split<spec_of<X>, D> &&
    std::is_floating_point_v<value_of<X>> &&
    (std::is_same_v<typename spec_of<G>::dims, list<D>> && ...) &&
    (std::is_same_v<value_of<G>, value_of<X>> && ...);

template <bool Center, class D, class X, class... G>
constexpr auto normalized(double epsilon, const X& x, const G&... g) {
  using dims = typename over_dims_fault<false, X, D>::type;
  if constexpr (!ok<dims> || is_poison<X> || (is_poison<G> || ...)) {
    return poison{};
  } else if constexpr (!ok<map_fault<join_kind::nonlinear, X, G...>>) {
    return poison{};
  } else if constexpr (is_storage_only<value_of<X>>) {  // in float, and rounded once
    return cast<value_of<X>>(normalized<Center, D>(epsilon, cast<computed<value_of<X>>>(x),
                                                   cast<computed<value_of<G>>>(g)...));
  } else if constexpr (norm_is_local<D, X, G...>) {
    return apply(norm_op<Center>{epsilon}, x, g...);
  } else if constexpr (Center) {
    const auto centered = x - complete(mean<D>(x));
    const auto variance =
        complete(mean<D>(map_as<join_kind::nonlinear>(square_function{}, centered)));
    return map_as<join_kind::nonlinear>(normalize_function{epsilon}, centered, variance, g...);
  } else {
    const auto square = complete(mean<D>(map_as<join_kind::nonlinear>(square_function{}, x)));
    return map_as<join_kind::nonlinear>(normalize_function{epsilon}, x, square, g...);
  }
}

}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * gain + bias, mean and variance over D (Ba, Kiros and
/// Hinton 2016, section 3). Shapes: gain and bias, if given, any dims of x. Communicates where D is
/// split: completes a mean and a variance.
template <Dim D, Operand X, Operand... G>
  requires(sizeof...(G) <= 2)
constexpr auto layer_norm(double epsilon, const X& x, const G&... gain_and_bias) {
  using fault = typename detail::over_dims_fault<false, X, D>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "layer_norm: the tensor lacks this dim; name one of its own");
  static_assert(ok<only<fault, partial_operand>>,
                "layer_norm: the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "layer_norm: blocks of this dim carry a halo, which would count twice; take the "
                "tensor without it");
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X, G...>>,
                "layer_norm: gain and bias do not fit the tensor; complete what is partial, "
                "relayout what is split differently");
  return detail::normalized<true, D>(epsilon, x, gain_and_bias...);
}
/// The same with an epsilon of 1e-5.
template <Dim D, Operand X, Operand... G>
  requires(sizeof...(G) <= 2)
constexpr auto layer_norm(const X& x, const G&... gain_and_bias) {
  return dimesh::layer_norm<D>(1e-5, x, gain_and_bias...);
}

/// x / sqrt(mean of squares + epsilon) * gain, the mean over D (Zhang and Sennrich 2019, section
/// 4). Shapes and communication as layer_norm.
template <Dim D, Operand X, Operand... G>
  requires(sizeof...(G) <= 1)
constexpr auto rms_norm(double epsilon, const X& x, const G&... gain) {
  using fault = typename detail::over_dims_fault<false, X, D>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "rms_norm: the tensor lacks this dim; name one of its own");
  static_assert(ok<only<fault, partial_operand>>,
                "rms_norm: the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "rms_norm: blocks of this dim carry a halo, which would count twice; take the "
                "tensor without it");
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X, G...>>,
                "rms_norm: the gain does not fit the tensor; complete what is partial, relayout "
                "what is split differently");
  return detail::normalized<false, D>(epsilon, x, gain...);
}
/// The same with an epsilon of 1e-5.
template <Dim D, Operand X, Operand... G>
  requires(sizeof...(G) <= 1)
constexpr auto rms_norm(const X& x, const G&... gain) {
  return dimesh::rms_norm<D>(1e-5, x, gain...);
}

}  // namespace dimesh
