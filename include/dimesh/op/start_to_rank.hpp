// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a whole tensor travel to one rank while the others go on? As a started move does
// (op/start.hpp): begun here, awaited later.
//
//   auto coming = start_to_rank(weights);    // of weights as they are now
//   weights = updated;                       // or fill(weights, 0): what travels stays as it was;
//                                            // writes through data() have to wait
//   ...
//   auto values = await(std::move(coming));  // what to_rank(weights) gives
#pragma once

#include <exception>
#include <memory>

#include "dimesh/op/to_rank.hpp"

namespace dimesh {

/// The elements of a tensor on their way to a rank. Dropped, it waits for MPI: for a second at most
/// where an exception passes.
template <class T> class [[nodiscard("a move that is started is to be awaited")]] started_values {
 public:
  /// Nothing is on its way.
  started_values() = default;
  started_values(started_values&&) noexcept = default;
  started_values& operator=(started_values&& o) noexcept {
    if (this == &o) return *this;
    end();
    move_ = std::move(o.move_);
    values_ = std::move(o.values_);
    here_ = o.here_;
    root_ = o.root_;
    return *this;
  }
  ~started_values() { end(); }

  /// Lets MPI work on it. True: await will not wait. Throws dimesh::error on a handle without a
  /// move.
  bool ready() {
    require_move("ready");
    return move_->ready(move_->x);
  }
  /// Is there a move to await?
  bool holds() const { return static_cast<bool>(move_); }

 private:
  template <Operand X> friend auto start_to_rank(const X& x, int root);
  template <class U> friend rank_values<U> await(started_values<U>&& s);
  static constexpr const char* name = "to_rank";

  /// Begins to send y, in which nothing is partial.
  started_values(const detail::communicator& everyone, const detail::tensor_core& y, int root)
      : move_(detail::flight::fresh()), here_(everyone.rank()), root_(root) {
    move_->exceptions = std::uncaught_exceptions();
    values_ = detail::gathered<T>(everyone, y, root, &*move_);
    move_->begun();
  }
  rank_values<T> arrive() {
    require_move("await");
    const running now(detail::watcher, name);
    const detail::in_space there(move_->x.facts->space);
    const in_part part(detail::watcher, event_part::finish);
    move_->finish(move_->x);
    rank_values<T> all(values_.values(), here_, root_);
    move_ = detail::flight_owner();
    return all;
  }
  void require_move(std::string_view call) const {
    if (!holds())
      (detail::words()
       << call
       << ": there is no move in this handle: it was awaited before, moved from, or "
          "never started")
          .raise();
  }
  void end() noexcept {
    if (!move_) return;
    if (!values_.whole.empty() && !move_->under_way.empty())  // MPI may go on writing it
      move_->under_way.keep(std::make_shared<std::vector<T>>(std::move(values_.whole)));
    move_->drop(move_->x);
    move_ = detail::flight_owner();
  }

  detail::flight_owner move_;
  detail::gathered<T> values_;
  int here_ = 0, root_ = 0;
};

/// Begins to_rank(x, root); addends are summed at once. Collective over the grid: all ranks begin
/// their moves in one order.
template <Operand X> auto start_to_rank(const X& x, int root = 0) {
  using shape = typename detail::shape_fault<X>::type;
  static_assert(ok<shape>,
                "start_to_rank: the tensor is a shape, as in a program whose cost is counted, and "
                "has no elements; let the cost not depend on them");
  if constexpr (!ok<shape> || is_poison<X>) {
    return poison{};
  } else {
    const auto y = detail::whole_values(x, root);
    const running now(detail::watcher, "to_rank");
    const in_part part(detail::watcher, event_part::start);
    const detail::in_space here(detail::core_of(y).facts->space);
    return started_values<value_of<X>>(y.grid().everyone(), detail::core_of(y), root);
  }
}

/// The elements on the rank that they were sent to, empty elsewhere. Throws dimesh::error where the
/// handle was awaited before or moved from.
template <class T> [[nodiscard]] rank_values<T> await(started_values<T>&& s) { return s.arrive(); }

}  // namespace dimesh
