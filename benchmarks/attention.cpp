// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does attention gain by never storing its scores, and what does its typing cost? Batch x
// heads = 16, head 64, float, one rank. Twins: the local kernel called by hand (bar: 0.95 of its
// speed), and the composition einsum, mask, softmax, einsum (bar: 1.5 times its speed from 1024
// positions on). What do keys cost that nobody sees: those that fill rows up, other sequences of a
// row? Twins: attention without them (bars: 0.9, 0.7), and attention to all. Then: does memory grow
// with the length, not with its square?
//
//   benchmarks/attention [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include <cmath>
#include <cstring>
#include <vector>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;
namespace dd = dm::detail;
using dm::index_t;

struct one : dm::axis<1> {};
struct alone : dm::mesh<one> {};
using plain = dm::layout<alone>;
struct batch : dm::dim<4> {};
struct heads : dm::dim<4> {};
struct length : dm::dim<> {};
struct key : dm::dim<> {};
struct head : dm::dim<64> {};
using queries = dm::tensor<float, plain, batch, length, heads, head>;
using keys = dm::tensor<float, plain, batch, key, heads, head>;
template <class... D> using whole_numbers = dm::tensor<int, plain, D...>;
using mask = dm::tensor<float, plain, length, key>;

double budget = 2.0;
int bars = 0, met = 0;

/// Hides keys that come after the query, added to scores: a number whose exponential is nothing
/// beside others, but normal; arithmetic with subnormal ones would slow the composition down.
mask causal_mask(const dm::grid<alone>& g, index_t n) {
  mask m(g, length{n}, key{n});
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) m.data()[i * n + j] = j > i ? -40.0f : 0.0f;
  return m;
}

struct fused {
  bool causal;
  template <class Q, class K, class V> auto operator()(const Q& q, const K& k, const V& v) const {
    return dm::attention<length, key, head>(q, k, v, {.causal = causal});
  }
};
struct composed {
  const mask* hidden;  // null: every query sees every key
  template <class Q, class K, class V> auto operator()(const Q& q, const K& k, const V& v) const {
    const auto scores = dm::einsum<batch, heads, length, key>(q * 0.125f, k);
    const auto weights = hidden ? dm::softmax<key>(scores + *hidden) : dm::softmax<key>(scores);
    return dm::einsum<batch, length, heads, head>(weights, v);
  }
};

struct inputs {
  queries q, ybar;
  keys k, v;
  inputs(const dm::grid<alone>& g, index_t n)
      : q(g, length{n}), ybar(g, length{n}), k(g, key{n}), v(g, key{n}) {
    int salt = 7;
    for (float* x : {q.data(), ybar.data(), k.data(), v.data()}) {
      for (index_t i = 0; i < q.local_size(); ++i)
        x[i] = 0.05f * static_cast<float>(i * salt % 61 - 30);
      salt += 4;
    }
  }
};

/// f recorded, and its cotangents of all three operands.
template <class F> void there_and_back(const F& f, const inputs& x) {
  dd::tape t;
  const auto q = dd::recorded_on(t, x.q);
  const auto k = dd::recorded_on(t, x.k), v = dd::recorded_on(t, x.v);
  dd::node_base* const leaves = t.last();
  {
    const auto y = f(q, k, v);
    typename dd::gradient_type<queries>::type seed(x.ybar.grid(), x.ybar.shape(), x.ybar.memory());
    y.cell()->add(seed);
  }
  t.backward(leaves);
}

/// The kernel as one would call it by hand: everything allocated and described beforehand.
class by_hand {
 public:
  by_hand(const inputs& x, index_t n, bool causal)
      : x_(x),
        bytes_(x.q.local_bytes()),
        out_(room(bytes_)),
        dq_(room(bytes_)),
        dk_(room(bytes_)),
        dv_(room(bytes_)),
        log_sum_(room(bytes_ / 64)) {
    what_.queries = what_.keys = n, what_.head = 64;
    what_.q_row = what_.k_row = what_.v_row = 4 * 64, what_.log_row = 4;
    what_.sees = {n, causal, 0};
    what_.scale = 0.125;
    what_.outer = 2;
    what_.loops[0] = {4, n * 256, n * 256, n * 256, n * 4, 0};
    what_.loops[1] = {4, 64, 64, 64, 1, 0};
    scratch_ = room(dm::local::attention_transpose_scratch<float>(what_) * index_t(sizeof(float)));
  }
  void there() {
    dm::local::attention(what_, x_.q.data(), x_.k.data(), x_.v.data(), at(out_), at(log_sum_),
                         at(scratch_));
  }
  void back() {
    std::memset(at(dk_), 0, static_cast<std::size_t>(bytes_));
    std::memset(at(dv_), 0, static_cast<std::size_t>(bytes_));
    dm::local::attention_transpose<float>(what_, x_.q.data(), x_.k.data(), x_.v.data(), at(out_),
                                          at(log_sum_), x_.ybar.data(), {at(dq_), at(dk_), at(dv_)},
                                          at(scratch_));
  }
  const float* out() const { return at(out_); }

 private:
  static dd::storage room(index_t bytes) {
    return dd::storage::acquire(static_cast<std::size_t>(bytes));
  }
  static float* at(const dd::storage& s) { return static_cast<float*>(s.data()); }
  const inputs& x_;
  index_t bytes_;
  dd::storage out_, dq_, dk_, dv_, log_sum_, scratch_;
  dm::local::attention_problem what_;
};

void compare(const dm::grid<alone>& g, index_t n, bool causal) {
  const inputs x(g, n);
  const mask hidden = causal_mask(g, n);
  const fused typed{causal};
  const composed parts{causal ? &hidden : nullptr};
  by_hand hand(x, n, causal);
  const std::string name = (causal ? "causal, " : "") + std::to_string(n);
  const double bar = n >= 1024 ? 1.5 : 1.0;
  const auto line = [&](const std::string& what, const bench::sample& a, const bench::sample& b,
                        double least) {
    ++bars;
    met += bench::report(what, a, {b}, least);
  };
  const auto [f, h, c] = bench::race(MPI_COMM_NULL, budget)([&] { auto y = typed(x.q, x.k, x.v); },
                                                            [&] { hand.there(); },
                                                            [&] { auto y = parts(x.q, x.k, x.v); });
  line(name + ", forward, by hand", f, h, 0.95);
  line(name + ", forward, composed", f, c, bar);
  const auto [fb, hb, cb] = bench::race(MPI_COMM_NULL, budget)([&] { there_and_back(typed, x); },
                                                               [&] { hand.there(), hand.back(); },
                                                               [&] { there_and_back(parts, x); });
  line(name + ", both ways, by hand", fb, hb, 0.95);
  line(name + ", both ways, composed", fb, cb, bar);
  const auto y = typed(x.q, x.k, x.v), z = parts(x.q, x.k, x.v);
  for (index_t i = 0; i < y.local_size(); ++i)
    if (std::abs(y.data()[i] - z.data()[i]) > 1e-4f || y.data()[i] != hand.out()[i])
      throw dm::error("attention: the candidates disagree");
}

struct of_seen {
  bool causal;
  const whole_numbers<batch>* lengths;
  template <class Q, class K, class V> auto operator()(const Q& q, const K& k, const V& v) const {
    return dm::attention<length, key, head>(q, k, v, {.causal = causal}, *lengths);
  }
};
struct of_segments {
  const whole_numbers<batch, length>* queries;
  const whole_numbers<batch, key>* keys;
  template <class Q, class K, class V> auto operator()(const Q& q, const K& k, const V& v) const {
    return dm::attention<length, key, head>(q, k, v, {.causal = true}, *queries, *keys);
  }
};

/// Half of the keys hidden by lengths; then rows of four sequences, of which queries see one.
void compare_hidden(const dm::grid<alone>& g, index_t n) {
  const inputs x(g, n), half(g, n / 2), quarter(g, n / 4);
  const auto line = [&](const std::string& what, const bench::sample& a, const bench::sample& b,
                        double least) {
    ++bars;
    met += bench::report(what + ", " + std::to_string(n), a, {b}, least);
  };
  const auto lengths = dm::generate<whole_numbers<batch>>(g, [n](index_t) { return n / 2; });
  const of_seen seen{false, &lengths};
  const fused all{false}, causal{true};
  // The same queries to keys that are the seen half.
  const auto [s, h, a] = bench::race(MPI_COMM_NULL, budget)(
      [&] { there_and_back(seen, x); },
      [&] { there_and_back(all, half), there_and_back(all, half); },
      [&] { there_and_back(all, x); });
  line("half hidden, both ways, only the seen", s, h, 0.9);
  line("half hidden, both ways, all keys", s, a, 1.6);
  const auto of = [n](index_t, index_t i) { return i / (n / 4); };
  const auto qs = dm::generate<whole_numbers<batch, length>>(g, of, length{n});
  const auto ks = dm::generate<whole_numbers<batch, key>>(g, of, key{n});
  const of_segments packed{&qs, &ks};
  const auto [p, t, c] = bench::race(MPI_COMM_NULL, budget)([&] { there_and_back(packed, x); },
                                                            [&] {
                                                              for (int i = 0; i < 4; ++i)
                                                                there_and_back(causal, quarter);
                                                            },
                                                            [&] { there_and_back(causal, x); });
  // Less: the twin's operands are a quarter as large, and stay in the cache.
  line("packed by four, both ways, one by one", p, t, 0.7);
  line("packed by four, both ways, causal alone", p, c, 2.0);
}

/// Bytes that a pass takes from the pool at its height, beyond its operands.
template <class F> index_t height(const F& f) {
  f();
  auto& pool = dd::pool::instance();
  const index_t before = pool.figures().live;
  pool.restart_peak();
  f();
  return pool.figures().peak - before;
}

void memory(const dm::grid<alone>& g) {
  std::printf("\n%-44s %14s %14s\n", "peak of both ways beyond the operands, KiB", "attention",
              "composed");
  std::vector<index_t> peaks;
  for (const index_t n : {256, 512, 1024, 2048}) {
    const inputs x(g, n);
    peaks.push_back(height([&] { there_and_back(fused{true}, x); }));
    const mask hidden = causal_mask(g, n);
    const index_t parts = n > 1024 ? 0 : height([&] { there_and_back(composed{&hidden}, x); });
    std::printf("causal, %-36ld %14ld %14ld\n", long(n), long(peaks.back() / 1024),
                long(parts / 1024));
  }
  ++bars;
  const bool linear = peaks[3] <= 2 * peaks[2] && peaks[2] <= 2 * peaks[1];
  met += linear;
  std::printf("twice the length takes at most twice the memory: %s\n", linear ? "PASS" : "short");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.2;
  return dm::run(argc, argv, [&] {
    const dm::grid<alone> g;
    bench::headline("batch x heads 16, head 64, float");
    for (const bool causal : {true, false})
      for (const index_t n : {128, 256, 1024}) compare(g, n, causal);
    compare_hidden(g, 1024);
    memory(g);
    std::printf("%d of %d bars met\n", met, bars);
  });
}
