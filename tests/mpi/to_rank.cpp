// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6 8
// checks: 1047 2086 2086 3125 4164 4164
// labels: device
#include "dimesh/op/start_to_rank.hpp"

#include <doctest/doctest.h>

#include <census.hpp>

#include "dimesh/create.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
using dimesh::spec_of;

/// Extents that axes divide and do not, none, one, and fewer than ranks.
const std::vector<extents> sizes = {{4, 6}, {5, 3}, {0, 2}, {1, 7}};

TEST_CASE("to_rank: the whole on the root, whoever it is; nothing elsewhere") {
  for_each_case<plane, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    for (const int root : {0, v.grid().ranks() - 1}) {
      const std::vector<double> all = dimesh::to_rank(v, root);
      CHECK(all == (v.grid().rank() == root ? a.values : std::vector<double>{}));
    }
  });
}

TEST_CASE("to_rank: whole rows come from where they lie, and go to where they belong") {
  const dimesh::grid<line> g;
  using L = dimesh::layout<line, dimesh::split<p, x>>;
  const auto v =
      dimesh::constant<dimesh::tensor<double, L, p, q>>(g, 2, p{2 * g.ranks()}, q{150001});
  const int root = g.ranks() - 1;
  auto& memory = dimesh::detail::pool::instance();
  memory.restart_peak();
  const index_t before = memory.figures().live;
  const auto all = dimesh::to_rank(v, root);
  CHECK((memory.figures().peak == before || !dimesh::detail::vectors_are_near()));
  CHECK(all == std::vector<double>(g.rank() == root ? std::size_t(v.shape().size()) : 0, 2.0));
}

TEST_CASE("to_rank leaves halos behind") {
  for_each_case<plane, unevenly, p, q>(sizes, [](auto v, const array& a) {
    const auto all = dimesh::to_rank(dimesh::halo_exchange<2, p, q>(v));
    CHECK(all == (v.grid().rank() == 0 ? a.values : std::vector<double>{}));
  });
}

TEST_CASE("to_rank, broadcast_element: nothing is sent that everybody has") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    using R = dimesh::tensor<double, dimesh::layout<plane>, p>;
    using S = dimesh::tensor<double, dimesh::layout<plane, dimesh::split<dimesh::uneven<p>, x>>, p>;
    const auto check = [&g](const auto& v, bool silent) {
      for (const int root : {0, g.ranks() - 1}) {
        census::reset();
        const std::vector<double> all = dimesh::to_rank(v, root);
        CHECK((census::snapshot().calls() == 0) == silent);
        CHECK(all.size() == (g.rank() == root ? 5u : 0u));
      }
      census::reset();
      CHECK(dimesh::broadcast_element(v, {4}) == 2);
      CHECK((census::snapshot().calls() == 0) == silent);
    };
    check(dimesh::constant<R>(g, 2, p{5}), true);
    check(dimesh::constant<S>(g, 2, p{5}), g.size<x>() == 1);
  });
}

TEST_CASE("from_rank: the tensor whose gather it is") {
  for_each_case<plane, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    using X = decltype(v);
    const int root = v.grid().ranks() - 1;
    const bool here = v.grid().rank() == root;
    const X y =
        dimesh::from_rank<X>(v.grid(), here ? a.values : std::vector<double>{}, root, v.shape());
    CHECK(agrees(y, a));
    CHECK(dimesh::to_rank(y, root) == (here ? a.values : std::vector<double>{}));
  });
}

TEST_CASE("broadcast_element: one element, everywhere; an index outside is refused") {
  for_each_case<plane, unevenly_with_partial, p, q>(
      {{4, 6}, {5, 3}, {1, 7}}, [](auto v, const array& a) {
        for_each_index(a.size, [&](const extents& i) {
          if ((i[0] + i[1]) % 3 == 0)
            CHECK(dimesh::broadcast_element(v, {i[0], i[1]}) == value_at(a, a.dims, i));
        });
        CHECK_THROWS_AS(dimesh::broadcast_element(v, {a.size[0], 0}), dimesh::error);
        CHECK_THROWS_AS(dimesh::broadcast_element(v, {0, -1}), dimesh::error);
      });
}

TEST_CASE("a tensor without dims, and other element types") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    using P = dimesh::layout<plane, dimesh::partial<x>>;
    const array one = numbers({}, {}, 1);
    const auto s = scattered<dimesh::tensor<double, P>>(g, one);
    CHECK(dimesh::to_rank(s) == (g.rank() == 0 ? one.values : std::vector<double>{}));
    CHECK(dimesh::broadcast_element(s, std::array<index_t, 0>{}) == one.values[0]);

    using B = dimesh::tensor<bool, dimesh::layout<plane, dimesh::split<dimesh::uneven<p>, y>>, p>;
    const std::vector<bool> bits{true, false, false, true, true};
    const B b = dimesh::from_rank<B>(g, bits, p{5});
    CHECK(dimesh::to_rank(b) == (g.rank() == 0 ? bits : std::vector<bool>{}));
    CHECK(dimesh::broadcast_element(b, {3}));
    CHECK_FALSE(dimesh::broadcast_element(b, {1}));

    // a vector of bool has no array of them, and a tensor is made of it all the same
    CHECK(dimesh::to_rank(dimesh::from_array<B>(g, bits, p{5})) == dimesh::to_rank(b));
    using W = dimesh::tensor<bool, dimesh::layout<plane>, p>;
    const auto whole = dimesh::from_blocks<W>(g, bits, p{5});
    CHECK(dimesh::to_rank(whole) == dimesh::to_rank(b));
    auto other = dimesh::zeros_like(whole);
    auto filled = dimesh::zeros_like(b);
    dimesh::fill_block(other, bits);
    CHECK(dimesh::to_rank(other) == dimesh::to_rank(b));
    dimesh::fill_from(filled, bits);
    CHECK(dimesh::to_rank(filled) == dimesh::to_rank(b));
    CHECK_THROWS_AS(dimesh::fill_from(filled, std::vector<bool>(4)), dimesh::error);
  });
}

TEST_CASE("start_to_rank: what to_rank gives, several at once, awaited in any order, or dropped") {
  for_each_case<plane, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    const int last = v.grid().ranks() - 1;
    auto first = dimesh::start_to_rank(v);
    auto second = dimesh::start_to_rank(v, last);
    { const auto unwanted = dimesh::start_to_rank(v); }
    const auto other = dimesh::to_rank(v, last);
    const std::vector<double> two = await(std::move(second)), one = await(std::move(first));
    CHECK(two == other);
    CHECK(one == (v.grid().rank() == 0 ? a.values : std::vector<double>{}));
    CHECK_FALSE(first.holds());
    CHECK_THROWS_WITH_AS((void)await(std::move(first)),
                         doctest::Contains("there is no move in this handle"), dimesh::error);
  });
}

TEST_CASE("start_to_rank: what is packed may change; ready() says when it is there") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    using S = dimesh::tensor<double, dimesh::layout<plane, dimesh::split<dimesh::uneven<p>, x>>, p>;
    S v = dimesh::constant<S>(g, 2, p{5});
    auto coming = dimesh::start_to_rank(v);
    v = dimesh::constant<S>(g, 3, p{5});
    while (!coming.ready()) {}
    const auto all = await(std::move(coming));
    CHECK(all == (g.rank() == 0 ? std::vector<double>(5, 2) : std::vector<double>{}));
  });
}

TEST_CASE(
    "start_to_rank: whole rows come from where they lie; what is written meanwhile does not") {
  const dimesh::grid<line> g;
  using L = dimesh::layout<line, dimesh::split<p, x>>;
  auto v = dimesh::constant<dimesh::tensor<double, L, p, q>>(g, 2, p{2 * g.ranks()}, q{15001});
  const int root = g.ranks() - 1;
  const auto everywhere = [&](double value) {
    return std::vector<double>(g.rank() == root ? std::size_t(v.shape().size()) : 0, value);
  };
  auto& memory = dimesh::detail::pool::instance();
  memory.restart_peak();
  const index_t before = memory.figures().live;
  auto coming = dimesh::start_to_rank(v, root);
  CHECK((memory.figures().peak == before || !dimesh::detail::vectors_are_near()));
  dimesh::fill(v, 3.0);
  CHECK(await(std::move(coming)) == everywhere(2.0));
  CHECK(dimesh::to_rank(v, root) == everywhere(3.0));
}

TEST_CASE("from_rank of too few values is refused on every rank; so is a rank that is none") {
  const dimesh::grid<line> g;
  using X = dimesh::tensor<double, dimesh::layout<line>, p>;
  const int root = g.ranks() - 1;
  const std::vector<double> few(g.rank() == root ? 2 : 3);
  CHECK_THROWS_WITH_AS((void)dimesh::from_rank<X>(g, few, root, p{3}),
                       doctest::Contains("from_rank: 2 values on rank"), dimesh::error);
  CHECK_THROWS_WITH_AS((void)dimesh::from_rank<X>(g, few, g.ranks(), p{3}),
                       doctest::Contains("from_rank: the grid has ranks 0.."), dimesh::error);
  const X v = dimesh::constant<X>(g, 1, p{3});
  CHECK_THROWS_AS((void)dimesh::to_rank(v, -1), dimesh::error);
  CHECK_THROWS_AS((void)dimesh::start_to_rank(v, g.ranks()), dimesh::error);
}

}  // namespace
