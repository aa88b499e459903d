// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 369 525 681
// labels: local device
// Products of tensors of bfloat16, rounded once or left in float, and their transposes: exact on
// small whole numbers.
#include "dimesh/op/einsum.hpp"

#include <doctest/doctest.h>

#include "dimesh/element/bfloat16.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using bf = dm::bfloat16;

TEST_CASE("bfloat16 einsum: on every layout of a line and some of a plane") {
  const auto check = [](const auto& g, auto t) {
    using L = typename decltype(t)::type;
    for (const extents& n :
         {extents{5, 4, 3}, extents{1, 7, 2}, extents{0, 3, 2}, extents{3, 0, 2}}) {
      const array a = numbers({"p", "q"}, {n[0], n[1]}, 1),
                  b = numbers({"q", "r"}, {n[1], n[2]}, 2);
      const auto u = scattered<dm::tensor<bf, L, p, q>>(g, a);
      const auto v = scattered<dm::tensor<bf, L, q, r>>(g, b);
      const auto f = [](const auto& i, const auto& j) { return dm::einsum<p, r>(i, j); };
      const auto wide = [](const auto& i, const auto& j) { return dm::einsum<float, p, r>(i, j); };
      static_assert(std::is_same_v<dm::value_of<decltype(f(u, v))>, bf>);
      static_assert(std::is_same_v<dm::value_of<decltype(wide(u, v))>, float>);
      CHECK(agrees(wide(u, v), einsum({"p", "r"}, {a, b})));  // whole numbers are exact
      CHECK(agrees(f(u, v), einsum({"p", "r"}, {a, b})));
      CHECK(agrees(dm::einsum<double, p, r>(u, v), einsum({"p", "r"}, {a, b})));
      check_operation(f, {}, {a, b}, u, v);
      check_operation(wide, {}, {a, b}, u, v);
    }
  };
  for_each_grid<line>([&](const dm::grid<line>& g) {
    for_all_layouts<line, dm::detail::list<p, q, r>, unevenly>([&](auto t) { check(g, t); });
  });
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for_all_layouts<plane, dm::detail::list<p, q, r>,
                    layout_choice{.uneven = true, .stride = 8, .first = 3}>(
        [&](auto t) { check(g, t); });
  });
}

TEST_CASE("bfloat16 einsum: three operands, elementwise, one operand") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    const array a = numbers({"p", "q"}, {5, 4}, 1), b = numbers({"q"}, {4}, 2);
    const auto u = scattered<dm::tensor<bf, L, p, q>>(g, a);
    const auto v = scattered<dm::tensor<bf, L, q>>(g, b);
    CHECK(agrees(dm::einsum<float, p>(u, v, v), einsum({"p"}, {a, b, b})));
    CHECK(agrees(dm::einsum<p, q>(u, v), einsum({"p", "q"}, {a, b})));
    CHECK(agrees(dm::einsum<float, p, q>(u, v), einsum({"p", "q"}, {a, b})));
    CHECK(agrees(dm::einsum<q, p>(u), transpose({"q", "p"}, a)));
    CHECK(agrees(dm::einsum<float, q, p>(u), transpose({"q", "p"}, a)));
    CHECK(agrees(dm::einsum<float>(u, u), einsum({}, {a, a})));
    check_operation([](const auto& i, const auto& j) { return dm::einsum<p, q>(i, j); }, {}, {a, b},
                    u, v);
  });
}

}  // namespace
