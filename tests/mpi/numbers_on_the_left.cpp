// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number may stand on either side, and tensors begin with lists of numbers; values, gradients.
//
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>
#include <sstream>

#include "support/host.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<4> {};
struct hidden : dm::dim<2> {};
struct one : dm::axis<> {};
struct pod : dm::mesh<one> {};
using whole = dm::layout<pod>;
using data = dm::layout<pod, dm::split<batch, one>>;

template <class L> auto numbers(const dm::grid<pod>& g) {
  return dm::from_array<dm::tensor<double, L, batch, hidden>>(g,
                                                              {-2, -1.5, -1, -0.5, 0, 0.25, 1, 2});
}
template <class A, class B> double farthest(const A& a, const B& b) {
  return dm::value(dm::complete(dm::max(dm::abs(a - b))));
}
template <class X> auto as_numbers(const X& truths) { return dm::cast<double>(truths); }

template <class L> void check_sides(const dm::grid<pod>& g) {
  const auto x = numbers<L>(g);
  CHECK(farthest(dm::maximum(0, x), dm::maximum(x, 0)) == 0);
  CHECK(farthest(dm::minimum(0.5, x), dm::minimum(x, 0.5)) == 0);
  CHECK(farthest(dm::clamp(x, 0, 1.5), dm::clamp(x, 0.0, 1.5)) == 0);
  CHECK(farthest(dm::pow(2, x), dm::map([](auto v) { return dm::exp(v * std::log(2.0)); }, x)) <
        1e-15);
  CHECK(farthest(as_numbers(0 < x), as_numbers(x > 0)) == 0);
  CHECK(farthest(as_numbers(0 <= x), as_numbers(x >= 0)) == 0);
  CHECK(farthest(as_numbers(0 > x), as_numbers(x < 0)) == 0);
  CHECK(farthest(as_numbers(0 >= x), as_numbers(x <= 0)) == 0);
  CHECK(farthest(as_numbers(1 == x), as_numbers(x == 1)) == 0);
  CHECK(farthest(as_numbers(1 != x), as_numbers(x != 1)) == 0);
  CHECK(dm::value(dm::complete(dm::sum(as_numbers(0 < x)))) == 3);
}

TEST_CASE("a number on the left is one on the right") {
  const dm::grid<pod> g;
  check_sides<whole>(g);
  check_sides<data>(g);
}

TEST_CASE("a number to the power of a tensor has a derivative") {
  const dm::grid<pod> g;
  const auto x = numbers<data>(g);
  const auto loss = [](const auto& v) { return dm::sum(dm::pow(3, v)); };
  const auto d = dm::complete(dm::value_and_grad(loss, x)()).gradient;
  CHECK(farthest(d, dm::pow(3, x) * std::log(3.0)) < 1e-13);
}

TEST_CASE("sums of whole numbers may leave their type on the way") {
  const dm::grid<pod> g;
  const auto x = dm::from_array<dm::tensor<int, whole, batch>>(g, {2147483647, 1, -5, -1});
  CHECK(dm::value(dm::sum(x)) == 2147483642);
}

TEST_CASE("a tensor without dims is printed with its number") {
  const dm::grid<pod> g;
  const auto printed = [](const auto& x) {
    std::ostringstream out;
    out << x;
    return out.str();
  };
  const auto x = numbers<data>(g);
  CHECK(printed(dm::complete(dm::sum(x))) == "double[] -1.75");
  if (g.ranks() > 1) CHECK(printed(dm::sum(x)).find("-1.75") == std::string::npos);
}

}  // namespace
