// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do complex numbers become real ones, and back? By operations that are linear in both
// parts, each the transpose of another of them or of itself, and by the squared absolute value.
// Inner products are real: <a, b> = Re(sum of conj(a) b); so the transpose of a product conjugates.
//
//   conj_op<T>   <-> itself          part_op<T, imaginary> <-> embed_op<T, imaginary>
#pragma once

#include "dimesh/local/map.hpp"
#include "dimesh/op/parts/apply.hpp"

namespace dimesh::detail {

/// Elements To of elements From, by the function F, one by one in storage.
template <class F, class To, class From> void fill_by_elements(results y, operands x) {
  local::map(x[0].elements(), F{}, y[0].data<To>(), x[0].data<const From>());
}
constexpr void count_elements(tally& t, results y, operands x) {
  t.compute(0, y[0].bytes() + x[0].bytes());
}

struct conj_function {
  template <class A> KOKKOS_INLINE_FUNCTION A operator()(const A& a) const { return conjugate(a); }
};
/// Elements T.
template <class T> struct conj_op {
  static constexpr bool takes_complex = true;
  constexpr void cost(tally& t, results y, operands x) const { count_elements(t, y, x); }
  void fill(results y, operands x) const { fill_by_elements<conj_function, T, T>(y, x); }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, conj_op{}, to.ybar); }
};

/// The real type of complex T's parts.
template <class T> using part_of = decltype(real_part(T{}));

enum class part : unsigned char { real, imaginary };

template <class T, part P> struct part_function {
  KOKKOS_INLINE_FUNCTION part_of<T> operator()(const T& z) const {
    return P == part::real ? z.real() : z.imag();
  }
};
template <class T, part P> struct embed_function {
  KOKKOS_INLINE_FUNCTION T operator()(const part_of<T>& x) const {
    return P == part::real ? T(x, 0) : T(0, x);
  }
};
template <class T, part P> struct embed_op;
/// A part of elements T.
template <class T, part P> struct part_op {
  static constexpr std::string_view call = P == part::real ? "real" : "imag";
  static constexpr bool takes_complex = true;
  constexpr void cost(tally& t, results y, operands x) const { count_elements(t, y, x); }
  void fill(results y, operands x) const {
    fill_by_elements<part_function<T, P>, part_of<T>, T>(y, x);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, embed_op<T, P>{}, to.ybar); }
};
/// Elements T that have this part; the other is 0.
template <class T, part P> struct embed_op {
  static constexpr std::string_view call = "as_complex";
  static constexpr bool takes_complex = true;
  constexpr void cost(tally& t, results y, operands x) const { count_elements(t, y, x); }
  void fill(results y, operands x) const {
    fill_by_elements<embed_function<T, P>, T, part_of<T>>(y, x);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, part_op<T, P>{}, to.ybar); }
};

template <class T> struct norm2_function {
  KOKKOS_INLINE_FUNCTION part_of<T> operator()(const T& z) const {
    return z.real() * z.real() + z.imag() * z.imag();
  }
};
template <class T> struct twice_product_function {
  KOKKOS_INLINE_FUNCTION T operator()(const part_of<T>& g, const T& z) const {
    return T(2 * g * z.real(), 2 * g * z.imag());
  }
};
/// The cotangent of z, given that of norm2(z), and z.
template <class T> struct norm2_pulled_op {
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(4 * y[0].elements(), y[0].bytes() + bytes_of(x));
  }
  void fill(results y, operands x) const {
    local::map(y[0].elements(), twice_product_function<T>{}, y[0].data<T>(),
               x[0].data<const part_of<T>>(), x[1].data<const T>());
  }
};
/// Squared absolute values of elements T.
template <class T> struct norm2_op {
  static constexpr bool takes_complex = true;
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(3 * y[0].elements(), y[0].bytes() + x[0].bytes());
  }
  void fill(results y, operands x) const {
    fill_by_elements<norm2_function<T>, part_of<T>, T>(y, x);
  }
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    to.give(0, norm2_pulled_op<T>{}, to.ybar, to.x(0));
  }
};

}  // namespace dimesh::detail
