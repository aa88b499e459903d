// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one ask of a mover whose type is forgotten, and that moves the same again and again?
// Besides its start it may say when messages are all that there is (or, of a broadcast, that it
// is), between local parts:
//
//   bool only_messages(results y, operands x) const;     // from x, or y, to y where they belong
//   void before_messages(results y, operands x) const;   // what is done before; or none
//   void after_messages(results y, operands x) const;    // and when they are over; or none
#pragma once

#include "dimesh/core/flight_ends.hpp"

namespace dimesh::detail {

/// Starts a mover; one that has no start is over at once.
template <class Op> void start_or_fill(const operation& mover, results y, operands x, flight& f) {
  if constexpr (can_start<Op>)
    start_here(static_cast<const bound<Op, 0>&>(mover).op, mover, y, x, f);
  else
    fill_here(mover, y, x);
}

/// Is what it tells MPI all that a mover of messages has to do, once before_messages is done?
template <class Op> bool has_only_messages(const operation& mover, results y, operands x) {
  if constexpr (requires(const Op& op) { op.only_messages(y, x); })
    return static_cast<const bound<Op, 0>&>(mover).op.only_messages(y, x);
  else
    return false;
}
/// The local part of such a mover, before its messages begin, and when they are over.
template <class Op> void run_before(const operation& mover, results y, operands x) {
  static_cast<const bound<Op, 0>&>(mover).op.before_messages(y, x);
}
template <class Op> void run_after(const operation& mover, results y, operands x) {
  static_cast<const bound<Op, 0>&>(mover).op.after_messages(y, x);
}

struct mover_functions {
  start_function start;
  bool (*only_messages)(const operation& mover, results y, operands x);
  using local_part = void (*)(const operation& mover, results y, operands x);
  local_part before = nullptr, after = nullptr;
};
template <class Op> constexpr mover_functions make_mover_functions() {
  mover_functions f{&start_or_fill<Op>, &has_only_messages<Op>};
  if constexpr (requires(const Op& op, results y, operands x) { op.before_messages(y, x); })
    f.before = &run_before<Op>;
  if constexpr (requires(const Op& op, results y, operands x) { op.after_messages(y, x); })
    f.after = &run_after<Op>;
  return f;
}
template <class Op>
inline constexpr mover_functions functions_of_mover = make_mover_functions<Op>();

}  // namespace dimesh::detail
