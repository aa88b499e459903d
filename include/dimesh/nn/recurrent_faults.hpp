// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With what can a cell not begin? With tensors that a step does not leave as it takes them, or
// under a layout in which no step can be computed. Said where a cell is called, and not deep inside
// its steps.
//
//   start_fault<time, gru_gate, Z, H>::type     // Z [batch, time, gate, hidden], batch over rows
//     -> layouts_differ<layout<pod>, layout<pod, split<batch, rows>>> of an H that is whole
#pragma once

#include <tuple>

#include "dimesh/nn/project.hpp"
#include "dimesh/op/slice.hpp"

namespace dimesh::nn::detail {

/// D, if none of a tensor's dims is it.
template <class D, class X> constexpr bool has_dim() {
  if constexpr (is_poison<X>)
    return false;
  else
    return dimesh::detail::index_of<D, typename spec_of<X>::dims> >= 0;
}
template <class D, class X>
using lacking_fault =
    std::conditional_t<is_poison<X> || has_dim<D, X>(), no_fault, dim_not_in_tensor<D>>;
template <class P> using state_of = std::remove_cvref_t<decltype(std::declval<const P&>().state)>;
/// What a call names beside dims that its parameters, or the first tensors, do not have.
template <class Gate, class Hidden, class From, class P, class... H> struct names_fault {
  using state = state_of<P>;
  using type =
      typename dimesh::detail::first_of<lacking_fault<Gate, state>, lacking_fault<Hidden, state>,
                                        lacking_fault<From, state>,
                                        lacking_fault<Hidden, H>...>::type;
};

template <class T, class... U> struct common_element {
  using type = T;
};
template <class T, class... U>
  requires(std::is_arithmetic_v<T> && ... && std::is_arithmetic_v<U>)
struct common_element<T, U...> : std::common_type<T, U...> {};

/// What a tensor H has otherwise than one of dims D... under their layout in L, of elements T.
template <class H, class L, class T, class Dims> struct unlike;
template <class H, class L, class T, class... D> struct unlike<H, L, T, list<D...>> {
  using has = typename spec_of<H>::dims;
  using under = typename spec_of<H>::layout;
  static constexpr auto find() {
    using lacking = typename dimesh::detail::first_of<lacking_fault<D, H>...>::type;
    if constexpr (!ok<lacking>)
      return tag<lacking>{};
    else if constexpr (has::size > static_cast<int>(sizeof...(D)))
      return tag<no_fault>{};  // a step adds these to the inputs; recur sees what it leaves
    else if constexpr (!std::is_same_v<has, list<D...>>)
      return tag<dims_differ<has, list<D...>>>{};
    else if constexpr (!std::is_same_v<under, canonical<L, D...>>)
      return tag<layouts_differ<under, canonical<L, D...>>>{};
    else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<value_of<H>, T>)
      return tag<elements_differ<value_of<H>, T>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};
/// What the first tensors have otherwise than those that a step leaves, which are like what the
/// inputs say of one gate. Z: what they say of all gates along Time.
template <class Time, class Gate, class Z, class... H> struct start_fault {
  using dims = typename remaining<typename spec_of<Z>::dims, list<Time, Gate>>::type;
  using element = typename common_element<value_of<Z>, value_of<H>...>::type;
  using type = typename dimesh::detail::first_of<
      only<dimesh::detail::fault_of<dimesh::detail::pick_rule<Gate>, Z>, dim_is_split>,
      typename unlike<H, typename spec_of<Z>::layout, element, dims>::type...>::type;
};
template <class Time, class Gate, class Z, class... H>
  requires((is_poison<Z> || dimesh::detail::is_probe<Z>) || ... || is_poison<H>)
struct start_fault<Time, Gate, Z, H...> {
  using type = no_fault;  // it has been said; or the run says it
};

/// Two dims that C splits over one axis, and that meet where a step multiplies what is remembered,
/// H, by the parameters.
template <class C, class Hidden, class P, class H> struct product_of_step {
  using rest = dimesh::detail::dims_without<typename spec_of<H>::dims, Hidden>;
  template <class... D> static tag<layout_fault<C, D...>> of(list<D...>);
  using type =
      only<typename decltype(of(united<rest, typename spec_of<state_of<P>>::dims>{}))::type,
           dims_share_mesh_axis>;
};
template <class C, class Hidden, class P, class H>
  requires(is_poison<H> || dimesh::detail::is_probe<H> || is_poison<state_of<P>>)
struct product_of_step<C, Hidden, P, H> {
  using type = no_fault;
};

template <class P>
concept RecurrentParameters = requires(const P& p) { p.in, p.state, p.bias, p.state_bias; };
template <class S> inline constexpr bool is_pair = false;
template <Operand H, Operand K> inline constexpr bool is_pair<std::tuple<H, K>> = true;

/// The three dims, the model and the parameters of a call are what a cell takes.
template <class M, class P, class... Named>
inline constexpr bool begins_cell =
    sizeof...(Named) == 3 && (Dim<Named> && ...) && is_model<M> && RecurrentParameters<P>;
/// What stands in braces, where it is not an array of one type.
struct two_unlike {
  template <Operand H, Operand K>
    requires(!std::is_same_v<H, K>)
  constexpr two_unlike(const H&, const K&) {  // NOLINT: braces convert
    using fault =
        std::conditional_t<is_poison<H> || is_poison<K>, no_fault, not_the_same_kind<H, K>>;
    static_assert(ok<fault>,
                  "lstm: h and the cell in braces are of two types; begin with those that a step "
                  "leaves, both under the model's layout, or with std::tuple{h, cell}");
  }
};
template <bool Fits, class Fault> using fault_if = std::conditional_t<Fits, Fault, no_fault>;

}  // namespace dimesh::nn::detail
