// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/argmax.hpp"

#include "support/plans.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <limits>

using dimesh::index_t;

namespace {

/// The place of the extreme of n elements, `stride` apart; NaN is more extreme than any number.
template <class T> index_t place(const T* x, index_t n, index_t stride, bool max) {
  index_t best = n == 0 ? -1 : 0;
  for (index_t k = 1; k < n; ++k) {
    const T a = x[best * stride], b = x[k * stride];
    if (a == a && (b != b || (max ? b > a : b < a))) best = k;
  }
  return best;
}

template <class Index, class T>
void check(index_t outer, index_t n, index_t inner, const std::vector<T>& x) {
  std::vector<Index> top(outer * inner, 77), low(outer * inner, 77);
  dimesh::local::argmax(outer, n, inner, x.data(), top.data());
  dimesh::local::argmin(outer, n, inner, x.data(), low.data());
  std::vector<Index> turned(outer * inner, 77);
  dimesh::local::argmax<dimesh_test::reversed>(outer, n, inner, x.data(), turned.data());
  CHECK(turned == top);
  for (index_t o = 0; o < outer; ++o) {
    for (index_t j = 0; j < inner; ++j) {
      const T* const first = x.empty() ? nullptr : x.data() + o * n * inner + j;
      CHECK(top[o * inner + j] == place(first, n, inner, true));
      CHECK(low[o * inner + j] == place(first, n, inner, false));
    }
  }
}

}  // namespace

TEST_CASE("argmax: every shape, the first of equals") {
  for (const index_t outer : {0, 1, 5}) {
    for (const index_t n : {0, 1, 2, 10, 300}) {
      for (const index_t inner : {0, 1, 3, 64, 65, 256, 257}) {
        check<std::int32_t>(outer, n, inner, dimesh_test::elements<float>(outer * n * inner, 0));
        check<std::int64_t>(outer, n, inner, dimesh_test::elements<double>(outer * n * inner, 0));
        check<std::int32_t>(outer, n, inner, dimesh_test::elements<int>(outer * n * inner, 0));
      }
    }
  }
}

TEST_CASE("argmax: NaN is the extreme, infinities count") {
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  check<int>(1, 4, 1, std::vector<float>{-inf, -inf, -inf, -inf});
  check<int>(1, 4, 1, std::vector<float>{1, inf, inf, 2});
  check<int>(1, 5, 1, std::vector<float>{1, nan, inf, nan, -inf});
  check<int>(1, 3, 2, std::vector<float>{1, nan, nan, inf, 3, nan});
  check<int>(1, 1, 1, std::vector<float>{nan});
}
