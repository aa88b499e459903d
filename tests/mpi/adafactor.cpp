// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adafactor against the algorithm written out for whole arrays, under every layout.
//
// ranks: 1 2 4
// checks: 119 216 313
// labels: local heavy device
#include "dimesh/optim/adafactor.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "support/host.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

struct p2 : dm::dim<> {};
struct big : dm::dim<8> {};
struct mid : dm::dim<4> {};
struct few : dm::dim<2> {};

// What is kept, and under which layouts.
using L = dm::layout<plane, dm::split<big, x>, dm::split<few, y>>;
static_assert(std::is_same_v<dm::factored_state<dm::tensor<float, L, big, few, mid>>,
                             std::tuple<dm::tensor<float, L, big, few>,
                                        dm::tensor<float, L, few, mid>, dm::tensor<float, L, few>>>,
              "the two largest dims are factored");
static_assert(std::is_same_v<dm::factored_state<dm::tensor<float, L, q, p>>,
                             std::tuple<dm::tensor<float, L, q>, dm::tensor<float, L, p>,
                                        dm::tensor<float, L>>>,
              "open extents: the last two");
static_assert(std::is_same_v<dm::factored_state<std::array<std::tuple<dm::tensor<float, L, p>>, 3>>,
                             std::array<std::tuple<std::tuple<dm::tensor<float, L, p>>>, 3>>);

/// The algorithm on an array (A, P, B, Q, C), factored over P and Q (a vector: not at all).
struct serial {
  dm::index_t A, P, B, Q, C;
  bool factored;
  std::vector<double> v, m;
  void step(const dm::adafactor& o, int t, const std::vector<double>& g, std::vector<double>& p) {
    const auto n = p.size();
    v.resize(n), m.resize(n);
    const double keep = 1 - std::pow(t, -o.decay_power);
    std::vector<double> u(n);
    row.resize(n), col.resize(n);
    const auto at = [&](auto a, auto i, auto b, auto j, auto c) {
      return static_cast<std::size_t>((((a * P + i) * B + b) * Q + j) * C + c);
    };
    const auto every = [&](const auto& f) {
      for (dm::index_t a = 0; a < A; ++a)
        for (dm::index_t i = 0; i < P; ++i)
          for (dm::index_t b = 0; b < B; ++b)
            for (dm::index_t j = 0; j < Q; ++j)
              for (dm::index_t c = 0; c < C; ++c) f(a, i, b, j, c);
    };
    // Rows and columns held at every element; slow, and plain.
    every([&](auto a, auto i, auto b, auto j, auto c) {
      double r = 0, s = 0;
      for (dm::index_t k = 0; k < Q; ++k)
        r += g[at(a, i, b, k, c)] * g[at(a, i, b, k, c)] + o.epsilon1;
      for (dm::index_t k = 0; k < P; ++k)
        s += g[at(a, k, b, j, c)] * g[at(a, k, b, j, c)] + o.epsilon1;
      auto& R = row[at(a, i, b, j, c)];
      auto& S = col[at(a, i, b, j, c)];
      R = keep * R + (1 - keep) * r;
      S = keep * S + (1 - keep) * s;
    });
    double uu = 0, pp = 0;
    every([&](auto a, auto i, auto b, auto j, auto c) {
      const auto e = at(a, i, b, j, c);
      double total = 0;
      for (dm::index_t k = 0; k < P; ++k) total += row[at(a, k, b, j, c)];
      v[e] = factored ? row[e] * col[e] / total
                      : keep * v[e] + (1 - keep) * (g[e] * g[e] + o.epsilon1);
      u[e] = g[e] / std::sqrt(v[e]);
      uu += u[e] * u[e], pp += p[e] * p[e];
    });
    const double rate = o.rate > 0 ? o.rate : std::min(1e-2, 1 / std::sqrt(double(t)));
    const double scale = o.scale_parameter ? std::max(o.epsilon2, std::sqrt(pp / double(n))) : 1;
    const double cut = o.clip > 0 ? std::max(1.0, std::sqrt(uu / double(n)) / o.clip) : 1;
    for (std::size_t e = 0; e < n; ++e) {
      m[e] = o.beta1 * m[e] + (1 - o.beta1) * rate * scale * u[e] / cut;
      p[e] -= m[e];
    }
  }
  std::vector<double> row, col;
};

/// Three steps on a tensor with these elements, beside the serial algorithm.
template <class X> void follow(const X& like, const array& a, const dm::adafactor& o, serial s) {
  const X w = scattered<X>(like.grid(), a);
  std::tuple params{
      w, dm::constant<dm::tensor<double, dm::layout<typename X::mesh_type>, p>>(w.grid(), 2, p{3})};
  auto state = o.start(params);
  std::vector<double> wanted = a.values;
  for (int t = 1; t <= 3; ++t) {
    array slope = numbers(a.dims, a.size, static_cast<std::uint64_t>(10 + t));
    for (double& e : slope.values) e = 0.1 * e + 0.01 * t;
    const X g = scattered<X>(w.grid(), slope);
    o(params, std::tuple{g, std::get<1>(params)}, state);
    s.step(o, t, slope.values, wanted);
  }
  CHECK(agrees(std::get<0>(params), array{a.dims, a.size, wanted}, 1e-12));
}

const dm::adafactor plain, other{.rate = 0.05, .clip = 0, .beta1 = 0.9, .scale_parameter = false};

TEST_CASE("adafactor: a matrix under every layout") {
  for_each_case<plane, unevenly, p, q>({{6, 4}, {5, 3}, {1, 7}}, [](auto w, const array& a) {
    follow(w, a, plain, {1, a.size[0], 1, a.size[1], 1, true, {}, {}, {}, {}});
    follow(w, a, other, {1, a.size[0], 1, a.size[1], 1, true, {}, {}, {}, {}});
  });
}
TEST_CASE("adafactor: a vector under every layout") {
  for_each_case<plane, unevenly, p>({{6}, {5}, {1}}, [](auto w, const array& a) {
    follow(w, a, plain, {1, 1, 1, a.size[0], 1, false, {}, {}, {}, {}});
  });
}
TEST_CASE("adafactor: the two largest of three dims") {
  constexpr layout_choice some{.uneven = true, .orders = false};
  for_each_case<plane, some, big, few, mid>({{8, 2, 4}}, [](auto w, const array& a) {
    follow(w, a, plain, {1, 8, 2, 4, 1, true, {}, {}, {}, {}});
  });
  for_each_case<line, some, few, big, mid, p>({{2, 8, 4, 3}}, [](auto w, const array& a) {
    follow(w, a, other, {16, 4, 1, 3, 1, true, {}, {}, {}, {}});
  });
  for_each_case<line, some, big, mid, few>({{8, 4, 2}}, [](auto w, const array& a) {
    follow(w, a, plain, {1, 8, 1, 4, 2, true, {}, {}, {}, {}});
  });
}

TEST_CASE("adafactor: what it says to other ranks") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<line> g(x{ranks});
  using S = dm::layout<line, dm::split<dm::uneven<q>, x>>;
  std::tuple w{dm::constant<dm::tensor<float, S, p, q>>(g, 1, p{5}, q{8}),
               dm::constant<dm::tensor<float, S, p, p2>>(g, 1, p{5}, p2{4})};
  auto state = plain.start(w);
  census::reset();
  plain(w, w, state);
  const auto seen = census::snapshot();
  // Rows of the first matrix and its total; two numbers a tensor.
  CHECK(seen.calls() == (ranks > 1 ? 2 : 0));
  CHECK(seen.bytes() == (ranks > 1 ? (5 + 1) * 4 + 4 * 8 : 0));
  // Counted beforehand, of the tensors and of their shapes.
  constexpr auto step = [](const auto& parameters) {
    auto changed = parameters;
    auto own = plain.start(changed);
    plain(changed, parameters, own);
    return changed;
  };
  for (const auto& cost : {dm::count(step, w), dm::count(step, dm::shapes_of(w))}) {
    CHECK(cost.calls<x>() == seen.calls());
    CHECK(cost.bytes<x>() == seen.bytes());
    CHECK(cost.flops() > 0);
  }
}

TEST_CASE("adafactor: a tensor at one place of an axis that splits another one") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<line> g(x{ranks});
  using there = dm::layout<line, dm::placed<x, 0>>;
  using cut = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  using vector = dm::tensor<double, there, mid>;
  using matrix = dm::tensor<double, there, big, few>;
  using blocks = dm::tensor<double, cut, p>;
  const auto drawn = [&g](std::uint64_t k) {
    return std::tuple{dm::normal<vector>(g, dm::random_key{k}, 0, 1),
                      dm::normal<matrix>(g, dm::random_key{k + 1}, 0, 1),
                      dm::normal<blocks>(g, dm::random_key{k + 2}, 0, 1, p{7})};
  };
  auto w = drawn(1), alone = drawn(1);
  const auto slopes = drawn(4);
  auto state = plain.start(w);
  auto states =
      std::apply([](const auto&... one) { return std::tuple{plain.start(one)...}; }, alone);
  constexpr auto step = [](const auto& parameters) {
    auto changed = parameters;
    auto own = plain.start(changed);
    plain(changed, parameters, own);
    return changed;
  };
  for (int t = 0; t < 2; ++t) {
    census::reset();
    plain(w, slopes, state);
    const auto seen = census::snapshot();
    CHECK(seen.calls() == (ranks > 1 ? 1 : 0));  // two numbers a tensor
    CHECK(seen.bytes() == (ranks > 1 ? 3 * 2 * 8 : 0));
    plain(std::get<0>(alone), std::get<0>(slopes), std::get<0>(states));
    plain(std::get<1>(alone), std::get<1>(slopes), std::get<1>(states));
    plain(std::get<2>(alone), std::get<2>(slopes), std::get<2>(states));
    const auto cost = dm::count(step, w);
    CHECK(cost.calls<x>() == seen.calls());
    CHECK(cost.bytes<x>() == seen.bytes());
  }
  dm::for_each_tensor(
      [](const auto&, const auto& one, const auto& by_itself) {
        if (dm::detail::core_of(one).away == 0)
          CHECK(std::equal(test_support::on_host(one).data(),
                           test_support::on_host(one).data() + one.local_size(),
                           test_support::on_host(by_itself).data()));
      },
      w, alone);
}

TEST_CASE("adafactor: a state that is not these parameters' is refused, on every rank") {
  const dm::grid<line> g;
  using L1 = dm::layout<line, dm::split<dm::uneven<q>, x>>;
  const auto made = [&g](dm::index_t rows, dm::index_t columns) {
    return std::tuple{dm::constant<dm::tensor<float, L1, p, q>>(g, 1, p{rows}, q{columns}),
                      dm::constant<dm::tensor<float, L1, q>>(g, 1, q{columns})};
  };
  auto w = made(5, 8);
  using state_type = dm::adafactor_state<decltype(w)>;
  const auto refused = [&](const dm::adafactor& o, state_type s) {
    const auto before = s.steps;
    try {
      o(w, w, s);
    } catch (const dm::error& e) {
      CHECK(s.steps == before);
      CHECK(dm::to_rank(std::get<0>(w), 0) == dm::to_rank(std::get<0>(made(5, 8)), 0));
      return std::string(e.what());
    }
    return std::string();
  };
  const auto says = [](const std::string& text, const char* part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  const dm::adafactor follows{.beta1 = 0.9};
  says(refused(plain, {}), "adafactor: an operand is not defined");
  says(refused(follows, {}), "adafactor: an operand is not defined");
  says(refused(follows, plain.start(w)),
       "adafactor: beta1 is more than 0, and the state has no momentum");
  const auto longer = made(6, 8), wider = made(5, 9);
  says(refused(plain, plain.start(longer)),
       "adafactor: dim 'p' has 5 elements in a parameter and 6 in its gradient or state");
  says(refused(plain, plain.start(wider)),
       "adafactor: dim 'q' has 8 elements in a parameter and 9 in its gradient or state");
  auto mixed = follows.start(w);
  mixed.momentum = follows.start(wider).momentum;
  says(refused(follows, mixed), "adafactor: dim 'q' has 8 elements in a parameter and 9");
  const dm::grid<line> other_grid;
  auto elsewhere = plain.start(w);
  std::get<0>(std::get<1>(elsewhere.second)) =
      dm::constant<dm::tensor<float, L1, q>>(other_grid, 0, q{8});
  says(refused(plain, elsewhere), "adafactor: the operands live on two grids");
  CHECK(refused(plain, follows.start(w)).empty());
}

}  // namespace
