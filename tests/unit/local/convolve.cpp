// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/convolve.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using dimesh::index_t;
namespace dl = dimesh::local;

namespace {

/// Loops of one turn each but for the last, channels of the filter's own: c[i, o, f] = the sum over
/// t of a[i, o + t] b[t, f], rows of 5 elements, 3 taps, 2 channels.
dl::convolution with_loops(int many) {
  dl::convolution v;
  v.rest.outer = many;
  for (int i = 0; i < many; ++i) v.rest.extent[i] = 1;
  v.rest.extent[many - 2] = 2, v.rest.a_outer[many - 2] = 5, v.rest.c_outer[many - 2] = 6;
  v.rest.extent[many - 1] = 2, v.rest.b_outer[many - 1] = 1, v.rest.c_outer[many - 1] = 1;
  v.windows = 1;
  dl::window_loop& w = v.window[0];
  w.extent[0] = 5, w.extent[1] = 3, w.extent[2] = 3;
  w.step[0] = 1, w.step[1] = 2, w.step[2] = 2;
  return v;
}

TEST_CASE("convolve: as many loops as 16 dims have") {
  std::vector<double> a(10), b(6), c(12, 99);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * i % 7);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i % 4) - 1;
  for (const int many : {2, dimesh::max_dims - 1}) {
    const dl::convolution v = with_loops(many);
    dl::convolve(v, a.data(), b.data(), c.data(), 12);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t o = 0; o < 3; ++o)
        for (std::size_t f = 0; f < 2; ++f) {
          double sum = 0;
          for (std::size_t t = 0; t < 3; ++t) sum += a[5 * i + o + t] * b[2 * t + f];
          CHECK(c[6 * i + 2 * o + f] == sum);
        }
  }
}

TEST_CASE("convolve: more loops than there is room for are refused") {
  double c = 0;
  std::string said;
  try {
    dl::convolve(with_loops(dimesh::max_dims), &c, &c, &c, 1);
  } catch (const dimesh::error& e) {
    said = e.what();
  }
  CHECK(said ==
        "convolve: dims of array, filter and result, each counted once, are more than 16; merge "
        "some that stand side by side");
}

}  // namespace
