// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program compute under layouts that nobody compiled it for? On tensors whose element
// and dims are types, and whose layout is a value. The same text runs on them as on other tensors,
// once compiled for all layouts; the rules that types are checked by elsewhere are asked when it
// runs, and what they forbid throws dimesh::error.
//
//   const under_layout here(layout_value<pod>(hybrid{}));
//   runtime_tensor<float, pod, batch, hidden> x(g), w(g);     // blocks as hybrid says
//   auto y = complete(einsum<batch, label>(x, w));            // its layout follows, as in types
//   describe(y)                                               -> "float[batch=256/rows:2, ..."
//
// A struct of tensors under layout<pod, held_at_run_time> has such members. Rules are asked at each
// call, and facts of a layout looked up; the rest is what runs for types.
#pragma once

#include "dimesh/plan/probe.hpp"

namespace dimesh {

/// A tensor with elements T, dims D..., and a layout of mesh M that is a value. Made under the
/// rules of the innermost under_layout<M>; throws dimesh::error where there is none, or where these
/// dims cannot have the layout. Results have the layouts that rules say. What reads a type's layout
/// to find its own type (stages of a pipeline, ZeRO's shards, what Adafactor keeps) takes tensors
/// whose layout is a type.
template <class T, Mesh M, Dim... D>
using runtime_tensor = tensor<T, layout<M, held_at_run_time>, D...>;

namespace detail {

template <class Fault, class T, class M, class... D> struct formed_runtime_tensor {
  using type = malformed_tensor<Fault, M>;
};
template <class T, class M, class... D> struct formed_runtime_tensor<no_fault, T, M, D...> {
  using type = basic_tensor<T, layout<M, at_run_time>, D...>;
};
template <class T, class M, class... D>
struct tensor_type<T, layout<M, held_at_run_time>, D...>
    : formed_runtime_tensor<layout_fault<layout<M, at_run_time>, D...>, T, M, D...> {};

template <class S> const tensor_facts& facts_now() {
  constexpr dim_list dims = dims_in<typename S::dims>;
  const outcome o = target<typename S::layout>::of(dims);
  if (!o.ok())
    refuse_layout("tensor", o, o.axis < 0 ? "" : names<typename S::mesh::axes>::at[o.axis]);
  bool special = o.layout.mask(use::partial_max) != 0 || o.layout.mask(use::partial_min) != 0;
  for (int d = 0; d < S::rank; ++d) special = special || o.layout.halo[d].any();
  if (special)
    (words() << "tensor: a layout that is a value has halos, or maxima yet to be found, and no "
                "tensor begins so; make it without, then halo_exchange, or max over a dim")
        .raise();
  return facts_under(spec_facts<S>, o.layout);
}

}  // namespace detail
}  // namespace dimesh
