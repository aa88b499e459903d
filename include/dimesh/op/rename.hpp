// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a dim get another name? Locally and for free: the elements stay where they are.
//
//   rename<batch, rows_of_a>(tensor<float, L, batch, hidden>)  -> the same with dim rows_of_a
#pragma once

#include "dimesh/op/parts/apply.hpp"

namespace dimesh {

namespace detail {

template <class From, class To, class Dims> struct renamed_dims;
template <class From, class To, class... D> struct renamed_dims<From, To, list<D...>> {
  using type = list<std::conditional_t<std::is_same_v<D, From>, To, D>...>;
};

template <class S> struct table_of_spec {
  static constexpr table result = S::table;
};
/// The spec with From called To; what splits From now splits To.
template <class S, class From, class To>
using renamed_spec =
    spec_of_table<typename S::value_type, typename S::mesh,
                  typename renamed_dims<From, To, typename S::dims>::type, table_of_spec<S>>;

struct rename_op {
  const dim_facts* to;
  index_t extent;

  static constexpr bool takes_complex = true;
  static constexpr int aliases = 0;
  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, to) ? extent : dynamic;
  }
  constexpr void cost(tally&, results, operands) const {}
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to_x) const { to_x.pass(0, to_x.ybar); }
};

template <class From, class To, class X> struct rename_fault {
  using dims = typename spec_of<X>::dims;
  static constexpr auto find() {
    if constexpr (index_of<From, dims> < 0)
      return tag<dim_not_in_tensor<From>>{};
    else if constexpr (index_of<To, dims> >= 0)
      return tag<dim_already_in_tensor<To>>{};
    else if constexpr (is_static_dim<To> && is_static_dim<From> && To::extent != From::extent)
      return tag<extents_differ<From, To>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};
template <class From, class To, class X>
  requires is_poison<X>
struct rename_fault<From, To, X> {
  using type = no_fault;
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(rename_op, 0);
DIMESH_INSTANCE(rename_op, 1);

}  // namespace detail

/// The same elements with dim From called To. Shapes: [.., From, ..] -> [.., To, ..]; no cost.
/// Throws dimesh::error when a static extent of To is not the run-time extent of From.
template <Dim From, Dim To, Operand X> constexpr auto rename(const X& x) {
  using fault = typename detail::rename_fault<From, To, X>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "rename: the tensor lacks the dim to be renamed; name one of its dims");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "rename: the tensor has a dim of the new name already; choose another name");
  static_assert(ok<only<fault, extents_differ>>,
                "rename: the extents of the two dims differ; a new name must have the old extent");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    if (is_static_dim<To> && To::extent != x.template extent<From>())
      throw error("rename: dim " + detail::quoted<From>() + " has " +
                  std::to_string(x.template extent<From>()) + " elements, " + detail::quoted<To>() +
                  " has " + std::to_string(To::extent));
    return detail::apply_as<detail::renamed_spec<spec_of<X>, From, To>>(
        detail::rename_op{&detail::facts_of_dim<To>, x.template extent<From>()}, x);
  }
}

}  // namespace dimesh
