// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// Steps of a program that move the same tensors again work out no plan, forward or back: moves to
// another mesh, exchanges, gathers to a rank, and what windows see of others. Whatever else tells
// two moves apart has a plan of its own.
#include <doctest/doctest.h>

#include <memory>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/vjp.hpp"
#include "dimesh/op/convolution_exchange.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/pooling_exchange.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"
#include "support/windows.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::index_t;

struct lanes : dm::axis<> {};
struct other : dm::mesh<lanes> {};

/// The plans that f() works out.
template <class F> index_t plans_of(const F& f) {
  const index_t before = dm::detail::plans_made();
  f();
  return dm::detail::plans_made() - before;
}

using by_p = dm::layout<line, dm::split<dm::uneven<p>, x>>;
using by_q = dm::layout<line, dm::split<dm::uneven<q>, x>>;
using far_q = dm::layout<other, dm::split<dm::uneven<q>, lanes>>;
using matrix = dm::tensor<double, by_p, p, q>;

TEST_CASE("moves to another mesh and back, exchanges, gathers to a rank") {
  const dm::grid<line> g;
  const dm::grid<other> h;
  const bool alone = g.everyone().size() == 1;
  const auto made = [&](index_t n) { return scattered<matrix>(g, numbers({"p", "q"}, {7, n}, 1)); };
  const auto moved = [&](const auto& v) {
    const auto back = dm::relayout<by_p>(dm::relayout<far_q>(v, h), g);
    const auto there = dm::exchange<by_q>(v);
    return dm::complete(dm::sum(back * back)) + dm::complete(dm::sum(there * there));
  };
  const matrix a = made(5), b = made(6), c = made(9);
  const auto step = [&](const matrix& v) {
    (void)dm::to_rank(v);
    return dm::complete(dm::value_and_grad(moved, v)());
  };
  const auto first = step(a);
  CHECK(plans_of([&] { (void)step(a); }) == 0);
  CHECK(plans_of([&] { (void)step(b); }) > 0);  // other extents
  CHECK(plans_of([&] { (void)step(a), (void)step(b); }) == 0);
  CHECK(dm::to_rank(step(a).gradient) == dm::to_rank(first.gradient));

  const auto across = [&](const dm::grid<other>& to, bool is_new) {
    dm::tensor<double, far_q, p, q> there;
    const index_t plans = plans_of([&] { there = dm::relayout<far_q>(c, to); });
    CHECK((alone || plans == (is_new ? 1 : 0)));
    CHECK(agrees(there, numbers({"p", "q"}, {7, 9}, 1)));
  };
  across(h, true);
  across(h, false);
  const dm::grid<other> again;  // another grid of that mesh
  across(again, true);
  across(again, false);
  across(h, false);
}

TEST_CASE("a way to a grid that is gone since its plan was made is an error") {
  const dm::grid<line> g;
  auto h = std::make_unique<dm::grid<other>>();
  const matrix a = scattered<matrix>(g, numbers({"p", "q"}, {4, 5}, 1));
  const auto there = dm::relayout<far_q>(a, *h);
  const auto way = [&](const auto& v) { return dm::relayout<by_p>(v, g); };
  auto [once, pull_once] = dm::vjp(way, there);
  CHECK(agrees(pull_once(once), numbers({"p", "q"}, {4, 5}, 1)));
  auto [twice, pull_late] = dm::vjp(way, there);
  h.reset();
  std::string text;
  try {
    (void)pull_late(twice);
  } catch (const dm::error& e) {
    text = e.what();
  }
  CHECK(text.find("relayout: one of the two grids is gone") != std::string::npos);
}

TEST_CASE("windows over dims that are split") {
  const dm::grid<line> g;
  const bool alone = g.everyone().size() == 1;
  using L = dm::layout<line, dm::split<dm::uneven<high>, x>>;
  const array a = numbers({"high", "wide"}, {13, 6}, 1), b = numbers({"tall"}, {4}, 2);
  const auto v = scattered<dm::tensor<double, L, high, wide>>(g, a);
  const auto w = scattered<dm::tensor<double, dm::layout<line>, tall>>(g, b);
  using over = dm::window<high, tall, rows>;
  using back_over = dm::window<rows, tall, high>;
  const auto loss = [&](const auto& both) {
    const auto& [i, k] = both;
    const auto c = dm::convolution_exchange<rows, wide>(i, k, over{.around = {1, 2}});
    const auto t = dm::transposed_convolution_exchange<high, wide>(
        c, k, back_over{.around = {1, 2}, .extent = 13});
    const dm::pool_window<high, rows> pool{.size = 3, .stride = 2};
    return dm::complete(dm::sum(c * c)) + dm::complete(dm::sum(t)) +
           dm::complete(dm::sum(dm::max_pool_exchange(i, pool))) +
           dm::complete(dm::sum(dm::mean_pool_exchange(i, pool)));
  };
  const auto step = [&] { (void)dm::complete(dm::value_and_grad(loss, std::pair(v, w))()); };
  CHECK((plans_of(step) > 0) == !alone);
  CHECK(plans_of(step) == 0);
  // Windows that differ in nothing that a type or an extent says.
  const auto check = [&](index_t before, bool is_new) {
    dm::tensor<double, dm::layout<line, dm::split<dm::uneven<rows>, x>>, rows, wide> y;
    const index_t plans = plans_of([&] {
      y = dm::convolution_exchange<rows, wide>(v, w, over{.around = {before, 3 - before}});
    });
    CHECK(plans == (is_new && !alone ? 1 : 0));
    CHECK(
        agrees(y, convolved({"rows", "wide"}, a, b, {{"high", "tall", "rows", 1, 1, before, 13}})));
  };
  check(1, false);
  check(0, true);
  check(3, true);
  check(1, false);
  check(0, false);
}

TEST_CASE("windows over blocks of any lengths: plans know the cuts") {
  const dm::grid<line> g;
  const auto ranks = static_cast<std::size_t>(g.everyone().size());
  using L = dm::layout<line, dm::split<dm::ragged<high>, x>>;
  const array a = numbers({"high"}, {11}, 1), b = numbers({"tall"}, {3}, 2);
  const auto w = scattered<dm::tensor<double, dm::layout<line>, tall>>(g, b);
  const auto step = [&](double of_the_last, bool is_new) {
    std::vector<double> speed(ranks, 1);
    speed.back() = of_the_last;
    const auto v = scattered<dm::tensor<double, L, high>>(g, a, dm::cuts_by_speed<high>(11, speed));
    dm::tensor<double, L, high> y;
    const index_t plans = plans_of([&] {
      y = dm::convolution_exchange<high>(v, w, dm::window<high, tall>{.around = {1, 1}});
    });
    CHECK(plans == (is_new && ranks > 1 ? 1 : 0));
    CHECK(agrees(y, convolved({"high"}, a, b, {{"high", "tall", "high", 1, 1, 1, 11}})));
  };
  step(1, true);
  step(4, true);
  step(1, false);
  step(4, false);
}

}  // namespace
