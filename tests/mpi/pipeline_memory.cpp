// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a step of a pipeline takes, counted before it and while it runs: the same bytes of memory,
// the same messages. A way back in two parts keeps between them what the second one reads.
//
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/memory/pool.hpp>
#include <dimesh/op/attention.hpp>

#include "dimesh/pipeline/pipeline.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"
#include "support/far_ahead.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<16> {};
struct width : dm::dim<8> {};
struct hidden : dm::dim<24> {};
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
using by_rows = dm::layout<pod, dm::split<batch, rows>>;
using inputs = dm::tensor<double, by_rows, batch, width>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<double, L, width, hidden>, in),
                           (dm::tensor<double, L, hidden>, bias),
                           (dm::tensor<double, L, hidden, width>, out));
};
constexpr auto block = [](const auto& p, const auto& x) {
  const auto h = dm::tanh(dm::einsum<batch, hidden>(x, p.in) + p.bias);
  return x + dm::einsum<batch, width>(h, p.out);
};

/// As many layers in each of these cells as `depth`.
template <int... K> struct problem {
  static constexpr std::size_t depth = 2;
  dm::grid<pod> g;
  int micros;
  std::tuple<std::array<layer<there<K>>, depth>...> weights;
  std::vector<inputs> x;
  inputs target;

  problem(int stages, int m) : g(MPI_COMM_WORLD, stage{stages}), micros(m) {
    weights = std::make_tuple(dm::make<std::array<layer<there<K>>, depth>>(g)...);
    std::uint64_t seed = 1;
    dm::for_each_tensor(
        [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 0.5); },
        weights);
    for (int i = 0; i < m; ++i) x.push_back(dm::normal<inputs>(g, dm::random_key{seed++}, 0, 1));
    target = dm::normal<inputs>(g, dm::random_key{seed++}, 0, 1);
  }
  auto input() const {
    return [this](int i) { return x[static_cast<std::size_t>(i)]; };
  }
  auto loss() const {
    return [this](const auto& y, int) {
      constexpr int last = std::array{K...}.back();
      const auto d = y - dm::place<stage, last>(target);
      return dm::sum(d * d);
    };
  }
  static auto net() { return dm::pipeline<stage>(dm::cell<K>(dm::each_of(block))...); }

  struct seen {
    dm::pipeline_forecast told;
    dm::pipeline_report report;
    dm::index_t peak = 0;
  };
  template <class Net, class S> seen run(const Net& n, const S& s, bool blocking = false) const {
    seen found;
    found.told = n.forecast(s, weights, input(), loss(), {.blocking = blocking});
    for (int again = 0; again < 2; ++again) {  // the first one makes what stays
      dm::detail::pool& memory = dm::detail::pool::instance();
      memory.restart_peak();
      const dm::index_t before = memory.figures().live;
      const auto step = n.value_and_grad(s, weights, input(), loss(),
                                         {.blocking = blocking, .report = &found.report});
      found.peak = memory.figures().peak - before;
      CHECK(step.value.local_size() >= 0);
    }
    return found;
  }
  template <class S> seen run(const S& s, bool blocking = false) const {
    return run(net(), s, blocking);
  }
  template <class S> seen check(const S& s, bool blocking = false) const {
    const seen f = run(s, blocking);
    CAPTURE(s.ranks);
    CAPTURE(s.micros);
    CHECK(f.told.held == f.report.peak);
    CHECK(f.told.messages == f.report.messages);
    CHECK(f.told.bytes == f.report.bytes);
    CHECK(f.peak == f.told.peak);
    return f;
  }
};

int ranks() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

TEST_CASE("memory of a step is what was forecast") {
  for (const int micros : {1, 2, 5}) {
    const problem<0> one(1, micros);
    one.check(dm::gpipe{1, micros});
    one.check(dm::one_f_one_b{1, micros});
    one.check(dm::zb_h1{1, micros});
    if (ranks() < 2) continue;
    const problem<0, 1> two(2, micros);
    two.check(dm::gpipe{2, micros}, true);
    two.check(dm::gpipe{2, micros});
    two.check(dm::one_f_one_b{2, micros});
    two.check(dm::zb_h1{2, micros});
    two.check(test_support::far_ahead{2, micros});
    const problem<0, 1, 1, 0> there_and_back(2, micros);
    there_and_back.check(dm::zb_v{2, micros});
    const int even = 2 * micros;
    const problem<0, 1, 0, 1> round_and_round(2, even);
    round_and_round.check(dm::interleaved{2, even, 2});
    round_and_round.check(dm::interleaved{2, even, 2, true});
    if (ranks() < 4) continue;
    const problem<0, 1, 2, 3> four(4, micros);
    four.check(dm::one_f_one_b{4, micros});
    four.check(dm::zb_h1{4, micros});
    four.check(dm::zb_h2{4, micros});
  }
}

struct length : dm::dim<24> {};
struct key : dm::dim<24> {};
struct head : dm::dim<8> {};

// Tiles of attention's kernel are larger than all else here, forward and backward; also where it
// runs again, and it alone.
TEST_CASE("room that attention takes while it runs is forecast") {
  using sequences = dm::tensor<double, by_rows, batch, length, head>;
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{1});
  const auto weights = std::make_tuple(
      std::make_tuple(dm::normal<dm::tensor<double, there<0>, head>>(g, dm::random_key{1}, 0, 1)));
  const auto attends = [](const auto& x, const auto& seen) {
    return dm::attention<length, key, head>(x, seen, seen, {.causal = true});
  };
  const auto looks = [](const auto& by) {
    return [by](const auto& w, const auto& x) {
      return dm::tanh(by(x, dm::rename<length, key>(x * std::get<0>(w))));
    };
  };
  const auto x = dm::normal<sequences>(g, dm::random_key{2}, 0, 1);
  const auto check = [&](const auto& f) {
    const auto net = dm::pipeline<stage>(dm::cell<0>(f));
    const auto input = [&x](int) { return x; };
    const auto loss = [](const auto& y, int) { return dm::sum(y * y); };
    const dm::gpipe s{1, 2};
    const auto told = net.forecast(s, weights, input, loss);
    dm::index_t peak = 0;
    std::vector<double> gradient;
    for (int again = 0; again < 2; ++again) {
      dm::detail::pool& memory = dm::detail::pool::instance();
      memory.restart_peak();
      const dm::index_t before = memory.figures().live;
      const auto step = net.value_and_grad(s, weights, input, loss);
      peak = memory.figures().peak - before;
      const auto one = dm::complete(step.gradient);
      gradient = dm::to_rank(std::get<0>(std::get<0>(one)));
    }
    CHECK(peak == told.peak);
    CHECK(gradient.size() == (g.rank() == 0 ? 8 : 0));
    return std::pair(told.stages[0], gradient);
  };
  const auto once = check(looks(attends)), again = check(looks(dm::recompute(attends)));
  CHECK(again.second == once.second);
  const auto back = [](const dm::stage_cost& c) { return c.backward_input + c.backward_weight; };
  CHECK(back(again.first) > back(once.first));
  CHECK(again.first.forward == once.first.forward);
}

TEST_CASE("a rank may ask for a forecast by itself, on a grid that has sent nothing yet") {
  if (ranks() < 2) return;
  const problem<0, 1> two(2, 2);
  dm::index_t peak = 0;
  if (two.g.rank() == 0)
    peak = two.net().forecast(dm::gpipe{2, 2}, two.weights, two.input(), two.loss()).peak;
  MPI_Bcast(&peak, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  CHECK(peak > 0);
}

// Products by weights wait for the second part, with what they read: their operand and the
// cotangent of their result. The bias's gradient is done, and what tanh had read is gone.
TEST_CASE("between the parts of a way back a stage keeps what the second one reads") {
  namespace inner = dm::detail::pipeline;
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{1}, rows{ranks()});
  using X = dm::tensor<double, dm::layout<pod, dm::placed<stage, 0>, dm::split<batch, rows>>, batch,
                       width>;
  const auto w = dm::make<layer<there<0>>>(g);
  const auto x = dm::zeros<X>(g);
  const inner::nothing_more nothing;
  inner::typed_cell<0, decltype(block), layer<there<0>>, X, true, false, inner::nothing_more> c(
      block, w, nothing);
  dm::detail::tally t;
  inner::cell_base* const all[] = {&c};
  const inner::shape_weights here(all, t);
  const inner::cores in{inner::as_shape(dm::detail::core_of(x), &t)};
  inner::cell_run r(c, in, 0, true, true);
  const dm::index_t row = x.local_size() / 8 * 8;  // bytes of one column
  CHECK(t.live == (24 + 24 + 8) * row);  // what tanh reads, h, and y, which goes on
  r.y[0].forget_data();
  inner::cores bar;
  bar.push_back(dm::detail::tensor_core(r.y[0].facts->dual));
  bar[0].place_like(r.y[0]);
  r.seed(bar, c.sums);
  r.backward_input(c.sums);
  r.xbar();
  CHECK(t.live == (24 + 24) * row + 24 * 8);  // h and the cotangent of x * in; the bias's sum
  r.backward(c.sums);
  CHECK(t.live == (2 * 8 * 24 + 24) * 8);  // gradients
}

/// Some of what goes back in two parts: a weight of a product and a map, another of a map alone,
/// one that is worked on first, a block that runs again, a transpose of the user's.
constexpr auto mixed = [](const auto& p, const auto& x) {
  const auto part = [](const auto& w, const auto& v) {
    return dm::tanh(dm::einsum<batch, hidden>(v, w.in) + w.bias);
  };
  const auto h = dm::recompute(part)(p, x * 0.5);
  const auto k = dm::tanh(dm::einsum<batch, hidden>(x, p.in * 2.0) + p.bias);
  const auto scaled = dm::sum<width>(p.out);  // [hidden]
  return x + dm::einsum<batch, width>((h + k) * scaled * dm::sum<width>(p.in), p.out);
};
/// The same in the other order: the block's cells come first on the way back.
constexpr auto mixed_again = [](const auto& p, const auto& x) {
  const auto part = [](const auto& w, const auto& v) {
    return dm::einsum<batch, width>(dm::tanh(dm::einsum<batch, hidden>(v, w.in)) * w.bias, w.out);
  };
  const auto y = dm::recompute(part)(p, x);
  return dm::recompute(part)(p, y * dm::sum<hidden>(p.in) + x);
};

TEST_CASE("gradients of a way back in two parts are those of a whole one") {
  const auto check = [](const auto& block_of) {
    constexpr int micros = 4;
    const problem<0> p(1, micros);
    const auto net = dm::pipeline<stage>(dm::cell<0>([](const auto&, const auto& x) { return x; }),
                                         dm::cell<0>(dm::each_of(block_of)));
    const auto weights = std::make_tuple(std::tuple<>{}, std::get<0>(p.weights));
    const auto by = [&](const auto& s) {
      return dm::complete(net.value_and_grad(s, weights, p.input(), p.loss()));
    };
    const auto whole = by(dm::interleaved{1, micros, 2});
    const auto parts = by(dm::zb_v{1, micros});
    CHECK(dm::to_rank(whole.value) == dm::to_rank(parts.value));
    const auto close = [](const auto& a, const auto& b) {
      const auto one = dm::to_rank(a), two = dm::to_rank(b);
      double far = 0, most = 0;
      for (std::size_t i = 0; i < one.size(); ++i) {
        far = std::max(far, std::abs(one[i] - two[i]));
        most = std::max(most, std::abs(one[i]));
      }
      CHECK((most > 1e-3 || one.empty()));
      CHECK(far <= 1e-13 * most);
    };
    for (std::size_t l = 0; l < 2; ++l) {
      const auto& a = std::get<1>(whole.gradient)[l];
      const auto& b = std::get<1>(parts.gradient)[l];
      close(a.in, b.in), close(a.bias, b.bias), close(a.out, b.out);
    }
  };
  check(mixed);
  check(mixed_again);
}

}  // namespace
