// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which layers does a plan of recomputation take back? Those of any sequence: of one form, of many,
// or one step again and again. They lose their types here, so that plans are carried out by code
// that is compiled once.
//
//   each_of(f)                        f with one element of an array or vector of weights a layer
//   in_turn(f, each_of(g), h)         as many layers as there are weights: 1 + size + 1
//   f                                 the same step and weights, as often as the plan says
//   typed_chain<F, W, X> c(f, weights, steps);      c.cells, one for each layer or step
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dimesh/pipeline/typed_cell.hpp"

namespace dimesh::detail::pipeline {

/// Layers that have an element of the weights each.
template <class F> inline constexpr bool is_sequence = false;
template <class F> inline constexpr bool is_sequence<function_of_each<F>> = true;
template <class... F> inline constexpr bool is_sequence<functions_in_turn<F...>> = true;
template <class F, class... D>
inline constexpr bool is_sequence<function_taking<F, D...>> = is_sequence<F>;

/// Layers without their types, and what they are made of.
class layer_chain {
 public:
  std::vector<cell_base*> cells = {};
  virtual ~layer_chain() = default;
};

/// A layer that hands on what is carried past it.
template <class F> struct one_layer {
  F f;
  template <class W, class X> constexpr auto operator()(const W& w, const X& x, int i = 0) const {
    return run_layer(f, w, x, i);
  }
};

/// In place of a layer that cannot be called: clang compiles the virtual functions of a cell where
/// its class is complete, and would say the mistake once more.
struct no_cell {
  using plain_given = poison;
};
/// One layer, from an X.
template <class F, class W, class X> class chain_part {
 public:
  using fault = typename first_of<typename unmade_fault<X>::type, layer_fault<void, F, W, X>>::type;

 private:
  using cell_type =
      std::conditional_t<!ok<fault>, no_cell,
                         typed_cell<0, one_layer<F>, W, X, true, false, nothing_more>>;

 public:
  static constexpr bool repeats = true;
  using given = typename cell_type::plain_given;
  chain_part(const F& f, const W& w) : layer_{f}, cell_(layer_, w, nothing) {}
  chain_part(const chain_part&) = delete;
  void list(std::vector<cell_base*>& all) { all.push_back(&cell_); }

 private:
  static constexpr nothing_more nothing{};
  one_layer<F> layer_;
  cell_type cell_;
};
template <class F, class... D, class W, class X>
class chain_part<function_taking<F, D...>, W, X> : public chain_part<F, W, X> {
 public:
  chain_part(const function_taking<F, D...>& f, const W& w) : chain_part<F, W, X>(f.f, w) {}
};
/// Layers of one form, each of which gives what it takes.
template <class F, class W, class X> class chain_part<function_of_each<F>, W, X> {
  using element = std::remove_cvref_t<decltype(std::declval<const W&>()[0])>;
  using one = chain_part<F, element, X>;

 public:
  using fault = typename one::fault;
  /// Layers of one form take what they give.
  static constexpr bool repeats = std::is_same_v<typename one::given, X>;
  using given = X;
  chain_part(const function_of_each<F>& f, const W& weights) {
    for (const element& w : weights) parts_.push_back(std::make_unique<one>(f.f, w));
  }
  void list(std::vector<cell_base*>& all) {
    for (const auto& part : parts_) part->list(all);
  }

 private:
  std::vector<std::unique_ptr<one>> parts_;
};
/// Layers of many forms: number I and those after it.
template <class X, class W, std::size_t I, class... F> class chain_parts {
 public:
  using fault = no_fault;
  static constexpr bool repeats = true;
  using given = X;
  template <class All> chain_parts(const All&, const W&) {}
  void list(std::vector<cell_base*>&) {}
};
template <class X, class W, std::size_t I, class F, class... More>
class chain_parts<X, W, I, F, More...> {
  using one = chain_part<F, std::remove_cvref_t<std::tuple_element_t<I, W>>, X>;
  using rest = chain_parts<typename one::given, W, I + 1, More...>;

 public:
  using fault = typename std::conditional_t<ok<typename one::fault>, rest, one>::fault;
  static constexpr bool repeats = one::repeats && rest::repeats;
  using given = typename rest::given;
  template <class All>
  chain_parts(const All& all, const W& w) : one_(item<I>(all), std::get<I>(w)), rest_(all, w) {}
  void list(std::vector<cell_base*>& all) {
    one_.list(all);
    rest_.list(all);
  }

 private:
  one one_;
  rest rest_;
};
template <class... F, class W, class X>
class chain_part<functions_in_turn<F...>, W, X> : public chain_parts<X, W, 0, F...> {
  using base = chain_parts<X, W, 0, F...>;

 public:
  chain_part(const functions_in_turn<F...>& f, const W& w) : base(f.all, w) {}
};

/// What is wrong with layers, but for parts of states that are no tensors.
template <class Fault>
using layers_fault = std::conditional_t<ok<only<Fault, not_a_tensor>>, Fault, no_fault>;

/// The layers of F from an X, weights and functions kept here; or F as often as there are steps.
template <class F, class W, class X> class typed_chain final : public layer_chain {
  using part = chain_part<F, W, X>;

 public:
  using given = typename part::given;
  using fault = typename first_of<typename part::fault, typename unmade_fault<given>::type>::type;
  /// What is taken again is given.
  static constexpr bool repeats = part::repeats && (is_sequence<F> || std::is_same_v<given, X>);

  typed_chain(const F& f, const W& w, int steps) : f_(f), w_(w), part_(f_, w_) {
    part_.list(cells);
    if constexpr (!is_sequence<F>) cells.resize(static_cast<std::size_t>(steps), cells[0]);
  }

 private:
  F f_;
  W w_;
  part part_;
};

/// The sums of the cells' weights, in the form of the weights; they begin anew.
template <class W> auto gradient_of(const W& weights, std::span<cell_base* const> cells) {
  auto g = in_form_of<rebind_layout<W, dimesh::gradient>>(weights);
  const core_list<W> all(g);
  int at = 0;
  const cell_base* before = nullptr;
  for (cell_base* c : cells) {
    if (std::exchange(before, c) == c) continue;  // the same step again
    for (std::size_t n = 0; n < c->weights.size(); ++n, ++at) {
      tensor_core& to = *all.at[at];
      const tensor_facts* const facts = to.facts;
      if (c->sums[n].defined())
        to = std::exchange(c->sums[n], tensor_core{});
      else
        to.place_like(c->weights[n]);
      to.facts = facts;
    }
  }
  return g;
}

}  // namespace dimesh::detail::pipeline
