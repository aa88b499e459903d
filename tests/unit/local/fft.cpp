// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a transform does where there is no FFTW. (With it: mpi/laws_fft.)
#define DIMESH_WITH_FFTW 0
#include "dimesh/local/fft.hpp"

#include <doctest/doctest.h>

TEST_CASE("without FFTW a transform is refused, and says why") {
  static_assert(!dimesh::local::has_fftw);
  dimesh::local::fft_loops l;
  l.along(4, 1, 1);
  std::complex<double> x[4];
  double y[4];
  const char* const why = "fft: this program was compiled without FFTW (Debian: libfftw3-dev)";
  CHECK_THROWS_WITH_AS(dimesh::local::fft(l, true, x, x), why, dimesh::error);
  CHECK_THROWS_WITH_AS(dimesh::local::fft_to_half(l, y, x), why, dimesh::error);
  CHECK_THROWS_WITH_AS(dimesh::local::fft_from_half(l, x, y), why, dimesh::error);
}
