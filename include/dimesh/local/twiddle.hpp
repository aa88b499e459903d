// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By what are the elements multiplied between the two halves of a long Fourier transform? A
// transform of N = rows x columns elements is one along the rows, these factors, and one along the
// columns (Gentleman and Sande 1966).
//
//   twiddle_lines l{1, 4, 8, 1, 2, 0, 32};        // rows 2 .. 5 of 8 columns each, N = 32
//   twiddle(l, true, x, y)                        // y[r, c] = x[r, c] exp(-2 pi i r c / 32)
#pragma once

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"

namespace dimesh::local {

/// A block (outer, rows, columns, inner), whose rows and columns begin at some of the whole, of a
/// transform of n elements.
struct twiddle_lines {
  index_t outer, rows, columns, inner, first_row, first_column, n;
};

/// exp(-2 pi i m / n) for 0 <= m < n, from two tables of about the root of n elements: error of two
/// roundings. One has a power of two of elements, so that no m is divided.
class roots_of_unity {
 public:
  explicit roots_of_unity(index_t n) : n_(n) {
    while (index_t{1} << 2 * bits_ < n) ++bits_;
    const index_t step = index_t{1} << bits_;
    const auto root = [=](index_t m) {
      const index_t turned = 2 * m > n ? m - n : m;  // small angles are rounded less
      const double turn =
          -2 * std::numbers::pi * static_cast<double>(turned) / static_cast<double>(n);
      return std::complex<double>(std::cos(turn), std::sin(turn));
    };
    for (index_t m = 0; m < step; ++m) fine_.push_back(root(m));
    for (index_t m = 0; m < n; m += step) coarse_.push_back(root(m));
  }
  /// Those of n elements, kept until this thread asks for others.
  static const roots_of_unity& of(index_t n) {
    static thread_local roots_of_unity kept(n);
    if (kept.n_ != n) kept = roots_of_unity(n);
    return kept;
  }
  std::complex<double> operator()(index_t m) const {
    const auto at = static_cast<std::size_t>(m);
    return product(coarse_[at >> bits_], fine_[at & ((std::size_t{1} << bits_) - 1)]);
  }
  /// Without what std::complex does for infinite numbers.
  template <class T> static std::complex<T> product(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  index_t n_;
  int bits_ = 0;
  std::vector<std::complex<double>> fine_, coarse_;
};

/// y[o, r, c, i] = x[o, r, c, i] exp(-+ 2 pi i r c / n), r and c counted in the whole. y may be x.
template <class T>
void twiddle(const twiddle_lines& l, bool forward, const std::complex<T>* x, std::complex<T>* y) {
  const dimesh::detail::writes_memory kernel;
  const roots_of_unity& root = roots_of_unity::of(l.n);
  const double way = forward ? 1 : -1;
  for (index_t o = 0; o < l.outer; ++o)
    for (index_t r = l.first_row; r < l.first_row + l.rows; ++r)
      for (index_t c = l.first_column; c < l.first_column + l.columns; ++c) {
        const std::complex<double> w = root(r * c);
        const std::complex<T> by(static_cast<T>(w.real()), static_cast<T>(way * w.imag()));
        for (index_t i = 0; i < l.inner; ++i, ++x, ++y) *y = roots_of_unity::product(*x, by);
      }
}

}  // namespace dimesh::local
