// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is the header of an operation there whose name another one declares? It says so itself, by
//
//   template <class... A> inline constexpr bool is_included<op_header::slice, A...> = true;
#pragma once

#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh::detail {

/// A..., the types of a call, let it be asked where the call stands.
template <op_header H, class... A> inline constexpr bool is_included = false;

template <op_header H, class... A> struct missing {
  using type = header_missing<H>;
};
template <op_header H, class... A> using missing_header = typename missing<H, A...>::type;

template <op_header H, class Names, class... A> inline constexpr bool calls_without = false;
template <op_header H, class... N, class... A>
  requires(sizeof...(N) > 0 && (Operand<A> || ...))
inline constexpr bool calls_without<H, list<N...>, A...> = !is_included<H, A...>;
/// The same where a call need not name a dim: a function of the user's may have that name, too, so
/// all that is given must be ours then.
template <op_header H, class Names, class... A> inline constexpr bool may_call_without = false;
template <op_header H, class... N, class... A>
  requires((Operand<A> || ...) && (sizeof...(N) > 0 || is_plain_call<A...>))
inline constexpr bool may_call_without<H, list<N...>, A...> = !is_included<H, A...>;

}  // namespace dimesh::detail
