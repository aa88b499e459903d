// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How wrong are logits about the class of each row? The logarithm of the sum of their exponentials
// less the target's logit. Nothing as large as the logits is kept, and nothing but a number a row
// communicated where the classes are split: their maximum and the sum of exponentials. The result
// is a sum yet to be made there; a mean over rows, completed, moves one number.
//
//   softmax_cross_entropy<vocab>(logits[batch/rows, vocab/cols], target[batch/rows])
//     -> [batch/rows], partial over cols
#pragma once

#include "dimesh/detail/number_given.hpp"
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

/// What is left of the logits without their classes.
template <class D> using rows_rule = reduce_rule<use::partial, false, D>;

/// sum over D of exp(x - m), without an array of exponentials.
template <class T> struct exp_sum_op {
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(2 * x[0].elements(), x[0].bytes() + 2 * y[0].bytes());
  }
  void fill(results y, operands x) const {
    local::map_reduce_over(local::plus{}, loops_over(loop_dims(x[0]), y[0], x[0], x[1]),
                           shifted_exp_function{}, y[0].data<T>(), x[0].data<const T>(),
                           x[1].data<const T>());
  }
};

/// What a rank has of the classes, the last dim of x.
inline local::cross_entropy_terms terms_of(const cross_entropy_options& o, const tensor_core& x) {
  const int d = x.rank() - 1;
  const bool first = x.grid->is_first(x.layout().axes_of(d));
  return {o.label_smoothing, o.z_loss, x.own(d).offset, x.extent(d), first};
}

/// xbar[rows..., D] from ybar[rows...], x, the rows' log-sum-exps and their targets.
template <class T, class I> struct cross_entropy_transpose_op {
  cross_entropy_options options;

  constexpr void cost(tally& t, results y, operands in) const {
    t.compute(4 * in[1].elements(), y[0].bytes() + in[1].bytes());
  }
  void fill(results y, operands in) const {
    const tensor_core& x = in[1];
    local::cross_entropy_transpose(in[2].elements(), x.local(x.rank() - 1), terms_of(options, x),
                                   in[0].data<const T>(), x.data<const T>(), in[2].data<const T>(),
                                   in[3].data<const I>(), y[0].data<T>());
  }
};

/// x[rows..., D], the log-sum-exps over D and targets [rows...]. The derivative is that of the loss
/// with lse as a function of x.
template <class T, class I> struct cross_entropy_op {
  cross_entropy_options options;

  constexpr void cost(tally& t, results y, operands in) const {
    const bool all = options.label_smoothing != 0;
    t.compute(all ? in[0].elements() : y[0].elements(),
              4 * y[0].bytes() + (all ? in[0].bytes() : 0));
  }
  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
#ifdef DIMESH_CHECKED
    require_places<I>("softmax_cross_entropy", in[2], *x.facts->dim[x.rank() - 1],
                      x.extent(x.rank() - 1));
#endif
    local::cross_entropy(in[1].elements(), x.local(x.rank() - 1), terms_of(options, x),
                         x.data<const T>(), in[1].data<const T>(), in[2].data<const I>(),
                         y[0].data<T>());
  }
  static constexpr bool needs(int k, unsigned) { return k >= 0; }
  constexpr void transpose(const auto& to) const {
    to.give(0, cross_entropy_transpose_op<T, I>{options}, to.ybar, to.x(0), to.x(1), to.x(2));
  }
};

/// The target must have the dims of x but D, split alike.
template <class D> struct cross_entropy_rule {
  using named = list<D>;
  static constexpr bool of_reals = true;
  template <class Logits, class> struct dims : remaining<Logits, named> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome rows = reduce_rule_of(x[0], dims_in<named>, out, use::partial, false);
    if (!rows.ok()) return rows;
    for (int i = 0; i < out.size; ++i)
      if (x[1].place_of(out[i]) < 0) return blamed(fault_code::dim_not_in_tensor, out[i]);
    for (int d = 0; d < x[1].rank; ++d)
      if (!out.has(x[1].dim[d])) return blamed(fault_code::dim_not_in_order, x[1].dim[d]);
    const outcome both = join_rule(join_kind::nonlinear, x, dim_union(x).all());
    return both.ok() ? rows : both;
  }
};

template <class D, class X, class I>
constexpr auto cross_entropy_of(const cross_entropy_options& options, const X& x, const I& target) {
  const auto& logits = as_constant(x);
  const auto m = complete(max<D>(logits));
  using T = value_of<X>;
  using rows = rows_rule<D>;
  const auto s = complete(apply_rule<rows, T>(exp_sum_op<T>{}, logits, m));
  const auto lse = map_as<join_kind::nonlinear>(log_plus_shift_function{}, s, m);
  return apply_rule<rows, T>(cross_entropy_op<T, value_of<I>>{options}, x, lse, target);
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(exp_sum_op<float>, 0);
DIMESH_INSTANCE(exp_sum_op<double>, 0);
DIMESH_INSTANCE(cross_entropy_op<float, int>, 0);
DIMESH_INSTANCE(cross_entropy_op<float, int>, 1);
DIMESH_INSTANCE(cross_entropy_op<double, int>, 0);
DIMESH_INSTANCE(cross_entropy_op<double, int>, 1);

}  // namespace detail

/// -log softmax(logits)[target] over D, for every row. Shapes: [.., D, ..] and whole numbers [..]
/// -> [..]; rows whose target is no place of D count 0. Communicates where D is split: completes a
/// maximum and a sum for every row; the result is partial along these axes. Of logits in bfloat16
/// the loss is float, of integers double. Throws dimesh::error unless the label smoothing is from 0
/// to 1, and the weight of z_loss at least 0 and finite; in checked builds also for targets that
/// are no place of D and not -1: it names the row.
template <Dim D, Operand X, Operand I>
constexpr auto softmax_cross_entropy(const X& logits, const I& target,
                                     const cross_entropy_options& options = {}) {
  using fault = detail::fault_of<detail::cross_entropy_rule<D>, X, I>;
  constexpr bool classes = !std::is_same_v<fault, dim_not_in_tensor<D>>;
  static_assert(ok<std::conditional_t<classes, no_fault, fault>>,
                "softmax_cross_entropy: the first operand, the logits, lacks the dim of the "
                "classes; name one that it has, and give logits first, then targets");
  static_assert(
      ok<std::conditional_t<classes, only<fault, dim_not_in_tensor, dim_not_in_order>, no_fault>>,
      "softmax_cross_entropy: the targets have the dims of the logits without that of "
      "the classes; take off the others, or name the classes");
  static_assert(ok<only<fault, partial_operand>>,
                "softmax_cross_entropy: an operand is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, element_is_complex>>,
                "softmax_cross_entropy: logits are real, and these are complex; take real(x) or "
                "norm2(x) first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "softmax_cross_entropy: blocks of this dim carry a halo, which would count twice; "
                "take the tensor without it");
  static_assert(
      ok<only<fault, dims_share_mesh_axis, dim_split_in_one_operand_only, dim_split_differently>>,
      "softmax_cross_entropy: logits and targets are split differently; relayout the targets");
  static_assert(ok<only<fault, meshes_differ>>,
                "softmax_cross_entropy: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "softmax_cross_entropy: logits and targets live on different ranks of this axis; "
                "place<axis, k> what all of them hold (free), or send<axis, k> the other");
  static_assert(!ok<fault> || detail::holds_places<I>,
                "softmax_cross_entropy: targets are whole numbers; cast them to an integer type");
  if constexpr (!ok<fault> || is_poison<X> || is_poison<I>) {
    return poison{};
  } else if constexpr (!detail::holds_places<I>) {
    return poison{};
  } else if constexpr (is_storage_only<value_of<X>>) {
    return dimesh::softmax_cross_entropy<D>(cast<computed<value_of<X>>>(logits), target, options);
  } else if constexpr (std::is_integral_v<value_of<X>>) {
    return dimesh::softmax_cross_entropy<D>(cast<double>(logits), target, options);
  } else {
    detail::require_part("softmax_cross_entropy", "label smoothing", options.label_smoothing);
    detail::require_not_negative("softmax_cross_entropy", "weight of z_loss", options.z_loss);
    detail::check<detail::cross_entropy_rule<D>>("softmax_cross_entropy", logits, target);
    using rest = typename detail::remaining<typename spec_of<X>::dims, detail::list<D>>::type;
    using rows_first = typename detail::concat_impl<rest, detail::list<D>>::type;
    return detail::cross_entropy_of<D>(options, detail::permuted<rows_first>(logits),
                                       detail::permuted<rest>(target));
  }
}

}  // namespace dimesh
