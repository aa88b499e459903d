// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is there of a move between its start and its end? The requests that MPI works on, what keeps
// the memory that they read and write, and what is left to do when they are over. Movers are
// operations with one member more:
//
//   void start(results y, operands x, flight& f) const;   // like fill, but leaves requests in
//                                                         // f.under_way and the rest in f.land
//
// The end of a move is an operation, too (`landing`): it runs, reports and is recorded as the
// mover itself, but where that one fills the result, it waits.
#pragma once

#include <chrono>
#include <exception>
#include <new>

#include "dimesh/collective/progress.hpp"
#ifdef DIMESH_CHECKED
#include "dimesh/collective/pair.hpp"
#endif
#include "dimesh/core/plans.hpp"
#include "dimesh/core/pullback.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/writes_memory.hpp"

namespace dimesh::detail {

struct flight {
  collective::requests under_way;
  std::shared_ptr<const move_plan> plan;
  storage out, in;  // scratch
  /// What is left to do in the result when the requests are over; false: there are new ones.
  bool (*land)(flight&, tensor_core& y) = nullptr;
  int stage = 0;
  int tags[max_dims] = {};  // of the messages of each stage
  const operation* mover = nullptr;
  tensor_core x;  // the operand
  storage result;  // the memory that the result lies in, where its owner lets go of it
  event_kind kind = event_kind::collective;
  unsigned axes = 0;
  std::uint64_t mesh = 0;  // whose axes these are; 0: that of the result
  /// Of messages that may come later than the start's meeting: the ranks among which they go, and
  /// the one that they come from or go to (-1: several).
  const communicator* between = nullptr;
  int peer = -1;
  int exceptions = 0;  // that were passing when it began
  bool landed = false;
  bool again = false;  // it will be made again and again (core/persistent.hpp)
  const char* called = "await";  // the call that waits, as errors name it

  flight() = default;
  flight(const flight&) = delete;
  flight& operator=(const flight&) = delete;

  /// A place for the mover, as the tape and the end of the move ask it.
  template <class Bound, class Op> Bound& hold(const Op& op) {
    static_assert(sizeof(Bound) <= sizeof room_, "dimesh: start: the operation is too large");
    auto* const b = new (static_cast<void*>(room_)) Bound(op);
    mover = b;
    return *b;
  }
  /// What it needs of a plan until it is over.
  void keep(const move_plan& p) {
    if (plan.get() != &p) plan = p.shared_from_this();
  }
  /// For the messages of a stage, on all ranks: one of their own, or that of last time.
  int tag_of(const communicator& c, int of_stage) {
    int& tag = tags[of_stage];
    return again && tag != 0 ? tag : tag = c.next_tag();
  }
  /// Its requests are there, if any: a helping thread may test them from now on.
  void begun();
  /// Lets MPI work on it. True: nothing is left to wait for.
  bool ready(tensor_core& y);
  void finish(tensor_core& y);
  /// Nobody wants the result. Waits for MPI; where an exception passes, a second at most: other
  /// ranks may have failed, and never answer.
  void drop(tensor_core& y) noexcept;
  std::string_view call() const { return mover != nullptr ? mover->facts->name : "await"; }

  /// Over, and ready to be made again. What it has for that, it keeps: messages' requests, tags,
  /// scratch.
  void rest() noexcept;

  /// Flights are kept from use to use.
  static flight& fresh();
  static void give_back(flight* f) noexcept;
  ~flight() { clear(); }

 private:
  static std::vector<std::unique_ptr<flight>>& spare();
  void end_all(tensor_core& y);
  void end_stage(tensor_core& y);
  void unlist() noexcept;
  void give_up() noexcept;
  void clear() noexcept;

  bool listed_ = false;
  alignas(std::max_align_t) std::byte room_[512];
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void flight::begun() {
  auto& list = collective::detail::progress_list::all();
  if (!list.is_on() || under_way.empty()) return;
  list.enter(under_way);
  listed_ = true;
}
DIMESH_OUTLINE inline bool flight::ready(tensor_core& y) {
  while (!landed) {
    unlist();
    under_way.progress(called);
    if (!under_way.done()) {
      begun();
      return false;
    }
    end_stage(y);
  }
  return true;
}
DIMESH_OUTLINE inline void flight::finish(tensor_core& y) {
  unlist();
  if (axes == 0) return end_all(y);  // nobody to talk to: nothing to report
  const in_part part(watcher, event_part::finish);
  const watched here(kind, axes, 0, 0, mesh != 0 ? mesh : y.facts->mesh);
  end_all(y);
}
DIMESH_OUTLINE inline void flight::drop(tensor_core& y) noexcept {
  unlist();
  result = y.memory;
  try {
    int over = 0;
    MPI_Finalized(&over);
    if (over) return give_up();
    if (std::uncaught_exceptions() <= exceptions) return finish(y);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!ready(y))
      if (std::chrono::steady_clock::now() > end) return give_up();
  } catch (...) {
    give_up();
  }
}
DIMESH_OUTLINE inline flight& flight::fresh() {
  auto& all = spare();
  if (all.empty()) return *new flight;
  flight& f = *all.back().release();
  all.pop_back();
  return f;
}
DIMESH_OUTLINE inline void flight::give_back(flight* f) noexcept {
  f->clear();
  try {
    spare().emplace_back(f);
  } catch (...) {
    delete f;
  }
}
inline std::vector<std::unique_ptr<flight>>& flight::spare() {
  thread_local std::vector<std::unique_ptr<flight>> all;
  return all;
}
inline void flight::end_stage(tensor_core& y) {
#ifdef DIMESH_CHECKED
  const auto& on = x.grid != nullptr ? x.grid : y.grid;  // a stencil keeps none
  if (between != nullptr && on != nullptr && on->alive())
    collective::wait_for(under_way, *between, peer, called);
#endif
  const in_space here(y.facts->space);
  under_way.wait(called);
  landed = land == nullptr || land(*this, y);
}
inline void flight::end_all(tensor_core& y) {
  while (!landed) end_stage(y);
}
inline void flight::unlist() noexcept {
  if (listed_) collective::detail::progress_list::all().leave(under_way);
  listed_ = false;
}
DIMESH_OUTLINE inline void flight::give_up() noexcept {
  if (under_way.empty()) return;
  for (const storage* s : {&x.memory, &result, &out, &in})
    if (*s) under_way.keep(*s);
  under_way.keep(std::shared_ptr<const void>(plan));
  under_way.give_up();
  landed = true;
}
DIMESH_OUTLINE inline void flight::clear() noexcept {
  rest();
  if (again) under_way.give_up();
  again = false;
  for (int& tag : tags) tag = 0;  // of a communicator, perhaps, that the next one knows nothing of
  called = "await";
  if (mover != nullptr) mover->drop();
  mover = nullptr;
  if (plan) plan.reset();
  if (out) out = storage{};
  if (in) in = storage{};
  x.record = nullptr;
  x.grid = nullptr;
  mesh = 0;
}
DIMESH_OUTLINE inline void flight::rest() noexcept {
  unlist();
  give_up();
  x.memory = storage{};
  if (result) result = storage{};
  land = nullptr;
  stage = 0;
  axes = 0;
  between = nullptr;
  peer = -1;
  landed = false;
}
#endif

/// Has it a start?
template <class Op>
inline constexpr bool can_start =
    requires(const Op& op, results y, operands x, flight& f) { op.start(y, x, f); };

/// Begins the move; that of a mover whose kernels are code of the host is over at once, where the
/// host does not reach the tensors.
template <class Op>
void start_here(const Op& op, const operation& bound, results y, operands x, flight& f) {
  if constexpr (is_host_code<Op>) {
    if (!reached_now()) return fill_on_copies(bound, y, x);
    const writes_memory kernel;
    op.start(y, x, f);
  } else {
    op.start(y, x, f);
  }
}

/// The end of a move.
class landing final : public operation {
 public:
  explicit landing(flight& f) : operation(&own_), own_(*f.mover->facts), flight_(&f) {
    own_.on_host = false;  // on copies it ran, if at all, when it began
    sum = f.mover->sum;
#ifdef DIMESH_CHECKED
    compares = false;  // the start did: ranks may await in any order
#endif
  }
  landing(const landing&) = delete;
  ~landing() = default;

  void fill(results y, operands) const override { flight_->finish(y[0]); }
  void cost(tally& t, results y, operands x) const override { mover().cost(t, y, x); }
  bool needs(int k, unsigned wanted) const override { return mover().needs(k, wanted); }
  void transpose(const pullback_base& to) const override { mover().transpose(to); }
  index_t extent_of(const dim_facts* d) const override { return mover().extent_of(d); }
  const operation* keep(tape& t) const override { return mover().keep(t); }
  void drop() const override {}

 private:
  const operation& mover() const { return *flight_->mover; }
  operation_facts own_;
  flight* flight_;
};

/// The flight of a handle, which may have none.
class flight_owner {
 public:
  constexpr flight_owner() = default;
  explicit flight_owner(flight& f) : flight_(&f) {}
  constexpr flight_owner(flight_owner&& o) noexcept : flight_(std::exchange(o.flight_, nullptr)) {}
  constexpr flight_owner& operator=(flight_owner&& o) noexcept {
    std::swap(flight_, o.flight_);
    return *this;
  }
  constexpr ~flight_owner() {
    if (flight_ != nullptr) flight::give_back(flight_);
  }
  constexpr flight* operator->() const { return flight_; }
  constexpr flight& operator*() const { return *flight_; }
  constexpr explicit operator bool() const { return flight_ != nullptr; }

 private:
  flight* flight_ = nullptr;
};

}  // namespace dimesh::detail
