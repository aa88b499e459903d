// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are parts taken of a dim that ranks split, put among others, reversed? As slice, pad and flip
// do where it is whole. The result is cut over the same axes, and an element travels if its new
// place is on another rank: one message for each pair of ranks that have something for one another.
//
//   slice_exchange<uneven<length>>(x[length/rows], 2, 9)     -> elements 2..8; length : dim<>
//   slice_exchange<batch, head>(x[batch/rows], 2)            head : dim<4> -> elements 2..5
//   pad_exchange<batch, longer>(x, 1)                        -> one zero before, others behind
//   flip_exchange<batch>(x)                                  -> in reverse order
//
// uneven<To>: blocks of ceil(n/p), as it is where the dim was cut so, or ragged. To move all
// elements by some places: shift.
#pragma once

#include "dimesh/op/merge.hpp"
#include "dimesh/op/parts/line_moves.hpp"
#include "dimesh/op/refusals/misuse_of_slice_exchange.hpp"
#include "dimesh/op/slice.hpp"

namespace dimesh {

namespace detail {

/// Elements of dim `from` in a dim `to` of so many elements, cut over the same axes; those that
/// come from nowhere are `around`.
template <class T> struct strided_exchange_op {
  strided moved;
  const dim_facts* from;
  const dim_facts* to;
  index_t extent;
  T around;
  std::string_view call;
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, to) ? extent : dynamic;
  }
  constexpr strided_map map(const tensor_core& y, const tensor_core& x) const {
    return strided_map(x, from, y, to, moved);
  }
  void fill(results y, operands x) const {
    if (moved.count < extent) fill_around(y[0], around);
    const int old = x[0].facts->place_of(from), now = y[0].facts->place_of(to);
    const lines_at<T> there(y[0], now, 1);
    const lines_at<const T> here[] = {lines_at<const T>(x[0], old, 1)};
    std::optional<line_moves> room;
    // Where the dim keeps its name, nothing but its place tells it from the others.
    const line_moves& moves = kept_moves<strided_map>(
        x[0], y[0],
        {old, moved.from, moved.from_step, moved.to, moved.to_step, moved.count, y[0].extent(now)},
        room, [&] {
          const strided_map m = map(y[0], x[0]);
          return line_moves(m, *x[0].grid, m.from.talk, there.of.across());
        });
    move_lines<T>(moves, here, there, std::string(call).c_str());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const strided_map m = map(y[0], x[0]);
    const index_t each = line_block(x[0], m.from.d, 1).across() * x[0].facts->element;
    count_lines(t, m, m.from.talk, x[0].sizes(), m.from.me(), each);
    t.compute(0, 2 * y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& back) const {
    const tensor_core& x = back.x(0);
    const index_t n = x.extent(x.facts->place_of(from));
    back.give(0, strided_exchange_op{moved.turned(), to, from, n, T{}, call}, back.ybar);
  }
};

/// The layout over `out` where what splits `from` splits `to`, in blocks that are even only where
/// they were and `uneven` does not say otherwise.
constexpr outcome cut_alike(const tensor_facts& x, const dim_facts* from, const dim_facts* to,
                            bool uneven, dim_list out) {
  table t = with_dim_called(x, from, to, out);
  const int d = out.place_of(to);
  t.uneven[d] = t.split_count(d) > 0 && (t.uneven[d] || t.ragged[d] || uneven);
  t.ragged[d] = false;
  return formed(t, out, x);
}
/// Rule of elements of dim From in a dim that is called To, which may be written uneven<To>.
template <class From, class To> struct strided_exchange_rule {
  using named = list<From, plain_dim<To>>;
  template <class First> struct dims : replaced_dims<From, plain_dim<To>, First> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    constexpr auto &from = facts_of_dim<From>, &to = facts_of_dim<plain_dim<To>>;
    if (x[0].place_of(&from) < 0) return blamed(fault_code::dim_not_in_tensor, &from);
    if (!std::is_same_v<From, plain_dim<To>> && x[0].place_of(&to) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &to);
    if (const dim_facts* const h = haloed_dim(x[0]); h != nullptr)
      return blamed(fault_code::dim_has_halo, h);
    return cut_alike(x[0], &from, &to, bare_dim<To>::uneven, out);
  }
};

template <class Fault> constexpr void assert_exchanged() {
  static_assert(ok<only<Fault, extent_is_static>>,
                "slice_exchange, pad_exchange, split_into_exchange: the dim's extent is part of "
                "its type; name the dim of the result: slice_exchange<dim, part>(x, begin)");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "slice_exchange, pad_exchange, flip_exchange, split_into_exchange: the tensor "
                "lacks this dim; name one of its own");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "slice_exchange, pad_exchange, split_into_exchange: the tensor has a dim of the "
                "new name already; choose another name");
  static_assert(ok<only_not_divisible<Fault>>,
                "slice_exchange, pad_exchange, split_into_exchange: the axes that split the dim do "
                "not divide the new extent; write the new dim as uneven<dim>");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "slice_exchange, pad_exchange, flip_exchange, split_into_exchange: the blocks "
                "carry halos; do it before halo_exchange");
  static_assert(ok<only<Fault, partial_meets_scalar>>,
                "pad_exchange: every rank would add the value to a sum yet to be made; complete it "
                "first, or pad with zeros");
}
template <class From, class To, class Rule = strided_exchange_rule<From, To>, class X>
constexpr auto exchange_strided(std::string_view call, const X& x, const strided& w, index_t extent,
                                value_of<X> around = {}) {
  if (w.from_step == 0)
    (words() << call << ": a step of 0 leads nowhere; give one that is not 0").raise();
  require_strided(call, w, name_of<From>(), x.template extent<From>());
  return apply_rule<Rule, value_of<X>>(
      strided_exchange_op<value_of<X>>{w, &facts_of_dim<From>, &facts_of_dim<plain_dim<To>>, extent,
                                       around, call},
      x);
}
template <class D> using open_exchange_rule = strided_exchange_rule<plain_dim<D>, D>;
template <class D, class X, class Rule = open_exchange_rule<D>>
using open_exchange_fault = open_dim_fault<plain_dim<D>, fault_of<Rule, X>>;

template <class D, class Rule, class X>
constexpr auto pad_exchanged(const X& x, index_t before, index_t behind, value_of<X> value) {
  if (before < 0 || behind < 0)
    throw error("pad_exchange: a number of elements is negative; slice_exchange takes some away");
  const index_t n = x.template extent<plain_dim<D>>();
  return exchange_strided<plain_dim<D>, D, Rule>("pad_exchange", x, {0, 1, before, 1, n},
                                                 before + n + behind, value);
}

}  // namespace detail

/// Elements begin, begin + step, ... of dim From, as many as To has; a negative step goes down. To
/// is static, or given with its extent, and may be written uneven<To>. Shapes: [.., From, ..] ->
/// [.., To, ..], cut over the same axes. The cotangent goes to where the elements stood. Throws
/// dimesh::error where From has no such elements, or the axes do not divide the extent.
template <Dim From, class To, Operand X>
  requires Dim<detail::plain_dim<To>>
constexpr auto slice_exchange(const X& x, index_t begin, index_t step,
                              const detail::plain_dim<To>& to) {
  using fault = detail::fault_of<detail::strided_exchange_rule<From, To>, X>;
  detail::assert_exchanged<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = detail::extent_given(to);
    return detail::exchange_strided<From, To>("slice_exchange", x, {begin, step, 0, 1, n}, n);
  }
}
template <Dim From, class To, Operand X>
  requires Dim<detail::plain_dim<To>>
constexpr auto slice_exchange(const X& x, index_t begin, const detail::plain_dim<To>& to = {}) {
  using fault = detail::fault_of<detail::strided_exchange_rule<From, To>, X>;
  detail::assert_exchanged<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return dimesh::slice_exchange<From, To>(x, begin, 1, to);
}
/// Elements begin, begin + step, ... before end (behind it, where step is negative) of dim D, whose
/// extent is given at run time, and which may be written uneven<D>. Shapes: D has fewer elements.
template <class D, Operand X>
  requires Dim<detail::plain_dim<D>>
constexpr auto slice_exchange(const X& x, index_t begin, index_t end, index_t step = 1) {
  using fault = detail::open_exchange_fault<D, X>;
  detail::assert_exchanged<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = step == 0 ? 0 : detail::steps_between(begin, end, step);
    return detail::exchange_strided<detail::plain_dim<D>, D>("slice_exchange", x,
                                                             {begin, step, 0, 1, n}, n);
  }
}

/// The elements of dim From with `before` zeros before them, and as many behind as To has room for.
/// Shapes: [.., From, ..] -> [.., To, ..], cut over the same axes. Throws dimesh::error where To is
/// too short, or the axes do not divide its extent.
template <Dim From, class To, Operand X>
  requires Dim<detail::plain_dim<To>>
constexpr auto pad_exchange(const X& x, index_t before, const detail::plain_dim<To>& to = {}) {
  using fault = detail::fault_of<detail::strided_exchange_rule<From, To>, X>;
  detail::assert_exchanged<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = x.template extent<From>(), room = detail::extent_given(to);
    if (before < 0 || before + n > room)
      (detail::words() << "pad_exchange: " << n << " elements of dim '" << detail::name_of<From>()
                       << "' behind " << before << " others do not fit in '"
                       << detail::name_of<detail::plain_dim<To>>() << "', which has " << room)
          .raise();
    return detail::exchange_strided<From, To>("pad_exchange", x, {0, 1, before, 1, n}, room);
  }
}
/// The elements of dim D, whose extent is given at run time, with `before` zeros before them and
/// `behind` after them.
template <class D, Operand X>
  requires Dim<detail::plain_dim<D>>
constexpr auto pad_exchange(const X& x, index_t before, index_t behind) {
  using fault = detail::open_exchange_fault<D, X>;
  detail::assert_exchanged<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::pad_exchanged<D, detail::open_exchange_rule<D>>(x, before, behind,
                                                                   value_of<X>{});
}
/// The same with others that are `value`. Throws dimesh::error for one that whole elements do not
/// hold.
template <class D, Operand X, class N>
  requires Dim<detail::plain_dim<D>> && std::is_convertible_v<N, double>
constexpr auto pad_exchange(const X& x, index_t before, index_t behind, N value) {
  using rule = detail::beside_number<detail::open_exchange_rule<D>>;
  using fault = detail::open_exchange_fault<D, X, rule>;
  detail::assert_exchanged<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::pad_exchanged<D, rule>(x, before, behind,
                                          detail::as_element<value_of<X>>("pad_exchange", value));
}

/// The elements of dim D in reverse order. Shapes and layout stay; of ragged D, blocks are uneven.
template <Dim D, Operand X> constexpr auto flip_exchange(const X& x) {
  using fault = detail::fault_of<detail::strided_exchange_rule<D, D>, X>;
  detail::assert_exchanged<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = x.template extent<D>();
    return detail::exchange_strided<D, D>("flip_exchange", x, {n - 1, -1, 0, 1, n}, n);
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using flip_exchange_call = call_taking<one_dim, 1, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::flip_exchange_call, detail::list<N...>, A...>
constexpr poison flip_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::flip_exchange_call, detail::list<N...>, A...>>,
                "flip_exchange: a dim stands in the angle brackets, a tensor in the parentheses: "
                "flip_exchange<token>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison flip_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "flip_exchange: a dim stands in the angle brackets, a tensor in the parentheses: "
                "flip_exchange<token>(x)");
  return {};
}

}  // namespace dimesh
