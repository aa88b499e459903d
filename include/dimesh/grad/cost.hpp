// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a call cost, before it is made? The same function runs on shapes and every operation
// enters its cost in a ledger: at run time, or while compiling, where all extents and axes are
// static.
//
//   constexpr auto cost = cost_of<step, network<shaped<hybrid>>, tensor<float, shaped<hybrid>,
//     batch, pixel>>;
//   static_assert(cost.bytes<cols> <= 4096);          // step: a stateless function object
//   count(step{}, shapes...)  -> ledger<pod>          // at run time, any extents
//   count(step{}, params, x)                          // the same of tensors with data: by their
//                                                     // types, without computing anything
//   events_of(step{}, shapes...)  -> event_log<pod>   // what is added up there, one by one
#pragma once

#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/cost_faults.hpp"
#include "dimesh/grad/missing_headers.hpp"
#include "dimesh/ledger/event_log.hpp"
#include "dimesh/reflect/made_at_once.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::cost, A...> = true;

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
  using here = unless_poison<First, mesh_of_argument<First>, mesh<>>;
  using type = typename std::conditional_t<std::is_void_v<here>, mesh_of_arguments<Rest...>,
                                           tag<here>>::type;
};

/// The argument with its tensors as shapes, of their own types, whose bytes are alive to the end.
template <class X> constexpr X counted(const X& x, tally* t) {
  if constexpr (TensorStruct<X>) {
    X y = copied(x);
    const core_list<X> all(y);
    for (int i = 0; i < all.size; ++i)
      if (all.at[i]->defined() || all.at[i]->is_shape) all.at[i]->become_shape(t);
    return y;
  } else {
    X y(x);
    if constexpr (Tensor<X>) core_of(y).become_shape(t);
    return y;
  }
}

/// f(x...), for what it enters in a ledger; it may give nothing.
template <class F, class... X> constexpr void call_to_count(const F& f, const X&... x) {
  if constexpr (std::is_void_v<decltype(f(x...))>)
    f(x...);
  else [[maybe_unused]]
    const auto result = f(x...);
}

/// The sizes of mesh M on which x, or a tensor in it, lives; and other meshes.
template <class M, class X> void find_sizes(event_log<M>& log, const X& x) {
  if constexpr (Tensor<X>) {
    if (!core_of(x).defined() && !core_of(x).is_shape) return;  // it was not made
    using Other = typename X::mesh_type;
    mesh_sizes<Other> sizes;
    std::copy_n(core_of(x).sizes(), sizes.size.size(), sizes.size.begin());
    if constexpr (std::is_same_v<Other, M>) {
      log.sizes = sizes;
    } else {
      for (const mesh_note& o : log.others)
        if (o.number == mesh_number<Other>) return;
      log.others.push_back(mesh_note::of(sizes));
    }
  } else if constexpr (TensorStruct<X>) {
    for_each_tensor([&log](const auto&, const auto& s) { find_sizes(log, s); }, x);
  }
}

template <class X> constexpr auto shape_like(const X& x) {
  const tensor_core& core = core_of(x);
  if (!core.is_shape) require_grid("shapes_of", core);  // else it stands for its cost
  mesh_sizes<typename X::mesh_type> sizes;
  std::copy_n(core.sizes(), sizes.size.size(), sizes.size.begin());
  using shaped = typename shaped_type<X>::type;
  if constexpr (is_probe<X>)
    return shaped(sizes, x.shape(), nullptr, core.facts, core.cuts);
  else
    return shaped(sizes, x.shape(), cuts_like(core));
}

}  // namespace detail

/// A tensor, or a struct of tensors, without its data: the same extents, on a grid of the same
/// sizes.
template <class X> [[nodiscard]] auto shapes_of(const X& x) {
  if constexpr (Tensor<X>) {
    return detail::shape_like(x);
  } else {
    auto out = detail::in_place_of<rebind_layout<X, shaped>>(x);
    for_each_tensor([](const auto&, auto& s, const auto& t) { s = detail::shape_like(t); }, out, x);
    return out;
  }
}

namespace detail {
/// What may be no function, or none of these arguments.
template <class F, class... X> struct counting_fault {
  using given = decltype(ask<F>()(counted(std::declval<const X&>(), nullptr)...));
  static constexpr auto find() {
    if constexpr (!std::is_same_v<given, not_called>)
      return tag<no_fault>{};
    else
      return tag<
          typename no_call<F, decltype(counted(std::declval<const X&>(), nullptr))...>::type>{};
  }
  using type = typename decltype(find())::type;
};
template <class F, class... X>
  requires(Operand<F> || is_walkable<F>)
struct counting_fault<F, X...> {
  using type = not_the_same_kind<F, poison>;
};
}  // namespace detail

/// What f(x...) costs the rank at the mesh's origin, whose blocks are the largest (of ragged dims:
/// the first, of any length); x are tensors, structs of them, or plain values. Nothing is computed
/// or sent: where x has data, f gets tensors of the same types that hold no elements, so that what
/// is compiled for a step counts it, too. f takes all tensors that it needs as arguments, must not
/// ask for elements (value, data), nor make tensors on a grid; a step with `sharded` is counted on
/// shapes. While compiling, x are shapes. Of tensors that live at different places it is the cost
/// of a rank that holds them all, so no rank has more; that of one place is count_at's. The
/// ledger's axes are those of the mesh of the first one; .on<M>() has those of others.
template <class F, class... X> [[nodiscard]] constexpr auto count(const F& f, const X&... x) {
  using M = typename detail::mesh_of_arguments<X...>::type;
  using fault = typename detail::counting_fault<F, X...>::type;
  static_assert(
      ok<only<fault, not_the_same_kind>>,
      "count: the function comes first, then what it is called with: count(f, params, x)");
  static_assert(ok<only<fault, function_not_const, parameter_not_const>>,
                "count: the function changes itself or what it is given; take const auto&, and let "
                "operator() be const");
  static_assert(ok<only<fault, function_not_callable_with>>,
                "count: the function cannot be called with these arguments; give one for each of "
                "its parameters, which are const auto&");
  detail::tally t;
  if constexpr (!std::is_void_v<M>) t.home = mesh_number<M>;
  if constexpr (ok<fault>) detail::call_to_count(f, detail::counted(x, &t)...);
  return ledger<std::conditional_t<std::is_void_v<M>, mesh<>, M>>{t};
}
/// Where a type is given for the function.
template <class F, class First, class... X>
  requires(!std::is_convertible_v<First, F>)
constexpr poison count(const First&, const X&...) {
  static_assert(ok<wrong_arguments<First, X...>>,
                "count: the function comes first, an object and not its type: count(f{}, params, "
                "x)");
  return {};
}

/// The same for a rank at coordinate K of axis A: what lives elsewhere along A costs it nothing.
template <Axis A, index_t K, class F, class... X>
constexpr auto count_at(const F& f, const X&... x) {
  using M = typename detail::mesh_of_arguments<X...>::type;
  constexpr int a = axis_index<M, A>;
  static_assert(a >= 0, "count_at: this axis is not in the mesh; name one that is");
  detail::tally t;
  if constexpr (a >= 0) t.seat[static_cast<std::size_t>(a)] = K;
  if constexpr (!std::is_void_v<M>) t.home = mesh_number<M>;
  detail::call_to_count(f, detail::counted(x, &t)...);
  return ledger<M>{t};
}

/// As count; the sink takes every event that the ledger sums, in the order of the program: first
/// the memory of x, which is taken to live to the end.
template <class F, class... X>
constexpr auto count_to(event_sink& sink, const F& f, const X&... x) {
  using M = typename detail::mesh_of_arguments<X...>::type;
  detail::tally t;
  t.sink = &sink;
  if constexpr (!std::is_void_v<M>) t.home = mesh_number<M>;
  detail::call_to_count(f, detail::counted(x, &t)...);
  t.sink = nullptr;
  return ledger<M>{t};
}

/// The list of these events.
template <class F, class... X> auto events_of(const F& f, const X&... x) {
  event_log<typename detail::mesh_of_arguments<X...>::type> log;
  (detail::find_sizes(log, x), ...);
  event_list list;
  count_to(list, f, x...);
  log.events = std::move(list.events);
  return log;
}

/// The cost of F{}(X{}...) as constants. F is stateless, all extents and axes of X... are static.
template <class F, class... X> struct static_cost {
  using mesh = typename detail::mesh_of_arguments<X...>::type;
  using fault = detail::static_cost_fault<X...>;
  using call_fault = typename detail::static_call_fault<fault, F, X...>::type;
  /// What the compiler finds, if it can.
  static constexpr auto found() {
    if constexpr (ok<fault> && ok<call_fault>)
      return decltype(detail::ask_constant<static_cost>(0)){};
    else
      return detail::constant_cost<ledger<mesh>{}>{};
  }
  /// The arguments are locals, not temporaries: g++ 12 cannot end arrays in those.
  static constexpr ledger<mesh> counted_cost() {
    const detail::bundle<X...> shapes{};
    ledger<mesh> l;
    detail::with_items([&l](const auto&... x) { l = count(F{}, x...); }, shapes);
    return l;
  }
  static constexpr ledger<mesh> value = decltype(found())::value;
  static constexpr index_t flops = value.flops();
  static constexpr index_t moved = value.moved();
  static constexpr index_t peak = value.peak();
  template <class... A> static constexpr index_t bytes = value.template bytes<A...>();
  template <class... A> static constexpr index_t ring_bytes = value.template ring_bytes<A...>();
  template <class... A> static constexpr index_t calls = value.template calls<A...>();
};

/// Shapes may stand in parentheses, too: cost_of<F>(x...) is cost_of<F, X...>.
template <class F> struct static_cost<F> {
  template <class... X> constexpr auto operator()(const X&...) const;
};

namespace detail {
/// Asserted in a function that cost_of calls, so that errors show its line.
template <class F, class... X>
  requires(sizeof...(X) == 0)
constexpr static_cost<F> asserted_cost() {
  return {};
}
template <class F, class... X>
  requires(sizeof...(X) > 0)
constexpr static_cost<F, X...> asserted_cost() {
  using cost = static_cost<F, X...>;
  using fault = typename cost::fault;
  using call = typename cost::call_fault;
  constexpr bool known = decltype(cost::found())::known;
  static_assert(ok<only<fault, not_a_shape>>,
                "cost_of: an argument has data; name shapes: tensor<float, shaped<layout>, "
                "dims...>");
  static_assert(ok<only<fault, axis_without_size>>,
                "cost_of: the mesh leaves the size of an axis open, and with it what is sent; give "
                "it one, axis<4>, or use count(f, shapes...) when the program runs");
  static_assert(ok<only<fault, dim_without_extent>>,
                "cost_of: the extent of a dim is left open; give it one, dim<64>, or use count(f, "
                "shapes...) when the program runs");
  static_assert(ok<only<fault, vector_without_length>>,
                "cost_of: a struct has a vector of tensors, whose length only the run knows; use "
                "count(f, shapes...) when the program runs, or an array");
  static_assert(ok<only<call, function_not_an_object>>,
                "cost_of: the function captures something, and a type alone says nothing of that; "
                "use count(f, shapes...), or a struct without members");
  static_assert(ok<only<call, function_not_callable_with>>,
                "cost_of: the function cannot be called with these shapes; name one for each of "
                "its parameters, which are const auto&");
  static_assert(ok<std::conditional_t<known, no_fault, function_not_constexpr<F>>>,
                "cost_of: the compiler cannot run the function; declare operator() constexpr, "
                "and let it read nothing that only the run knows, or use count(f, shapes...)");
  return {};
}
}  // namespace detail

template <class F>
template <class... X>
constexpr auto static_cost<F>::operator()(const X&...) const {
  return detail::asserted_cost<F, X...>();
}

/// The cost of F{}(X{}...): cost_of<F, X...>.flops. Where they are const or references (decltype of
/// variables), what these are of.
template <class F, class... X>
  requires detail::is_included<op_header::cost, F, X...>
inline constexpr static_cost<std::remove_cvref_t<F>, std::remove_cvref_t<X>...> cost_of<F, X...> =
    detail::asserted_cost<std::remove_cvref_t<F>, std::remove_cvref_t<X>...>();

}  // namespace dimesh
