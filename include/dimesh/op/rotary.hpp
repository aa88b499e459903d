// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do queries and keys learn where they stand? Rotary positions (Su et al. 2021, RoFormer,
// section 3.2) turn every pair of elements by an angle that grows with the position, so that the
// product of a query and a key depends on their distance. The pairs are h and h + head/2, as in
// GPT-NeoX and Llama. Local: positions are global indices, wherever a block begins.
//
//   rotary<length, head>(q[batch, length/rows, heads, head])   -> the same type
//   rotary<length, head>(q, 10000, position)                   -> element 0 of length stands there
#pragma once

#include "dimesh/local/rotary.hpp"
#include "dimesh/op/argmax.hpp"
#include "dimesh/op/parts/transition.hpp"
#include "dimesh/op/permute.hpp"

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
    static_assert(is_on_host<T>, "rotary: the kernel runs on the host only; use a host space");
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

template <class Length, class Head, class X> struct rotary_fault {
  using S = spec_of<X>;
  static constexpr auto find() {
    using dims = typename S::dims;
    if constexpr (std::is_same_v<Length, Head>)
      return tag<dim_repeated<Head>>{};
    else if constexpr (index_of<Length, dims> < 0)
      return tag<dim_not_in_tensor<Length>>{};
    else if constexpr (index_of<Head, dims> < 0)
      return tag<dim_not_in_tensor<Head>>{};
    else if constexpr (!std::is_floating_point_v<value_of<X>>)
      return tag<element_not_differentiable<value_of<X>>>{};
    else if constexpr (splitting_axis<S, Head>() >= 0)
      return tag<dim_is_split<Head, type_at<splitting_axis<S, Head>(), typename S::mesh::axes>>>{};
    else
      return tag<typename any_halo_fault<S>::type>{};
  }
  using type = typename decltype(find())::type;
};
template <class Length, class Head, class X>
  requires is_poison<X>
struct rotary_fault<Length, Head, X> {
  using type = no_fault;
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
/// extent.
template <Dim Length, Dim Head, Operand X>
constexpr auto rotary(const X& x, double base = 10000, index_t offset = 0) {
  using fault = typename detail::rotary_fault<Length, Head, X>::type;
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
    detail::check_pairs<Head>(x);
    const auto moved = detail::with_last<Head>(x);
    return detail::permuted<dims>(detail::apply_as<spec_of<decltype(moved)>>(
        detail::rotary_op<value_of<X>>{&detail::facts_of_dim<Length>, base, offset}, moved));
  }
}

}  // namespace dimesh
