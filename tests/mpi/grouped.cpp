// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: local sanitize
// Rows in groups, each times a matrix of its own, in every layout: values and transposes beside a
// product with the rows of a unit matrix, no communication; and lengths that do not fit.
#include "dimesh/op/grouped_einsum.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/rename.hpp"
#include "dimesh/op/value.hpp"
#include "support/adjoint.hpp"
#include "support/places.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

/// How many rows each of five groups has; the first groups and the last one may be empty.
struct cut_table {
  index_t at[5];
  index_t rows() const { return at[0] + at[1] + at[2] + at[3] + at[4]; }
  KOKKOS_INLINE_FUNCTION index_t operator()(index_t g) const { return at[g]; }
  index_t group_of(index_t row) const {
    index_t g = 0;
    for (index_t end = at[0]; row >= end; end += at[++g]) {}
    return g;
  }
};
constexpr cut_table tables[] = {{{2, 1, 0, 3, 1}}, {{0, 0, 7, 0, 0}}, {{0, 1, 0, 1, 4}},
                                {{5, 0, 0, 0, 0}}, {{0, 0, 0, 0, 0}}, {{0, 0, 0, 0, 1}}};

/// which[row, group] = 1 where the row belongs to the group.
array which(const cut_table& t) {
  return make({"p", "s"}, {t.rows(), 5},
              [&](const extents& at) { return t.group_of(at[0]) == at[1] ? 1.0 : 0.0; });
}

/// y[p, r] from x[p, q] and w[s, q, r], lengths under layout L.
template <class L> struct grouped {
  cut_table lengths;
  template <class X, class W> auto operator()(const X& v, const W& w) const {
    return dm::grouped_einsum<p, s, p, r>(v, w, places_beside<L, s>(v, lengths, s{5}));
  }
};

template <class L, class Grid> void check_whole_groups(const Grid& g, const cut_table& t) {
  const array a = numbers({"p", "q"}, {t.rows(), 3}, 1), b = numbers({"s", "q", "r"}, {5, 3, 4}, 2);
  const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
  const auto w = scattered<dm::tensor<double, L, s, q, r>>(g, b);
  const grouped<dm::layout<typename L::mesh>> f{t};
  CHECK(agrees(f(v, w), einsum({"p", "r"}, {a, which(t), b})));
  check_operation(f, {}, {a, b}, v, w);
}

TEST_CASE("groups that all ranks have, in the layouts of a plane") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<p, q, r>,
                    layout_choice{.uneven = true, .orders = false}>([&](auto l) {
      for (const cut_table& t : tables) check_whole_groups<typename decltype(l)::type>(g, t);
    });
  });
}

TEST_CASE("groups that are split as their rows are") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<s, q, r>, layout_choice{.uneven = true}>([&](auto l) {
      using L = typename decltype(l)::type;
      const array b = numbers({"s", "q", "r"}, {5, 3, 4}, 2);
      const auto w = scattered<dm::tensor<double, L, s, q, r>>(g, b);
      const cut_table one{{1, 1, 1, 1, 1}};
      const array a = numbers({"p", "q"}, {5, 3}, 1);
      using X = decltype(dm::rename<s, p>(std::declval<dm::tensor<double, L, s, q>>()));
      const auto v = scattered<X>(g, a);
      using Lengths = typename dm::tensor<int, L, s>::layout_type;
      CHECK(agrees(grouped<Lengths>{one}(v, w), einsum({"p", "r"}, {a, which(one), b})));
      check_operation(grouped<Lengths>{one}, {}, {a, b}, v, w);
    });
  });
}

TEST_CASE("lengths within a rank's rows differ where groups are split") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<p, x>>;
    using W = dm::tensor<double, dm::layout<line, dm::split<s, x>>, r, s, q>;
    const auto length = [](index_t e) { return index_t{e % 4 == 1 || e % 4 == 2 ? 2 : 0}; };
    const array a = numbers({"q", "p"}, {3, 8}, 1), b = numbers({"r", "s", "q"}, {4, 8, 3}, 2);
    const auto v = scattered<dm::tensor<double, L, q, p>>(g, a);
    const auto w = scattered<W>(g, b);
    const auto f = [&](const auto& i, const auto& j) {
      return dm::grouped_einsum<p, s, r, p>(
          i, j, places_beside<dm::layout<line, dm::split<s, x>>, s>(i, length, s{8}));
    };
    const array owner = make({"p", "s"}, {8, 8}, [](const extents& at) {
      return at[1] % 4 % 3 != 0 && at[0] / 2 == at[1] / 4 * 2 + at[1] % 4 - 1 ? 1.0 : 0.0;
    });
    CHECK(agrees(f(v, w), einsum({"r", "p"}, {a, owner, b})));
    check_operation(f, {}, {a, b}, v, w);
  });
}

TEST_CASE("addends on one side, other dims between, float and bfloat16") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const cut_table t{{3, 0, 1, 2, 0}};
    const array a = numbers({"q", "p"}, {3, 6}, 1), b = numbers({"r", "s", "q"}, {4, 5, 3}, 2);
    const array want = einsum({"r", "p"}, {a, which(t), b});
    using L = dm::layout<line>;
    const auto v = scattered<dm::tensor<double, dm::layout<line, dm::partial<x>>, q, p>>(g, a);
    const auto w = scattered<dm::tensor<double, L, r, s, q>>(g, b);
    const auto f = [&](const auto& i, const auto& j) {
      return dm::grouped_einsum<p, s, r, p>(i, j, places_beside<L, s>(i, t, s{5}));
    };
    CHECK(agrees(f(v, w), want));
    check_operation(f, {}, {a, b}, v, w);
    const auto narrow = f(scattered<dm::tensor<float, L, q, p>>(g, a),
                          scattered<dm::tensor<float, L, r, s, q>>(g, b));
    CHECK(agrees(narrow, want));
    const auto rounded = f(scattered<dm::tensor<dm::bfloat16, L, q, p>>(g, a),
                           scattered<dm::tensor<dm::bfloat16, L, r, s, q>>(g, b));
    CHECK(agrees(rounded, want));
  });
}

TEST_CASE("nothing but the groups is summed, and everything is") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const cut_table t{{0, 2, 0, 1, 3}};
    const array a = numbers({"p", "q"}, {6, 3}, 1), b = numbers({"s", "q"}, {5, 3}, 2);
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
    const auto w = scattered<dm::tensor<double, dm::layout<line>, s, q>>(g, b);
    const auto lengths = [&](const auto& i) {
      return places_beside<dm::layout<line>, s>(i, t, s{5});
    };
    const auto dot = [&](const auto& i, const auto& j) {
      return dm::grouped_einsum<p, s, p>(i, j, lengths(i));
    };
    const auto scale = [&](const auto& i, const auto& j) {
      return dm::grouped_einsum<p, s, q, p>(i, j, lengths(i));
    };
    CHECK(agrees(dot(v, w), einsum({"p"}, {a, which(t), b})));
    CHECK(agrees(scale(v, w), einsum({"q", "p"}, {a, which(t), b})));
    check_operation(dot, {}, {a, b}, v, w);
    check_operation(scale, {}, {a, b}, v, w);
  });
}

TEST_CASE("a gradient of a gradient") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const cut_table t{{2, 0, 1, 0, 1}};
    const array a = numbers({"p", "q"}, {4, 3}, 1), b = numbers({"s", "q", "r"}, {5, 3, 2}, 2);
    using X = dm::tensor<double, dm::layout<line, dm::split<dm::uneven<p>, x>>, p, q>;
    const auto w = scattered<dm::tensor<double, dm::layout<line>, s, q, r>>(g, b);
    // The squared norm of the gradient of |x . w|^2: of second order in x.
    const auto slope = [&](const auto& v) {
      const auto inner = [&](const auto& u) {
        const auto y = grouped<dm::layout<line>>{t}(u, w);
        return dm::complete(dm::sum(y * y));
      };
      const auto bar = dm::value_and_grad(inner, v)().gradient;
      return dm::complete(dm::sum(bar * bar));
    };
    const array d = numbers({"p", "q"}, {4, 3}, 3);
    const auto at = [&](double h) {
      return dm::value(slope(scattered<X>(g, detail::moved(a, d, h))));
    };
    const auto bar = dm::value_and_grad(slope, scattered<X>(g, a))().gradient;
    const double along = dm::value(dm::complete(dm::sum(bar * scattered<X>(g, d))));
    CHECK(along == (at(1) - at(-1)) / 2);
  });
}

TEST_CASE("lengths that do not fit the rows") {
  const dm::grid<line> g(MPI_COMM_SELF, x{1});
  const auto v = dm::zeros<dm::tensor<double, dm::layout<line>, p, q>>(g, p{6}, q{3});
  const auto w = dm::zeros<dm::tensor<double, dm::layout<line>, s, q, r>>(g, s{5}, q{3}, r{2});
  CHECK_THROWS_WITH_AS(
      (void)grouped<dm::layout<line>>({{1, 2, 3, 1, 0}})(v, w),
      "grouped_einsum: the lengths of the groups add up to 7 rows, and dim 'p' has 6; every row "
      "belongs to a group",
      dm::error);
  CHECK_THROWS_WITH_AS((void)grouped<dm::layout<line>>({{1, 2, 3, -1, 1}})(v, w),
                       "grouped_einsum: group 3 of dim 's' has length -1; lengths are not negative",
                       dm::error);
}

}  // namespace
