// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How wrong are logits about the class of each row? The logarithm of the sum of their exponentials
// less the target's logit. Nothing as large as the logits is kept, and nothing but a number a row
// communicated where the classes are split: their maximum and the sum of exponentials. The result
// is a sum yet to be made there; a mean over rows, completed, moves one number.
//
//   softmax_cross_entropy<vocab>(logits[batch/rows, vocab/cols], target[batch/rows])
//     -> [batch/rows], partial over cols
#pragma once

#include "dimesh/local/cross_entropy.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/one_hot.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/softmax.hpp"

namespace dimesh {

/// What softmax_cross_entropy adds to the plain loss.
struct cross_entropy_options {
  double label_smoothing = 0;  ///< part of the target's weight that all classes share evenly
                               ///< (Szegedy et al. 2016, section 7)
  double z_loss = 0;  ///< weight of log-sum-exp squared (Mesh-TensorFlow; PaLM, section 5)
};

namespace detail {

template <class S, class D>
using rows_spec = reduced_spec<use::partial, typename S::value_type, S, list<D>>;

/// sum over D of exp(x - m), without an array of exponentials.
template <class D> struct exp_sum_op {
  template <class S, class> using result = rows_spec<S, D>;
  template <class Y, class X, class M>
  constexpr void cost(tally& t, const Y& y, const X& x, const M&) const {
    t.compute(2 * x.local_size(), x.local_bytes() + 2 * y.local_bytes());
  }
  template <class Y, class X, class M> void fill(Y& y, const X& x, const M& m) const {
    using loop = typename spec_of<X>::dims;
    using rest = typename spec_of<Y>::dims;
    using plan = nest_plan<loop, rest, loop, rest>;
    using T = value_of<X>;
    local::map_reduce(local::plus{}, plan::nest(x), shifted_exp_function{},
                      plan::template operand<0, T>(y.data(), y),
                      plan::template operand<1, const T>(x.data(), x),
                      plan::template operand<2, const T>(m.data(), m));
  }
};

template <class X> local::cross_entropy_terms terms_of(const cross_entropy_options& o, const X& x) {
  constexpr int d = X::rank - 1;
  const bool first = x.grid().state().is_first(spec_of<X>::table.axes_of(d));
  return {o.label_smoothing, o.z_loss, x.block(d).offset,
          x.shape().extents()[static_cast<std::size_t>(d)], first};
}

/// xbar[rows..., D] from ybar[rows...], x, the rows' log-sum-exps and their targets.
struct cross_entropy_transpose_op {
  cross_entropy_options options;
  template <class B, class S, class, class> using result = cotangent_spec<S>;
  template <class Y, class B, class X, class... More>
  constexpr void cost(tally& t, const Y& y, const B&, const X& x, const More&...) const {
    t.compute(4 * x.local_size(), y.local_bytes() + x.local_bytes());
  }
  template <class Y, class B, class X, class E, class I>
  void fill(Y& y, const B& ybar, const X& x, const E& lse, const I& target) const {
    local::cross_entropy_transpose(lse.local_size(), x.local(X::rank - 1), terms_of(options, x),
                                   ybar.data(), x.data(), lse.data(), target.data(), y.data());
  }
};

/// x[rows..., D], the log-sum-exps over D and targets [rows...]. The derivative is that of the loss
/// with lse as a function of x.
template <class D> struct cross_entropy_op {
  cross_entropy_options options;
  template <class S, class, class> using result = rows_spec<S, D>;
  template <class Y, class X, class... More>
  constexpr void cost(tally& t, const Y& y, const X& x, const More&...) const {
    const bool all = options.label_smoothing != 0;
    t.compute(all ? x.local_size() : y.local_size(), 4 * y.local_bytes() + all * x.local_bytes());
  }
  template <class Y, class X, class E, class I>
  void fill(Y& y, const X& x, const E& lse, const I& target) const {
    static_assert(is_on_host<Y>,
                  "cross_entropy: the kernel runs on the host only; use a host space");
    local::cross_entropy(lse.local_size(), x.local(X::rank - 1), terms_of(options, x), x.data(),
                         lse.data(), target.data(), y.data());
  }
  static constexpr bool needs(int k, unsigned) { return k >= 0; }
  template <bool, bool, bool, class B, class Y, class X, class E, class I>
  constexpr auto transpose(const slots<3>& to, const B& ybar, const Y&, const X& x, const E& lse,
                           const I& target) const {
    return bundle(
        apply_into(cross_entropy_transpose_op{options}, slots<1>{{to.at[0]}}, ybar, x, lse, target),
        none{}, none{});
  }
};

/// The target must have the dims of x but D, split alike.
template <class D, class X, class I> struct cross_entropy_fault {
  using S = spec_of<X>;
  using rest = typename remaining<typename S::dims, list<D>>::type;
  static constexpr auto find() {
    using over = typename over_dims_fault<false, X, D>::type;
    if constexpr (!ok<over>)
      return tag<over>{};
    else if constexpr (!ok<typename permute_fault<rest, I>::type>)
      return tag<typename permute_fault<rest, I>::type>{};
    else
      return tag<map_fault<join_kind::nonlinear, X, I>>{};
  }
  using type = typename decltype(find())::type;
};
template <class D, class X, class I>
  requires(is_poison<X> || is_poison<I>)
struct cross_entropy_fault<D, X, I> {
  using type = no_fault;
};

template <class D, class X, class I>
constexpr auto cross_entropy_of(const cross_entropy_options& options, const X& x, const I& target) {
  const auto logits = dimesh::stop_gradient(x);
  const auto m = complete(max<D>(logits));
  const auto s = complete(apply(exp_sum_op<D>{}, logits, m));
  const auto lse = map_as<join_kind::nonlinear>(log_plus_shift_function{}, s, m);
  return apply(cross_entropy_op<D>{options}, x, lse, target);
}

}  // namespace detail

/// -log softmax(logits)[target] over D, for every row. Shapes: [.., D, ..] and whole numbers [..]
/// -> [..]; rows whose target is no place of D count 0. Communicates where D is split: completes a
/// maximum and a sum for every row; the result is partial along these axes. Of logits in bfloat16
/// the loss is float.
template <Dim D, Operand X, Operand I>
constexpr auto softmax_cross_entropy(const X& logits, const I& target,
                                     const cross_entropy_options& options = {}) {
  using fault = typename detail::cross_entropy_fault<D, X, I>::type;
  static_assert(ok<only<fault, dim_not_in_tensor, dim_not_in_order>>,
                "softmax_cross_entropy: the targets have the dims of the logits without that of "
                "the classes; take off the others, or name the classes");
  static_assert(ok<only<fault, partial_operand>>,
                "softmax_cross_entropy: an operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "softmax_cross_entropy: blocks of this dim carry a halo, which would count twice; "
                "take the tensor without it");
  static_assert(
      ok<only<fault, dims_share_mesh_axis, dim_split_in_one_operand_only, dim_split_differently>>,
      "softmax_cross_entropy: logits and targets are split differently; relayout the targets");
  static_assert(ok<only<fault, meshes_differ>>,
                "softmax_cross_entropy: the operands live on different meshes; put them on one");
  static_assert(detail::holds_places<I>,
                "softmax_cross_entropy: targets are whole numbers; cast them to an integer type");
  if constexpr (!ok<fault> || is_poison<X> || is_poison<I>) {
    return poison{};
  } else if constexpr (!detail::holds_places<I>) {
    return poison{};
  } else if constexpr (is_storage_only<value_of<X>>) {
    return dimesh::softmax_cross_entropy<D>(cast<computed<value_of<X>>>(logits), target, options);
  } else {
    using rest = typename detail::remaining<typename spec_of<X>::dims, detail::list<D>>::type;
    using rows_first = typename detail::concat_impl<rest, detail::list<D>>::type;
    return detail::cross_entropy_of<D>(options, detail::permuted<rows_first>(logits),
                                       detail::permuted<rest>(target));
  }
}

}  // namespace dimesh
