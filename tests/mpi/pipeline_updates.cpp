// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers that work while other stages still go back: the same bits as after the whole step. And
// pipelines without a flush, whose weights are those of a serial program that reads old versions.
//
// ranks: 1 2 3 4
#include <doctest/doctest.h>

#include <census.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/optim/adafactor.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/loss_scale.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/optim/sharded.hpp>
#include <optional>

#include "dimesh/pipeline/pipeline.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/stale.hpp"
#include "dimesh/pipeline/updates.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<12> {};
struct width : dm::dim<6> {};
struct hidden : dm::dim<10> {};
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};
using everywhere = dm::layout<pod>;
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
using by_rows = dm::layout<pod, dm::split<batch, rows>>;
using inputs = dm::tensor<double, by_rows, batch, width>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<double, L, width, hidden>, in),
                           (dm::tensor<double, L, hidden>, bias),
                           (dm::tensor<double, L, hidden, width>, out));
};
int runs = 0;  // of a layer
constexpr auto block = [](const auto& p, const auto& x) {
  ++runs;
  const auto h = dm::tanh(dm::einsum<batch, hidden>(x, p.in) + p.bias);
  return x + dm::einsum<batch, width>(h, p.out);
};

using values = std::vector<double>;
/// All elements, on the first rank.
template <class S> values gathered(const S& s) {
  values all;
  dm::for_each_tensor(
      [&all](const auto&, const auto& x) {
        const auto one = dm::to_rank(x);
        all.insert(all.end(), one.begin(), one.end());
      },
      s);
  return all;
}

/// A layer in each of the cells at K...
template <int... K> struct problem {
  static constexpr int last = std::array{K...}.back();
  using weights_type = std::tuple<layer<there<K>>...>;
  dm::grid<pod> g;
  std::vector<inputs> x;
  inputs target;

  problem(MPI_Comm comm, int stages, int m) : g(comm, stage{stages}) {
    for (int i = 0; i < m; ++i)
      x.push_back(dm::normal<inputs>(g, dm::random_key{50u + static_cast<unsigned>(i)}, 0, 1));
    target = dm::normal<inputs>(g, dm::random_key{40}, 0, 1);
  }
  template <class W> W begun() const {
    auto w = dm::make<W>(g);
    std::uint64_t seed = 1;
    dm::for_each_tensor(
        [&seed](const auto&, auto& t) { dm::fill_uniform(t, dm::random_key{seed++}, -0.5, 0.5); },
        w);
    return w;
  }
  auto input() const {
    return [this](int i) { return x[static_cast<std::size_t>(i)]; };
  }
  auto loss() const {
    return [this](const auto& y, int) {
      const auto d = y - dm::place<stage, last>(target);
      return dm::sum(d * d);
    };
  }
  template <class F> static auto net(const F& f) { return dm::pipeline<stage>(dm::cell<K>(f)...); }

  /// ready(gradient): as the optimizer takes it.
  template <class S> void check_update(const S& s) const {
    check_update(s, dm::adam{.rate = 0.01}, [](const auto& g) { return dm::complete(g); });
  }
  template <class S, class Optimizer, class Ready>
  void check_update(const S& s, const Optimizer& optimizer, const Ready& ready) const {
    auto one = begun<weights_type>(), two = begun<weights_type>();
    auto whole = optimizer.start(one);
    auto states =
        std::apply([&](const auto&... w) { return std::tuple(optimizer.start(w)...); }, two);
    for (int step = 0; step < 3; ++step) {
      const auto r = net(block).value_and_grad(s, one, input(), loss());
      optimizer(one, ready(r.gradient), whole);
      std::vector<std::size_t> order;
      const auto value = dm::complete(
          net(block).value_and_update(s, two, input(), loss(), [&](auto k, auto& w, auto& bar) {
            order.push_back(k);
            optimizer(w, ready(bar), std::get<k>(states));
          }));
      CHECK(dm::to_rank(value) == dm::to_rank(dm::complete(r.value)));
      CHECK(gathered(two) == gathered(one));
      CHECK(order.size() == sizeof...(K));
    }
  }
};

TEST_CASE("an optimizer that works during the flush makes the bits of one that waits for its end") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  problem<0, 0>(MPI_COMM_WORLD, 1, 4).check_update(dm::interleaved{1, 4, 2});
  problem<0, 0>(MPI_COMM_WORLD, 1, 4).check_update(dm::zb_v{1, 4});
  if (n % 2 == 0) {
    const problem<0, 1> two(MPI_COMM_WORLD, 2, 4);
    two.check_update(dm::gpipe{2, 4});
    two.check_update(dm::one_f_one_b{2, 4});
    two.check_update(dm::zb_h1{2, 4});
    problem<0, 1, 0, 1>(MPI_COMM_WORLD, 2, 4).check_update(dm::interleaved{2, 4, 2});
  }
  if (n != 4) return;
  const problem<0, 1, 2, 3> four(MPI_COMM_WORLD, 4, 8);
  four.check_update(dm::one_f_one_b{4, 8});
  four.check_update(dm::zb_h2{4, 8});
}

// State and update are spread over the rows of a stage, which sum and gather while others go back.
TEST_CASE("an optimizer whose state is spread works during the flush, too") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (n != 4) return;
  using zero = dm::layout<pod, dm::spread<rows>>;
  const problem<0, 1> two(MPI_COMM_WORLD, 2, 4);
  const auto optimizer = dm::sharded<zero>(dm::adam{.rate = 0.01});
  const auto as_it_is = [](const auto& g) { return g; };
  two.check_update(dm::one_f_one_b{2, 4}, optimizer, as_it_is);
  two.check_update(dm::zb_h1{2, 4}, optimizer, as_it_is);
}

TEST_CASE("a scaled loss is one, of what the last cell gives alone or of its number, too") {
  const problem<0, 0> p(MPI_COMM_SELF, 1, 4);
  const auto w = p.begun<problem<0, 0>::weights_type>();
  const auto run = [&](const auto& loss) {
    return gathered(dm::complete(
        p.net(block).value_and_grad(dm::interleaved{1, 4, 2}, w, p.input(), loss).gradient));
  };
  const auto alone = [](const auto& y) { return dm::sum(y * y); };
  const auto numbered = [](const auto& y, int i) {
    return dm::sum(y * y) * static_cast<double>(i + 1);
  };
  const dm::loss_scale scale{2};
  const auto check = [&](const auto& loss) {
    auto twice = run(loss);
    for (double& x : twice) x *= 2;
    CHECK(run(scale.scaled(loss)) == twice);
  };
  check(alone);
  check(numbered);
}

// Its numbers are of one tensor each: other stages are not asked.
TEST_CASE("Adafactor works during the flush, too, and sends nothing where nothing is split") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (n % 2 != 0) return;
  const auto complete = [](const auto& g) { return dm::complete(g); };
  const problem<0, 1> two(MPI_COMM_WORLD, 2, 4);
  two.check_update(dm::one_f_one_b{2, 4}, dm::adafactor{}, complete);
  problem<0, 1, 0, 1>(MPI_COMM_WORLD, 2, 4)
      .check_update(dm::interleaved{2, 4, 2}, dm::adafactor{}, complete);

  using weights_type = problem<0, 1>::weights_type;
  auto w = two.begun<weights_type>();
  const auto g = dm::complete(
      two.net(block).value_and_grad(dm::one_f_one_b{2, 4}, w, two.input(), two.loss()).gradient);
  const dm::adafactor optimizer;
  auto state = optimizer.start(w);
  census::reset();
  optimizer(w, g, state);
  CHECK(census::snapshot().calls() == 0);
  const auto step = [&optimizer](const weights_type& of) {
    auto changed = of;
    auto own = optimizer.start(changed);
    optimizer(changed, of, own);
    return changed;
  };
  CHECK(dm::count(step, w).bytes<stage>() == 0);
}

TEST_CASE("a stage is updated while another one of its rank still goes back") {
  const problem<0, 0> p(MPI_COMM_SELF, 1, 4);
  auto weights = p.begun<problem<0, 0>::weights_type>();
  std::vector<int> seen;  // runs of layers, forward and again, when a cell's gradient is whole
  runs = 0;
  (void)p.net(dm::recompute(block))
      .value_and_update(dm::interleaved{1, 4, 2}, weights, p.input(), p.loss(),
                        [&](auto k, auto&, auto&) {
                          seen.push_back(static_cast<int>(k));
                          seen.push_back(runs);
                        });
  // Four micro-batches through two cells, forward and again; the first cell's last one comes last.
  REQUIRE(seen.size() == 4);
  CHECK(seen[0] == 1);
  CHECK(seen[1] < seen[3]);
  CHECK(seen[2] == 0);
  CHECK(seen[3] == runs);
}

/// Micro-batch by micro-batch on one rank, with the versions of weights that the schedule names.
template <int... K, class S> values serial(const S& s, int micros) {
  constexpr std::size_t n = sizeof...(K);
  using weights_type = std::array<layer<everywhere>, n>;
  const problem<(K * 0)...> p(MPI_COMM_SELF, 1, micros);
  std::vector<weights_type> versions{p.template begun<weights_type>()};
  const dm::momentum optimizer{.rate = 0.02};
  auto state = optimizer.start(versions[0]);
  using sum_type = std::remove_cvref_t<
      decltype(dm::complete(dm::value_and_grad([](const auto& w) { return dm::sum(w[0].bias); },
                                               versions[0])())
                   .gradient)>;
  std::optional<sum_type> sum;
  for (int i = 0; i < micros; ++i) {
    weights_type used;
    for (std::size_t k = 0; k < n; ++k)
      used[k] = versions[static_cast<std::size_t>(s.version(static_cast<int>(k), i))][k];
    int of_update = 0;
    for (int j = 0; j < micros; ++j) of_update += s.update_of(j) == s.update_of(i);
    const auto f = [&](const auto& w) {
      auto y = block(w[0], p.x[static_cast<std::size_t>(i)]);
      for (std::size_t k = 1; k < n; ++k) y = block(w[k], y);
      const auto d = y - p.target;
      return dm::sum(d * d) * (1.0 / of_update);
    };
    auto g = dm::complete(dm::value_and_grad(f, used)()).gradient;
    if (sum) dm::for_each_tensor([](const auto&, auto& a, const auto& b) { a = b + a; }, g, *sum);
    sum = g;
    if (i + 1 < micros && s.update_of(i + 1) == s.update_of(i)) continue;
    weights_type next = versions.back();
    optimizer(next, *sum, state);
    versions.push_back(next);
    sum.reset();
  }
  return gathered(versions.back());
}

template <int... K, class S> void check_stale(const S& s) {
  const problem<K...> p(MPI_COMM_WORLD, s.ranks, s.micros);
  const dm::momentum optimizer{.rate = 0.02};
  auto weights = p.template begun<typename problem<K...>::weights_type>();
  auto states =
      std::apply([&](const auto&... w) { return std::tuple(optimizer.start(w)...); }, weights);
  const auto by = [&](const auto& schedule) {
    (void)p.net(block).value_and_update(
        schedule, weights, p.input(), p.loss(),
        [&](auto k, auto& w, auto& bar) { optimizer(w, dm::complete(bar), std::get<k>(states)); });
    return gathered(weights);
  };
  const values stale = by(s);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const values want = serial<K...>(s, s.micros);
  if (rank != 0) return;
  CHECK(stale == want);
  // Without staleness they are others.
  struct fresh : S {
    constexpr int version(int, int micro) const { return this->update_of(micro); }
  };
  CHECK((serial<K...>(fresh{s}, s.micros) == want) == (s.ranks == 1 && s.update_of(1) == 1));
}

TEST_CASE("weights without a flush are those of a serial program that reads old versions") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (n == 1) check_stale<0>(dm::pipedream{1, 5});
  if (n == 2) check_stale<0, 1>(dm::pipedream{2, 7});
  if (n == 3) check_stale<0, 1, 2>(dm::pipedream{3, 8});
  if (n == 4) check_stale<0, 1, 2, 3>(dm::pipedream{4, 9});
  if (n == 1) check_stale<0>(dm::pipedream_2bw{1, 6, 2});
  if (n == 2) check_stale<0, 1>(dm::pipedream_2bw{2, 8, 2});
  if (n == 4) check_stale<0, 1, 2, 3>(dm::pipedream_2bw{4, 12, 4});
}

/// Asks for updates that are not made yet.
struct hasty : dm::pipedream {
  constexpr int version(int, int micro) const { return micro + 1; }
};
/// An update after two micro-batches, then one after each.
struct uneven : dm::pipedream {
  constexpr int update_of(int micro) const { return micro < 2 ? 0 : micro - 1; }
  constexpr int version(int, int micro) const { return update_of(micro); }
};
/// Both stages on one rank.
struct stacked : dm::pipedream {
  constexpr int stages() const { return 2; }
  constexpr int rank_of(int, int) const { return 0; }
};
TEST_CASE("schedules without a flush that cannot be followed are refused") {
  const problem<0> p(MPI_COMM_SELF, 1, 4);
  auto weights = p.begun<problem<0>::weights_type>();
  const auto refused = [&](const auto& s, const char* why) {
    CHECK_THROWS_WITH_AS((void)p.net(block).value_and_update(s, weights, p.input(), p.loss(),
                                                             [](auto, auto&, auto&) {}),
                         doctest::Contains(why), dm::error);
  };
  refused(hasty{{1, 4}}, "asks for weights before they are updated");
  refused(uneven{{1, 4}},
          "an update takes 2 micro-batches, and another one of the schedule does not");
  refused(stacked{{1, 4}},
          "pipeline: a schedule without a flush has stage 0 elsewhere than on rank 0; versions of "
          "weights are kept where each rank has the stage of its number");
  refused(dm::pipedream_2bw{1, 4}, "is not made for");
  refused(dm::pipedream_2bw{1, 4, 3}, "is not made for");
}

}  // namespace
