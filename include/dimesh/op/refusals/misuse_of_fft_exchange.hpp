// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/fft_exchange.hpp names or arguments of the
// wrong kind? One sentence each.
#pragma once

#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
using fft_exchange_call = call_taking<some_dims, 1, a_tensor>;
using ifft_exchange_call = call_taking<some_dims, 1, a_tensor>;
using rfft_exchange_call = call_taking<more_dims, 1, a_tensor>;
using irfft_exchange_call = call_taking<more_dims, 1, a_tensor, no_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::fft_exchange_call, detail::list<N...>, A...>
constexpr poison fft_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::fft_exchange_call, detail::list<N...>, A...>>,
                "fft_exchange: dims stand in the angle brackets, a tensor in the parentheses: "
                "fft_exchange<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison fft_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "fft_exchange: dims stand in the angle brackets, a tensor in the parentheses: "
                "fft_exchange<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::ifft_exchange_call, detail::list<N...>, A...>
constexpr poison ifft_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::ifft_exchange_call, detail::list<N...>, A...>>,
                "ifft_exchange: dims stand in the angle brackets, a tensor in the parentheses: "
                "ifft_exchange<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison ifft_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "ifft_exchange: dims stand in the angle brackets, a tensor in the parentheses: "
                "ifft_exchange<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::rfft_exchange_call, detail::list<N...>, A...>
constexpr poison rfft_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::rfft_exchange_call, detail::list<N...>, A...>>,
                "rfft_exchange: a dim and that of half as many frequencies stand in the angle "
                "brackets, a tensor in the parentheses: rfft_exchange<time, half>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison rfft_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "rfft_exchange: a dim and that of half as many frequencies stand in the angle "
                "brackets, a tensor in the parentheses: rfft_exchange<time, half>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::irfft_exchange_call, detail::list<N...>, A...>
constexpr poison irfft_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::irfft_exchange_call, detail::list<N...>, A...>>,
                "irfft_exchange: the dim of frequencies and the new one stand in the angle "
                "brackets, a tensor in the parentheses: irfft_exchange<half, time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison irfft_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "irfft_exchange: the dim of frequencies and the new one stand in the angle "
                "brackets, a tensor in the parentheses: irfft_exchange<half, time>(x)");
  return {};
}

}  // namespace dimesh
