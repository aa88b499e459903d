// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 130 250 375
// labels: local
// Means of what a mask counts: values against a plain loop under every layout, transposes, and what
// is sent, the number of those that count where it is split, beside what shapes foresee.
#include "dimesh/op/masked_mean.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/compare.hpp"
#include "dimesh/op/stop_gradient.hpp"
#include "dimesh/op/value.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"
#include "support/places.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

/// Row 1 has nothing that counts.
struct counts_at {
  KOKKOS_FUNCTION constexpr index_t operator()(index_t i, index_t k) const {
    return i == 1 ? 0 : (i * 3 + k * 5) % 4 != 0 ? 1 : 0;
  }
};
struct row_counts {
  KOKKOS_FUNCTION constexpr index_t operator()(index_t i) const { return i % 3 != 1 ? 1 : 0; }
};

/// Means over D... by a mask of both dims, or of p alone.
template <class L, class... D> struct mean_by_elements {
  index_t n, m;
  template <class X> auto operator()(const X& x) const {
    return dm::masked_mean<D...>(x, places_beside<L, p, q>(x, counts_at{}, p{n}, q{m}) > 0);
  }
};
template <class L, class... D> struct mean_by_rows {
  index_t n;
  template <class X> auto operator()(const X& x) const {
    return dm::masked_mean<D...>(x, places_beside<L, p>(x, row_counts{}, p{n}) > 0);
  }
};

/// The same by a loop.
template <class F> array mean_of(const array& a, const names& kept, const F& counts) {
  array total = sum(kept, make(a.dims, a.size, [&](const extents& at) {
                      return counts(at) ? value_at(a, a.dims, at) : 0.0;
                    }));
  const array count =
      sum(kept, make(a.dims, a.size, [&](const extents& at) { return counts(at) ? 1.0 : 0.0; }));
  for (std::size_t k = 0; k < total.values.size(); ++k)
    total.values[k] = count.values[k] > 0 ? total.values[k] / count.values[k] : 0;
  return total;
}

TEST_CASE("values, transposes and messages under all layouts") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<p, q>,
                    layout_choice{.uneven = true, .orders = false, .stride = 2}>([&](auto t) {
      using L = typename decltype(t)::type;
      for (const extents& n : {extents{4, 5}, extents{2, 1}, extents{0, 3}}) {
        const array a = reals({"p", "q"}, n, 1);
        const auto x = scattered<dm::tensor<double, L, p, q>>(g, a);
        const auto by_elements = [](const extents& at) { return counts_at{}(at[0], at[1]) > 0; };
        const auto by_rows = [](const extents& at) { return row_counts{}(at[0]) > 0; };
        const mean_by_elements<L> all{n[0], n[1]};
        const mean_by_elements<L, q> rows{n[0], n[1]};
        const mean_by_rows<L> all_by_rows{n[0]};
        CHECK(agrees(all(x), mean_of(a, {}, by_elements), 1e-12));
        CHECK(agrees(rows(x), mean_of(a, {"p"}, by_elements), 1e-12));
        CHECK(agrees(all_by_rows(x), mean_of(a, {}, by_rows), 1e-12));
        if (n[1] != 5) continue;
        check_operation(all, {}, {a}, x);
        check_operation(rows, {}, {a}, x);
        check_operation(all_by_rows, {}, {a}, x);
      }
    });
  });
}

TEST_CASE("what does not count may be no number, and has no gradient") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto v = dm::generate<dm::tensor<double, L, p>>(
      g, [=](index_t i) { return i < 3 ? static_cast<double>(i) : nan; }, p{5});
  const auto f = [](const auto& y) {
    return dm::masked_mean(y, dm::stop_gradient(y) == dm::stop_gradient(y));
  };
  const auto step = dm::value_and_grad(f, v)();
  CHECK(dm::value(dm::complete(step.value)) == doctest::Approx(1));
  const auto rows = v.block(0);
  for (index_t i = 0; i < rows.length; ++i)
    CHECK(on_host(step.gradient)[i] == doctest::Approx(rows.offset + i < 3 ? 1.0 / 3 : 0));
}

}  // namespace
