// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/attention.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dimesh/local/attention_tile.hpp"
#include "dimesh/local/attention_transpose.hpp"
#include "support/worst.hpp"

namespace {

using dimesh::index_t;
using dimesh::local::attention_problem;
using dimesh::local::visibility;

static_assert(visibility{6, true, 0}.end(2) == 3 && visibility{6, true, 0}.begin(2) == 0);
static_assert(visibility{6, true, 2}.begin(2) == 1 && visibility{6, false, 2}.end(2) == 4);
static_assert(visibility{6, true, 0}.end(9) == 6 && visibility{6, true, 3}.begin(9) == 6);

/// The number of pairs, counted one by one.
constexpr index_t counted(const visibility& v, index_t from, index_t queries) {
  index_t n = 0;
  for (index_t q = from; q < from + queries; ++q) n += v.end(q) - v.begin(q);
  return n;
}
constexpr bool pairs_agree() {
  for (const index_t keys : {0, 1, 5, 9})
    for (const index_t window : {0, 1, 3, 20})
      for (const bool causal : {false, true})
        for (const index_t from : {-4, 0, 3, 12})
          for (const index_t queries : {0, 1, 7, 15}) {
            const visibility v{keys, causal, window};
            if (v.pairs(from, queries) != counted(v, from, queries)) return false;
          }
  return true;
}
static_assert(pairs_agree());

/// Shapes: q, out (outer, group, queries, head); k, v (outer, keys, head), each row `gap` elements
/// longer than head.
struct trial {
  index_t outer, group, queries, keys, head, gap;
  visibility sees;
  index_t position;
  double dropout;
};

attention_problem described(const trial& t) {
  attention_problem x;
  const index_t row = t.head + t.gap;
  x.queries = t.queries, x.keys = t.keys, x.head = t.head;
  x.q_row = x.k_row = x.v_row = row, x.log_row = 1;
  x.position = t.position, x.sees = t.sees, x.sees.keys = t.keys;
  x.scale = 0.3;
  x.outer = 2;
  x.loops[0] = {t.outer,      t.group * t.queries * row, t.keys * row,
                t.keys * row, t.group * t.queries,       t.group * t.queries};
  x.loops[1] = {t.group, t.queries * row, 0, 0, t.queries, t.queries};
  x.dropout = t.dropout;
  x.key = dimesh::random_key(7);
  return x;
}

template <class T> struct operands {
  std::vector<T> q, k, v, out, log_sum, dout, dq, dk, dv;
  explicit operands(const attention_problem& x)
      : q(numbers(x.turns() * x.queries * x.q_row, 1)),
        k(numbers(x.loops[0].extent * x.keys * x.k_row, 2)),
        v(numbers(x.loops[0].extent * x.keys * x.k_row, 3)),
        out(q.size(), T(99)),
        log_sum(static_cast<std::size_t>(x.turns() * x.queries), T(99)),
        dout(numbers(x.turns() * x.queries * x.q_row, 4)),
        dq(q.size(), T(99)),
        dk(k.size()),
        dv(k.size()) {}
  static std::vector<T> numbers(index_t n, unsigned seed) {
    std::vector<T> x(static_cast<std::size_t>(n));
    for (T& v : x)
      v = T(dimesh::uniform_at<double>(dimesh::random_key(seed), index_t(&v - x.data()))) * 4 - 2;
    return x;
  }
  void run(const attention_problem& x) {
    namespace dl = dimesh::local;
    // Whatever scratch memory holds must not reach a result: not even times 0.
    constexpr T nothing = std::numeric_limits<T>::quiet_NaN();
    std::vector<T> s(static_cast<std::size_t>(dl::attention_scratch<T>(x)), nothing),
        u(static_cast<std::size_t>(dl::attention_transpose_scratch<T>(x)), nothing);
    dl::attention(x, q.data(), k.data(), v.data(), out.data(), log_sum.data(), s.data());
    dl::attention_transpose(x, q.data(), k.data(), v.data(), out.data(), log_sum.data(),
                            dout.data(), {dq.data(), dk.data(), dv.data()}, u.data());
  }
};

/// Is the weight of a pair dropped? By the published numbers, not by the kernel's loops.
double kept(const attention_problem& x, index_t draw, index_t key) {
  if (x.dropout == 0) return 1;
  const index_t row = draw * ((x.keys + 63) / 64);
  const dimesh::random_words w = x.key.at((row + key / 64) * 8 + key % 8);
  const std::uint32_t word = w.word[key % 64 / 16];
  const double limit = std::floor(x.dropout * 0x1p16);
  return (key / 8 % 2 == 0 ? word & 0xffffu : word >> 16) < limit ? 0 : 1 / (1 - limit * 0x1p-16);
}

/// The same by the formulas, pair by pair, in double.
void by_formula(const attention_problem& x, operands<double>& y) {
  std::fill(y.dk.begin(), y.dk.end(), 0);
  std::fill(y.dv.begin(), y.dv.end(), 0);
  dimesh::local::detail::for_each_turn(x, [&](const attention_problem::loop& o) {
    for (index_t i = 0; i < x.queries; ++i) {
      const double *q = y.q.data() + o.q + i * x.q_row, *g = y.dout.data() + o.q + i * x.q_row;
      double *out = y.out.data() + o.q + i * x.q_row, *dq = y.dq.data() + o.q + i * x.q_row;
      const index_t from = x.sees.begin(x.position + i), to = x.sees.end(x.position + i);
      std::vector<double> p, dp;
      double sum = 0, slope = 0;
      for (index_t h = 0; h < x.head; ++h) out[h] = dq[h] = 0;
      for (index_t j = from; j < to; ++j) {
        const double *k = y.k.data() + o.k + j * x.k_row, *v = y.v.data() + o.v + j * x.v_row;
        double s = 0, d = 0;
        for (index_t h = 0; h < x.head; ++h) s += q[h] * k[h], d += g[h] * v[h];
        p.push_back(std::exp(x.scale * s)), dp.push_back(d);
        sum += p.back();
      }
      y.log_sum[static_cast<std::size_t>(o.log + i)] = from < to ? std::log(sum) : 0;
      for (index_t j = from; j < to; ++j) {
        double& w = p[static_cast<std::size_t>(j - from)];
        w /= sum;
        const double keep = kept(x, o.draw + i, j);
        dp[static_cast<std::size_t>(j - from)] *= keep;
        slope += w * dp[static_cast<std::size_t>(j - from)];
        for (index_t h = 0; h < x.head; ++h) {
          out[h] += w * keep * y.v[static_cast<std::size_t>(o.v + j * x.v_row + h)];
          y.dv[static_cast<std::size_t>(o.v + j * x.v_row + h)] += w * keep * g[h];
        }
      }
      for (index_t j = from; j < to; ++j) {
        const auto at = static_cast<std::size_t>(j - from);
        const double ds = x.scale * p[at] * (dp[at] - slope);
        for (index_t h = 0; h < x.head; ++h) {
          dq[h] += ds * y.k[static_cast<std::size_t>(o.k + j * x.k_row + h)];
          y.dk[static_cast<std::size_t>(o.k + j * x.k_row + h)] += ds * q[h];
        }
      }
    }
  });
}

template <class T>
void compare(const char* what, const std::vector<T>& got, const std::vector<double>& want,
             index_t head, index_t row) {
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (static_cast<index_t>(i) % row < head)
      worst = test_support::worst(
          worst, std::abs(static_cast<double>(got[i]) - want[i]) / (1 + std::abs(want[i])));
  INFO(what);
  CHECK(worst <= (sizeof(T) == 4 ? 2e-5 : 1e-12));
}

template <class T> void check(const trial& t) {
  const attention_problem x = described(t);
  INFO("outer ", t.outer, ", group ", t.group, ", queries ", t.queries, ", keys ", t.keys,
       ", head ", t.head, ", causal ", t.sees.causal, ", window ", t.sees.window, ", position ",
       t.position, ", dropout ", t.dropout);
  operands<T> y(x);
  operands<double> want(x);
  if constexpr (sizeof(T) == 4) {  // the same numbers
    want.q.assign(y.q.begin(), y.q.end()), want.k.assign(y.k.begin(), y.k.end());
    want.v.assign(y.v.begin(), y.v.end()), want.dout.assign(y.dout.begin(), y.dout.end());
  }
  y.run(x);
  by_formula(x, want);
  const index_t row = t.head + t.gap;
  compare("out", y.out, want.out, t.head, row);
  compare("log_sum", y.log_sum, want.log_sum, 1, 1);
  compare("dq", y.dq, want.dq, t.head, row);
  compare("dk", y.dk, want.dk, t.head, row);
  compare("dv", y.dv, want.dv, t.head, row);
}

template <class T> void check_masks(index_t queries, index_t keys, index_t head, index_t gap) {
  for (const double dropout : {0.0, 0.25})
    for (const index_t window : {0, 1, 30})
      for (const bool causal : {false, true})
        for (const index_t position : {0, 40, -5})
          check<T>({2, 2, queries, keys, head, gap, {0, causal, window}, position, dropout});
}

}  // namespace

TEST_CASE("attention: every mask, tiles whole and not, forward and backward") {
  for (const index_t head : {1, 7, 16, 24}) {
    check_masks<float>(70, 65, head, 0);
    check_masks<double>(9, 33, head, 3);
  }
  check_masks<double>(1, 1, 5, 0);
  check_masks<float>(3, 450, 64, 64);
  check_masks<double>(130, 210, 20, 0);
}

TEST_CASE("attention: no queries, no keys, no heads, nothing to sum") {
  for (const trial& t : {trial{2, 1, 0, 5, 4, 0, {}, 0, 0}, trial{2, 1, 5, 0, 4, 0, {}, 0, 0},
                         trial{0, 3, 5, 5, 4, 0, {}, 0, 0}, trial{2, 0, 5, 5, 4, 0, {}, 0, 0},
                         trial{1, 1, 3, 3, 0, 1, {}, 0, 0}}) {
    check<float>(t);
    check<double>(t);
  }
}

TEST_CASE("attention: large scores do not overflow, cotangents that nobody wants are left out") {
  attention_problem x = described({1, 1, 20, 20, 8, 0, {0, true, 0}, 0, 0});
  x.scale = 1e4;
  operands<float> y(x);
  y.run(x);
  for (const auto* all : {&y.out, &y.dq, &y.dk, &y.dv})
    for (const float v : *all) CHECK(std::isfinite(v));
  const auto want = y.dv;
  std::fill(y.dv.begin(), y.dv.end(), 0.0f);
  std::vector<float> s(
      static_cast<std::size_t>(dimesh::local::attention_transpose_scratch<float>(x)));
  dimesh::local::attention_transpose<float>(x, y.q.data(), y.k.data(), y.v.data(), y.out.data(),
                                            y.log_sum.data(), y.dout.data(),
                                            {nullptr, nullptr, y.dv.data()}, s.data());
  CHECK(y.dv == want);
}
