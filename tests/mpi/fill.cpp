// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3
// checks: 167 329 329
// alone: a template of the library is specialised
#include "dimesh/fill.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/interop/from_array.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/to_rank.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"

namespace {
/// Stands for a lambda, of which nvcc makes no kernel.
struct of_host {
  const double* at;
  dimesh::index_t columns;
  double operator()(dimesh::index_t i, dimesh::index_t j) const { return at[i * columns + j]; }
};
}  // namespace
template <> inline constexpr bool dimesh::detail::is_lambda_of_host<of_host> = true;

namespace {
namespace dm = dimesh;
namespace ts = test_support;
using dm::index_t;
using ts::p;

index_t twice(index_t i) { return 2 * i; }

TEST_CASE("fill: overwrites, and forgets that a value was to be counted once") {
  const dm::grid<ts::line> g;
  auto x = dm::constant<dm::tensor<float, dm::layout<ts::line, dm::partial<ts::x>>, p>>(g, 1, p{3});
  x.set_once(1);
  dm::fill(x, 2);
  CHECK(x.once() == 0);
  CHECK(test_support::on_host(x)[2] == (g.rank() == 0 ? 2 : 0));
  x.set_once(1);
  dm::fill_by(x, [](index_t i) { return i; });
  CHECK(x.once() == 0);
  CHECK(test_support::on_host(x)[2] == (g.rank() == 0 ? 2 : 0));
  dm::clear(x);
  CHECK(test_support::on_host(x)[2] == 0);
  dm::fill_by(x, twice);  // a function is as good as an object
  CHECK(test_support::on_host(x)[2] == (g.rank() == 0 ? 4 : 0));
}

TEST_CASE("fill_by: of a value that was to be counted once, on ranks without an element, too") {
  ts::for_each_grid<ts::plane>([](const dm::grid<ts::plane>& g) {
    using L = dm::layout<ts::plane, dm::split<dm::uneven<p>, ts::x>, dm::partial<ts::y>>;
    auto x = dm::constant<dm::tensor<float, L, p>>(g, 1, p{1});
    x.set_once(2);
    dm::fill_by(x, [](index_t) { return 3; });
    CHECK(x.once() == 0);
    CHECK(ts::agrees(dm::complete(x), ts::array{{"p"}, {1}, {3}}));
  });
}

TEST_CASE("fill_block: every rank's block is an addend, whatever was counted once") {
  const dm::grid<ts::line> g;
  using X = dm::tensor<float, dm::layout<ts::line, dm::partial<ts::x>>, p>;
  auto x = dm::from_rank<X>(g, {7, 8, 9}, p{3});
  CHECK(x.once() == 1);
  const auto mine = static_cast<float>(g.rank() + 1);
  dm::fill_block(x, std::vector<float>{mine, mine, 10 * mine});
  CHECK(x.once() == 0);
  const float all = static_cast<float>(g.ranks() * (g.ranks() + 1) / 2);
  CHECK(ts::agrees(x, ts::array{{"p"}, {3}, {all, all, 10 * all}}));
}

TEST_CASE("fill: sets every element under every layout, addends to a sum") {
  ts::for_each_case<ts::plane, ts::unevenly_with_partial, ts::p, ts::q>(
      {{5, 4}, {0, 3}, {1, 1}}, [](auto x, const ts::array& a) {
        const auto all = [&](double v) {
          return ts::array{a.dims, a.size, std::vector<double>(a.values.size(), v)};
        };
        dm::fill(x, 3);
        CHECK(ts::agrees(x, all(3)));
        dm::clear(x);
        CHECK(ts::agrees(x, all(0)));
        dm::fill_from(x, a.values);
        CHECK(ts::agrees(x, a));
        dm::clear(x);
        dm::fill_by(x, of_host{a.values.data(), a.size[1]});
        CHECK(ts::agrees(x, a));
      });
}

}  // namespace
