// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices of a sequence along a causal dim go through a pipeline like micro-batches, each with what
// those before it left at the stage: loss and gradients are those of whole sequences.
//
// ranks: 1 2 4
// labels: device
#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/memory/pool.hpp>
#include <dimesh/op/attention.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/slice.hpp>
#include <numeric>

#include "dimesh/pipeline/pipeline.hpp"
#include "dimesh/pipeline/slices.hpp"
#include "support/host.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<4> {};
struct length : dm::dim<> {};
struct key : dm::dim<> {};
struct model : dm::dim<8> {};
struct inner : dm::dim<8> {};
struct heads : dm::dim<2> {};
struct head : dm::dim<4> {};
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};
using everywhere = dm::layout<pod>;
using by_rows = dm::layout<pod, dm::split<batch, rows>>;
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
template <int K> using rows_at = dm::layout<pod, dm::placed<stage, K>, dm::split<batch, rows>>;
template <class L> using sequences = dm::tensor<double, L, batch, length, model>;
/// Keys, or values, of all elements up to now.
template <class L> using seen = dm::tensor<double, L, batch, heads, key, head>;

template <class L> struct layer {
  using to_heads = dm::tensor<double, L, model, heads, head>;
  BOOST_HANA_DEFINE_STRUCT(layer, (to_heads, q), (to_heads, k), (to_heads, v),
                           (dm::tensor<double, L, heads, head, model>, out),
                           (dm::tensor<double, L, model, inner>, up),
                           (dm::tensor<double, L, inner, model>, down));
};
/// Causal attention and a feed-forward part; the elements begin at place `at` of the sequence.
constexpr auto block = [](const auto& w, const auto& x, const auto& past) {
  const auto to = [&x](const auto& p) { return dm::einsum<batch, heads, length, head>(x, p); };
  const auto keys = dm::concat<key>(std::get<0>(past), dm::rename<length, key>(to(w.k)));
  const auto values = dm::concat<key>(std::get<1>(past), dm::rename<length, key>(to(w.v)));
  const dm::index_t at = keys.template extent<key>() - x.template extent<length>();
  const auto mixed =
      dm::attention<length, key, head>(to(w.q), keys, values, {.causal = true, .offset = at});
  const auto y = x + dm::einsum<batch, length, model>(mixed, w.out);
  const auto h = dm::tanh(dm::einsum<batch, length, inner>(y, w.up));
  return std::pair(y + dm::einsum<batch, length, model>(h, w.down), std::tuple(keys, values));
};

template <class A, class B> double distance(const A& a, const B& b) {
  double far = 0;
  const auto one = dm::to_rank(a), two = dm::to_rank(b);
  REQUIRE(one.size() == two.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    far = std::max(far, std::abs(one[i] - two[i]) / (1 + std::abs(two[i])));
  return far;
}

/// Of two slices of the same length, the later one computes more, at every stage; what a schedule
/// takes follows from it.
void check_costs(const dm::pipeline_forecast& told, const std::vector<int>& lengths) {
  const auto slices = lengths.size();
  for (std::size_t stage = 0; stage < told.stages.size() / slices; ++stage)
    for (std::size_t i = 0; i + 1 < slices; ++i) {
      const auto& a = told.stages[stage * slices + i];
      const auto& b = told.stages[stage * slices + i + 1];
      if (lengths[i] == lengths[i + 1]) CHECK(a.forward < b.forward);
    }
}

/// As sliced, but the first slices of all sequences come first, then the second ones, ...: forward,
/// on the way back, or both.
struct in_turns {
  int ranks = 0, micros = 0, slices = 0;
  bool forward = true, back = true;
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 2 * micros; }
  constexpr dm::stage_operation at(int rank, int k) const {
    const int sequences = micros / slices, i = k % micros;
    const bool turns = k < micros ? forward : back;
    const int sequence = turns ? i % sequences : i / slices;
    const int slice = turns ? i / sequences : i % slices;
    if (k < micros) return {dm::stage_work::forward, sequence * slices + slice, rank};
    return {dm::stage_work::backward, sequence * slices + slices - 1 - slice, rank};
  }
};

constexpr dm::index_t elements = 12;
constexpr int count = 2;  // of batches of sequences

template <int... K> void check(const std::vector<int>& lengths) {
  constexpr int stages = sizeof...(K);
  const int slices = static_cast<int>(lengths.size());
  CAPTURE(stages);
  CAPTURE(slices);
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{stages});
  auto whole = dm::make<std::array<layer<everywhere>, sizeof...(K)>>(g);
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 0.5); },
      whole);
  auto weights = std::make_tuple(dm::make<layer<there<K>>>(g)...);
  dm::for_each_tensor(
      [](const auto&, auto& t, const auto& f) {
        using T = std::remove_cvref_t<decltype(t)>;
        constexpr auto k = dm::spec_of<T>::table.axis[0].at;
        t = dm::clone(dm::place<stage, k>(f));
      },
      weights, std::apply([](const auto&... l) { return std::make_tuple(l...); }, whole));
  std::vector<sequences<by_rows>> x, target;
  for (int i = 0; i < count; ++i) {
    x.push_back(dm::normal<sequences<by_rows>>(g, dm::random_key{seed++}, 0, 1, length{elements}));
    target.push_back(
        dm::normal<sequences<by_rows>>(g, dm::random_key{seed++}, 0, 1, length{elements}));
  }
  const auto part = [&](const auto& all, int i) {
    const auto n = static_cast<std::size_t>(i % slices);
    const dm::index_t from = std::accumulate(lengths.begin(), lengths.begin() + i % slices, 0);
    return dm::slice<length>(all[static_cast<std::size_t>(i / slices)], from, from + lengths[n]);
  };
  const auto input = [&](int i) { return part(x, i); };
  const auto squares = [](const auto& y, const auto& t) {
    const auto d = y - t;
    return dm::sum(d * d);
  };
  const auto loss = [&](const auto& y, int i) {
    return squares(y, dm::place<stage, stages - 1>(part(target, i))) * static_cast<double>(slices);
  };
  const auto nothing = [&g](auto k) {
    return [&g](int) {
      using S = seen<rows_at<decltype(k)::value>>;
      return std::tuple(dm::zeros<S>(g, key{0}), dm::zeros<S>(g, key{0}));
    };
  };
  const auto net = dm::pipeline<stage>(
      dm::cell<K>(dm::carrying(block, nothing(std::integral_constant<int, K>{})))...);
  const auto by_sliced = [&] {
    const dm::sliced s{stages, count * slices, slices};
    const dm::pipeline_forecast told = net.forecast(s, weights, input, loss);
    CHECK(told.slices == slices);
    dm::pipeline_report report;
    dm::index_t peak = 0;
    for (int again = 0; again < 2; ++again) {  // the first one makes what stays
      dm::detail::pool& memory = dm::detail::pool::instance();
      memory.restart_peak();
      const dm::index_t before = memory.figures().live;
      (void)net.value_and_grad(s, weights, input, loss, {.report = &report});
      peak = memory.figures().peak - before;
    }
    CHECK(told.held == report.peak);
    CHECK(told.messages == report.messages);
    CHECK(told.bytes == report.bytes);
    // Inputs and targets are slices made in the step, which were there before by the forecast.
    const dm::index_t made = 2 * count * slices * x[0].local_size() * 8;
    CHECK(peak >= told.peak);
    CHECK(peak <= told.peak + made);
    check_costs(told, lengths);
    const auto step = net.value_and_grad(s, weights, input, loss);
    // By the way forward alone the last stage gives what the losses are of.
    const auto given = net.forward(s, weights, input);
    CHECK(given.size() == (g.coord<stage>() + 1 == stages ? s.micros : 0));
    double sum = 0;
    for (std::size_t i = 0; i < given.size(); ++i)
      sum += test_support::on_host(loss(given[i], static_cast<int>(i)))[0] / s.micros;
    if (!given.empty())
      CHECK(sum == doctest::Approx(test_support::on_host(step.value)[0]).epsilon(1e-12));
    return dm::complete(step);
  };
  const auto f = [&](const auto& w, const auto& v, const auto& t) {
    using S = seen<by_rows>;
    const auto none = std::tuple(dm::zeros<S>(g, key{0}), dm::zeros<S>(g, key{0}));
    auto y = block(w[0], v, none).first;
    for (std::size_t k = 1; k < sizeof...(K); ++k) y = block(w[k], y, none).first;
    return squares(y, t);
  };
  const auto want = dm::complete(dm::accumulate(count, [&](dm::index_t i) {
    const auto n = static_cast<std::size_t>(i);
    return dm::value_and_grad(f, whole)(x[n], target[n]);
  }));
  const auto check_made = [&want](const auto& made) {
    CHECK(distance(made.value, want.value) < 1e-12);
    double far = 0;
    dm::for_each_tensor(
        [&far](const auto&, const auto& a, const auto& b) { far = std::max(far, distance(a, b)); },
        made.gradient,
        std::apply([](const auto&... l) { return std::make_tuple(l...); }, want.gradient));
    CHECK(far < 1e-12);
  };
  check_made(by_sliced());
  for (const auto& [forward, back] : {std::pair(true, true), {true, false}, {false, true}}) {
    const in_turns s{stages, count * slices, slices, forward, back};
    check_made(dm::complete(net.value_and_grad(s, weights, input, loss)));
  }
}

struct four : dm::dim<4> {};

TEST_CASE("slices of nothing: what is carried begins without an input") {
  const dm::grid<pod> g(MPI_COMM_SELF, stage{1});
  using W = dm::tensor<double, dm::layout<pod, dm::placed<stage, 0>>, four>;
  const auto weights = std::make_tuple(std::make_tuple(dm::constant<W>(g, 2.0)));
  const auto block = [](const auto& w, const auto&, const auto& past) {
    const auto y = std::get<0>(w) * std::get<0>(w) + std::get<0>(past);
    return std::pair(y, std::tuple(y));
  };
  const auto net = dm::pipeline<stage>(
      dm::cell<0>(dm::carrying(block, [&g](int) { return std::tuple(dm::zeros<W>(g)); })));
  const auto nothing = [](int) { return std::tuple<>(); };
  const auto loss = [](const auto& y) { return dm::sum(y); };
  const dm::sliced s{1, 4, 2};  // two sequences, whose slices give four times 4, then four times 8
  dm::pipeline_report report;
  const auto step = net.value_and_grad(s, weights, nothing, loss, {.report = &report});
  CHECK(test_support::on_host(dm::complete(step.value))[0] == 24);
  CHECK(net.forecast(s, weights, nothing, loss).held == report.peak);
}

TEST_CASE("slices of sequences have the gradients of whole ones") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  // Lengths for which a pipeline of so many stages is fastest, where later elements see more.
  const auto cost = [](int before, int elements_of_it) {
    return 4.0 + elements_of_it * (6.0 + before + 0.5 * elements_of_it);
  };
  const auto fastest = [&cost](int stages) {
    return dm::slice_lengths(static_cast<int>(elements), stages, cost).lengths;
  };
  CHECK(fastest(4).size() > 2);
  CHECK(fastest(4).front() > fastest(4).back());
  for (const auto& lengths :
       {std::vector<int>{12}, std::vector<int>{4, 4, 4}, std::vector<int>{7, 1, 4}}) {
    check<0>(lengths);
    if (n >= 2) check<0, 1>(lengths);
  }
  if (n >= 2) check<0, 1>(fastest(2));
  if (n >= 4) check<0, 1, 2, 3>(fastest(4));
}

}  // namespace
