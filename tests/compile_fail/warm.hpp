// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do most mistakes and their twins instantiate? fork_server.py has it precompiled with the
// names, so that no copy of the compiler does it again: two fifths of a case's time. Nothing here
// is wrong.
#pragma once

#include "names.hpp"

namespace warm {

template <class... T> constexpr bool complete = ((sizeof(T) > 0) && ...);
template <class L, class... D> using floats = dm::tensor<float, L, D...>;
static_assert(
    complete<floats<whole>, floats<whole, batch>, floats<whole, hidden>, floats<whole, label>,
             floats<whole, batch, hidden>, floats<whole, hidden, label>, floats<by_batch, batch>,
             floats<by_batch, batch, hidden>, floats<by_batch, batch, pixel>,
             floats<by_batch, batch, pixel, hidden>, floats<hybrid, hidden>,
             floats<hybrid, batch, hidden>>);
static_assert(
    complete<floats<dm::layout<pod, dm::partial<cols>>, batch, hidden>,
             floats<dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>,
             dm::tensor<int, whole, batch>, dm::tensor<int, by_batch, batch>, dm::grid<pod>>);

inline auto step(const floats<by_batch, batch, hidden>& x, const floats<whole, hidden>& b,
                 const floats<whole, hidden, label>& w) {
  const auto y = dm::complete(dm::sum(x + b));
  const auto z = dm::complete(dm::mean(dm::einsum<batch, label>(dm::exp(x) * x, w)));
  const auto loss = [](const auto& p, const auto& in) { return dm::complete(dm::mean(in + p)); };
  return dm::value(y + z) + dm::value(dm::complete(dm::value_and_grad(loss, b)(x)).value);
}

}  // namespace warm
