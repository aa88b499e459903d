// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a layer of a network between its products? Bias and activation in one pass over memory,
// gated or not; a residual sum; a norm. They communicate as `project` (nn/project.hpp) does.
//
//   const nn::model<C> m({.dropout = 0.1, .key = key});
//   dense(m, relu_activation{}, x[batch, pixel], w[pixel, hidden], b[hidden])  -> [batch, hidden]
//   gated(m, silu_activation{}, x, w, v)                  -> silu(x.w) * (x.v)
//   residual(m, x, y)                                     -> x + dropout(y)
#pragma once

#include "dimesh/nn/config.hpp"
#include "dimesh/nn/project.hpp"
#include "dimesh/op/dropout.hpp"
#include "dimesh/op/norm.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::nn {

namespace detail {

template <class F> struct biased_function {
  F f;
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return f(a + b);
  }
};
template <class F> struct gated_function {
  F f;
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return f(a) * b;
  }
};
/// The sum of three: cotangents pass through it, nothing is kept.
struct add_three_function {
  template <class A, class B, class C>
  KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b, const C& c) const {
    return a + b + c;
  }
  static constexpr double weight(int) { return 1; }
  static constexpr bool passes(int) { return true; }
};

template <class F, class... X> constexpr auto map_with(const F& f, const X&... x) {
  return dimesh::detail::map_as<dimesh::detail::join_kind::nonlinear>(f, x...);
}

}  // namespace detail

/// No activation.
struct identity_activation : local::detail::itself {};
struct relu_activation : dimesh::detail::relu_function {};
struct gelu_activation : dimesh::detail::gelu_function {};
struct silu_activation : dimesh::detail::silu_function {};

/// x + b, a bias of any of x's dims, under the layout of x.
template <Layout C, class M, Operand X, Operand B>
constexpr auto add_bias(const model<C, M>& m, const X& x, const B& b) {
  return x + detail::brought_to(m, x, b);
}

/// f(x.w + b) (bias and activation in one pass). Shapes: as project(m, x, w); b any of its dims.
template <Layout C, class M, class F, Operand X, Operand W, Operand B>
  requires(!Operand<F>)
constexpr auto dense(const model<C, M>& m, const F& f, const X& x, const W& w, const B& b) {
  const auto z = project(m, x, w);
  if constexpr (std::is_same_v<F, identity_activation>)
    return add_bias(m, z, b);
  else
    return detail::map_with(detail::biased_function<F>{f}, z, detail::brought_to(m, z, b));
}
/// f(x.w).
template <Layout C, class M, class F, Operand X, Operand W>
  requires(!Operand<F>)
constexpr auto dense(const model<C, M>& m, const F& f, const X& x, const W& w) {
  const auto z = project(m, x, w);
  if constexpr (std::is_same_v<F, identity_activation>)
    return z;
  else
    return detail::map_with(f, z);
}

/// The same of a function by its name: dense(m, relu, x, w, b).
template <Layout C, class M, Operand X, Operand W, class... B,
          class Z = decltype(nn::dense(std::declval<const model<C, M>&>(), identity_activation{},
                                       std::declval<const X&>(), std::declval<const W&>(),
                                       std::declval<const B&>()...))>
  requires(sizeof...(B) <= 1 && (Operand<B> && ...))
constexpr Z dense(const model<C, M>& m,
                  std::type_identity_t<Z> (*f)(const std::type_identity_t<Z>&), const X& x,
                  const W& w, const B&... b) {
  return f(nn::dense(m, identity_activation{}, x, w, b...));
}

/// f(x.w) * (x.v): a gated linear unit (Shazeer 2020). Shapes: as project(m, x, w).
template <Layout C, class M, class F, Operand X, Operand W, Operand V>
constexpr auto gated(const model<C, M>& m, const F& f, const X& x, const W& w, const V& v) {
  return detail::map_with(detail::gated_function<F>{f}, project(m, x, w), project(m, x, v));
}

/// x + dropout(y), by the random numbers of m: what a layer adds to the stream that passes it.
template <Layout C, class M, Operand X, Operand Y>
constexpr auto residual(const model<C, M>& m, const X& x, const Y& y) {
  if (m.run.rate() == 0) return x + y;
  return x + dropout(m.run.rate(), m.run.key, y);
}

/// x + dropout(y + b).
template <Layout C, class M, Operand X, Operand Y, Operand B>
constexpr auto residual(const model<C, M>& m, const X& x, const Y& y, const B& b) {
  const auto& bias = detail::brought_to(m, x, b);
  if (m.run.rate() == 0) return detail::map_with(detail::add_three_function{}, x, y, bias);
  return x + dropout(m.run.rate(), m.run.key, y + bias);
}

// What these say to other arguments, or to the same in another order.
template <class... Named, class... A>
  requires(!detail::fits_layer(4, 5, 1, {detail::is_model<A>...}, {Operand<A>...}))
constexpr poison dense(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "dense: the arguments are a model, an activation and then tensors: "
                "dense(nn::model<C>{}, nn::relu_activation{}, x, w, b)");
  return {};
}
template <class... Named, class... A>
  requires(!detail::fits_layer(5, 5, 1, {detail::is_model<A>...}, {Operand<A>...}))
constexpr poison gated(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "gated: the arguments are a model, an activation and then tensors: "
                "gated(nn::model<C>{}, nn::silu_activation{}, x, w, v)");
  return {};
}
template <class... Named, class... A>
  requires(!detail::fits_layer(3, 4, 0, {detail::is_model<A>...}, {Operand<A>...}))
constexpr poison residual(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "residual: the arguments are a model and then tensors: residual(nn::model<C>{}, x, "
                "y)");
  return {};
}

/// Gain and bias of a norm over the model dim.
template <class L, class M> struct norm_parameters {
  using gain_type = nn::gain<L, M, typename M::model>;
  using bias_type = nn::bias<L, M, M::norm == norm_kind::layer, typename M::model>;
  using described_by = norm_parameters<stating<detail::nowhere>, M>;
  BOOST_HANA_DEFINE_STRUCT(norm_parameters, (gain_type, gain), (bias_type, bias));
};

/// The norm that the model has chosen, over its model dim. Communicates where that is split.
template <Layout C, class M, class P, Operand X>
constexpr auto norm(const model<C, M>& m, const P& p, const X& x) {
  if constexpr (M::norm == norm_kind::layer)
    return layer_norm<typename M::model>(M::epsilon, x, detail::brought_to(m, x, p.gain),
                                         detail::brought_to(m, x, p.bias));
  else
    return rms_norm<typename M::model>(M::epsilon, x, detail::brought_to(m, x, p.gain));
}

template <class... Named, class... A>
  requires(!detail::fits_layer(3, 3, 1, {detail::is_model<A>...}, {Operand<A>...}))
constexpr poison norm(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "norm: the arguments are a model, the parameters of a norm and a tensor: norm(m, "
                "p.last, x)");
  return {};
}

}  // namespace dimesh::nn

namespace dimesh::detail {

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(map_op<nn::detail::biased_function<nn::gelu_activation>, float, float, float>, 0,
                0u);
DIMESH_INSTANCE(map_op<nn::detail::biased_function<nn::gelu_activation>, float, float, float>, 1,
                3u);
DIMESH_INSTANCE(map_op<nn::detail::biased_function<nn::gelu_activation>, double, double, double>, 0,
                0u);
DIMESH_INSTANCE(map_op<nn::detail::biased_function<nn::gelu_activation>, double, double, double>, 1,
                3u);
DIMESH_INSTANCE(map_op<nn::detail::add_three_function, float, float, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<nn::detail::add_three_function, float, float, float, float>, 1, 7u);
DIMESH_INSTANCE(map_op<nn::detail::add_three_function, double, double, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<nn::detail::add_three_function, double, double, double, double>, 1, 7u);

}  // namespace dimesh::detail
