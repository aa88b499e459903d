// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a move keep that is made again and again? The mover, the result's memory, and whatever
// the first time has found: blocks, plan, tags, scratch, and MPI's requests of messages. What is
// left of a call is the mover itself. Without types: core/persistent.hpp has them.
//
//   repeated_move m;   m.make(op, event_kind::all_reduce, y, x);
//   m.at_once(y, x);   m.begin(y, x);  ...  m.end(y, x);
#pragma once

#include "dimesh/collective/call_again.hpp"
#include "dimesh/core/mover_functions.hpp"
#include "dimesh/core/run_plain.hpp"
#include "dimesh/detail/flag_of_one.hpp"

namespace dimesh::detail {

class repeated_move {
 public:
  /// y becomes a result of op of x, whose elements are not there yet.
  template <class Op>
  void make(const Op& op, event_kind kind, tensor_core& y, const tensor_core& x) {
    flight_ = flight_owner(flight::fresh());
    flight_->hold<bound<Op, 0>>(op);
    flight_->kind = kind;
    mover_ = &functions_of_mover<Op>;
    waits_ = can_start<Op> && kind == event_kind::message;
    set_up(y, x);
  }
  bool is_made() const { return static_cast<bool>(flight_); }
  bool is_begun() const { return begun_; }

  /// Moves what x holds. Collectives by MPI's blocking calls, which are the faster ones.
  void at_once(tensor_core& y, const tensor_core& x) {
    if (is_one_call(at_once_, y, x)) [[likely]]
      run_call(y, x);
    else
      at_once_by_mover(y, x);
  }
  void begin(tensor_core& y, const tensor_core& x);
  bool ready(tensor_core& y);
  void end(tensor_core& y, const tensor_core& x);
  /// Nobody waits for it: it does so itself, as a started move does.
  void drop(tensor_core& y) noexcept {
    if (by_call_.take()) started_.leave_to(flight_->under_way);
    if (begun_.take()) flight_->drop(y);
    forget_calls();
    flight_ = flight_owner();
  }

 private:
  /// Is all that is to be done one call of MPI, as it was last time?
  bool is_one_call(const collective::call_again& call, const tensor_core& y,
                   const tensor_core& x) const {
    return call.fits(x.memory.data(), y.memory.data(), x.once) && !begun_ && watcher == nullptr &&
           waits_told_to.load(std::memory_order_acquire) == nullptr &&
           (y.memory.alone() || y.away != 0) && known_.is_from(x, y.facts, y.grid) &&
           x.grid->alive();
  }
  void run_call(tensor_core& y, const tensor_core& x) {
    if (mover_->before != nullptr) run_part(mover_->before, y, x);
    if (const int code = at_once_.now(); code != MPI_SUCCESS) [[unlikely]]
      fail(code, at_once_, y, x);
    if (mover_->after != nullptr) run_part(mover_->after, y, x);
  }
  void run_part(mover_functions::local_part part, tensor_core& y, const tensor_core& x);
  void at_once_by_mover(tensor_core& y, const tensor_core& x);
  void run_mover(tensor_core& y, const tensor_core& x);
  /// Where what it has told MPI was all, that is known from now on.
  void note_call(collective::call_again& call, const collective::dense_calls_here& seen,
                 tensor_core& y, const tensor_core& x);
  void forget_calls() { at_once_ = started_ = {}; }
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
  [[noreturn]] void fail(int code, collective::call_again& call, tensor_core& y,
                         const tensor_core& x);

  flight_owner flight_;
  const mover_functions* mover_ = nullptr;
  flag_of_one begun_, by_call_;
  bool waits_ = false;  // messages: by persistent requests they are faster than blocking
  known_blocks known_;
  std::shared_ptr<const move_plan> plan_;  // that `known_` points to
  cut_list cuts_;
  unsigned once_ = 0;
  // What a blocking call tells MPI, and what one that begins: large sums go in pieces, or whole.
  collective::call_again at_once_, started_;
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
  if (keeps_blocks(y, x)) known_.note(y, x);
#ifdef DIMESH_CHECKED
  known_.is_plain = false;
#else
  known_.is_plain = known_.is_plain && mover.facts->follows;
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
DIMESH_OUTLINE inline void repeated_move::run_part(mover_functions::local_part part, tensor_core& y,
                                                   const tensor_core& x) {
  const tensor_core* const at[] = {&x};
  tensor_core* const to[] = {&y};
  const in_space here(x.facts->space);
  const going_on as_before(y, x, &known_);
  part(*flight_->mover, results(to, 1), operands(at, 1));
}
inline void repeated_move::run_mover(tensor_core& y, const tensor_core& x) {
  flight& f = *flight_;
  const tensor_core* const at[] = {&x};
  tensor_core* const to[] = {&y};
  const in_space here(x.facts->space);
  const going_on as_before(y, x, &known_);
  const collective::dense_calls_here seen;
  if (waits_) {
    forget_calls();  // messages may get other requests
    f.under_way.repeat();
    mover_->start(*f.mover, results(to, 1), operands(at, 1), f);
    f.finish(y);
    f.rest();
  } else {
    f.mover->fill(results(to, 1), operands(at, 1));
  }
  note_call(at_once_, seen, y, x);
  keep_plan();
}
inline void repeated_move::note_call(collective::call_again& call,
                                     const collective::dense_calls_here& seen, tensor_core& y,
                                     const tensor_core& x) {
  call.forget();
  if (!collective::call_again::is_possible || collective::stages()) return;
  const tensor_core* const at[] = {&x};
  tensor_core* const to[] = {&y};
  void* const written = y.memory.data();
  const bool copied = seen.latest.what == collective::dense::broadcast && mover_->before != nullptr;
  if (seen.count == 1 && (copied || seen.latest.x == x.memory.data()) && seen.latest.y == written)
    call.become(seen.latest, x.memory.data(), x.once);
  else if (waits_ && mover_->only_messages(*flight_->mover, results(to, 1), operands(at, 1)))
    call.become(flight_->under_way, x.memory.data(), written, x.once);
}
DIMESH_OUTLINE inline void repeated_move::at_once_by_mover(tensor_core& y, const tensor_core& x) {
  require_idle("run");
  if (!make_room(y, x)) {
    if (waits_) {
      begin(y, x);
      return end(y, x);
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
  const bool one_call =
      is_one_call(started_, y, x) && !collective::detail::progress_list::all().is_on();
  require_idle("start");
  known_blocks* const known = one_call || make_room(y, x) ? &known_ : nullptr;
  if (known == nullptr) {
    const tensor_core* const at[] = {&x};
    give_memory(*flight_->mover, y, operands(at, 1), &y.memory, nullptr);
  }
  flight& f = *flight_;
  if (one_call) {
    if (mover_->before != nullptr) run_part(mover_->before, y, x);
    f.x.memory = x.memory;
    f.exceptions = std::uncaught_exceptions();
    begun_ = true;
    by_call_ = true;
    if (const int code = started_.begin(); code != MPI_SUCCESS) fail(code, started_, y, x);
    return;
  }
  f.x.memory = x.memory;
  f.x.once = x.once;
  begun_ = true;
  if (waits_) forget_calls();
  try {
    const collective::dense_calls_here seen;
    f.under_way.repeat();
    leave_ground(f, y, x, known, mover_->start);
    if (known == nullptr) return;
    note_call(started_, seen, y, x);
    keep_plan();
  } catch (...) {
    begun_ = false;
    give_up(y, x);
    throw;
  }
}
DIMESH_OUTLINE inline bool repeated_move::ready(tensor_core& y) {
  require_begun("ready");
  if (!by_call_) return flight_->ready(y);
  int over = 0;
  if (const int code = started_.test(over); code != MPI_SUCCESS)
    fail(code, started_, y, flight_->x);
  return over != 0;
}
DIMESH_OUTLINE inline void repeated_move::end(tensor_core& y, const tensor_core& x) {
  require_begun("wait");
  begun_ = false;
  if (by_call_.take()) {
    if (const int code = started_.wait(); code != MPI_SUCCESS) fail(code, started_, y, flight_->x);
    flight_->x.memory = storage{};
    if (mover_->after != nullptr) run_part(mover_->after, y, x);
    return;
  }
  try {
    land_flight(*flight_, y);
  } catch (...) {
    give_up(y, flight_->x);
    throw;
  }
  flight_->rest();
}
DIMESH_OUTLINE inline void repeated_move::fail(int code, collective::call_again& call,
                                               tensor_core& y, const tensor_core& x) {
  call.leave_to(flight_->under_way);
  by_call_ = false;
  begun_ = false;
  give_up(y, x);
  raise_mpi(code, flight_->mover->facts->name);
}
DIMESH_OUTLINE inline void repeated_move::give_up(tensor_core& y, const tensor_core& x) {
  forget_calls();
  flight_->x.memory = x.memory;
  flight_->result = y.memory;
  flight_->rest();
  flight_->under_way.give_up();  // what is repeated begins anew, even where nothing was under way
  y.memory = storage{};  // some of it may be on its way
}
#endif

}  // namespace dimesh::detail
