// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: device
#include "dimesh/grad/vjp.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "dimesh/dimesh.hpp"
#include "dimesh/op/cuts.hpp"
#include "support/host.hpp"
#include "support/session.hpp"

namespace dm = dimesh;
namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct label : dm::dim<3> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<rows> {};
using L = dm::layout<pod, dm::split<batch, rows>>;

template <class C> struct weights {
  BOOST_HANA_DEFINE_STRUCT(weights, (dm::tensor<double, C, hidden, label>, w),
                           (dm::tensor<double, C, label>, b));
};
using input = dm::tensor<double, L, batch, hidden>;

constexpr auto layer = [](const auto& p, const auto& x) {
  return dm::tanh(dm::einsum<batch, label>(x, p.w) + p.b);
};
constexpr auto loss = [](const auto& p, const auto& x) {
  const auto y = layer(p, x);
  return dm::sum(y * y);
};

weights<L> made_weights(const dm::grid<pod>& g) {
  weights<L> p;
  p.w = dm::uniform<dm::tensor<double, L, hidden, label>>(g, dm::random_key(1), -1, 1);
  p.b = dm::uniform<dm::tensor<double, L, label>>(g, dm::random_key(2), -1, 1);
  return p;
}

double largest_difference(const auto& a, const auto& b) {
  double most = 0;
  for (dm::index_t i = 0; i < a.local_size(); ++i)
    most = std::max(most, std::abs(test_support::on_host(a)[i] - test_support::on_host(b)[i]));
  return most;
}

TEST_CASE(
    "the pullback of a loss, seeded with 1, gives what value_and_grad gives, and inputs' too") {
  const dm::grid<pod> g;
  const auto p = made_weights(g);
  const auto x = dm::uniform<input>(g, dm::random_key(3), -1, 1);
  auto [value, back] = dm::vjp(loss, p, x);
  const std::tuple both(p, x);
  const auto [want, wanted] = dm::value_and_grad(
      [](const auto& v) { return loss(std::get<0>(v), std::get<1>(v)); }, both)();
  dm::detail::bar_of_type<std::remove_cvref_t<decltype(value)>> one(g);
  dm::fill(one, 1.0);
  const auto [pbar, xbar] = back(one);
  CHECK(dm::value(dm::complete(value)) == dm::value(dm::complete(want)));
  CHECK(largest_difference(pbar.w, std::get<0>(wanted).w) == 0);
  CHECK(largest_difference(pbar.b, std::get<0>(wanted).b) == 0);
  CHECK(largest_difference(xbar, std::get<1>(wanted)) == 0);
}

TEST_CASE("several pullbacks are kept and used in any order; their tapes end with them") {
  const dm::grid<pod> g;
  const auto p = made_weights(g);
  const auto x1 = dm::uniform<input>(g, dm::random_key(3), -1, 1);
  const auto x2 = dm::uniform<input>(g, dm::random_key(4), -1, 1);
  auto first = dm::vjp(layer, p, x1);
  auto second = dm::vjp(layer, p, x2);
  { auto unused = dm::vjp(layer, p, x1); }
  dm::detail::bar_of_type<decltype(first.value)> ybar(g);
  dm::fill(ybar, 0.5);
  // First in, first out: not as a stack would have it.
  const auto a = first.pullback(ybar);
  auto moved = std::move(second.pullback);
  const auto b = moved(ybar);
  const auto again = dm::vjp(layer, p, x2).pullback(ybar);
  CHECK(largest_difference(std::get<1>(b), std::get<1>(again)) == 0);
  CHECK(largest_difference(std::get<0>(b).w, std::get<0>(again).w) == 0);
  CHECK(largest_difference(std::get<1>(a), std::get<1>(b)) > 0);
}

TEST_CASE("a pullback runs once") {
  const dm::grid<pod> g;
  const auto x = dm::uniform<input>(g, dm::random_key(3), -1, 1);
  auto [y, back] = dm::vjp([](const auto& v) { return v * v; }, x);
  dm::detail::bar_of_type<std::remove_cvref_t<decltype(y)>> ybar(g);
  dm::fill(ybar, 1.0);
  const input xbar = back(ybar);
  double worst = 0;
  for (dm::index_t i = 0; i < x.local_size(); ++i)
    worst =
        std::max(worst, std::abs(test_support::on_host(xbar)[i] - 2 * test_support::on_host(x)[i]));
  CHECK(worst < 1e-15);
  CHECK_THROWS_WITH_AS(back(ybar), doctest::Contains("called before"), dm::error);
}

struct open_dim : dm::dim<> {};

/// Cotangents of the value of f, at 10 elements of which each rank has some: of other extents they
/// are refused, and the right one is taken then.
template <class C, class F> void check_refused(const dm::grid<pod>& g, const F& f) {
  using X = dm::tensor<double, C, open_dim>;
  using bar = dm::detail::bar_of_type<X>;
  const auto x = dm::uniform<X>(g, dm::random_key(3), -1, 1, open_dim{10});
  const auto filled = [](const dm::grid<pod>& on, dm::index_t n) {
    bar y(on, open_dim{n});
    dm::fill(y, 1.0);
    return y;
  };
  auto [y, back] = dm::vjp(f, x);
  for (const dm::index_t n : {1000, 5, 0})
    CHECK_THROWS_WITH_AS((void)back(filled(g, n)),
                         ("vjp: the cotangent has " + std::to_string(n) +
                          " elements along dim 'open_dim', the function's value has 10")
                             .c_str(),
                         dm::error);
  const dm::grid<pod> other;
  CHECK_THROWS_WITH_AS((void)back(filled(other, 10)), doctest::Contains("lives on another grid"),
                       dm::error);
  CHECK_THROWS_WITH_AS((void)back(bar{}), doctest::Contains("not defined"), dm::error);
  const auto xbar = back(filled(g, 10));
  CHECK(xbar.template extent<open_dim>() == 10);
  CHECK(largest_difference(xbar, dm::vjp(f, x).pullback(filled(g, 10))) == 0);
}

TEST_CASE("a cotangent of other extents than the value, or on another grid") {
  const dm::grid<pod> g;
  const auto itself = [](const auto& v) { return v; };
  const auto added = [](const auto& v) { return v + v; };
  const auto scaled = [](const auto& v) { return v * 2.0; };
  using split = dm::layout<pod, dm::split<dm::uneven<open_dim>, rows>>;
  check_refused<split>(g, itself);
  check_refused<split>(g, added);
  check_refused<split>(g, scaled);
  check_refused<dm::layout<pod>>(g, itself);
  check_refused<dm::layout<pod>>(g, scaled);
}

TEST_CASE("a cotangent that cuts a ragged dim otherwise than the value") {
  const dm::grid<pod> g;
  using X = dm::tensor<double, dm::layout<pod, dm::split<dm::ragged<open_dim>, rows>>, open_dim>;
  std::vector<double> speed(g.everyone().size(), 1);
  const auto even = dm::cuts_by_speed<open_dim>(100, speed);
  speed.back() = 4;
  const auto other = dm::cuts_by_speed<open_dim>(100, speed);
  X x(g, open_dim{100}, even);
  dm::fill(x, 0.5);
  dm::detail::bar_of_type<X> right(g, open_dim{100}, even), wrong(g, open_dim{100}, other);
  dm::fill(right, 1.0), dm::fill(wrong, 1.0);
  auto [y, back] = dm::vjp([](const auto& v) { return v * 2.0; }, x);
  if (g.everyone().size() > 1)
    CHECK_THROWS_WITH_AS((void)back(wrong), doctest::Contains("cuts dim 'open_dim' otherwise"),
                         dm::error);
  CHECK(largest_difference(back(right), 2.0 * right) == 0);
}

}  // namespace
