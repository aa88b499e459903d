// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a function refuse what it cannot take, without taking calls away from a function of the
// user's that has its name? It takes everything by conversions: whatever takes one of the arguments
// as it is fits better.
//
//   template <class... No>
//     requires(sizeof...(No) == 0)
//   void save_npy(any_argument, any_argument = {});  // asserts ok<wrong_arguments<nothing<No...>>>
#pragma once

namespace dimesh::detail {

template <class...> struct nothing;  // stands where a name, or a type, is wanted
struct any_argument {
  constexpr any_argument() = default;
  template <class A> constexpr any_argument(const A&) {}  // NOLINT: a conversion is meant
};

/// Is a result of which a part is meant where one tensor is wanted: values and places, say?
template <class A> inline constexpr bool has_several = false;

}  // namespace dimesh::detail
