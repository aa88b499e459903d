// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What keeps a cost from being a constant? An extent or an axis that is left open, data, a function
// that no type can be made of, or that the compiler cannot run.
//
//   static_cost_fault<tensor<float, shaped<L>, length>>   -> dim_without_extent<length>
//   static_function_fault<F, X>::type                     -> function_not_an_object<F> ...
#pragma once

#include "dimesh/core/user_function.hpp"
#include "dimesh/ledger/ledger.hpp"
#include "dimesh/reflect/walk.hpp"
#include "dimesh/shaped.hpp"

namespace dimesh::detail {

template <class D>
using extent_fault = std::conditional_t<is_static_dim<D>, no_fault, dim_without_extent<D>>;
template <class A>
using size_fault = std::conditional_t<static_size<A> != dynamic, no_fault, axis_without_size<A>>;

/// What of a tensor's type a cost as a constant cannot do without.
template <class X, class Dims, class Axes> struct static_shape_fault;
template <class X, class... D, class... A>
struct static_shape_fault<X, list<D...>, list<A...>>
    : first_of<std::conditional_t<is_shaped<X>, no_fault, not_a_shape<X>>, size_fault<A>...,
               extent_fault<D>...> {};
template <class Leaves> struct static_shapes_fault;
template <class... X>
struct static_shapes_fault<list<X...>>
    : first_of<typename static_shape_fault<X, typename spec_of<X>::dims,
                                           typename X::mesh_type::axes>::type...> {};
template <class... X>
using static_cost_fault =
    typename first_of<std::conditional_t<has_vectors<X>, vector_without_length<X>, no_fault>...,
                      typename static_shapes_fault<typename leaves<X>::type>::type...>::type;

/// What may be no function that can be made from nothing and called.
template <class F, class... X> struct static_function_fault {
  static constexpr auto find() {
    if constexpr (!std::is_default_constructible_v<F>)
      return tag<function_not_an_object<F>>{};
    else if constexpr (std::is_same_v<decltype(ask<F>()(std::declval<const X&>()...)), not_called>)
      return tag<function_not_callable_with<X...>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};

/// The same of one whose arguments are not at fault themselves.
template <class Fault, class F, class... X> struct static_call_fault {
  using type = no_fault;
};
template <class F, class... X>
struct static_call_fault<no_fault, F, X...> : static_function_fault<F, X...> {};

/// A cost that is a constant: asked in a template's argument, where one that is none is no error.
template <auto Ledger> struct constant_cost {
  static constexpr bool known = true;
  static constexpr auto value = Ledger;
};
template <class Ledger> struct no_constant_cost {
  static constexpr bool known = false;
  static constexpr Ledger value{};
};
// To nvcc a value of a class, asked for so, is no constant; that it is computed is one.
#ifdef __CUDACC__
template <class Cost> struct computed_cost {
  static constexpr bool known = true;
  static constexpr auto value = Cost::counted_cost();
};
template <class Cost, int = (Cost::counted_cost(), 0)>
constexpr computed_cost<Cost> ask_constant(int);
#else
template <class Cost, class Found = constant_cost<Cost::counted_cost()>>
constexpr Found ask_constant(int);
#endif
template <class Cost> constexpr no_constant_cost<ledger<typename Cost::mesh>> ask_constant(...);

}  // namespace dimesh::detail
