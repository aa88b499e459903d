// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Can a Transformer be computed under a layout? The dims that meet in each of its products must not
// share an axis. Said once, where a model is named, and not deep inside its layers.
//
//   model_fault<layout<pod, split<length, cols>, split<heads, cols>>, M>
//     -> dims_share_mesh_axis<length, heads, cols>;  no_fault with split_if_free<length, cols>
#pragma once

#include "dimesh/layout/canonical.hpp"
#include "dimesh/nn/config.hpp"

namespace dimesh::nn {

namespace detail {

template <class F> inline constexpr bool is_shared_axis = false;
template <class D, class E, class A>
inline constexpr bool is_shared_axis<dims_share_mesh_axis<D, E, A>> = true;

/// The first fault of the kind that only products show; others are of tensors, which say so.
template <class... F> struct first_shared_axis {
  using type = no_fault;
};
template <class F, class... Rest>
struct first_shared_axis<F, Rest...> : first_shared_axis<Rest...> {};
template <class F, class... Rest>
  requires is_shared_axis<F>
struct first_shared_axis<F, Rest...> {
  using type = F;
};

template <class C, class M, class Heads> struct attention_fault;
template <class C, class M, class... H> struct attention_fault<C, M, shape<H...>> {
  using type = layout_fault<C, typename M::batch, typename M::length, typename M::model, H...,
                            typename M::head>;
};
template <class C, class M, class D>
using product_fault = layout_fault<C, typename M::batch, typename M::length, typename M::model, D>;

}  // namespace detail

/// What keeps a model of the form M from being computed under C; no_fault if nothing.
template <class C, class M> struct model_fault_of {
  using type = no_fault;  // C is no layout, which has been said
};
template <Layout C, class M>
struct model_fault_of<C, M>
    : detail::first_shared_axis<typename detail::attention_fault<C, M, typename M::heads>::type,
                                detail::product_fault<C, M, typename M::hidden>,
                                detail::product_fault<C, M, typename M::vocab>> {};
template <class C, class M> using model_fault = typename model_fault_of<C, M>::type;

/// The base of every model with this fault.
template <class Fault> struct computable {
  static_assert(ok<only<Fault, dims_share_mesh_axis>>,
                "nn: the compute layout splits two dims that meet in a product over the same mesh "
                "axis; split one of them over another axis, or let it give way: split_if_free");
  static constexpr bool is_computable = ok<Fault>;
};

}  // namespace dimesh::nn
