// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a stage of a pipeline made of? Of cells: functions of weights and of what the cell before
// gives, each at one coordinate of an axis. Weights live there by type.
//
//   cell<0>(f)                  f(weights, x), at coordinate 0; or f(weights, x, i), i the number
//                               of the micro-batch: keys of random numbers are made of it. An int
//                               with a default gets it, too
//   cell<1, batch, hidden>(f)   the same, of a tensor with these dims: checked where cells meet
//   cell<1>(in_turn(f, g))      several layers (layers.hpp)
//   cell<1>(carrying(f, past))  of slices of a sequence (slices.hpp): f(weights, x, p) or (weights,
//                               x, p, i) gives a pair, what goes on and what the next slice gets as
//                               p, of the type of past(i), which the first slice, i, gets
#pragma once

#include <iterator>
#include <tuple>
#include <utility>

#include "dimesh/core/user_function.hpp"
#include "dimesh/detail/bundle.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

namespace detail {
template <class F> class recomputed;  // grad/recompute.hpp
}  // namespace detail

namespace detail::pipeline {
/// The dims that a function says it takes; none: any.
template <class F> struct dims_taken {
  using type = list<>;
};
}  // namespace detail::pipeline

/// A function at coordinate K of the pipeline's axis. Dims, if any: those that it takes.
template <index_t K, class F, class... D> struct pipeline_cell {
  static constexpr index_t place = K;
  using takes = typename std::conditional_t<sizeof...(D) == 0, detail::pipeline::dims_taken<F>,
                                            detail::tag<detail::list<D...>>>::type;
  F function;
};
template <index_t K, Dim... D, class F> constexpr pipeline_cell<K, F, D...> cell(const F& f) {
  return {f};
}

namespace detail::pipeline {
/// Is f(a..., i) called, i the number of a micro-batch? Where f has no other call, and where it has
/// an int with a default there. (In braces an int is no double, no bool and none of `auto...`.)
template <class F, class... A> constexpr bool wants_number() {
  if constexpr (std::is_same_v<decltype(ask<F>()(std::declval<const A&>()...)), not_called>)
    return true;
  else
    return requires(const F& f, const A&... a, int i) {
      f(a..., {i});
      f(a..., i);
    };
}
/// What f(w, x) is; or else f(w, x, i).
template <class F, class W, class X> constexpr auto find_cell_call() {
  if constexpr (wants_number<F, W, X>())
    return tag<list<decltype(ask<F>()(std::declval<const W&>(), std::declval<const X&>(), 0)),
                    std::true_type>>{};
  else
    return tag<list<decltype(ask<F>()(std::declval<const W&>(), std::declval<const X&>())),
                    std::false_type>>{};
}
template <class List> struct cell_call_of;
template <class Y, class Number> struct cell_call_of<list<Y, Number>> {
  using type = Y;
  static constexpr bool with_number = Number::value;
};
template <class F, class W, class X>
struct cell_call : cell_call_of<typename decltype(find_cell_call<F, W, X>())::type> {};
/// A recomputed function takes the number if the function does; it would take anything.
template <class F, class W, class X> struct cell_call<recomputed<F>, W, X> {
  static constexpr bool with_number = cell_call<F, W, X>::with_number;
  static constexpr auto find() {
    if constexpr (std::is_same_v<typename cell_call<F, W, X>::type, not_called>)
      return tag<not_called>{};
    else if constexpr (with_number)
      return tag<decltype(std::declval<const recomputed<F>&>()(std::declval<const W&>(),
                                                               std::declval<const X&>(), 0))>{};
    else
      return tag<decltype(std::declval<const recomputed<F>&>()(std::declval<const W&>(),
                                                               std::declval<const X&>()))>{};
  }
  using type = typename decltype(find())::type;
};

template <class F, class W, class X>
constexpr auto call_cell(const F& f, const W& w, const X& x, int i) {
  if constexpr (cell_call<F, W, X>::with_number)
    return f(w, x, i);
  else
    return f(w, x);
}
/// A function of a slice, of what the slice before it has handed on, and of weights.
template <class F, class Past> struct function_of_slices {
  F f;
  Past past;
};
/// What f(w, x, past) is; or else f(w, x, past, i).
template <class F, class W, class X, class P> constexpr auto find_slice_call() {
  if constexpr (wants_number<F, W, X, P>())
    return tag<list<decltype(ask<F>()(std::declval<const W&>(), std::declval<const X&>(),
                                      std::declval<const P&>(), 0)),
                    std::true_type>>{};
  else
    return tag<list<decltype(ask<F>()(std::declval<const W&>(), std::declval<const X&>(),
                                      std::declval<const P&>())),
                    std::false_type>>{};
}
/// What a cell gives and what it hands on to the next slice: nothing, as a rule.
template <class F> struct slices_of_cell {
  using past = std::tuple<>;
  template <class W, class X, class P> struct call : cell_call<F, W, X> {
    using given = typename cell_call<F, W, X>::type;
    using handed_on = std::tuple<>;
  };
  template <class W, class X, class P>
  static constexpr auto run(const F& f, const W& w, const X& x, const P& p, int i) {
    return std::pair(call_cell(f, w, x, i), p);
  }
  static past first(const F&, int) { return {}; }
};
template <class F, class Past> struct slices_of_cell<function_of_slices<F, Past>> {
  using past = std::remove_cvref_t<decltype(std::declval<const Past&>()(0))>;
  template <class Y> struct parts {
    using given = not_called;
    using handed_on = not_called;
  };
  template <class Y, class P> struct parts<std::pair<Y, P>> {
    using given = Y;
    using handed_on = P;
  };
  template <class W, class X, class P>
  using found = cell_call_of<typename decltype(find_slice_call<F, W, X, P>())::type>;
  template <class W, class X, class P>
  struct call : parts<std::remove_cvref_t<typename found<W, X, P>::type>> {};
  template <class W, class X, class P>
  static constexpr auto run(const function_of_slices<F, Past>& s, const W& w, const X& x,
                            const P& p, int i) {
    if constexpr (found<W, X, P>::with_number)
      return s.f(w, x, p, i);
    else
      return s.f(w, x, p);
  }
  static past first(const function_of_slices<F, Past>& s, int i) { return s.past(i); }
};
}  // namespace detail::pipeline

/// A cell of slices: what f hands on goes to the next slice of the sequence at this stage, on the
/// same rank, and its cotangent comes back from there.
template <class F, class Past> constexpr auto carrying(const F& f, const Past& past) {
  return detail::pipeline::function_of_slices<F, Past>{f, past};
}

}  // namespace dimesh
