// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The length of a gradient is that of the whole arrays under every layout, and costs one double.
//
// ranks: 1 2 3 4
// checks: 378 725 724 1075
#include "dimesh/optim/clip.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <limits>

#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/loss_scale.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

double squares(const array& a) {
  double s = 0;
  for (const double v : a.values) s += v * v;
  return s;
}

TEST_CASE("global_norm: every layout, each element once, one double") {
  for_each_case<plane, unevenly, p, q>(
      {{6, 4}, {5, 3}, {0, 7}, {1, 1}}, [](auto x, const array& a) {
        using X = decltype(x);
        const auto& g = x.grid();
        const auto lone =
            dm::constant<dm::tensor<float, dm::layout<plane>, p>>(g, 3, dm::shape<p>(p{5}));
        std::tuple gradients{x, lone};
        census::reset();
        const double norm = dm::global_norm(gradients);
        const auto seen = census::snapshot();
        CHECK(norm == doctest::Approx(std::sqrt(squares(a) + 45)).epsilon(1e-14));
        const unsigned axes =
            dm::detail::talking(dm::spec_of<X>::table.mask(dm::use::split), g.state().sizes());
        CHECK(seen.calls() == (axes == 0 ? 0 : 1));
        CHECK(seen.bytes_on(axes) == (axes == 0 ? 0 : 8));

        CHECK(dm::clip_by_global_norm(gradients, 2 * norm) == norm);
        CHECK(dm::global_norm(gradients) == norm);
        CHECK(dm::clip_by_global_norm(gradients, 0.5 * norm) == norm);
        CHECK(dm::global_norm(gradients) == doctest::Approx(0.5 * norm).epsilon(1e-6));
        CHECK(test_support::on_host(std::get<1>(gradients))[2] == doctest::Approx(1.5));
      });
}

TEST_CASE("global_norm: large and small floats, numbers that are none") {
  const dm::grid<line> g;
  using X = dm::tensor<float, dm::layout<line, dm::split<dm::uneven<p>, x>>, p>;
  auto big = dm::constant<X>(g, 1e30f, p{1000});
  CHECK(dm::global_norm(big) == doctest::Approx(1e30 * std::sqrt(1000.0)).scale(0));
  auto small = dm::constant<X>(g, 1e-30f, p{1000});
  // Without scale(0), Approx would take 0 for it, which is what underflow would give.
  CHECK(dm::global_norm(small) == doctest::Approx(1e-30 * std::sqrt(1000.0)).scale(0));
  dm::fill_by(
      big, [](dm::index_t i) { return i == 999 ? std::numeric_limits<float>::infinity() : 1.0f; });
  CHECK(std::isinf(dm::clip_by_global_norm(big, 1)));
  if (g.rank() == 0) CHECK(test_support::on_host(big)[0] == 1);
}

TEST_CASE("loss_scale: gradients as without it, steps with infinite ones left out alike") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  using X = dm::tensor<float, L, p>;
  auto w = dm::uniform<X>(g, dm::random_key{1}, -1.0f, 1.0f, p{10});
  const auto f = [](const auto& v) { return dm::complete(dm::einsum<>(v, v)); };
  dm::dynamic_loss_scale scale(1024);
  scale.interval = 2;
  const auto plain = dm::complete(dm::value_and_grad(f, w)());
  auto step = dm::complete(dm::value_and_grad(scale.scaled(f), w)());
  const double norm = dm::global_norm(step.gradient);
  CHECK(scale.accepts(norm));
  scale.unscaled(step.gradient);
  for (dm::index_t i = 0; i < w.local_size(); ++i)
    CHECK(test_support::on_host(step.gradient)[i] == test_support::on_host(plain.gradient)[i]);
  CHECK(dm::value(step.value) == 1024 * dm::value(plain.value));
  scale.update(norm);
  CHECK(scale.factor == 1024);
  scale.update(norm);
  CHECK(scale.factor == 2048);

  // One element, on one rank, overflows.
  dm::fill_by(w, [](dm::index_t i) { return i == 3 ? 3e38f : 1.0f; });
  auto over = dm::complete(dm::value_and_grad(scale.scaled(f), w)());
  const double none = dm::global_norm(over.gradient);
  CHECK(!scale.accepts(none));
  scale.update(none);
  CHECK(scale.factor == 1024);
  CHECK(scale.good == 0);

  dm::loss_scale fixed{256};
  fixed.update(none);
  CHECK(fixed.factor == 256);
  CHECK(!fixed.accepts(none));
}

TEST_CASE("adam: only what should decay does") {
  const dm::grid<line> g;
  using L = dm::layout<line>;
  std::tuple w{dm::constant<dm::tensor<float, L, p, q>>(g, 1, p{3}, q{2}),
               dm::constant<dm::tensor<float, L, p>>(g, 1, p{3})};
  const auto none = dm::zeros_like(w);
  const dm::adam decay{.rate = 0.1, .weight_decay = 0.5, .decays = dm::decay_matrices};
  auto state = decay.start(w);
  decay(w, none, state);
  CHECK(test_support::on_host(std::get<0>(w))[0] == doctest::Approx(0.95));
  CHECK(test_support::on_host(std::get<1>(w))[0] == 1);
  const dm::adam all{.rate = 0.1, .weight_decay = 0.5};
  auto other = all.start(w);
  all(w, none, other);
  CHECK(test_support::on_host(std::get<1>(w))[0] == doctest::Approx(0.95));
}

}  // namespace
