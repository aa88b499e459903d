// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program run backwards? Every operation on a recorded tensor leaves a node: its
// operands (as far as the transpose reads them) and where their cotangents go. The tape is a list
// of such nodes, statically typed inside, walked from the last to the first. It also runs while
// compiling, on shapes.
//
//   tracked_tensor<basic_tensor<float, L, D...>>  x;   // x.value() is the tensor
//   x * y  -> a tracked_tensor, and a node whose transpose feeds the cells of x and y
#pragma once

#include "dimesh/grad/arena.hpp"
#include "dimesh/grad/cell.hpp"

namespace dimesh {

namespace detail {

struct node_base {
  node_base* before = nullptr;
  constexpr virtual void backward() = 0;
  constexpr virtual void
  drop() = 0;  // in place of a virtual destructor, of which there would be two

 protected:
  constexpr ~node_base() = default;
};

/// Ends the life of a node that a tape made.
template <class Node> [[gnu::always_inline]] constexpr void drop_node(Node* n) {
  if (std::is_constant_evaluated())
    delete n;
  else
    n->~Node();
}

/// The node of a variable: only gathers its cotangent.
template <class V> struct variable_node final : node_base, cell<V> {
  constexpr variable_node() = default;
  constexpr ~variable_node() {}  // written out: g++ 12 does not find an implicit one in time
  constexpr void backward() override {}
  constexpr void drop() override { drop_node(this); }
};

/// Is told when a tape has run one of its nodes backwards: grad/overlap.hpp.
struct backward_listener {
  constexpr virtual void after_node() = 0;

 protected:
  constexpr ~backward_listener() = default;
};

class tape {
 public:
  backward_listener* listener = nullptr;

  constexpr tape() {
    if (!std::is_constant_evaluated()) start_ = arena::here().mark();
  }
  tape(const tape&) = delete;
  tape& operator=(const tape&) = delete;
  constexpr ~tape() {
    while (last_ != nullptr) drop_last();
    if (!std::is_constant_evaluated()) arena::here().back_to(start_);
  }

  template <class Node, class... A> constexpr Node* add(const A&... a) {
    Node* n = nullptr;
    if (std::is_constant_evaluated())
      n = new Node(a...);
    else
      n = ::new (arena::here().take(sizeof(Node))) Node(a...);
    n->before = last_;
    last_ = n;
    return n;
  }
  constexpr node_base* last() const { return last_; }

  /// Runs the nodes after `until` backwards; each gives up what it holds when it is done.
  constexpr void backward(const node_base* until) {
    while (last_ != until) {
      last_->backward();
      drop_last();
      if (listener != nullptr) listener->after_node();
    }
  }

 private:
  constexpr void drop_last() {
    node_base* n = last_;
    last_ = n->before;
    n->drop();
  }
  node_base* last_ = nullptr;
  arena::place start_{};
};

}  // namespace detail

/// A tensor whose uses are recorded. Value is the tensor type that operations really run on.
template <class Value> class tracked_tensor : public detail::any_tensor {
 public:
  using spec_type = typename Value::spec_type;
  using value_type = typename Value::value_type;
  using mesh_type = typename Value::mesh_type;
  using layout_type = typename Value::layout_type;
  using shape_type = typename Value::shape_type;
  static constexpr int rank = Value::rank;

  constexpr tracked_tensor() = default;
  constexpr tracked_tensor(const Value& v, detail::cell<Value>* c, detail::tape* t)
      : cell_(c), tape_(t), value_(v) {}
  constexpr tracked_tensor(Value&& v, detail::cell<Value>* c, detail::tape* t)
      : cell_(c), tape_(t), value_(std::move(v)) {}

  /// Records uses of v from now on.
  constexpr void set(const Value& v, detail::cell<Value>* c, detail::tape* t) {
    value_ = v;
    cell_ = c;
    tape_ = t;
  }

  constexpr const Value& value() const { return value_; }
  /// Gives up the elements; its uses are recorded as before.
  constexpr void forget_data() { value_.forget_data(); }
  constexpr detail::cell<Value>* cell() const { return cell_; }
  constexpr detail::tape* tape() const { return tape_; }

  constexpr const shape_type& shape() const { return value_.shape(); }
  template <Dim D> constexpr index_t extent() const { return value_.template extent<D>(); }
  template <Dim D> constexpr index_t local() const { return value_.template local<D>(); }
  const auto& grid() const { return value_.grid(); }

 private:
  detail::cell<Value>* cell_ = nullptr;  // first: two any_tensors cannot share an address
  detail::tape* tape_ = nullptr;
  Value value_{};
};

namespace detail {

template <class X> struct plain_type {
  using type = X;
};
template <class V> struct plain_type<tracked_tensor<V>> {
  using type = V;
};
/// What an operation really runs on.
template <class X> using plain = typename plain_type<X>::type;

template <class X> constexpr auto cell_of(const X& x) {
  if constexpr (is_tracked<X>)
    return x.cell();
  else
    return nullptr;
}

/// Another node will add to this cell, or (-1) has done so.
constexpr void count_use(std::nullptr_t, int) {}
constexpr void count_use(cell_base* c, int change) { c->uses += change; }
constexpr void count_uses(cell_base* const* cells, std::size_t n, int change) {
  for (std::size_t k = 0; k < n; ++k)
    if (cells[k] != nullptr) cells[k]->uses += change;
}
/// Memory that the cells of wanted operands offer. One function for all nodes.
[[gnu::noinline]] constexpr void offer_slots(cell_base* const* cells, std::size_t n, storage* to) {
  for (std::size_t k = 0; k < n; ++k)
    if (cells[k] != nullptr) to[k] = cells[k]->offer();
}

/// Y: the result, or the bundle of it and the auxiliary ones. Places: 0, 1, ... of the operands.
template <class Op, class Y, class Places, class... X> class node;
template <class Op, class Y, std::size_t... K, class... X>
class node<Op, Y, std::index_sequence<K...>, X...> final : public node_base,
                                                           public cell<main_type<Op, Y>> {
  static constexpr unsigned wanted = ((is_tracked<X> ? 1u << K : 0u) | ...);

 public:
  constexpr node(const Op& op, const Y& y, const X&... x)
      : op_(op), y_(y), x_{{untracked(x)}...}, cells_{cell_of(x)...} {
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
      const auto ybar = std::move(this->bar);
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
          std::is_same_v<item_type<I, Bars>, typename cell<V>::bar_type>,
          "transpose: the cotangent's layout is not that of the operand; mend the operation");
      static_cast<cell<V>*>(cells_[I])->add(std::move(item<I>(bars)));
    }
  }

  Op op_;
  Y y_;
  bundle_of<plain<X>...> x_;
  cell_base* cells_[sizeof...(X)];
};

/// Operations with a transpose give recorded results, if these are real numbers.
template <class Op, class Y>
inline constexpr bool is_recordable = [] {
  if constexpr (Tensor<Y> && requires { Op::needs(0, 0u); })
    return is_real<value_of<Y>>;
  else
    return false;
}();

template <class X, class... Rest> constexpr tape* tape_of(const X& x, const Rest&... rest) {
  if constexpr (is_tracked<X>)
    return x.tape();
  else
    return tape_of(rest...);
}

template <class Op, class... X> constexpr auto record(const Op& op, const X&... x) {
  auto all = apply_into(op, no_slots(), untracked(x)...);
  using Y = main_type<Op, decltype(all)>;
  if constexpr (is_recordable<Op, Y>) {
    tape* t = tape_of(x...);
    auto* n =
        t->template add<node<Op, decltype(all), std::make_index_sequence<sizeof...(X)>, X...>>(
            op, all, x...);
    if constexpr (requires { Op::auxiliary; })
      return tracked_tensor<Y>(std::move(item<0>(all)), n, t);
    else
      return tracked_tensor<Y>(std::move(all), n, t);
  } else if constexpr (requires { Op::auxiliary; }) {
    return std::move(item<0>(all));
  } else {
    return all;
  }
}

}  // namespace detail
}  // namespace dimesh
