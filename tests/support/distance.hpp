// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far are two tensors apart, or two structs of them? In units that rounding has, too.
//
//   CHECK(distance(gradient, expected) < 1e-13);   // on every rank: 0 but on the first
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "dimesh/op/to_rank.hpp"
#include "dimesh/reflect/walk.hpp"

namespace test_support {

/// The largest |a - b| / (1 + |b|) of all elements. Collective.
template <class A, class B> double distance(const A& a, const B& b) {
  double far = 0;
  dimesh::for_each_tensor(
      [&far](const auto&, const auto& u, const auto& v) {
        const auto one = dimesh::to_rank(u), two = dimesh::to_rank(v);
        REQUIRE(one.size() == two.size());
        for (std::size_t i = 0; i < one.size(); ++i)
          far = std::max(far, std::abs(one[i] - two[i]) / (1 + std::abs(two[i])));
      },
      a, b);
  return far;
}

}  // namespace test_support
