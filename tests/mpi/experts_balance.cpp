// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// The loss that balances experts, that of the router's logits, a bias that balances without one,
// and what is told of a routing: beside loops over tokens; padding; gradients; elements that count
// to 256 only.
#include "dimesh/nn/moe/balance.hpp"

#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include <limits>

#include "support/adjoint.hpp"
#include "support/routes.hpp"

namespace {
using namespace test_support;
using namespace test_support::moe;

struct choice : dm::dim<2> {};
struct best : dm::dim<1> {};
using by_group = dm::layout<line, dm::split<dm::uneven<p>, x>>;  // p: groups, q: tokens, r: experts
using scored = dm::tensor<double, by_group, p, q, r>;
using flagged = dm::tensor<double, by_group, p, q>;

double loss_of(const array& a, const array& valid, const routes& to) {
  const index_t groups = a.size[0], tokens = a.size[1], experts = a.size[2];
  double loss = 0;
  for (index_t i = 0; i < groups; ++i) {
    double n = 0;
    std::vector<double> f(static_cast<std::size_t>(experts)), m(static_cast<std::size_t>(experts));
    for (index_t t = 0; t < tokens; ++t) {
      if (valid.values[static_cast<std::size_t>(i * tokens + t)] == 0) continue;
      n += 1;
      for (index_t e = 0; e < experts; ++e) {
        const auto at = static_cast<std::size_t>(e);
        f[at] += to.chosen.values[static_cast<std::size_t>((i * tokens + t) * 2)] ==
                 static_cast<double>(e);
        m[at] += a.values[static_cast<std::size_t>((i * tokens + t) * experts + e)];
      }
    }
    for (std::size_t e = 0; e < f.size() && n > 0; ++e) loss += f[e] * m[e] / (n * n);
  }
  return loss / static_cast<double>(groups);
}
template <class X> double number(const X& x) {
  return static_cast<double>(dm::value(dm::complete(x)));
}

TEST_CASE("the loss that balances: as in the paper and scaled; padding leaves counts and means") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using nn::balance_scale;
    const array a = scores(5, 9, 3, 4),
                all = make({"p", "q"}, {5, 9}, [](const extents&) { return 1.; });
    const array valid = make({"p", "q"}, {5, 9}, [](const extents& at) {
      return at[1] % 4 == 1 || at[0] == 2 ? 0. : 1.;
    });
    const auto s = scattered<scored>(g, a);
    const auto v = scattered<flagged>(g, valid);
    const auto loss = [](balance_scale how, const auto& pr, const auto& to, const auto&... mask) {
      return number(nn::balance_loss<q, r, choice>(how, pr, to.chosen, mask...));
    };
    const auto plain = nn::route<q, r, choice>({}, s);
    const auto masked = nn::route<q, r, choice>({}, s, v);
    const double want = loss_of(a, all, one_by_one({}, a, all, 2, "choice"));
    CHECK(loss(balance_scale::scaled, s, plain) == doctest::Approx(3 * want));
    CHECK(loss(balance_scale::paper, s, plain) == doctest::Approx(want / 3));
    CHECK(loss(balance_scale::scaled, s, masked, v) ==
          doctest::Approx(3 * loss_of(a, valid, one_by_one({}, a, valid, 2, "choice"))));
    // What padding holds changes nothing.
    array other = a;
    for (std::size_t i = 0; i < other.values.size(); ++i)
      if (valid.values[i / 3] == 0) other.values[i] = 0.9;
    const auto s2 = scattered<scored>(g, other);
    CHECK(loss(balance_scale::scaled, s2, nn::route<q, r, choice>({}, s2, v), v) ==
          loss(balance_scale::scaled, s, masked, v));
    // A uniform router: 1 / E^2 and 1.
    const auto even =
        scattered<scored>(g, make({"p", "q", "r"}, {5, 9, 4}, [](const extents&) { return 0.25; }));
    const auto to = nn::route<q, r, choice>({}, even);
    CHECK(loss(balance_scale::paper, even, to) == doctest::Approx(1. / 16));
    CHECK(loss(balance_scale::scaled, even, to) == doctest::Approx(1));
    const double z = number(nn::router_z_loss<q, r>(even, v));
    CHECK(z == doctest::Approx(std::pow(0.25 + std::log(4.), 2) * 4 / 5));  // a group of padding
    CHECK(number(nn::router_z_loss<q, r>(even)) ==
          doctest::Approx(std::pow(0.25 + std::log(4.), 2)));
    // Tokens count alike, whatever marks them: their numbers, or a mask of 255.
    const auto marks = scattered<dm::tensor<std::int32_t, by_group, p, q>>(
        g, make({"p", "q"}, {5, 9}, [&](const extents& at) {
          return value_at(valid, valid.dims, at) * static_cast<double>(3 + at[1]);
        }));
    CHECK(loss(balance_scale::scaled, s, masked, marks) ==
          loss(balance_scale::scaled, s, masked, v));
    CHECK(number(nn::router_z_loss<q, r>(even, marks)) == z);
    CHECK(nn::expert_metrics<q, r, choice>(s, masked, marks).entropy ==
          nn::expert_metrics<q, r, choice>(s, masked, v).entropy);
  });
}

/// What padding holds may be no number: neither losses nor their gradients know.
TEST_CASE("padding that is no number") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = scores(5, 9, 3, 4);
    const array valid = make({"p", "q"}, {5, 9}, [](const extents& at) {
      return at[1] % 4 == 1 || at[0] == 2 ? 0. : 1.;
    });
    array bad = a;
    constexpr double none = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < bad.values.size(); ++i)
      if (valid.values[i / 3] == 0) bad.values[i] = i % 2 == 0 ? none : none - none;
    const auto v = scattered<flagged>(g, valid);
    const auto s = scattered<scored>(g, a), s2 = scattered<scored>(g, bad);
    const auto to = nn::route<q, r, choice>({}, s, v), to2 = nn::route<q, r, choice>({}, s2, v);
    const auto losses = [&](const auto& x) {
      return nn::balance_loss<q, r, choice>(nn::balance_scale::scaled, x, to.chosen, v) +
             nn::router_z_loss<q, r>(x, v);
    };
    const auto want = dm::complete(dm::value_and_grad(losses, s)());
    const auto got = dm::complete(dm::value_and_grad(losses, s2)());
    CHECK(dm::value(got.value) == dm::value(want.value));
    CHECK(dm::to_rank(got.gradient) == dm::to_rank(want.gradient));
    CHECK(nn::expert_metrics<q, r, choice>(s2, to2, v).entropy ==
          nn::expert_metrics<q, r, choice>(s, to, v).entropy);
  });
}

TEST_CASE("balance without a loss; load, drops, entropy") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = make({"p", "q", "r"}, {4, 8, 4}, [](const extents& at) {
      return at[2] == 0 ? 0.5 : at[2] == 1 ? 0.25 : 0.125;
    });
    const auto s = scattered<scored>(g, a);
    using biases = dm::tensor<double, dm::layout<line>, r>;
    auto b = scattered<biases>(g, make({"r"}, {4}, [](const extents&) { return 0.; }));
    const auto to = nn::route<q, r, choice>({}, s);
    const auto moved = nn::moved_bias<q, r, choice>(b, to.chosen, 0.125);
    CHECK(agrees(moved,
                 make({"r"}, {4}, [](const extents& at) { return at[0] < 2 ? -0.125 : 0.125; })));
    const auto m = nn::expert_metrics<q, r, choice>(s, to);
    // Padding has other scores, and counts nowhere.
    const array valid = make({"p", "q"}, {4, 8},
                             [](const extents& at) { return at[0] == 1 || at[1] > 5 ? 0. : 1.; });
    const auto v = scattered<flagged>(g, valid);
    const auto padded = scattered<scored>(g, make(a.dims, a.size, [&](const extents& at) {
                                            return value_at(valid, valid.dims, {at[0], at[1]}) == 0
                                                       ? (at[2] == 3 ? 1. : 0.)
                                                       : value_at(a, a.dims, at);
                                          }));
    const auto seen = nn::route<q, r, choice>(nn::gating{.capacity_factor = 2}, padded, v);
    CHECK(agrees(nn::moved_bias<q, r, choice>(b, seen.chosen, 0.125),
                 make({"r"}, {4}, [](const extents& at) { return at[0] < 2 ? -0.125 : 0.125; })));
    const auto some = nn::expert_metrics<q, r, choice>(padded, seen, v);
    CHECK(agrees(some.load,
                 make({"r"}, {4}, [](const extents& at) { return at[0] < 2 ? 0.5 : 0.; })));
    CHECK(some.dropped == 0);
    CHECK(some.imbalance == 2);
    CHECK(some.entropy == doctest::Approx(m.entropy));
    // Chosen by the moved scores, weights as before.
    const auto third =
        nn::route_by<q, r, choice>(nn::gating{.gates = nn::renormalise::never}, s, s + 4.0 * moved);
    CHECK(agrees(third.chosen, make({"p", "q", "choice"}, {4, 8, 2},
                                    [](const extents& at) { return at[2] == 0 ? 2. : 3.; })));
    CHECK(agrees(third.gates,
                 make({"p", "q", "choice"}, {4, 8, 2}, [](const extents&) { return 0.125; })));
    CHECK(agrees(m.load, make({"r"}, {4}, [](const extents& at) { return at[0] < 2 ? 0.5 : 0.; })));
    CHECK(m.dropped == 0.5);  // 4 slots of 8 tokens each
    CHECK(m.imbalance == 2);
    CHECK(m.entropy ==
          doctest::Approx(0.5 * std::log(2.) + 0.25 * std::log(4.) + 0.25 * std::log(8.)));
  });
}

TEST_CASE("losses have the gradient of their probabilities and logits; bytes as foreseen") {
  using nn::balance_scale;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using L = dm::layout<plane, dm::split<dm::uneven<p>, x>>;
    const array a = reals({"p", "q", "r"}, {5, 6, 3}, 4);
    const auto z = scattered<dm::tensor<double, L, p, q, r>>(g, a);
    const auto valid = dm::generate<dm::tensor<double, L, p, q>>(
        g, [](index_t i, index_t t) { return i == 2 || t == 3 ? 0. : 1.; }, p{5}, q{6});
    for (const auto scale : {balance_scale::paper, balance_scale::scaled})
      check_operation(
          [&](const auto& i) {
            const auto of = dm::softmax<r>(i);
            return nn::balance_loss<q, r, choice>(scale, of,
                                                  nn::route<q, r, choice>({}, of).chosen);
          },
          precision{1e-5, 1e-6}, {a}, z);
    check_operation([](const auto& i) { return nn::router_z_loss<q, r>(i); }, smooth, {a}, z);
    // With padding, on data alone: that tensor has no shape beside it.
    const auto slope = [&](const auto& i) {
      const auto f = [&](const auto& v) {
        const auto of = dm::softmax<r>(v);
        return dm::complete(nn::balance_loss<q, r, choice>(
                   balance_scale::scaled, of, nn::route<q, r, choice>({}, of, valid).chosen,
                   valid)) +
               dm::complete(nn::router_z_loss<q, r>(v, valid));
      };
      return dm::complete(dm::value_and_grad(f, i)());
    };
    const auto at = slope(z);
    const array da = numbers({"p", "q", "r"}, {5, 6, 3}, 9);
    constexpr double h = 1e-5;
    const auto near = [&](double by) {
      array moved = a;
      for (std::size_t k = 0; k < a.values.size(); ++k) moved.values[k] += by * da.values[k];
      return dm::value(slope(scattered<dm::tensor<double, L, p, q, r>>(g, moved)).value);
    };
    const auto along = dm::value(
        dm::complete(dm::sum(at.gradient * scattered<dm::tensor<double, L, p, q, r>>(g, da))));
    CHECK(along == doctest::Approx((near(h) - near(-h)) / (2 * h)).epsilon(1e-6));
    CHECK(std::abs(along) > 1e-3);
  });
}

TEST_CASE("elements that count to 256 only: counts are whole, and losses those of float") {
  using dm::bfloat16;
  for_each_grid<line>([](const dm::grid<line>& g) {
    // 257 tokens choose the first expert, 258 the second one: as bfloat16 they are 256 and 258, and
    // their mean is 256.
    const array a = make({"p", "q", "r"}, {5, 103, 2}, [](const extents& at) {
      return ((at[0] * 103 + at[1]) % 2 == 0) == (at[2] == 1) ? 0.75 : 0.25;
    });
    const auto narrow = scattered<dm::tensor<bfloat16, by_group, p, q, r>>(g, a);
    const auto to = nn::route<q, r, best>(nn::gating{.capacity_factor = 2}, narrow);
    const auto b = dm::generate<dm::tensor<bfloat16, dm::layout<line>, r>>(
        g, [](index_t) { return 0.f; }, r{2});
    CHECK(agrees(dm::cast<float>(nn::moved_bias<q, r, best>(b, to.chosen, 0.5)),
                 make({"r"}, {2}, [](const extents& at) { return at[0] == 0 ? 0.5 : -0.5; })));
    const auto m = nn::expert_metrics<q, r, best>(narrow, to);
    CHECK(agrees(
        m.load, make({"r"}, {2}, [](const extents& at) { return (at[0] == 0 ? 257 : 258) / 515.; }),
        1e-15));
    const auto loss = nn::balance_loss<q, r, best>(nn::balance_scale::scaled, narrow, to.chosen);
    static_assert(std::is_same_v<dm::value_of<decltype(loss)>, float>);
    const auto wide = nn::balance_loss<q, r, best>(nn::balance_scale::scaled,
                                                   dm::cast<double>(narrow), to.chosen);
    CHECK(number(loss) == doctest::Approx(number(wide)).epsilon(1e-6));
  });
}

}  // namespace
