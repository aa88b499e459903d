// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do parameters become variables, and their cells gradients? By lists of cores, so that it is
// compiled once for all structs. Room for all gradients, and for the loss behind them, lies side by
// side, so that they are sent as one.
//
//   const storage behind = open_variables(t, parameters, variables, n, where);
//   ... the function, the backward pass (recorded_run.hpp) ...
//   collect_gradients(gradients, variables, n);
#pragma once

#include "dimesh/core/pullback.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

constexpr index_t slab_step(index_t bytes) { return (bytes + 63) / 64 * 64; }

/// A gradient's room on the slab. The gap up to the next one travels with it: it must hold numbers.
inline void take_room(storage& slot, const storage& slab, index_t at, index_t bytes) {
  slot = slab.part(static_cast<std::size_t>(at));
  zero_bytes(static_cast<std::byte*>(slot.data()) + bytes, slab_step(bytes) - bytes);
}

enum class gradients_lie : bool { side_by_side, anywhere };

/// v becomes p with facts of its own type, where that says a layout.
constexpr void become_variable(tensor_core& v, const tensor_core& p) {
  const tensor_facts* const facts = p.facts->at_run_time ? p.facts : v.facts;
  v = p;
  v.facts = facts;
}
/// What has the type of variables, and is on no tape but those that the parameters are on.
DIMESH_OUTLINE constexpr void take_unrecorded(const tensor_core* const* parameters,
                                              tensor_core* const* variables, int count) {
  for (int i = 0; i < count; ++i) become_variable(*variables[i], *parameters[i]);
}

/// Variables of parameters on a tape. Returns the room for the loss, behind gradients that lie side
/// by side.
DIMESH_OUTLINE constexpr storage open_variables(tape& t, const tensor_core* const* parameters,
                                                tensor_core* const* variables, int count,
                                                gradients_lie where) {
  index_t at = 0;
  const space_facts* const space = count > 0 ? parameters[0]->facts->space : nullptr;
  const auto on_slab = [&](const tensor_core& p) {  // a slab lies in one space
    return !p.is_shape && p.facts->space == space && where == gradients_lie::side_by_side;
  };
  for (int i = 0; i < count; ++i) {
    const tensor_core& p = *parameters[i];
    if (p.record != nullptr && p.record->on->level >= t.level) t.level = p.record->on->level + 1;
    if (on_slab(p)) at += slab_step(p.bytes());
  }
  storage slab;
  const in_space here(space);
  if (at > 0) slab = storage::acquire(static_cast<std::size_t>(at + slab_step(1)), space);
  at = 0;
  for (int i = 0; i < count; ++i) {
    const tensor_core& p = *parameters[i];
    auto* const leaf = t.add<variable_node>();
    leaf->on = &t;
    leaf->outer = p.record;
    if (p.record != nullptr) t.lean_on(*p.record->on);
    if (slab && on_slab(p) && p.away == 0) {
      take_room(leaf->slot, slab, at, p.bytes());
      at += slab_step(p.bytes());
    }
    become_variable(*variables[i], p);
    variables[i]->record = leaf;
  }
  return slab ? slab.part(static_cast<std::size_t>(at)) : storage{};
}

/// A cotangent of y to be counted once, without elements yet.
constexpr void shape_cotangent(tensor_core& bar, const tensor_core& y) {
  bar.place_like(y);
  bar.once = bar.facts->partial;
  if (!bar.is_shape) return;
  bar.count = y.count;
  bar.live = live_bytes(y.count, bar.bytes());
}
/// Zeros, in this memory.
constexpr void zero_cotangent(tensor_core& bar, const tensor_core& y, const storage& slot = {}) {
  shape_cotangent(bar, y);
  if (bar.is_shape) return;
  bar.memory = slot ? slot : bar.fresh_memory();
  const in_space here(bar.facts->space);
  zero_bytes(bar.memory.data(), bar.bytes());
}

/// The cotangent that a cell has gathered; where no path led to it, zeros, and every rank knows.
constexpr void collect_gradient(tensor_core& g, const tensor_core& v) {
  cell& c = *v.record;
  const tensor_facts* const facts = v.facts->at_run_time ? v.facts->dual : g.facts;
  if (c.filled) g = std::move(c.bar);
  g.facts = facts;
  if (!c.filled) zero_cotangent(g, v, c.slot);
  if (g.is_shape && std::is_constant_evaluated()) g.live.pin();
}
DIMESH_OUTLINE constexpr void collect_gradients(tensor_core* const* gradients,
                                                tensor_core* const* variables, int count) {
  for (int i = 0; i < count; ++i) collect_gradient(*gradients[i], *variables[i]);
}

/// The cotangent of a loss with respect to itself: 1, by the cotangent's layout.
constexpr tensor_core seed_of(const tensor_core& loss) {
  tensor_core bar(loss.facts->dual);
  shape_cotangent(bar, loss);
  if (!bar.is_shape) {
    bar.memory = bar.fresh_memory();
    const in_space here(bar.facts->space);
    if (bar.away == 0) bar.facts->shared->real->set_one(bar.memory.data());
  }
  return bar;
}

/// Where the backward pass of a value begins. Null: its type says that it is recorded, but nothing
/// recorded went into it (a gradient that happens to be constant), so that all gradients are 0.
constexpr cell* start_of(const tape& t, const tensor_core& value, std::string_view call) {
  cell* const c = value.record;
  if (c != nullptr && c->on != &t)
    (words() << call
             << ": the function's value is recorded outside, and no parameter reaches it; pass "
                "what it depends on as a parameter, or use stop_gradient")
        .raise();
  return c;
}

/// The loss in its room behind the gradients.
inline void move_beside(tensor_core& loss, const storage& room) {
  if (loss.is_shape || !room || loss.record != nullptr || loss.away != 0) return;
  if (room.space() != loss.facts->space) return;
  const in_space here(room.space());
  copy_bytes(room.data(), loss.memory.data(), loss.bytes());
  loss.memory = room;
}

}  // namespace dimesh::detail
