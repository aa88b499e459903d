// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a mover become one that is made again and again? Its entry point is called with an
// operand that says so; rules, faults and texts are those of the blocking call, and what
// apply_rule or apply_or_share gives is a persistent move (core/persistent.hpp).
//
//   all_gather<cols>(to_repeat(x))   -> persistent<X, what all_gather<cols>(x) is>
#pragma once

#include "dimesh/core/persistent.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// An operand of a move that is made again and again; it is given up to it.
template <class X> struct repeating {
  using spec_type = typename X::spec_type;
  using value_type = typename X::value_type;
  using mesh_type = typename X::mesh_type;
  X& of;
  constexpr operator const tensor_core&() const { return core_of(of); }  // NOLINT
  constexpr unsigned once() const { return of.once(); }
};
template <class X> inline constexpr bool is_probe<repeating<X>> = is_probe<X>;
template <class X> inline constexpr bool is_starting<repeating<X>> = true;

/// A move whose result has this spec.
template <class S, class Op, class X> auto start_as(const Op& op, const repeating<X>& r) {
  using Y = typename result_type<S, false, 0>::type;
  return persistent<X, Y>(op, std::move(r.of));
}
/// The same by a rule.
template <class Rule, class T, class Op, class X>
auto start_by_rule(const Op& op, const repeating<X>& r) {
  using S = spec_by_rule<Rule, T, X>;
  using Y = typename result_type<S, false, 0>::type;
  if constexpr (is_probe<X>) {
    const tensor_facts& facts = result_facts<Rule, T>(call_by(op), r.of);
    return persistent<X, Y>(op, std::move(r.of), &facts);
  } else {
    return start_as<S>(op, r);
  }
}
/// Where there is nobody to talk to elements are copied: the result has memory of its own.
template <class S, class Op, class X>
auto start_or_share(const Op& op, const repeating<X>& r, bool) {
  return start_as<S>(op, r);
}

/// Moves nothing: elements are copied.
template <class T> struct stays_op {
  static constexpr std::string_view call = "send";
  static constexpr event_kind kind = event_kind::collective;
  void fill(results y, operands x) const {
    if (y[0].away == 0) copy_bytes(y[0].memory.data(), x[0].memory.data(), x[0].bytes());
  }
  constexpr void cost(tally&, results, operands) const {}
};
template <class X> auto arrived(const repeating<X>& r) {
  return start_as<spec_of<X>>(stays_op<value_of<X>>{}, r);
}

/// In the place of a move that is refused: whatever it is asked for is refused, too, in silence.
struct no_move : poison {
  static constexpr poison run() { return {}; }
  static constexpr void start() {}
  static constexpr bool ready() { return true; }
  static constexpr poison wait() { return {}; }
  static constexpr poison operand() { return {}; }
};
template <class X, class Y> persistent<X, Y> as_move(persistent<X, Y>&& m) { return std::move(m); }
constexpr no_move as_move(const poison&) { return {}; }

/// What an operand is to a move that is made again and again; what is no tensor stays what it is.
template <class X> constexpr decltype(auto) to_repeat(X& x) {
  if constexpr (!Tensor<X>) {
    return (x);
  } else if constexpr (is_tracked<X> || is_shaped<X>) {
    static_assert(ok<persistent_needs_data<X>>,
                  "persistent: it moves elements, and is not recorded; of shapes, and where "
                  "gradients are taken, call the mover itself each time");
    return poison{};
  } else {
    return repeating<X>{x};
  }
}

}  // namespace dimesh::detail
