// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a move that a program makes again and again, of one tensor into one other? A
// persistent<X, Y>: it owns both, and whatever the first time has found out. Only the elements
// change. (MPI's persistent requests are such things, and messages use them: MPI 4.1, section 3.9.)
//
//   auto edges = persistent_halo_exchange<1, row>(u);    // nothing is moved yet
//   for (...) {
//     fill(edges.operand(), ...);                        // or a kernel of one's own
//     const auto& v = edges.run();                       // what halo_exchange<1, row>(u) gives
//   }
//   edges.start();   ...   const auto& v = edges.wait();
#pragma once

#include <type_traits>
#include <utility>

#include "dimesh/core/repeated.hpp"
#include "dimesh/core/started.hpp"

namespace dimesh {

template <class X, class Y> class persistent;

namespace detail {
/// Every operation asks whether its operands are poison: the one place where they meet a move.
template <class X, class Y> constexpr bool meets_poison(tag<persistent<X, Y>>) {
  static_assert(ok<move_not_awaited<Y>>,
                "persistent: the operand is a move, and no tensor; take what its run() or its "
                "wait() gives");
  return true;
}
}  // namespace detail

template <class X, class Y> inline constexpr bool stands_for_tensor<persistent<X, Y>> = true;
/// Operations take it for poison, after they have refused it.
template <class X, class Y>
inline constexpr bool is_poison<persistent<X, Y>> =
    detail::meets_poison(detail::tag<persistent<X, Y>>{});

/// A move of the elements of an X, which become those of a Y.
template <class X, class Y> class [[nodiscard("a persistent move is made to be run")]] persistent {
 public:
  using spec_type = typename Y::spec_type;
  using value_type = typename Y::value_type;
  using mesh_type = typename Y::mesh_type;
  using operand_type = X;
  using result_type = Y;

  persistent() = default;
  /// Of op, of x. Known: what the result's type does not say, or null.
  template <class Op>
  persistent(const Op& op, X x, const detail::tensor_facts* known = nullptr) : x_(std::move(x)) {
    if (known != nullptr) detail::core_of(y_).facts = known;
    move_.template make<Op>(op, detail::kind_of_move<Op>(), detail::core_of(y_),
                            detail::core_of(x_));
  }
  persistent(persistent&&) noexcept = default;
  persistent& operator=(persistent&& o) noexcept {
    if (this == &o) return *this;
    move_.drop(detail::core_of(y_));
    x_ = std::move(o.x_), y_ = std::move(o.y_), move_ = std::move(o.move_);
    return *this;
  }
  /// Waits for a move that is under way. Where an exception passes, a second at most.
  ~persistent() { move_.drop(detail::core_of(y_)); }

  /// What is moved. Its elements may be written between moves; who writes them in place while one
  /// is under way gets other memory, and the move what was there. Another tensor may take its place
  /// if it has the same extents, cuts and grid.
  X& operand() { return x_; }
  const X& operand() const { return x_; }

  /// Moves, and waits. The result is this handle's: the next move writes to its memory, unless
  /// somebody else shares it by then. Throws dimesh::error where a move is under way, or where the
  /// operand is not what it was but for its elements.
  const Y& run() {
    move_.at_once(detail::core_of(y_), detail::core_of(x_));
    return y_;
  }
  /// Begins to move. Throws as run does.
  void start() { move_.begin(detail::core_of(y_), detail::core_of(x_)); }
  /// Lets MPI work on it. True: wait will not wait. Throws dimesh::error where none is under way.
  bool ready() { return move_.ready(detail::core_of(y_)); }
  /// Waits for the move under way. Throws dimesh::error where there is none.
  const Y& wait() {
    move_.end(detail::core_of(y_), detail::core_of(x_));
    return y_;
  }
  /// No tensor: says so.
  template <class Z>
    requires(std::is_same_v<Z, any_tensor> || requires { typename Z::spec_type; })
  constexpr operator Z() const {  // NOLINT: where a type is declared
    (void)is_poison<persistent>;
    return {};
  }
  /// Is a move under way?
  bool is_under_way() const { return move_.is_begun(); }

 private:
  X x_{};
  Y y_{};
  detail::repeated_move move_;
};

}  // namespace dimesh
