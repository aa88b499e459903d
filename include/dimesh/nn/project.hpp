// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a model mention no layout and yet run under any? Its layers are told one list of rules,
// the compute layout C, and bring every operand to what C says of the dims that meet. These layers
// communicate exactly where C makes them: `project` gathers what C splits otherwise, multiplies,
// and sums (or scatters) what came out partial.
//
//   const nn::model<C> m;
//   project(m, x[batch, length, model], w[model, ff])  -> [batch, length, ff] under C
//
//   C splits ff over cols      column-parallel: no communication forward
//   C splits ff, w[ff, model]  row-parallel: one all-reduce over cols; a reduce-scatter if C splits
//                              length over cols where it is free (sequence parallelism)
//   w stored with spread<rows> gathered here, its gradient scattered (ZeRO stage 3, FSDP)
#pragma once

#include <initializer_list>

#include "dimesh/nn/model.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/relayout.hpp"

namespace dimesh::nn {

namespace detail {

using dimesh::detail::asserted;
using dimesh::detail::concat_impl;
using dimesh::detail::has_layout;
using dimesh::detail::list;
using dimesh::detail::remaining;
using dimesh::detail::tag;
using dimesh::detail::united;

/// The layout that C gives a tensor with all dims of a list.
template <class C, class Dims>
using layout_over = typename dimesh::detail::canonical_over<C, Dims>::type;

/// The layout that C gives a tensor with the dims of both.
template <class C, class X, class W>
using product_layout = layout_over<C, united<typename spec_of<X>::dims, typename spec_of<W>::dims>>;

template <class X, class W> struct projected {
  using of_x = typename spec_of<X>::dims;
  using of_w = typename spec_of<W>::dims;
  using type = typename concat_impl<typename remaining<of_x, of_w>::type,
                                    typename remaining<of_w, of_x>::type>::type;
};

/// Of weights that share no dim with x: their first dim.
template <class X, class W, class Dims> struct shared_fault {
  using type = no_fault;
};
template <class X, class W, class First, class... D>
  requires((dimesh::detail::index_of<First, typename spec_of<X>::dims> < 0) && ... &&
           (dimesh::detail::index_of<D, typename spec_of<X>::dims> < 0))
struct shared_fault<X, W, list<First, D...>> {
  using type = dim_not_in_tensor<First>;
};

template <class T, class... Out, class X, class W>
constexpr auto product(list<Out...>, const X& x, const W& w) {
  if constexpr (std::is_void_v<T>)
    return einsum<Out...>(x, w);
  else
    return einsum<T, Out...>(x, w);
}

}  // namespace detail

namespace detail {

// Most layouts ask nothing of most operands. These give a reference to x or w where nothing is to
// be done, for calls that end before it does: a copy of a tensor is two calls, and an exception's
// way out, in the code of each layout.

/// x under layout L.
template <class L, class X> constexpr decltype(auto) brought(const X& x) {
  if constexpr (has_layout<L, X>)
    return (x);
  else
    return relayout<L>(x);
}
/// x in elements T.
template <class T, class X> constexpr decltype(auto) in_elements(const X& x) {
  if constexpr (is_poison<X>)
    return poison{};
  else if constexpr (std::is_same_v<T, value_of<X>>)
    return (x);
  else
    return cast<T>(x);
}
/// beside<D...>(m, x).
template <class... D, class C, class M, class X>
constexpr decltype(auto) brought_beside(const model<C, M>&, const X& x) {
  if constexpr (is_poison<X>) {
    return poison{};
  } else {
    return brought<layout_over<C, united<typename spec_of<X>::dims, list<D...>>>>(x);
  }
}
/// beside_tensor(m, x, w).
template <class C, class M, class X, class W>
constexpr decltype(auto) brought_to(const model<C, M>&, const X&, const W& w) {
  if constexpr (is_poison<X> || is_poison<W>) {
    return poison{};
  } else {
    using L = product_layout<C, X, W>;
    using A = value_of<X>;
    using B = value_of<W>;
    if constexpr (!std::is_same_v<A, B> && dimesh::is_real<A> && dimesh::is_real<B>)
      return relayout<L>(cast<A>(w));
    else if constexpr (has_layout<L, W>)
      return (w);
    else
      return relayout<L>(w);
  }
}

}  // namespace detail

/// x under the layout that the model's C gives a tensor with the dims of x and D... beside each
/// other: what an operation of x with a tensor of dims D... needs. Shapes stay. Communicates as
/// relayout does.
template <Dim... D, Layout C, class M, Operand X>
constexpr auto beside(const model<C, M>& m, const X& x) {
  return detail::brought_beside<D...>(m, x);
}

/// A parameter under the layout that the model's C gives it in an operation with x, and of x's
/// element type where both are real: a master in float is cast before it travels.
template <Layout C, class M, Operand X, Operand W>
constexpr auto beside_tensor(const model<C, M>& m, const X& x, const W& w) {
  return detail::brought_to(m, x, w);
}

/// The product of x and w, summed over the dims that they share, in elements of x's type or of T.
/// Shapes: the dims of x that w lacks, then those of w that x lacks, under C. Communicates as C
/// makes it: see above.
template <class T = void, Layout C, class M, Operand X, Operand W>
constexpr auto project(const model<C, M>& m, const X& x, const W& w) {
  if constexpr (is_poison<X> || is_poison<W>) {
    return poison{};
  } else {
    using out = typename detail::projected<X, W>::type;
    using fault = typename detail::shared_fault<X, W, typename spec_of<W>::dims>::type;
    static_assert(ok<only<fault, dim_not_in_tensor>>,
                  "project: the weights share no dim with the tensor, so that nothing would be "
                  "summed; name the dim to be summed in both");
    if constexpr (!ok<fault>) {
      return poison{};
    } else {
      const auto& in = detail::brought<detail::product_layout<C, X, W>>(x);
      const auto& weights = detail::brought_to(m, x, w);
      using Y = decltype(detail::product<T>(out{}, in, weights));
      if constexpr (detail::has_layout<C, Y>)
        return detail::product<T>(out{}, in, weights);
      else
        return relayout<C>(detail::product<T>(out{}, in, weights));
    }
  }
}

namespace detail {

template <class C, class M> std::true_type is_model_test(const model<C, M>*);
std::false_type is_model_test(const void*);
template <class X>
inline constexpr bool is_model = decltype(is_model_test(static_cast<const X*>(nullptr)))::value;

/// A call that begins with a model, and then has so many arguments, from place `function` (if any)
/// another thing and else tensors: which arguments are models, and which tensors. (Of values: a
/// template would be another function for each call of a layer.)
constexpr bool fits_layer(std::size_t least, std::size_t most, std::size_t function,
                          std::initializer_list<bool> model, std::initializer_list<bool> tensor) {
  if (model.size() < least || model.size() > most) return false;
  for (std::size_t i = 0; i < model.size(); ++i)
    if (i == 0 ? !model.begin()[i] : tensor.begin()[i] == (i == function)) return false;
  return true;
}

}  // namespace detail

/// What layers say to other arguments, or to the same in another order.
template <class... Named, class... A>
  requires(!detail::fits_layer(3, 3, 0, {detail::is_model<A>...}, {Operand<A>...}))
constexpr poison project(const A&...) {
  static_assert(
      ok<wrong_arguments<A...>>,
      "project: the arguments are a model and two tensors: project(nn::model<C>{}, x, w)");
  return {};
}

}  // namespace dimesh::nn
