// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do operations run whose local call, cost and transpose are still written for the types of
// their operands? As those on cores do (core/operation.hpp), but compiled for each type:
//
//   void fill(y, x...) const;                           the local call, or instead of it
//   static constexpr int aliases = k;                   the result shares the memory of operand k
//   void cost(tally&, y, x...) const;                   what one rank computes, moves and sends
//   auto transpose<Wanted...>(slots, ybar, y, x...) const;   bundle of cotangents, `none` if
//                                                            unwanted
//   static constexpr bool needs(int k, unsigned wanted);     does transpose read operand k's
//                                                            elements (k = -1: the result's)?
// and optionally new_dims() (a shape with extents that no operand has), and
//   static constexpr bool auxiliary = true;             the caller gets the first result only
#pragma once

#include "dimesh/core/pullback.hpp"
#include "dimesh/core/tracked.hpp"
#include "dimesh/detail/bundle.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/shaped.hpp"

namespace dimesh::detail {

// ---- operations on cores ------------------------------------------------------------------------

/// The tensor type of a spec: with data or a shape, recorded on so many tapes.
template <class S, bool Shaped, int Depth> struct result_type {
  using type = tracked_tensor<typename result_type<S, Shaped, Depth - 1>::type>;
};
template <class S> struct result_type<S, false, 0> {
  using type = typename tensor_of_spec<S>::basic;
};
template <class S> struct result_type<S, true, 0> {
  using type = typename tensor_of_spec<S>::shaped;
};

/// The specs of an operation's results as a list.
template <class S> struct specs_of {
  using type = list<S>;
};
template <class... S> struct specs_of<list<S...>> {
  using type = list<S...>;
};

/// Another result than the first, for as long as the operation runs.
template <class S> struct further_result {
  tensor_core core{&spec_facts<S>};
};

/// The operands that are recorded, as a mask, where the transpose asks.
template <class Op, class... X> constexpr unsigned recorded_mask() {
  unsigned mask = 0, k = 0;
  ((mask |= is_tracked<X> ? 1u << k : 0u, ++k), ...);
  return transposes_by_mask<Op> ? mask : ~0u;
}

template <class First, class... More, class Op, class... X>
constexpr auto apply_on_cores(list<First, More...>, const Op& op, const storage* slots,
                              const X&... x) {
  static_assert(sizeof...(X) <= max_operands, "apply: too many operands; at most 16 are supported");
  constexpr int depth = std::max({tracked_depth<X>...});
  bound<Op, depth, recorded_mask<Op, X...>()> it(op);
  if constexpr (depth > 1) it.sum = &sum_recorded<typename First::value_type, depth - 1>;
  using Y = typename result_type<First, (is_shaped<X> || ...), depth>::type;
  Y y;
  bundle<further_result<More>...> more;
  operand in[] = {{&core_of(x), core_of(x).record}...};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    tensor_core* const all[] = {&core_of(y), &item<I>(more).core...};
    evaluate(it, results(all, 1 + sizeof...(More)), in, sizeof...(X), false, slots);
  }(std::index_sequence_for<More...>{});
  return y;
}

// ---- operations on typed tensors ----------------------------------------------------------------

/// What a transpose returns in place of a cotangent that nobody wants.
struct none {};

/// Memory offered for the cotangents of the operands; null entries mean the pool.
template <std::size_t N> struct slots {
  storage at[N == 0 ? 1 : N]{};
};
/// None. A call, since g++ 12 cannot end a constant that holds an array while it looks for
/// undefined behaviour.
constexpr slots<1> no_slots() { return {}; }
inline constexpr storage no_storage{};

// ---- extents: operands must agree on what is only known at run time -----------------------------

template <class Op, class D, class X> constexpr void match_extent(index_t& n, const X& x) {
  if constexpr (X::shape_type::template has<D>) {
    const index_t mine = x.template extent<D>();
    if (n < 0) n = mine;
    if (n != mine)
      (words() << call_name<Op>() << ": the operands disagree on dim '" << name_of<D>()
               << "': " << n << " elements here, " << mine << " there")
          .raise();
  }
}
template <class Op, class D, class... X> constexpr void match_dim(const X&... x) {
  if constexpr (!is_static_dim<D> && (int{X::shape_type::template has<D>} + ... + 0) > 1) {
    index_t n = -1;
    (match_extent<Op, D>(n, x), ...);
  }
}
template <class Op, class... D, class... X>
constexpr void match_extents(list<D...>, const X&... x) {
  (match_dim<Op, D>(x...), ...);
}
/// Some dims of the list have no static extent.
template <class... D> constexpr bool any_dynamic(list<D...>) { return (!is_static_dim<D> || ...); }

/// The result's shape where its type does not say all.
template <class Shape, class Op, class... X>
constexpr Shape result_shape(const Op& op, const X&... x) {
  if constexpr (requires { op.new_dims(); })
    return Shape(op.new_dims(), x.shape()...);
  else
    return Shape(shape<>{}, x.shape()...);
}

/// Operands must live on one grid.
template <class Op, class First, class... Rest>
constexpr void match_grids(const First& first, const Rest&... rest) {
  const auto refuse = [](bool undefined) { refuse_grids(call_name<Op>(), undefined); };
  if (!core_of(first).is_shape && core_of(first).grid == nullptr) refuse(true);
  ((core_of(rest).grid != core_of(first).grid
        ? refuse(!core_of(rest).is_shape && core_of(rest).grid == nullptr)
        : void()),
   ...);
}

// ---- addends: along which partial axes is the value to be counted once? -------------------------

/// The same value with addends that really add up along `axes`: all but the first rank hold zeros.
template <class X> constexpr X settled(const X& x, unsigned axes) {
  X y(x);
  y.set_once(x.once() & ~axes);
  if constexpr (!is_shaped<X>) settle_addends(y.memory(), x.grid().state(), axes, x.local_bytes());
  return y;
}

/// The axes along which a tensor of spec S holds addends, as a mask.
template <class S> inline constexpr unsigned partial_axes = S::table.mask(use::partial);

/// The axes along which the result of a linear operation may be counted once: where every partial
/// operand is.
template <class S, class... X> constexpr unsigned common_once(const X&... x) {
  constexpr unsigned partial = partial_axes<S>;
  constexpr unsigned any = (0u | ... | partial_axes<spec_of<X>>);
  if constexpr ((partial & any) == 0) return 0;
  const unsigned mixed = (0u | ... | (partial_axes<spec_of<X>> & ~x.once()));
  return partial & any & ~mixed;
}

// ---- the ways to run ----------------------------------------------------------------------------

template <class Op>
inline constexpr int aliased_operand = [] {
  if constexpr (requires { Op::aliases; })
    return static_cast<int>(Op::aliases);
  else
    return -1;
}();

/// The first or the second of the operands (the first where there is but one).
template <int K, class X> constexpr const X& operand_at(const X& x) { return x; }
template <int K, class X1, class X2, class... Rest>
constexpr const auto& operand_at(const X1& x1, const X2& x2, const Rest&...) {
  if constexpr (K == 0)
    return x1;
  else
    return x2;
}

template <class... X> constexpr tally* tally_of(const X&... x) {
  tally* t = nullptr;
  ((t = t != nullptr ? t : x.tally()), ...);
  return t;
}

/// A result of spec S before it is filled, in the memory that slot I offers if there is such.
template <class S, std::size_t I = 0, class Op, std::size_t N, class First, class... Rest>
  requires(!is_list<S>)
constexpr auto fresh_result(const Op& op, const slots<N>& to, const First& first,
                            const Rest&... rest) {
  constexpr int shared = aliased_operand<Op>;
  static_assert(shared < 2, "apply: results share the memory of the first or the second operand");
  typename S::shape_type shape{};
  if constexpr (!std::is_empty_v<typename S::shape_type>)
    shape = result_shape<typename S::shape_type>(op, first, rest...);
  if constexpr (is_shaped<First> || (is_shaped<Rest> || ...)) {
    tally* t = tally_of(first, rest...);
    typename tensor_of_spec<S>::shaped y(first.sizes(), shape, shared >= 0 ? nullptr : t);
    if constexpr (shared >= 0) y.share(t, operand_at<(shared > 0)>(first, rest...).live());
    if constexpr (partial_axes<S> != 0) y.set_once(common_once<S>(first, rest...));
    return y;
  } else {
    const storage* memory = &no_storage;
    if constexpr (shared >= 0)
      memory = &operand_at<(shared > 0)>(first, rest...).memory();
    else if constexpr (I < N)
      memory = &to.at[I];
    typename tensor_of_spec<S>::basic y(first.grid(), shape, *memory);
    if constexpr (partial_axes<S> != 0) y.set_once(common_once<S>(first, rest...));
    return y;
  }
}
template <class... S, std::size_t... I, class Op, std::size_t N, class... X>
constexpr auto fresh_results(list<S...>, std::index_sequence<I...>, const Op& op,
                             const slots<N>& to, const X&... x) {
  return bundle(fresh_result<S, I>(op, to, x...)...);
}
/// Where S is a list: a bundle of results.
template <class S, class Op, std::size_t N, class... X>
  requires is_list<S>
constexpr auto fresh_result(const Op& op, const slots<N>& to, const X&... x) {
  return fresh_results(S{}, std::make_index_sequence<S::size>{}, op, to, x...);
}

/// The result that the caller of an operation sees: all, or the first where the others are
/// auxiliary.
template <class Op, class Y> struct main_type_of {
  using type = Y;
};
template <class Op, class Y>
  requires requires { Op::auxiliary; }
struct main_type_of<Op, Y> {
  using type = item_type<0, Y>;
};
template <class Op, class Y> using main_type = typename main_type_of<Op, Y>::type;

/// Runs an operation on recorded operands and records it: grad/tape.hpp.
template <class Op, class... X> constexpr auto record(const Op& op, const X&... x);

}  // namespace dimesh::detail

namespace dimesh {

/// Runs an operation whose operands have passed its typing rule. Results go to the memory in `to`
/// where it offers some. Settled: a partial operand that all ranks held whole has become addends.
template <bool Settled = false, class Op, std::size_t N, Tensor... X>
constexpr auto apply_into(const Op& op, const detail::slots<N>& to, const X&... x) {
  using S = typename Op::template result<spec_of<X>...>;
  if constexpr (detail::on_cores<Op>) {
    return detail::apply_on_cores(typename detail::specs_of<S>::type{}, op, to.at, x...);
  } else {
    if constexpr (!Settled) detail::match_grids<Op>(x...);
    constexpr int partials = (int{detail::partial_axes<spec_of<X>> != 0} + ... + 0);
    if constexpr (!Settled && sizeof...(X) > 1 &&
                  (detail::any_dynamic(typename spec_of<X>::dims{}) || ...))
      detail::match_extents<Op>(detail::united<typename spec_of<X>::dims...>{}, x...);
    if constexpr (!Settled && partials >= 2) {
      // Addends of one operand and a value held whole in another: make them all addends.
      const unsigned any = (0u | ... | x.once());
      const unsigned mixed = any & (0u | ... | (detail::partial_axes<spec_of<X>> & ~x.once()));
      if (mixed != 0) return apply_into<true>(op, to, detail::settled(x, x.once() & mixed)...);
    }
    auto y = detail::fresh_result<S>(op, to, x...);
    if constexpr ((detail::is_shaped<X> || ...)) {
      if (detail::tally* t = detail::tally_of(x...); t != nullptr) op.cost(*t, y, x...);
    } else if constexpr (detail::aliased_operand<Op> < 0) {
      op.fill(y, x...);
    }
    return y;
  }
}

}  // namespace dimesh
