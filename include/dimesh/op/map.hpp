// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a scalar function meet whole tensors? `map` applies it element by element, in one pass
// over memory; operands that lack a dim are broadcast by name at no cost. Its transpose calls the
// function once more on dual numbers and gives all wanted cotangents in one pass.
//
//   map([](auto x, auto b) { return relu(x + b); }, x[batch/rows, hidden], b[hidden])
//     -> tensor[batch/rows, hidden];  of addends: partial_operand<axis>
// Of bfloat16 elements, f gets floats; its float is kept as bfloat16 where all real operands are.
//
//   map(f, tensor<bfloat16, L, batch>)         -> tensor<bfloat16, L, batch>
//   map<float>(f, tensor<bfloat16, L, batch>)  -> tensor<float, L, batch>
#pragma once

#include "dimesh/local/reduce_over.hpp"
#include "dimesh/op/parts/join_rule.hpp"
#include "dimesh/op/parts/map_function.hpp"
#include "dimesh/op/parts/map_transposes.hpp"

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

/// Rule of an elementwise operation.
template <join_kind Kind> struct elementwise_rule {
  static constexpr bool of_reals = Kind == join_kind::real;
  template <class... Dims> struct dims : leading_dims<united<Dims...>, Dims...> {};
  static constexpr outcome of(rule_operands x, dim_list out) { return join_rule(Kind, x, out); }
};
/// What it makes of specs S...
template <join_kind Kind, class... S> struct map_rule {
  using fault = spec_fault<elementwise_rule<Kind>, S...>;
  template <class T> using result = result_spec<elementwise_rule<Kind>, T, S...>;
};

/// Elements R of elements V..., by the function F.
template <class F, class R, class... V> struct map_op {
  F f;
  std::string_view call = call_of<F>();
  /// A weighted sum of its operands: f.weight(k) is the derivative, nothing need be kept.
  static constexpr bool linear = requires(const F& g) { g.weight(0); };
  /// A product (or quotient) of complex numbers, which says its cotangents itself.
  static constexpr bool of_complex = requires { typename F::template pulled<0>; };
  static constexpr bool takes_complex =
      (linear || of_complex) && is_complex<R> && (std::is_same_v<R, V> && ...);

  void fill(results y, operands x) const { fill_each(y, x, std::index_sequence_for<V...>{}); }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(y[0].elements(), y[0].bytes() + bytes_of(x));
  }
  static constexpr bool needs(int k, unsigned wanted) { return !linear && k >= 0 && wanted != 0; }
  static constexpr bool by_mask = true;
  template <unsigned Mask, class To> constexpr void transpose(const To& to) const {
    if constexpr (linear)
      transpose_linear(to, std::index_sequence_for<V...>{});
    else if constexpr (takes_complex)
      transpose_product<Mask>(to, std::index_sequence_for<V...>{});
    else if constexpr (To::depth > 1)
      transpose_recorded<Mask>(to, std::index_sequence_for<V...>{});
    else
      to.give_all(map_transpose_op<Mask, F, R, V...>{f});
  }

 private:
  template <std::size_t... K>
  void fill_each(results y, operands x, std::index_sequence<K...>) const {
    local::map_over(loops_over(loop_dims(y[0]), y[0], x[static_cast<int>(K)]...), f, y[0].data<R>(),
                    x[static_cast<int>(K)].data<const V>()...);
  }
  /// Operand by operand, of operations that have transposes.
  template <unsigned Mask, class To, std::size_t... K>
  constexpr void transpose_recorded(const To& to, std::index_sequence<K...>) const {
    (give_product<Mask, K, V>(to, to.x(static_cast<int>(K))...), ...);
  }
  template <unsigned Mask, std::size_t K, class T, class To, class... X>
  constexpr void give_product(const To& to, const X&... x) const {
    if constexpr ((Mask >> K & 1u) != 0 && is_real<T>) {
      constexpr int k = static_cast<int>(K);
      if (!to.wants(k)) return;
      constexpr unsigned recorded = 1u | Mask << 1;
      const map_op<derivative_function<F, k>, R, R, V...> product{{f}, call};
      const tensor_core bar = to.template made<recorded>(to.ybar.facts, product, to.ybar, x...);
      if (to.is_like(k, bar))
        to.pass(k, bar);
      else
        to.give(k, sum_to_op<T, R>{1}, bar);
    }
  }
  template <unsigned Mask, std::size_t... K>
  constexpr void transpose_product(const auto& to, std::index_sequence<K...>) const {
    const auto one = [&]<int I>(std::integral_constant<int, I>) {
      if constexpr ((Mask >> I & 1u) != 0)
        to.give(I, product_pulled_op<typename F::template pulled<I>, R>{}, to.ybar, to.x(0),
                to.x(1));
    };
    (one(std::integral_constant<int, static_cast<int>(K)>{}), ...);
  }
  template <std::size_t... K>
  constexpr void transpose_linear(const auto& to, std::index_sequence<K...>) const {
    (give_weighted<V>(to, static_cast<int>(K)), ...);
  }
  template <class T> constexpr void give_weighted(const auto& to, int k) const {
    if constexpr (has_gradient<T>) {
      if (!to.wants(k)) return;
      if (F::passes(k) && to.is_like(k, to.ybar))
        to.pass(k, to.ybar);
      else
        to.give(k, sum_to_op<T, R>{conjugate(static_cast<computed<T>>(f.weight(k)))}, to.ybar);
    }
  }
};

/// Adding up cotangents is recorded where they are.
template <class T, int Depth>
constexpr tensor_core sum_recorded(const tensor_core& a, const tensor_core& b) {
  tensor_core sum(a.facts);
  tensor_core* const y[] = {&sum};
  operand in[] = {{&a, a.record}, {&b, b.record}};
  using add = map_op<add_elements, T, T, T>;
  evaluate(bound<add, Depth>(add{}), results(y, 1), in, 2);
  return sum;
}

template <join_kind Kind, class... X> using map_fault = fault_of<elementwise_rule<Kind>, X...>;

template <join_kind Kind, class As, class F, class... X>
constexpr auto map_legal(std::string_view call, const F& f, const X&... x) {
  using R = typename map_value<As, F, value_of<X>...>::type;
  return apply_rule<elementwise_rule<Kind>, R>(map_op<F, R, value_of<X>...>{f, call}, x...);
}

/// Kernels take such elements, and so many of them. Where F, which gives R, is refused nothing is
/// asked.
template <class As, bool Called, class R, class... V> inline constexpr bool fits_map = true;
template <class As, class R, class... V>
inline constexpr bool fits_map<As, true, R, V...> =
    local::detail::fills_rows<typename value_kept<As, R, V...>::type, V...>;

/// Applies an elementwise operation of a kind; poison where it may not be. The caller says why.
/// What only the run can refuse is said of the call that the user made.
template <join_kind Kind, class As = void, class F, class... X>
constexpr auto map_called(std::string_view call, const F& f, const X&... x) {
  using fault = map_fault<Kind, X...>;
  if constexpr (!ok<fault> || (is_poison<X> || ...))
    return poison{};
  else
    return map_legal<Kind, As>(call, f, x...);
}
template <join_kind Kind, class As = void, class F, class... X>
constexpr auto map_as(const F& f, const X&... x) {
  if constexpr ((is_poison<X> || ...)) {
    return poison{};
  } else {
    using fault = operator_fault_of<Kind == join_kind::real, F, value_of<X>...>;
    static_assert(ok<fault>,
                  "operators and functions: elements of these types have none such, or take no "
                  "number beside them; write map(f, x, y), f a function of elements");
    if constexpr (ok<fault>)
      return map_called<Kind, As>(call_of<F>(), f, x...);
    else
      return poison{};
  }
}

/// A tensor that the caller gives up: an rvalue of its own.
template <class X>
concept GivenUp = Tensor<X> && !std::is_reference_v<X> && !std::is_const_v<X> && !is_tracked<X> &&
                  !is_probe<X> && !is_poison<X>;

/// map_legal where the result is what `gone` is: written over `gone` if nobody else holds its
/// memory.
template <class F, class X0, class... X>
constexpr X0 map_onto(const F& f, X0& gone, const X&... x) {
  using T = value_of<X0>;
  using op = map_op<F, T, T, value_of<X>...>;
  const op it{f, call_of<F>()};
  tensor_core& c = core_of(gone);
  if (!(core_of(x).is_shape || ...) && is_free_to_write(c)) {
    const tensor_core* in[] = {&c, &core_of(x)...};
    constexpr unsigned mask =
        recorded_mask(transposes_by_mask<op>, {is_tracked<X0>, is_tracked<X>...});
    bound<op, 0, mask>::run(it, c, nullptr, in, 1 + sizeof...(X), &c.memory, nullptr);
    return std::move(gone);
  }
  c.live = live_bytes{};  // of a shape: its bytes are the result's from here on
  X0 y = apply_on_cores(list<spec_of<X0>>{}, nullptr, it, nullptr, gone, x...);
  const X0 end = std::move(gone);
  return y;
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(expand_op<float>, 0);
DIMESH_INSTANCE(expand_op<float>, 1);
DIMESH_INSTANCE(expand_op<double>, 0);
DIMESH_INSTANCE(expand_op<double>, 1);
DIMESH_INSTANCE(sum_to_op<float, float>, 0);
DIMESH_INSTANCE(sum_to_op<double, double>, 0);
DIMESH_INSTANCE(map_op<add_elements, float, float, float>, 0, 0u);
DIMESH_INSTANCE(map_op<add_elements, float, float, float>, 1, 3u);
DIMESH_INSTANCE(map_op<add_elements, double, double, double>, 0, 0u);
DIMESH_INSTANCE(map_op<add_elements, double, double, double>, 1, 3u);

}  // namespace detail

/// f of the elements of x..., one by one, with elements of the type that f gives, or of T (float,
/// double, bfloat16). Shapes: each operand any of the result's dims; the first operand that has
/// them all sets their order, and where none has, the order in which they come: x[p, q], y[r, q] ->
/// [p, q, r], all pairs. f takes scalars (and dual numbers, if gradients are wanted) and must be a
/// pure function; it runs on the device where Kokkos does. One pass over memory.
template <class T = void, class F, Operand... X>
  requires(sizeof...(X) > 0 && (std::is_void_v<T> || is_real<T>) && !Operand<F> &&
           !std::is_function_v<F> && !std::is_pointer_v<F>)
constexpr auto map(const F& f, const X&... x) {
  using fault = detail::map_fault<detail::join_kind::nonlinear, X...>;
  static_assert(ok<only<fault, partial_operand>>,
                "map: an operand is a sum yet to be made, and a function of parts is no part of "
                "it; complete it first");
  static_assert(
      ok<only<fault, dim_split_in_one_operand_only>>,
      "map: a dim is split in one operand only; take own<dim, axis> of the other (free), or gather "
      "it with whole<dim>");
  static_assert(ok<only<fault, dim_split_differently, dims_share_mesh_axis>>,
                "map: the operands are split differently; relayout one of them");
  static_assert(ok<only<fault, meshes_differ>>,
                "map: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "map: the operands live on different ranks of this axis; place or send one");
  if constexpr ((is_poison<X> || ...)) {
    return poison{};
  } else {
    detail::assert_kernel_function<F>();
    using R = decltype(detail::ask<F>()(std::declval<computed<value_of<X>>>()...));
    using dual = decltype(detail::ask<F>()(std::declval<detail::element_given<X, X...>>()...));
    constexpr bool broken = detail::is_broken<R, F, computed<value_of<X>>...>;
    using fault_of_call = typename detail::map_function_fault<R, dual, F, X...>::type;
    using called = std::conditional_t<broken, no_fault, fault_of_call>;
    static_assert(ok<only<called, function_not_callable_with>>,
                  "map: the function cannot be called with these elements; give it a parameter for "
                  "each operand, of its element's type or auto");
    static_assert(ok<only<called, function_not_const, parameter_not_const>>,
                  "map: the function changes itself or its arguments; take elements by value, and "
                  "let operator() be const");
    static_assert(ok<only<called, function_gives_no_number>>,
                  "map: the function returns no number; return the new element");
    static_assert(ok<only<called, function_takes_plain_only>>,
                  "map: where gradients are wanted the function gets dual numbers, and this one "
                  "takes plain ones; give it auto parameters");
    using fits = std::bool_constant<detail::fits_map<T, ok<called>, R, value_of<X>...>>;
    static_assert(fits::value,
                  "map: elements have 1, 2, 4, 8 or 16 bytes, and there are 8 operands at most; "
                  "map a function of some, and another one of the results");
    using complex_fault = typename detail::map_complex_fault<F, X...>::type;
    static_assert(ok<only<complex_fault, element_not_differentiable>>,
                  "map: gradients do not pass through a function of complex elements; compose it "
                  "of + - * /, conj, real, imag and norm2, or use stop_gradient");
    if constexpr (!ok<complex_fault> || !ok<called> || !fits::value || broken)
      return poison{};
    else
      // (R stands here for g++: where f's text is wrong, and R therefore, nothing more is said.)
      return detail::map_as<detail::join_kind::nonlinear, std::conditional_t<true, T, R>>(f, x...);
  }
}

/// The same of a tensor that is given up, `x = map(f, std::move(x), y)`: where the result is of its
/// type, x is moved from, and the result is written where x was if nobody else holds its memory.
template <class T = void, class F, class X0, Operand... X>
  requires(std::is_void_v<T> && detail::GivenUp<X0> && !Operand<F> && !std::is_function_v<F>)
constexpr auto map(const F& f, X0&& gone, const X&... x) {
  using Y = decltype(map<T>(f, std::as_const(gone), x...));
  if constexpr (std::is_same_v<Y, X0>)
    return detail::map_onto(f, gone, x...);
  else
    return map<T>(f, std::as_const(gone), x...);
}

}  // namespace dimesh
