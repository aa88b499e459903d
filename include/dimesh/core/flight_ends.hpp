// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a move begin, and how does it end? By two functions for movers of all types: the first
// makes the result and starts what the mover has to do, the second waits, and records the move
// where its operand is recorded.
//
//   begin_flight(f, y, x, recorded, &start_move<all_gather_op<float>, 0>);   land_flight(f, y);
#pragma once

#include "dimesh/core/flight.hpp"
#ifdef DIMESH_CHECKED
#include "dimesh/core/checked.hpp"
#endif

namespace dimesh::detail {

/// Starts the mover that a flight holds.
using start_function = void (*)(const operation& mover, results y, operands x, flight& f);
template <class Op, int Depth>
void start_move(const operation& mover, results y, operands x, flight& f) {
  start_here(static_cast<const bound<Op, Depth>&>(mover).op, mover, y, x, f);
}

/// Makes the result y of a move of x, keeps what MPI will read, and begins to move.
void begin_flight(flight& f, tensor_core& y, const tensor_core& x, bool recorded,
                  start_function start);
/// Begins to move where the result is made, and the flight has the operand. Known: blocks and plan
/// of a call that goes on as before, or null.
void leave_ground(flight& f, tensor_core& y, const tensor_core& x, known_blocks* known,
                  start_function start);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void begin_flight(flight& f, tensor_core& y, const tensor_core& x,
                                        bool recorded, start_function start) {
  const operation& mover = *f.mover;
  const tensor_core* const at[] = {&x};
  const operands from(at, 1);
  known_blocks* const known = recall_result(mover, y, from, nullptr);
  if (known == nullptr) {
    match_operands(mover, from);
    place(mover, y, from);
    give_memory(mover, y, from, nullptr, nullptr);
  }
  f.x = x;
  if (!recorded) f.x.record = nullptr;
  leave_ground(f, y, x, known, start);
}
DIMESH_OUTLINE inline void leave_ground(flight& f, tensor_core& y, const tensor_core& x,
                                        known_blocks* known, start_function start) {
  const operation& mover = *f.mover;
  const tensor_core* const at[] = {&x};
  tensor_core* const to[] = {&y};
  const operands from(at, 1);
  f.exceptions = std::uncaught_exceptions();
  try {
    const running here(watcher, mover.facts->name);
    const in_part part(watcher, event_part::start);
    if (x.away != 0 && is_away(results(to, 1), from)) {
      leave_to_others(y, x);
    } else {
#ifdef DIMESH_CHECKED
      const checked_run checked(mover, from);
      check_before(mover, results(to, 1), from);
#endif
      const in_space there(x.facts->space);
      const going_on as_before(y, x, known);
      start(mover, results(to, 1), from, f);
    }
  } catch (...) {
    f.result = y.memory;  // some of it may be on its way
    throw;
  }
  f.begun();
}
#endif
/// Waits for the move and does what is left: y is its result, recorded where the operand is.
void land_flight(flight& f, tensor_core& y);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void land_flight(flight& f, tensor_core& y) {
  if (f.x.record == nullptr && watcher == nullptr) [[likely]]
    return f.finish(y);
  const landing it(f);
  const storage slot = y.memory;
  operand in[] = {{&f.x, f.x.record}};
  tensor_core* const all[] = {&y};
  const in_part here(watcher, event_part::finish);
  evaluate(it, results(all, 1), in, 1, true, &slot);
}
#endif

}  // namespace dimesh::detail
