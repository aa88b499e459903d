// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who makes something, and does not say of what type? One sentence: overloads
// that are left when nothing stands in the angle brackets.
//
//   zeros(g)   -> not_a_tensor<nothing<>>: zeros: the type of what is made stands in the ...
#pragma once

#include "dimesh/create.hpp"
#include "dimesh/op/refusals/unnamed_dims.hpp"

namespace dimesh {

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison make(detail::any_argument, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "make: the type of what is made stands in the angle brackets, the grid in the "
                "parentheses: make<tensor<float, L, batch>>(grid)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison zeros(detail::any_argument, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "zeros: the type of what is made stands in the angle brackets, the grid in the "
                "parentheses: zeros<tensor<float, L, batch>>(grid)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison constant(detail::any_argument, detail::any_argument = {},
                          detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "constant: the type of what is made stands in the angle brackets, grid and number "
                "in the parentheses: constant<tensor<float, L, batch>>(grid, 1)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison generate(detail::any_argument, detail::any_argument = {},
                          detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "generate: the tensor's type stands in the angle brackets, grid and function in "
                "the parentheses: generate<tensor<float, L, batch>>(grid, f)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison uniform(detail::any_argument, detail::any_argument = {}, detail::any_argument = {},
                         detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "uniform: the tensor's type stands in the angle brackets; grid, key and ends in "
                "the parentheses: uniform<tensor<float, L, batch>>(grid, random_key{1}, -1, 1)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison normal(detail::any_argument, detail::any_argument = {}, detail::any_argument = {},
                        detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "normal: the tensor's type stands in the angle brackets; grid, key and moments in "
                "the parentheses: normal<tensor<float, L, batch>>(grid, random_key{1}, 0, 0.1)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison from_array(detail::any_argument, detail::any_argument, detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "from_array: the tensor's type stands in the angle brackets, grid and array in the "
                "parentheses: from_array<tensor<float, L, batch>>(grid, a)");
  return {};
}

template <class... X>
constexpr poison zeros_like(detail::any_argument, detail::any_argument = {},
                            detail::any_argument = {}) {
  static_assert(ok<wrong_arguments<detail::nothing<X...>>>,
                "zeros_like: takes a tensor or a struct of them, and no type: zeros_like(x); of a "
                "type they are zeros<tensor<float, L, batch>>(grid)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison bernoulli(detail::any_argument, detail::any_argument, detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "bernoulli: the tensor's type stands in the angle brackets; grid, key and "
                "probability in the parentheses: bernoulli<X>(grid, random_key{1}, 0.5)");
  return {};
}

/// A struct's template in place of a struct.
template <template <class...> class S, class... A> constexpr poison make(const A&...) {
  static_assert(ok<not_a_tensor<S<layout<mesh<>>>>>,
                "make: a struct of tensors is made under a layout: make<network<L>>(grid)");
  return {};
}
template <template <class...> class S, class... A> constexpr poison zeros(const A&...) {
  static_assert(ok<not_a_tensor<S<layout<mesh<>>>>>,
                "zeros: a struct of tensors is made under a layout: zeros<network<L>>(grid)");
  return {};
}

/// The tensor's own arguments in place of its type.
template <class T, class L, class... D, class... A>
  requires(sizeof...(D) > 0 && (Dim<D> && ...) && std::is_arithmetic_v<T>)
constexpr poison zeros(const A&...) {
  static_assert(ok<not_a_tensor<T>>,
                "zeros: one type stands in the angle brackets, the tensor's or a struct's: "
                "zeros<tensor<float, L, batch>>(grid)");
  return {};
}
template <class T, class L, class... D, class... A>
  requires(sizeof...(D) > 0 && (Dim<D> && ...) && std::is_arithmetic_v<T>)
constexpr poison make(const A&...) {
  static_assert(ok<not_a_tensor<T>>,
                "make: one type stands in the angle brackets, the tensor's or a struct's: "
                "make<tensor<float, L, batch>>(grid)");
  return {};
}

}  // namespace dimesh
