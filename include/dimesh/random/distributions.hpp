// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which other distributions can the number of an element have? Each is a function of a key and the
// element's global index, as in random.hpp: no state, no order, the same under every layout. All
// are computed in double, by branch-free functions; a float is the double rounded.
//
//   bernoulli_at(key, 5, 0.25)             -> true for a quarter of the elements
//   exponential_at<float>(key, 5)          -> mean 1
//   truncated_normal_at<double>(key, 5)    -> normal, none beyond two standard deviations
//   gamma_at<double>(key, 5, 0.7)          -> shape 0.7, scale 1
#pragma once

#include <cmath>
#include <concepts>

#include "dimesh/local/elementary.hpp"
#include "dimesh/random.hpp"

namespace dimesh {

namespace detail {

/// Uniform in (0, 1): the middles of 2^52 steps. Neither end comes up, so its logarithm is finite.
KOKKOS_FORCEINLINE_FUNCTION double open_uniform(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t bits = (std::uint64_t{high} << 32 | low) >> 12;
  return std::bit_cast<double>(bits | std::uint64_t{0x3ff} << 52) - 1.0 + 0x1p-53;  // exact
}

/// The number below which a normal number lies with probability 1/2 + q, |q| < 1/2. Relative error
/// 1e-15 (Wichura: Algorithm AS 241, PPND16; Applied Statistics 37, 1988).
KOKKOS_FORCEINLINE_FUNCTION double normal_quantile(double q) {
  using elementary::choose;
  using elementary::horner;
  const double size = std::abs(q), beyond = 0.5 - size;
  const double near = 0.180625 - q * q;
  const double root = elementary::sqrt(-elementary::log(beyond));
  const bool center = size <= 0.425, middle = root <= 5.0;
  const double far = root - choose(middle, 1.6, 5.0);
  const double inner =
      q *
      horner(near, 3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
             1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
             3.3430575583588128105e4, 2.5090809287301226727e3) /
      horner(near, 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
             2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
             5.2264952788528545610e3);
  const auto either = [middle](double a, double b) { return choose(middle, a, b); };
  const double outer = horner(far, either(1.42343711074968357734, 6.65790464350110377720),
                              either(4.63033784615654529590, 5.46378491116411436990),
                              either(5.76949722146069140550, 1.78482653991729133580),
                              either(3.64784832476320460504, 2.96560571828504891230e-1),
                              either(1.27045825245236838258, 2.65321895265761230930e-2),
                              either(2.41780725177450611770e-1, 1.24266094738807843860e-3),
                              either(2.27238449892691845833e-2, 2.71155556874348757815e-5),
                              either(7.74545014278341407640e-4, 2.01033439929228813265e-7)) /
                       horner(far, 1.0, either(2.05319162663775882187, 5.99832206555887937690e-1),
                              either(1.67638483018380384940, 1.36929880922735805310e-1),
                              either(6.89767334985100004550e-1, 1.48753612908506148525e-2),
                              either(1.48103976427480074590e-1, 7.86869131145613259100e-4),
                              either(1.51986665636164571966e-2, 1.84631831751005468180e-5),
                              either(5.47593808499534494600e-4, 1.42151175831644588870e-7),
                              either(1.05075007164441684324e-9, 2.04426310338993978564e-15));
  return choose(center, inner, std::copysign(outer, q));
}

/// Of mean 1.
KOKKOS_FORCEINLINE_FUNCTION double draw_exponential(random_key key, index_t i) {
  const random_words w = key.at(i);
  return -elementary::log(open_uniform(w.word[0], w.word[1]));
}
/// How likely a normal number lies within `bound` of 0.
inline double mass_within(double bound) { return std::erf(bound * 0.70710678118654752440); }
/// Normal, within the bound that has this mass: by the inverse of the distribution function.
KOKKOS_FORCEINLINE_FUNCTION double draw_truncated(random_key key, index_t i, double mass) {
  const random_words w = key.at(i);
  return normal_quantile((open_uniform(w.word[0], w.word[1]) - 0.5) * mass);
}

/// Gamma of a shape, scale 1: Marsaglia and Tsang's rejection (ACM TOMS 26, 2000); shapes below 1
/// by that of shape + 1 and one more uniform number (their section 6). Attempt n of element i
/// has bits of its own, key.at(i, n). At least 95 of 100 attempts are taken; should all 64 fail
/// (less than once in 10^83), the element gets the most likely value.
struct gamma_attempts {
  static constexpr std::uint32_t most = 64;
  double shape, d, c;

  KOKKOS_INLINE_FUNCTION explicit gamma_attempts(double a)
      : shape(a), d((a < 1 ? a + 1 : a) - 1.0 / 3), c(1 / std::sqrt(9 * d)) {}

  struct attempt {
    bool taken;
    double value;
  };
  KOKKOS_FORCEINLINE_FUNCTION attempt at(random_key key, index_t i, std::uint32_t n) const {
    const random_words w = key.at(i, n);
    const double x = normal_quantile(open_uniform(w.word[0], w.word[1]) - 0.5);
    const double u = open_uniform(w.word[2], w.word[3]);
    const double root = 1 + c * x, cube = root * root * root;
    const bool inside = cube > 0;
    const double v = elementary::choose(inside, cube, 1.0);
    const bool fits = elementary::log(u) < 0.5 * x * x + d - d * v + d * elementary::log(v);
    return {static_cast<bool>(inside & fits), d * v};
  }
  /// What the element of a shape below 1 is multiplied by.
  KOKKOS_FORCEINLINE_FUNCTION double boost(random_key key, index_t i) const {
    const random_words w = key.at(i, most);
    return elementary::exp(elementary::log(open_uniform(w.word[0], w.word[1])) / shape);
  }
};

}  // namespace detail

/// Is element i drawn, with probability p? Always where p is 1, never where p is 0.
KOKKOS_INLINE_FUNCTION constexpr bool bernoulli_at(random_key key, index_t i, double p) {
  return uniform_at<double>(key, i) < p;
}
/// The number of element i, exponential with mean 1: above 0, at most 36.8.
template <std::floating_point T>
KOKKOS_INLINE_FUNCTION T exponential_at(random_key key, index_t i) {
  return static_cast<T>(detail::draw_exponential(key, i));
}
/// The number of element i, normal with mean 0 and variance 1 under the condition that it lies
/// within `bound` of 0. Its standard deviation is 0.8796 for a bound of 2.
template <std::floating_point T>
inline T truncated_normal_at(random_key key, index_t i, double bound = 2) {
  return static_cast<T>(detail::draw_truncated(key, i, detail::mass_within(bound)));
}
/// The number of element i, gamma of this shape (above 0) and scale 1: mean and variance are the
/// shape. Of shapes far below 1 many numbers are too small for T, and are 0.
template <std::floating_point T>
KOKKOS_INLINE_FUNCTION T gamma_at(random_key key, index_t i, double shape) {
  const detail::gamma_attempts attempts(shape);
  double value = attempts.d;
  for (std::uint32_t n = 0; n < detail::gamma_attempts::most; ++n) {
    const auto tried = attempts.at(key, i, n);
    if (tried.taken) {
      value = tried.value;
      break;
    }
  }
  return static_cast<T>(shape < 1 ? value * attempts.boost(key, i) : value);
}

}  // namespace dimesh
