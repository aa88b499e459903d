// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do numbers of classes become vectors? Along a new dim, last in storage order: 1 at the place
// that the number names, 0 elsewhere. Local; the new dim is not split.
//
//   one_hot<label>(tensor<int, L, batch/rows>)  -> tensor<float, L, batch/rows, label>
//   one_hot<label, double>(classes, label{10})  -> a run-time extent
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/op/parts/apply_rule.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

/// out (count, length) = 1 where the place along length is in[row], else 0.
template <class T, class Index> struct one_hot_kernel {
  T* out;
  const Index* in;
  index_t length;
  KOKKOS_INLINE_FUNCTION void operator()(index_t row) const {
    const writes_memory kernel;
    const auto at = static_cast<index_t>(in[row]);
    for (index_t j = 0; j < length; ++j) out[row * length + j] = T(j == at ? 1 : 0);
  }
};

/// D becomes the last dim.
template <class D> struct one_hot_rule {
  using named = list<D>;
  template <class First> struct dims : concat_impl<First, list<D>> {};
  static constexpr outcome of(rule_operands x, dim_list) {
    if (x[0].place_of(&facts_of_dim<D>) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &facts_of_dim<D>);
    const int axis = x[0].layout.first_partial();
    return axis < 0 ? allowed(x[0].layout) : blamed_axis(fault_code::partial_operand, axis);
  }
};

/// Elements T of places I.
template <class T, class I> struct one_hot_op {
  const dim_facts* dim;
  index_t extent;  // dynamic where its type says it

  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, dim) ? extent : dynamic;
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
#ifdef DIMESH_CHECKED
    require_places<I>("one_hot", x[0], *dim, y[0].extent(y[0].rank() - 1));
#endif
    local::for_each_index<local::default_space>(
        x[0].elements(),
        one_hot_kernel<T, I>{y[0].data<T>(), x[0].data<const I>(), y[0].extent(y[0].rank() - 1)});
  }
};

template <class X> inline constexpr bool holds_places = true;
template <class X>
  requires(!is_poison<X>)
inline constexpr bool holds_places<X> = std::is_integral_v<value_of<X>>;

}  // namespace detail

/// 1 at place x[...] along D, else 0; all 0 where the number is no place of D. Shapes:
/// [...] of whole numbers -> [..., D] of T. D carries its extent where that is given at run time.
/// In checked builds numbers other than -1 that are no place of D throw dimesh::error.
template <Dim D, class T = float, Operand X> constexpr auto one_hot(const X& x, D dim = {}) {
  using rule = detail::one_hot_rule<D>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "one_hot: the tensor has this dim already; choose another for the classes");
  static_assert(ok<only<fault, partial_operand>>,
                "one_hot: the operand is a sum yet to be made; complete it first");
  static_assert(!ok<fault> || detail::holds_places<X>,
                "one_hot: places are whole numbers; cast the tensor to an integer type first");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (!std::is_integral_v<value_of<X>>)
    return poison{};
  else
    return detail::apply_rule<rule, T>(
        detail::one_hot_op<T, value_of<X>>{&detail::facts_of_dim<D>,
                                           shape<D>(dim).template extent<D>()},
        x);
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using one_hot_call =
    call_taking<names_taken<1, 2, named_kind::dim, named_kind::type>, 1, a_tensor, no_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::one_hot_call, detail::list<N...>, A...>
constexpr poison one_hot(const A&...) {
  static_assert(ok<detail::misuse<detail::one_hot_call, detail::list<N...>, A...>>,
                "one_hot: a dim for the classes stands in the angle brackets, whole numbers in the "
                "parentheses: one_hot<label>(ids)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison one_hot(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "one_hot: a dim for the classes stands in the angle brackets, whole numbers in the "
                "parentheses: one_hot<label>(ids)");
  return {};
}

}  // namespace dimesh
