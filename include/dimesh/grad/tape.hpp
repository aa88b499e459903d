// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are operations recorded whose transposes are written for types (op/parts/apply_typed.hpp)? By
// nodes that keep typed operands. Their cells and tapes are those of all nodes.
//
//   record(op, x, y)  -> a tracked_tensor, and a node whose transpose feeds the cells of x and y
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/op/parts/apply.hpp"

namespace dimesh {
namespace detail {

template <class X> constexpr cell* cell_of(const X& x) {
  if constexpr (is_tracked<X>)
    return x.cell();
  else
    return nullptr;
}

/// Another node will add to this cell, or (-1) has done so.
constexpr void count_uses(cell* const* cells, std::size_t n, int change) {
  for (std::size_t k = 0; k < n; ++k)
    if (cells[k] != nullptr) cells[k]->uses += change;
}
/// Memory that the cells of wanted operands offer. One function for all nodes.
DIMESH_OUTLINE constexpr void offer_slots(cell* const* cells, std::size_t n, storage* to) {
  for (std::size_t k = 0; k < n; ++k)
    if (cells[k] != nullptr) to[k] = cells[k]->offer();
}

/// The type of the cotangent of a value.
template <class V> using bar_of_type = typename gradient_type<V>::type;

/// Y: the result, or the bundle of it and the auxiliary ones. Places: 0, 1, ... of the operands.
template <class Op, class Y, class Places, class... X> class node;
template <class Op, class Y, std::size_t... K, class... X>
class node<Op, Y, std::index_sequence<K...>, X...> final : public node_base, public cell {
  static constexpr unsigned wanted = ((is_tracked<X> ? 1u << K : 0u) | ...);

 public:
  constexpr node(tape& t, const Op& op, const Y& y, const X&... x)
      : op_(op), y_(y), x_{{untracked(x)}...}, cells_{cell_of(x)...} {
    on = &t;
    // What the transpose does not read is kept without its elements; auxiliary results it reads.
    if constexpr (!Op::needs(-1, wanted)) {
      if constexpr (requires { Op::auxiliary; })
        item<0>(y_).forget_data();
      else
        y_.forget_data();
    }
    ((Op::needs(static_cast<int>(K), wanted) ? void() : item<K>(x_).forget_data()), ...);
    count_uses(cells_, sizeof...(X), 1);
  }
  constexpr ~node() {}
  constexpr void drop() override { drop_node(this); }

  constexpr void backward() override {
    if (this->filled) {
      const bar_of_type<main_type<Op, Y>> ybar(std::move(this->bar));
      const auto here = running::transpose(sink_of(core_of(ybar)), call_name<Op>());
      slots<sizeof...(X)> to;
      offer_slots(cells_, sizeof...(X), to.at);
      auto bars = op_.template transpose<is_tracked<X>...>(to, ybar, y_, item<K>(x_)...);
      (give<K, plain<X>>(bars), ...);
    }
    count_uses(cells_, sizeof...(X), -1);
  }

 private:
  template <std::size_t I, class V, class Bars> constexpr void give(Bars& bars) {
    if constexpr ((wanted >> I & 1u) != 0) {
      static_assert(
          std::is_same_v<item_type<I, Bars>, bar_of_type<V>>,
          "transpose: the cotangent's layout is not that of the operand; mend the operation");
      cells_[I]->add(std::move(core_of(item<I>(bars))));
    }
  }

  Op op_;
  Y y_;
  bundle_of<plain<X>...> x_;
  cell* cells_[sizeof...(X)];
};

/// Operations with a transpose give recorded results, if these are real numbers.
template <class Op, class Y>
inline constexpr bool is_recordable = [] {
  if constexpr (Tensor<Y> && requires { Op::needs(0, 0u); })
    return is_real<value_of<Y>>;
  else
    return false;
}();

/// The tape of the recorded operands, which must be one.
template <class Op, class... X> constexpr tape* tape_of(const X&... x) {
  static_assert(((tracked_depth<X> < 2) && ...),
                "apply: gradients of gradients do not pass through this operation; compose it of "
                "others, or use stop_gradient");
  tape* found = nullptr;
  const auto look = [&found](const auto& one) {
    if constexpr (is_tracked<std::remove_cvref_t<decltype(one)>>) {
      if (found != nullptr && found != one.tape()) refuse_tapes(call_name<Op>());
      found = one.tape();
    }
  };
  (look(x), ...);
  return found;
}

template <class Op, class... X> constexpr auto record(const Op& op, const X&... x) {
  auto all = apply_into(op, no_slots(), untracked(x)...);
  using Y = main_type<Op, decltype(all)>;
  if constexpr (is_recordable<Op, Y>) {
    tape* t = tape_of<Op>(x...);
    auto* n =
        t->template add<node<Op, decltype(all), std::make_index_sequence<sizeof...(X)>, X...>>(
            *t, op, all, x...);
    const auto recorded = [n](Y&& y) {
      core_of(y).record = n;
      return tracked_tensor<Y>(std::move(core_of(y)));
    };
    if constexpr (requires { Op::auxiliary; })
      return recorded(std::move(item<0>(all)));
    else
      return recorded(std::move(all));
  } else if constexpr (requires { Op::auxiliary; }) {
    return std::move(item<0>(all));
  } else {
    return all;
  }
}

}  // namespace detail
}  // namespace dimesh
