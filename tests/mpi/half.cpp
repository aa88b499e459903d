// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// Tensors of half: made, moved, mapped, multiplied, summed in messages of two bytes an element, and
// differentiated. Small whole numbers are exact in them.
#include "dimesh/element/half.hpp"

#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>

#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

const std::vector<extents> sizes = {{5, 4}, {1, 7}, {0, 3}, {8, 6}};

TEST_CASE("half: complete, relayout and maximum, on every layout of a line") {
  for_each_case<line, unevenly_with_partial, p, q>(sizes, [](const auto& v, const array& a) {
    using L = typename std::remove_cvref_t<decltype(v)>::layout_type;
    const auto h = scattered<dm::tensor<dm::half, L, p, q>>(v.grid(), a);
    CHECK(agrees(dm::cast<float>(h), a));
    CHECK(agrees(dm::complete(h), a));
    CHECK(costs_as_foreseen([](const auto& u) { return dm::complete(u); }, h));
    const auto moved = dm::relayout<dm::layout<line, dm::split<dm::uneven<q>, x>>>(h);
    CHECK(agrees(moved, a));
    const auto twice = moved + moved;
    static_assert(std::is_same_v<dm::value_of<decltype(twice)>, dm::half>);
    CHECK(agrees(dm::cast<float>(twice) - dm::cast<float>(moved), a));
    const auto most = dm::complete(dm::max<q>(moved));
    CHECK(dm::to_rank(dm::cast<float>(most)) ==
          dm::to_rank(dm::complete(dm::max<q>(dm::cast<float>(moved)))));
  });
}

TEST_CASE("half: products and their gradients are computed in float") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  using A = dm::tensor<dm::half, L, p, q>;
  const auto a = dm::generate<A>(
      g, [](index_t i, index_t j) { return static_cast<float>(i + 2 * j % 5); }, p{6}, q{4});
  const auto c = dm::complete(dm::einsum<q>(a, a));
  static_assert(std::is_same_v<dm::value_of<decltype(c)>, const dm::half> ||
                std::is_same_v<dm::value_of<decltype(c)>, dm::half>);
  const auto wide = dm::cast<float>(a);
  CHECK(dm::to_rank(dm::cast<float>(c)) == dm::to_rank(dm::complete(dm::einsum<q>(wide, wide))));
  const auto f = [](const auto& t) { return dm::sum<float>(dm::einsum<q>(t, t)); };
  const auto gradient = dm::complete(dm::value_and_grad(f, a)()).gradient;
  const auto expected = dm::to_rank(2 * wide);
  CHECK(dm::to_rank(dm::cast<float>(gradient)) == expected);
}
}  // namespace
