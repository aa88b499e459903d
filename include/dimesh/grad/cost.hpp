// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a call cost, before it is made? The same function runs on shapes and every operation
// enters its cost in a ledger: at run time, or while compiling, where all extents and axes are
// static.
//
//   constexpr auto cost = cost_of<step, network<shaped<hybrid>>, tensor<float, shaped<hybrid>,
//     batch, pixel>>;
//   static_assert(cost.bytes<cols> <= 4096);          // step: a stateless function object
//   count(step{}, shapes...)  -> ledger<pod>          // at run time, any extents
#pragma once

#include "dimesh/grad/complete.hpp"

namespace dimesh {

namespace detail {

template <class Leaves> struct mesh_of_leaves {
  using type = void;
};
template <class X, class... Rest> struct mesh_of_leaves<list<X, Rest...>> {
  using type = typename X::mesh_type;
};
/// The mesh of an argument's first tensor.
template <class X> struct mesh_of_argument : mesh_of_leaves<typename leaves<X>::type> {};
template <class... X> struct mesh_of_arguments {
  using type = void;
};
template <class First, class... Rest> struct mesh_of_arguments<First, Rest...> {
  using here = typename mesh_of_argument<First>::type;
  using type = typename std::conditional_t<std::is_void_v<here>, mesh_of_arguments<Rest...>,
                                           tag<here>>::type;
};

/// The argument with a tally in each of its shapes.
template <class X> constexpr X counted(const X& x, tally* t) {
  if constexpr (Tensor<X>) {
    return x.counted_by(t).pin();
  } else if constexpr (TensorStruct<X>) {
    X out(x);  // members that are no tensors come along
    for_each_tensor([t](const auto&, auto& c, const auto& s) { c = s.counted_by(t).pin(); }, out,
                    x);
    return out;
  } else {
    return x;
  }
}

template <class X> constexpr auto shape_like(const X& x) {
  mesh_sizes<typename X::mesh_type> sizes;
  for (std::size_t a = 0; a < sizes.size.size(); ++a) sizes.size[a] = x.grid().state().sizes()[a];
  return typename shaped_type<X>::type(sizes, x.shape());
}

}  // namespace detail

/// A tensor, or a struct of tensors, without its data: the same extents, on a grid of the same
/// sizes.
template <class X> auto shapes_of(const X& x) {
  if constexpr (Tensor<X>) {
    return detail::shape_like(x);
  } else {
    auto out = detail::in_form_of<rebind_layout<X, shaped>>(x);
    for_each_tensor([](const auto&, auto& s, const auto& t) { s = detail::shape_like(t); }, out, x);
    return out;
  }
}

/// What f(x...) costs the rank with the largest blocks; x are shapes, structs of shapes, or plain
/// values.
template <class F, class... X> constexpr auto count(const F& f, const X&... x) {
  using M = typename detail::mesh_of_arguments<X...>::type;
  detail::tally t;
  { [[maybe_unused]] const auto result = f(detail::counted(x, &t)...); }
  return ledger<M>{t};
}

/// The cost of F{}(X{}...) as constants. F is stateless, all extents and axes of X... are static.
template <class F, class... X> struct static_cost {
  using mesh = typename detail::mesh_of_arguments<X...>::type;
  /// The arguments are locals, not temporaries: g++ 12 cannot end arrays in those.
  static constexpr ledger<mesh> find() {
    const detail::bundle<X...> shapes{};
    ledger<mesh> l;
    detail::with_items([&l](const auto&... x) { l = count(F{}, x...); }, shapes);
    return l;
  }
  static constexpr ledger<mesh> value = find();

  static constexpr index_t flops = value.flops();
  static constexpr index_t moved = value.moved();
  static constexpr index_t peak = value.peak();
  template <Axis... A> static constexpr index_t bytes = value.template bytes<A...>();
  template <Axis... A> static constexpr index_t ring_bytes = value.template ring_bytes<A...>();
  template <Axis... A> static constexpr index_t calls = value.template calls<A...>();
};

template <class F, class... X> inline constexpr static_cost<F, X...> cost_of{};

}  // namespace dimesh
