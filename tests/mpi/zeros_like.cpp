// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Zeros of a recorded tensor hold sums that a loss adds up in a loop; no gradient comes from them.
//
// ranks: 1 2 3
#include "dimesh/op/zeros_like.hpp"

#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <limits>

#include "support/host.hpp"

namespace {
namespace dm = dimesh;
struct p : dm::dim<5> {};
struct x : dm::axis<> {};
struct line : dm::mesh<x> {};

template <class L> void check(const dm::grid<line>& g) {
  using X = dm::tensor<double, L, p>;
  auto w = dm::generate<X>(g, [](dm::index_t i) { return static_cast<double>(i); });
  const auto loss = [](const auto& v) {
    auto total = dm::zeros_like(v);
    for (int k = 1; k <= 3; ++k) total = total + v * k;
    return dm::sum(total * v);
  };
  const auto [value, gradient] = dm::complete(dm::value_and_grad(loss, w)());
  CHECK(dm::value(value) == 6 * (1 + 4 + 9 + 16));
  const auto found = test_support::on_host(gradient);
  for (dm::index_t i = 0; i < gradient.local_size(); ++i)
    CHECK(found[i] == 12.0 * static_cast<double>(gradient.block(0).offset + i));
  // Zeros whatever was there.
  dm::fill(w, std::numeric_limits<double>::quiet_NaN());
  const auto none = [](const auto& v) { return dm::sum(dm::zeros_like(v)); };
  const auto of_nan = dm::complete(dm::value_and_grad(none, w)());
  CHECK(dm::value(of_nan.value) == 0);
  const auto nothing = test_support::on_host(of_nan.gradient);
  for (dm::index_t i = 0; i < of_nan.gradient.local_size(); ++i) CHECK(nothing[i] == 0);
}

TEST_CASE("zeros_like: of recorded tensors") {
  const dm::grid<line> g;
  check<dm::layout<line>>(g);
  check<dm::layout<line, dm::split<dm::uneven<p>, x>>>(g);
}

}  // namespace
