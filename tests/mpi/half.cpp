// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// Tensors of half: made, moved, mapped, multiplied, summed in messages of two bytes an element, and
// differentiated. Small whole numbers are exact in them.
#include "dimesh/element/half.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>
#include <dimesh/op/softmax.hpp>
#include <dimesh/optim/loss_scale.hpp>

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

/// 70000 ones: more than half holds, but for their mean.
template <class L> void check_many(const dm::grid<line>& g) {
  const auto ones = dm::constant<dm::tensor<dm::half, L, p>>(g, 1, p{70000});
  const auto number = [](const auto& v) {
    static_assert(std::is_same_v<dm::value_of<std::remove_cvref_t<decltype(v)>>, dm::half>);
    return dm::value(dm::cast<float>(dm::complete(v)));
  };
  CHECK(number(dm::mean(ones)) == doctest::Approx(1).epsilon(1e-3));
  CHECK(dm::value(dm::complete(dm::mean<float>(ones))) == doctest::Approx(1).epsilon(1e-6));
  CHECK(number(dm::log_sum_exp<p>(ones)) == doctest::Approx(1 + std::log(7e4)).epsilon(1e-3));
  CHECK(number(dm::max(dm::softmax<p>(ones))) == doctest::Approx(1 / 7e4).epsilon(1e-2));
  CHECK(number(dm::min(dm::log_softmax<p>(ones))) == doctest::Approx(-std::log(7e4)).epsilon(1e-3));
  const auto f = [](const auto& v) {
    return dm::sum<float>(dm::log_sum_exp<p>(v)) + dm::complete(dm::mean<float>(v));
  };
  const auto slopes = dm::complete(dm::value_and_grad(f, ones)()).gradient;
  CHECK(number(dm::max(slopes)) == doctest::Approx(2 / 7e4).epsilon(1e-2));
  CHECK(number(dm::min(slopes)) == doctest::Approx(2 / 7e4).epsilon(1e-2));
}

TEST_CASE("half: means and softmax of many") {
  const dm::grid<line> g;
  check_many<dm::layout<line>>(g);
  check_many<dm::layout<line, dm::split<dm::uneven<p>, x>>>(g);
}

TEST_CASE("half: micro-batches whose sum it does not hold") {
  const dm::grid<line> g;
  using X = dm::tensor<dm::half, dm::layout<line, dm::split<dm::uneven<p>, x>>, p>;
  const auto w = dm::constant<X>(g, 2, p{6});
  const auto batch = [&](index_t) {
    const auto f = [](const auto& v) { return dm::sum<float>(v * v) * 10000; };
    return dm::value_and_grad(f, w)();
  };
  const std::vector<float> each(g.rank() == 0 ? 6 : 0, 40000);
  const auto of = [](auto&& step) {
    return dm::to_rank(dm::cast<float>(dm::complete(std::move(step)).gradient));
  };
  CHECK(of(dm::accumulate(4, batch)) == each);
  CHECK(of(dm::accumulate({1, 2, 1}, batch)) == each);
}

TEST_CASE("half: a loss that is multiplied leaves it") {
  const dm::grid<line> g;
  const auto w = dm::constant<dm::tensor<dm::half, dm::layout<line>, p>>(g, 2, p{6});
  const auto f = [](const auto& v) { return dm::mean(v * v); };
  const dm::loss_scale scale{32768};
  auto step = dm::complete(dm::value_and_grad(scale.scaled(f), w)());
  CHECK(dm::value(step.value) == 4 * 32768.0f);
  CHECK(scale.accepts(dm::global_norm(step.gradient)));
  scale.unscaled(step.gradient);
  const auto slope = dm::value(dm::cast<float>(dm::max(step.gradient)));
  CHECK(slope == doctest::Approx(4.0 / 6).epsilon(1e-3));
}
}  // namespace
