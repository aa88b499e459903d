// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a move keep that is made again and again? The mover, the result's memory, and whatever
// the first time has found: blocks, plan, tags, scratch, and MPI's requests of messages. What is
// left of a call is the mover itself. Without types: core/persistent.hpp has them.
//
//   repeated_move m;   m.make<all_reduce_op<float>>(op, y, x);
//   m.at_once(y, x);   m.begin(y, x);  ...  m.end(y);
#pragma once

#include "dimesh/core/flight_ends.hpp"
#include "dimesh/core/run_plain.hpp"

namespace dimesh::detail {

/// Starts a mover; one that has no start is over at once.
template <class Op> void start_or_fill(const operation& mover, results y, operands x, flight& f) {
  if constexpr (can_start<Op>)
    start_here(static_cast<const bound<Op, 0>&>(mover).op, mover, y, x, f);
  else
    fill_here(mover, y, x);
}

class repeated_move {
 public:
  repeated_move() = default;
  repeated_move(repeated_move&& m) noexcept { *this = std::move(m); }
  repeated_move& operator=(repeated_move&& m) noexcept {
    flight_ = std::move(m.flight_);
    start_ = m.start_;
    begun_ = std::exchange(m.begun_, false);
    waits_ = m.waits_;
    known_ = m.known_;
    plan_ = std::move(m.plan_);
    cuts_ = m.cuts_;
    once_ = m.once_;
    call_ = m.call_;
    call_once_ = m.call_once_;
    return *this;
  }

  /// y becomes a result of op of x, whose elements are not there yet.
  template <class Op>
  void make(const Op& op, event_kind kind, tensor_core& y, const tensor_core& x) {
    flight_ = flight_owner(flight::fresh());
    flight_->hold<bound<Op, 0>>(op);
    flight_->kind = kind;
    start_ = &start_or_fill<Op>;
    waits_ = can_start<Op> && kind == event_kind::message;
    set_up(y, x);
  }
  bool is_made() const { return static_cast<bool>(flight_); }
  bool is_begun() const { return begun_; }

  /// Moves what x holds. Collectives by MPI's blocking calls, which are the faster ones.
  void at_once(tensor_core& y, const tensor_core& x) {
    if (is_one_call(y, x)) [[likely]]
      check(call_.now(), name());
    else
      at_once_by_mover(y, x);
  }
  void begin(tensor_core& y, const tensor_core& x);
  bool ready(tensor_core& y) {
    require_begun("ready");
    return flight_->ready(y);
  }
  void end(tensor_core& y);
  /// Nobody waits for it: it does so itself, as a started move does.
  void drop(tensor_core& y) noexcept {
    if (std::exchange(begun_, false)) flight_->drop(y);
    flight_ = flight_owner();
  }

 private:
  /// Is all that is to be done one call of MPI, as it was last time?
  bool is_one_call(const tensor_core& y, const tensor_core& x) const {
    return call_.what != collective::dense::nothing && !begun_ && watcher == nullptr &&
           waits_told_to.load(std::memory_order_acquire) == nullptr && x.once == call_once_ &&
           x.memory.data() == call_.x && y.memory.data() == call_.y && y.memory.alone() &&
           known_.is_from(x, y.facts, y.grid) && x.grid->alive();
  }
  void at_once_by_mover(tensor_core& y, const tensor_core& x);
  /// Runs the mover, and sees whether that is one call of MPI from x to y.
  void run_mover(tensor_core& y, const tensor_core& x);
  const char* name() const { return flight_->mover->facts->name.data(); }
  void set_up(tensor_core& y, const tensor_core& x);
  /// Has x all that it had, but for its elements? Throws dimesh::error where not.
  void require_same(const tensor_core& x) const;
  void require_begun(std::string_view call) const {
    if (!begun_) [[unlikely]]
      refuse_state(call);
  }
  void require_idle(std::string_view call) const {
    if (begun_ || !is_made()) [[unlikely]]
      refuse_state(call);
  }
  [[noreturn]] void refuse_state(std::string_view call) const;
  /// Memory for y: its own, if nobody else has it. True: nothing but that is to be found out.
  bool make_room(tensor_core& y, const tensor_core& x);
  void keep_plan();
  /// After a failure: what MPI may still read or write is let go of when it is over.
  void give_up(tensor_core& y, const tensor_core& x);
  // Device kernels may still write what is moved; tests' closed pages are opened; calls are told.
#if defined(DIMESH_CHECKED) || defined(DIMESH_CLOSED)
  static constexpr bool may_be_one_call = false;
#else
  static constexpr bool may_be_one_call = hosts_only;
#endif

  flight_owner flight_;
  start_function start_ = nullptr;
  bool begun_ = false;
  bool waits_ = false;  // messages: by persistent requests they are faster than blocking
  known_blocks known_;
  std::shared_ptr<const move_plan> plan_;  // that `known_` points to
  cut_list cuts_;
  unsigned once_ = 0;
  collective::dense_call call_;  // of an operand that counted once along these axes
  unsigned call_once_ = 0;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void repeated_move::set_up(tensor_core& y, const tensor_core& x) {
  const operation& mover = *flight_->mover;
  const tensor_core* const at[] = {&x};
  const operands from(at, 1);
  if (x.is_shape)
    (words() << mover.facts->name
             << ": a persistent move is made of elements, which shapes have none of; while costs "
                "are counted, call "
             << mover.facts->name << ", which costs the same")
        .raise();
  match_operands(mover, from);
  place(mover, y, from);
  give_memory(mover, y, from, nullptr, nullptr);
  known_.note(y, x);
#ifdef DIMESH_CHECKED
  known_.is_plain = false;
#else
  known_.is_plain = known_.is_plain && keeps_blocks(y, x) && mover.facts->follows;
#endif
  cuts_ = x.cuts;
  once_ = x.once;
  flight_->again = true;
  flight_->x = x;
  flight_->x.record = nullptr;
  flight_->x.memory = storage{};
}
DIMESH_OUTLINE inline void repeated_move::require_same(const tensor_core& x) const {
  const operation& mover = *flight_->mover;
  if (!x.is_there()) require_grid(mover.facts->name, x);
  if (x.grid == flight_->x.grid && x.facts == flight_->x.facts &&
      x.runs.same_extents(flight_->x.runs, x.rank()) && same_cuts(x.cuts, cuts_) &&
      (!mover.facts->own_grid || x.once == once_))
    return;
  (words() << mover.facts->name
           << ": the operand of a persistent move has other extents, cuts or another grid than "
              "when the move was made; make another move for it")
      .raise();
}
DIMESH_OUTLINE inline void repeated_move::refuse_state(std::string_view call) const {
  (words() << call
           << (!is_made() ? ": there is no move in this handle: it was moved from, or never made"
               : begun_   ? ": the persistent move is under way; wait() for it first"
                          : ": the persistent move is not under way; start() it first"))
      .raise();
}
inline bool repeated_move::make_room(tensor_core& y, const tensor_core& x) {
  require_same(x);
  if (!y.memory.alone() && y.away == 0) y.memory = y.fresh_memory();
  return known_.is_plain && watcher == nullptr;
}
inline void repeated_move::keep_plan() {
  if (const move_plan* const p = known_.latest.plan; p != plan_.get() && p != nullptr)
    plan_ = p->shared_from_this();
}
inline void repeated_move::run_mover(tensor_core& y, const tensor_core& x) {
  flight& f = *flight_;
  const tensor_core* const at[] = {&x};
  tensor_core* const to[] = {&y};
  const in_space here(x.facts->space);
  const going_on as_before(y, x, &known_);
  if (waits_) {
    f.under_way.repeat();
    start_(*f.mover, results(to, 1), operands(at, 1), f);
    f.finish(y);
    f.rest();
  } else {
    const collective::dense_calls_here seen;
    f.mover->fill(results(to, 1), operands(at, 1));
    const bool one = seen.count == 1 && seen.latest.x == x.memory.data() &&
                     seen.latest.y == y.memory.data() && may_be_one_call && !collective::stages();
    call_ = one ? seen.latest : collective::dense_call{};
    call_once_ = x.once;
  }
  keep_plan();
}
DIMESH_OUTLINE inline void repeated_move::at_once_by_mover(tensor_core& y, const tensor_core& x) {
  require_idle("run");
  if (!make_room(y, x)) {
    if (waits_) {
      begin(y, x);
      return end(y);
    }
    const tensor_core* at[] = {&x};
    tensor_core* const to[] = {&y};
    return run_anew(*flight_->mover, results(to, 1), at, 1, true, &y.memory);
  }
  try {
    run_mover(y, x);
  } catch (...) {
    give_up(y, x);
    throw;
  }
}
DIMESH_OUTLINE inline void repeated_move::begin(tensor_core& y, const tensor_core& x) {
  const bool one_call = is_one_call(y, x);
  require_idle("start");
  known_blocks* const known = one_call || make_room(y, x) ? &known_ : nullptr;
  if (known == nullptr) {
    const tensor_core* const at[] = {&x};
    give_memory(*flight_->mover, y, operands(at, 1), &y.memory, nullptr);
  }
  flight& f = *flight_;
  f.x.memory = x.memory;
  f.x.once = x.once;
  begun_ = true;
  try {
    if (one_call) {
      f.exceptions = std::uncaught_exceptions();
      check(call_.begin(f.under_way.add()), name());
      f.begun();
    } else {
      f.under_way.repeat();
      leave_ground(f, y, x, known, start_);
      if (known != nullptr) keep_plan();
    }
  } catch (...) {
    begun_ = false;
    give_up(y, x);
    throw;
  }
}
DIMESH_OUTLINE inline void repeated_move::end(tensor_core& y) {
  require_begun("wait");
  begun_ = false;
  try {
    land_flight(*flight_, y);
  } catch (...) {
    give_up(y, flight_->x);
    throw;
  }
  flight_->rest();
}
DIMESH_OUTLINE inline void repeated_move::give_up(tensor_core& y, const tensor_core& x) {
  flight_->x.memory = x.memory;
  flight_->result = y.memory;
  flight_->rest();
  y.memory = storage{};  // some of it may be on its way
}
#endif

}  // namespace dimesh::detail
