// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a scalar function meet whole tensors? `map` applies it element by element, in one pass
// over memory; operands that lack a dim are broadcast by name at no cost. Its transpose calls the
// function once more on dual numbers and gives all wanted cotangents in one pass.
//
//   map([](auto x, auto b) { return relu(x + b); }, x[batch/rows, hidden], b[hidden])
//     -> tensor[batch/rows, hidden]
//   map(f, x + partial addends)  -> partial_operand<axis>: a function of a sum is not a sum
//
// Of bfloat16 elements, f gets floats; its float is kept as bfloat16 where all real operands are.
//
//   map(f, tensor<bfloat16, L, batch>)         -> tensor<bfloat16, L, batch>
//   map<float>(f, tensor<bfloat16, L, batch>)  -> tensor<float, L, batch>
#pragma once

#include "dimesh/detail/join.hpp"
#include "dimesh/detail/nest_plan.hpp"
#include "dimesh/detail/rounded_sums.hpp"
#include "dimesh/local/map.hpp"
#include "dimesh/local/map_transpose.hpp"
#include "dimesh/local/reduce.hpp"
#include "dimesh/op/wanted.hpp"

namespace dimesh {

namespace detail {

/// The first list that holds all dims of Union, else Union: an operand with all dims sets the
/// order.
template <class Union, class... Dims> struct leading_dims {
  using type = Union;
};
template <class Union, class First, class... Rest> struct leading_dims<Union, First, Rest...> {
  using type = typename std::conditional_t<First::size == Union::size, tag<First>,
                                           leading_dims<Union, Rest...>>::type;
};
template <class... S>
using map_dims = typename leading_dims<united<typename S::dims...>, typename S::dims...>::type;

template <class J> struct joined_table {
  static constexpr table result = J::value.t;
};

/// Rule of an elementwise operation: fault, and the spec of the result if there is none.
template <join_kind Kind, class... S> struct map_rule {
  using first = type_at<0, list<S...>>;
  using mesh = typename first::mesh;
  using dims = map_dims<S...>;
  static constexpr auto find() {
    using meshes = typename mesh_fault<S...>::type;
    if constexpr (ok<meshes>)
      return tag<fault_of_join<join<Kind, dims, S...>, mesh, dims>>{};
    else
      return tag<meshes>{};
  }
  using fault = typename decltype(find())::type;
  template <class T>
  using result = spec_of_table<T, mesh, dims, joined_table<join<Kind, dims, S...>>>;
};

/// The cotangents of all wanted operands of a map. Shapes: ybar as the result, each xbar as its x.
template <class F, bool... Wanted> struct map_transpose_op {
  F f;
  using select = selection<Wanted...>;

  template <class B, class... S> using result = typename wanted_specs<select, S...>::type;

  template <class Bars, class B, class... X>
  constexpr void cost(tally& t, const Bars& bars, const B& ybar, const X&... x) const {
    index_t bytes = ybar.local_bytes() + (x.local_bytes() + ...);
    with_items([&](const auto&... b) { bytes += (b.local_bytes() + ...); }, bars);
    t.compute(2 * (1 + (int{Wanted} + ...)) * ybar.local_size(), bytes);
  }
  template <class Bars, class B, class... X>
  void fill(Bars& bars, const B& ybar, const X&... x) const {
    fill_each(bars, std::make_index_sequence<sizeof...(X)>{}, ybar, x...);
  }

 private:
  template <class Bars, std::size_t... K, class B, class... X>
  void fill_each(Bars& bars, std::index_sequence<K...>, const B& ybar, const X&... x) const {
    using loop = typename spec_of<B>::dims;
    using plan = nest_plan<loop, loop, typename spec_of<X>::dims...>;
    const bundle<bar_sums<K, loop, X>...> sums(sums_of<K, loop>(bars, x)...);
    local::map_transpose(plan::nest(ybar), f,
                         plan::template operand<0, const value_of<B>>(ybar.data(), ybar),
                         argument<plan, K>(item<K>(sums), x)...);
    (item<K>(sums).finish(), ...);
  }

  /// In place of the sums for an operand that wants none.
  struct unwanted {
    void finish() const {}
  };
  /// Where the cotangent of operand K is formed: one that lacks dims of the loop is a sum.
  template <std::size_t K, class Loop, class X>
  using bar_sums =
      std::conditional_t<select::at[K],
                         rounded_sums<value_of<X>, !is_storage_only<value_of<X>> ||
                                                       spec_of<X>::dims::size == Loop::size>,
                         unwanted>;
  template <std::size_t K, class Loop, class Bars, class X>
  static bar_sums<K, Loop, X> sums_of(Bars& bars, const X& x) {
    if constexpr (select::at[K])
      return {item<select::place(K)>(bars).data(), x.local_size()};
    else
      return {};
  }
  template <class Plan, std::size_t K, class Sums, class X>
  static auto argument(const Sums& sums, const X& x) {
    auto value = Plan::template operand<K + 1, const value_of<X>>(x.data(), x);
    if constexpr (select::at[K]) {
      using Sum = std::remove_pointer_t<decltype(sums.data())>;
      auto bar = Plan::template operand<K + 1, Sum>(sums.data(), x);
      return local::wanted<decltype(value), decltype(bar)>{value, bar};
    } else {
      return value;
    }
  }
};

/// xbar = weight * (ybar summed over the dims that x lacks): the transpose of a weighted sum.
template <class S, class T> struct sum_to_op {
  computed<T> weight;
  struct scale {
    computed<T> weight;
    KOKKOS_INLINE_FUNCTION computed<T> operator()(computed<T> v) const { return weight * v; }
  };
  template <class B> using result = cotangent_spec<S>;
  constexpr auto new_dims() const { return shape<>{}; }
  template <class Bar, class B> constexpr void cost(tally& t, const Bar& bar, const B& ybar) const {
    t.compute(ybar.local_size(), bar.local_bytes() + ybar.local_bytes());
  }
  template <class Bar, class B> void fill(Bar& bar, const B& ybar) const {
    using loop = typename spec_of<B>::dims;
    using plan = nest_plan<loop, typename S::dims, loop>;
    const rounded_sums<T> sums(bar.data(), bar.local_size());
    local::map_reduce(local::plus{}, plan::nest(ybar), scale{weight},
                      plan::template operand<0, computed<T>>(sums.data(), bar),
                      plan::template operand<1, const value_of<B>>(ybar.data(), ybar));
    sums.finish();
  }
};

/// The one type among V... that only stores; float where there are several.
template <class... V> struct stored_of {
  template <class T>
  static constexpr bool only = ((!is_storage_only<V> || std::is_same_v<V, T>) && ...);
  using type =
      std::conditional_t<only<bfloat16>, bfloat16, std::conditional_t<only<half>, half, float>>;
};

/// The element type of f's results on elements V...: As, where one is asked for; bfloat16 (or half)
/// where f gives float and no more precise real number went in; else what f gives.
template <class As, class F, class... V> struct map_value {
  using given = std::decay_t<std::invoke_result_t<const F&, computed<V>...>>;
  static constexpr bool stored = std::is_same_v<given, float> && (is_storage_only<V> || ...) &&
                                 !(std::is_floating_point_v<V> || ...);
  using natural = std::conditional_t<stored, typename stored_of<V...>::type, given>;
  using type = std::conditional_t<std::is_void_v<As>, natural, As>;
};

template <class F, join_kind Kind, class As = void> struct map_op {
  F f;
  /// A weighted sum of its operands: f.weight(k) is the derivative, nothing need be kept.
  static constexpr bool linear = requires(const F& g) { g.weight(0); };

  template <class... S>
  using result = typename map_rule<Kind, S...>::template result<
      typename map_value<As, F, typename S::value_type...>::type>;

  template <class Y, class... X> void fill(Y& y, const X&... x) const {
    fill_each(std::make_index_sequence<sizeof...(X)>{}, y, x...);
  }
  template <class Y, class... X> constexpr void cost(tally& t, const Y& y, const X&... x) const {
    t.compute(y.local_size(), y.local_bytes() + (x.local_bytes() + ...));
  }
  static constexpr bool needs(int k, unsigned wanted) { return !linear && k >= 0 && wanted != 0; }

  template <bool... Wanted, std::size_t N, class B, class Y, class... X>
  constexpr auto transpose(const slots<N>& to, const B& ybar, const Y&, const X&... x) const {
    return transpose_each<Wanted...>(std::make_index_sequence<N>{}, to, ybar, x...);
  }

 private:
  template <bool... Wanted, std::size_t... K, class B, class... X>
  constexpr auto transpose_each(std::index_sequence<K...>, const slots<sizeof...(K)>& to,
                                const B& ybar, const X&... x) const {
    if constexpr (linear) {
      return bundle_of<decltype(weighted<Wanted, K, X>(to, ybar))...>{
          {weighted<Wanted, K, X>(to, ybar)}...};
    } else {
      return all_wanted<Wanted...>(map_transpose_op<F, Wanted...>{f}, to, ybar, x...);
    }
  }
  template <bool W, std::size_t K, class X, std::size_t N, class B>
  constexpr auto weighted(const slots<N>& to, const B& ybar) const {
    if constexpr (!W)
      return none{};
    else if constexpr (F::passes(K) && std::is_same_v<cotangent_spec<spec_of<X>>, spec_of<B>>)
      return ybar;
    else
      return apply_into(
          sum_to_op<spec_of<X>, value_of<X>>{static_cast<computed<value_of<X>>>(f.weight(K))},
          slots<1>{{to.at[K]}}, ybar);
  }
  template <std::size_t... K, class Y, class... X>
  void fill_each(std::index_sequence<K...>, Y& y, const X&... x) const {
    using loop = typename spec_of<Y>::dims;
    using plan = nest_plan<loop, loop, typename spec_of<X>::dims...>;
    local::map(plan::nest(y), f, plan::template operand<0, value_of<Y>>(y.data(), y),
               plan::template operand<K + 1, const value_of<X>>(x.data(), x)...);
  }
};

template <join_kind Kind, class... X> struct map_fault_impl {
  using type = typename map_rule<Kind, spec_of<X>...>::fault;
};
template <join_kind Kind, class... X>
  requires(is_poison<X> || ...)
struct map_fault_impl<Kind, X...> {
  using type = no_fault;
};

template <join_kind Kind, class... X> using map_fault = typename map_fault_impl<Kind, X...>::type;

/// Applies an elementwise operation of a kind; poison where it may not be. The caller says why.
template <join_kind Kind, class As = void, class F, class... X>
constexpr auto map_as(const F& f, const X&... x) {
  using fault = map_fault<Kind, X...>;
  if constexpr (!ok<fault> || (is_poison<X> || ...))
    return poison{};
  else
    return apply(map_op<F, Kind, As>{f}, x...);
}

}  // namespace detail

/// f of the elements of x..., one by one, with elements of the type that f gives, or of T (float,
/// double, bfloat16). Shapes: each operand any of the result's dims; the first operand that has
/// them all sets their order. f takes scalars (and dual numbers, if gradients are wanted) and must
/// be a pure function; it runs on the device where Kokkos does. One pass over memory.
template <class T = void, class F, Operand... X>
  requires(sizeof...(X) > 0 && (std::is_void_v<T> || is_real<T>))
constexpr auto map(const F& f, const X&... x) {
  using fault = detail::map_fault<detail::join_kind::nonlinear, X...>;
  static_assert(ok<only<fault, partial_operand>>,
                "map: an operand is a sum yet to be made, and a function of parts is no part of "
                "it; complete it first");
  static_assert(ok<only<fault, dim_split_in_one_operand_only>>,
                "map: a dim is split in one operand only; slice it in the other (free), or gather "
                "it with whole<dim>");
  static_assert(ok<only<fault, dim_split_differently, dims_share_mesh_axis>>,
                "map: the operands are split differently; relayout one of them");
  static_assert(ok<only<fault, meshes_differ>>,
                "map: the operands live on different meshes; put them on one");
  return detail::map_as<detail::join_kind::nonlinear, T>(f, x...);
}

}  // namespace dimesh
