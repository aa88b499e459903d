// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 401 785 1169
// labels: local device
// The same elements are left out under every layout, forward and back; as many as the rate says.
#include "dimesh/op/dropout.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/value.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
constexpr dm::random_key key{11};

/// By the definition: bits of element i are word i % 4 of the words of group i / 4.
array thinned(const array& a, double rate) {
  array b = a;
  for (std::size_t i = 0; i < b.values.size(); ++i) {
    const auto bits = key.at(static_cast<index_t>(i) / 4).word[i % 4];
    b.values[i] = bits >= rate * 0x1p32 ? b.values[i] / (1 - rate) : 0;
  }
  return b;
}

constexpr auto quarter = [](const auto& v) { return dm::dropout(0.25, key, v); };

TEST_CASE("in every layout, addends too") {
  for_each_case<plane, unevenly_with_partial, p, q>(
      {{6, 4}, {5, 33}, {1, 7}, {0, 3}}, [](const auto& v, const array& a) {
        CHECK(agrees(quarter(v), thinned(a, 0.25), 1e-14));
        check_operation(quarter, {.step = 1, .tolerance = 1e-12}, {a}, v);
      });
}

TEST_CASE("long runs, three dims, extreme rates") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for_each_layout<line, dm::detail::list<p, q, r>, unevenly>([&](auto t) {
      const array a = numbers({"p", "q", "r"}, {3, 5, 131}, 1);
      const auto v = scattered<dm::tensor<float, typename decltype(t)::type, p, q, r>>(g, a);
      CHECK(agrees(dm::dropout(0.5, key, v), thinned(a, 0.5), 1e-6));
      CHECK(agrees(dm::dropout(0, key, v), a));
      CHECK(agrees(dm::dropout(1, key, v), make(a.dims, a.size, [](auto&) { return 0; })));
      CHECK_THROWS_WITH_AS((void)dm::dropout(1.5, key, v), doctest::Contains("between 0 and 1"),
                           dm::error);
    });
  });
}

TEST_CASE("the rate is kept, the mean stays") {
  const dm::grid<line> g;
  using X = dm::tensor<double, dm::layout<line, dm::split<dm::uneven<p>, x>>, p>;
  const auto ones = dm::constant<X>(g, 1, p{100000});
  const auto total = dm::value(dm::complete(dm::sum(dm::dropout(0.3, key, ones))));
  CHECK(total == doctest::Approx(100000).epsilon(0.01));
}

}  // namespace
