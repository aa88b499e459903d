// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a function of an element and its neighbours run over a grid of points? `stencil` applies
// it to tensors that carry halos, in one local pass; the result has none. It differentiates itself.
//
//   stencil([](const auto& u) { return at<row>(u, -1) + at<row>(u, 1) - 2 * at<>(u); },
//           tensor<T, layout<pod, split<halo<row, 1>, rows>>, row, col>)
//     -> tensor<T, layout<pod, split<row, rows>>, row, col>
//
// The function reads the same neighbours at every point: it chooses between values by
// dimesh::select(c, a, b).
#pragma once

#include "dimesh/op/map.hpp"
#include "dimesh/op/parts/stencil_rows.hpp"

namespace dimesh {

namespace detail {

struct without_halos {
  static constexpr table of(table t) {
    for (halo_widths& h : t.halo) h = {};
    return t;
  }
};
template <class S> using bare_spec = relaid_spec<S, without_halos>;

/// Operands as a stencil sees them: functions name neighbours by dim, so operations are compiled
/// for the dims of the points and of the operands V..., and for nothing else of their types.
template <class Points, class... V> struct stencil_of {
  template <std::size_t K> using seen_at = item_type<K, bundle<V...>>;
  static constexpr int last = Points::size > 0 ? Points::size - 1 : 0;
  template <class X> using lattice_of = lattice<X, row_step<typename X::dims, Points>>;

  /// Some element, to ask a function what it reads: fractions of both signs.
  template <class X> static auto sign_of(int sign) {
    using T = computed<typename X::value_type>;
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(sign);
    else
      return T(1);
  }
  /// y = f at some points.
  template <class F, class R, std::size_t... K>
  static void fill(const F& f, tensor_core& y, operands x, const point_box& points,
                   std::index_sequence<K...>) {
    using rows = stencil_rows<last, F, R, lattice_of<V>...>;
    const positioned<R> out(y.data<R>(), y, y);
    const bundle_of<lattice_of<V>...> in{{lattice_of<V>(x[static_cast<int>(K)], y)}...};
    for (const int sign : {1, -1})
      (void)f(seen_in_reach<V>{x[static_cast<int>(K)].layout().halo, sign_of<V>(sign)}...);
    for_each_row<local::default_space>(points, dims_of(out, points.rank), rows{f, out, in});
  }
  /// The cotangent of operand K, stored like it: halos and all; in: ybar, and the operands.
  template <std::size_t K, class F, class B, std::size_t... I>
  static void pull(const F& f, tensor_core& bar, operands in, std::index_sequence<I...>) {
    using T = typename seen_at<K>::value_type;
    using rows = stencil_back_rows<K, last, F, B, lattice_of<V>...>;
    const index_t n = bar.elements();
    const rounded_sums<T> sums(bar.data<T>(), n);
    zero_bytes(sums.data(), n * index_t{sizeof(computed<T>)});
    const point_box points(in[0]);
    const positioned<computed<T>> to(sums.data(), bar, in[0]);
    const bundle_of<lattice_of<V>...> x{{lattice_of<V>(in[static_cast<int>(I) + 1], in[0])}...};
    // Which neighbours of the operand does f read?
    std::vector<index_t> asked, others;
    (void)f(seen_nothing<V>{item<I>(x).far, I == K ? &asked : &others}...);
    for (const index_t away : asked)
      for_each_row<local::default_space>(
          points, dims_of(to, points.rank),
          rows{f, positioned<const B>(in[0].data<const B>(), in[0], in[0]), x, to, away});
    sums.finish();
  }
};

/// The derivative of f along a tangent of its operand K, as a function of that tangent and f's
/// operands: how a stencil's transpose is itself transposed.
template <class F, std::size_t K> struct tangent_function {
  F f;
  template <class W, class... X>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(const W& w, const X&... x) const {
    using G = typename one_dual<typename W::value, typename X::value...>::type;
    return along<G>(w, std::index_sequence_for<X...>{}, x...);
  }

 private:
  /// The dual type among those seen, if there is one: of the variable where this is differentiated.
  template <class First, class... Rest> struct one_dual {
    using type = First;
  };
  template <class First, class Second, class... Rest>
    requires(!is_dual<First>)
  struct one_dual<First, Second, Rest...> {
    using rest = typename one_dual<Second, Rest...>::type;
    using type = std::conditional_t<is_dual<rest>, rest, First>;
  };
  template <class G, class W, std::size_t... I, class... X>
  KOKKOS_FORCEINLINE_FUNCTION auto along(const W& w, std::index_sequence<I...>,
                                         const X&... x) const {
    return local::detail::partial_of<0, G>(f(moved < G, I == K > (w, x)...));
  }
  template <class G, bool Moves, class W, class X>
  KOKKOS_FORCEINLINE_FUNCTION static auto moved(const W& w, const X& x) {
    if constexpr (Moves)
      return seen_moving<G, X, W>{x, w};
    else
      return seen_still<G, X>{x};
  }
};

/// The cotangents of all wanted operands, from ybar (elements B) and all operands.
template <unsigned Mask, class F, class B, class Points, class... V> struct stencil_transpose_op {
  F f;

  constexpr void cost(tally& t, results bars, operands in) const {
    index_t wanted = 0;
    for (int k = 0; k < bars.count(); ++k) wanted += bars.has(k);
    t.compute(2 * (1 + wanted) * in[0].elements(), bars.bytes() + bytes_of(in));
  }
  void fill(results bars, operands in) const { each(bars, in, std::index_sequence_for<V...>{}); }

 private:
  template <std::size_t... K>
  void each(results bars, operands in, std::index_sequence<K...> all) const {
    (one<K, V>(bars, in, all), ...);
  }
  template <std::size_t K, class X>
  void one(results bars, operands in, [[maybe_unused]] auto all) const {
    if constexpr ((Mask >> K & 1u) != 0 && is_real<typename X::value_type>)
      if (bars.has(static_cast<int>(K)))
        stencil_of<Points, V...>::template pull<K, F, B>(f, bars[static_cast<int>(K)], in, all);
  }
};

template <class F, class R, class Points, class... V> struct stencil_op;

/// op(in...) is the cotangent of operand k; recorded where the transpose is.
template <unsigned Recorded, class To, class Op, class... In>
constexpr void give_recorded(const To& to, int k, const Op& op, const In&... in) {
  constexpr bool fits = sizeof...(In) <= max_operands;
  static_assert(fits,
                "stencil: too many operands for gradients of gradients; at most 14 are supported");
  if (!to.wants(k)) return;
  if constexpr (To::depth > 1)
    to.pass(k, to.template made<Recorded>(to.x(k).facts->dual, op, in...));
  else
    to.give(k, op, in...);
}

/// The cotangent of operand K alone, from ybar (elements B) and all operands: where it is recorded.
template <std::size_t K, class F, class B, class Points, class... V> struct stencil_back_op {
  F f;
  using wanted = typename stencil_of<Points, V...>::template seen_at<K>;

  constexpr void cost(tally& t, results bars, operands in) const {
    t.compute(4 * in[0].elements(), bars.bytes() + bytes_of(in));
  }
  void fill(results bars, operands in) const {
    stencil_of<Points, V...>::template pull<K, F, B>(f, bars[0], in,
                                                     std::index_sequence_for<V...>{});
  }
  static constexpr bool needs(int k, unsigned wanted) { return k >= 0 && wanted != 0; }
  static constexpr bool by_mask = true;
  template <unsigned Mask, class To> constexpr void transpose(const To& to) const {
    give_each<Mask>(to, std::index_sequence_for<V...>{});
  }

 private:
  /// bar = sum of ybar times the derivative by operand K: the cotangent of ybar is the derivative
  /// along the bar's own, those of the operands come from that derivative's.
  template <unsigned Mask, class To, std::size_t... I>
  constexpr void give_each(const To& to, std::index_sequence<I...>) const {
    constexpr unsigned operands = Mask >> 1;
    using tangent = tangent_function<F, K>;
    give_recorded<1u | operands << 1>(to, 0, stencil_op<tangent, B, Points, wanted, V...>{{f}},
                                      to.ybar, to.x(1 + static_cast<int>(I))...);
    (give_one<I, operands, V>(to, to.x(1 + static_cast<int>(I))...), ...);
  }
  template <std::size_t I, unsigned Operands, class X, class To, class... In>
  constexpr void give_one(const To& to, const In&... x) const {
    using tangent = tangent_function<F, K>;
    if constexpr ((Operands >> I & 1u) != 0 && is_real<typename X::value_type>)
      give_recorded<3u | Operands << 2>(
          to, 1 + static_cast<int>(I),
          stencil_back_op<1 + I, tangent, B, Points, wanted, V...>{{f}}, to.x(0), to.ybar, x...);
  }
};

/// Elements R at points with dims Points, of operands seen as V... by the function F.
template <class F, class R, class Points, class... V> struct stencil_op {
  F f;

  void fill(results y, operands x) const { fill_at(y, x, point_box(y[0])); }
  void fill_at(results y, operands x, const point_box& points) const {
    stencil_of<Points, V...>::template fill<F, R>(f, y[0], x, points,
                                                  std::index_sequence_for<V...>{});
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(y[0].elements(), y[0].bytes() + bytes_of(x));
  }
  static constexpr bool needs(int k, unsigned wanted) { return k >= 0 && wanted != 0; }
  static constexpr bool by_mask = true;
  template <unsigned Mask, class To> constexpr void transpose(const To& to) const {
    if constexpr (To::depth > 1)
      give_each<Mask>(to, std::index_sequence_for<V...>{});
    else
      to.give_all(stencil_transpose_op<Mask, F, R, Points, V...>{f});
  }

 private:
  template <unsigned Mask, class To, std::size_t... K>
  constexpr void give_each(const To& to, std::index_sequence<K...>) const {
    (give_one<Mask, K, V>(to, to.x(static_cast<int>(K))...), ...);
  }
  template <unsigned Mask, std::size_t K, class X, class To, class... In>
  constexpr void give_one(const To& to, const In&... x) const {
    if constexpr ((Mask >> K & 1u) != 0 && is_real<typename X::value_type>)
      give_recorded<1u | Mask << 1>(to, static_cast<int>(K),
                                    stencil_back_op<K, F, R, Points, V...>{f}, to.ybar, x...);
  }
};

template <class F, class R, class Points, class... X>
using stencil_on = stencil_op<F, R, Points, seen_of<spec_of<X>>...>;
template <class R, class F, class... X> constexpr auto run_stencil(const F& f, const X&... x) {
  using S = typename map_rule<join_kind::nonlinear, bare_spec<spec_of<X>>...>::template result<R>;
  return apply_as<S>(stencil_on<F, R, typename S::dims, X...>{f}, x...);
}

template <class... X> struct stencil_fault {
  using type = typename map_rule<join_kind::nonlinear, bare_spec<spec_of<X>>...>::fault;
};
template <class... X>
  requires(((is_poison<X> || is_probe<X>) || ...) || sizeof...(X) > max_operands)
struct stencil_fault<X...> {
  using type = no_fault;
};

}  // namespace detail

/// f of every element and its neighbours. f gets an accessor for each operand (see `at`) and
/// returns a scalar; it must be pure. Shapes: the result has the operands' dims, without halos;
/// elements as map gives.
/// Local: exchange halos first.
template <class F, Operand... X>
  requires(sizeof...(X) > 0 && !Operand<F>)
constexpr auto stencil(const F& f, const X&... x) {
  using fault = typename detail::stencil_fault<X...>::type;
  constexpr bool are_few = sizeof...(X) <= detail::max_operands;
  static_assert(are_few, "stencil: there are 16 operands at most; stack some of them");
  static_assert(ok<only<fault, meshes_differ>>,
                "stencil: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "stencil: the operands live on different ranks of this axis; place<axis, k> the "
                "one that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<fault, dims_share_mesh_axis>>,
                "stencil: the operands split different dims over one mesh axis; relayout one");
  static_assert(ok<only<fault, dim_split_in_one_operand_only>>,
                "stencil: one operand has only its block of this dim, another has all of it; take "
                "own<dim, axis> of the other, or gather the one");
  static_assert(ok<only<fault, dim_split_differently>>,
                "stencil: the operands split this dim in different ways; relayout one of them");
  static_assert(ok<only<fault, partial_operand>>,
                "stencil: an operand is a sum yet to be made; complete it first");
  if constexpr (!are_few || !ok<fault> || (is_poison<X> || ...)) {
    return poison{};
  } else if constexpr ((detail::is_probe<X> || ...)) {
    detail::refuse_probed_stencil("stencil");
    return poison{};
  } else {
    detail::assert_kernel_function<F>();
    using R = std::decay_t<decltype(detail::ask<F>()(std::declval<detail::seen_in<X>>()...))>;
    if constexpr (is_poison<R>) {
      return poison{};  // it looks where there is nothing
    } else {
      using D = decltype(detail::ask<F>()(std::declval<detail::seen_back<X>>()...));
      using called = typename detail::stencil_function_fault<R, D, F, X...>::type;
      static_assert(ok<only<called, function_not_callable_with>>,
                    "stencil: the function cannot be called with an accessor for each operand; "
                    "take each as const auto&");
      static_assert(
          ok<only<called, function_not_const, parameter_not_const>>,
          "stencil: the function changes itself or its arguments; take accessors as const "
          "auto&, and let operator() be const");
      static_assert(ok<only<called, function_gives_no_number>>,
                    "stencil: the function returns no number; return the new element, made of "
                    "at<>(u) and its neighbours");
      static_assert(
          ok<only<called, function_takes_plain_only>>,
          "stencil: where gradients are wanted elements are dual numbers, and the function "
          "takes plain ones; let what it calls take auto");
      if constexpr (ok<called>)
        return detail::run_stencil<detail::kept_as<R, value_of<X>...>>(f, x...);
      else
        return poison{};
    }
  }
}

}  // namespace dimesh
