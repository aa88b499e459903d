// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a tape when something goes wrong? An exception between two steps of the way
// back, or of the recorded run, leaves nothing taken, and the next gradient is right. A pullback
// that outlives the tape around it says so.
//
// ranks: 1 2
// labels: sanitize
#include "dimesh/core/tape_life.hpp"
#include "support/host.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/grad/vjp.hpp>
#include <dimesh/op/operation.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace dm = dimesh;

namespace {

struct width : dm::dim<12> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using whole = dm::layout<line>;
using halves = dm::layout<line, dm::split<width, ranks>>;
template <class L> using row = dm::tensor<double, L, width>;

dm::index_t live() { return dm::detail::pool::instance().figures().live; }

/// Where it happens: in the local call, in the transpose, or in what the transpose calls.
enum class place { nowhere, forward, transpose, below };
place failing = place::nowhere;
void fail_at(place here) {
  if (failing == here) throw std::runtime_error("on purpose");
}

/// Like the operand; also its own transpose.
struct fragile_op {
  static constexpr bool on_host = true;
  bool back = false;
  void fill(dm::results y, dm::operands x) const {
    fail_at(back ? place::below : place::forward);
    std::copy_n(x[0].data<const double>(), x[0].elements(), y[0].data<double>());
  }
  constexpr void cost(dm::cost_counter&, dm::results, dm::operands) const {}
  static constexpr bool needs(int, unsigned) { return true; }
  void transpose(const auto& to) const {
    fail_at(place::transpose);
    to.give(0, fragile_op{true}, to.ybar);
  }
};
constexpr auto fragile = [](const auto& x) {
  return dm::apply_as<dm::spec_of<std::remove_cvref_t<decltype(x)>>>(fragile_op{}, x);
};
constexpr auto loss = [](const auto& w) {
  const auto y = dm::tanh(fragile(dm::tanh(w) * w));
  return dm::complete(dm::einsum<>(y, y));
};
constexpr auto loss_again = [](const auto& w) {
  return loss(dm::recompute([](const auto& v) { return fragile(dm::tanh(v)) * 2.0; })(w));
};

template <class F> void check_released(const F& f) {
  for (const place p : {place::forward, place::transpose, place::below}) {
    CAPTURE(static_cast<int>(p));
    failing = place::nowhere;
    const dm::index_t before = live();
    f();
    CHECK(live() == before);
    failing = p;
    CHECK_THROWS_WITH_AS(f(), "on purpose", std::runtime_error);
    CHECK(live() == before);
    failing = place::nowhere;
    CHECK_NOTHROW(f());
    CHECK(live() == before);
  }
}

template <class L> void check_exceptions() {
  const dm::grid<line> g;
  const auto w = dm::generate<row<L>>(g, [](dm::index_t i) { return 0.1 * double(i) - 0.5; });
  check_released([&] { (void)dm::value_and_grad(loss, w)(); });
  check_released([&] { (void)dm::value_and_grad(loss_again, w)(); });
  const auto nested = [](const auto& v) {
    const auto inner = dm::complete(dm::value_and_grad(loss, v)());
    return dm::complete(dm::einsum<>(inner.gradient, inner.gradient));
  };
  check_released([&] { (void)dm::value_and_grad(nested, w)(); });
  check_released([&] {
    auto [y, back] = dm::vjp(loss, w);
    (void)back(dm::make<dm::detail::bar_of_type<std::remove_cvref_t<decltype(y)>>>(g));
  });
}

row<halves> ones(const dm::grid<line>& g) {
  return dm::generate<row<halves>>(g, [](dm::index_t) { return 1.0; });
}

TEST_CASE("an exception on the way, there or back, leaves nothing taken") {
  check_exceptions<whole>();
  check_exceptions<halves>();
}

TEST_CASE("a pullback keeps nothing once it has run, or has failed to") {
  const dm::grid<line> g;
  const auto w = ones(g);
  const dm::index_t before = live();
  for (const place p : {place::nowhere, place::transpose, place::below}) {
    failing = place::nowhere;
    auto run = dm::vjp([](const auto& v) { return fragile(dm::tanh(v) * v); }, w);
    const row<halves> ybar = run.value;
    run.value = {};
    failing = p;
    if (p == place::nowhere)
      (void)run.pullback(ybar);
    else
      CHECK_THROWS_WITH_AS(run.pullback(ybar), "on purpose", std::runtime_error);
    CHECK(live() == before + ybar.local_bytes());
    CHECK_THROWS_WITH_AS(run.pullback(ybar), doctest::Contains("called before"), dm::error);
  }
  failing = place::nowhere;
}

TEST_CASE("a pullback that outlives the tape around it") {
  const dm::grid<line> g;
  const auto w = ones(g), c = ones(g);
  const auto inner = [](const auto& v) { return v * v * v; };
  using recorded = dm::tensor<double, dm::tracked<halves>, width>;
  using made = decltype(dm::vjp(inner, std::declval<const recorded&>()));
  std::optional<made> kept;
  const auto outer = [&](const recorded& v) {
    kept.emplace(dm::vjp(inner, v));
    auto now = dm::vjp(inner, v);
    const auto slope = now.pullback(dm::stop_gradient(now.value) * 0.0 + 1.0);
    return dm::complete(dm::sum(kept->value)) + dm::complete(dm::einsum<>(slope, slope));
  };
  // d/dw (w^3 + (3 w^2)^2) = 3 w^2 + 36 w^3
  const auto gradient = dm::value_and_grad(outer, w)().gradient;
  CHECK(dm::value(dm::complete(dm::max(dm::abs(gradient - 39.0)))) < 1e-12);
  // Another tape may lie where that one was.
  (void)dm::value_and_grad([](const auto& v) { return dm::complete(dm::sum(v * v)); }, w)();
  CHECK_THROWS_WITH_AS(kept->pullback(c), doctest::Contains("around this pullback is over"),
                       dm::error);
  kept.reset();
  // One that refers to nothing outside may be kept.
  auto alone = dm::vjp(inner, c);
  (void)dm::value_and_grad([](const auto& v) { return dm::complete(dm::sum(v * v)); }, w)();
  CHECK_NOTHROW(alone.pullback(c));
}

bool same_block(const row<halves>& a, const row<halves>& b) {
  return std::equal(test_support::on_host(a).data(),
                    test_support::on_host(a).data() + a.local_size(),
                    test_support::on_host(b).data());
}

// Nothing here communicates, so that no thread but the main one asks anything of MPI.
TEST_CASE("tapes on threads: made on one, run backwards on another; one on each of several") {
  const dm::grid<line> g;
  const auto w = dm::generate<row<halves>>(g, [](dm::index_t i) { return 0.1 * double(i) - 0.3; });
  const auto seed = ones(g);
  const auto f = [](const auto& v) { return fragile(dm::tanh(v) * v); };
  const auto run = [&] { return dm::vjp(f, w); };
  const row<halves> expected = run().pullback(seed);
  const dm::index_t before = live();
  {
    std::optional<decltype(run())> there;
    std::thread([&] { there.emplace(run()); }).join();
    CHECK(same_block(there->pullback(seed), expected));
    auto here = run();
    row<halves> found;
    std::thread([&] { found = here.pullback(seed); }).join();
    CHECK(same_block(found, expected));
  }
  CHECK(live() == before);
  std::array<row<halves>, 4> found;
  std::vector<std::thread> all;
  for (auto& to : found)
    all.emplace_back([&] {
      for (int i = 0; i < 100; ++i) to = run().pullback(seed);
    });
  for (auto& t : all) t.join();
  for (const auto& x : found) CHECK(same_block(x, expected));
}

TEST_CASE("marks of lives") {
  std::optional<dm::detail::life> first(std::in_place), second(std::in_place);
  const auto a = first->mark(), b = second->mark();
  CHECK(a == first->mark());
  CHECK(a != b);
  first.reset();
  CHECK(a.over());
  CHECK(!b.over());
  first.emplace();
  CHECK(a.over());
  CHECK(a != first->mark());
}

}  // namespace
