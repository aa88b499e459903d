// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// least: -O1
#include "dimesh/local/attention.hpp"

#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
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

/// What hides keys beside their places.
enum class hiding { nothing, lengths, shared_lengths, flags, packed, scattered, lengths_and_ids };

/// Shapes: q, out (outer, group, queries, head); k, v (outer, keys, head), each row `gap` elements
/// longer than head.
struct trial {
  index_t outer, group, queries, keys, head, gap;
  visibility sees;
  index_t position;
  double dropout;
  hiding by = hiding::nothing;
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

/// lengths (outer, group or 1); ids of queries (outer, queries), of keys (outer, keys), or flags.
struct hidden_keys {
  std::vector<index_t> lengths, query_ids, key_ids;
  hidden_keys(const trial& t, attention_problem& x) {
    const bool shared = t.by == hiding::shared_lengths;
    if (shared || t.by == hiding::lengths || t.by == hiding::lengths_and_ids) {
      for (index_t i = 0; i < t.outer * (shared ? t.group : 1); ++i)
        lengths.push_back((i * 17 + 1) % (t.keys + 4) - 1);  // some beyond the ends
      x.lengths = lengths.data();
      x.loops[0].length = shared ? t.group : 1, x.loops[1].length = shared;
    }
    if (t.by == hiding::flags) {
      for (index_t j = 0; j < t.outer * t.keys; ++j) key_ids.push_back((j / 7) % 3 == 1);
    } else if (t.by > hiding::flags) {
      const auto id = [&](index_t i) {
        return t.by == hiding::scattered ? i * 5 % 3 : i * i / 300;
      };
      for (index_t b = 0; b < t.outer; ++b) {
        for (index_t i = 0; i < t.queries; ++i) query_ids.push_back(id(i + 2 * b));
        for (index_t j = 0; j < t.keys; ++j) key_ids.push_back(id(j + 3 * b) + j / 190);
      }
    }
    if (key_ids.empty()) return;
    x.ids = {t.by == hiding::flags ? nullptr : query_ids.data(), t.by != hiding::flags,
             key_ids.data()};
    x.loops[0].query_id = t.by != hiding::flags ? t.queries : 0, x.loops[0].key_id = t.keys;
  }
};
bool is_seen(const attention_problem& x, const attention_problem::loop& o, index_t i, index_t j) {
  return j >= x.sees.begin(x.position + i) && j < x.sees.end(x.position + i) &&
         (x.lengths == nullptr || j < x.lengths[o.length]) &&
         (x.ids.keys == nullptr ||
          (x.ids.queries == nullptr ? 1 : x.ids.queries[o.query_id + i * x.ids.step]) ==
              x.ids.keys[o.key_id + j]);
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
  template <class Space = dimesh::local::default_space> void run(const attention_problem& x) {
    namespace dl = dimesh::local;
    // Whatever scratch memory holds must not reach a result: not even times 0.
    constexpr T nothing = std::numeric_limits<T>::quiet_NaN();
    std::vector<T> s(static_cast<std::size_t>(dl::attention_scratch<T, Space>(x)), nothing),
        u(static_cast<std::size_t>(dl::attention_transpose_scratch<T, Space>(x)), nothing);
    dl::attention<T, Space>(x, q.data(), k.data(), v.data(), out.data(), log_sum.data(), s.data());
    dl::attention_transpose<T, Space>(x, q.data(), k.data(), v.data(), out.data(), log_sum.data(),
                                      dout.data(), {dq.data(), dk.data(), dv.data()}, u.data());
  }
  /// The same bits in all results?
  bool operator==(const operands& y) const {
    const auto same = [](const std::vector<T>& a, const std::vector<T>& b) {
      return a.size() == b.size() &&
             (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
    };
    return same(out, y.out) && same(log_sum, y.log_sum) && same(dq, y.dq) && same(dk, y.dk) &&
           same(dv, y.dv);
  }
};

/// The same by the kernels for devices, run on the host.
template <class T> void run_in_blocks(const attention_problem& x, operands<T>& y, index_t queries) {
  using device = Kokkos::Serial;
  std::fill(y.dk.begin(), y.dk.end(), T(0));
  std::fill(y.dv.begin(), y.dv.end(), T(0));
  for (auto* all : {&y.out, &y.log_sum, &y.dq}) std::fill(all->begin(), all->end(), T(99));
  dimesh::local::detail::attend_in_blocks<device>(x, y.q.data(), y.k.data(), y.v.data(),
                                                  y.out.data(), y.log_sum.data(), queries);
  dimesh::local::detail::attend_back_in_blocks<device, T>(
      x, y.q.data(), y.k.data(), y.v.data(), y.out.data(), y.log_sum.data(), y.dout.data(),
      {y.dq.data(), y.dk.data(), y.dv.data()}, queries);
}

/// By the host's kernels, in one piece and in several.
template <class T> void run_in_pieces(const attention_problem& x, operands<T>& y) {
  operands<T> turned = y, threads = y;
  y.run(x);
  turned.template run<dimesh_test::reversed>(x);
  CHECK(turned == y);
  if (x.turns() < 9) return;
  threads.template run<dimesh_test::threaded>(x);
  CHECK(threads == y);
}

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
  dimesh::local::detail::for_each_turn(x, 0, x.turns(), [&](const attention_problem::loop& o) {
    for (index_t i = 0; i < x.queries; ++i) {
      const double *q = y.q.data() + o.q + i * x.q_row, *g = y.dout.data() + o.q + i * x.q_row;
      double *out = y.out.data() + o.q + i * x.q_row, *dq = y.dq.data() + o.q + i * x.q_row;
      std::vector<index_t> keys;
      for (index_t j = 0; j < x.keys; ++j)
        if (is_seen(x, o, i, j)) keys.push_back(j);
      std::vector<double> p, dp;
      double sum = 0, slope = 0;
      for (index_t h = 0; h < x.head; ++h) out[h] = dq[h] = 0;
      for (const index_t j : keys) {
        const double *k = y.k.data() + o.k + j * x.k_row, *v = y.v.data() + o.v + j * x.v_row;
        double s = 0, d = 0;
        for (index_t h = 0; h < x.head; ++h) s += q[h] * k[h], d += g[h] * v[h];
        p.push_back(std::exp(x.scale * s)), dp.push_back(d);
        sum += p.back();
      }
      y.log_sum[static_cast<std::size_t>(o.log + i)] = keys.empty() ? 0 : std::log(sum);
      for (std::size_t at = 0; at < keys.size(); ++at) {
        const index_t j = keys[at];
        double& w = p[at];
        w /= sum;
        const double keep = kept(x, o.draw + i, j);
        dp[at] *= keep;
        slope += w * dp[at];
        for (index_t h = 0; h < x.head; ++h) {
          out[h] += w * keep * y.v[static_cast<std::size_t>(o.v + j * x.v_row + h)];
          y.dv[static_cast<std::size_t>(o.v + j * x.v_row + h)] += w * keep * g[h];
        }
      }
      for (std::size_t at = 0; at < keys.size(); ++at) {
        const index_t j = keys[at];
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
    if (std::isnan(want[i]) && std::isnan(got[i]))
      continue;
    else if (static_cast<index_t>(i) % row < head)
      worst = test_support::worst(
          worst, std::abs(static_cast<double>(got[i]) - want[i]) / (1 + std::abs(want[i])));
  INFO(what);
  CHECK(worst <= (sizeof(T) == 4 ? 2e-5 : 1e-12));
}

/// Some keys, values, queries and cotangents of queries are NaN.
template <class T> void spoil(const trial& t, operands<T>& y) {
  const index_t row = t.head + t.gap;
  const auto fill = [row](std::vector<T>& a, index_t every, index_t first) {
    for (index_t i = first; i * row < static_cast<index_t>(a.size()); i += every)
      std::fill_n(a.begin() + i * row, row, std::numeric_limits<T>::quiet_NaN());
  };
  fill(y.k, 97, 61), fill(y.v, 89, 33), fill(y.q, 53, 12), fill(y.dout, 71, 40);
}

/// spoiled: what a query does not see, and what does not see a key, may be anything.
template <class T> void check(const trial& t, bool spoiled = false) {
  attention_problem x = described(t);
  const hidden_keys hidden(t, x);
  INFO("outer ", t.outer, ", group ", t.group, ", queries ", t.queries, ", keys ", t.keys,
       ", head ", t.head, ", causal ", t.sees.causal, ", window ", t.sees.window, ", position ",
       t.position, ", dropout ", t.dropout, ", hidden by ", static_cast<int>(t.by));
  operands<T> y(x);
  if (t.by == hiding::lengths || t.by == hiding::lengths_and_ids)  // whatever fills rows up
    for (index_t b = 0; b < t.outer; ++b)
      for (auto* a : {&y.k, &y.v})
        std::fill(
            a->begin() + (b * t.keys + std::clamp(x.lengths[b], index_t(0), t.keys)) * x.k_row,
            a->begin() + (b + 1) * t.keys * x.k_row, std::numeric_limits<T>::quiet_NaN());
  operands<double> want(x);
  if (spoiled) spoil(t, y), spoil(t, want);
  if constexpr (sizeof(T) == 4) {  // the same numbers
    want.q.assign(y.q.begin(), y.q.end()), want.k.assign(y.k.begin(), y.k.end());
    want.v.assign(y.v.begin(), y.v.end()), want.dout.assign(y.dout.begin(), y.dout.end());
  }
  by_formula(x, want);
  const index_t row = t.head + t.gap;
  if (t.by == hiding::flags)
    for (index_t j = 0; j < t.outer * t.keys; ++j)
      if (x.ids.keys[j] != 1)
        for (auto* a : {&y.k, &y.v})
          std::fill_n(a->begin() + j * x.k_row, x.k_row, std::numeric_limits<T>::quiet_NaN());
  for (const index_t queries : {0, 512, 7}) {  // of a block; 0: by the host's kernels
    CAPTURE(queries);
    if (queries > 0 && spoiled) break;
    if (queries > 0)
      run_in_blocks(x, y, queries);
    else
      run_in_pieces(x, y);
    compare("out", y.out, want.out, t.head, row);
    compare("log_sum", y.log_sum, want.log_sum, 1, 1);
    compare("dq", y.dq, want.dq, t.head, row);
    compare("dk", y.dk, want.dk, t.head, row);
    compare("dv", y.dv, want.dv, t.head, row);
  }
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

TEST_CASE("attention: of many heads, which threads share") {
  check<float>({7, 2, 33, 40, 16, 0, {0, true, 0}, 0, 0.25});
  check<double>({4, 3, 5, 40, 7, 3, {0, false, 0}, 0, 0, hiding::shared_lengths});
}

TEST_CASE("attention: keys hidden by lengths, flags and ids, forward and backward") {
  using enum hiding;
  for (const hiding by : {lengths, shared_lengths, flags, packed, scattered, lengths_and_ids})
    for (const bool causal : {false, true})
      for (const index_t window : {0, 30}) {
        check<float>({3, 2, 130, 210, 24, 0, {0, causal, window}, 0, 0, by});
        check<double>({2, 2, 70, 65, 7, 3, {0, causal, window}, 3, 0.25, by});
        check<float>({5, 1, 1, 450, 16, 0, {0, causal, window}, 449, 0, by});
        check<double>({1, 3, 4, 1, 1, 0, {0, causal, window}, 0, 0, by});
      }
}

TEST_CASE("attention: what is hidden from a query reaches nothing of it, be it NaN, nor back") {
  using enum hiding;
  for (const hiding by : {nothing, lengths, flags, packed, scattered, lengths_and_ids})
    for (const bool causal : {false, true})
      for (const index_t window : {0, 30}) {
        check<float>({3, 2, 130, 210, 24, 0, {0, causal, window}, 0, 0, by}, true);
        check<double>({2, 2, 70, 65, 7, 3, {0, causal, window}, 3, 0.25, by}, true);
        check<float>({5, 1, 1, 450, 16, 0, {0, causal, window}, 230, 0, by}, true);
      }
}

TEST_CASE("attention in blocks takes the memory that is predicted") {
  using enum hiding;
  for (const hiding by : {nothing, lengths, flags, packed})
    for (const index_t queries : {1, 70, 600}) {
      const trial t{2, 2, queries, 130, 8, 0, {}, 0, 0, by};
      attention_problem x = described(t);
      hidden_keys hidden(t, x);
      operands<float> y(x);
      auto& buffers = dimesh::detail::pool::instance();
      const auto taken = [&](const auto& f) {
        const index_t before = buffers.figures().live;
        buffers.restart_peak();
        f();
        return (buffers.figures().peak - before) / index_t(sizeof(float));
      };
      using dimesh::local::detail::room_of_blocks;
      const bool copies = by == lengths || by == flags;
      CHECK(taken([&] {
              dimesh::local::detail::attend_in_blocks<Kokkos::Serial>(
                  x, y.q.data(), y.k.data(), y.v.data(), y.out.data(), y.log_sum.data());
            }) == room_of_blocks(x, copies, false));
      CHECK(taken([&] {
              dimesh::local::detail::attend_back_in_blocks<Kokkos::Serial, float>(
                  x, y.q.data(), y.k.data(), y.v.data(), y.out.data(), y.log_sum.data(),
                  y.dout.data(), {y.dq.data(), y.dk.data(), y.dv.data()});
            }) == room_of_blocks(x, copies, true));
    }
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
