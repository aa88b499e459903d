// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: sanitize
// Steps of a program that move the same tensors again work out no plan, forward or back: moves to
// another mesh, exchanges and gathers to a rank. Whatever else tells two moves apart has a plan of
// its own.
#include <doctest/doctest.h>

#include <memory>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/vjp.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"

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

}  // namespace
