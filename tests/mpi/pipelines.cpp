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
#include <dimesh/op/cuts.hpp>
#include <dimesh/op/slice.hpp>
#include <dimesh/optim/adam.hpp>
#include <stdexcept>

#include "dimesh/pipeline/bidirectional.hpp"
#include "dimesh/pipeline/chain_costs.hpp"
#include "dimesh/pipeline/channel.hpp"
#include "dimesh/pipeline/cut_layers.hpp"
#include "dimesh/pipeline/micro_batch.hpp"
#include "dimesh/pipeline/partition.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"
#include "support/distance.hpp"
#include "support/far_ahead.hpp"
#include "support/host.hpp"

namespace dm = dimesh;

namespace {

using test_support::distance;

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
using model = std::array<layer<everywhere>, depth>;
using inputs = dm::tensor<double, by_rows, batch, width>;

struct problem {
  dm::grid<pod> g;
  int micros;
  model plain{};
  std::vector<inputs> x, target;
  problem(dm::index_t stages, int m, MPI_Comm comm = MPI_COMM_WORLD)
      : g(comm, stage{stages}), micros(m) {
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
  return [&m]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<std::array<layer<there<K>>, n>...>(cell_at<K, n>(m, n * I)...);
  }(std::index_sequence_for<std::integral_constant<int, K>...>{});
}

template <class X, class Y> auto squares(const X& x, const Y& y) {
  const auto d = x - y;
  return dm::sum(d * d) * (1.0 / 8);
}

constexpr double rounding = 1e-13;

/// All elements of the gradient that this rank holds.
template <class S> std::vector<double> held(const S& s) {
  std::vector<double> all;
  dm::for_each_tensor(
      [&all](const auto&, const auto& x) {
        all.insert(all.end(), test_support::on_host(x).data(),
                   test_support::on_host(x).data() + x.local_size());
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
      constexpr int last = std::array{K...}.back();
      return squares(y, dm::place<stage, last>(p.target[static_cast<std::size_t>(i)]));
    };
  }
  auto x() const {
    return [this](int i) { return p.x[static_cast<std::size_t>(i)]; };
  }
  static auto net() { return dm::pipeline<stage>(dm::cell<K>(dm::each_of(block))...); }
  template <class S> auto run(const S& s, const dm::pipeline_settings& how = {}) const {
    return dm::complete(net().value_and_grad(s, weights, x(), loss(), how));
  }

  /// Against the model on all ranks, and against the bits of another schedule.
  template <class S> std::vector<double> check(const S& s, bool blocking = false) const {
    dm::pipeline_report report;
    const auto told = net().forecast(s, weights, x(), loss(), {.blocking = blocking});
    census::reset();
    const auto own =
        net().value_and_grad(s, weights, x(), loss(), {.blocking = blocking, .report = &report});
    const census::counts seen = census::snapshot();
    const auto step = dm::complete(own);
    CHECK(report.peak == dm::peak_held(s, static_cast<int>(p.g.template coord<stage>())));
    int sent = 0;
    for (int b = 0; b + 1 < s.stages(); ++b)
      for (const int from : {b, b + 1})
        sent += s.rank_of(b, 0) != s.rank_of(b + 1, 0) &&
                s.rank_of(from, 0) == static_cast<int>(p.g.template coord<stage>());
    CHECK(report.messages == sent * p.micros);
    CHECK(report.bytes == sent * p.micros * 8 / p.g.template size<rows>() * 6 * 8);
    // What MPI got is what was forecast, and a header for each boundary and direction: the axes
    // along which a value counts once, and two extents.
    CHECK(told.messages == report.messages);
    CHECK(told.bytes == report.bytes);
    CHECK(seen.calls_on(1u) == told.messages + sent);
    CHECK(seen.bytes_on(1u) == told.bytes + sent * 3 * 8);
    CHECK(seen.calls() == seen.calls_on(1u));

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
    all.insert(all.end(), test_support::on_host(step.value).data(),
               test_support::on_host(step.value).data() + step.value.local_size());
    return all;
  }
  template <class S> void check_forward(const S& s) const {
    const auto y = net().forward(s, weights, x());
    constexpr int last = std::array{K...}.back();
    CHECK(y.size() == (p.g.template coord<stage>() == last ? p.x.size() : 0));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto want = dm::each_of(block)(p.plain, p.x[i]);
      REQUIRE(want.local_size() == y[i].local_size());
      double far = 0;
      for (dm::index_t k = 0; k < want.local_size(); ++k)
        far = std::max(far,
                       std::abs(test_support::on_host(want)[k] - test_support::on_host(y[i])[k]));
      CHECK(far < rounding);
    }
  }
};

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         std::memcmp(test_support::on_host(a).data(), test_support::on_host(b).data(),
                     a.size() * sizeof(double)) == 0;
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

/// One micro-batch at a time: no overlap at all.
struct one_by_one {
  int ranks = 0, micros = 0;
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 2 * micros; }
  constexpr dm::stage_operation at(int rank, int k) const {
    return {k % 2 == 0 ? dm::stage_work::forward : dm::stage_work::backward, k / 2, rank};
  }
};
static_assert(dm::checked_schedule<one_by_one{.ranks = 2, .micros = 3}>().peak == 1);

TEST_CASE("a schedule of the user's own has the bits of 1F1B") {
  if (ranks() < 2) return;
  const problem p(2, 3);
  const runs<0, 1> r{p};
  const auto bits = r.check(dm::one_f_one_b{2, 3});
  CHECK(same(r.check(one_by_one{2, 3}), bits));
  CHECK(same(r.check(one_by_one{2, 3}, true), bits));
  CHECK_THROWS_WITH_AS((void)r.run(dm::forward_only{2, 3}),
                       doctest::Contains("pipeline: the schedule goes forward only, and a gradient "
                                         "comes from a way back; take one_f_one_b or another one "
                                         "that has it"),
                       dm::error);
}

TEST_CASE("a schedule is checked once, while few others come between") {
  using dm::detail::pipeline::checked_once;
  using list = dm::detail::pipeline::listed_schedule;
  const dm::schedule_facts& first = checked_once(list(dm::one_f_one_b{4, 8}));
  CHECK(first.peak == 4);
  CHECK(&checked_once(list(dm::gpipe{4, 8})) != &first);
  CHECK(checked_once(list(dm::gpipe{4, 8})).peak == 8);
  CHECK(&checked_once(list(dm::one_f_one_b{4, 8})) == &first);
  for (int m = 1; m <= 5; ++m) CHECK(checked_once(list(dm::gpipe{4, m})).peak == m);
  CHECK(checked_once(list(dm::one_f_one_b{4, 8})).peak == 4);
  for (int again = 0; again < 2; ++again)
    CHECK_THROWS_AS(checked_once(list(dm::interleaved{4, 6, 2})), dm::error);
}

TEST_CASE("two stages on a rank: interleaved, and there and back") {
  for (const int micros : {2, 4}) {
    if (ranks() >= 2) {
      const problem p(2, micros);
      const auto bits = runs<0, 1, 0, 1>{p}.check(dm::interleaved{2, micros, 2});
      runs<0, 1, 0, 1>{p}.check_forward(dm::interleaved{2, micros, 2});
      runs<0, 1, 1, 0>{p}.check_forward(dm::zb_v{2, micros});
      CHECK(same(runs<0, 1, 0, 1>{p}.check(dm::interleaved{2, micros, 2, true}), bits));
      (void)runs<0, 1, 1, 0>{p}.check(dm::zb_v{2, micros});
    } else {
      const problem p(1, micros);
      const auto bits = runs<0, 0>{p}.check(dm::interleaved{1, micros, 2});
      CHECK(same(runs<0, 0>{p}.check(dm::zb_v{1, micros}), bits));
    }
  }
}

/// Value and gradients of all layers, on the first rank of the grid.
template <int... K, class S> std::vector<double> bits_of(const problem& p, const S& s) {
  const auto step = runs<K...>{p}.run(s);
  std::vector<double> all = dm::to_rank(step.value);
  dm::for_each_tensor(
      [&all](const auto&, const auto& x) {
        const auto one = dm::to_rank(x);
        all.insert(all.end(), one.begin(), one.end());
      },
      step.gradient);
  return all;
}
/// The last micro-batch has three rows, and five that are none: their losses weigh nothing, and the
/// mean is that of the rows that there are.
template <int... K, class... S> void check_masked(int stages, int micros, const S&... schedules) {
  const problem p(stages, micros);
  const runs<K...> r{p};
  constexpr int last = std::array{K...}.back();
  const dm::index_t rows_there = 3, all_rows = 8 * (micros - 1) + rows_there;
  using flags = dm::tensor<double, by_rows, batch>;
  const auto full = dm::generate<flags>(p.g, [](auto) { return 1.0; }, batch{8});
  const auto part =
      dm::generate<flags>(p.g, [=](dm::index_t i) { return i < rows_there ? 1.0 : 0.0; }, batch{8});
  const double share = static_cast<double>(micros) / static_cast<double>(all_rows);
  const auto loss = [&](const auto& y, int i) {
    const auto d = y - dm::place<stage, last>(p.target[static_cast<std::size_t>(i)]);
    return dm::sum(d * d * dm::place<stage, last>(i + 1 == p.micros ? part : full)) * share;
  };
  // The same rows without a mask, on ranks that hold everything.
  const auto f = [&](const auto& m, const auto& x, const auto& y) {
    const auto d = dm::each_of(block)(m, x) - y;
    return dm::sum(d * d) * (1.0 / static_cast<double>(all_rows));
  };
  double value = 0;
  std::vector<std::vector<double>> want(depth);
  const auto add = [&](const auto& one) {
    value += dm::value(one.value);
    for (std::size_t l = 0; l < depth; ++l) {
      const auto more = held(one.gradient[l]);
      want[l].resize(more.size());
      for (std::size_t k = 0; k < more.size(); ++k) want[l][k] += more[k];
    }
  };
  for (std::size_t i = 0; i + 1 < p.x.size(); ++i)
    add(dm::complete(dm::value_and_grad(f, p.plain)(p.x[i], p.target[i])));
  const auto there = [&](const inputs& x) {
    return dm::slice<batch>(dm::whole<batch>(x), 0, rows_there);
  };
  add(dm::complete(dm::value_and_grad(f, p.plain)(there(p.x.back()), there(p.target.back()))));
  std::vector<double> mine;
  for (std::size_t l = 0; l < depth; ++l)
    if (std::array{K...}[l * sizeof...(K) / depth] == static_cast<int>(p.g.template coord<stage>()))
      mine.insert(mine.end(), want[l].begin(), want[l].end());
  const auto compare = [&](const auto& s) {
    const auto step = dm::complete(r.net().value_and_grad(s, r.weights, r.x(), loss));
    const auto found = held(step.gradient);
    REQUIRE(found.size() == mine.size());
    for (std::size_t k = 0; k < mine.size(); ++k) CHECK(std::abs(found[k] - mine[k]) < rounding);
    const auto whole_value = dm::to_rank(step.value);
    if (p.g.rank() == 0) CHECK(std::abs(whole_value[0] - value) < rounding);
  };
  (compare(schedules), ...);
}
struct static_batch : dm::dim<12> {};
static_assert(dm::micro_extent<static_batch, 4>() == 3);
TEST_CASE("micro_extent: what a micro-batch has of a batch, or why they are not equal") {
  CHECK(dm::micro_extent(batch{12}, 4) == 3);
  CHECK(dm::micro_extent(batch{0}, 4) == 0);
  const auto refused = [](auto whole, dm::index_t micros, const char* begins) {
    CHECK_THROWS_WITH_AS((void)dm::micro_extent(whole, micros),
                         (std::string("micro_extent: ") + begins +
                          " equal micro-batches; take another number, or fill the last one up and "
                          "mask the rows that are none")
                             .c_str(),
                         dm::error);
  };
  refused(batch{12}, 5, "12 elements of dim 'batch' do not make 5");
  refused(batch{12}, 0, "12 elements of dim 'batch' do not make 0");
  refused(static_batch{}, 5, "12 elements of dim 'static_batch' do not make 5");
}
TEST_CASE("a last micro-batch of fewer rows: the mean is of the rows that there are") {
  if (ranks() == 1) check_masked<0>(1, 3, dm::one_f_one_b{1, 3});
  if (ranks() < 2) return;  // of four, and rows are split
  check_masked<0, 1>(2, 4, dm::one_f_one_b{2, 4}, dm::gpipe{2, 4}, dm::zb_h1{2, 4});
  check_masked<0, 1, 0, 1>(2, 4, dm::interleaved{2, 4, 2});
  check_masked<0, 1, 1, 0>(2, 4, dm::zb_v{2, 4});
}

TEST_CASE("as many stages on half as many ranks have the bits of 1F1B") {
  for (const int micros : {2, 4, 6}) {
    if (ranks() == 2) {
      const problem two(2, micros), one(1, micros, MPI_COMM_SELF);
      const auto bits = bits_of<0, 1>(two, dm::one_f_one_b{2, micros});
      const auto there_and_back = bits_of<0, 0>(one, dm::zb_v{1, micros});
      if (two.g.rank() == 0) CHECK(same(there_and_back, bits));
    } else if (ranks() == 4) {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      MPI_Comm half = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
      {
        const problem four(4, micros), two(2, micros, half);
        const auto bits = bits_of<0, 1, 2, 3>(four, dm::one_f_one_b{4, micros});
        const auto there_and_back = bits_of<0, 1, 1, 0>(two, dm::zb_v{2, micros});
        const auto in_turn = bits_of<0, 1, 0, 1>(two, dm::interleaved{2, micros, 2});
        CHECK((rank != 0 || bits.size() == 1 + depth * (2 * 6 * 10 + 10)));
        if (rank == 0) CHECK(same(there_and_back, bits));
        if (rank == 0) CHECK(same(in_turn, bits));
      }
      MPI_Comm_free(&half);
    }
  }
}

/// What goes on is two tensors: what a layer gives, and what the first one got.
constexpr auto with_skip = [](const auto& p, const auto& x) {
  return std::make_tuple(block(p, std::get<0>(x)), std::get<1>(x));
};

TEST_CASE("several tensors go from cell to cell; a cell may run again; messages are as many") {
  if (ranks() < 2) return;
  const problem p(2, 3);
  const runs<0, 1> r{p};
  const auto weights = placed_weights<0, 1>(p.plain);
  const auto x = [&p](int i) {
    const auto& one = p.x[static_cast<std::size_t>(i)];
    return std::make_tuple(one, one);
  };
  const auto loss = [&p](const auto& y, int i) {
    const auto& t = p.target[static_cast<std::size_t>(i)];
    return squares(std::get<0>(y) * std::get<1>(y), dm::place<stage, 1>(t));
  };
  const auto first = [](const auto& w, const auto& v) {
    const auto y = block(w[1], block(w[0], std::get<0>(v)));
    return std::make_tuple(y, dm::stop_gradient(dm::tanh(y)) + y);
  };
  const auto second = dm::each_of(with_skip);
  const auto net = dm::pipeline<stage>(dm::cell<0>(first), dm::cell<1>(second));
  census::reset();
  const auto step = net.value_and_grad(dm::one_f_one_b{2, 3}, weights, x, loss);
  const census::counts seen = census::snapshot();
  CHECK(seen.calls_on(1u) == 3 * 2 + 1);  // two tensors for each micro-batch, and a header
  const auto whole = [&](const auto& m, const auto& v, const auto& t) {
    const auto y = block(m[1], block(m[0], v));
    const auto carried = dm::stop_gradient(dm::tanh(y)) + y;
    return squares(block(m[3], block(m[2], y)) * carried, t);
  };
  const auto want = dm::complete(dm::accumulate(3, [&](dm::index_t i) {
    const auto n = static_cast<std::size_t>(i);
    return dm::value_and_grad(whole, p.plain)(p.x[n], p.target[n]);
  }));
  const auto done = dm::complete(step);
  CHECK(distance(done.value, want.value) < rounding);
  CHECK(distance(std::get<0>(done.gradient)[0].in, want.gradient[0].in) < rounding);
  CHECK(distance(std::get<1>(done.gradient)[1].out, want.gradient[3].out) < rounding);

  // Of a cell that runs again only its input is kept; the bits stay.
  const auto again =
      dm::pipeline<stage>(dm::cell<0>(dm::recompute(first)), dm::cell<1>(dm::recompute(second)));
  const auto other = dm::complete(again.value_and_grad(dm::zb_h1{2, 3}, weights, x, loss));
  CHECK(same(held(other.gradient), held(done.gradient)));
}

/// What goes from cell to cell under names.
template <class L> struct both {
  BOOST_HANA_DEFINE_STRUCT(both, (dm::tensor<double, L, batch, width>, now),
                           (dm::tensor<double, L, batch, width>, first));
};
template <class Y> auto both_of(const Y& now, const Y& first) {
  using recorded = dm::tracked<typename Y::layout_type>;
  if constexpr (std::is_same_v<Y, dm::tensor<double, recorded, batch, width>>)
    return both<recorded>{now, first};
  else
    return both<typename Y::layout_type>{now, first};
}
TEST_CASE("a struct of tensors goes from cell to cell") {
  if (ranks() < 2) return;
  const problem p(2, 3);
  const runs<0, 1> r{p};
  const auto begins = [](const auto& w, const auto& x) {
    const auto y = block(w[0], x);
    return both_of(block(w[1], y), y);
  };
  const auto goes_on = [](const auto& w, const auto& x) {
    return both_of(block(w[1], block(w[0], x.now)), x.first);
  };
  const auto loss = [&p](const auto& y, int i) {
    const auto& t = p.target[static_cast<std::size_t>(i)];
    return squares(y.now * y.first, dm::place<stage, 1>(t));
  };
  const auto net = dm::pipeline<stage>(dm::cell<0>(begins), dm::cell<1>(goes_on));
  const auto step = dm::complete(net.value_and_grad(dm::one_f_one_b{2, 3}, r.weights, r.x(), loss));
  const auto whole = [](const auto& m, const auto& v, const auto& t) {
    const auto first = block(m[0], v);
    return squares(block(m[3], block(m[2], block(m[1], first))) * first, t);
  };
  const auto want = dm::complete(dm::accumulate(3, [&](dm::index_t i) {
    const auto n = static_cast<std::size_t>(i);
    return dm::value_and_grad(whole, p.plain)(p.x[n], p.target[n]);
  }));
  CHECK(distance(step.value, want.value) < rounding);
  CHECK(distance(std::get<0>(step.gradient)[0].in, want.gradient[0].in) < rounding);
  CHECK(distance(std::get<1>(step.gradient)[1].out, want.gradient[3].out) < rounding);
}

/// Layers from number `from` to `to` - 1, at coordinate K.
template <int K> auto layers_at(const std::vector<layer<everywhere>>& all, int from, int to) {
  std::vector<layer<there<K>>> mine;
  for (int i = from; i < to; ++i) mine.push_back(at<K>(all[static_cast<std::size_t>(i)]));
  return mine;
}
TEST_CASE("layers are cut where measured costs say, in vectors that are not equally long") {
  if (ranks() < 2) return;
  const problem p(2, 3);
  std::vector<layer<everywhere>> all(p.plain.begin(), p.plain.end());
  all.push_back(dm::clone(p.plain[0]));  // five, which two stages cannot have equal parts of
  const dm::chain costs = dm::measured_chain(dm::each_of(block), all, p.x[0]);
  const std::vector<int> cut = dm::partition(costs.times(), 2);
  REQUIRE(cut.size() == 3);
  CHECK(cut[1] >= 1);
  CHECK(cut[1] <= 4);
  const auto weights =
      std::make_tuple(layers_at<0>(all, 0, cut[1]), layers_at<1>(all, cut[1], cut[2]));
  CHECK(std::get<0>(weights).size() != std::get<1>(weights).size());
  const runs<0, 1> r{p};
  const auto step =
      dm::complete(r.net().value_and_grad(dm::one_f_one_b{2, 3}, weights, r.x(), r.loss()));
  const auto f = [](const auto& m, const auto& x, const auto& y) {
    return squares(dm::each_of(block)(m, x), y);
  };
  const auto want = dm::complete(dm::accumulate(3, [&](dm::index_t i) {
    const auto n = static_cast<std::size_t>(i);
    return dm::value_and_grad(f, all)(p.x[n], p.target[n]);
  }));
  CHECK(distance(step.value, want.value) < rounding);
  const auto compare = [&](const auto& mine, int from) {
    for (const auto& l : mine)
      CHECK(distance(l.in, want.gradient[static_cast<std::size_t>(from++)].in) < rounding);
    return from;
  };
  CHECK(compare(std::get<1>(step.gradient), compare(std::get<0>(step.gradient), 0)) == 5);
}

TEST_CASE("layers that are cut into the stages of a schedule with two stages a rank") {
  if (ranks() < 2) return;
  constexpr auto bounds = dm::partition<4>(std::array{1.0, 1.0, 1.0, 1.0});
  const problem p(2, 4);
  const auto same_as_cells = [&](const auto& s, auto places, const auto& r) {
    const auto net =
        dm::pipeline_of_layers<stage, bounds, decltype(places)::value>(block, block, block, block);
    const auto weights =
        std::apply([](const auto&... cell) { return std::make_tuple(std::make_tuple(cell[0])...); },
                   r.weights);
    const auto step = dm::complete(net.value_and_grad(s, weights, r.x(), r.loss()));
    CHECK(same(held(step.gradient), held(r.run(s).gradient)));
    CHECK(held(step.gradient).size() == 2 * (2 * 6 * 10 + 10));
  };
  constexpr dm::interleaved turns{2, 4, 2};
  constexpr dm::zb_v back{2, 4};
  using turned = std::integral_constant<std::array<int, 4>, dm::places_of<turns>()>;
  using returned = std::integral_constant<std::array<int, 4>, dm::places_of<back>()>;
  same_as_cells(turns, turned{}, runs<0, 1, 0, 1>{p});
  same_as_cells(back, returned{}, runs<0, 1, 1, 0>{p});
}

template <int K> using in_parts = dm::layout<pod, dm::placed<stage, K>, dm::split<hidden, rows>>;
using parts = dm::layout<pod, dm::split<hidden, rows>>;
constexpr auto block_in_parts = [](const auto& p, const auto& x) {
  const auto h = dm::tanh(dm::einsum<batch, hidden>(x, p.in) + p.bias);
  return x + dm::complete(dm::einsum<batch, width>(h, p.out));
};

TEST_CASE("stages whose layers are cut over another axis; an optimizer's step") {
  if (ranks() < 2) return;
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{2});
  auto plain = dm::make<layer<parts>>(g);
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 0.5); },
      plain);
  const auto other = dm::clone(plain);
  auto both = std::make_tuple(plain, other);
  const auto at = [](auto k, const auto& l) {
    constexpr int K = decltype(k)::value;
    return layer<in_parts<K>>{dm::place<stage, K>(l.in), dm::place<stage, K>(l.bias),
                              dm::place<stage, K>(l.out)};
  };
  auto weights = std::make_tuple(dm::clone(at(std::integral_constant<int, 0>{}, plain)),
                                 dm::clone(at(std::integral_constant<int, 1>{}, other)));
  using tokens = dm::tensor<double, everywhere, batch, width>;
  const auto x = dm::normal<tokens>(g, dm::random_key{9}, 0, 1, batch{6});
  const auto net = dm::pipeline<stage>(dm::cell<0, batch, width>(block_in_parts),
                                       dm::cell<1, batch, width>(block_in_parts));
  const auto input = [&x](int i) { return x * (1.0 + i); };
  const auto loss = [](const auto& y, int) { return dm::sum(y * y); };
  auto staged = dm::adam{.rate = 0.01}.start(weights);
  auto whole = dm::adam{.rate = 0.01}.start(both);
  const auto f = [&](const auto& w, const auto& v) {
    return loss(block_in_parts(std::get<1>(w), block_in_parts(std::get<0>(w), v)), 0);
  };
  for (int step = 0; step < 3; ++step) {
    const auto one =
        step % 2 == 0
            ? dm::complete(net.value_and_grad(dm::one_f_one_b{2, 4}, weights, input, loss))
            : dm::complete(net.value_and_grad(dm::zb_h1{2, 4}, weights, input, loss));
    const auto two = dm::complete(dm::accumulate(
        4, [&](dm::index_t i) { return dm::value_and_grad(f, both)(input(static_cast<int>(i))); }));
    CHECK(distance(one.value, two.value) < 1e-11);
    dm::adam{.rate = 0.01}(weights, one.gradient, staged);
    dm::adam{.rate = 0.01}(both, two.gradient, whole);
    CHECK(distance(std::get<0>(weights).in, std::get<0>(both).in) < 1e-10);
    CHECK(distance(std::get<1>(weights).out, std::get<1>(both).out) < 1e-10);
  }
  const bool first = g.coord<stage>() == 0;
  CHECK((std::get<0>(weights).in.data() != nullptr) == first);
  CHECK((std::get<1>(staged.first).in.data() != nullptr) == !first);
}

TEST_CASE("what does not fit is refused before anything runs") {
  const problem p(1, 2);
  const runs<0> one{p};
  CHECK_THROWS_WITH_AS(
      (void)one.run(dm::gpipe{2, 2}),
      doctest::Contains("; give as many cells as stages, on an axis of as many ranks"), dm::error);
  CHECK_THROWS_WITH_AS((void)one.run(dm::interleaved{1, 2, 2}),
                       doctest::Contains("the schedule has 2 stages on 1 ranks"), dm::error);
  CHECK_THROWS_WITH_AS((void)one.run(dm::gpipe{1, 0}), doctest::Contains("checked_schedule"),
                       dm::error);
  const auto no_weights =
      dm::pipeline<stage>(dm::cell<0>([](const auto&, const auto& x) { return x; }));
  CHECK_THROWS_WITH_AS(no_weights.forward(dm::forward_only{1, 2}, std::tuple<std::tuple<>>{},
                                          [&p](int) { return p.x[0]; }),
                       doctest::Contains("no cell has a weight"), dm::error);
  const auto none = dm::pipeline<stage>(dm::cell<0>(dm::each_of(block)));
  CHECK_THROWS_WITH_AS(
      none.forward(dm::forward_only{1, 2}, std::make_tuple(std::vector<layer<there<0>>>(0)),
                   [&p](int) { return p.x[0]; }),
      doctest::Contains("no cell has a weight"), dm::error);
  CHECK_THROWS_WITH_AS((void)dm::each_of(block)(std::vector<layer<everywhere>>(0), p.x[0]),
                       doctest::Contains("each_of got no weights"), dm::error);
  if (ranks() < 2) return;
  const problem two(2, 2);
  CHECK_THROWS_WITH_AS((runs<1, 0>{two}.run(dm::gpipe{2, 2})),
                       doctest::Contains("; place cells as the schedule says"), dm::error);
  const runs<0, 1> r{two};
  CHECK_THROWS_WITH_AS((void)r.run(dm::chimera{2, 2}),
                       doctest::Contains("pipeline: the schedule has stage 0 on ranks 0 and 1, and "
                                         "a cell's weights are on one of them; such schedules can "
                                         "be checked and simulated; to run, take one that has each "
                                         "stage on one rank, as one_f_one_b"),
                       dm::error);
  CHECK(!dm::check_schedule(dm::one_f_one_b{2, 2}).safe_blocking);
  CHECK_THROWS_WITH_AS((void)r.run(dm::one_f_one_b{2, 2}, {.blocking = true}),
                       doctest::Contains("does not run with blocking messages"), dm::error);
}

TEST_CASE("a message of other extents than the first is refused") {
  namespace inner = dm::detail::pipeline;
  const dm::grid<pod> g(MPI_COMM_SELF, stage{1});
  using local = dm::tensor<double, everywhere, batch>;
  const auto two = dm::zeros<local>(g, batch{2}), three = dm::zeros<local>(g, batch{3});
  inner::messenger m(&g, g.state(), 0, false);
  inner::channel out, in;
  auto sent = m.send(out, 0, {dm::detail::core_of(two)}, 0);
  CHECK_THROWS_WITH_AS(
      (void)m.send(out, 0, {dm::detail::core_of(three)}, 1),
      doctest::Contains(" has other extents than the first; cut the batch into equal ones, or fill "
                        "the last one up and mask the rows that are none"),
      dm::error);
  auto once = dm::detail::core_of(two);
  once.once ^= 1u;
  CHECK_THROWS_WITH_AS((void)m.send(out, 0, {once}, 1),
                       doctest::Contains("pipeline: micro-batch 1 is counted once along other axes "
                                         "than the first; make all of them in one way"),
                       dm::error);
  using cut = dm::tensor<double, dm::layout<pod, dm::split<dm::ragged<batch>, stage>>, batch>;
  const auto ragged = dm::zeros<cut>(g, dm::cuts<batch>{2});
  CHECK_THROWS_WITH_AS((void)m.send(out, 0, {dm::detail::core_of(ragged)}, 1),
                       doctest::Contains("pipeline: a tensor with a ragged dim goes from one stage "
                                         "to the next; relayout it to even blocks first"),
                       dm::error);
  const auto coming = m.receive(in, 0, {dm::detail::core_of(two)});
  CHECK(inner::messenger::arrive(*coming)[0].extent(0) == 2);
  m.settle(sent);
}

/// A pipeline of which one stage fails: with its own error, and all others with a word about it.
template <int... K> struct one_fails {
  static constexpr int stages = sizeof...(K);
  problem p{stages, 4};
  runs<K...> r{p};
  int here = static_cast<int>(p.g.template coord<stage>());

  template <class F> void at(int failing, const char* own, const F& call) const {
    CAPTURE(failing);
    if (here == failing)
      CHECK_THROWS_WITH(call(), doctest::Contains(own));
    else
      CHECK_THROWS_WITH_AS(
          call(),
          doctest::Contains("pipeline: another rank of this pipeline failed, and exchanges no more "
                            "messages; its own error says why"),
          dm::error);
  }
  /// What was left behind disturbs nobody.
  void runs_on() const { r.check(dm::one_f_one_b{stages, 4}); }
};
/// In as many stages as there are ranks.
template <class F> void where_one_fails(const F& f) {
  if (ranks() == 2) f(one_fails<0, 1>{});
  if (ranks() >= 4) f(one_fails<0, 1, 2, 3>{});
}

TEST_CASE("a micro-batch of other extents is one error on every rank of the pipeline") {
  where_one_fails([](const auto& one) {
    const auto x = [&one](int i) {
      const auto rows_of_it = batch{i == 2 ? 4 * one.p.g.template size<rows>() : 8};
      return dm::zeros<inputs>(one.p.g, rows_of_it);
    };
    const auto loss = [](const auto& y, int) { return dm::sum(y * y); };
    for (int again = 0; again < 2; ++again) {
      const auto fails = [&](const auto& s) {
        one.at(0, "has other extents than the first",
               [&] { (void)one.r.net().value_and_grad(s, one.r.weights, x, loss); });
      };
      fails(dm::one_f_one_b{one.stages, 4});
      fails(dm::gpipe{one.stages, 4});
      one.runs_on();
    }
  });
}

// Messages of 300 KB, which MPI does not send before somebody takes them, to a rank that takes none
// any more; under schedules that wait before they send the next one, and with blocking messages.
TEST_CASE("a rank that fails is an error on those that wait until it takes their messages") {
  where_one_fails([](const auto& one) {
    constexpr int n = std::remove_cvref_t<decltype(one)>::stages;
    const auto x = [&one](int) {
      return dm::zeros<inputs>(one.p.g, batch{6144 * one.p.g.template size<rows>()});
    };
    const auto sum_of = [](const auto& y, int) { return dm::sum(y * y); };
    const auto loss = [](const auto& y, int i) {
      if (i == 1) throw std::runtime_error("this loss has no value");
      return dm::sum(y * y);
    };
    const auto trains = [&](const auto& s, bool blocking = false) {
      one.at(n - 1, "this loss has no value", [&] {
        (void)one.r.net().value_and_grad(s, one.r.weights, x, loss, {.blocking = blocking});
      });
    };
    for (int again = 0; again < 2; ++again) {
      // As many messages under way as it needs, and nobody waits for ever.
      if constexpr (n == 2)
        (void)dm::complete(
            one.r.net().value_and_grad(test_support::far_ahead{2, 8}, one.r.weights, x, sum_of));
      trains(dm::gpipe{n, 4});
      trains(dm::gpipe{n, 4}, true);
      trains(dm::one_f_one_b{n, 4});
      trains(dm::zb_h1{n, 4});
      one.runs_on();
    }
  });
}

// The first, one between, the last. Forward alone, those hear of it that still wait for something:
// later stages, and the one before whose large message nobody takes; all return.
TEST_CASE("whichever stage fails, in training and forward alone, nobody waits for ever") {
  where_one_fails([]<int... K>(const one_fails<K...>& one) {
    constexpr int n = sizeof...(K);
    const auto sum_of = [](const auto& y, int) { return dm::sum(y * y); };
    for (const dm::index_t extent : {dm::index_t{8}, 6144 * one.p.g.template size<rows>()})
      for (const int failing : {0, n / 2, n - 1}) {
        CAPTURE(extent);
        const auto x = [&](int) { return dm::zeros<inputs>(one.p.g, batch{extent}); };
        int times = 0;
        const auto cells = [&](const auto& w, const auto& at) {
          if (one.here == failing && ++times == 2) throw std::runtime_error("a cell fails");
          return dm::each_of(block)(w, at);
        };
        const auto net = dm::pipeline<stage>(dm::cell<K>(cells)...);
        const auto fails = [&](const auto& call) {
          times = 0;
          one.at(failing, "a cell fails", call);
        };
        fails([&] { (void)net.value_and_grad(dm::one_f_one_b{n, 4}, one.r.weights, x, sum_of); });
        fails([&] { (void)net.value_and_grad(dm::gpipe{n, 4}, one.r.weights, x, sum_of); });
        const auto forward = [&] { (void)net.forward(dm::forward_only{n, 4}, one.r.weights, x); };
        if (one.here + (extent > 8 ? 1 : 0) >= failing) {
          fails(forward);
        } else {
          try {
            forward();
          } catch (const dm::error&) {  // it may have heard
          }
        }
      }
    one.runs_on();
  });
}

TEST_CASE("weights of cells on different grids are refused") {
  const dm::grid<pod> one(MPI_COMM_WORLD, stage{1}), two(MPI_COMM_WORLD, stage{1});
  using weight = dm::tensor<double, there<0>, width>;
  const auto ones = [](const auto&...) { return 1.0; };
  const auto w = std::tuple(dm::generate<weight>(one, ones), dm::generate<weight>(two, ones));
  const auto scale = [](const auto& v, const auto& x) { return x * v; };
  const auto net = dm::pipeline<stage>(dm::cell<0>(scale), dm::cell<0>(scale));
  using micro = dm::tensor<double, there<0>, batch, width>;
  const auto x = [&](int) { return dm::generate<micro>(one, ones, batch{8}); };
  CHECK_THROWS_WITH_AS((void)net.value_and_grad(dm::interleaved{1, 2, 2}, w, x,
                                                [](const auto& y, int) { return dm::sum(y); }),
                       doctest::Contains("weights of the cells live on different grids"),
                       dm::error);
}

// A cell may give a weight as it is, so that a later one has it, too.
TEST_CASE("a weight that is handed through has the gradient of all micro-batches") {
  const dm::grid<pod> g(MPI_COMM_SELF, stage{1});
  using weight = dm::tensor<double, there<0>, width>;
  using micro = dm::tensor<double, there<0>, batch, width>;
  const auto ones = [](const auto&...) { return 1.0; };
  const auto w = std::tuple(dm::generate<weight>(g, ones), dm::generate<weight>(g, ones));
  const auto through = [](const auto& v, const auto& x) { return std::tuple(x * v, v); };
  const auto copied = [](const auto& v, const auto& x) { return std::tuple(x * v, v * 1.0); };
  const auto second = [](const auto& v, const auto& t) {
    return std::get<0>(t) * v * std::get<1>(t);
  };
  const auto input = [&](int i) {
    return dm::generate<micro>(g, [i](const auto&...) { return 1.0 + i; }, batch{2});
  };
  const auto loss = [](const auto& y, int) { return dm::sum(y); };
  const auto gradient = [&](const auto& schedule, const auto& first) {
    const auto net = dm::pipeline<stage>(dm::cell<0>(first), dm::cell<0>(second));
    return std::get<0>(net.value_and_grad(schedule, w, input, loss).gradient);
  };
  for (const int m : {1, 2, 4}) {
    const dm::interleaved s{.ranks = 1, .micros = m, .chunks = 2};
    CHECK(distance(gradient(s, through), gradient(s, copied)) == 0);
    CHECK(test_support::on_host(gradient(s, through))[0] == 2.0 * (m + 1));
    const dm::zb_v z{.ranks = 1, .micros = m};
    CHECK(distance(gradient(z, through), gradient(z, copied)) == 0);
  }
}

// Token ids have no cotangents: nothing goes back, and no word of it.
TEST_CASE("where no tensor goes back, later pipelines find no old message") {
  if (ranks() < 2) return;
  const dm::grid<pod> g(stage{2}, rows{ranks() / 2});
  using ids = dm::tensor<int, there<0>, batch>;
  using micro = dm::tensor<double, there<0>, batch, width>;
  const auto ones = [](const auto&...) { return 1.0; };
  const auto w = std::tuple(dm::generate<dm::tensor<double, there<0>, width>>(g, ones),
                            dm::generate<dm::tensor<double, there<1>, width>>(g, ones));
  const auto loss = [](const auto& y, int) { return dm::sum(y); };
  const auto scale = [](const auto& v, const auto& x) { return x * v; };
  const auto input = [&](int) { return dm::generate<micro>(g, ones, batch{2}); };
  const auto floats = [&] {
    const auto net = dm::pipeline<stage>(dm::cell<0>(scale), dm::cell<1>(scale));
    return dm::complete(net.value_and_grad(dm::one_f_one_b{2, 2}, w, input, loss));
  };
  const auto before = held(std::get<0>(floats().gradient));
  const auto hands_on = [](const auto&, const auto& x) { return x; };
  const auto uses = [](const auto& v, const auto& x) {
    return dm::sum<batch>(dm::cast<double>(x)) * dm::sum<width>(v);
  };
  const auto numbers = dm::pipeline<stage>(dm::cell<0>(hands_on), dm::cell<1>(uses));
  (void)numbers.value_and_grad(
      dm::one_f_one_b{2, 2}, w,
      [&](int) { return dm::generate<ids>(g, [](const auto&...) { return 1; }, batch{2}); },
      [](const auto& y, int) { return y; });
  CHECK(held(std::get<0>(floats().gradient)) == before);
}

}  // namespace
