// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a function get a gradient of one's own? Beside it stands another that gives the
// cotangents of its operands: where the derivative is known to be simpler than what is recorded, or
// is to be another one (a step that passes gradients on, a clipped cotangent).
//
//   const auto rounded = with_transpose(
//       [](const auto& x) { return map(nearest{}, x); },
//       [](const auto& ybar, const auto& y, const auto& x) { return ybar; });
//   rounded(x)   -> like x; its cotangent passes as if nothing had been rounded
//
// Both are functions of whole tensors, written with this library, and communicate as they say. An
// operation with kernels of its own is op/operation.hpp's matter.
#pragma once

#include <tuple>

#include "dimesh/core/match_value.hpp"
#include "dimesh/op/parts/apply.hpp"

namespace dimesh {

namespace detail {

struct with_transpose_op {};  // its name in messages

/// What a transpose gives: a tuple of all cotangents, or the one.
template <class B> inline constexpr bool is_tuple = false;
template <class... E> inline constexpr bool is_tuple<std::tuple<E...>> = true;
template <class Bars> struct given_bars {
  using type = std::tuple<Bars>;
};
template <class... E> struct given_bars<std::tuple<E...>> {
  using type = std::tuple<E...>;
};
template <std::size_t K, class B> constexpr auto& bar_at(B& bars) {
  if constexpr (is_tuple<std::remove_const_t<B>>)
    return std::get<K>(bars);
  else
    return bars;
}

/// The first cotangent of a recorded operand that has not the type of its gradient.
template <class Bars, class Xs> struct transpose_fault {
  using type = no_fault;
};
template <class B, class... Bs, class X, class... Xs>
struct transpose_fault<std::tuple<B, Bs...>, list<X, Xs...>> {
  static constexpr auto find() {
    using rest = transpose_fault<std::tuple<Bs...>, list<Xs...>>;
    if constexpr (!is_tracked<X>) {
      return tag<typename rest::type>{};
    } else {
      using wanted = bar_of_type<plain<X>>;
      if constexpr (std::is_same_v<B, wanted>)
        return tag<typename rest::type>{};
      else if constexpr (std::is_same_v<value_of<B>, value_of<wanted>>)
        return tag<layouts_differ<typename B::layout_type, typename wanted::layout_type>>{};
      else
        return tag<elements_differ<value_of<B>, value_of<wanted>>>{};
    }
  }
  using type = typename decltype(find())::type;
};
/// As many as there are operands, and tensors where an operand is recorded.
template <class Bars, class Xs> inline constexpr bool are_cotangents = false;
template <class... B, class... X>
  requires(sizeof...(B) == sizeof...(X))
inline constexpr bool are_cotangents<std::tuple<B...>, list<X...>> =
    ((!is_tracked<X> || Tensor<B>) && ...);

/// Where the cotangent of an operand goes; null where it is not recorded.
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
/// The tape of the recorded operands, which must be one.
template <class Op, class... X> constexpr tape* tape_of(const X&... x) {
  tape* found = nullptr;
  for (cell* c : {cell_of(x)...}) {
    if (c == nullptr) continue;
    if (found != nullptr && found != c->on) refuse_tapes(call_name<Op>);
    found = c->on;
  }
  return found;
}

template <class T, class Y, class Places, class... X> class transposed_node;
/// The node of such a function: its result, its operands, and the other function.
template <class T, class Y, std::size_t... K, class... X>
class transposed_node<T, Y, std::index_sequence<K...>, X...> final : public node_base, public cell {
 public:
  constexpr transposed_node(tape& t, const T& transpose, const Y& y, const X&... x)
      : transpose_(transpose), y_(y), x_{{untracked(x)}...}, cells_{cell_of(x)...} {
    on = &t;
    count_uses(cells_, sizeof...(X), 1);
    for (const cell* c : cells_)
      if (c != nullptr && c->to_input) this->to_input = leads_to_input = true;
    for (cell* c : cells_)
      if (c != nullptr && !leads_to_input) c->put_off = true;
  }
  constexpr ~transposed_node() {}
  constexpr void drop() override { drop_node(this); }

  constexpr void backward() override {
    // One function gives all: it runs in the first part of a way back in two.
    if (leads_to_input && on->way == way_back::to_the_rest) return;
    if (this->filled) {
      const auto here = running::transpose(sink_of(this->bar), "with_transpose");
      const bar_of_type<Y> ybar(std::move(this->bar));
      const auto bars =
          transpose_(ybar, static_cast<const Y&>(y_), static_cast<const plain<X>&>(item<K>(x_))...);
      (give<K, X>(bars), ...);
    }
    count_uses(cells_, sizeof...(X), -1);
  }

 private:
  template <std::size_t I, class Operand, class Bars> constexpr void give(const Bars& bars) {
    if constexpr (is_tracked<Operand>) {
      if (cells_[I] == nullptr) return;
      const auto& xbar = bar_at<I>(bars);
      match_value({"with_transpose", "a cotangent that the transpose gives", "its operand"},
                  core_of(xbar), core_of(item<I>(x_)));
      cells_[I]->add(xbar);
    }
  }

  T transpose_;
  Y y_;
  bundle_of<plain<X>...> x_;
  cell* cells_[sizeof...(X)];
};

/// What happens where f, with this transpose, is called with X..., of which some are recorded.
template <class F, class T, class... X> struct transposed_call {
  static constexpr auto value() {
    if constexpr ((is_poison<X> || ...))
      return tag<poison>{};
    else
      return tag<decltype(std::declval<const F&>()(std::declval<const plain<X>&>()...))>{};
  }
  using Y = typename decltype(value())::type;
  static constexpr bool runs_plainly = !is_poison<Y> && !(is_tracked<X> || ...);
  static constexpr bool is_alone = is_poison<Y> || runs_plainly || (Tensor<Y> && !is_tracked<Y>);
  static constexpr bool is_recorded = is_alone && !is_poison<Y> && !runs_plainly;

  static constexpr auto cotangents() {
    if constexpr (is_recorded)
      return tag<typename given_bars<std::remove_cvref_t<decltype(std::declval<const T&>()(
          std::declval<const bar_of_type<Y>&>(), std::declval<const Y&>(),
          std::declval<const plain<X>&>()...))>>::type>{};
    else
      return tag<void>{};
  }
  using given = typename decltype(cotangents())::type;
  static constexpr bool is_complete = !is_recorded || are_cotangents<given, list<X...>>;
  using fault = typename std::conditional_t<is_complete, transpose_fault<given, list<X...>>,
                                            tag<no_fault>>::type;
  static constexpr bool is_nested = ((tracked_depth<X> > 1) || ...);
  static constexpr bool is_right = is_recorded && is_complete && ok<fault> && !is_nested;
};

template <class F, class T> class transposed_by {
 public:
  constexpr transposed_by(const F& f, const T& transpose) : f_(f), transpose_(transpose) {}

  template <Operand... X>
    requires(sizeof...(X) > 0)
  constexpr auto operator()(const X&... x) const {
    using call = transposed_call<F, T, X...>;
    using fault = typename call::fault;
    static_assert(call::is_alone,
                  "with_transpose: the function must give one tensor, of its arguments alone: a "
                  "recorded tensor that it uses is to be passed");
    static_assert(call::is_complete,
                  "with_transpose: the transpose must give the cotangents of all operands: a tuple "
                  "of tensors, or the tensor where there is one");
    static_assert(ok<only<fault, layouts_differ>>,
                  "with_transpose: a cotangent that the transpose gives has not the layout of its "
                  "operand's gradient; relayout it");
    static_assert(
        ok<only<fault, elements_differ>>,
        "with_transpose: a cotangent that the transpose gives has other elements than its "
        "operand; cast it");
    static_assert(
        !call::is_nested,
        "with_transpose: gradients of gradients do not pass through this function; compose "
        "it of others, or use stop_gradient");
    if constexpr (call::runs_plainly)
      return f_(x...);
    else if constexpr (!call::is_right)
      return poison{};
    else
      return run<typename call::Y>(x...);
  }

 private:
  template <class Y, class... X> constexpr auto run(const X&... x) const {
    using node = transposed_node<T, Y, std::index_sequence_for<X...>, X...>;
    tape* const t = tape_of<with_transpose_op>(x...);
    Y y = f_(untracked(x)...);
    tracked_tensor<Y> recorded(core_of(y));
    if (t != nullptr) core_of(recorded).record = t->template add<node>(*t, transpose_, y, x...);
    return recorded;
  }

  F f_;
  T transpose_;
};

}  // namespace detail

/// A function that gives f(x...), and whose cotangents transpose(ybar, y, x...) gives: of one
/// operand as a tensor, of several as a tuple, each of the type of the operand's gradient (a tensor
/// in layout cotangent<L>: partial where the operand is replicated); what stands for an operand
/// that is not recorded is not looked at. A cotangent of other extents than its operand is a
/// dimesh::error on the way back. x: tensors, unrecorded in both functions, which may be
/// generic and run on shapes as well. ybar may note that it is held whole, to be counted once: what
/// is computed from it by this library's operations is right either way. Communicates what f
/// does, and on the way back what transpose does. No gradients of gradients.
template <class F, class T> constexpr auto with_transpose(const F& f, const T& transpose) {
  return detail::transposed_by<F, T>(f, transpose);
}

}  // namespace dimesh
