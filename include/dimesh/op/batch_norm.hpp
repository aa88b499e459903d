// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are features brought to one scale by what many rows have in common? Batch normalisation takes
// mean and variance of each channel over all other dims, group normalisation of each row's groups
// of channels. Local where a rank holds what is joined; forms named _all_reduce go over the ranks
// that split it, so that a batch over many ranks is normalised as it would be on one.
//
//   auto made = batch_norm<channel>(x[batch, channel, row], gain[channel], bias[channel])
//     -> made.y like x; made.mean, made.variance [channel]
//   batch_norm_all_reduce<channel>(x[batch/rows, channel, row], gain, bias).y
//   group_norm<batch, group>(x[batch, group, within, row], gain[group, within])  -> like x
//
// Kernels: moments in one pass over the operand, the result in another; two passes back.
#pragma once

#include "dimesh/core/any_argument.hpp"
#include "dimesh/detail/number_given.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/parts/moment_norm.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

/// What batch_norm gives: the normalised tensor, and the mean and variance of each channel (of the
/// population: divided by `count`), which are not recorded. Shapes: y like x; mean and variance
/// [Channel...], replicated where x's other dims are split, float where x only stores.
template <class Y, class Moments> struct [[nodiscard]] batch_normed {
  Y y;
  Moments mean, variance;
  double count = 0;  ///< the elements that each of them is of
};

namespace detail {

template <class Y, class M> inline constexpr bool has_several<batch_normed<Y, M>> = true;

template <bool Whole, class Kept, class... X> struct moment_norm_fault;
template <bool Whole, class... Kept, class... X>
struct moment_norm_fault<Whole, list<Kept...>, X...> {
  using type = fault_of<moment_norm_rule<Whole, Kept...>, X...>;
};

template <class Fault> constexpr void assert_moment_norm() {
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "batch_norm, group_norm: the tensor lacks a dim; name those of its own that keep "
                "their moments apart, and let gain and bias have dims of it");
  static_assert(ok<only<Fault, dim_repeated>>,
                "batch_norm, group_norm: a dim is named twice; name it once");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "batch_norm, group_norm: blocks carry a halo, which would count twice; take the "
                "tensor without it");
  static_assert(ok<only<Fault, dim_is_split>>,
                "batch_norm, group_norm: a dim over which moments are taken is split, and a rank "
                "sees its block only; take batch_norm_all_reduce or group_norm_all_reduce");
  static_assert(ok<only<Fault, partial_operand>>,
                "batch_norm, group_norm: an operand is a sum yet to be made; complete it first");
  static_assert(ok<only<Fault, element_is_complex>>,
                "batch_norm, group_norm: the elements are complex, and real ones are wanted; norm "
                "real(x) and imag(x)");
  using apart = only<Fault, dim_split_in_one_operand_only, dim_split_differently,
                     dims_share_mesh_axis, meshes_differ>;
  static_assert(ok<apart>,
                "batch_norm, group_norm: gain or bias lies on the ranks differently than the "
                "tensor; relayout it to the layout of the tensor");
  static_assert(ok<only_placed<Fault>>,
                "batch_norm, group_norm: the operands live on different ranks of this axis; "
                "place<axis, k> what all ranks hold, or send<axis, k> what lives elsewhere");
}

template <class Kept, class X, class... G> constexpr double moment_count(const X& x, const G&...) {
  return count_list(x, typename remaining<typename spec_of<X>::dims, Kept>::type{});
}
/// Runs it on x, gain and bias, and hands out the moments.
template <class... Kept, class... X>
constexpr auto run_moment_norm(list<Kept...>, std::string_view call, double epsilon,
                               const X&... x) {
  using T = value_of<type_at<0, list<X...>>>;
  using rule = moment_norm_rule<false, Kept...>;
  using second = moments_rule<Kept...>;
  using S = spec_by_rule<rule, T, X...>;
  using M = spec_by_rule<second, T, X...>;
  constexpr bool shaped = (is_shaped<X> || ...);
  constexpr int depth = std::max({tracked_depth<X>...});
  using made = bound<moment_norm_op<T>, depth>;
  batch_normed<typename result_type<S, shaped, depth>::type,
               typename result_type<M, shaped, 0>::type>
      out;
  const moment_norm_op<T> op{epsilon, call};
  out.count = moment_count<list<Kept...>>(x...);
  const tensor_core* in[] = {&core_of(x)...};
  tensor_core rest(core_of(out.mean).facts);
  tensor_core* const all[] = {&core_of(out.y), &core_of(out.mean), &core_of(out.variance), &rest};
  recorded_sum sum = nullptr;
  if constexpr (depth > 1) sum = &sum_recorded<T, depth - 1>;
  if constexpr ((is_probe<X> || ...)) {
    const tensor_facts* const moments = facts_by_rule<second, M>(call, x...);
    const tensor_facts* const facts[] = {facts_by_rule<rule, S>(call, x...), moments, moments,
                                         moments};
    if constexpr (may_be_sketched<X...>)
      if (moments->sketched != nullptr) {
        out.y = sketch_of<S>(*facts[0]);
        out.mean = sketch_of<M>(*moments);
        out.variance = sketch_of<M>(*moments);
        return out;
      }
    made::run_all(op, results(all, 4), facts, in, sizeof...(X), nullptr, sum);
  } else {
    made::run_all(op, results(all, 4), nullptr, in, sizeof...(X), nullptr, sum);
  }
  return out;
}

/// Callers have asserted that there is no fault, which of probes is asked here.
template <bool Whole, class... Kept, class X, class... G>
constexpr auto moment_normed(std::string_view call, double epsilon, const X& x, const G&... g) {
  using rule = moment_norm_rule<Whole, Kept...>;
  if constexpr (is_poison<X> || (is_poison<G> || ...)) {
    return batch_normed<poison, poison>{};
  } else if constexpr (!ok<fault_of<rule, X, G...>>) {
    return batch_normed<poison, poison>{};
  } else if constexpr (!(std::is_same_v<value_of<G>, mean_value<value_of<X>>> && ... &&
                         std::is_same_v<value_of<X>, mean_value<value_of<X>>>)) {
    using T = value_of<X>;
    const auto made = moment_normed<Whole, Kept...>(call, epsilon, cast<mean_value<T>>(x),
                                                    cast<mean_value<T>>(g)...);
    if constexpr (is_storage_only<T>) {  // rounded once
      auto y = cast<T>(made.y);
      return batch_normed<decltype(y), decltype(made.mean)>{y, made.mean, made.variance,
                                                            made.count};
    } else {
      return made;
    }
  } else {
    require_not_negative(call, "epsilon", epsilon);
    check<rule>(call, x, g...);
    return run_moment_norm(list<Kept...>{}, call, epsilon, x, g...);
  }
}

}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * gain + bias, mean and variance over all dims but
/// Channel... (Ioffe and Szegedy 2015, algorithm 1). Shapes: gain and bias, if given, any dims of
/// x; the result is as x. Integers give double. Local: what is joined is whole. Throws
/// dimesh::error unless epsilon is at least 0, and finite.
template <Dim... Channel, Operand X, Operand... G>
  requires(sizeof...(Channel) > 0 && sizeof...(G) <= 2)
constexpr auto batch_norm(double epsilon, const X& x, const G&... gain_and_bias) {
  using kept = detail::list<Channel...>;
  detail::assert_moment_norm<typename detail::moment_norm_fault<true, kept, X, G...>::type>();
  return detail::moment_normed<true, Channel...>("batch_norm", epsilon, x, gain_and_bias...);
}
/// The same with an epsilon of 1e-5.
template <Dim... Channel, Operand X, Operand... G>
  requires(sizeof...(Channel) > 0 && sizeof...(G) <= 2)
constexpr auto batch_norm(const X& x, const G&... gain_and_bias) {
  using kept = detail::list<Channel...>;
  detail::assert_moment_norm<typename detail::moment_norm_fault<true, kept, X, G...>::type>();
  return detail::moment_normed<true, Channel...>("batch_norm", 1e-5, x, gain_and_bias...);
}
/// The same where ranks may split what is joined: two all-reduces over the axes that do, of one and
/// of two numbers a channel, one of two on the way back; where none does, the local one.
template <Dim... Channel, Operand X, Operand... G>
  requires(sizeof...(Channel) > 0 && sizeof...(G) <= 2)
constexpr auto batch_norm_all_reduce(double epsilon, const X& x, const G&... gain_and_bias) {
  using kept = detail::list<Channel...>;
  detail::assert_moment_norm<typename detail::moment_norm_fault<false, kept, X, G...>::type>();
  return detail::moment_normed<false, Channel...>("batch_norm_all_reduce", epsilon, x,
                                                  gain_and_bias...);
}
template <Dim... Channel, Operand X, Operand... G>
  requires(sizeof...(Channel) > 0 && sizeof...(G) <= 2)
constexpr auto batch_norm_all_reduce(const X& x, const G&... gain_and_bias) {
  using kept = detail::list<Channel...>;
  detail::assert_moment_norm<typename detail::moment_norm_fault<false, kept, X, G...>::type>();
  return detail::moment_normed<false, Channel...>("batch_norm_all_reduce", 1e-5, x,
                                                  gain_and_bias...);
}

/// The same with moments of each place of Kept...: the batch and the groups of channels (Wu and He
/// 2018, section 3.1); cut<channel, group, within>(x) makes groups of channels without moving them.
/// Shapes: gain and bias, if given, any dims of x; the result is as x. Local: what is joined is
/// whole.
template <Dim... Kept, Operand X, Operand... G>
  requires(sizeof...(Kept) > 0 && sizeof...(G) <= 2)
constexpr auto group_norm(double epsilon, const X& x, const G&... gain_and_bias) {
  using kept = detail::list<Kept...>;
  detail::assert_moment_norm<typename detail::moment_norm_fault<true, kept, X, G...>::type>();
  return detail::moment_normed<true, Kept...>("group_norm", epsilon, x, gain_and_bias...).y;
}
/// The same with an epsilon of 1e-5.
template <Dim... Kept, Operand X, Operand... G>
  requires(sizeof...(Kept) > 0 && sizeof...(G) <= 2)
constexpr auto group_norm(const X& x, const G&... gain_and_bias) {
  using kept = detail::list<Kept...>;
  detail::assert_moment_norm<typename detail::moment_norm_fault<true, kept, X, G...>::type>();
  return detail::moment_normed<true, Kept...>("group_norm", 1e-5, x, gain_and_bias...).y;
}
/// The same where ranks may split what is joined; communicates as batch_norm_all_reduce.
template <Dim... Kept, Operand X, Operand... G>
  requires(sizeof...(Kept) > 0 && sizeof...(G) <= 2)
constexpr auto group_norm_all_reduce(double epsilon, const X& x, const G&... gain_and_bias) {
  using kept = detail::list<Kept...>;
  detail::assert_moment_norm<typename detail::moment_norm_fault<false, kept, X, G...>::type>();
  return detail::moment_normed<false, Kept...>("group_norm_all_reduce", epsilon, x,
                                               gain_and_bias...)
      .y;
}
template <Dim... Kept, Operand X, Operand... G>
  requires(sizeof...(Kept) > 0 && sizeof...(G) <= 2)
constexpr auto group_norm_all_reduce(const X& x, const G&... gain_and_bias) {
  using kept = detail::list<Kept...>;
  detail::assert_moment_norm<typename detail::moment_norm_fault<false, kept, X, G...>::type>();
  return detail::moment_normed<false, Kept...>("group_norm_all_reduce", 1e-5, x, gain_and_bias...)
      .y;
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
/// Without an epsilon, and with one.
using moments_call = call_taking<some_dims, 1, a_tensor, tensors_only>;
using moments_call_at = call_taking<some_dims, 2, double, a_tensor, tensors_only>;
}  // namespace detail

template <class... N, class... A>
  requires(detail::is_misused<detail::moments_call, detail::list<N...>, A...> &&
           detail::is_misused<detail::moments_call_at, detail::list<N...>, A...>)
constexpr poison batch_norm(const A&...) {
  static_assert(ok<detail::misuse<detail::moments_call, detail::list<N...>, A...>>,
                "batch_norm: kept dims stand in the angle brackets, epsilon before the tensor: "
                "batch_norm<channel>(x), or (1e-5, x, gain, bias)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison batch_norm(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "batch_norm: kept dims stand in the angle brackets, epsilon before the tensor: "
                "batch_norm<channel>(x), or (1e-5, x, gain, bias)");
  return {};
}

template <class... N, class... A>
  requires(detail::is_misused<detail::moments_call, detail::list<N...>, A...> &&
           detail::is_misused<detail::moments_call_at, detail::list<N...>, A...>)
constexpr poison batch_norm_all_reduce(const A&...) {
  static_assert(ok<detail::misuse<detail::moments_call, detail::list<N...>, A...>>,
                "batch_norm_all_reduce: kept dims stand in the angle brackets, epsilon before the"
                " tensor: batch_norm_all_reduce<channel>(x), or (1e-5, x, gain, bias)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison batch_norm_all_reduce(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "batch_norm_all_reduce: kept dims stand in the angle brackets, epsilon before the"
                " tensor: batch_norm_all_reduce<channel>(x), or (1e-5, x, gain, bias)");
  return {};
}

template <class... N, class... A>
  requires(detail::is_misused<detail::moments_call, detail::list<N...>, A...> &&
           detail::is_misused<detail::moments_call_at, detail::list<N...>, A...>)
constexpr poison group_norm(const A&...) {
  static_assert(ok<detail::misuse<detail::moments_call, detail::list<N...>, A...>>,
                "group_norm: kept dims stand in the angle brackets, epsilon before the tensor: "
                "group_norm<channel>(x), or (1e-5, x, gain, bias)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison group_norm(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "group_norm: kept dims stand in the angle brackets, epsilon before the tensor: "
                "group_norm<channel>(x), or (1e-5, x, gain, bias)");
  return {};
}

template <class... N, class... A>
  requires(detail::is_misused<detail::moments_call, detail::list<N...>, A...> &&
           detail::is_misused<detail::moments_call_at, detail::list<N...>, A...>)
constexpr poison group_norm_all_reduce(const A&...) {
  static_assert(ok<detail::misuse<detail::moments_call, detail::list<N...>, A...>>,
                "group_norm_all_reduce: kept dims stand in the angle brackets, epsilon before the"
                " tensor: group_norm_all_reduce<channel>(x), or (1e-5, x, gain, bias)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison group_norm_all_reduce(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "group_norm_all_reduce: kept dims stand in the angle brackets, epsilon before the"
                " tensor: group_norm_all_reduce<channel>(x), or (1e-5, x, gain, bias)");
  return {};
}

}  // namespace dimesh
