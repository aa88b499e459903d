// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a whole tensor travel to one rank while the others go on? As a started move does
// (op/start.hpp): begun here, awaited later.
//
//   auto coming = start_to_rank(weights);    // packed already: weights may change
//   ...
//   auto values = await(std::move(coming));  // what to_rank(weights) gives
#pragma once

#include <chrono>
#include <exception>

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
    return *this;
  }
  ~started_values() { end(); }

  /// Lets MPI work on it. True: await will not wait. Throws dimesh::error on a handle without a
  /// move.
  bool ready() {
    require_move("ready");
    move_->under_way.progress(name);
    return move_->under_way.done();
  }
  /// Is there a move to await?
  bool holds() const { return move_ != nullptr; }

 private:
  template <Operand X> friend auto start_to_rank(const X& x, int root);
  template <class U> friend rank_values<U> await(started_values<U>&& s);
  static constexpr const char* name = "to_rank";

  struct move {
    template <class Y>
    move(const Y& y, int to)
        : values(y.grid().everyone(), detail::core_of(y), to, &under_way),
          here(y.grid().everyone().rank()),
          root(to),
          axes(values.from.from_others ? y.grid().everyone().axes() : 0),
          mesh(y.grid().everyone().mesh()),
          exceptions(std::uncaught_exceptions()) {
      under_way.keep(values.block);
      under_way.keep(values.received);
    }
    collective::requests under_way;  // first: it is there when the values are sent
    detail::gathered<T> values;
    int here, root;
    unsigned axes;
    std::uint64_t mesh;
    int exceptions;  // that were passing when it began
  };

  template <class Y> started_values(const Y& y, int root) : move_(new move(y, root)) {}

  rank_values<T> arrive() {
    require_move("await");
    const auto it = std::move(move_);
    const running now(detail::watcher, name);
    const in_part part(detail::watcher, event_part::finish);
    const detail::watched here(event_kind::gather, it->axes, 0, 0, it->mesh);
    const detail::in_space there(it->values.received.space());
    it->under_way.wait(name);
    return rank_values<T>(it->values.values(), it->here, it->root);
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
    const auto it = std::move(move_);
    try {
      int over = 0;
      MPI_Finalized(&over);
      if (over != 0) return;
      if (std::uncaught_exceptions() <= it->exceptions) return it->under_way.wait(name);
      const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      do it->under_way.progress(name);
      while (!it->under_way.done() && std::chrono::steady_clock::now() < last);
    } catch (...) {  // the requests give up themselves
    }
  }

  std::unique_ptr<move> move_;
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
    return started_values<value_of<X>>(y, root);
  }
}

/// The elements on the rank that they were sent to, empty elsewhere. Throws dimesh::error where the
/// handle was awaited before or moved from.
template <class T> [[nodiscard]] rank_values<T> await(started_values<T>&& s) { return s.arrive(); }

}  // namespace dimesh
