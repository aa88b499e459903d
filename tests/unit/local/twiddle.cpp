// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors between the halves of a long transform: beside the definition, of blocks anywhere.
#include "dimesh/local/twiddle.hpp"

#include <doctest/doctest.h>

#include <cmath>

using dimesh::index_t;
using dimesh::local::roots_of_unity;
using dimesh::local::twiddle;

namespace {

/// exp(-+ 2 pi i m / n)
std::complex<long double> root(index_t m, index_t n, bool forward) {
  return std::polar(1.0L, (forward ? -2 : 2) * std::numbers::pi_v<long double> *
                              static_cast<long double>(m) / static_cast<long double>(n));
}
template <class T> long double apart(std::complex<T> a, std::complex<long double> b) {
  return std::abs(std::complex<long double>(a) - b);
}

}  // namespace

TEST_CASE("roots of unity, from two tables, which are kept") {
  for (const index_t n : {1, 2, 3, 16, 17, 1000, 1000003}) {
    const roots_of_unity& by = roots_of_unity::of(n);
    for (index_t m = 0; m < n; m += 1 + n / 997) CHECK(apart(by(m), root(m, n, true)) < 1e-15L);
    CHECK(&roots_of_unity::of(n) == &by);
  }
}

TEST_CASE("twiddle: of a block of rows and columns that begin somewhere") {
  const dimesh::local::twiddle_lines l{2, 3, 4, 2, 5, 7, 100};
  std::vector<std::complex<double>> x, y(48);
  for (int i = 0; i < 48; ++i) x.emplace_back(i + 1, 3 - i);
  for (const bool forward : {true, false}) {
    twiddle(l, forward, x.data(), y.data());
    for (index_t i = 0; i < 48; ++i) {
      const index_t r = 5 + i / 8 % 3, c = 7 + i / 2 % 4;
      const auto k = static_cast<std::size_t>(i);
      CHECK(apart(y[k], std::complex<long double>(x[k]) * root(r * c, 100, forward)) < 1e-13L);
    }
  }
  twiddle(l, true, x.data(), x.data());  // in place
  CHECK(apart(x[47], std::complex<long double>(48, -44) * root(7 * 10, 100, true)) < 1e-13L);
}
