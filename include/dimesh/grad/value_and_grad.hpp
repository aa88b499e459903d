// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the gradient of a function with respect to a struct of parameters? The function runs once
// on recorded parameters and its tape runs backwards. The gradient's layouts follow from the
// parameters': where a parameter is replicated, its gradient is partial, and the user completes it
// (complete.hpp).
//
//   auto [loss, g] = value_and_grad(f, params)(x, y);              // network<L> ->
//                                                                  network<gradient<L>>
//   auto [loss, g] = complete(value_and_grad(f, params)(x, y));    // both whole, summed in one
//                                                                  message
//
// On the timeline (timeline.hpp), the two ways are spans "forward" and "backward".
//
// The loss is a tensor without dims. It need not be completed: addends are seeded with 1
// everywhere; a replicated loss with 1 on every rank, noted to be counted once.
#pragma once

#include "dimesh/grad/tape.hpp"
#include "dimesh/timeline.hpp"
#include "dimesh/walk.hpp"

namespace dimesh {

/// What value_and_grad returns.
template <class Value, class Gradient> struct value_and_gradient {
  Value value;  ///< the loss: a tensor without dims, partial or replicated as f left it
  Gradient gradient;  ///< of each parameter, partial where the parameter is replicated
};

namespace detail {

template <class X> struct loss_fault {
  static constexpr auto find() {
    if constexpr (!is_tracked<X>)
      return tag<result_not_recorded<X>>{};
    else if constexpr (X::rank > 0)
      return dims_of(typename spec_of<X>::dims{});
    else
      return tag<no_fault>{};
  }
  template <class... D> static constexpr auto dims_of(list<D...>) {
    return tag<value_not_scalar<D...>>{};
  }
  using type = typename decltype(find())::type;
};
template <class X>
  requires is_poison<X>
struct loss_fault<X> {
  using type = no_fault;
};

/// The first parameter whose elements are no real numbers.
template <class Leaves> struct parameters_fault {
  using type = no_fault;
};
template <class X, class... Rest>
struct parameters_fault<list<X, Rest...>> : parameters_fault<list<Rest...>> {};
template <class X, class... Rest>
  requires(!is_real<value_of<X>>)
struct parameters_fault<list<X, Rest...>> {
  using type = element_not_differentiable<value_of<X>>;
};

/// In place of the function that faulty parameters have not.
struct poisoned_function {
  template <class... In>
  constexpr value_and_gradient<poison, poison> operator()(const In&...) const {
    return {};
  }
};

constexpr index_t slab_step(index_t bytes) { return (bytes + 63) / 64 * 64; }

/// A gradient's room on the slab. The gap up to the next one travels with it: it must hold numbers.
[[gnu::noinline]] inline void take_room(storage& slot, const storage& slab, index_t at,
                                        index_t bytes) {
  slot = slab.part(static_cast<std::size_t>(at));
  zero_bytes(static_cast<std::byte*>(slot.data()) + bytes, slab_step(bytes) - bytes);
}

/// The gradient of a loss with respect to itself: 1, by the cotangent's layout.
template <class Loss> constexpr auto seed_of(const Loss& loss) {
  using bar_type = typename cell<Loss>::bar_type;
  if constexpr (is_shaped<Loss>) {
    bar_type bar(loss.sizes(), shape<>{}, loss.tally());
    bar.set_once(spec_of<bar_type>::table.mask(use::partial));
    return bar;
  } else {
    bar_type bar(loss.grid(), shape<>{}, storage{});
    bar.set_once(spec_of<bar_type>::table.mask(use::partial));
    set_element(bar.data(), value_of<Loss>{1});
    return bar;
  }
}

/// A function with written-out parameters, which takes recorded tensors only.
template <class F>
inline constexpr bool takes_one_type = std::is_pointer_v<F> || requires { &F::operator(); };

template <class F, class P> class gradient_of {
 protected:
  using variables = rebind_layout<P, tracked>;
  using gradients = rebind_layout<P, gradient>;

 public:
  constexpr gradient_of(const F& f, const P& parameters) : f_(f), parameters_(&parameters) {}

  template <class... In> constexpr auto operator()(const In&... in) const {
    // A mistake in f shows on plain parameters first: one error, also where f is called on them
    // elsewhere.
    using tried = std::conditional_t<takes_one_type<F>, variables, P>;
    if constexpr (is_poison<decltype(f_(std::declval<const tried&>(), in...))>) {
      return value_and_gradient<poison, gradients>{};
    } else {
      tape t;
      variables vars{};
      const storage behind = open(t, vars);
      node_base* const leaves = t.last();
      trace_span forward("forward");
      auto loss = f_(static_cast<const variables&>(vars), in...);
      forward.end();
      using loss_type = decltype(loss);
      using fault = typename loss_fault<loss_type>::type;
      static_assert(
          ok<only<fault, result_not_recorded>>,
          "value_and_grad: no parameter reaches the value of the function; compute it from "
          "the parameters");
      static_assert(ok<only<fault, value_not_scalar>>,
                    "value_and_grad: the function's value has dims; sum or average them first");
      if constexpr (!ok<fault> || is_poison<loss_type>) {
        return value_and_gradient<poison, gradients>{};
      } else {
        const trace_span here("backward");
        auto value = loss.value();
        loss.cell()->add(seed_of(value));
        t.backward(leaves);
        value_and_gradient<decltype(value), gradients> out{beside(value, behind), {}};
        for_each_tensor([](const auto&, auto& g, auto& v) { collect(g, v); }, out.gradient, vars);
        return out;
      }
    }
  }

 protected:
  /// Makes the variables; room for all gradients, and for the loss behind them, lies side by side,
  /// so that they are sent as one. Returns the room for the loss.
  constexpr storage open(tape& t, variables& vars) const {
    storage slab;
    index_t at = 0;
    if (!std::is_constant_evaluated()) {
      for_each_tensor([&](const auto&, const auto& p) { room(at, p); }, *parameters_);
      if (at > 0) slab = storage::acquire(static_cast<std::size_t>(at + slab_step(1)));
      at = 0;
    }
    for_each_tensor(
        [&](const auto&, auto& v, const auto& p) {
          using X = std::remove_cvref_t<decltype(p)>;
          auto* leaf = t.template add<variable_node<X>>();
          if constexpr (!is_shaped<X>)
            if (slab) take_room(leaf->slot, slab, at, p.local_bytes());
          room(at, p);
          v.set(p, leaf, &t);
        },
        vars, *parameters_);
    return slab ? slab.part(static_cast<std::size_t>(at)) : storage{};
  }
  /// The loss in its room behind the gradients.
  template <class V> static constexpr V beside(const V& loss, const storage& room) {
    if constexpr (is_shaped<V>) {
      return loss;
    } else {
      if (!room) return loss;
      V moved(loss.grid(), loss.shape(), room);
      moved.set_once(loss.once());
      copy_bytes(moved.data(), loss.data(), loss.local_bytes());
      return moved;
    }
  }
  template <class X> static constexpr void room(index_t& at, const X& p) {
    if constexpr (!is_shaped<X>) at += slab_step(p.local_bytes());
  }
  template <class G, class V> static constexpr void collect(G& g, V& v) {
    auto& c = *v.cell();
    if (c.filled) {
      g = std::move(c.bar);
      if constexpr (is_shaped<G>) {
        if (std::is_constant_evaluated()) g.pin();
      }
      return;
    }
    // No path led to this parameter: its gradient is 0, and every rank knows.
    const auto& p = v.value();
    if constexpr (is_shaped<G>) {
      g = G(p.sizes(), p.shape(), p.tally());
      if (std::is_constant_evaluated()) g.pin();
    } else {
      g.remake(p.grid(), p.shape(), c.slot);
      zero_bytes(g.data(), g.local_bytes());
    }
    g.set_once(spec_of<G>::table.mask(use::partial));
  }

  F f_;
  const P* parameters_;
};

}  // namespace detail

/// A function of the inputs that gives f(parameters, inputs...) and its gradient with respect to
/// the parameters: a struct of tensors (see walk.hpp), or one tensor. `parameters` is read
/// at each call and must outlive the returned function. f gets the struct with its layout
/// `tracked`.
template <class F, class P> constexpr auto value_and_grad(const F& f, const P& parameters) {
  using fault = typename detail::parameters_fault<typename detail::leaves<P>::type>::type;
  static_assert(ok<only<fault, element_not_differentiable>>,
                "value_and_grad: a parameter's elements are no real numbers; use float or double");
  if constexpr (ok<fault>)
    return detail::gradient_of<F, P>(f, parameters);
  else
    return detail::poisoned_function{};
}

}  // namespace dimesh
