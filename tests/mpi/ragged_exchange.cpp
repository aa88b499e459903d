// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: sanitize device
// Blocks of any lengths, empty ones too, of which elements change ranks: parts, joins, orders and
// products beside whole arrays, and their transposes.
#include <doctest/doctest.h>

#include "dimesh/op/concat_exchange.hpp"
#include "dimesh/op/contract.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/merge_exchange.hpp"
#include "dimesh/op/slice_exchange.hpp"
#include "dimesh/op/top_k_all_gather.hpp"
#include "support/movement.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace by = dm::by;

template <class D, class... A> using cut = dm::split<dm::ragged<D>, A...>;
/// Speeds of ranks: the last is fast; only the last works; only the first does.
std::vector<double> speeds(index_t ranks, int pattern) {
  std::vector<double> s(static_cast<std::size_t>(ranks), pattern == 0);
  (pattern == 2 ? s.front() : s.back()) = 4;
  return s;
}
/// a[p, q] with n elements along q, which are those at(i); 0 where that is not there.
array picked(const array& a, index_t n, const std::function<index_t(index_t)>& at) {
  return make(a.dims, {a.size[0], n}, [&](extents i) {
    i[1] = at(i[1]);
    return i[1] < 0 || i[1] >= a.size[1] ? 0.0 : value_at(a, a.dims, i);
  });
}
/// f(x, a) for tensors x[p, q/(y, x)] of all patterns and shapes of the mesh.
template <class F> void for_each_ragged(const array& a, const F& f) {
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for (const int pattern : {0, 1, 2}) {
      INFO("pattern ", pattern);
      const auto s = speeds(static_cast<index_t>(g.everyone().size()), pattern);
      f(scattered<dm::tensor<double, dm::layout<plane, cut<q, y, x>>, p, q>>(
          g, a, dm::cuts_by_speed<q>(a.size[1], s)));
    }
  });
}

TEST_CASE("ragged: another name, and back") {
  const array a = numbers({"p", "q"}, {3, 11}, 1);
  for_each_ragged(a, [&](const auto& v) {
    const auto f = [](const auto& u) { return dm::rename<q, r>(u); };
    CHECK(agrees(f(v), renamed(a, "q", "r")));
    CHECK(agrees(dm::rename<r, q>(f(v)) + v, map([](const auto& e) { return 2 * e[0]; }, {a})));
    check_operation(f, {}, {a}, v);
  });
}

TEST_CASE("ragged: parts, joined and merged") {
  const index_t n = 11;
  const array a = numbers({"p", "q"}, {3, n}, 1);
  for_each_ragged(a, [&](const auto& v) {
    const auto flip = [](const auto& u) { return dm::flip_exchange<q>(u); };
    const auto slice = [](const auto& u) { return dm::slice_exchange<q>(u, 9, 0, -3); };
    const auto pad = [](const auto& u) { return dm::pad_exchange<q>(u, 3, 4); };
    const auto join = [](const auto& u) { return dm::concat_exchange<q>(u, u); };
    const auto merge = [](const auto& u) {
      return dm::merge_exchange<dm::split<dm::uneven<r>, x, y>, p, q>(u);
    };
    CHECK(agrees(flip(v), picked(a, n, [=](index_t i) { return n - 1 - i; })));
    CHECK(agrees(slice(v), picked(a, 3, [](index_t i) { return 9 - 3 * i; })));
    CHECK(agrees(pad(v), picked(a, n + 7, [](index_t i) { return i - 3; })));
    CHECK(agrees(join(v), picked(a, 2 * n, [=](index_t i) { return i % n; })));
    CHECK(agrees(merge(v), array{{"r"}, {3 * n}, a.values}));
    check_movement(flip, a, v);
    check_movement(slice, a, v);
    check_movement(pad, a, v);
    check_movement(join, a, v);
    check_movement(merge, a, v);
  });
}

TEST_CASE("ragged: orders") {
  const array a = reals({"p", "q"}, {3, 11}, 3);
  array sorted = a;
  for (int i = 0; i < 3; ++i)
    std::sort(sorted.values.begin() + i * 11, sorted.values.begin() + (i + 1) * 11);
  for_each_ragged(a, [&](const auto& v) {
    CHECK(agrees(dm::sort_all_to_all<q>(v), sorted));
    const auto check = [&](const auto& f) {
      const operation_report report = run_adjoint(f, 0, 1e-4, {a}, v);
      CHECK(std::abs(report.tangent - report.cotangent) <=
            1e-6 * std::max(1.0, std::abs(report.tangent)));
    };
    check([](const auto& u) { return dm::sort_all_to_all<q>(u); });
    check([](const auto& u) { return dm::top_k_all_gather<q, r>(u, r{4}).values; });
    check([](const auto& u) { return dm::nth_largest_all_gather<q>(u, 3); });
  });
}

template <class Schedule, class V, class W>
void check_product(const V& v, const W& w, const array& a, const array& b) {
  INFO("schedule ", std::string(dm::detail::spelled<Schedule>()));
  const auto f = [](const auto& i, const auto& j) { return dm::contract<Schedule, r, p>(i, j); };
  CHECK(agrees(f(v, w), einsum({"r", "p"}, {a, b})));
  const operation_report report = run_adjoint(f, 0, 1, {a, b}, v, w);
  CHECK(report.tangent == report.cotangent);
  if (v.grid().rank() == 0) CHECK(report.forward + report.backward == "");
}
TEST_CASE("ragged: products by schedules") {
  const array a = numbers({"p", "q"}, {7, 9}, 1), b = numbers({"q", "r"}, {9, 5}, 2);
  for_each_grid<line>([&](const dm::grid<line>& g) {
    for (const int pattern : {0, 1, 2}) {
      const auto s = speeds(static_cast<index_t>(g.everyone().size()), pattern);
      const auto tall = scattered<dm::tensor<double, dm::layout<line, cut<p, x>>, p, q>>(
          g, a, dm::cuts_by_speed<p>(7, s));
      const auto wide = scattered<dm::tensor<double, dm::layout<line, cut<q, x>>, p, q>>(
          g, a, dm::cuts_by_speed<q>(9, s));
      const auto w = scattered<dm::tensor<double, dm::layout<line, cut<r, x>>, q, r>>(
          g, b, dm::cuts_by_speed<r>(5, s));
      const auto all = scattered<dm::tensor<double, dm::layout<line>, q, r>>(g, b);
      check_product<by::ring<x>>(tall, w, a, b);
      check_product<by::gather>(tall, w, a, b);
      check_product<by::best<>>(tall, w, a, b);
      check_product<by::ring<x>>(wide, w, a, b);
      check_product<by::gather>(wide, w, a, b);
      check_product<by::best<>>(wide, w, a, b);
      check_product<by::gather>(wide, all, a, b);
      check_product<by::best<>>(wide, all, a, b);
    }
  });
}

}  // namespace
