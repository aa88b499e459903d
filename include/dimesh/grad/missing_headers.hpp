// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who asks for a gradient, or a cost, whose header dimesh.hpp does not include?
// The names are declared here for that. Of a header that is there, every overload fits better, and
// a partial specialization gives cost_of a value.
//
//   vjp(f, x)   -> header_missing<op_header::vjp>: vjp: has a header of its own; #include <...>
#pragma once

#include "dimesh/grad/gradient_faults.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/unnamed_dims.hpp"

namespace dimesh {

namespace detail {

/// Whatever a user's function of such a name takes fits better than this conversion; so does
/// whatever one takes whose header is there.
struct any_function {
  template <class F>
    requires(std::is_class_v<F> && is_function_object<F>)
  constexpr any_function(const F&) {}  // NOLINT: a conversion is meant
};

/// In place of a function, of a value and what belongs to it, and of costs: nothing more is said.
struct unknown_function {
  template <class... A> constexpr poison operator()(const A&...) const { return {}; }
};
template <class Second> struct unknown_pair {
  poison first;
  Second second;
};
struct unknown_ledger : poison {
  constexpr index_t flops() const { return 0; }
  constexpr index_t moved() const { return 0; }
  constexpr index_t peak() const { return 0; }
  template <class... A> constexpr index_t bytes() const { return 0; }
  template <class... A> constexpr index_t ring_bytes() const { return 0; }
  template <class... A> constexpr index_t calls() const { return 0; }
  template <class M> constexpr unknown_ledger on() const { return {}; }
};
struct unknown_cost {
  static constexpr index_t flops = 0, moved = 0, peak = 0;
  template <class... A> static constexpr index_t bytes = 0;
  template <class... A> static constexpr index_t ring_bytes = 0;
  template <class... A> static constexpr index_t calls = 0;
};

/// Asserted in a function, so that errors show the line that asks.
template <class... A> constexpr unknown_cost cost_without_header() {
  static_assert(ok<missing_header<op_header::cost, A...>>,
                "cost_of: has a header of its own; #include <dimesh/grad/cost.hpp>");
  return {};
}

}  // namespace detail

/// Until cost.hpp gives it a value.
template <class F, class... X>
inline constexpr auto cost_of = detail::cost_without_header<F, X...>();

template <class... No>
  requires(sizeof...(No) == 0)
constexpr detail::unknown_ledger count(detail::any_function, detail::any_argument,
                                       detail::any_argument = {}, detail::any_argument = {},
                                       detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<detail::missing_header<op_header::cost, No...>>,
                "count: has a header of its own; #include <dimesh/grad/cost.hpp>");
  return {};
}
template <class... No>
  requires(sizeof...(No) == 0)
constexpr detail::unknown_pair<detail::unknown_function> vjp(
    detail::any_function, detail::any_argument, detail::any_argument = {},
    detail::any_argument = {}, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<detail::missing_header<op_header::vjp, No...>>,
                "vjp: has a header of its own; #include <dimesh/grad/vjp.hpp>");
  return {};
}
template <class... No>
  requires(sizeof...(No) == 0)
constexpr detail::unknown_pair<poison> jvp(detail::any_function, detail::any_argument,
                                           detail::any_argument = {}, detail::any_argument = {},
                                           detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<detail::missing_header<op_header::jvp, No...>>,
                "jvp: has a header of its own; #include <dimesh/grad/jvp.hpp>");
  return {};
}
template <class... No>
  requires(sizeof...(No) == 0)
constexpr detail::unknown_function grad(detail::any_function, detail::any_argument = {},
                                        detail::any_argument = {}) {
  static_assert(ok<named_otherwise<No...>>,
                "grad: it is value_and_grad(f, parameters)(x), which gives the value and the "
                "gradients");
  return {};
}
template <class... No>
  requires(sizeof...(No) == 0)
constexpr detail::unknown_function recompute(detail::any_function) {
  static_assert(ok<detail::missing_header<op_header::recompute, No...>>,
                "recompute: has a header of its own; #include <dimesh/grad/recompute.hpp>");
  return {};
}

}  // namespace dimesh
