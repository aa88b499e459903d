// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the Fourier transform of a whole array, by its definition, and are a tensor, its
// transposes and its costs what they should be?
//
//   check_parts(dm::fft<q>(z), dft({re, im}, "q", -1));        // both parts of a complex tensor
//   check_moves([](const auto& u) { return dm::imag(dm::ifft_exchange<p>(u)); }, {a}, v);
#pragma once

#include <doctest/doctest.h>

#include "dimesh/op/complex.hpp"
#include "dimesh/op/fft.hpp"
#include "support/odd_layouts.hpp"

namespace test_support {

/// Transforms come from FFTW, where it is found; without it these tests say so and skip.
const auto needs_fftw = doctest::skip(!dimesh::local::has_fftw);

/// The parts of a complex array.
struct numbers_pair {
  array re, im;
};

/// sum over n of a[n] exp(sign 2 pi i k n / N) along one dim, times `by`; the first `kept` k.
inline numbers_pair dft(const numbers_pair& a, const std::string& dim, int sign, double by = 1,
                        index_t kept = -1) {
  const auto d = static_cast<std::size_t>(a.re.place(dim));
  const index_t n = a.re.size[d];
  extents size = a.re.size;
  if (kept >= 0) size[d] = kept;
  numbers_pair out{make(a.re.dims, size, [](const auto&) { return 0.0; }), {}};
  out.im = out.re;
  std::size_t at = 0;
  for_each_index(size, [&](extents index) {
    const index_t k = index[d];
    double re = 0, im = 0;
    for (index_t j = 0; j < n; ++j) {
      index[d] = j;
      const double turn = sign * 2 * M_PI * static_cast<double>(k * j % n) / static_cast<double>(n);
      const double x = value_at(a.re, a.re.dims, index), y = value_at(a.im, a.re.dims, index);
      re += x * std::cos(turn) - y * std::sin(turn), im += x * std::sin(turn) + y * std::cos(turn);
    }
    out.re.values[at] = re * by, out.im.values[at++] = im * by;
  });
  return out;
}
inline double inverse_of(const array& a, const std::string& dim) {
  return 1.0 / static_cast<double>(a.size[static_cast<std::size_t>(a.place(dim))]);
}
inline numbers_pair nothing_imaginary(const array& a) {
  return {a, map([](const auto&) { return 0.0; }, {a})};
}
/// The whole transform of which the first half is a; along n elements.
inline numbers_pair completed(const numbers_pair& a, const std::string& dim, index_t n) {
  const auto d = static_cast<std::size_t>(a.re.place(dim));
  extents size = a.re.size;
  size[d] = n;
  numbers_pair out{make(a.re.dims, size, [](const auto&) { return 0.0; }), {}};
  out.im = out.re;
  std::size_t at = 0;
  for_each_index(size, [&](extents index) {
    const index_t k = index[d];
    const bool other = 2 * k > n, end = k == 0 || 2 * k == n;
    if (other) index[d] = n - k;
    out.re.values[at] = value_at(a.re, a.re.dims, index);
    out.im.values[at++] = end ? 0 : (other ? -1 : 1) * value_at(a.im, a.re.dims, index);
  });
  return out;
}

template <class Z> void check_parts(const Z& z, const numbers_pair& want) {
  CHECK(agrees(dimesh::real(z), want.re, 1e-11));
  CHECK(agrees(dimesh::imag(z), want.im, 1e-11));
}
/// Inner products of transforms are of the size of their operands, times N.
inline constexpr precision transforms{1, 1e-11};

/// The transpose on all ranks, and the cost on the one at the origin, whose blocks are the longest.
template <class F, class... X>
void check_moves(const F& f, const std::vector<array>& a, const X&... x) {
  for (const unsigned once : {0u, ~0u}) {
    const operation_report r = run_adjoint(f, once, 1, a, x...);
    CHECK(std::abs(r.tangent - r.cotangent) <= 1e-10 * std::max(1.0, std::abs(r.tangent)));
    if (std::get<0>(std::tie(x...)).grid().rank() != 0) continue;
    CHECK(r.forward == "");
    CHECK(r.backward == "");
  }
}
template <class F> std::string told(const F& f) {
  try {
    f();
  } catch (const dimesh::error& e) {
    return e.what();
  }
  return "";
}
inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace test_support
