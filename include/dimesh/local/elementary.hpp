// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a loop over exp become vector code? The bit-level algorithms behind local/math.hpp:
// no branch, no library call, nothing that sets errno.
//
//   elementary::exp(1.0f) -> 2.7182817f
#pragma once

#include <Kokkos_Macros.hpp>  // KOKKOS_FORCEINLINE_FUNCTION only

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace dimesh::elementary {

template <class T> concept Native = std::same_as<T, float> || std::same_as<T, double>;

/// c0 + c1 z + c2 z^2 + ...
template <class T> KOKKOS_FORCEINLINE_FUNCTION constexpr T horner(T, T c) { return c; }
template <class T, class... C> KOKKOS_FORCEINLINE_FUNCTION constexpr T horner(T z, T c, C... rest) {
  return c + z * horner<T>(z, rest...);
}

/// Constants of a binary format, and polynomials fitted at Chebyshev nodes:
/// tail(r) = (e^r - 1 - r) / r^2 for |r| <= ln2/2, relative error of e^r 1.2e-8 and 2.2e-17;
/// odd(z) = (2 atanh(s) / s - 2) / z, z = s^2, for 1+f = (1+s)/(1-s) in [sqrt 1/2, sqrt 2].
template <class T> struct ieee;

template <> struct ieee<float> {
  using bits = std::int32_t;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float round_shift = 12582912.0f, ln2_hi = 0.693145751953125f,
                         ln2_lo = 1.4286068203e-6f, exp_min = -104.0f, exp_max = 89.0f;
  KOKKOS_FORCEINLINE_FUNCTION static float tail(float r) {
    return horner(r, 0.5f, 0.16666569628f, 0.041666545421f, 0.0083643806933f, 0.0013927684617f);
  }
  KOKKOS_FORCEINLINE_FUNCTION static float odd(float z) {
    return horner(z, 0.66666685603f, 0.39988550989f, 0.29590317357f);
  }
};

template <> struct ieee<double> {
  using bits = std::int64_t;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double round_shift = 6755399441055744.0,
                          ln2_hi = 0.693147180485539138317108154297,
                          ln2_lo = 7.440617110012396716e-11, exp_min = -746.0, exp_max = 710.0;
  KOKKOS_FORCEINLINE_FUNCTION static double tail(double r) {
    return horner(r, 0.50000000000000012448, 0.16666666666666667624, 0.041666666666616862268,
                  0.0083333333333295030954, 0.0013888888920770122212, 0.00019841269865788535564,
                  0.000024801515879478315969, 2.7557264294679126278e-6, 2.7622614078619689474e-7,
                  2.51023277236091451e-8);
  }
  KOKKOS_FORCEINLINE_FUNCTION static double odd(double z) {
    return horner(z, 0.6666666666666669907, 0.39999999999893221763, 0.28571428628810995598,
                  0.22222210674238515246, 0.18182922513515941633, 0.15330617306743304885,
                  0.14630031364122860468);
  }
};

/// c ? a : b by masks. The conditional operator would do, were it not that compilers move the work
/// that follows into its branches, and loops with branches do not become vector code.
template <Native T> KOKKOS_FORCEINLINE_FUNCTION T choose(bool c, T a, T b) {
  using bits = typename ieee<T>::bits;
  const bits mask = -static_cast<bits>(c);
  return std::bit_cast<T>((std::bit_cast<bits>(a) & mask) | (std::bit_cast<bits>(b) & ~mask));
}

/// 2^n for -bias <= n <= bias + 1; the ends give 0 and inf.
template <Native T> KOKKOS_FORCEINLINE_FUNCTION T exp2_whole(std::int32_t n) {
  using word = std::make_unsigned_t<typename ieee<T>::bits>;
  return std::bit_cast<T>((static_cast<word>(n) + ieee<T>::bias) << ieee<T>::mantissa);
}

/// x = n ln2 + r with |r| <= ln2/2. The shift trick reads n off the bits of a sum, which stays
/// right under any reassociation; NaN goes to r, and x must lie within the range of exp.
template <Native T> struct exp_parts {
  std::int32_t n;
  T r;
  KOKKOS_FORCEINLINE_FUNCTION explicit exp_parts(T x) {
    using word = std::make_unsigned_t<typename ieee<T>::bits>;
    const T shifted = x * T(1.442695040888963407359925) + ieee<T>::round_shift;
    n = static_cast<std::int32_t>(std::bit_cast<word>(shifted) -
                                  std::bit_cast<word>(ieee<T>::round_shift));
    r = (x - T(n) * ieee<T>::ln2_hi) - T(n) * ieee<T>::ln2_lo;
  }
};

template <Native T> KOKKOS_FORCEINLINE_FUNCTION T clamp(T x, T low, T high) {
  x = choose(x < low, low, x);
  return choose(x > high, high, x);
}

template <Native T> KOKKOS_FORCEINLINE_FUNCTION T exp(T x) {
  const exp_parts<T> p(clamp(x, ieee<T>::exp_min, ieee<T>::exp_max));
  const T m = T(1) + (p.r + p.r * p.r * ieee<T>::tail(p.r));
  const std::int32_t half = p.n >> 1;  // two factors: neither leaves the exponent range
  return m * exp2_whole<T>(half) * exp2_whole<T>(p.n - half);
}

/// exp for use as a denominator 1 + exp(x): inf and 0 come up to ln2 too early.
template <Native T> KOKKOS_FORCEINLINE_FUNCTION T exp_fast(T x) {
  constexpr T limit = T(ieee<T>::bias) * T(0.69314718055994530942);
  const exp_parts<T> p(clamp(x, -limit, limit + T(0.6)));
  return (T(1) + (p.r + p.r * p.r * ieee<T>::tail(p.r))) * exp2_whole<T>(p.n);
}

template <Native T> KOKKOS_FORCEINLINE_FUNCTION T log(T x) {
  using bits = typename ieee<T>::bits;
  constexpr T lift = T(bits(1) << (ieee<T>::mantissa + 1));
  constexpr bits one = std::bit_cast<bits>(T(1));
  constexpr bits root = std::bit_cast<bits>(T(0.70710678118654752440));
  const bool small = x < std::numeric_limits<T>::min();
  const T lifted = x * lift;
  using word = std::make_unsigned_t<bits>;  // NaN wraps around
  const bits b = static_cast<bits>(std::bit_cast<word>(choose(small, lifted, x)) + (one - root));
  const bits e = (b >> ieee<T>::mantissa) - ieee<T>::bias;
  const T f = std::bit_cast<T>((b & ((bits(1) << ieee<T>::mantissa) - 1)) + root) - T(1);
  const T k =
      T(static_cast<std::int32_t>(e) - (ieee<T>::mantissa + 1) * static_cast<std::int32_t>(small));
  const T s = f / (T(2) + f), z = s * s, h = T(0.5) * f * f, odd = z * ieee<T>::odd(z);
  T y = k * ieee<T>::ln2_hi + (f - (h - (s * (h + odd) + k * ieee<T>::ln2_lo)));
  y = choose(x == T(0), -std::numeric_limits<T>::infinity(), y);
  y = choose(x < T(0), std::numeric_limits<T>::quiet_NaN(), y);
  return choose(x <= std::numeric_limits<T>::max(), y, x + x);  // inf and NaN stay what they are
}

/// (e^y - 1) / (e^y + 1) at y = -2|x|: the subtraction happens in the polynomial, so tanh keeps
/// its relative accuracy down to the smallest x.
template <Native T> KOKKOS_FORCEINLINE_FUNCTION T tanh(T x) {
  const T y = T(-2) * std::abs(x);
  const exp_parts<T> p(choose(y < T(-50), T(-50), y));
  const T scale = exp2_whole<T>(p.n);
  const T e = scale * (p.r + p.r * p.r * ieee<T>::tail(p.r)) + (scale - T(1));
  return std::copysign(e / (T(2) + e), x);
}

template <Native T> KOKKOS_FORCEINLINE_FUNCTION T sigmoid(T x) {
  return T(1) / (T(1) + exp_fast(-x));
}

/// Square root without the library call whose errno keeps a loop from becoming vector code:
/// 1/sqrt(x) by a first guess from the exponent and Newton steps, then one step for x itself.
template <Native T> KOKKOS_FORCEINLINE_FUNCTION T rsqrt_normal(T x) {
  using word = std::make_unsigned_t<typename ieee<T>::bits>;
  constexpr word magic = static_cast<word>(sizeof(T) == 4 ? 0x5f3759df : 0x5fe6eb50c7b537a9);
  T y = std::bit_cast<T>(magic - (std::bit_cast<word>(x) >> 1));
  const T half = T(0.5) * x;
  y = y * (T(1.5) - half * y * y);
  y = y * (T(1.5) - half * y * y);
  y = y * (T(1.5) - half * y * y);
  if constexpr (sizeof(T) == 8) y = y * (T(1.5) - half * y * y);
  return y + T(0.5) * y * (T(1) - x * y * y);
}

template <Native T> KOKKOS_FORCEINLINE_FUNCTION T sqrt(T x) {
  constexpr T lift = T(std::int64_t(1) << (ieee<T>::mantissa / 2 * 2 + 2));
  constexpr T tiny = std::numeric_limits<T>::min();
  constexpr T unlift = T(1) / T(std::int64_t(1) << (ieee<T>::mantissa / 2 + 1));
  const bool small = x < tiny * lift;  // keeps every product below in the normal range
  const T lifted = x * lift, v = choose(small, lifted, x);
  const T r = rsqrt_normal(v), q = v * r, root = q + T(0.5) * r * (v - q * q);
  T y = root * choose(small, unlift, T(1));
  y = choose(x < T(0), std::numeric_limits<T>::quiet_NaN(), y);
  return choose((x <= std::numeric_limits<T>::max()) & (x != T(0)), y, x);  // 0, -0, inf, NaN
}

/// 1 + x is rounded; the last term gives back what the rounding took.
template <Native T> KOKKOS_FORCEINLINE_FUNCTION T log1p(T x) {
  const T u = T(1) + x;
  T y = log(u) - ((u - T(1)) - x) / u;
  y = choose(x == T(-1), -std::numeric_limits<T>::infinity(), y);
  return choose(x <= std::numeric_limits<T>::max(), y, x);
}

template <Native T> KOKKOS_FORCEINLINE_FUNCTION T floor(T x) {
  constexpr T whole = T(std::int64_t(1) << ieee<T>::mantissa);  // from here on every value is whole
  const bool fits = std::abs(x) < whole;
  const T inside = choose(fits, x, T(0));
  const T cut = T(static_cast<typename ieee<T>::bits>(inside));
  const T down = std::copysign(choose(cut > inside, cut - T(1), cut), x);
  return choose(fits, down, x);
}

/// |x|^y as exp(y log|x|) in double, then the sign and the cases that the identity misses.
KOKKOS_FORCEINLINE_FUNCTION float pow(float x, float y) {
  const double size = exp(static_cast<double>(y) * log(static_cast<double>(std::abs(x))));
  float r = static_cast<float>(size);
  const bool whole = floor(y) == y, odd = whole & (floor(y * 0.5f) * 2.0f != y);
  r = choose(odd, std::copysign(r, x), r);
  constexpr float most = std::numeric_limits<float>::max();
  r = choose((x < 0.0f) & (x >= -most) & !whole, std::numeric_limits<float>::quiet_NaN(), r);
  const bool endless = std::abs(y) > most;
  return choose((x == 1.0f) | (y == 0.0f) | ((x == -1.0f) & endless), 1.0f, r);
}
KOKKOS_FORCEINLINE_FUNCTION double pow(double x, double y) { return std::pow(x, y); }

/// The parts of gelu in its tanh form (Hendrycks & Gimpel, arXiv:1606.08415, section 2):
/// gelu(x) = x/2 (1 + tanh u) = x s, u = sqrt(2/pi) (x + 0.044715 x^3), s = sigmoid(2u).
template <Native T> struct gelu_parts {
  T x, s, slope;  // slope = d(2u)/dx
  KOKKOS_FORCEINLINE_FUNCTION explicit gelu_parts(T at) {
    constexpr T c = T(1.5957691216057307117598);  // 2 sqrt(2/pi)
    x = choose(at < T(-64), T(-64), at);  // where s is 0, so that -inf gives 0
    const T x2 = T(0.044715) * x * x;
    s = sigmoid(c * (x + x * x2));
    slope = c * (T(1) + T(3) * x2);
  }
  KOKKOS_FORCEINLINE_FUNCTION T value() const { return x * s; }
  /// s' is 0 from where slope, which grows without end, is still finite.
  KOKKOS_FORCEINLINE_FUNCTION T derivative() const {
    const T ds = s * (T(1) - s);
    return choose(ds == T(0), s, s + x * ds * slope);
  }
};

}  // namespace dimesh::elementary
