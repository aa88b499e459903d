// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does an elementwise operation do to cotangents? Weighted ones are summed over the dims that
// an operand lacks; the function is called once more on dual numbers for all wanted operands at
// once; and that product is an elementwise operation itself where gradients of gradients are asked.
//
//   sum_to_op<T, B>{weight}                         the transpose of a weighted sum
//   map_transpose_op<Mask, F, R, V...>{...}         all wanted cotangents, in one pass
//   map_op<derivative_function<F, K>, ...>          one of them, recorded
#pragma once

#include "dimesh/local/map_transpose_over.hpp"
#include "dimesh/local/reduce_over.hpp"
#include "dimesh/op/parts/complex_products.hpp"
#include "dimesh/op/parts/expand.hpp"
#include "dimesh/op/parts/map_function.hpp"

namespace dimesh::detail {

/// weight * (ybar summed over the dims that the result lacks), elements T of B: the transpose of a
/// weighted sum.
template <class T, class B> struct sum_to_op {
  computed<T> weight;
  static constexpr bool takes_complex = true;
  struct scale {
    computed<T> weight;
    KOKKOS_INLINE_FUNCTION computed<T> operator()(computed<T> v) const { return weight * v; }
  };

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), y[0].bytes() + x[0].bytes());
  }
  void fill(results y, operands x) const {
    local::map_reduce_over(local::plus{}, loops_over(loop_dims(x[0]), y[0], x[0]), scale{weight},
                           y[0].data<T>(), x[0].data<const B>());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  template <class To> constexpr void transpose(const To& to) const {
    using back = expand_op<B, T>;
    to.give(0, back{static_cast<typename back::factor>(conjugate(weight))}, to.ybar);
  }
};

/// The cotangents of all wanted operands of a map of elements V... to elements R.
template <unsigned Mask, class F, class R, class... V> struct map_transpose_op {
  F f;

  constexpr void cost(tally& t, results bars, operands in) const {
    index_t wanted = 0;
    for (int k = 0; k < bars.count(); ++k) wanted += bars.has(k);
    t.compute(2 * (1 + wanted) * in[0].elements(), bars.bytes() + bytes_of(in));
  }
  void fill(results bars, operands in) const {
    fill_each(bars, in, std::index_sequence_for<V...>{});
  }

 private:
  template <std::size_t... K>
  void fill_each(results bars, operands in, std::index_sequence<K...>) const {
    const std::array<void*, sizeof...(V)> to{bars.data<void>(static_cast<int>(K))...};
    local::map_transpose_over<Mask>(
        loops_over(loop_dims(in[0]), in[0], in[static_cast<int>(K) + 1]...), f,
        in[0].data<const R>(), to, in[static_cast<int>(K) + 1].data<const V>()...);
  }
};

/// The type in which a cotangent and arguments meet, some of which may be dual numbers.
template <class G, class... A> struct dual_among : std::type_identity<G> {};
template <class G, class A, class... B>
struct dual_among<G, A, B...> : dual_among<typename dual_among<G, A>::type, B...> {};
template <class G, class A>
  requires is_dual<A>
struct dual_among<G, A> : joint<G, A> {};
template <class G, class A>
  requires(!is_dual<A>)
struct dual_among<G, A> : std::type_identity<G> {};

/// The product of a cotangent and the derivative of f by argument K: how map's transpose is itself
/// recorded, where gradients of gradients are wanted.
template <class F, int K> struct derivative_function {
  F f;
  template <class G, class... A>
  KOKKOS_INLINE_FUNCTION auto operator()(const G& g, const A&... a) const {
    using D = typename dual_among<G, A...>::type;
    return g * product<D>(std::make_integer_sequence<int, sizeof...(A)>{}, a...);
  }

 private:
  template <class D, int... J, class... A>
  KOKKOS_INLINE_FUNCTION auto product(std::integer_sequence<int, J...>, const A&... a) const {
    return local::detail::partial_of<0, D>(f(argument<J, D>(a)...));
  }
  template <int J, class D, class A> KOKKOS_INLINE_FUNCTION static auto argument(const A& a) {
    if constexpr (J == K)
      return dual<D, 1>::variable(D(a), 0);
    else if constexpr (std::is_floating_point_v<A> || is_dual<A>)
      return dual<D, 1>(D(a));
    else
      return a;
  }
};

/// What a user called where F is applied, as far as F knows.
template <class F> constexpr std::string_view call_of() {
  if constexpr (requires { requires std::is_same_v<decltype(F::call), const std::string_view>; })
    return F::call;
  else
    return "map";
}

}  // namespace dimesh::detail
