// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6
// labels: device
// checks: 516 768 768 1020 1272
// The transpose of every collective: all_gather and reduce_scatter are each other's, all_reduce and
// all_to_all their own, own pads with zeros. Seeds whose addends differ, and seeds held whole.
#include "dimesh/op/all_gather.hpp"
#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/all_to_all.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/own.hpp"
#include "dimesh/op/reduce_scatter.hpp"
#include "dimesh/op/whole.hpp"

#include <doctest/doctest.h>

#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::use;

/// The collective that changes what axis A does to x, where there is one.
template <class A, class D> struct change {
  template <class X>
  static constexpr bool fits = [] {
    using S = dm::spec_of<X>;
    constexpr auto now = S::table.axis[dm::axis_index<typename S::mesh, A>];
    if (now.what != use::split) return true;
    return now.level + 1 == S::table.split_count(now.dim);
  }();
  template <class X> auto operator()(const X& x) const {
    using S = dm::spec_of<X>;
    constexpr auto now = S::table.axis[dm::axis_index<typename S::mesh, A>];
    if constexpr (now.what == use::partial)
      return dm::reduce_scatter<dm::uneven<D>, A>(x);
    else if constexpr (now.what == use::replicated)
      return dm::own<dm::uneven<D>, A>(x);
    else if constexpr (std::is_same_v<dm::detail::type_at<now.dim, typename S::dims>, D>)
      return dm::all_gather<A>(x);
    else
      return dm::all_to_all<dm::detail::type_at<now.dim, typename S::dims>, dm::uneven<D>, A>(x);
  }
};

template <class A, class D, class X> void check_change(const X& x, const array& a) {
  if constexpr (change<A, D>::template fits<X>) check_operation(change<A, D>{}, {}, {a}, x);
}

const std::vector<extents> sizes = {{5, 4}, {1, 9}, {6, 12}, {0, 3}};

TEST_CASE("collectives on a line: every change, every layout") {
  for_each_case<line, unevenly_with_partial, p, q>(sizes, [](const auto& v, const array& a) {
    check_change<x, p>(v, a);
    check_change<x, q>(v, a);
    check_operation([](const auto& w) { return dm::complete(w); }, {}, {a}, v);
    check_operation([](const auto& w) { return dm::whole<p>(w); }, {}, {a}, v);
  });
}

constexpr layout_choice sample{.partial = true, .uneven = true, .stride = 3, .first = 2};

TEST_CASE("collectives on a plane: a sample of layouts") {
  for_each_case<plane, sample, p, q>(sizes, [](const auto& v, const array& a) {
    check_change<x, p>(v, a);
    check_change<y, q>(v, a);
  });
}

TEST_CASE("sums over several axes, and whole dims split over both") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for (const extents& size : sizes) {
      const array a = numbers({"p", "q"}, size, 3);
      using P = dm::tensor<double, dm::layout<plane, dm::partial<x>, dm::partial<y>>, p, q>;
      check_operation([](const auto& w) { return dm::complete(w); }, {}, {a}, scattered<P>(g, a));
      check_operation([](const auto& w) { return dm::all_reduce<y>(w); }, {}, {a},
                      scattered<P>(g, a));
      using S = dm::tensor<double, dm::layout<plane, dm::split<dm::uneven<q>, y, x>>, p, q>;
      check_operation([](const auto& w) { return dm::whole<q>(w); }, {}, {a}, scattered<S>(g, a));
    }
  });
}

}  // namespace
