// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Right programs that are written in other ways than the tutorial's: walks without paths, costs of
// shapes in parentheses, shapes on grids, layouts as template arguments, loops without a state.
// ranks: 1 2
#include <doctest/doctest.h>
#include <dimesh/any_tensor.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/layout/layout_set.hpp>
#include <dimesh/train/loop.hpp>

#include "dimesh/op/refusals/wrong_classes.hpp"

namespace {
namespace dm = dimesh;

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
using whole = dm::layout<line>;
using by_batch = dm::layout<line, dm::split<batch, rows>>;
template <class L> using matrix = dm::tensor<float, L, batch, hidden>;
template <class L> struct pair_of {
  BOOST_HANA_DEFINE_STRUCT(pair_of, (matrix<L>, a), (dm::tensor<float, L, hidden>, b));
};

/// A dim that is a number for its program.
struct slot : dm::dim<8> {
  operator dm::index_t() const { return n; }  // NOLINT
};
TEST_CASE("operators of the program's own, where the library has a sentence for other dims") {
  const slot three{3}, four{4};
  CHECK(three + four == 7);
  CHECK(three * four == 12);
  CHECK(three < four);
  CHECK(dm::random_key{1} == dm::random_key{1});
}

TEST_CASE("a walk needs no paths") {
  const dm::grid<line> g;
  auto p = dm::constant<pair_of<whole>>(g, 2);
  const auto q = dm::constant<pair_of<whole>>(g, 3);
  int walked = 0;
  dm::for_each_tensor(
      [&walked](auto& x) {
        x = x * 3;
        ++walked;
      },
      p);
  CHECK(walked == 2);
  CHECK(dm::value(dm::complete(dm::sum(p.a))) == 6 * 48);
  CHECK(dm::value(dm::complete(dm::sum(p.b))) == 6 * 6);
  dm::for_each_tensor([](auto& x) { dm::fill(x, 1); }, p.b);
  CHECK(dm::value(dm::sum(p.b)) == 6);
  // Whoever takes anything takes the path, too.
  dm::for_each_tensor([](const auto&... all) { CHECK(sizeof...(all) == 3); }, p, q);
}

TEST_CASE("shapes are made on a grid, of its sizes") {
  const dm::grid<line> g;
  const auto s = dm::zeros<matrix<dm::shaped<by_batch>>>(g);
  CHECK(s.local<batch>() == matrix<by_batch>(g).local<batch>());
  CHECK(dm::make<pair_of<dm::shaped<by_batch>>>(g).a.local<batch>() == s.local<batch>());
}

struct doubled {
  template <class X> constexpr auto operator()(const X& x) const { return x * 2; }
};
struct one_rank : dm::mesh<> {};
using shape = dm::tensor<float, dm::shaped<dm::layout<one_rank>>, batch, hidden>;
static_assert(dm::cost_of<doubled>(shape{}).flops == dm::cost_of<doubled, shape>.flops);
static_assert(dm::cost_of<doubled>(shape{}).flops == 48);

TEST_CASE("a set's layout may be a template argument") {
  const dm::grid<line> g;
  const dm::layout_set<whole, by_batch> set{"whole", "by_batch"};
  float sum = 0;
  set.visit("by_batch", [&]<class L>() {
    sum = dm::value(dm::complete(dm::sum(dm::constant<matrix<L>>(g, 1))));
  });
  CHECK(sum == 48);
  set.visit("whole", [&]<class L>(dm::layout_tag<L>) {
    sum += dm::value(dm::complete(dm::sum(dm::constant<matrix<L>>(g, 1))));
  });
  CHECK(sum == 96);
}

TEST_CASE("a loop runs from the start without a state") {
  const dm::grid<line> g;
  dm::training_loop loop(g, {.steps = 3});
  dm::index_t steps = 0;
  loop.step = [&](auto step) {
    CHECK(step == steps++);
    return dm::metrics{{"loss", 1.0}};
  };
  CHECK(loop.run() == dm::loop_end::steps_done);
  CHECK(steps == 3);
  loop.step = nullptr;
  CHECK_THROWS_AS(loop.run(), dm::error);
}

TEST_CASE("a tensor of any type is asked for its own") {
  const dm::grid<line> g;
  const dm::any_tensor a = dm::constant<matrix<whole>>(g, 2);
  const auto x = a.as<matrix<whole>>();
  CHECK(dm::value(dm::sum(x)) == 96);
  const dm::any_tensor copy = a;
  CHECK(copy.is<matrix<whole>>());
  CHECK(copy.extent(0) == 8);
}

}  // namespace
