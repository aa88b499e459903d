// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What are the layers of a cell, or of a chain? Functions of weights and an input, one after the
// other, each with weights of its own.
//
//   in_turn(f, g)             g(weights[1], f(weights[0], x)); weights: a tuple
//   each_of(f)                f for each element of an array or vector of weights
//   taking<batch, hidden>(f)  a layer that says which dims it takes
//   struct skip {};           a name: what is carried past the layers in between, from cell to cell
//   in_turn(remember<skip>(down), middle, recall<skip>(up))
//     -> up(w, x, what `down` gave); layers between them know nothing of it
#pragma once

#include <string_view>

#include "dimesh/detail/name.hpp"
#include "dimesh/pipeline/carried.hpp"

namespace dimesh {

namespace detail::pipeline {

/// What layers give one of which is at fault, and that fault.
template <class Fault> struct layers_fail {};
template <class Y> struct fault_in {
  using type = no_fault;
};
template <class Fault> struct fault_in<layers_fail<Fault>> {
  using type = Fault;
};

template <class Before, class F, class W, class X> constexpr auto find_layer_fault();
/// Where names are in play.
template <class Before, class F, class W, class X> struct named_fault {
  using main = typename carried_parts<X>::main;
  using type = typename decltype(find_layer_fault<Before, F, W, main>())::type;
};
template <class Before, class... F, class W, class X>
struct named_fault<Before, functions_in_turn<F...>, W, X>
    : fault_in<typename cell_call<functions_in_turn<F...>, W, X>::type> {};
template <class Before, class F, class Name, class W, class X>
struct named_fault<Before, function_remembering<F, Name>, W, X> {
  using parts = carried_parts<X>;
  static constexpr bool there = carried_at<Name>(typename parts::names{}) >= 0;
  using called = typename decltype(find_layer_fault<Before, F, W, typename parts::main>())::type;
  using type = std::conditional_t<there, name_carried_already<Name>, called>;
};
template <class Before, class F, class Name, class W, class X>
struct named_fault<Before, function_recalling<F, Name>, W, X> {
  using parts = carried_parts<X>;
  using main = typename parts::main;
  template <class... P> static constexpr auto find(list<P...>) {
    constexpr int at = carried_at<Name>(list<P...>{});
    if constexpr (at < 0) {
      return tag<name_not_carried<Name>>{};
    } else {
      using kept = typename type_at<at, list<P...>>::second_type;
      constexpr bool plain = calls<const F&, const W&, const main&, const kept&>;
      if constexpr (plain || calls<const F&, const W&, const main&, const kept&, int>)
        return tag<no_fault>{};
      else
        return tag<cell_not_callable_with<F, main, kept>>{};
    }
  }
  using type = typename decltype(find(typename parts::names{}))::type;
};

/// A layer that says which dims it takes.
template <class F, class... D> struct function_taking {
  F f;
  template <class W, class X> constexpr auto operator()(const W& w, const X& x, int i = 0) const {
    return call_cell(f, w, x, i);
  }
};
template <class F, class... D> struct dims_taken<function_taking<F, D...>> {
  using type = list<D...>;
};
template <class F, class N> struct dims_taken<function_remembering<F, N>> : dims_taken<F> {};
template <class F, class N> struct dims_taken<function_recalling<F, N>> : dims_taken<F> {};
template <class F, class... D, class W, class X>
struct cell_call<function_taking<F, D...>, W, X> : cell_call<F, W, X> {};

/// A layer by its own name.
template <class F> struct named_layer {
  using type = F;
};
template <class F, class... D> struct named_layer<function_taking<F, D...>> : named_layer<F> {};
template <class F, class N> struct named_layer<function_remembering<F, N>> : named_layer<F> {};
template <class F, class N> struct named_layer<function_recalling<F, N>> : named_layer<F> {};
template <class F> struct named_layer<recomputed<F>> : named_layer<F> {};
template <class F, class P> struct named_layer<function_of_slices<F, P>> : named_layer<F> {};
template <class F> struct function_of_each;
/// Has F no name that a reader would know: a lambda?
template <class F> constexpr bool is_nameless() {
  constexpr std::string_view text = spelled<F>();
  return text.find("<lambda(") != text.npos || text.find("(lambda at") != text.npos;
}
/// The first and the last layer of a cell that is made of layers, by their own names; else the
/// cell's function, or void where it has no name.
template <class F> struct end_layers {
  using name = typename named_layer<F>::type;
  using first = std::conditional_t<is_nameless<name>(), void, name>;
  using last = first;
};
template <class F> struct end_layer {
  using first = typename named_layer<F>::type;
  using last = first;
};
template <class... F> struct end_layer<functions_in_turn<F...>> {
  using first = typename end_layer<type_at<0, list<F...>>>::first;
  using last = typename end_layer<type_at<sizeof...(F) - 1, list<F...>>>::last;
};
template <class F> struct end_layer<function_of_each<F>> : end_layer<F> {};
template <class... F>
struct end_layers<functions_in_turn<F...>> : end_layer<functions_in_turn<F...>> {};
template <class F> struct end_layers<function_of_each<F>> : end_layer<F> {};
template <class F, class... D> struct end_layers<function_taking<F, D...>> : end_layer<F> {};
template <class Dims> struct tensor_dims;
template <class... D> struct tensor_dims<list<D...>> {
  using type = tensor_of<D...>;
};
/// What goes on: the dims of a tensor; a tensor_of them for each of several.
template <class X> struct dims_given {
  template <class Leaves> struct each;
  template <class... T> struct each<list<T...>> {
    using type = list<typename tensor_dims<typename spec_of<T>::dims>::type...>;
  };
  using type = typename each<typename leaves<X>::type>::type;
};
template <Tensor X> struct dims_given<X> {
  using type = typename X::spec_type::dims;
};
/// The dims that a layer gives and those that the next one says.
template <class Before, class F, class Has, class Takes> struct dims_apart {
  using type = no_fault;
};
template <class Before, class F, class... H, class D, class... More>
  requires(!std::is_same_v<list<H...>, list<D, More...>>)
struct dims_apart<Before, F, list<H...>, list<D, More...>> {
  using type = layers_do_not_meet<layer_gives<typename named_layer<Before>::type, H...>,
                                  layer_takes<typename named_layer<F>::type, D, More...>>;
};
/// What is wrong between a layer that gives an X and the next one, F.
template <class Before, class F, class W, class X> constexpr auto find_layer_fault() {
  if constexpr (is_poison<X>) {
    return tag<no_fault>{};
  } else if constexpr (is_carrying<X> || is_naming<F>) {
    return tag<typename named_fault<Before, F, W, X>::type>{};
  } else if constexpr (std::is_same_v<typename cell_call<F, W, X>::type, not_called>) {
    return tag<cell_not_callable_with<F, X>>{};
  } else if constexpr (!ok<typename fault_in<typename cell_call<F, W, X>::type>::type>) {
    return tag<typename fault_in<typename cell_call<F, W, X>::type>::type>{};
  } else if constexpr (!std::is_same_v<typename leaves<X>::type, list<>>) {
    using has = typename dims_given<X>::type;
    return tag<typename dims_apart<Before, F, has, typename dims_taken<F>::type>::type>{};
  } else {
    return tag<no_fault>{};
  }
}
template <class Before, class F, class W, class X>
using layer_fault = typename decltype(find_layer_fault<Before, F, W, X>())::type;

template <class... F> struct functions_in_turn {
  bundle<F...> all;
  template <class W, class X>
  constexpr auto operator()(const W& weights, const X& x, int i = 0) const {
    using fault = typename fault_in<decltype(quietly(weights, x, i))>::type;
    static_assert(ok<only<fault, layers_do_not_meet>>,
                  "in_turn: a layer takes other dims than the layer before it gives; let the one "
                  "give what the other takes");
    static_assert(ok<only<fault, name_not_carried, name_carried_already>>,
                  "in_turn: a layer recalls a name that none remembers, or remembers one that is "
                  "carried on already; say remember<name>(f) of one layer, recall<name>(f) later");
    static_assert(ok<only<fault, cell_not_callable_with>>,
                  "in_turn: a layer cannot be called with its weights and what the layer before it "
                  "gives; take both as const auto&, and return a tensor");
    if constexpr (ok<fault>)
      return quietly(weights, x, i);
    else
      return poison{};
  }
  /// The same, or layers_fail.
  template <class W, class X> constexpr auto quietly(const W& weights, const X& x, int i) const {
    return call<0, void>(weights, x, i);
  }

 private:
  template <std::size_t I, class Before, class W, class X>
  constexpr auto call(const W& w, const X& x, int i) const {
    using one = item_type<I, bundle<F...>>;
    using fault = layer_fault<Before, one, std::remove_cvref_t<decltype(std::get<I>(w))>, X>;
    if constexpr (!ok<fault>) {
      return layers_fail<fault>{};
    } else {
      auto y = run_layer(item<I>(all), std::get<I>(w), x, i);
      if constexpr (I + 1 < sizeof...(F))
        return call<I + 1, one>(w, y, i);
      else
        return y;
    }
  }
};
/// Cells and layers that ask say themselves what is wrong.
template <class... F, class W, class X> struct cell_call<functions_in_turn<F...>, W, X> {
  using type = decltype(std::declval<const functions_in_turn<F...>&>().quietly(
      std::declval<const W&>(), std::declval<const X&>(), 0));
  static constexpr bool with_number = true;
};
/// The first of them may say which dims it takes.
template <class F, class... More>
struct dims_taken<functions_in_turn<F, More...>> : dims_taken<F> {};
template <class F> struct dims_taken<function_of_each<F>> : dims_taken<F> {};

template <class F> struct function_of_each {
  F f;
  template <class W, class X>
  constexpr auto operator()(const W& weights, const X& x, int micro = 0) const {
    using fault = layer_fault<F, F, std::remove_cvref_t<decltype(weights[0])>, X>;
    static_assert(ok<fault>,
                  "each_of: a layer cannot be called with its weights and what it is given; take "
                  "both as const auto&, and return a tensor");
    if constexpr (!ok<fault>) {
      return poison{};
    } else {
      if (std::size(weights) == 0)
        (words() << "pipeline: each_of got no weights; a cell has one layer at least").raise();
      auto y = call_cell(f, weights[0], x, micro);
      for (std::size_t i = 1; i < std::size(weights); ++i) y = call_cell(f, weights[i], y, micro);
      return y;
    }
  }
};
template <class F, class W, class X> struct cell_call<function_of_each<F>, W, X> {
  using fault = layer_fault<F, F, std::remove_cvref_t<decltype(std::declval<const W&>()[0])>, X>;
  static constexpr auto find() {
    if constexpr (!ok<fault>)
      return tag<layers_fail<fault>>{};
    else
      return tag<decltype(std::declval<const function_of_each<F>&>()(
          std::declval<const W&>(), std::declval<const X&>(), 0))>{};
  }
  using type = typename decltype(find())::type;
  static constexpr bool with_number = true;
};
}  // namespace detail::pipeline

/// The functions one after the other, each with its element of a tuple of weights.
template <class... F> constexpr auto in_turn(const F&... f) {
  return detail::pipeline::functions_in_turn<F...>{detail::bundle<F...>(f...)};
}
/// A layer that takes a tensor of these dims: where another is given, in a cell of layers or where
/// cells meet, the program does not compile.
template <Dim... D, class F>
  requires(sizeof...(D) > 0)
constexpr auto taking(const F& f) {
  return detail::pipeline::function_taking<F, D...>{f};
}
/// f with one element of an array or vector of weights after the other: layers of one form cost the
/// compiler one. f gives what it takes, but for the first, and for what is recorded.
template <class F> constexpr auto each_of(const F& f) {
  return detail::pipeline::function_of_each<F>{f};
}

/// A layer whose result goes on and is also carried on, under a name, to a layer that recalls it: a
/// skip connection, within a cell of in_turn or from one to a later one.
template <class Name, class F> constexpr auto remember(const F& f) {
  return detail::pipeline::function_remembering<F, Name>{f};
}
/// A layer f(weights, x, kept), or f(weights, x, kept, i): `kept` is what the layer gave that
/// remembers this name. It is not carried on any further.
template <class Name, class F> constexpr auto recall(const F& f) {
  return detail::pipeline::function_recalling<F, Name>{f};
}

}  // namespace dimesh
