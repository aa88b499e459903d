// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one keep a value that is about to be changed in place? Copies of tensors and of structs
// share memory, and cost nothing. What the library changes in place (fill, rescale, optimizers)
// first takes memory of its own if it is shared, so a copy keeps its value; only data() and view()
// show the memory as it is. A clone has its own from the beginning.
//
//   auto y = clone(x);         y.data()[0] = 1;      // x stays as it is
//   auto best = clone(params);                       // a struct, tuple or array of tensors
#pragma once

#include "dimesh/memory/memory.hpp"
#include "dimesh/reflect/walk.hpp"
#include "dimesh/shaped.hpp"

namespace dimesh {

namespace detail {

template <class X> constexpr X cloned(const X& x) {
  X y(x);
  const running here(sink_of(core_of(x)), "clone");
  if (core_of(x).is_shape) {
    tally* const t = core_of(x).count;
    core_of(y).live = live_bytes(t, x.local_bytes());
    if (t != nullptr) t->compute(0, 2 * x.local_bytes());
  } else if constexpr (!is_shaped<X>) {
    if (!x.defined()) return y;
    const watched event(0, 2 * x.local_bytes());
    y.memory() = core_of(x).fresh_memory();
    const in_space there(core_of(x).facts->space);
    copy_bytes(y.data(), x.data(), x.local_bytes());
  }
  return y;
}

}  // namespace detail

/// A tensor, or a struct of tensors, of the same values in memory of its own. Local. Recorded
/// tensors are values that nothing changes: they are copied.
template <class S>
  requires(!stands_for_tensor<S>)
[[nodiscard]] constexpr S clone(const S& x) {
  if constexpr (std::is_scalar_v<S>) {
    static_assert(ok<std::conditional_t<std::is_scalar_v<S>, not_a_tensor<S>, no_fault>>,
                  "clone: a tensor, or a struct of tensors, is given a copy of its own; a number "
                  "is one already");
    return x;
  } else if constexpr (Tensor<S>) {
    if constexpr (detail::is_tracked<S>)
      return x;
    else
      return detail::cloned(x);
  } else {
    S copy(x);  // members that are no tensors come along
    for_each_tensor([](const auto&, auto& y) { y = dimesh::clone(y); }, copy);
    return copy;
  }
}
/// Poison stays poison.
template <class S>
  requires stands_for_tensor<S>
constexpr auto clone(const S&) {
  (void)is_poison<S>;
  return detail::poison_like<S>{};
}

}  // namespace dimesh
