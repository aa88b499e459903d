// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get coin flips, gamma numbers, a random order? As in fill.hpp and create.hpp:
// all local, keyed by the global index, the same under every layout and on any number of ranks.
//
//   fill_bernoulli(x, random_key{1}, 0.1)               -> elements 1 and 0
//   truncated_normal<X>(g, random_key{1}, 0, 0.02)      -> within two standard deviations of 0
//   exponential<X>(g, key, 2)                           -> mean 2
//   gamma<X>(g, key, 0.5, 1)                            -> shape 0.5, scale 1
//   permutation<tensor<int, L, batch>>(g, key)          -> 0 .. n-1 in a random order
//
// Under a partial layout the first rank along the partial axes gets the numbers, the others zeros.
#pragma once

#include "dimesh/create.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/random/distributions.hpp"
#include "dimesh/random/permutation.hpp"
#include "dimesh/random/places.hpp"

namespace dimesh {

namespace detail {

/// A multiple of a number that is drawn for each element, moved by `mean`, within a range.
template <class One> struct draw_each {
  One one;
  double factor = 1, mean = 0;
  number_range<double> range = {};
  template <int Count>
  KOKKOS_INLINE_FUNCTION void operator()(const index_t (&at)[Count], double (&out)[Count]) const {
    const writes_memory kernel;
    const One f = one;
    const double by = factor, from = mean, lo = range.least, hi = range.most;
#pragma omp simd
    for (int j = 0; j < Count; ++j) out[j] = elementary::clamp(from + by * f(at[j]), lo, hi);
  }
};
struct one_bernoulli {
  random_key key;
  double p;
  KOKKOS_FORCEINLINE_FUNCTION double operator()(index_t i) const {
    return elementary::choose(bernoulli_at(key, i, p), 1.0, 0.0);
  }
};
struct one_exponential {
  random_key key;
  KOKKOS_FORCEINLINE_FUNCTION double operator()(index_t i) const {
    return draw_exponential(key, i);
  }
};
struct one_truncated {
  random_key key;
  double mass;
  KOKKOS_FORCEINLINE_FUNCTION double operator()(index_t i) const {
    return draw_truncated(key, i, mass);
  }
};
/// Attempts of all elements of a tile, until each has one that is taken.
struct draw_gamma {
  random_key key;
  gamma_attempts attempts;
  double scale;

  template <int Count>
  KOKKOS_INLINE_FUNCTION void operator()(const index_t (&at)[Count], double (&out)[Count]) const {
    const writes_memory kernel;
    const gamma_attempts f = attempts;
    const random_key k = key;
    double taken[Count];
    for (int j = 0; j < Count; ++j) out[j] = f.d, taken[j] = 0;
    for (std::uint32_t n = 0; n < gamma_attempts::most; ++n) {
      double open = 0;
#pragma omp simd reduction(+ : open)
      for (int j = 0; j < Count; ++j) {
        const auto tried = f.at(k, at[j], n);
        const bool now = tried.taken & (taken[j] == 0);
        out[j] = elementary::choose(now, tried.value, out[j]);
        taken[j] = elementary::choose(now, 1.0, taken[j]);
        open += 1.0 - taken[j];
      }
      if (open == 0) break;
    }
    if (f.shape < 1) {
#pragma omp simd
      for (int j = 0; j < Count; ++j) out[j] *= f.boost(k, at[j]);
    }
    for (int j = 0; j < Count; ++j) out[j] *= scale;
  }
};
struct draw_permutation {
  random_permutation order;
  template <int Count>
  KOKKOS_INLINE_FUNCTION void operator()(const index_t (&at)[Count], index_t (&out)[Count]) const {
    const writes_memory kernel;
    order.at(at, out);
  }
};

/// Fills x with what is drawn for its elements, numbers V.
template <class V, class X, class Draw> void fill_drawn(X& x, const Draw& draw) {
  if (!holds_value(core_of(x))) return dimesh::clear(x);
  if (x.local_size() == 0) return;
  begin_to_fill(core_of(x));
  const in_space here(core_of(x).facts->space);
  for_each_tile(
      draw_kernel<V, value_of<X>, Draw>{x.data(), draw, block_places(core_of(x)), x.local_size()});
}

/// What keeps a tensor from random numbers: what keeps it from being filled, and its elements.
template <class X, drawn Kind>
using random_fault =
    typename first_of<typename fill_fault<X>::type, drawn_fault<value_of<X>, Kind>>::type;
template <class Fault> constexpr void assert_random() {  // all here, for short messages
  static_assert(ok<only<Fault, dim_has_halo>>,
                "fill: blocks of this dim carry a halo; draw a tensor without it, then "
                "halo_exchange");
  static_assert(ok<only<Fault, partial_operand>>,
                "fill: the layout is that of a maximum yet to be found; draw a tensor of another "
                "layout");
  static_assert(ok<only<Fault, fraction_cut>>,
                "fill: the elements are whole numbers, and the numbers drawn have fractions; draw "
                "a tensor of float or double");
  static_assert(ok<only<Fault, element_is_complex>>,
                "fill: the elements are complex, and the numbers drawn real; draw both parts, and "
                "join them: as_complex(x, y)");
  static_assert(ok<only<Fault, elements_differ>>,
                "fill: the elements are no real numbers, which are what is drawn; draw a tensor of "
                "float or double, and map it");
}
}  // namespace detail

/// Sets each element to 1 with probability p, else to 0. Throws dimesh::error unless 0 <= p <= 1.
template <detail::Fillable X> void fill_bernoulli(X& x, random_key key, double p) {
  using fault = detail::random_fault<X, detail::drawn::truths>;
  detail::assert_random<fault>();
  if (!(p >= 0 && p <= 1))
    (detail::words() << "fill_bernoulli: the probability is " << std::to_string(p)
                     << "; choose one between 0 and 1")
        .raise();
  if constexpr (ok<fault>)
    detail::fill_drawn<double>(x, detail::draw_each<detail::one_bernoulli>{{key, p}});
}
/// Sets the elements to random numbers: exponential with this mean. Throws dimesh::error if it is
/// negative or not finite.
template <detail::Fillable X> void fill_exponential(X& x, random_key key, double mean) {
  using fault = detail::random_fault<X, detail::drawn::reals>;
  detail::assert_random<fault>();
  detail::require_not_negative("fill_exponential", "mean", mean);
  if constexpr (ok<fault>)
    detail::fill_drawn<double>(x, detail::draw_each<detail::one_exponential>{{key}, mean});
}
/// Sets the elements to random numbers: normal with this mean and standard deviation, under the
/// condition that they lie within `bound` standard deviations of the mean. (Of what is left the
/// standard deviation is smaller: 0.8796 of it for a bound of 2.) Throws dimesh::error unless mean
/// and deviation are finite, the deviation is at least 0, and the bound above 0.
template <detail::Fillable X>
void fill_truncated_normal(X& x, random_key key, double mean, double stddev, double bound = 2) {
  using fault = detail::random_fault<X, detail::drawn::reals>;
  detail::assert_random<fault>();
  detail::require_finite("fill_truncated_normal", "mean", mean);
  detail::require_not_negative("fill_truncated_normal", "standard deviation", stddev);
  detail::require_positive("fill_truncated_normal", "bound", bound);
  if constexpr (ok<fault>) {
    const double most = bound * stddev;
    const auto range = detail::elements_within<value_of<X>>(mean - most, mean + most, true);
    const detail::one_truncated one{key, detail::mass_within(bound)};
    detail::fill_drawn<double>(x,
                               detail::draw_each<detail::one_truncated>{one, stddev, mean, range});
  }
}
/// Sets the elements to random numbers: gamma of this shape and scale, whose mean is their product.
/// Throws dimesh::error unless the shape is above 0, the scale at least 0, and both are finite.
template <detail::Fillable X> void fill_gamma(X& x, random_key key, double shape, double scale) {
  using fault = detail::random_fault<X, detail::drawn::reals>;
  detail::assert_random<fault>();
  detail::require_positive("fill_gamma", "shape", shape);
  detail::require_finite("fill_gamma", "shape", shape);
  detail::require_not_negative("fill_gamma", "scale", scale);
  if constexpr (ok<fault>)
    detail::fill_drawn<double>(x, detail::draw_gamma{key, detail::gamma_attempts(shape), scale});
}
/// Sets the elements to 0 .. n-1 in a random order, n being their number in the whole tensor: see
/// permutation.hpp. Throws dimesh::error where an element cannot hold n-1.
template <detail::Fillable X> void fill_permutation(X& x, random_key key) {
  using fault = detail::random_fault<X, detail::drawn::places>;
  detail::assert_random<fault>();
  if constexpr (ok<fault>) {
    index_t n = 1;
    for (const index_t e : x.shape().extents()) n *= e;
    using T = value_of<X>;
    const index_t last = n - 1;
    if (n > 0 && !detail::holds_exactly<T>(last))
      (detail::words() << "fill_permutation: the elements are too short for the number " << last
                       << "; let the tensor have longer ones")
          .raise();
    detail::fill_drawn<index_t>(x, detail::draw_permutation{random_permutation(key, n)});
  }
}

namespace detail {
/// A tensor; a grid of its mesh, a key, `Count` numbers, and extents.
template <int Count, class X, class... A> inline constexpr bool draws = false;
template <class X, class M, class... E>
inline constexpr bool draws<0, X, grid<M>, random_key, E...> = (Extents<E> && ...);
template <class X, class M, class V, class... E>
inline constexpr bool draws<1, X, grid<M>, random_key, V, E...> =
    std::is_arithmetic_v<V> && (Extents<E> && ...);
template <class X, class M, class V, class W, class... E>
inline constexpr bool draws<2, X, grid<M>, random_key, V, W, E...> =
    std::is_arithmetic_v<V> && std::is_arithmetic_v<W> && (Extents<E> && ...);
}  // namespace detail

/// A tensor of 1 with probability p, else 0; see fill_bernoulli.
template <Operand X, Extents... From>
X bernoulli(const grid<typename X::mesh_type>& g, random_key key, double p,
            const From&... extents) {
  X x(g, extents...);
  dimesh::fill_bernoulli(x, key, p);
  return x;
}
/// What it says to other arguments.
template <class X, class... A>
  requires(!(Operand<X> && detail::draws<1, X, A...>))
auto bernoulli(const A&...) {
  static_assert(ok<detail::maker_fault<X, A...>>,
                "bernoulli: a tensor stands in the angle brackets; the grid, a key, a probability "
                "and open extents in the parentheses: bernoulli<X>(grid, random_key{1}, 0.5)");
  return detail::nothing_made<X>();
}
/// A tensor of exponential random numbers of this mean; see fill_exponential.
template <Operand X, Extents... From>
X exponential(const grid<typename X::mesh_type>& g, random_key key, double mean,
              const From&... extents) {
  X x(g, extents...);
  dimesh::fill_exponential(x, key, mean);
  return x;
}
/// What it says to other arguments.
template <class X, class... A>
  requires(!(Operand<X> && detail::draws<1, X, A...>))
auto exponential(const A&...) {
  static_assert(ok<detail::maker_fault<X, A...>>,
                "exponential: a tensor stands in the angle brackets; the grid, a key, the mean "
                "and open extents in the parentheses: exponential<X>(grid, random_key{1}, 2)");
  return detail::nothing_made<X>();
}
/// A tensor of normal random numbers, none beyond two of their standard deviations; see
/// fill_truncated_normal.
template <Operand X, Extents... From>
X truncated_normal(const grid<typename X::mesh_type>& g, random_key key, double mean, double stddev,
                   const From&... extents) {
  X x(g, extents...);
  dimesh::fill_truncated_normal(x, key, mean, stddev);
  return x;
}
/// What it says to other arguments.
template <class X, class... A>
  requires(!(Operand<X> && detail::draws<2, X, A...>))
auto truncated_normal(const A&...) {
  static_assert(ok<detail::maker_fault<X, A...>>,
                "truncated_normal: a tensor stands in the angle brackets; the grid, a key, mean, "
                "deviation and open extents in the parentheses: (grid, key, 0, 0.1)");
  return detail::nothing_made<X>();
}
/// A tensor of gamma random numbers; see fill_gamma.
template <Operand X, Extents... From>
X gamma(const grid<typename X::mesh_type>& g, random_key key, double shape, double scale,
        const From&... extents) {
  X x(g, extents...);
  dimesh::fill_gamma(x, key, shape, scale);
  return x;
}
/// What it says to other arguments.
template <class X, class... A>
  requires(!(Operand<X> && detail::draws<2, X, A...>))
auto gamma(const A&...) {
  static_assert(ok<detail::maker_fault<X, A...>>,
                "gamma: a tensor stands in the angle brackets; the grid, a key, shape, scale "
                "and open extents in the parentheses: gamma<X>(grid, random_key{1}, 2, 1)");
  return detail::nothing_made<X>();
}
/// A tensor of 0 .. n-1 in a random order; see fill_permutation.
template <Operand X, Extents... From>
X permutation(const grid<typename X::mesh_type>& g, random_key key, const From&... extents) {
  X x(g, extents...);
  dimesh::fill_permutation(x, key);
  return x;
}
/// What it says to other arguments.
template <class X, class... A>
  requires(!(Operand<X> && detail::draws<0, X, A...>))
auto permutation(const A&...) {
  static_assert(ok<detail::maker_fault<X, A...>>,
                "permutation: a tensor stands in the angle brackets; the grid, a key "
                "and open extents in the parentheses: permutation<X>(grid, random_key{1})");
  return detail::nothing_made<X>();
}

}  // namespace dimesh
