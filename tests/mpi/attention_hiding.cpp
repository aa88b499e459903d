// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 450 780 1110
// labels: local
// Attention to keys that data do not hide, in every layout that its dims can have: values against a
// naive oracle, gradients against central differences, and no communication.
#include "dimesh/op/attention.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/recompute.hpp"
#include "dimesh/grad/vjp.hpp"
#include "support/adjoint.hpp"
#include "support/attention.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::split, dm::uneven;

/// How many keys of row b are seen: none, all, more than there are, and some.
constexpr index_t keys_of_row(index_t b) { return (b * 4 + 3) % 9 - 1; }
constexpr index_t flag_of(index_t b, index_t j) { return (j + b) % 3 - 1; }
/// Segments of 1 query at first, then longer; the last keys belong to nobody.
constexpr index_t segment_of(index_t b, index_t i) { return i < 2 ? i : (i + b) / 3 + 3; }
constexpr index_t key_segment_of(index_t b, index_t j) { return j == 4 ? -7 : segment_of(b, j); }

enum class by { lengths, flags, ids, lengths_and_ids };

bool sees_by(by what, index_t b, index_t i, index_t j) {
  if (what == by::flags) return flag_of(b, j) != 0;
  return (what == by::ids || j < keys_of_row(b)) &&
         (what == by::lengths || segment_of(b, i) == key_segment_of(b, j));
}
array hidden_oracle(by what, const attention_arrays& a, const dm::attention_options& o) {
  return attended(a.q, a.k, a.v, o, [&](const names& all, const extents& i) {
    const auto at = [&](const char* dim) {
      return i[static_cast<std::size_t>(std::find(all.begin(), all.end(), dim) - all.begin())];
    };
    return sees_by(what, at("batch"), at("length"), i.back());
  });
}

/// Attention under L with what hides keys made beside q.
template <by What, class L> struct hidden_attention {
  dm::attention_options o;
  index_t rows, queries, keys;
  template <class Q, class K, class V> auto operator()(const Q& q, const K& k, const V& v) const {
    const batch b{rows};
    const auto lengths = places_beside<L, batch>(q, keys_of_row, b);
    const auto of_queries = places_beside<L, batch, length>(q, segment_of, b, length{queries});
    const auto of_keys = places_beside<L, batch, key>(q, key_segment_of, b, key{keys});
    if constexpr (What == by::lengths) {
      return dm::attention<length, key, head>(q, k, v, o, lengths);
    } else if constexpr (What == by::flags) {
      const auto flag = [](index_t j, index_t i) { return flag_of(i, j); };
      return dm::attention<length, key, head>(q, k, v, o,
                                              places_beside<L, key, batch>(q, flag, key{keys}, b));
    } else if constexpr (What == by::ids) {
      return dm::attention<length, key, head>(q, k, v, o, of_queries, of_keys);
    } else {
      return dm::attention<length, key, head>(q, k, v, o, lengths, of_queries, of_keys);
    }
  }
};

const dm::attention_options causal{.causal = true};
const dm::attention_options dropped{.window = 3, .dropout = 0.3, .key = dm::random_key(5)};

template <by What, class T, class L, class Grid>
void check_values(const Grid& g, const attention_arrays& a, double tolerance) {
  for (const auto& o : {dm::attention_options{}, causal, dropped}) {
    const auto q = scattered<queries_of<T, L>>(g, a.q);
    const auto k = scattered<keys_of<T, L>>(g, a.k), v = scattered<keys_of<T, L>>(g, a.v);
    const hidden_attention<What, L> f{o, a.q.size[0], a.q.size[1], a.k.size[1]};
    CHECK(agrees(f(q, k, v), hidden_oracle(What, a, o), tolerance));
  }
}
template <by What, class T, class... Rule> void check_layout(double tolerance) {
  using L = dm::layout<plane, Rule...>;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for (const auto& a : {attention_arrays(5, 2, 2, 7, 7, 3), attention_arrays(9, 1, 1, 1, 70, 2),
                          attention_arrays(1, 2, 1, 21, 4, 17), attention_arrays(2, 1, 0, 3, 3, 2)})
      check_values<What, T, L>(g, a, tolerance);
  });
}
template <by What> void check_all() {
  check_layout<What, double>(1e-13);
  check_layout<What, double, split<uneven<batch>, x>, split<uneven<heads>, y>>(1e-13);
  check_layout<What, float, split<uneven<heads>, y, x>>(1e-5);
  check_layout<What, double, split<uneven<batch>, y>, split<uneven<length>, x>>(1e-13);
  check_layout<What, float, split<uneven<group>, x>, split<uneven<length>, y>>(1e-5);
}
TEST_CASE("keys hidden by lengths") { check_all<by::lengths>(); }
TEST_CASE("keys hidden by flags") { check_all<by::flags>(); }
TEST_CASE("keys hidden by ids") { check_all<by::ids>(); }
TEST_CASE("keys hidden by lengths and ids") { check_all<by::lengths_and_ids>(); }

template <by What, class... Rule> void check_transpose() {
  using L = dm::layout<plane, Rule...>;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    const attention_arrays a(5, 2, 2, 5, 7, 2);
    const auto q = scattered<queries_of<double, L>>(g, a.q);
    const auto k = scattered<keys_of<double, L>>(g, a.k), v = scattered<keys_of<double, L>>(g, a.v);
    for (const auto& o : {causal, dropped}) {
      const hidden_attention<What, L> f{o, 5, 5, 7};
      check_operation(f, {3e-5, 1e-6}, {a.q, a.k, a.v}, q, k, v);
    }
  });
}
TEST_CASE("gradients where nothing is split") {
  check_transpose<by::lengths>();
  check_transpose<by::flags>();
  check_transpose<by::ids>();
  check_transpose<by::lengths_and_ids>();
}
TEST_CASE("gradients where batch, heads, group or queries are split") {
  check_transpose<by::lengths_and_ids, split<uneven<batch>, x>, split<uneven<heads>, y>>();
  check_transpose<by::lengths_and_ids, split<uneven<group>, x>, split<uneven<length>, y>>();
  check_transpose<by::flags, split<uneven<batch>, y>, split<uneven<length>, x>>();
}

TEST_CASE("computed anew on the way back, gradients are the same") {
  const dm::grid<line> g;
  using L = dm::layout<line, split<uneven<batch>, x>>;
  const attention_arrays a(5, 2, 1, 5, 7, 2);
  const auto q = scattered<queries_of<double, L>>(g, a.q);
  const auto k = scattered<keys_of<double, L>>(g, a.k), v = scattered<keys_of<double, L>>(g, a.v);
  const auto ybar = scattered<queries_of<double, dm::gradient<L>>>(g, reals(a.q.dims, a.q.size, 9));
  const hidden_attention<by::lengths_and_ids, L> f{causal, 5, 5, 7};
  const auto kept = dm::vjp(f, q, k, v).pullback(ybar);
  const auto again =
      dm::vjp([&](const auto&... z) { return dm::recompute(f)(z...); }, q, k, v).pullback(ybar);
  const auto same = [](const auto& one, const auto& other) {
    return std::equal(test_support::on_host(one).data(),
                      test_support::on_host(one).data() + one.local_size(),
                      test_support::on_host(other).data());
  };
  CHECK(same(std::get<0>(kept), std::get<0>(again)));
  CHECK(same(std::get<1>(kept), std::get<1>(again)));
  CHECK(same(std::get<2>(kept), std::get<2>(again)));
}

TEST_CASE("every length from none to all; nothing flows where no key is seen, nor to hidden keys") {
  const dm::grid<line> g;
  using L = dm::layout<line>;
  const attention_arrays a(1, 2, 1, 3, 20, 4);
  const auto q = scattered<queries_of<double, L>>(g, a.q);
  const auto k = scattered<keys_of<double, L>>(g, a.k), v = scattered<keys_of<double, L>>(g, a.v);
  const auto ybar = scattered<queries_of<double, dm::gradient<L>>>(g, reals(a.q.dims, a.q.size, 9));
  for (index_t n = 0; n <= 20; ++n) {
    const auto lengths =
        dm::generate<dm::tensor<std::int64_t, L, batch>>(g, [n](index_t) { return n; }, batch{1});
    auto [y, pullback] = dm::vjp(
        [&](const auto& vq, const auto& vk, const auto& vv) {
          return dm::attention<length, key, head>(vq, vk, vv, {}, lengths);
        },
        q, k, v);
    CHECK(agrees(
        y,
        attended(a.q, a.k, a.v, {}, [n](const names&, const extents& i) { return i.back() < n; }),
        1e-13));
    const auto [qbar, kbar, vbar] = pullback(ybar);
    const auto all_zero = [](const auto& t, index_t from) {
      return std::all_of(test_support::on_host(t).data() + from,
                         test_support::on_host(t).data() + t.local_size(),
                         [](double z) { return z == 0; });
    };
    CHECK(all_zero(kbar, n * 8));  // [batch 1, key, heads 2, head 4]
    CHECK(all_zero(vbar, n * 8));
    CHECK(all_zero(y, 0) == (n == 0));
    CHECK((n > 0 || all_zero(qbar, 0)));
    // One key alone has all the weight, but for the rounding of two sums that cancel.
    const auto on = test_support::on_host(qbar);
    CHECK((n != 1 || std::all_of(on.data(), on.data() + qbar.local_size(),
                                 [](double z) { return std::abs(z) < 1e-14; })));
    if (n > 0) CHECK(std::abs(test_support::on_host(vbar)[(n - 1) * 8]) > 0);
  }
}

TEST_CASE("static extents, whole numbers of several types, dims in any order") {
  struct rows : dm::dim<2> {};
  struct places : dm::dim<6> {};
  struct others : dm::dim<6> {};
  struct width : dm::dim<3> {};
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, split<uneven<rows>, x>>;
    const array qa = reals({"rows", "places", "width"}, {2, 6, 3}, 1);
    const array ka = reals({"others", "rows", "width"}, {6, 2, 3}, 2);
    const auto q = scattered<dm::tensor<double, L, rows, places, width>>(g, qa);
    const auto k = scattered<dm::tensor<double, L, others, rows, width>>(g, ka);
    const auto ids = [](index_t i, index_t) { return i / 2; };
    const auto qi = dm::generate<dm::tensor<unsigned char, L, places, rows>>(g, ids);
    const auto ki = dm::generate<dm::tensor<short, L, others, rows>>(g, ids);
    const auto flags = dm::generate<dm::tensor<bool, L, rows, others>>(
        g, [](index_t b, index_t j) { return j < 3 + b; });
    const array qo{{"batch", "length", "head"}, qa.size, qa.values};
    const array ko{{"key", "batch", "head"}, ka.size, ka.values};
    const auto want = [&](const seen_function& f) {
      const array y = attended(qo, ko, ko, {}, f);
      return array{qa.dims, y.size, y.values};
    };
    CHECK(agrees(dm::attention<places, others, width>(q, k, k, {}, qi, ki),
                 want([](const names&, const extents& i) { return i[1] / 2 == i[3] / 2; }), 1e-13));
    CHECK(agrees(dm::attention<places, others, width>(q, k, k, {}, flags),
                 want([](const names&, const extents& i) { return i[3] < 3 + i[0]; }), 1e-13));
    // Ids that batches share: they lack the dim.
    const auto shared =
        dm::generate<dm::tensor<int, L, others>>(g, [](index_t j) { return j % 2; });
    CHECK(agrees(dm::attention<places, others, width>(q, k, k, {}, shared),
                 want([](const names&, const extents& i) { return i[3] % 2 == 1; }), 1e-13));
  });
}

}  // namespace
