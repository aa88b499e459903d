// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a stage of a pipeline made of? Of cells: functions of weights and of what the cell before
// gives, each at one coordinate of an axis. Weights live there by type.
//
//   cell<0>(f)                  f(weights, x), at coordinate 0; or f(weights, x, i), i the number
//                               of the micro-batch: keys of random numbers are made of it
//   cell<1, batch, hidden>(f)   the same, of a tensor with these dims: checked where cells meet
//   cell<1>(in_turn(f, g))      g(weights[1], f(weights[0], x)); weights: a tuple or a struct
//   cell<1>(each_of(f))         f for each element of an array or vector of weights
#pragma once

#include <iterator>

#include "dimesh/core/user_function.hpp"
#include "dimesh/detail/bundle.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

/// A function at coordinate K of the pipeline's axis. Dims, if any: those that it takes.
template <index_t K, class F, class... D> struct pipeline_cell {
  static constexpr index_t place = K;
  using takes = detail::list<D...>;
  F function;
};
template <index_t K, Dim... D, class F> constexpr pipeline_cell<K, F, D...> cell(const F& f) {
  return {f};
}

namespace detail::pipeline {
/// Functions of this library that hand the number on.
template <class F> inline constexpr bool hands_number_on = requires { F::hands_number_on; };
/// What f(w, x) is; or else f(w, x, i).
template <class F, class W, class X> constexpr auto find_cell_call() {
  if constexpr (hands_number_on<F>)
    return tag<list<decltype(ask<F>()(std::declval<const W&>(), std::declval<const X&>(), 0)),
                    std::true_type>>{};
  else if constexpr (std::is_same_v<decltype(ask<F>()(std::declval<const W&>(),
                                                      std::declval<const X&>())),
                                    not_called>)
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

template <class F, class W, class X>
constexpr auto call_cell(const F& f, const W& w, const X& x, int i) {
  if constexpr (cell_call<F, W, X>::with_number)
    return f(w, x, i);
  else
    return f(w, x);
}
template <class... F> struct functions_in_turn {
  bundle<F...> all;
  static constexpr bool hands_number_on = true;
  template <class W, class X>
  constexpr auto operator()(const W& weights, const X& x, int i = 0) const {
    return call<0>(weights, x, i);
  }

 private:
  template <std::size_t I, class W, class X>
  constexpr auto call(const W& w, const X& x, int i) const {
    auto y = call_cell(item<I>(all), std::get<I>(w), x, i);
    if constexpr (I + 1 < sizeof...(F))
      return call<I + 1>(w, y, i);
    else
      return y;
  }
};
template <class F> struct function_of_each {
  F f;
  static constexpr bool hands_number_on = true;
  template <class W, class X>
  constexpr auto operator()(const W& weights, const X& x, int micro = 0) const {
    if (std::size(weights) == 0)
      (words() << "pipeline: each_of got no weights; a cell has one layer at least").raise();
    auto y = call_cell(f, weights[0], x, micro);
    for (std::size_t i = 1; i < std::size(weights); ++i) y = call_cell(f, weights[i], y, micro);
    return y;
  }
};
}  // namespace detail::pipeline

/// The functions one after the other, each with its element of a tuple of weights.
template <class... F> constexpr auto in_turn(const F&... f) {
  return detail::pipeline::functions_in_turn<F...>{detail::bundle<F...>(f...)};
}
/// f with one element of an array or vector of weights after the other: layers of one form cost the
/// compiler one. f gives what it takes, but for the first, and for what is recorded.
template <class F> constexpr auto each_of(const F& f) {
  return detail::pipeline::function_of_each<F>{f};
}

}  // namespace dimesh
