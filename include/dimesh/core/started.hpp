// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a tensor that is on its way? A started<X>: an X that is not there yet. It can be awaited,
// once, and nothing else: every operation refuses it. It keeps the operand, the result and the
// requests alive.
//
//   auto coming = start_all_gather<cols>(w);    // started<tensor<...>>
//   auto y = einsum<batch, label>(x, v);        // meanwhile
//   auto whole = await(std::move(coming));      // what all_gather<cols>(w) gives
//
// Moves are started in one order on all ranks, which is how MPI matches them; they may be awaited
// in any. A handle that is dropped waits for MPI.
#pragma once

#include "dimesh/core/flight.hpp"
#include "dimesh/core/flight_ends.hpp"
#include "dimesh/core/tracked.hpp"
#include "dimesh/shaped.hpp"

namespace dimesh {

class any_tensor;
template <class X> class started;
template <class X> inline constexpr bool is_started = false;
template <class X> inline constexpr bool is_started<started<X>> = true;

namespace detail {

/// Every operation asks whether its operands are poison: the one place where they meet a move.
template <class X> constexpr bool meets_poison(tag<started<X>>) {
  static_assert(ok<move_not_awaited<X>>,
                "await: the operand is a move that has been started, not a tensor yet; take "
                "await(std::move(s)) of it first");
  return true;
}

/// Which collective a mover is, for events: what it says, or a message.
template <class Op> constexpr event_kind kind_of_move() {
  if constexpr (requires { Op::kind; })
    return Op::kind;
  else
    return event_kind::message;
}

}  // namespace detail

template <class X> inline constexpr bool stands_for_tensor<started<X>> = true;
/// Operations take it for poison, after they have refused it.
template <class X>
inline constexpr bool is_poison<started<X>> = detail::meets_poison(detail::tag<started<X>>{});

/// An X that is on its way.
template <class X> class [[nodiscard("a move that is started is to be awaited")]] started {
 public:
  using spec_type = typename X::spec_type;
  using value_type = typename X::value_type;
  using mesh_type = typename X::mesh_type;
  using tensor_type = X;

  constexpr started() = default;
  /// Nothing to wait for: it is there.
  constexpr started(detail::tag<X>, X&& y) : y_(std::move(y)), holds_(true) {}
  /// Begins op of x, tensors with data. Known: what the result's type does not say, or null.
  template <class Op>
  started(const Op& op, const detail::tensor_core& x, const detail::tensor_facts* known = nullptr)
      : flight_(detail::flight::fresh()) {
    constexpr int depth = detail::tracked_depth<X>;
    auto& it = flight_->hold<detail::bound<Op, depth>>(op);
    if constexpr (depth > 1) it.sum = &detail::sum_recorded<value_type, depth - 1>;
    auto& y = detail::core_of(y_);
    if (known != nullptr) y.facts = known;
    flight_->kind = detail::kind_of_move<Op>();
    detail::begin_flight(*flight_, y, x, depth > 0, &detail::start_move<Op, depth>);
    holds_ = true;
  }
  constexpr started(started&& o) noexcept
      : y_(std::move(o.y_)),
        flight_(std::move(o.flight_)),
        holds_(std::exchange(o.holds_, false)) {}
  constexpr started& operator=(started&& o) noexcept {
    if (this == &o) return *this;
    end();
    y_ = std::move(o.y_);
    flight_ = std::move(o.flight_);
    holds_ = std::exchange(o.holds_, false);
    return *this;
  }
  /// Waits where nobody did. Where an exception passes it waits for a second at most.
  constexpr ~started() { end(); }

  /// Lets MPI work on it. True: await will not wait. Throws dimesh::error on a handle without a
  /// move.
  bool ready() {
    require_move("ready");
    return !flight_ || flight_->ready(detail::core_of(y_));
  }
  /// No tensor yet: says so.
  template <class Y>
    requires(std::is_same_v<Y, any_tensor> || requires { typename Y::spec_type; })
  constexpr operator Y() const {  // NOLINT: where a type is declared
    (void)is_poison<started>;
    return {};
  }
  /// Is there a move to await?
  constexpr bool holds() const { return holds_; }

 private:
  template <class Y> friend constexpr Y await(started<Y>&& s);

  constexpr X arrive() {
    require_move("await");
    if (flight_) {
      detail::land_flight(*flight_, detail::core_of(y_));
      flight_ = detail::flight_owner();
    }
    holds_ = false;
    return std::move(y_);
  }
  constexpr void require_move(std::string_view call) const {
    if (!holds_)
      (detail::words()
       << call
       << ": there is no move in this handle: it was awaited before, moved from, or "
          "never started")
          .raise();
  }
  constexpr void end() noexcept {
    if (flight_) {
      flight_->drop(detail::core_of(y_));
      flight_ = detail::flight_owner();
    }
    holds_ = false;
  }

  X y_{};
  detail::flight_owner flight_;
  bool holds_ = false;
};

/// The tensor, when it has arrived: what the blocking call gives, recorded where its operand is.
/// Throws dimesh::error where the handle was awaited before or moved from.
template <class X> [[nodiscard]] constexpr X await(started<X>&& s) { return s.arrive(); }
/// A handle is used up by it, and a tensor has arrived already.
template <class X>
  requires(!std::is_same_v<std::remove_cvref_t<X>, poison> &&
           !(is_started<X> && !std::is_lvalue_reference_v<X>))
constexpr poison await(X&&) {
  static_assert(ok<move_not_given_up<std::remove_cvref_t<X>>>,
                "await: it takes a started move, and uses it up: await(std::move(s))");
  return {};
}
constexpr poison await(const poison&) { return {}; }

}  // namespace dimesh
