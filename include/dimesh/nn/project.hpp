// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a model mention no layout and yet run under any? Its layers are told one list of rules,
// the compute layout C, and bring every operand to what C says of the dims that meet. These layers
// communicate exactly where C makes them: `project` gathers what C splits otherwise, multiplies,
// and sums (or scatters) what came out partial.
//
//   project<C>(x[batch, length, model], w[model, ff])  -> [batch, length, ff] under C
//
//   C splits ff over cols      column-parallel: no communication forward
//   C splits ff, w[ff, model]  row-parallel: one all-reduce over cols; a reduce-scatter if C splits
//                              length over cols where it is free (sequence parallelism)
//   w stored with spread<rows> gathered here, its gradient scattered (ZeRO stage 3, FSDP)
#pragma once

#include "dimesh/op/einsum.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/relayout.hpp"

namespace dimesh::nn {

namespace detail {

using dimesh::detail::concat_impl;
using dimesh::detail::list;
using dimesh::detail::remaining;
using dimesh::detail::tag;
using dimesh::detail::united;

/// The layout that C gives a tensor with all dims of a list.
template <class C, class Dims>
using layout_over = typename dimesh::detail::canonical_over<C, Dims>::type;

/// The dims of S that are not in the list.
template <class S, class Gone> using dims_less = typename remaining<typename S::dims, Gone>::type;

template <class X, class W> struct projected {
  using type = typename concat_impl<dims_less<spec_of<X>, typename spec_of<W>::dims>,
                                    dims_less<spec_of<W>, typename spec_of<X>::dims>>::type;
};

template <class... Out, class X, class W>
constexpr auto product(list<Out...>, const X& x, const W& w) {
  return einsum<Out...>(x, w);
}

}  // namespace detail

/// x under the layout that C gives a tensor with the dims of x and D... beside each other: what an
/// operation of x with a tensor of dims D... needs. Shapes stay. Communicates as relayout does.
template <Layout C, Dim... D, Operand X> constexpr auto beside(const X& x) {
  if constexpr (is_poison<X>)
    return poison{};
  else
    return relayout<
        detail::layout_over<C, detail::united<typename spec_of<X>::dims, detail::list<D...>>>>(x);
}

/// A parameter under the layout that C gives it in an operation with x.
template <Layout C, Operand X, Operand W> constexpr auto beside_tensor(const X&, const W& w) {
  if constexpr (is_poison<X> || is_poison<W>)
    return poison{};
  else
    return relayout<detail::layout_over<
        C, detail::united<typename spec_of<X>::dims, typename spec_of<W>::dims>>>(w);
}

/// The product of x and w, summed over the dims that they share. Shapes: the dims of x that w
/// lacks, then those of w that x lacks, under C. Communicates as C makes it: see above.
template <Layout C, Operand X, Operand W> constexpr auto project(const X& x, const W& w) {
  if constexpr (is_poison<X> || is_poison<W>) {
    return poison{};
  } else {
    using out = typename detail::projected<X, W>::type;
    return relayout<C>(detail::product(out{}, beside_tensor<C>(w, x), beside_tensor<C>(x, w)));
  }
}

}  // namespace dimesh::nn
