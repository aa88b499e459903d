// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a scalar function applied to whole arrays that lie side by side, in one pass over memory?
//
//   map(n, f, y, h, b)             // y[i] = f(h[i], b[i])
//   for_each(n, adam, p, m, v, g)  // adam(float& p, float& m, float& v, const float& g)
//
// Arrays that lie in other ways: map_over.hpp. The functions of local/math.hpp keep the loops
// vector code.
#pragma once

#include "dimesh/detail/bundle.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/local/row.hpp"
#include "dimesh/local/tile.hpp"  // whole_lanes

namespace dimesh::local {

namespace detail {

/// out (n) = f(in (n) ...)
template <class F, class Out, class... In>
KOKKOS_FORCEINLINE_FUNCTION void map_loop(index_t n, F f, Out out, In... in) {
  using T [[maybe_unused]] = std::remove_cvref_t<decltype(out[0])>;
#pragma omp simd simdlen(whole_lanes<T>)
  for (index_t i = 0; i < n; ++i) {
    dimesh::store(out[i], f(in[i]...));
  }
}

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
template <class F, class... X>
KOKKOS_FORCEINLINE_FUNCTION void for_each_loop(index_t n, F f, X... x) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) {
    call_held(f, held<std::remove_pointer_t<X>>(x[i])...);
  }
}

template <class F, class... X>
[[gnu::noinline, gnu::flatten]] KOKKOS_FUNCTION void for_each_range(F f, index_t n, X*... x) {
  const dimesh::detail::writes_memory kernel;
  for_each_loop(n, f, x...);
}
template <class F, class Y, class... X>
[[gnu::noinline, gnu::flatten]] KOKKOS_FUNCTION void map_range(F f, index_t n, Y* y,
                                                               const X*... x) {
  const dimesh::detail::writes_memory kernel;
  map_loop(n, f, lane<Y, step::unit>{y}, lane_of(row_of<const X>{x})...);
}

template <class F, class... X> struct for_each_ranges {
  F f;
  dimesh::detail::bundle<X*...> x;
  KOKKOS_FUNCTION void operator()(index_t from, index_t to) const {
    run(std::index_sequence_for<X...>{}, from, to - from);
  }

 private:
  template <std::size_t... K>
  KOKKOS_FUNCTION void run(std::index_sequence<K...>, index_t from, index_t n) const {
    for_each_range(f, n, (dimesh::detail::item<K>(x) + from)...);
  }
};
template <class F, class Y, class... X> struct map_ranges {
  F f;
  Y* y;
  dimesh::detail::bundle<const X*...> x;
  KOKKOS_FUNCTION void operator()(index_t from, index_t to) const {
    run(std::index_sequence_for<X...>{}, from, to - from);
  }

 private:
  template <std::size_t... K>
  KOKKOS_FUNCTION void run(std::index_sequence<K...>, index_t from, index_t n) const {
    map_range(f, n, y + from, (dimesh::detail::item<K>(x) + from)...);
  }
};

}  // namespace detail

/// y[i] = f(x[i]...) for i < n. y may be one of the inputs, exactly.
template <class Space = default_space, class F, class Y, class... X>
void map(index_t n, const F& f, Y* y, const X*... x) {
  in_ranges<Space>(n,
                   detail::map_ranges<F, Y, X...>{f, y, dimesh::detail::bundle<const X*...>(x...)});
}

/// f(x[i]...) for i < n, with a reference to each element: const where x is.
template <class Space = default_space, class F, class... X>
void for_each(index_t n, const F& f, X*... x) {
  in_ranges<Space>(n, detail::for_each_ranges<F, X...>{f, dimesh::detail::bundle<X*...>(x...)});
}

}  // namespace dimesh::local
