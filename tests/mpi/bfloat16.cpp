// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// checks: 540 1016 1016 1492
// Tensors of bfloat16: made, moved, summed over ranks in messages of two bytes an element, with the
// same bits everywhere. Small whole numbers are exact in them, so their sums are compared exactly.
#include "dimesh/element/bfloat16.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "dimesh/create.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/reduce_scatter.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/show/print.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using bf = dm::bfloat16;

const std::vector<extents> sizes = {{5, 4}, {1, 7}, {0, 3}, {8, 6}};

/// Calls f(tensor of bfloat16, its values) for layouts of a mesh.
template <class M, layout_choice Choice, class F> void for_each_bfloat16(F&& f) {
  for_each_case<M, Choice, p, q>(sizes, [&](const auto& v, const array& a) {
    using L = typename std::remove_cvref_t<decltype(v)>::layout_type;
    f(scattered<dm::tensor<bf, L, p, q>>(v.grid(), a), a);
  });
}

/// Bytes that MPI saw.
template <class F> std::int64_t bytes_of(const F& f) {
  census::reset();
  f();
  return census::snapshot().bytes();
}

TEST_CASE("bfloat16: complete and relayout, on every layout of a plane, at half of float's bytes") {
  for_each_bfloat16<plane, unevenly_with_partial>([](const auto& v, const array& a) {
    using L = typename std::remove_cvref_t<decltype(v)>::layout_type;
    using by_p = dm::layout<plane, dm::split<dm::uneven<p>, y, x>>;
    const auto wide = dm::cast<float>(v);
    CHECK(agrees(wide, a));
    CHECK(agrees(dm::complete(v), a));
    const auto moved = dm::relayout<by_p>(v);
    CHECK(agrees(moved, a));
    CHECK(costs_as_foreseen([](const auto& u) { return dm::complete(u); }, v));
    CHECK(2 * bytes_of([&] { (void)dm::complete(v); }) ==
          bytes_of([&] { (void)dm::complete(wide); }));
    CHECK(2 * bytes_of([&] { (void)dm::relayout<by_p>(v); }) ==
          bytes_of([&] { (void)dm::relayout<by_p>(wide); }));
    if constexpr (!dm::spec_of<std::remove_cvref_t<decltype(v)>>::table.any_partial())
      CHECK(agrees(dm::relayout<L>(moved), a));
  });
}

TEST_CASE("bfloat16: reduce_scatter, and extremes over split dims") {
  for_each_bfloat16<line, unevenly_with_partial>([](const auto& v, const array& a) {
    constexpr auto how = dm::spec_of<std::remove_cvref_t<decltype(v)>>::table.axis[0].what;
    if constexpr (how == dm::use::partial) {
      const auto f = [](const auto& u) { return dm::reduce_scatter<dm::uneven<q>, x>(u); };
      CHECK(agrees(f(v), a));
      check_operation(f, {}, {a}, v);
    } else if (a.count() > 0) {
      CHECK(agrees(dm::complete(dm::max<p>(v)), max({"q"}, a)));
      CHECK(agrees(dm::complete(dm::min(v)), min({}, a)));
    }
  });
}

TEST_CASE("bfloat16: sums of reals over ranks are the same bits on all, and near the true sums") {
  const dm::grid<line> g;
  using partial = dm::layout<line, dm::partial<x>>;
  for (const index_t n : {1, 7, 1000, 100000}) {
    const auto v = dm::uniform<dm::tensor<bf, dm::layout<line>, p>>(
        g, dm::random_key{static_cast<std::uint64_t>(g.rank())}, 0.5, 1.5, p{n});
    dm::tensor<bf, partial, p> addends(g, p{n});
    std::copy_n(test_support::on_host(v).data(), n, test_support::on_host(addends).data());
    const auto sum = dm::complete(addends);
    dm::tensor<double, partial, p> exact(g, p{n});
    for (index_t i = 0; i < n; ++i)
      test_support::on_host(exact)[i] = test_support::on_host(addends)[i];
    const auto truth = dm::complete(exact);
    bool close = true;
    for (index_t i = 0; i < n; ++i)  // each of up to ranks - 1 additions rounds once
      close = close && std::abs(test_support::on_host(sum)[i] - test_support::on_host(truth)[i]) <=
                           (g.ranks() - 1) * test_support::on_host(truth)[i] / 256;
    CHECK(close);
    std::vector<bf> first(test_support::on_host(sum).data(), test_support::on_host(sum).data() + n);
    MPI_Bcast(first.data(), static_cast<int>(2 * n), MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(std::memcmp(test_support::on_host(first).data(), test_support::on_host(sum).data(),
                      static_cast<std::size_t>(2 * n)) == 0);
  }
}

TEST_CASE("bfloat16: making, gathering and printing") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  using X = dm::tensor<bf, L, p, q>;
  const auto grown = dm::generate<X>(
      g, [](index_t i, index_t j) { return static_cast<double>(i) + 0.5 * static_cast<double>(j); },
      p{2}, q{3});
  std::ostringstream text;
  dm::print_gathered(grown, text);
  if (g.rank() == 0)
    CHECK(text.str().substr(text.str().find('\n')) == "\n[[  0 0.5   1]\n [  1 1.5   2]]\n");
  const auto ones = dm::constant<X>(g, 1, p{5}, q{2}), none = dm::zeros<X>(g, p{5}, q{2});
  for (const bf v : dm::to_rank(ones)) CHECK(v == 1.0f);
  for (const bf v : dm::to_rank(none)) CHECK(v == 0.0f);
  // Random numbers are those of float, rounded: the same under every layout.
  const auto drawn = dm::normal<X>(g, dm::random_key{3}, 0, 2, p{50}, q{4});
  const auto wide = dm::normal<dm::tensor<float, L, p, q>>(g, dm::random_key{3}, 0, 2, p{50}, q{4});
  bool equal = true;
  for (index_t i = 0; i < drawn.local_size(); ++i)
    equal = equal && test_support::on_host(drawn)[i] == bf(test_support::on_host(wide)[i]);
  CHECK(equal);
}

}  // namespace
