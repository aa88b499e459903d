// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are two blocks contracted, and what is the transpose of that? Rule, cost, kernel call and
// transpose of the binary einsum: its transposes are einsums again. The entry point is einsum.hpp.
//
//   einsum_rule<list<b, f>, spec<[b/rows, d]>, spec<[d, f]>>::result  -> spec<[b/rows, f]>
//   transpose: abar[b, d] = einsum<b, d>(ybar[b, f], b[d, f])
#pragma once

#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/parts/complex_parts.hpp"
#include "dimesh/op/parts/contraction_plan.hpp"

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

/// Elements C of elements T. Every dim is in at least two of the three tensors; those that the
/// result lacks are summed. Narrow: of a cotangent of the result in elements T, where C has more
/// digits.
template <class T, class C = T> struct einsum_op {
  const tensor_facts* narrow = nullptr;
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    const tensor_core &a = x[0], &b = x[1];
    index_t summed = 1;
    bool sums = false;
    for (int d = 0; d < a.rank(); ++d)
      if (y[0].facts->place_of(a.facts->dim[d]) < 0) summed *= a.local(d), sums = true;
    t.compute((sums ? 2 : 1) * y[0].elements() * summed, y[0].bytes() + a.bytes() + b.bytes());
  }
  static constexpr bool needs(int k, unsigned wanted) {
    return (k == 0 && (wanted & 2u)) || (k == 1 && (wanted & 1u));
  }
  constexpr void transpose(const auto& to) const {
    if constexpr (std::is_same_v<T, C>) {
      give_both(to, to.ybar);
    } else {  // the result had more digits than the operands: their cotangents have not
      give_both(to, to.made(narrow, cast_op<T, C>{}, to.ybar));
    }
  }

  void fill(results y, operands x) const {
    const tensor_core &c = y[0], &a = x[0], &b = x[1];
    loop_dims labels(c);  // those of the result, then those that are summed, in a's order
    for (int d = 0; d < a.rank(); ++d)
      if (c.facts->place_of(a.facts->dim[d]) < 0) labels.add(a, d);
    const bool sums = labels.count > c.rank();
    if (!sums)
      local::map_over(loops_over(labels, c, a, b), multiply_function{}, c.data<C>(),
                      a.data<const T>(), b.data<const T>());
    else if (a.rank() == labels.count && b.rank() == labels.count)
      local::map_reduce_over(local::plus{}, loops_over(labels, c, a, b), multiply_function{},
                             c.data<C>(), a.data<const T>(), b.data<const T>());
    else
      contract(labels, c, a, b);
  }

 private:
  static constexpr void give_both(const auto& to, const tensor_core& ybar) {
    if constexpr (is_complex<T>) {
      for (const int k : {0, 1}) {
        if (!to.wants(k)) continue;
        const tensor_core& other = to.x(1 - k);
        to.give(k, einsum_op<T>{}, ybar, to.made(other.facts, conj_op<T>{}, other));
      }
    } else {
      to.give(0, einsum_op<T>{}, ybar, to.x(1));
      to.give(1, einsum_op<T>{}, ybar, to.x(0));
    }
  }
  static void contract(const loop_dims& labels, const tensor_core& c, const tensor_core& a,
                       const tensor_core& b) {
    label_places places[3 * max_dims];
    for (int i = 0; i < labels.count; ++i)
      places[i] = {a.facts->place_of(labels.dim[i]), b.facts->place_of(labels.dim[i]),
                   c.facts->place_of(labels.dim[i])};
    contract_blocks(places, labels.count, a.blocks(), b.blocks(), c.blocks(), a.data<const T>(),
                    b.data<const T>(), c.data<C>());
  }
};

/// a * b summed over the dims that Out lacks. Unrounded: the result is of the type that sums are
/// formed in, not of the operands'.
template <class Out, bool Unrounded, class A, class B>
constexpr auto einsum_of_two(const A& a, const B& b) {
  using T = value_of<A>;
  using C = std::conditional_t<Unrounded, computed<T>, T>;
  using S = typename einsum_rule<Out, spec_of<A>, spec_of<B>>::template result_of<C>;
  if constexpr (std::is_same_v<T, C>)
    return apply_as<S>(einsum_op<T>{}, a, b);
  else
    return apply_as<S>(einsum_op<T, C>{spec_facts<with_value<S, T>>.dual}, a, b);
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(einsum_op<float>, 0);
DIMESH_INSTANCE(einsum_op<float>, 1);
DIMESH_INSTANCE(einsum_op<double>, 0);
DIMESH_INSTANCE(einsum_op<double>, 1);
DIMESH_INSTANCE(einsum_op<bfloat16>, 0);
DIMESH_INSTANCE(einsum_op<bfloat16>, 1);
DIMESH_INSTANCE(einsum_op<bfloat16, float>, 0);
DIMESH_INSTANCE(einsum_op<bfloat16, float>, 1);

}  // namespace detail
}  // namespace dimesh
