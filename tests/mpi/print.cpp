// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
#include "dimesh/show/print.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

template <class X> std::string printed(const X& x) {
  std::ostringstream out;
  dm::print_gathered(x, out);
  return out.str();
}

TEST_CASE("print_gathered: elements in global order, on rank 0 alone") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  const std::string ranks = std::to_string(g.ranks());
  const auto a = dm::generate<dm::tensor<double, L, p, q>>(
      g, [](index_t i, index_t j) { return static_cast<double>(i * 3 + j + 8); }, p{2}, q{3});
  const std::string want = "double[p=2/x:" + ranks + " uneven, q=3]\n[[ 8  9 10]\n [11 12 13]]\n";
  CHECK(printed(a) == (g.rank() == 0 ? want : ""));
  std::ostringstream one;
  one << a;
  CHECK(one.str() == "double[p=2/x:" + ranks + " uneven, q=3]");
}

TEST_CASE("print_gathered: scalars, nothing at all, sums yet to be made, long dims") {
  const dm::grid<line> g;
  const auto text = [&](const auto& x, const std::string& want) {
    const std::string got = printed(x);
    CHECK(got.substr(got.find('\n') + 1) == (g.rank() == 0 ? want : ""));
  };
  using R = dm::layout<line>;
  using P = dm::layout<line, dm::partial<x>>;
  text(dm::constant<dm::tensor<float, R>>(g, 1.5), "1.5\n");
  text(dm::constant<dm::tensor<float, R, p>>(g, 1.5, p{0}), "[]\n");
  text(dm::constant<dm::tensor<std::int8_t, R, p>>(g, std::int8_t{-3}, p{2}), "[-3 -3]\n");
  text(dm::constant<dm::tensor<std::uint8_t, R, p>>(g, std::uint8_t{65}, p{2}), "[65 65]\n");
  auto addends = dm::constant<dm::tensor<int, P, p>>(g, 7, p{2});
  text(addends, "[7 7]\n");
  text(dm::generate<dm::tensor<int, R, p>>(
           g, [](index_t i) { return static_cast<int>(i); }, p{40}),
       "[ 0  1  2 ... 37 38 39]\n");
}

}  // namespace
