// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a step run along a dim, whose carry the next step takes? As a loop, recorded for
// gradients step by step; or in segments that are recomputed on the way back, of which only the
// carries between them are kept. (Joined elements, running sums and linear recurrences need no
// loop: op/scan.hpp.)
//
//   const auto step = [](const auto& p, const auto& h, const auto& x) {
//     const auto next = tanh(x + complete(einsum<batch, hidden>(rename<hidden, from>(h), p.w)));
//     return std::tuple{next, next};                          // the carry, and what is put out
//   };
//   auto [last, all] = recur<time>(step, p, start, x[batch, time, hidden])
//     -> last like start; all [time, batch, hidden]
//   recur<time>({.segment = 16}, step, p, start, x)           the same bits, and less memory
//
// Inputs that are recorded are cut in halves, and halves again, so that their gradients move
// log2(steps) times; others are read in place.
#pragma once

#include <array>
#include <tuple>

#include "dimesh/grad/recompute.hpp"
#include "dimesh/op/concat.hpp"
#include "dimesh/op/expand.hpp"
#include "dimesh/op/slice.hpp"

namespace dimesh {

/// How steps run.
struct recur_options {
  index_t segment = 0;  ///< so many steps, or fewer, are recomputed together; 0: none
  bool reverse = false;  ///< from the last element to the first; results stand in order
};

namespace detail {

/// The dim of the steps, whose parts have extents of their own.
struct step_of_recur : dim<> {};

/// On how many tapes anything in X is recorded.
template <class List> struct deepest;
template <class... X> struct deepest<list<X...>> {
  static constexpr int value = std::max({0, tracked_depth<X>...});
};
template <class X> constexpr int depth_in() {
  if constexpr (holds_tensors<X>)
    return deepest<typename leaves<X>::type>::value;
  else
    return 0;
}

template <class V, int Depth> struct recorded_on_tapes {
  using type = tracked_tensor<typename recorded_on_tapes<V, Depth - 1>::type>;
};
template <class V> struct recorded_on_tapes<V, 0> {
  using type = V;
};
template <class V, int Depth>
struct recorded_on_tapes<tracked_tensor<V>, Depth> : recorded_on_tapes<V, Depth> {};
template <class V> struct recorded_on_tapes<tracked_tensor<V>, 0> : recorded_on_tapes<V, 0> {};

/// For map_leaves: tensors as recorded on so many tapes.
template <int Depth> struct on_tapes {
  template <class X> struct leaf : recorded_on_tapes<X, Depth> {};
  template <class L> struct layout {
    using type = std::conditional_t<Depth == 0, L, tracked<L>>;
  };
  template <class L> struct layout<tracked<L>> : layout<L> {};
};
template <class C, int Depth> using carried = map_leaves<C, on_tapes<Depth>>;

/// The carry as all steps take it.
template <class C, class K> constexpr C as_carry(const K& given) {
  if constexpr (std::is_same_v<C, K>) {
    return given;
  } else {
    C c = in_place_of<C>(given);
    for_each_tensor(
        [](const auto&, auto& to, const auto& from) {
          using To = std::remove_cvref_t<decltype(to)>;
          if constexpr (std::is_same_v<To, std::remove_cvref_t<decltype(from)>>)
            to = from;
          else
            to = To(core_of(from));  // recorded, where nothing recorded went into it
        },
        c, given);
    return c;
  }
}

template <class R>
inline constexpr bool is_carry_and_output = requires(const R& r) {
  std::get<0>(r);
  std::get<1>(r);
  requires std::tuple_size_v<R> == 2;
  requires Tensor<std::remove_cvref_t<decltype(std::get<1>(r))>>;
};

/// What a step gives, and what is wrong with that: F(p, C, x...).
template <class F, class P, class C, class... X> struct step_result {
  using R = decltype(ask<F>()(
      std::declval<const P&>(), std::declval<const C&>(),
      std::declval<decltype(pick<step_of_recur>(std::declval<const X&>(), index_t{}))>()...));
  static constexpr auto find() {
    if constexpr (std::is_same_v<R, not_called>) {
      return tag<typename no_call<F, const P&, const C&, const X&...>::type>{};
    } else if constexpr (!is_carry_and_output<R>) {
      return tag<function_gives_no_tensor<R>>{};
    } else {
      using K = std::remove_cvref_t<decltype(std::get<0>(std::declval<R>()))>;
      if constexpr (!std::is_same_v<carried<K, 0>, carried<C, 0>>)
        return tag<structs_differ<carried<C, 0>, carried<K, 0>>>{};
      else if constexpr (depth_in<R>() > depth_in<C>())
        return tag<recorded_tensor_not_passed<K>>{};
      else
        return tag<no_fault>{};
    }
  }
  using fault = typename decltype(find())::type;
};

/// Steps 0..n-1 of inputs that are whole, or cut to them; `from` is where these steps begin.
template <class F, std::size_t N> struct steps_of_recur {
  F step;
  index_t n;
  std::array<index_t, N> from;
  recur_options how;

  template <class P, class C, class... X>
  using result =
      std::tuple<C, decltype(expand<step_of_recur>(
                        std::get<1>(std::declval<typename step_result<F, P, C, X...>::R>()),
                        step_of_recur{1}))>;

  template <class P, class C, class... X>
  constexpr result<P, C, X...> operator()(const P& p, const C& carry, const X&... x) const {
    if (how.segment > 0 && n <= how.segment) {
      auto inner = *this;
      inner.how.segment = 0;
      return recompute(inner)(p, carry, x...);
    }
    return run(std::make_index_sequence<N>{}, p, carry, x...);
  }

 private:
  template <std::size_t... K, class P, class C, class... X>
  constexpr result<P, C, X...> run(std::index_sequence<K...> all, const P& p, const C& carry,
                                   const X&... x) const {
    if (n == 1) {
      const auto r = step(p, carry, pick<step_of_recur>(x, from[K])...);
      return {as_carry<C>(std::get<0>(r)), expand<step_of_recur>(std::get<1>(r), step_of_recur{1})};
    }
    const index_t middle = n / 2;
    const steps_of_recur first = part<X...>(all, 0, middle), second = part<X...>(all, middle, n);
    if (how.reverse) {
      const auto late = second(p, carry, second.cut(x, middle, n)...);
      const auto early = first(p, std::get<0>(late), first.cut(x, 0, middle)...);
      return {std::get<0>(early), concat<step_of_recur>(std::get<1>(early), std::get<1>(late))};
    }
    const auto early = first(p, carry, first.cut(x, 0, middle)...);
    const auto late = second(p, std::get<0>(early), second.cut(x, middle, n)...);
    return {std::get<0>(late), concat<step_of_recur>(std::get<1>(early), std::get<1>(late))};
  }
  template <class... X, std::size_t... K>
  constexpr steps_of_recur part(std::index_sequence<K...>, index_t begin, index_t end) const {
    return {step, end - begin, {(is_tracked<X> ? 0 : from[K] + begin)...}, how};
  }
  template <class X> constexpr X cut(const X& x, index_t begin, index_t end) const {
    if constexpr (is_tracked<X>)
      return slice<step_of_recur>(x, begin, end);
    else
      return x;
  }
};

/// What is wrong with inputs of which each step takes one element along D.
template <class D, class... X>
using recur_input_fault = typename first_of<fault_of<pick_rule<D>, X>...>::type;

template <class D, class... X> constexpr index_t steps_among(const X&... x) {
  const index_t extent[] = {x.template extent<D>()...};
  for (const index_t n : extent)
    if (n != extent[0])
      (words() << "recur: one input has " << extent[0] << " elements along dim '" << name_of<D>()
               << "', and another has " << n)
          .raise();
  if (extent[0] == 0)
    (words() << "recur: dim '" << name_of<D>() << "' has no elements, so that no step runs")
        .raise();
  return extent[0];
}

template <class D, class F, class P, class C, class... X>
constexpr auto recurred_along(const recur_options& how, const F& step, const P& p, const C& start,
                              const X&... x) {
  constexpr int depth = std::max({depth_in<P>(), depth_in<C>(), tracked_depth<X>...});
  using carry = carried<C, depth>;
  using result = step_result<F, P, carry, decltype(rename<D, step_of_recur>(x))...>;
  using fault = typename result::fault;
  using no_call = only<fault, function_not_callable_with, function_not_const, parameter_not_const>;
  static_assert(ok<no_call>,
                "recur: the step cannot be called with the parameters, the carry and an element of "
                "each input; take them as const auto&, and let operator() be const");
  static_assert(ok<only<fault, function_gives_no_tensor>>,
                "recur: the step returns a std::tuple of the next carry and a tensor to put out");
  static_assert(ok<only<fault, structs_differ>>,
                "recur: the step gives another carry than it takes, by type or layout; let it "
                "relayout, complete or cast what it gives, or begin with what it gives");
  static_assert(ok<only<fault, recorded_tensor_not_passed>>,
                "recur: the step uses a recorded tensor that is not among its arguments; pass it "
                "among the parameters");
  if constexpr (!ok<fault>) {
    return std::tuple<poison, poison>{};
  } else {
    const steps_of_recur<F, sizeof...(X)> steps{step, steps_among<D>(x...), {}, how};
    const auto [last, all] = steps(p, as_carry<carry>(start), rename<D, step_of_recur>(x)...);
    return std::tuple{last, rename<step_of_recur, D>(all)};
  }
}

}  // namespace detail

/// Runs step(p, carry, elements...) -> std::tuple{next carry, output} for each element of x...
/// along D, in order. p: parameters, a tensor or struct (or anything that is no tensor); start: the
/// first carry, a tensor or a struct, array or tuple of tensors, whose types and layouts stay.
/// Shapes: x [.., D, ..] each, of which a step gets [..]; results are the last carry and the
/// outputs stacked, [D, ..]. Communicates what the step does, and again where it is recomputed; D
/// is whole. Throws dimesh::error if D has no elements, or inputs differ in it.
template <Dim D, class F, class P, class C, Operand... X>
  requires(sizeof...(X) > 0 && !Operand<F>)
[[nodiscard]] constexpr auto recur(const recur_options& how, const F& step, const P& p,
                                   const C& start, const X&... x) {
  using fault = detail::recur_input_fault<D, X...>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "recur: an input lacks the dim of the steps; name one that all have, and pass what "
                "lacks it among the parameters");
  static_assert(ok<only<fault, dim_is_split>>,
                "recur: the dim of the steps is split, and each step needs the one before it; "
                "whole<dim> it, or split another");
  static_assert(ok<only<fault, dim_has_halo>>,
                "recur: the blocks of the dim carry halos; call it before halo_exchange");
  if constexpr (!ok<fault> || (is_poison<X> || ...) || is_poison<C> || is_poison<P>)
    return std::tuple<poison, poison>{};
  else
    return detail::recurred_along<D>(how, step, p, start, x...);
}
/// The same with all steps recorded, from the first element on.
template <Dim D, class F, class P, class C, Operand... X>
  requires(sizeof...(X) > 0 && !Operand<F> && !std::is_same_v<F, recur_options>)
[[nodiscard]] constexpr auto recur(const F& step, const P& p, const C& start, const X&... x) {
  return dimesh::recur<D>(recur_options{}, step, p, start, x...);
}
/// Without parameters, or without a carry.
template <Dim D, class F, class P, class C>
  requires(!Operand<F> && !std::is_same_v<F, recur_options>)
std::tuple<poison, poison> recur(const F&, const P&, const C&) {
  static_assert(ok<wrong_arguments<P, C>>,
                "recur: the step, its parameters (std::tuple{} for none), the first carry, then "
                "what each step gets an element of: recur<length>(step, p, start, x)");
  return {};
}

}  // namespace dimesh
