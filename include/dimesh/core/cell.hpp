// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the cotangents of a recorded value add up? In its cell. Their layout follows from the
// value's own: cotangent(replicated) = partial, so contributions always agree and addition is
// local.
//
//   c.add(std::move(xbar))   // the first is taken as it is, others are added to it
#pragma once

#include "dimesh/core/addends.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

class tape;

/// Brings a sum to the memory where it must end up, if there is such memory.
void settle_in_slot(storage& sum, const storage& slot, index_t bytes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void settle_in_slot(storage& sum, const storage& slot, index_t bytes) {
  if (!slot || sum.data() == slot.data()) return;
  const in_space here(slot.space());
  copy_bytes(slot.data(), sum.data(), bytes);
  sum = slot;
}
#endif

/// sum += x, both of one form; the sum's memory is its own, or `slot`.
void add_to_sum(tensor_core& sum, tensor_core& x, const storage& slot);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void add_to_sum(tensor_core& sum, tensor_core& x, const storage& slot) {
  const index_t n = sum.elements(), bytes = n * sum.facts->element;
  if (sum.away != 0) {  // nothing lies here
    sum.once &= x.once;
    return;
  }
  const running here(watcher, "add_cotangents");
  const watched event(n, 3 * bytes);
  // Addends and a value held whole do not add up element by element.
  const unsigned whole = sum.once & x.once;
  if (sum.once != whole) {
    settle_addends(sum.memory, *sum.grid, sum.once & ~whole, bytes);
    settle_in_slot(sum.memory, slot, bytes);
  }
  if (x.once != whole) settle_addends(x.memory, *sum.grid, x.once & ~whole, bytes);
  const in_space there(sum.facts->space);
  void* const at = sum.memory.data();
  if (sum.memory.alone() || (slot && at == slot.data())) {
    sum.facts->shared->real->add(at, at, x.memory.data(), n);
  } else {
    storage fresh = slot ? slot : storage::acquire(static_cast<std::size_t>(bytes));
    sum.facts->shared->real->add(fresh.data(), at, x.memory.data(), n);
    sum.memory = std::move(fresh);
  }
  sum.once = whole;
}
#endif

/// What the same costs on shapes.
constexpr void add_shapes(tensor_core& sum, const tensor_core& x) {
  sum.once &= x.once;
  tally* const t = sum.count != nullptr ? sum.count : x.count;
  if (t == nullptr || sum.away != 0) return;
  const running here(t->sink, "add_cotangents");
  if (!sum.live.alone()) {
    sum.count = t;
    sum.live = live_bytes(t, sum.bytes());
  }
  t->compute(sum.elements(), 3 * sum.bytes());
}

/// a + b, recorded: where cotangents are themselves recorded on an outer tape.
using recorded_sum = tensor_core (*)(const tensor_core& a, const tensor_core& b);

/// The cotangents of one recorded value.
struct cell {
  tape* on = nullptr;      // the tape that the value is recorded on
  cell* outer = nullptr;   // the same value's on an enclosing tape
  int uses = 0;            // nodes that have yet to add to it
  unsigned summed = 0;     // axes along which it may have to be summed on (core/early_sum.hpp)
  bool filled = false;     // something has arrived
  bool offered = false;    // a transpose is writing to `slot` just now
  bool to_input = false;   // cotangents go on from here to an input: tape::backward_inputs
  bool put_off = false;    // some of its cotangents come in the second part: then all of them do
  constexpr bool late() const { return put_off && !to_input; }
  recorded_sum sum = nullptr;  // where cotangents are recorded
  storage slot{};          // where the sum must end up; null: anywhere
  tensor_core bar{};       // the sum so far

  /// Memory for the first contribution, if it is of use there. Shapes have no slot.
  DIMESH_OUTLINE constexpr storage offer() {
    if (filled || offered || !slot) return storage{};
    offered = true;
    return slot;
  }
  template <class X>
    requires core_access::is<X>
  constexpr void add(const X& x) {
    add(tensor_core(core_of(x)));
  }
  DIMESH_OUTLINE constexpr void add(tensor_core&& x) {
    offered = false;
    if (!filled) {
      bar = std::move(x);
      if (!bar.is_shape) settle_in_slot(bar.memory, slot, bar.bytes());
    } else if (bar.record != nullptr || x.record != nullptr) {
      if (sum == nullptr)
        (words() << "value_and_grad: gradients are nested too deep: two levels are supported")
            .raise();
      bar = sum(bar, x);
    } else if (bar.is_shape) {
      add_shapes(bar, x);
    } else {
      add_to_sum(bar, x, slot);
    }
    filled = true;
  }
};

}  // namespace dimesh::detail
