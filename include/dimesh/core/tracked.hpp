// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a function get whose gradient is wanted? Recorded tensors: of the same form as plain
// ones, but their uses leave nodes on a tape.
//
//   tracked_tensor<basic_tensor<float, L, D...>>  x;   // x.value() is the tensor
//   x * y  -> a tracked_tensor, and a node whose transpose feeds the cells of x and y
#pragma once

#include "dimesh/core/tape.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

/// A tensor whose uses are recorded. Value is the tensor type that operations really run on.
template <class Value>
class [[nodiscard("tensors are values: nothing was changed in place")]] tracked_tensor
    : public detail::typed_core<typename Value::spec_type> {
  using base = detail::typed_core<typename Value::spec_type>;
  friend struct detail::core_access;

 public:
  constexpr tracked_tensor() = default;
  using base::base;
  /// No tensor of another type becomes this one: says what differs, and what makes it fit.
  template <Tensor X>
    requires(!std::is_same_v<X, tracked_tensor>)
  constexpr tracked_tensor(const X&) {  // NOLINT: where a type is declared, too
    detail::assert_same<tracked_tensor, X>();
  }
  template <Tensor X>
    requires(!std::is_same_v<X, tracked_tensor>)
  constexpr tracked_tensor& operator=(const X&) {
    detail::assert_same<tracked_tensor, X>();
    return *this;
  }
  /// No number does. (By the plain type: said once of a function that is given both.)
  template <class X>
    requires std::is_arithmetic_v<X>
  constexpr auto& operator=(const X&) {
    detail::assert_same<Value, X>();
    return *this;
  }
  /// No tensor that is const is another one later.
  template <detail::TensorOrNumber X> constexpr const tracked_tensor& operator=(const X&) const {
    detail::assert_not_const<Value>();
    return *this;
  }

  /// The tensor itself; its uses are not recorded.
  constexpr Value value() const {
    Value v(detail::core_of(*this));
    if (this->record != nullptr) detail::core_of(v).record = this->record->outer;
    return v;
  }
  /// What is written into its elements, or read out of them, has no gradient: says so.
  template <class V = Value> constexpr typename Value::value_type* data() const {
    return no_elements<V>();
  }
  template <class V = Value> constexpr typename Value::value_type* view() const {
    return no_elements<V>();
  }
  /// Gives up the elements; its uses are recorded as before.
  using base::forget_data;
  constexpr detail::cell* cell() const { return this->record; }
  constexpr detail::tape* tape() const {
    return this->record != nullptr ? this->record->on : nullptr;
  }
  const auto& grid() const {
    detail::require_grid("tensor::grid", *this);
    return detail::grid_of<typename Value::mesh_type>(*this);
  }

 private:
  template <class V> static constexpr typename Value::value_type* no_elements() {
    using fault = value_is_recorded<typename V::value_type>;
    static_assert(ok<fault>,
                  "tensor: the tensor is recorded, and what is done with its elements would have "
                  "no gradient; compute with the tensor, or take stop_gradient(x)");
    return nullptr;
  }
};

namespace detail {

template <class X> struct plain_type {
  using type = X;
};
template <class V> struct plain_type<tracked_tensor<V>> : plain_type<V> {};
/// What an operation really runs on.
template <class X> using plain = typename plain_type<X>::type;

/// The type of the cotangent of a value.
template <class V> using bar_of_type = typename gradient_type<V>::type;

/// On how many tapes a tensor is recorded, by type.
template <class X> inline constexpr int tracked_depth = 0;
template <class V> inline constexpr int tracked_depth<tracked_tensor<V>> = 1 + tracked_depth<V>;

/// Some tensors of a list are recorded.
template <class List> inline constexpr bool holds_recorded = false;
template <class... X> inline constexpr bool holds_recorded<list<X...>> = (is_tracked<X> || ...);
/// Some tensors of a list are recorded on two tapes, one inside the other.
template <class List> inline constexpr bool any_nested = false;
template <class... X>
inline constexpr bool any_nested<list<X...>> = ((tracked_depth<X> > 1) || ...);

/// x recorded on a tape from now on, its cotangent gathered in a cell of its own.
template <class X> constexpr tracked_tensor<X> recorded_on(tape& t, const X& x) {
  auto* const variable = t.add<variable_node>();
  variable->on = &t;
  variable->outer = core_of(x).record;
  tracked_tensor<X> recorded(core_of(x));
  core_of(recorded).record = variable;
  return recorded;
}

/// x as it was before it was recorded.
template <class X> constexpr decltype(auto) untracked(const X& x) {
  if constexpr (is_tracked<X>)
    return x.value();
  else
    return (x);
}

}  // namespace detail
}  // namespace dimesh
