// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do queries and keys learn where they stand? Rotary positions (Su et al. 2021, RoFormer,
// section 3.2) turn every pair of elements by an angle that grows with the position, so that the
// product of a query and a key depends on their distance. The pairs are h and h + head/2, as in
// GPT-NeoX and Llama. Local: positions are global indices, wherever a block begins.
//
//   rotary<length, head>(q[batch, length/rows, heads, head])   -> the same type
//   rotary<length, head>(q, 10000, position)                   -> element 0 of length stands there
#pragma once

#include "dimesh/detail/number_given.hpp"
#include "dimesh/local/rotary.hpp"
#include "dimesh/op/argmax.hpp"
#include "dimesh/op/parts/transition.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

/// Elements T. Shapes: [.., Length, .., Head] -> the same. Linear: addends stay addends. Transposed
/// it turns the other way.
template <class T> struct rotary_op {
  const dim_facts* length;
  double base;
  index_t offset;
  bool back = false;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(3 * y[0].elements(), y[0].bytes() + x[0].bytes());
  }
  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
    const int row = x.facts->place_of(length);
    local::rotation what;
    what.positions = x.local(row);
    what.half = x.local(x.rank() - 1) / 2;
    what.first = offset + x.own(row).offset;
    what.base = base, what.back = back;
    what.row = x.stride(row);
    for (int d = 0; d + 1 < x.rank(); ++d)
      if (d != row) what.extent[what.outer] = x.local(d), what.stride[what.outer++] = x.stride(d);
    const auto scratch =
        storage::acquire(static_cast<std::size_t>(local::rotation_scratch<T>(what)));
    local::rotate<T>(what, x.data<const T>(), y[0].data<T>(), scratch.data());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, rotary_op{length, base, offset, !back}, to.ybar);
  }
};

constexpr outcome rotary_rule_of(const tensor_facts& x, const dim_facts* length,
                                 const dim_facts* head) {
  if (same_dim(length, head)) return blamed(fault_code::dim_repeated, head);
  for (const dim_facts* const d : {length, head})
    if (x.place_of(d) < 0) return blamed(fault_code::dim_not_in_tensor, d);
  if (x.kind < element_kind::float32 || x.kind > element_kind::long_double)
    return blamed_place(fault_code::element_not_differentiable, 0);
  if (const int a = first_axis(x.layout.axes_of(x.place_of(head))); a >= 0)
    return blamed(fault_code::dim_is_split, head, a);
  const dim_facts* const haloed = haloed_dim(x);
  return haloed == nullptr ? allowed(x.layout) : blamed(fault_code::dim_has_halo, haloed);
}
template <class Length, class Head> struct rotary_rule : keeps_dims {
  using named = list<Length, Head>;
  static constexpr outcome of(rule_operands x, dim_list) {
    return rotary_rule_of(x[0], &facts_of_dim<Length>, &facts_of_dim<Head>);
  }
};

/// A dim is cut in two halves.
template <class Head, class X> constexpr void check_pairs(const X& x) {
  const index_t n = x.template extent<Head>();
  if (n % 2 != 0)
    (words() << "rotary: dim '" << name_of<Head>() << "' has " << n
             << " elements; they go in pairs, so give it an even number")
        .raise();
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(rotary_op<float>, 0);
DIMESH_INSTANCE(rotary_op<float>, 1);
DIMESH_INSTANCE(rotary_op<double>, 0);
DIMESH_INSTANCE(rotary_op<double>, 1);

}  // namespace detail

/// The vectors along Head, each turned by its place along Length plus `offset`: pair i by the angle
/// place * base^(-2 i / extent of Head). Shapes: as x; Head last at best: elsewhere it is moved,
/// which copies x. Linear: addends stay addends. Local. Throws dimesh::error if Head has an odd
/// extent, or unless base > 0.
template <Dim Length, Dim Head, Operand X>
constexpr auto rotary(const X& x, double base = 10000, index_t offset = 0) {
  using rule = detail::rotary_rule<Length, Head>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor, dim_repeated>>,
                "rotary: the tensor lacks this dim, or it is named twice; name the dim of "
                "positions and that of the vectors");
  static_assert(ok<only<fault, element_not_differentiable>>,
                "rotary: its operand is made of real numbers; cast it first");
  static_assert(ok<only<fault, dim_is_split>>,
                "rotary: the dim of the vectors is split, which parts the pairs; gather it with "
                "whole<dim> first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "rotary: the operand's blocks carry a halo; take the tensor without it");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    using dims = typename spec_of<X>::dims;
    detail::require_positive("rotary", "base", base);
    detail::check_pairs<Head>(x);
    const auto& moved = detail::with_last<Head>(x);
    return detail::permuted<dims>(detail::apply_rule<rule, value_of<X>>(
        detail::rotary_op<value_of<X>>{&detail::facts_of_dim<Length>, base, offset}, moved));
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using rotary_call = call_taking<two_dims, 1, a_tensor, double, index_t>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::rotary_call, detail::list<N...>, A...>
constexpr poison rotary(const A&...) {
  static_assert(ok<detail::misuse<detail::rotary_call, detail::list<N...>, A...>>,
                "rotary: the dims of positions and of heads stand in the angle brackets, a tensor"
                " in the parentheses: rotary<length, head>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison rotary(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "rotary: the dims of positions and of heads stand in the angle brackets, a tensor"
                " in the parentheses: rotary<length, head>(x)");
  return {};
}

}  // namespace dimesh
