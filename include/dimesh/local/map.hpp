// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a scalar function applied to whole arrays in one pass over memory?
//
//   map(nest<2>{{256, 1024}}, f, out, h, b)   // out[i, j] = f(h[i, j], b[j])
//   for_each(nest<1>{{n}}, adam, p, m, v, g)  // adam(float& p, float& m, float& v, float g)
//   fill(nest<1>{{n}}, 0.0f, out)
//
// The functions of local/math.hpp keep the inner loops vector code.
#pragma once

#include "dimesh/local/copy.hpp"  // fill_box
#include "dimesh/local/sweep.hpp"

namespace dimesh::local {

namespace detail {

/// out (n) = f(in (n) ...)
template <class Length, class F, class Out, class... In>
KOKKOS_FORCEINLINE_FUNCTION void map_loop(Length n, F f, Out out, In... in) {
  using T [[maybe_unused]] = std::remove_cvref_t<decltype(out[0])>;
#pragma omp simd simdlen(whole_lanes<T>)
  for (index_t i = 0; i < n; ++i) {
    dimesh::store(out[i], f(in[i]...));
  }
}

template <class F> struct map_row {
  F f;
  template <class Length, class Out, class... In>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Length n, const Out& out, const In&... in) const {
    map_loop(n, f, lane_of(out), lane_of(in)...);
  }
};

/// Holds an element while f works on it, then gives it back if f may have changed it.
template <class T> struct held {
  T& home;
  std::remove_const_t<T> value;
  KOKKOS_FORCEINLINE_FUNCTION explicit held(T& at) : home(at), value(at) {}
  KOKKOS_FORCEINLINE_FUNCTION ~held() {
    if constexpr (!std::is_const_v<T>) home = value;
  }
  KOKKOS_FORCEINLINE_FUNCTION T& get() { return value; }
};

template <class F, class... T> KOKKOS_FORCEINLINE_FUNCTION void call_held(F& f, held<T>&&... x) {
  f(x.get()...);
}

/// f(x (n) ...) in place
template <class Length, class F, class... X>
KOKKOS_FORCEINLINE_FUNCTION void for_each_loop(Length n, F f, X... x) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) {
    call_held(f, held<std::remove_reference_t<decltype(x[i])>>(x[i])...);
  }
}

template <class F> struct for_each_row {
  F f;
  template <class Length, class... X>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Length n, const X&... x) const {
    for_each_loop(n, f, lane_of(x)...);
  }
};

template <class T> struct constantly {
  T value;
  KOKKOS_FORCEINLINE_FUNCTION T operator()() const { return value; }
};

/// x = value over the groups that x has.
template <class Space, int G, index_t I, class T, step... S>
void fill_kept(const nest<G, I>& space, std::type_identity_t<T> value, const operand<T, S...>& x) {
  using X = operand<T, S...>;
  std::array<index_t, G> extent = space.extent, stride = {};
  [&]<int... D>(std::integer_sequence<int, D...>) {
    ((extent[D] = X::lacks(D) ? 1 : extent[D], stride[D] = x.template along<D>()), ...);
  }(std::make_integer_sequence<int, G>{});
  if constexpr (runs_on_host<Space> && X::holds() == 1 && X::inner == step::unit) {
    std::fill_n(x.data, extent[G - 1], value);
  } else if constexpr (runs_on_host<Space>) {
    fill_box(G, extent.data(), value, x.data, stride.data());
  } else {
    sweep<Space>(nest<G>{extent}, -1, map_row<constantly<T>>{{value}}, x);
  }
}

}  // namespace detail

/// out[i] = f(in[i]...). out covers every group; it may be one of the inputs, exactly.
template <class Space = default_space, int G, index_t I, class F, Operand Out, Operand... In>
void map(const nest<G, I>& space, const F& f, const Out& out, const In&... in) {
  static_assert(!Out::lacks_any(),
                "map: the output lacks a group of the nest; use map_reduce to sum over it");
  sweep<Space>(space, cut_of<Out>(space), detail::map_row<F>{f}, out, in...);
}

/// f(x[i]...) with a reference to each element: T& of operand<T>, const T& of operand<const T>.
template <class Space = default_space, int G, index_t I, class F, Operand... X>
void for_each(const nest<G, I>& space, const F& f, const X&... x) {
  static_assert(((std::is_const_v<typename X::element> || !X::lacks_any()) && ...),
                "for_each: a writable operand lacks a group of the nest; make it const, or reduce");
  sweep<Space>(space, cut_of<X...>(space), detail::for_each_row<F>{f}, x...);
}

/// out[i] = value
template <class Space = default_space, int G, index_t I, class T, Operand Out>
void fill(const nest<G, I>& space, const T& value, const Out& out) {
  using Value = typename Out::value_type;
  map<Space>(space, detail::constantly<Value>{static_cast<Value>(value)}, out);
}

}  // namespace dimesh::local
