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

/// Elements beside each other that a thread of a device holds, so that memory is read and written
/// by 8 or 16 bytes.
inline constexpr index_t quad_size = 4;
template <class T> struct quad {
  static constexpr std::size_t alignment = sizeof(T) < 4 ? quad_size * sizeof(T) : 16;
  std::remove_const_t<T> of[quad_size];

  KOKKOS_FORCEINLINE_FUNCTION void read(const T* from, bool aligned) {
    if (aligned)
      __builtin_memcpy(static_cast<void*>(of), __builtin_assume_aligned(from, alignment),
                       sizeof of);
    else
      for (int i = 0; i < quad_size; ++i) of[i] = from[i];
  }
  KOKKOS_FORCEINLINE_FUNCTION void write([[maybe_unused]] T* to, bool aligned) const {
    if constexpr (!std::is_const_v<T>) {
      if (aligned)
        __builtin_memcpy(__builtin_assume_aligned(static_cast<void*>(to), alignment), of,
                         sizeof of);
      else
        for (int i = 0; i < quad_size; ++i) to[i] = of[i];
    }
  }
  static bool is_aligned(const T* x) {
    return reinterpret_cast<std::uintptr_t>(x) % alignment == 0;
  }
};

/// f of four elements of each array, with references to them. Made: the first array's are not read.
template <bool Made, class F, class... X> struct for_each_quad {
  F f;
  index_t n;
  bool aligned;
  dimesh::detail::bundle<X*...> x;

  for_each_quad(const F& function, index_t size, X*... at)
      : f(function), n(size), aligned((quad<X>::is_aligned(at) && ...)), x(at...) {}
  index_t threads() const { return (n + quad_size - 1) / quad_size; }
  KOKKOS_FUNCTION void operator()(index_t t) const {
    const index_t from = t * quad_size;
    if (from + quad_size <= n) {
      whole(std::index_sequence_for<X...>{}, from, quad<X>{}...);
    } else {
      for (index_t i = from; i < n; ++i) one(std::index_sequence_for<X...>{}, i);
    }
  }

 private:
  template <std::size_t... K>
  KOKKOS_FORCEINLINE_FUNCTION void whole(std::index_sequence<K...>, index_t from,
                                         quad<X>... some) const {
    F g = f;
    (read<K>(some, from), ...);
    for (int i = 0; i < quad_size; ++i) g(static_cast<X&>(some.of[i])...);
    (some.write(dimesh::detail::item<K>(x) + from, aligned), ...);
  }
  template <std::size_t K, class Q>
  KOKKOS_FORCEINLINE_FUNCTION void read(Q& some, index_t from) const {
    if constexpr (!(Made && K == 0)) some.read(dimesh::detail::item<K>(x) + from, aligned);
  }
  template <std::size_t... K>
  KOKKOS_FORCEINLINE_FUNCTION void one(std::index_sequence<K...>, index_t i) const {
    F g = f;
    call_held(g, held<X>(dimesh::detail::item<K>(x)[i])...);
  }
};
/// The first element becomes f of the others.
template <class F> struct made_of_others {
  F f;
  template <class Y, class... X> KOKKOS_FORCEINLINE_FUNCTION void operator()(Y& y, X&... x) const {
    dimesh::store(y, f(static_cast<computed<std::remove_const_t<X>>>(x)...));
  }
};

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
  if constexpr (!detail::runs_on_host<Space>) {
    if (!detail::moves_to_host<Space>()) {
      using made = detail::made_of_others<F>;
      const detail::for_each_quad<true, made, Y, const X...> kernel(made{f}, n, y, x...);
      return detail::each_for_itself<Space>(kernel.threads(), kernel);
    }
  }
  in_ranges<Space>(n,
                   detail::map_ranges<F, Y, X...>{f, y, dimesh::detail::bundle<const X*...>(x...)});
}

/// f(x[i]...) for i < n, with a reference to each element: const where x is.
template <class Space = default_space, class F, class... X>
void for_each(index_t n, const F& f, X*... x) {
  if constexpr (!detail::runs_on_host<Space>) {
    if (!detail::moves_to_host<Space>()) {
      const detail::for_each_quad<false, F, X...> kernel(f, n, x...);
      return detail::each_for_itself<Space>(kernel.threads(), kernel);
    }
  }
  in_ranges<Space>(n, detail::for_each_ranges<F, X...>{f, dimesh::detail::bundle<X*...>(x...)});
}

}  // namespace dimesh::local
