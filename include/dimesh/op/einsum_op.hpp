// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are two blocks contracted, and what is the transpose of that? Rule, cost, kernel call and
// transpose of the binary einsum: its transposes are einsums again. The entry point is einsum.hpp.
//
//   einsum_rule<list<b, f>, spec<[b/rows, d]>, spec<[d, f]>>::result  -> spec<[b/rows, f]>
//   transpose: abar[b, d] = einsum<b, d>(ybar[b, f], b[d, f])
#pragma once

#include "dimesh/detail/contraction_plan.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/cast.hpp"

namespace dimesh {

namespace detail {

/// Renumbers the joined table to the result's dims; axes that split a summed dim become partial.
template <class J, class Dims, class Out> struct einsum_table {
  static constexpr table make() {
    table t = J::value.t;
    constexpr auto& at = places<Dims, Out>::at;
    for (int a = 0; a < t.axes; ++a)
      if (t.axis[a].what == use::split && at[static_cast<int>(t.axis[a].dim)] < 0)
        t.axis[a] = {use::partial, -1, -1};
    return renumber(t, at);
  }
  static constexpr table result = make();
};

template <class Out, class... S> struct einsum_rule {
  using dims = united<typename S::dims...>;
  using mesh = typename type_at<0, list<S...>>::mesh;
  using value = typename type_at<0, list<S...>>::value_type;
  using joining = join<join_kind::product, dims, S...>;

  /// The first dim of the result that no operand has, or void.
  template <class... O> static constexpr auto stray(list<O...>) {
    constexpr int at = [] {
      int i = 0, found = -1;
      ((found = found < 0 && index_of<O, dims> < 0 ? i : found, ++i), ...);
      return found;
    }();
    if constexpr (at < 0)
      return tag<no_fault>{};
    else
      return tag<output_dim_not_in_any_input<type_at<at, list<O...>>>>{};
  }
  /// The first dim that one operand only has, and not the result.
  static constexpr int lonely() {
    for (int d = 0; d < dims::size; ++d) {
      const int holders = (int{as_joinable<S, dims>().has[d]} + ...);
      if (holders == 1 && places<dims, Out>::at[d] < 0) return d;
    }
    return -1;
  }
  static constexpr auto find() {
    using meshes = typename mesh_fault<S...>::type;
    using strays = typename decltype(stray(Out{}))::type;
    using twice = typename repeated_fault_of<Out>::type;
    if constexpr (!ok<meshes>)
      return tag<meshes>{};
    else if constexpr (!ok<twice>)
      return tag<twice>{};
    else if constexpr (!ok<strays>)
      return tag<strays>{};
    else if constexpr (!(std::is_same_v<value, typename S::value_type> && ...))
      return tag<elements_differ<typename S::value_type...>>{};
    else if constexpr (lonely() >= 0)
      return tag<dim_in_one_input_only<type_at<lonely(), dims>>>{};
    else
      return tag<fault_of_join<joining, mesh, dims>>{};
  }
  using fault = typename decltype(find())::type;
  /// Sum: the type of the result's elements.
  template <class Sum>
  using result_of = spec_of_table<Sum, mesh, Out, einsum_table<joining, dims, Out>>;
  using result = result_of<value>;
};

/// Shapes: a, b any dims; the result has the dims Out. Every dim is in at least two of the three.
/// Unrounded: the result is of the type that sums are formed in, not of the operands'.
template <class Out, bool Unrounded = false> struct einsum_op {
  template <class T> using sum_type = std::conditional_t<Unrounded, computed<T>, T>;
  template <class A, class B>
  using result =
      typename einsum_rule<Out, A, B>::template result_of<sum_type<typename A::value_type>>;

  template <class Y, class A, class B>
  constexpr void cost(tally& t, const Y& y, const A& a, const B& b) const {
    using summed = typename split_labels<Y, A, B>::summed;
    t.compute((summed::size > 0 ? 2 : 1) * y.local_size() * product_of(a, summed{}),
              y.local_bytes() + a.local_bytes() + b.local_bytes());
  }
  static constexpr bool needs(int k, unsigned wanted) {
    return (k == 0 && (wanted & 2u)) || (k == 1 && (wanted & 1u));
  }
  template <bool WantA, bool WantB, class Bar, class Y, class A, class B>
  constexpr auto transpose(const slots<2>& to, const Bar& ybar, const Y&, const A& a,
                           const B& b) const {
    return bundle_of<decltype(bar_of<WantA, A>(to.at[0], ybar, b)),
                     decltype(bar_of<WantB, B>(to.at[1], ybar, a))>{
        {bar_of<WantA, A>(to.at[0], ybar, b)}, {bar_of<WantB, B>(to.at[1], ybar, a)}};
  }

  template <class Y, class A, class B> void fill(Y& y, const A& a, const B& b) const {
    using labels = split_labels<Y, A, B>;
    using T = value_of<A>;
    if constexpr (labels::summed::size == 0) {
      map_op<multiply_function, join_kind::product>{}.fill(y, a, b);
    } else if constexpr (labels::elementwise) {
      using loop = typename concat_impl<Out, typename labels::summed>::type;
      using plan = nest_plan<loop, Out, typename spec_of<A>::dims, typename spec_of<B>::dims>;
      const rounded_sums<value_of<Y>> sums(y.data(), y.local_size());
      local::map_reduce(local::plus{}, plan::nest(a), multiply_function{},
                        plan::template operand<0, computed<T>>(sums.data(), y),
                        plan::template operand<1, const T>(a.data(), a),
                        plan::template operand<2, const T>(b.data(), b));
      sums.finish();
    } else {
      contract_over(typename concat_impl<Out, typename labels::summed>::type{}, y, a, b);
    }
  }

 private:
  /// summed: the labels that the result lacks, in a's order. elementwise: a and b have the same
  /// dims.
  template <class Y, class A, class B> struct split_labels {
    template <class D>
    using if_summed = std::conditional_t<(index_of<D, Out> < 0), list<D>, list<>>;
    template <class... D>
    static auto filter(list<D...>) -> typename concat_impl<list<>, if_summed<D>...>::type;
    using summed = decltype(filter(typename spec_of<A>::dims{}));
    static constexpr bool elementwise =
        spec_of<A>::rank == spec_of<B>::rank && spec_of<A>::rank == Out::size + summed::size;
  };
  template <class X, class... D> static constexpr index_t product_of(const X& x, list<D...>) {
    return (index_t{1} * ... * x.template local<D>());
  }
  template <bool W, class X, class Bar, class Other>
  static constexpr auto bar_of(const storage& slot, const Bar& ybar, const Other& other) {
    using transposed = einsum_op<typename spec_of<X>::dims>;
    if constexpr (!W)
      return none{};
    else if constexpr (std::is_same_v<value_of<Bar>, value_of<Other>>)
      return apply_into(transposed{}, slots<1>{{slot}}, ybar, other);
    else  // the result had more digits than the operands: their cotangents have not
      return apply_into(transposed{}, slots<1>{{slot}},
                        apply_into(cast_op<value_of<Other>>{}, slots<1>{}, ybar), other);
  }
  template <class... D, class Y, class A, class B>
  static void contract_over(list<D...>, Y& y, const A& a, const B& b) {
    static constexpr label_places places[] = {{index_of<D, typename spec_of<A>::dims>,
                                               index_of<D, typename spec_of<B>::dims>,
                                               index_of<D, typename spec_of<Y>::dims>}...};
    contract_blocks(places, sizeof...(D), a.blocks(), b.blocks(), y.blocks(), a.data(), b.data(),
                    y.data());
  }
};

}  // namespace detail
}  // namespace dimesh
