// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are two blocks contracted, and what is the transpose of that? Rule, cost, kernel call and
// transpose of the binary einsum: its transposes are einsums again. The entry point is einsum.hpp.
//
//   einsum_rule<list<b, f>>::of([b/rows, d], [d, f])  -> allowed: [b/rows, f]
//   transpose: abar[b, d] = einsum<b, d>(ybar[b, f], b[d, f])
#pragma once

#include "dimesh/local/contract_bfloat16.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/parts/complex_parts.hpp"
#include "dimesh/op/parts/contraction_plan.hpp"

namespace dimesh {

namespace detail {

/// Products summed over the dims that `out` lacks: axes that split these hold addends.
constexpr outcome product_rule(rule_operands x, dim_list all, dim_list out) {
  outcome o = join_operands(join_kind::product, x, all);
  if (!o.ok()) return o;
  table t = o.layout;
  for (int a = 0; a < t.axes; ++a)
    if (t.axis[a].what == use::split && !out.has(all[static_cast<int>(t.axis[a].dim)]))
      t.axis[a] = {use::partial};
  return allowed(table_over_dims(t, all, out));
}
constexpr outcome einsum_rule_of(rule_operands x, dim_list out) {
  if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
  if (const int i = out.repeated(); i >= 0) return blamed(fault_code::dim_repeated, out[i]);
  const dim_union all(x);
  for (int i = 0; i < out.size; ++i)
    if (!all.all().has(out[i])) return blamed(fault_code::output_dim_not_in_any_input, out[i]);
  for (int k = 1; k < x.count; ++k)
    if (x[k].type != x[0].type) return blamed_place(fault_code::elements_differ, k);
  for (int d = 0; d < all.size; ++d) {
    int holders = 0;
    for (int k = 0; k < x.count; ++k) holders += x[k].place_of(all.at[d]) >= 0;
    if (holders == 1 && !out.has(all.at[d]))
      return blamed(fault_code::dim_in_one_input_only, all.at[d]);
  }
  for (int d = 0; d < all.size; ++d)  // halos would be summed, too
    for (int k = 0; k < x.count && !out.has(all.at[d]); ++k)
      if (const int at = x[k].place_of(all.at[d]); at >= 0 && x[k].layout.halo[at].any())
        return blamed(fault_code::dim_has_halo, all.at[d]);
  return product_rule(x, all.all(), out);
}

/// Do the dims of the operands fit the loops that there are?
template <class... Dims> constexpr bool fit_loops() {
  constexpr int most = (0 + ... + dims_in<Dims>.size);
  const dim_facts* seen[most + 1]{};
  int size = 0;
  const auto count = [&](dim_list dims) {
    for (int d = 0; d < dims.size; ++d)
      if (!dim_list{seen, size}.has(dims[d])) seen[size++] = dims[d];
  };
  (count(dims_in<Dims>), ...);
  return size <= max_dims;
}
template <class... X> inline constexpr bool has_few_dims = true;
template <class... X>
  requires(!(is_poison<X> || ...))
inline constexpr bool has_few_dims<X...> = fit_loops<typename spec_of<X>::dims...>();

/// Rule of a product with the dims of the list Out.
template <class Out> struct einsum_rule {
  using named = Out;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) { return einsum_rule_of(x, out); }
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
  static constexpr bool puts_off = true;
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
    else if constexpr (is_storage_only<T>)
      local::contract_bfloat16(contraction_over(labels, c, a, b), a.data<const T>(),
                               b.data<const T>(), c.data<C>());
    else
      local::contract(contraction_over(labels, c, a, b), a.data<const T>(), b.data<const T>(),
                      c.data<C>());
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
};

/// a * b summed over the dims that Out lacks. Unrounded: the result is of the type that sums are
/// formed in, not of the operands'.
template <class Out, bool Unrounded, class A, class B>
constexpr auto einsum_of_two(const A& a, const B& b) {
  using T = value_of<A>;
  using C = std::conditional_t<Unrounded, computed<T>, T>;
  using rule = einsum_rule<Out>;
  if constexpr (std::is_same_v<T, C>)
    return apply_rule<rule, T>(einsum_op<T>{}, a, b);
  else
    return apply_rule<rule, C>(einsum_op<T, C>{result_facts<rule, T>("einsum", a, b).dual}, a, b);
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
