// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6 8
// labels: sanitize device
#include "dimesh/op/relayout.hpp"

#include <doctest/doctest.h>

#include "support/movement.hpp"

namespace {
using namespace test_support;
using dimesh::spec_of;
using dimesh::uneven;

/// Extents that axes divide and do not, none, one, and fewer than ranks.
const std::vector<extents> sizes = {{4, 6}, {5, 3}, {0, 2}, {1, 7}};

/// Elements of this rank's new block that it lacks.
template <class Y, class X> index_t lacking(const X& x) {
  const auto where = dimesh::detail::placement_of(x);
  const auto had = where.own(spec_of<X>::table), wanted = where.own(spec_of<Y>::table);
  return wanted.size() - intersection(had, wanted).size();
}

// Samples of all layouts, where all pairs would be too many.
constexpr layout_choice cube_from{.uneven = true, .stride = 7, .first = 1};
constexpr layout_choice cube_to{.uneven = true, .stride = 6, .first = 2};
constexpr layout_choice rank3_some{.partial = true, .uneven = true, .stride = 3};
constexpr layout_choice rank3_few{.uneven = true, .stride = 4};
constexpr layout_choice adjoint_from{.partial = true, .uneven = true, .stride = 2};
constexpr layout_choice adjoint_to{.uneven = true, .stride = 3, .first = 1};
constexpr layout_choice exchange_from{.uneven = true, .stride = 2};
constexpr layout_choice exchange_to{.uneven = true, .stride = 3};

TEST_CASE("relayout: from any layout to any other, block contents and all; and back") {
  for_each_case<plane, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    using X = std::remove_cvref_t<decltype(v)>;
    for_each_layout<plane, dimesh::detail::list<p, q>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("to ", std::string(dimesh::detail::spelled<L>()));
      const auto y = dimesh::relayout<L>(v);
      CHECK(agrees(y, a));
      if constexpr (!spec_of<X>::table.any_partial())
        CHECK(agrees(dimesh::relayout<typename X::layout_type>(y), a));
    });
  });
}

TEST_CASE("relayout over three axes: single steps where axes do not nest") {
  for_each_case<cube, cube_from, p, q>({{8, 4}, {5, 3}, {9, 1}}, [](auto v, const array& a) {
    for_each_layout<cube, dimesh::detail::list<p, q>, cube_to>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("to ", std::string(dimesh::detail::spelled<L>()));
      CHECK(agrees(dimesh::relayout<L>(v), a));
    });
  });
}

TEST_CASE("relayout of rank-3 tensors, and of one dim") {
  for_each_case<plane, rank3_some, p, q, r>({{2, 3, 4}, {1, 2, 5}}, [](auto v, const array& a) {
    for_each_layout<plane, dimesh::detail::list<p, q, r>, rank3_few>(
        [&](auto t) { CHECK(agrees(dimesh::relayout<typename decltype(t)::type>(v), a)); });
  });
  for_each_case<plane, unevenly, p>({{12}, {5}, {1}, {0}}, [](auto v, const array& a) {
    for_each_layout<plane, dimesh::detail::list<p>, unevenly>(
        [&](auto t) { CHECK(agrees(dimesh::relayout<typename decltype(t)::type>(v), a)); });
  });
}

TEST_CASE("relayout: adjoint and cost") {
  for_each_case<plane, adjoint_from, p, q>({{4, 6}, {5, 3}}, [](auto v, const array& a) {
    using X = std::remove_cvref_t<decltype(v)>;
    for_each_layout<plane, dimesh::detail::list<p, q>, adjoint_to>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("to ", std::string(dimesh::detail::spelled<L>()));
      if constexpr (!std::is_same_v<typename X::layout_type, L>)
        check_movement([](const auto& u) { return dimesh::relayout<L>(u); }, a, v);
    });
  });
}

TEST_CASE("exchange: any to any in one call, each element where it lacks, and its adjoint") {
  for_each_case<plane, exchange_from, p, q>({{4, 6}, {5, 3}, {0, 2}}, [](auto v, const array& a) {
    using X = std::remove_cvref_t<decltype(v)>;
    for_each_layout<plane, dimesh::detail::list<p, q>, exchange_to>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("to ", std::string(dimesh::detail::spelled<L>()));
      census::reset();
      auto y = dimesh::exchange<L>(v);
      using Y = decltype(y);
      const auto seen = census::snapshot();
      CHECK(agrees(y, a));
      index_t sent = seen.bytes(), lacked = lacking<Y>(v) * static_cast<index_t>(sizeof(double));
      MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      MPI_Allreduce(MPI_IN_PLACE, &lacked, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      CHECK(sent == lacked);
      if constexpr (!std::is_same_v<X, Y>)
        check_movement([](const auto& u) { return dimesh::exchange<L>(u); }, a, v);
    });
  });
}

TEST_CASE("exchange: where copies that a rank packs are more than MPI counts, all ranks know") {
  namespace dd = dimesh::detail;
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    if (g.size<x>() != 2 || g.size<y>() != 2) return;
    using from = dimesh::layout<plane, dimesh::split<uneven<p>, x, y>>;
    using to = dimesh::layout<plane, dimesh::split<uneven<q>, x>>;
    // Blocks without memory: of rank 0 two rows of five, of which three others want a half each.
    const auto plan = [&g](auto t, auto u, index_t columns) -> const dd::exchange_plan& {
      const auto large = [&]<class L>(dd::tag<L>) {
        dd::tensor_core c = dd::core_of(dimesh::tensor<float, L, p, q>(g, p{5}, q{2}));
        c.forget_data();
        c.runs.extents()[1] = columns;
        c.place();
        return c;
      };
      return dd::exchange_plan::of(large(t), large(u), false);
    };
    const dd::tag<from> cut;
    const dd::tag<to> copied;
    const auto& few = plan(cut, copied, 700'000'000);
    CHECK(few.fits());
    if (g.rank() == 0) CHECK(few.had.packed == 2'100'000'000);
    CHECK(!plan(cut, copied, 800'000'000).fits());
  });
}

TEST_CASE("relayout to the own layout is the tensor itself") {
  for_each_case<plane, unevenly_with_partial, p, q>({{5, 3}}, [](auto v, const array&) {
    census::reset();
    const auto y = dimesh::relayout<typename decltype(v)::layout_type>(v);
    CHECK(y.data() == v.data());
    CHECK(census::snapshot().calls() == 0);
  });
}

}  // namespace
