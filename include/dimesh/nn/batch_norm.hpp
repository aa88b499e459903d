// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a layer normalise by its batch in training, and without one afterwards? Gain and bias
// are parameters; mean and variance of what was seen are kept beside them, in a struct of their
// own, since no gradient leads there. Over ranks that split the batch the moments are joined, so
// that training is the same under every layout.
//
//   nn::scale_and_shift<L, float, channel> p;     nn::running_moments<L, float, channel> seen;
//   const auto made = nn::batch_norm<channel>(m, p, x);          // in training: made.y
//   const auto made = nn::batch_norm<channel>(m, p, x, counts, 5);   // of five rows that count
//   nn::keep_moments(seen, made, 0.1);
//   nn::keep_moments(mini, made);  ... nn::keep_moments(seen, mini, 0.1);   // of micro-batches
//   const auto y = nn::batch_norm_by(m, seen, p, x);             // afterwards; local
//   nn::group_norm<channel, group, within, batch>(m, p, x)       // of groups of channels
#pragma once

#include <utility>

#include "dimesh/core/runs_again.hpp"
#include "dimesh/detail/number_given.hpp"
#include "dimesh/nn/dense.hpp"
#include "dimesh/nn/parameter.hpp"
#include "dimesh/op/batch_norm.hpp"
#include "dimesh/op/masked_mean.hpp"
#include "dimesh/op/merge.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh::nn {

/// The parameters of a norm whose channels are D...: x gain + bias. Shapes: [D...].
template <class L, class T, class... D> struct scale_and_shift {
  using gain_type = parameter<ones, T, L, D...>;
  using bias_type = parameter<zeros, T, L, D...>;
  using described_by = scale_and_shift<stating<detail::nowhere>, T, D...>;
  BOOST_HANA_DEFINE_STRUCT(scale_and_shift, (gain_type, gain), (bias_type, bias));
};

/// Mean and variance of what a norm has seen, for use without a batch: 0 and 1 at first (by
/// nn::initialize). Shapes: [D...].
template <class L, class T, class... D> struct running_moments {
  using mean_type = parameter<zeros, T, L, D...>;
  using variance_type = parameter<ones, T, L, D...>;
  using described_by = running_moments<stating<detail::nowhere>, T, D...>;
  BOOST_HANA_DEFINE_STRUCT(running_moments, (mean_type, mean), (variance_type, variance));
};

namespace detail {
template <class R> concept Moments = requires(const R& r) { r.mean, r.variance; };
struct keep_function {
  double part, scale;  // of what is new
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b) const {
    return a + (b * static_cast<A>(scale) - a) * static_cast<A>(part);
  }
};
/// What is kept, after it has met what is seen.
template <class R, class X>
constexpr auto met(const R& running, const X& seen, double part, double scale) {
  using dimesh::detail::join_kind;
  return dimesh::detail::map_called<join_kind::nonlinear>(
      "keep_moments", keep_function{part, scale}, running,
      relayout<typename spec_of<R>::layout>(cast<value_of<R>>(seen)));
}
template <class R, class X> constexpr auto kept_form(const X& seen) {
  using kept = std::remove_cvref_t<decltype(std::declval<R&>().mean)>;
  return relayout<typename spec_of<kept>::layout>(cast<value_of<kept>>(seen));
}
/// What is kept meets a mean and a variance of n elements each.
template <class R, class Seen>
constexpr void keep_these(R& running, const Seen& seen, double n, double part) {
  running.mean = met(running.mean, seen.mean, part, 1);
  running.variance = met(running.variance, seen.variance, part, n > 1 ? n / (n - 1) : 1);
}
/// Is what a batch norm has seen to be counted where tensors are kept?
template <class R, class Seen> constexpr bool counts_for(const R& kept, const Seen& seen) {
  using dimesh::detail::core_of, dimesh::detail::runs_again;
  return !runs_again::now() && (!core_of(seen.mean).is_shape || core_of(kept.mean).is_shape);
}
/// The variance of two populations together, the second of which is `part` of both.
struct join_function {
  double part;
  template <class A, class B, class M, class N>
  KOKKOS_INLINE_FUNCTION auto operator()(const A& a, const B& b, const M& mean,
                                         const N& other) const {
    const A share = static_cast<A>(part), apart = other - mean;
    return a + (b - a) * share + apart * apart * share * (A(1) - share);
  }
};
struct scale_and_shift_function {
  double epsilon;
  template <class X, class A, class V, class G, class B>
  KOKKOS_INLINE_FUNCTION auto operator()(const X& x, const A& mean, const V& variance,
                                         const G& gain, const B& bias) const {
    return (x - mean) * dimesh::rsqrt(variance + static_cast<V>(epsilon)) * gain + bias;
  }
};
/// In the type that means are formed in; rounded once.
template <class Kept, class C, class M, class P, class X, class Counts>
constexpr auto normed_where(const model<C, M>& m, const P& p, const X& x, const Counts& counts,
                            double counted) {
  using T = value_of<X>;
  using R = dimesh::detail::mean_value<T>;
  return [&]<class... D>(list<D...>) {
    const auto z = dimesh::select(counts, cast<R>(x), 0);
    const auto mean = complete(masked_mean<D...>(z, counts));
    const auto apart = z - mean;
    const auto variance = complete(masked_mean<D...>(apart * apart, counts));
    auto y = cast<std::conditional_t<is_storage_only<T>, T, R>>(
        map_with(scale_and_shift_function{M::epsilon}, z, mean, variance,
                 beside_tensor(m, z, p.gain), beside_tensor(m, z, p.bias)));
    auto seen = stop_gradient(mean);
    const double n = counted * dimesh::detail::masked_dims<Counts, D...>::others(x);
    return batch_normed<decltype(y), decltype(seen)>{y, seen, stop_gradient(variance), n};
  }(typename remaining<typename spec_of<X>::dims, Kept>::type{});
}
}  // namespace detail

/// Batch norm in training: of x under its own layout, over all dims but Channel..., with the
/// model's epsilon. Result: a batch_normed (op/batch_norm.hpp); .y is as x. Communicates as
/// batch_norm_all_reduce where x's other dims are split, and relayouts gain and bias beside x.
template <Dim... Channel, Layout C, class M, class P, Operand X>
constexpr auto batch_norm(const model<C, M>& m, const P& p, const X& x) {
  return batch_norm_all_reduce<Channel...>(M::epsilon, x, beside_tensor(m, x, p.gain),
                                           beside_tensor(m, x, p.bias));
}
/// The same by the moments of what counts, where some rows only fill up a batch: `counts`, of bool,
/// has some of x's dims, and is true for `counted` of its elements, of all ranks together. What
/// does not count is taken for 0, whatever it is: it has no part in the moments, and no gradient.
/// On the way forward four all-reduces where x's other dims are split; more passes over x than the
/// form without it.
template <Dim... Channel, Layout C, class M, class P, Operand X, Operand Counts>
constexpr auto batch_norm(const model<C, M>& m, const P& p, const X& x, const Counts& counts,
                          double counted) {
  if constexpr (is_poison<X> || is_poison<Counts>)
    return batch_normed<poison, poison>{};
  else
    return detail::normed_where<detail::list<Channel...>>(m, p, x, counts, counted);
}

/// Without a model, whose epsilon it is.
template <Dim... Channel, class P, Operand X>
  requires(!Operand<P>)
poison batch_norm(const P&, const X&) {
  static_assert(ok<wrong_arguments<P, X>>,
                "nn::batch_norm: the model comes first, which knows the layout and epsilon, then "
                "gain and bias: batch_norm<channel>(model<L>{}, p, x).y");
  return {};
}

/// Batch norm by moments that have been kept: (x - mean) / sqrt(variance + epsilon) * gain + bias.
/// Shapes: as x. Relayouts moments, gain and bias beside x, and is local otherwise.
template <Layout C, class M, detail::Moments R, class P, Operand X>
constexpr auto batch_norm_by(const model<C, M>& m, const R& running, const P& p, const X& x) {
  return detail::map_with(detail::scale_and_shift_function{M::epsilon}, x,
                          beside_tensor(m, x, stop_gradient(running.mean)),
                          beside_tensor(m, x, stop_gradient(running.variance)),
                          beside_tensor(m, x, p.gain), beside_tensor(m, x, p.bias));
}
/// Gain and bias before the moments.
template <Layout C, class M, class P, class R, Operand X>
  requires(!detail::Moments<P>)
poison batch_norm_by(const model<C, M>&, const P&, const R&, const X&) {
  static_assert(ok<wrong_arguments<P, R, X>>,
                "nn::batch_norm_by: behind the model come the moments that were kept, then gain "
                "and bias: batch_norm_by(m, running, p, x)");
  return {};
}

/// Moments move towards those that a batch norm has seen by this part of the way; the variance to
/// that of the population which the batch is a sample of, n / (n - 1) of what was seen (Ioffe and
/// Szegedy 2015, algorithm 2). Relayouts what was seen to the layout of what is kept. Once for each
/// batch: not where a recomputed block or a plan runs a layer again, and not where a step is only
/// forecast; nor where nothing of a batch counts. Throws dimesh::error unless 0 <= part <= 1.
template <class R, class Y, class Moments>
constexpr void keep_moments(R& running, const batch_normed<Y, Moments>& seen, double part) {
  if constexpr (!is_poison<Y>) {
    dimesh::detail::require_part("nn::keep_moments", "part", part);
    if (seen.count > 0 && detail::counts_for(running, seen))
      detail::keep_these(running, seen, seen.count, part);
  }
}

/// The normed tensor alone.
template <class R, Operand Y>
  requires(!is_poison<Y>)
void keep_moments(R&, const Y&, double) {
  static_assert(ok<wrong_arguments<Y>>,
                "nn::keep_moments: takes all that batch_norm gave, since the moments are among it: "
                "now = batch_norm<channel>(m, p, x); keep_moments(running, now, 0.1)");
}

/// Mean and variance of the micro-batches that have come since the last mini-batch was kept: of a
/// layer that trains by the moments of each, and is used afterwards by those of whole mini-batches.
template <class R> struct deferred_moments {
  R so_far{};  ///< of the population that has come; no tensors at first
  double count = 0;  ///< elements that each of them is of
};

/// A micro-batch joins those before it (Chan, Golub and LeVeque 1979). Relayouts and counts as
/// keep_moments. The result has the same bits wherever micro-batches come in one order.
template <class R, class Y, class Moments>
constexpr void keep_moments(deferred_moments<R>& mini, const batch_normed<Y, Moments>& seen) {
  if constexpr (!is_poison<Y>) {
    if (!detail::counts_for(mini.so_far, seen)) return;
    const auto mean = detail::kept_form<R>(seen.mean);
    const auto variance = detail::kept_form<R>(seen.variance);
    const double before = std::exchange(mini.count, mini.count + seen.count);
    if (before == 0) {
      mini.so_far.mean = mean, mini.so_far.variance = variance;
      return;
    }
    const double part = seen.count / mini.count;
    mini.so_far.variance = dimesh::detail::map_called<dimesh::detail::join_kind::nonlinear>(
        "keep_moments", detail::join_function{part}, mini.so_far.variance, variance,
        mini.so_far.mean, mean);
    mini.so_far.mean = detail::met(mini.so_far.mean, mean, part, 1);
  }
}
/// After a mini-batch: what is kept meets the moments of all its micro-batches, which begin anew.
/// Ranks that have seen none, those of other stages of a pipeline, do nothing. Throws dimesh::error
/// unless 0 <= part <= 1.
template <class R> constexpr void keep_moments(R& running, deferred_moments<R>& mini, double part) {
  dimesh::detail::require_part("nn::keep_moments", "part", part);
  if (mini.count > 0) detail::keep_these(running, mini.so_far, mini.count, part);
  mini = {};
}

/// Group norm: the elements of Channel are Group x Within; each group of each place of Kept... is
/// normalised by itself. Gain and bias as x has them, mostly over Channel. Shapes: as x.
/// Communicates as group_norm_all_reduce.
template <Dim Channel, Dim Group, Dim Within, Dim... Kept, Layout C, class M, class P, Operand X>
constexpr auto group_norm(const model<C, M>& m, const P& p, const X& x) {
  const auto grouped = [](const auto& t) { return cut<Channel, Group, Within>(t); };
  return merge<Channel, Group, Within>(group_norm_all_reduce<Kept..., Group>(
      M::epsilon, grouped(x), grouped(beside_tensor(m, x, p.gain)),
      grouped(beside_tensor(m, x, p.bias))));
}

}  // namespace dimesh::nn
