// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model on the stages of a pipeline, each rank with its own operations: losses and gradients are
// those of ranks that hold everything; between schedules they have the same bits.
//
// ranks: 1 2 4
#include "dimesh/pipeline/pipeline.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <cstring>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>

#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<> {};
struct width : dm::dim<6> {};
struct hidden : dm::dim<10> {};
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<double, L, width, hidden>, in),
                           (dm::tensor<double, L, hidden>, bias),
                           (dm::tensor<double, L, hidden, width>, out));
};
constexpr std::size_t depth = 4;
using everywhere = dm::layout<pod>;
using by_rows = dm::layout<pod, dm::split<batch, rows>>;
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;

constexpr auto block = [](const auto& p, const auto& x) {
  const auto h = dm::tanh(dm::einsum<batch, hidden>(x, p.in) + p.bias);
  return x + dm::einsum<batch, width>(h, p.out);
};
/// What goes on is two tensors: x, and what the first cell got.
constexpr auto pair_of_blocks = [](const auto& p, const auto& x) {
  return std::make_tuple(block(p, std::get<0>(x)), std::get<1>(x));
};

using model = std::array<layer<everywhere>, depth>;
using inputs = dm::tensor<double, by_rows, batch, width>;

struct problem {
  dm::grid<pod> g;
  int micros;
  model plain{};
  std::vector<inputs> x, target;
  problem(dm::index_t stages, int m) : g(MPI_COMM_WORLD, stage{stages}), micros(m) {
    plain = dm::make<model>(g);
    std::uint64_t seed = 1;
    dm::for_each_tensor(
        [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 0.5); },
        plain);
    for (int i = 0; i < m; ++i) {
      x.push_back(dm::normal<inputs>(g, dm::random_key{100 + seed++}, 0, 1, batch{8}));
      target.push_back(dm::normal<inputs>(g, dm::random_key{200 + seed++}, 0, 1, batch{8}));
    }
  }
};

template <int K> layer<there<K>> at(const layer<everywhere>& l) {
  return {dm::place<stage, K>(l.in), dm::place<stage, K>(l.bias), dm::place<stage, K>(l.out)};
}
template <int K, std::size_t N> auto cell_at(const model& m, std::size_t first) {
  std::array<layer<there<K>>, N> all;
  for (std::size_t i = 0; i < N; ++i) all[i] = at<K>(m[first + i]);
  return all;
}
/// depth layers in as many cells as places, at these.
template <int... K> auto placed_weights(const model& m) {
  constexpr std::size_t n = depth / sizeof...(K);
  std::size_t cell = 0;
  return std::tuple<std::array<layer<there<K>>, n>...>{cell_at<K, n>(m, n * cell++)...};
}

template <class X, class Y> auto squares(const X& x, const Y& y) {
  const auto d = x - y;
  return dm::sum(d * d) * (1.0 / 8);
}

template <class A, class B> double distance(const A& a, const B& b) {
  double far = 0;
  const auto one = dm::to_rank(a), two = dm::to_rank(b);
  REQUIRE(one.size() == two.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    far = std::max(far, std::abs(one[i] - two[i]) / (1 + std::abs(two[i])));
  return far;
}
constexpr double rounding = 1e-13;

/// All elements of the gradient that this rank holds.
template <class S> std::vector<double> held(const S& s) {
  std::vector<double> all;
  dm::for_each_tensor(
      [&all](const auto&, const auto& x) {
        all.insert(all.end(), x.data(), x.data() + x.local_size());
      },
      s);
  return all;
}

template <int... K> struct runs {
  const problem& p;
  std::tuple<std::array<layer<there<K>>, depth / sizeof...(K)>...> weights =
      placed_weights<K...>(p.plain);

  auto loss() const {
    return [this](const auto& y, int i) {
      constexpr int last = (K, ...);
      return squares(y, dm::place<stage, last>(p.target[static_cast<std::size_t>(i)]));
    };
  }
  auto x() const {
    return [this](int i) { return p.x[static_cast<std::size_t>(i)]; };
  }
  template <class S> auto run(const S& s, const dm::pipeline_settings& how = {}) const {
    const auto net = dm::pipeline<stage>(dm::cell<K>(dm::each_of(block))...);
    return dm::complete(net.value_and_grad(s, weights, x(), loss(), how));
  }

  /// Against the model on all ranks, and against the bits of another schedule.
  template <class S> std::vector<double> check(const S& s, bool blocking = false) const {
    dm::pipeline_report report;
    const auto step = run(s, {.blocking = blocking, .report = &report});
    CHECK(report.peak == dm::peak_held(s, static_cast<int>(p.g.template coord<stage>())));
    int sent = 0;
    for (int b = 0; b + 1 < s.stages(); ++b)
      for (const int from : {b, b + 1})
        sent += s.rank_of(b, 0) != s.rank_of(b + 1, 0) &&
                s.rank_of(from, 0) == static_cast<int>(p.g.template coord<stage>());
    CHECK(report.messages == sent * p.micros);
    CHECK(report.bytes == sent * p.micros * 8 / p.g.template size<rows>() * 6 * 8);

    const auto f = [](const auto& m, const auto& x, const auto& y) {
      return squares(dm::each_of(block)(m, x), y);
    };
    const auto want = dm::complete(dm::accumulate(p.micros, [&](dm::index_t i) {
      const auto n = static_cast<std::size_t>(i);
      return dm::value_and_grad(f, p.plain)(p.x[n], p.target[n]);
    }));
    CHECK(distance(step.value, want.value) < rounding);
    double far = 0;
    std::size_t layer = 0;
    const auto compare = [&](const auto& cell) {
      for (const auto& l : cell) {
        const auto& other = want.gradient[layer++];
        far = std::max({far, distance(l.in, other.in), distance(l.bias, other.bias),
                        distance(l.out, other.out)});
      }
    };
    std::apply([&](const auto&... cell) { (compare(cell), ...); }, step.gradient);
    CHECK(layer == depth);
    CHECK(far < rounding);
    auto all = held(step.gradient);
    all.insert(all.end(), step.value.data(), step.value.data() + step.value.local_size());
    return all;
  }
  template <class S> void check_forward(const S& s) const {
    const auto net = dm::pipeline<stage>(dm::cell<K>(dm::each_of(block))...);
    const auto y = net.forward(s, weights, x());
    constexpr int last = (K, ...);
    CHECK(y.size() == (p.g.template coord<stage>() == last ? p.x.size() : 0));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto want = dm::each_of(block)(p.plain, p.x[i]);
      REQUIRE(want.local_size() == y[i].local_size());
      double far = 0;
      for (dm::index_t k = 0; k < want.local_size(); ++k)
        far = std::max(far, std::abs(want.data()[k] - y[i].data()[k]));
      CHECK(far < rounding);
    }
  }
};

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

template <int... K> void check_all(int stages, int micros) {
  CAPTURE(stages);
  CAPTURE(micros);
  const problem p(stages, micros);
  const runs<K...> r{p};
  const auto bits = r.check(dm::gpipe{stages, micros});
  CHECK(same(r.check(dm::one_f_one_b{stages, micros}), bits));
  CHECK(same(r.check(dm::zb_h1{stages, micros}), bits));
  if (dm::check_schedule(dm::gpipe{stages, micros}).safe_blocking)
    CHECK(same(r.check(dm::gpipe{stages, micros}, true), bits));
  r.check_forward(dm::forward_only{stages, micros});
}

int ranks() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

TEST_CASE("one stage for each rank of the axis") {
  for (const int micros : {1, 2, 3, 5}) {
    check_all<0>(1, micros);
    if (ranks() >= 2) check_all<0, 1>(2, micros);
    if (ranks() >= 4) check_all<0, 1, 2, 3>(4, micros);
  }
}

TEST_CASE("two stages on a rank: interleaved, and there and back") {
  for (const int micros : {2, 4}) {
    if (ranks() >= 2) {
      const problem p(2, micros);
      const auto bits = runs<0, 1, 0, 1>{p}.check(dm::interleaved{2, micros, 2});
      CHECK(same(runs<0, 1, 0, 1>{p}.check(dm::interleaved{2, micros, 2, true}), bits));
      (void)runs<0, 1, 1, 0>{p}.check(dm::zb_v{2, micros});
    } else {
      const problem p(1, micros);
      const auto bits = runs<0, 0>{p}.check(dm::interleaved{1, micros, 2});
      CHECK(same(runs<0, 0>{p}.check(dm::zb_v{1, micros}), bits));
    }
  }
}

}  // namespace
