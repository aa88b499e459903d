// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch norm inside pipelines and plans: a micro-batch trains by its own moments, what is kept for
// afterwards has those of the mini-batch, and each is counted once, however often a layer runs.
//
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/nn/batch_norm.hpp>
#include <dimesh/nn/initialize.hpp>

#include "dimesh/pipeline/chain_costs.hpp"
#include "dimesh/pipeline/pipeline.hpp"
#include "dimesh/pipeline/revolve.hpp"
#include "dimesh/pipeline/run_plan.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"
#include "support/host.hpp"

namespace dm = dimesh;
namespace nn = dimesh::nn;

namespace {

struct batch : dm::dim<8> {};
struct channel : dm::dim<6> {};
struct hidden : dm::dim<6> {};
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
template <int K> using rows_at = dm::layout<pod, dm::placed<stage, K>, dm::split<batch, rows>>;
using by_rows = dm::layout<pod, dm::split<batch, rows>>;
using inputs = dm::tensor<double, by_rows, batch, channel>;
using values = std::vector<double>;

template <class L> struct layer {
  using norm_type = nn::scale_and_shift<L, double, channel>;
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<double, L, channel, hidden>, w), (norm_type, norm));
};
template <int K> using moments = nn::running_moments<there<K>, double, channel>;
/// What a layer has seen: `kept` for use afterwards, of `mini`-batches.
template <int K> struct memory {
  moments<K> kept;
  nn::deferred_moments<moments<K>> mini;
};

template <int K>
constexpr auto before_norm = [](const auto& w, const auto& x) {
  return dm::rename<hidden, channel>(dm::einsum<batch, hidden>(x, w));
};
template <int K> struct trained {
  memory<K>* seen;
  template <class W, class X> auto operator()(const W& w, const X& x) const {
    const auto made =
        nn::batch_norm<channel>(nn::model<rows_at<K>>{}, w.norm, before_norm<K>(w.w, x));
    nn::keep_moments(seen->mini, made);
    return dm::tanh(made.y) + x;
  }
};

using masks = std::vector<dm::tensor<bool, by_rows, batch>>;
/// The same where rows of the last micro-batch only fill it up; they are 0 behind each cell.
template <int K> struct filled {
  memory<K>* seen;
  const masks* all;
  int last_rows;
  template <class W, class X> auto operator()(const W& w, const X& x, int micro) const {
    const auto i = static_cast<std::size_t>(micro);
    const auto counts = dm::place<stage, K>((*all)[i]);
    const auto made =
        nn::batch_norm<channel>(nn::model<rows_at<K>>{}, w.norm, before_norm<K>(w.w, x), counts,
                                i + 1 == all->size() ? last_rows : 8);
    nn::keep_moments(seen->mini, made);
    return dm::select(counts, dm::tanh(made.y) + x, 0);
  }
};

template <int... K> struct problem {
  dm::grid<pod> g;
  int micros, last_rows = 8;
  std::tuple<layer<there<K>>...> weights;
  std::vector<inputs> x;

  problem(int stages, int m)
      : g(MPI_COMM_WORLD, stage{stages}), micros(m), weights(dm::make<layer<there<K>>>(g)...) {
    std::uint64_t seed = 1;
    dm::for_each_tensor(
        [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 1); },
        weights);
    for (int i = 0; i < m; ++i)
      x.push_back(dm::normal<inputs>(g, dm::random_key{100 + seed++}, i, 1 + i));
  }
  std::tuple<memory<K>...> fresh() const {
    std::tuple<memory<K>...> all;
    const auto one = [this](auto& m) {
      m.kept = dm::make<std::remove_cvref_t<decltype(m.kept)>>(g);
      nn::initialize(m.kept, dm::random_key{1});
    };
    std::apply([&](auto&... m) { (one(m), ...); }, all);
    return all;
  }
  /// Two steps by a schedule: loss, gradients and what is kept, all that this rank holds.
  template <class S, class Wrap> values run(const S& s, const Wrap& wrap) const {
    auto seen = fresh();
    const auto net = std::apply(
        [&](auto&... m) { return dm::pipeline<stage>(dm::cell<K>(wrap(trained<K>{&m}))...); },
        seen);
    const auto input = [this](int i) { return x[static_cast<std::size_t>(i)]; };
    const auto loss = [](const auto& y, int) { return dm::sum(y * y * y); };
    values all;
    const auto add = [&all](const auto& t) {
      const auto on = test_support::on_host(t);
      all.insert(all.end(), on.data(), on.data() + t.local_size());
    };
    (void)net.forecast(s, weights, input, loss);  // counts nothing
    for (int step = 0; step < 2; ++step) {
      const auto made = dm::complete(net.value_and_grad(s, weights, input, loss));
      std::apply([](auto&... m) { (nn::keep_moments(m.kept, m.mini, 0.25), ...); }, seen);
      add(made.value);
      dm::for_each_tensor([&](const auto&, const auto& t) { add(t); }, made.gradient);
    }
    std::apply([&](const auto&... m) { ((add(m.kept.mean), add(m.kept.variance)), ...); }, seen);
    check_first(std::get<0>(seen).kept);
    return all;
  }
  /// Of the first layer: twice a quarter of the way from 0 and 1 to the moments of the mini-batch.
  template <class R> void check_first(const R& kept) const {
    const auto& w = std::get<0>(weights).w;
    std::vector<values> columns(6);
    for (const inputs& one : x) {
      values z = dm::to_rank(before_norm<0>(w, dm::place<stage, 0>(one)));
      if (&one == &x.back() && !z.empty()) z.resize(static_cast<std::size_t>(6 * last_rows));
      for (std::size_t e = 0; e < z.size(); ++e) columns[e % 6].push_back(z[e]);
    }
    const values mean = dm::to_rank(kept.mean), variance = dm::to_rank(kept.variance);
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const auto n = static_cast<double>(columns[c].size());
      double sum = 0, squares = 0;
      for (const double z : columns[c]) sum += z;
      for (const double z : columns[c]) squares += (z - sum / n) * (z - sum / n);
      const double way = 1 - 0.75 * 0.75;
      CHECK(n == 8 * (micros - 1) + last_rows);
      CHECK(mean[c] == doctest::Approx(way * sum / n).epsilon(1e-12));
      CHECK(variance[c] == doctest::Approx(1 - way + way * squares / (n - 1)).epsilon(1e-12));
    }
  }
};

constexpr auto as_it_is = [](const auto& f) { return f; };
constexpr auto run_again = [](const auto& f) { return dm::recompute(f); };
constexpr auto twice_again = [](const auto& f) {
  return dm::recompute([f](const auto& w, const auto& x) { return dm::recompute(f)(w, x); });
};

template <int... K> void check_all(int stages, int micros) {
  const problem<K...> p(stages, micros);
  const values bits = p.run(dm::gpipe{stages, micros}, as_it_is);
  CHECK(p.run(dm::one_f_one_b{stages, micros}, as_it_is) == bits);
  CHECK(p.run(dm::zb_h1{stages, micros}, as_it_is) == bits);
  CHECK(p.run(dm::one_f_one_b{stages, micros}, run_again) == bits);
  CHECK(p.run(dm::gpipe{stages, micros}, twice_again) == bits);
}

TEST_CASE("micro-batches train by their own moments; those of the mini-batch are kept") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (const int micros : {1, 3}) {
    check_all<0>(1, micros);
    if (n >= 2) check_all<0, 1>(2, micros);
    if (n >= 4) check_all<0, 1, 2, 3>(4, micros);
  }
}

// Moments are checked where they are kept.
TEST_CASE("rows that fill up the last micro-batch change nothing") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (n < 2) return;
  problem<0, 1> p(2, 2);
  p.last_rows = 5;
  masks all{dm::make<masks::value_type>(p.g), dm::make<masks::value_type>(p.g)};
  dm::fill(all[0], true);
  dm::fill_by(all[1], [](dm::index_t row) { return row < 5; });
  const auto by_rows_that_count = [&](const auto& f) {
    return [&all]<int K>(const trained<K>& t) { return filled<K>{t.seen, &all, 5}; }(f);
  };
  const values right = p.run(dm::gpipe{2, 2}, by_rows_that_count);
  const inputs drawn = p.x[1];
  for (const double filling : {0.0, 40.0}) {
    p.x[1] = dm::select(all[1], drawn, filling);
    CHECK(p.run(dm::gpipe{2, 2}, by_rows_that_count) == right);
  }
}

TEST_CASE("moments of each step of a plan move once, however often it runs") {
  const dm::grid<pod> g(MPI_COMM_SELF, stage{1});
  constexpr int steps = 6;
  using X = dm::tensor<double, there<0>, batch, channel>;
  const auto x = dm::normal<X>(g, dm::random_key{3}, 0, 1);
  auto weights = dm::make<nn::scale_and_shift<there<0>, double, channel>>(g);
  nn::initialize(weights, dm::random_key{1});
  const auto seen_by = [&](const auto& plan, bool again) {
    std::vector<moments<0>> seen(steps);
    for (auto& one : seen) {
      one = dm::make<moments<0>>(g);
      nn::initialize(one, dm::random_key{1});
    }
    const auto step = [&seen](const auto& w, const auto& v, int i) {
      const auto made = nn::batch_norm<channel>(nn::model<there<0>>{}, w, v);
      nn::keep_moments(seen[static_cast<std::size_t>(i)], made, 0.25);
      return dm::tanh(made.y) + v;
    };
    dm::plan_report report;
    (void)dm::value_and_grad_by(plan, step, weights, x,
                                [](const auto& v) { return dm::sum(v * v); }, {.report = &report});
    CHECK((report.forward > steps) == again);
    values all;
    for (const auto& one : seen)
      for (const values& v : {dm::to_rank(one.mean), dm::to_rank(one.variance)})
        all.insert(all.end(), v.begin(), v.end());
    return all;
  };
  const values once = seen_by(dm::tape_all{steps}, false);
  CHECK(once.size() == 2 * 6 * steps);
  CHECK(seen_by(dm::revolve{steps, 2}, true) == once);
  CHECK(seen_by(dm::cells{steps, 2}, true) == once);

  // What is measured is no run of a batch.
  auto kept = dm::make<moments<0>>(g);
  nn::initialize(kept, dm::random_key{1});
  const auto before = dm::to_rank(kept.mean);
  const auto one = [&kept](const auto& w, const auto& v) {
    const auto made = nn::batch_norm<channel>(nn::model<there<0>>{}, w, v);
    nn::keep_moments(kept, made, 0.25);
    return dm::tanh(made.y) + v;
  };
  (void)dm::measured_chain(one, weights, x, 3);
  CHECK(dm::to_rank(kept.mean) == before);
  CHECK(dm::to_rank(kept.variance) == values(6, 1));
}

}  // namespace
