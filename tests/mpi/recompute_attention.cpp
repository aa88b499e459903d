// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stack of Transformer layers that computes its attention anew in the backward pass, and one that
// computes whole layers anew: the same gradients, dropout included, and less held the more is
// recomputed.
//
// ranks: 1 2 4
// labels: device
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/memory/pool.hpp>

#include "support/language_model_run.hpp"

namespace {
using namespace test_support;

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
using hybrid =
    dm::layout<pod, dm::split<batch, rows>, dm::split<heads, cols>, dm::split<hidden, cols>>;
using vectors = dm::tensor<double, dm::layout<pod, dm::split<batch, rows>>, batch, length, model>;

template <nn::recomputing What> struct form : small {
  static constexpr int layers = 3;
  static constexpr auto recompute = What;
};
template <nn::recomputing What>
using layers_of = std::array<nn::block_parameters<hybrid, form<What>>, form<What>::layers>;

template <nn::recomputing What> struct step {
  dm::random_key key;

  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const nn::model<hybrid, form<What>> m({.dropout = 0.2, .key = key});
    return dm::complete(dm::value_and_grad(
        [&m](const auto& w, const auto& in) {
          const auto y = nn::stack(m, w, in);
          return dm::sum(y * y);
        },
        p)(x));
  }
};

struct result {
  std::vector<double> value, gradient;
  dm::index_t held = 0, forecast = 0;
  double flops = 0;
};
template <nn::recomputing What> result run(const dm::grid<pod>& g) {
  layers_of<What> p = dm::make<layers_of<What>>(g);
  nn::initialize(p, dm::random_key{1});
  const auto x = dm::normal<vectors>(g, dm::random_key{2}, 0, 1);
  const step<What> f{dm::random_key{3}};
  result r;
  const auto told = dm::count(f, dm::shapes_of(p), dm::shapes_of(x));
  r.forecast = told.peak(), r.flops = told.flops();
  dm::detail::pool& memory = dm::detail::pool::instance();
  memory.restart_peak();
  const dm::index_t before = memory.figures().live;
  const auto one = f(p, x);
  r.held = memory.figures().peak - before;
  r.value = dm::to_rank(one.value);
  dm::for_each_tensor(
      [&r](const auto&, const auto& t) {
        const auto all = dm::to_rank(t);
        r.gradient.insert(r.gradient.end(), all.begin(), all.end());
      },
      one.gradient);
  return r;
}
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double far = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    far = std::max(far, std::abs(a[i] - b[i]) / (1 + std::abs(a[i])));
  return far;
}

TEST_CASE("attention computed anew gives the same gradients, and less is held") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const int across : {1, 2}) {
    if (ranks % across != 0) continue;
    CAPTURE(across);
    const dm::grid<pod> g(MPI_COMM_WORLD, rows{ranks / across}, cols{across});
    const result all = run<nn::recomputing::nothing>(g);
    const result attention = run<nn::recomputing::attention>(g);
    const result layers = run<nn::recomputing::layers>(g);
    if (g.rank() == 0) {
      REQUIRE(all.gradient.size() > 0);
      CHECK(std::isfinite(all.value[0]));
      CHECK(std::count(all.gradient.begin(), all.gradient.end(), 0.0) <
            static_cast<std::ptrdiff_t>(all.gradient.size()));
      for (const result* anew : {&attention, &layers}) {
        CHECK(same_bits(all.value, anew->value));
        // Over two axes the last bias of attention gets its addends in another order.
        if (across == 1 || anew == &layers) CHECK(same_bits(all.gradient, anew->gradient));
        CHECK(distance(all.gradient, anew->gradient) < 1e-14);
      }
    }
    CHECK(all.held > attention.held);
    CHECK(attention.held > layers.held);
    CHECK(all.forecast > attention.forecast);
    CHECK(attention.forecast > layers.forecast);
    CHECK(all.flops < attention.flops);
    CHECK(attention.flops < layers.flops);
  }
}

TEST_CASE("a stack without layers gives its input, or says that it cannot") {
  const dm::grid<pod> g(MPI_COMM_WORLD, cols{1});
  using simple = form<nn::recomputing::nothing>;
  const std::vector<nn::block_parameters<hybrid, simple>> none;
  const nn::model<hybrid, simple> m;
  const auto x = dm::normal<vectors>(g, dm::random_key{2}, 0, 1);
  CHECK(dm::value(dm::complete(dm::sum(dm::abs(nn::stack(m, none, x) - x)))) == 0);
  const auto f = [&m](const auto& w, const auto& in) { return dm::sum(nn::stack(m, w, in)); };
  CHECK_THROWS_WITH_AS(
      (void)dm::value_and_grad(f, none)(x),
      doctest::Contains("stack: there are no layers, and the input is not recorded; give "
                        "one layer at least"),
      dm::error);
}

}  // namespace
