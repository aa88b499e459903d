// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a deep model fit into memory? Of a recomputed block only the inputs are kept; when the
// backward pass arrives, the block runs again on a tape of its own (Chen et al. 2016, "Training
// deep nets with sublinear memory cost"). Its collectives run again as well.
//
//   constexpr auto block = [](const auto& layer, const auto& x) { return x + f(layer, x); };
//   for (const auto& layer : p.layers) x = recompute(block)(layer, x);
//     -> the same values and the same bits of every gradient (but see docs/decisions/0016 for what
//        is computed, outside, of sums that the block completes)
#pragma once

#include "dimesh/core/pullback.hpp"
#include "dimesh/core/runs_again.hpp"
#include "dimesh/core/tracked.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

namespace detail {

// ---- the arguments without their records: network<tracked<L>> -> network<L> ---------------------

/// For map_leaves.
struct without_records {
  template <class X> struct leaf {
    using type = X;
  };
  template <class V> struct leaf<tracked_tensor<V>> {
    using type = V;
  };
  template <class L> struct layout {
    using type = L;
  };
  template <class L> struct layout<tracked<L>> {
    using type = L;
  };
};

/// A tensor, or something with tensors in it: what else is passed is passed on as it is.
template <class X> inline constexpr bool holds_tensors = Tensor<X> || is_walkable<X>;

template <class X> constexpr bool find_recorded() {
  if constexpr (holds_tensors<X>)
    return holds_recorded<typename leaves<X>::type>;
  else
    return false;
}
template <class X> inline constexpr bool is_recorded = find_recorded<X>();

template <class X> constexpr bool find_nested() {
  if constexpr (is_recorded<X>)
    return any_nested<typename leaves<X>::type>;
  else
    return false;
}

template <class X> constexpr decltype(auto) unrecorded(const X& x) {
  if constexpr (!is_recorded<X>) {
    return (x);
  } else if constexpr (Tensor<X>) {
    return (x.value());
  } else {
    auto plain = in_place_of<map_leaves<X, without_records>>(x);
    for_each_tensor([](const auto&, const auto& t, auto& p) { p = untracked(t); }, x, plain);
    return plain;
  }
}

/// Calls f(t) for each recorded tensor in x (but for those that nothing recorded went into).
template <class F, class X> constexpr void for_each_recorded(const F& f, X& x) {
  if constexpr (is_recorded<std::remove_const_t<X>>)
    for_each_tensor(
        [&f](const auto&, auto& t) {
          if constexpr (is_tracked<std::remove_cvref_t<decltype(t)>>)
            if (t.cell() != nullptr) f(t);
        },
        x);
}

/// The tape of the recorded tensors, which must be one.
template <class... X> constexpr tape* tape_among(const X&... x) {
  tape* found = nullptr;
  const auto look = [&found](const auto& t) {
    if (found != nullptr && found != t.tape()) refuse_tapes("recompute");
    found = t.tape();
  };
  (for_each_recorded(look, x), ...);
  return found;
}

/// From now on, operations on the recorded tensors in x go to another tape; what is added to their
/// cells goes the same way.
template <class X> constexpr void move_to(tape* t, const X& x) {
  for_each_recorded([t](const auto& one) { one.cell()->on = t; }, x);
}

/// Calls f at the end of a scope, also when an exception passes.
template <class F> struct at_end {
  const F& f;
  constexpr ~at_end() { f(); }
};

/// The node of a block: its function, its inputs, and its results without their elements.
template <class F, class Y, class... X> class block_node final : public node_base {
 public:
  constexpr block_node(const F& f, const Y& y, tape* outer, const X&... x)
      : f_(f), y_(y), outer_(outer), x_(x...) {
    count(1);
    const auto look = [this](const auto& t) { leads_to_input |= t.cell()->to_input; };
    with_items([&look](const auto&... one) { (for_each_recorded(look, one), ...); }, x_);
    const auto wait = [](const auto& t) { t.cell()->put_off = true; };
    if (!leads_to_input)
      with_items([&wait](const auto&... one) { (for_each_recorded(wait, one), ...); }, x_);
    if (leads_to_input) for_each_recorded([](const auto& t) { t.cell()->to_input = true; }, y_);
  }
  constexpr ~block_node() {}
  constexpr void drop() override { drop_node(this); }

  /// Contributions arrive at the inputs' own cells, in the order in which they would have without
  /// recomputation: not a bit of a sum differs.
  constexpr void backward() override {
    // It runs once: whole, in the first part of a way back in two.
    if (leads_to_input && outer_->way == way_back::to_the_rest) return;
    bool wanted = false;
    for_each_recorded([&wanted](const auto& y) { wanted = wanted || y.cell()->filled; }, y_);
    if (wanted)
      run(std::make_index_sequence<sizeof...(X)>{});
    else
      count(-1);
  }

 private:
  template <std::size_t... K> constexpr void run(std::index_sequence<K...>) {
    recorded_run again(*outer_);
    const auto back = [this] { (move_to(outer_, item<K>(x_)), ...); };
    const at_end<decltype(back)> whatever_happens{back};
    (move_to(&again.nodes, item<K>(x_)), ...);
    seed(run_again(item<K>(x_)...));
    count(-1);  // the nodes of this run count instead
    again.backward();
  }
  constexpr Y run_again(const X&... x) const {
    const runs_again here;
    return f_(x...);
  }
  constexpr void seed(const Y& again) {
    for_each_tensor(
        [](const auto&, const auto& to, const auto& from) {
          if constexpr (is_tracked<std::remove_cvref_t<decltype(to)>>)
            if (from.cell()->filled && to.cell() != nullptr)
              to.cell()->add(std::move(from.cell()->bar));
        },
        again, y_);
  }
  constexpr void count(int change) {
    const auto one = [change](const auto& t) { t.cell()->uses += change; };
    with_items([&one](const auto&... x) { (for_each_recorded(one, x), ...); }, x_);
  }

  F f_;
  Y y_;
  tape* outer_;
  bundle<X...> x_;
};

/// What is recorded though no argument is has come in with the function itself.
template <class Result> struct passed_fault {
  using type = no_fault;
};
template <class Result>
  requires is_recorded<Result>
struct passed_fault<Result> {
  using type = recorded_tensor_not_passed<Result>;
};

template <class F> class [[nodiscard("nothing ran yet; call it")]] recomputed {
 public:
  constexpr explicit recomputed(const F& f) : f_(f) {}

  template <class... X> constexpr auto operator()(const X&... x) const {
    using given = decltype(ask<F>()(x...));
    if constexpr (std::is_same_v<given, not_called> || std::is_void_v<given>) {
      return refuse<X...>();
    } else if constexpr (!(is_recorded<X> || ...)) {
      return f_(x...);
    } else if constexpr (takes_one_type<F> && !is_recorded<given> && holds_tensors<given>) {
      static_assert(
          ok<std::conditional_t<std::is_void_v<given>, no_fault, function_takes_plain_only<F>>>,
          "recompute: the function takes plain tensors, and gets recorded ones; take "
          "const auto&");
      return poison{};
    } else if constexpr ((find_nested<X>() || ...)) {
      static_assert(!(find_nested<X>() || ...),
                    "recompute: gradients of gradients do not pass through a recomputed block; "
                    "take the inner gradient inside of it, or call the function itself");
      return poison{};
    } else {
      using Y = std::remove_cvref_t<decltype(f_(x...))>;
      using plain = std::remove_cvref_t<decltype(f_(unrecorded(x)...))>;
      using fault = typename passed_fault<plain>::type;
      static_assert(ok<fault>,
                    "recompute: the function uses a recorded tensor that is not among its "
                    "arguments; pass it as one");
      // What differs where nothing is recorded, and no walk looks into, may have records in it.
      constexpr bool loses_records = !is_poison<Y> && !is_recorded<Y> && !is_recorded<plain> &&
                                     !std::is_same_v<Y, plain> && !ok<typename walk_fault<Y>::type>;
      static_assert(ok<std::conditional_t<loses_records, function_gives_no_tensor<Y>, no_fault>>,
                    "recompute: the function returns a struct that is not described, and so would "
                    "lose gradients; return its tensors in a std::tuple, or describe it");
      if constexpr (!ok<fault> || is_poison<Y> || loses_records)
        return poison{};
      else if constexpr (!is_recorded<Y> && !std::is_same_v<Y, plain> && !is_poison<plain>)
        return in_place_of<Y>(f_(unrecorded(x)...));  // numbers, of a type that names the layout
      else if constexpr (!is_recorded<Y>)
        return f_(unrecorded(x)...);
      else
        return run<Y>(x...);
    }
  }

 private:
  /// Says why f is not called.
  template <class... X> static constexpr poison refuse() {
    constexpr bool called = calls<const F&, const X&...>;
    using fault = std::conditional_t<called, function_gives_no_tensor<void>,
                                     typename no_call<F, const X&...>::type>;
    static_assert(ok<only<fault, function_not_callable_with>>,
                  "recompute: the function cannot be called with these arguments; take recorded "
                  "tensors as const auto&, one parameter for each argument");
    static_assert(ok<only<fault, function_not_const, parameter_not_const>>,
                  "recompute: the function changes itself or what it is given; take const auto&, "
                  "and let operator() be const");
    static_assert(ok<only<fault, function_gives_no_tensor>>,
                  "recompute: the function returns nothing; return a tensor or a struct of them");
    return {};
  }
  template <class Y, class... X> constexpr Y run(const X&... x) const {
    tape* const t = tape_among(x...);
    const auto plain = f_(unrecorded(x)...);
    Y y = in_place_of<Y>(plain), kept = in_form_of<Y>(plain);
    for_each_tensor(
        [t](const auto&, auto& r, auto& k, const auto& p) {
          using R = std::remove_cvref_t<decltype(r)>;
          if constexpr (is_tracked<R>) {
            r = R(core_of(p));
            if (t == nullptr) return;
            auto* const result = t->template add<variable_node>();
            result->on = t;
            core_of(r).record = result;
            k = r;
            k.forget_data();
          } else {
            r = p;
          }
        },
        y, kept, plain);
    if (t != nullptr) t->template add<block_node<F, Y, X...>>(f_, kept, t, x...);
    return y;
  }

  F f_;
};

}  // namespace detail

/// A function that gives f(x...) and keeps nothing but x... for the backward pass, in which f runs
/// once more. x: tensors, structs of tensors, recorded or not, and other values, which are copied;
/// f gives a tensor or a described struct, array or tuple of them, the same each time that it is
/// called (random numbers by key: random.hpp). Communicates what f communicates, forward and again
/// before its backward pass.
template <class F>
  requires detail::is_function_object<F>
constexpr auto recompute(const F& f) {
  return detail::recomputed<F>(f);
}
/// What it says to other arguments.
template <class F, class... A>
  requires(sizeof...(A) > 0 || !detail::is_function_object<F>)
constexpr auto recompute(const F&, const A&...) {
  static_assert(ok<wrong_arguments<F, A...>>,
                "recompute: it takes a function alone, and what it returns takes the arguments: "
                "recompute(f)(x, y)");
  return [](const auto&...) { return poison{}; };
}

}  // namespace dimesh
