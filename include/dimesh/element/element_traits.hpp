// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is there to know about a type of elements? Here, and nowhere else: in which type one
// computes with it, whether ranks can add it up, whether it has gradients. Where types are erased
// (messages of many tensors), its kind stands for it.
//
//   element_traits<float>::kind      -> element_kind::float32
//   element_traits<bfloat16>::computed  -> float        computed<bfloat16>: the same
//   element_traits<bool>::is_summable  -> false: a sum of truth values is no truth value
//
// What MPI calls a kind: collective/element.hpp.
#pragma once

#include <Kokkos_Complex.hpp>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace dimesh {

class bfloat16;
class half;

/// The types of elements that the library knows by name. Others can be stored, moved and mapped.
enum class element_kind : unsigned char {
  other,
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  half,
  bfloat16,
  float32,
  float64,
  long_double,
  complex64,
  complex128
};
namespace detail {
/// Ranks can add up elements of this kind: numbers, of whatever sort.
constexpr bool is_summable(element_kind k) {
  return k != element_kind::other && k != element_kind::boolean;
}
/// Ranks can find the greatest of this kind: false < true, and complex numbers have none.
constexpr bool is_ordered(element_kind k) {
  return k >= element_kind::boolean && k <= element_kind::long_double;
}
}  // namespace detail

namespace detail {

template <class T> constexpr element_kind kind_of_integer() {
  using enum element_kind;
  constexpr bool sign = std::is_signed_v<T>;
  return sizeof(T) == 1   ? (sign ? int8 : uint8)
         : sizeof(T) == 2 ? (sign ? int16 : uint16)
         : sizeof(T) == 4 ? (sign ? int32 : uint32)
         : sizeof(T) == 8 ? (sign ? int64 : uint64)
                          : other;
}
template <class T> constexpr element_kind kind_of() {
  if constexpr (std::is_same_v<T, bool>)
    return element_kind::boolean;
  else if constexpr (std::is_integral_v<T>)
    return kind_of_integer<T>();
  else if constexpr (std::is_same_v<T, half>)
    return element_kind::half;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return element_kind::bfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return element_kind::float32;
  else if constexpr (std::is_same_v<T, double>)
    return element_kind::float64;
  else if constexpr (std::is_same_v<T, long double>)
    return element_kind::long_double;
  else if constexpr (std::is_same_v<T, std::complex<float>> ||
                     std::is_same_v<T, Kokkos::complex<float>>)
    return element_kind::complex64;
  else if constexpr (std::is_same_v<T, std::complex<double>> ||
                     std::is_same_v<T, Kokkos::complex<double>>)
    return element_kind::complex128;
  else
    return element_kind::other;
}

}  // namespace detail

/// All that the library asks of a type of elements. Qualifiers are not looked through.
template <class T> struct element_traits {
  static constexpr element_kind kind = detail::kind_of<T>();
  /// Kept in fewer digits than it is computed in.
  static constexpr bool is_storage_only =
      kind == element_kind::bfloat16 || kind == element_kind::half;
  /// The type in which elements of this one are computed with.
  using computed = std::conditional_t<is_storage_only, float, T>;

  static constexpr bool is_integer = kind >= element_kind::int8 && kind <= element_kind::uint64;
  /// A real number, of whatever precision.
  static constexpr bool is_real = kind >= element_kind::half && kind <= element_kind::long_double;
  static constexpr bool is_complex =
      kind == element_kind::complex64 || kind == element_kind::complex128;
  /// Gradients with respect to it exist. Of a real loss by a complex x + iy: dL/dx + i dL/dy.
  static constexpr bool has_gradient = is_real || is_complex;
  /// Ranks can add it up.
  static constexpr bool is_summable = detail::is_summable(kind);
  /// Ranks can find its maximum: false < true.
  static constexpr bool is_ordered = detail::is_ordered(kind);
  /// MPI has a type for it.
  static constexpr bool is_known = kind != element_kind::other;
  /// Processors compute with vectors of it: what kernels written out by hand take.
  static constexpr bool is_native_real =
      kind == element_kind::float32 || kind == element_kind::float64;
  /// Libraries of linear algebra multiply it: what BLAS has.
  static constexpr bool is_of_blas = is_native_real || is_complex;
  /// There are kernels for products of it; otherwise they are computed in `computed`.
  static constexpr bool has_products = kind != element_kind::half;
};

/// The type in which elements of type T are computed with: T, or float where T only stores.
template <class T> using computed = typename element_traits<T>::computed;

/// Is T kept in fewer digits than it is computed in?
template <class T> inline constexpr bool is_storage_only = element_traits<T>::is_storage_only;

/// Real numbers.
template <class T> inline constexpr bool is_real = element_traits<T>::is_real;
template <class T> inline constexpr bool is_complex = element_traits<T>::is_complex;

namespace detail {
/// The first complex type, void where there is none.
template <class... V> struct first_complex {
  using type = void;
};
template <class V, class... More> struct first_complex<V, More...> {
  using type = typename std::conditional_t<is_complex<V>, std::type_identity<V>,
                                           first_complex<More...>>::type;
};
}  // namespace detail

/// Complex numbers of two T, float or double: std::complex, or Kokkos::complex where nvcc compiles
/// the kernels, which leaves sums and products of the former out without a word.
#ifdef __CUDACC__
template <class T> using complex_of = Kokkos::complex<T>;
#else
template <class T> using complex_of = std::complex<T>;
#endif

namespace detail {
/// Can kernels compute with it? Those of nvcc take long double for 8 bytes.
template <class T> inline constexpr bool kernels_compute = true;
#ifdef __CUDACC__
template <> inline constexpr bool kernels_compute<long double> = false;
template <class T> inline constexpr bool kernels_compute<std::complex<T>> = false;
#endif
}  // namespace detail

/// Real and complex numbers: what has gradients.
template <class T> inline constexpr bool has_gradient = element_traits<T>::has_gradient;

/// The conjugate of a number, which is itself where it is real; and its real part.
template <class T> KOKKOS_FORCEINLINE_FUNCTION constexpr T conjugate(const T& z) {
  if constexpr (is_complex<T>)
    return T(z.real(), -z.imag());
  else
    return z;
}
template <class T> KOKKOS_FORCEINLINE_FUNCTION constexpr auto real_part(const T& z) {
  if constexpr (is_complex<T>)
    return z.real();
  else
    return z;
}

/// |z|^2, a real number.
template <class T> KOKKOS_FORCEINLINE_FUNCTION constexpr auto squared_size(const T& z) {
  if constexpr (is_complex<T>)
    return z.real() * z.real() + z.imag() * z.imag();
  else
    return z * z;
}

/// to = x, converted to T.
template <class T, class X> KOKKOS_FORCEINLINE_FUNCTION constexpr void store(T& to, const X& x) {
  if constexpr (is_storage_only<T>)
    to = static_cast<computed<T>>(x);
  else
    to = static_cast<T>(x);
}

}  // namespace dimesh
