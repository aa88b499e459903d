// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the cotangents of a recorded value add up? In its cell. The type is known from the
// value's own: cotangent(replicated) = partial, so contributions always agree and addition is
// local.
//
//   cell<basic_tensor<float, L, D...>>::bar_type  -> basic_tensor<float, cotangent<L, D...>, D...>
#pragma once

#include "dimesh/op/arithmetic.hpp"

namespace dimesh::detail {

/// y[0..n) = x[0..n) + z[0..n).
template <class T> [[gnu::noinline]] void add_arrays(T* y, const T* x, const T* z, index_t n) {
  using in = local::operand<const T, local::step::unit>;
  local::map(local::nest<1>{{n}}, add_function{}, local::operand<T, local::step::unit>{y, {1}},
             in{x, {1}}, in{z, {1}});
}

/// Brings a sum to the memory where it must end up, if there is such memory.
[[gnu::noinline]] inline void settle_in_slot(storage& sum, const storage& slot, index_t bytes) {
  if (!slot || sum.data() == slot.data()) return;
  copy_bytes(slot.data(), sum.data(), bytes);
  sum = slot;
}

/// sum[0..n) += x[0..n), whatever tensors these belong to; `once` and `x_once` as in apply.hpp.
/// Returns the axes along which the new sum is to be counted once.
template <class T>
[[gnu::noinline]] unsigned add_to_sum(storage& sum, unsigned once, storage x, unsigned x_once,
                                      const storage& slot, const grid_state& grid, index_t n) {
  const index_t bytes = n * static_cast<index_t>(sizeof(T));
  // Addends and a value held whole do not add up element by element.
  const unsigned whole = once & x_once;
  if (once != whole) {
    settle_addends(sum, grid, once & ~whole, bytes);
    settle_in_slot(sum, slot, bytes);
  }
  if (x_once != whole) settle_addends(x, grid, x_once & ~whole, bytes);
  auto* const at = static_cast<T*>(sum.data());
  if (sum.alone() || (slot && sum.data() == slot.data())) {
    add_arrays<T>(at, at, static_cast<const T*>(x.data()), n);
  } else {
    storage fresh = slot ? slot : storage::acquire(static_cast<std::size_t>(bytes));
    add_arrays<T>(static_cast<T*>(fresh.data()), at, static_cast<const T*>(x.data()), n);
    sum = std::move(fresh);
  }
  return whole;
}

/// What all cells have, whatever they hold.
struct cell_base {
  int uses = 0;           // nodes that have yet to add to it
  bool filled = false;    // something has arrived
  bool offered = false;   // a transpose is writing to `slot` just now
  storage slot{};         // where the sum must end up; null: anywhere

  /// Memory for the first contribution, if it is of use there. Shapes have no slot.
  [[gnu::noinline]] constexpr storage offer() {
    if (filled || offered || !slot) return storage{};
    offered = true;
    return slot;
  }
};

template <class V> struct cell : cell_base {
  using bar_type = typename gradient_type<V>::type;

  bar_type bar{};  // the sum so far

  constexpr void add(const bar_type& x) { add(bar_type(x)); }
  [[gnu::noinline]] constexpr void add(bar_type&& x) {
    offered = false;
    if constexpr (is_shaped<V>) {
      add_shape(std::move(x));
    } else if (!filled) {
      bar = std::move(x);
      settle_in_slot(bar.memory(), slot, bar.local_bytes());
    } else {
      bar.set_once(add_to_sum<value_of<V>>(bar.memory(), bar.once(), std::move(x.memory()),
                                           x.once(), slot, bar.grid().state(), bar.local_size()));
    }
    filled = true;
  }

 private:
  /// What the same costs.
  constexpr void add_shape(bar_type&& x) {
    if (!filled) {
      bar = std::move(x);
      return;
    }
    bar.set_once(bar.once() & x.once());
    tally* const t = bar.tally() != nullptr ? bar.tally() : x.tally();
    if (t == nullptr) return;
    if (!bar.live().alone()) bar.share(t, live_bytes(t, bar.local_bytes()));
    t->compute(bar.local_size(), 3 * bar.local_bytes());
  }
};

}  // namespace dimesh::detail
