// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/spec.hpp"

#include <doctest/doctest.h>

using namespace dimesh;
namespace {

struct batch : dim<8> {};
struct hidden : dim<12> {};
struct label : dim<10> {};
struct length : dim<> {};
struct rows : axis<2> {};
struct cols : axis<3> {};
struct pod : mesh<rows, cols> {};

template <class A, class B> constexpr bool same = std::is_same_v<A, B>;

using program = layout<pod, split<hidden, cols>, split<batch, rows>>;
using S = detail::make_spec<float, program, batch, hidden>;
static_assert(
    same<S, spec<float, layout<pod, split<batch, rows>, split<hidden, cols>>, batch, hidden>>);
static_assert(S::rank == 2 && same<S::mesh, pod> && same<S::value_type, float>);
static_assert(same<S::shape_type, shape<batch, hidden>>);
static_assert(S::table.axes == 2);
static_assert(S::table.axis[0] == detail::axis_use{use::split, 0, 0});
static_assert(S::table.axis[1] == detail::axis_use{use::split, 1, 0});

// Layouts that say the same give one spec; the order of the dims is part of a spec.
static_assert(
    same<detail::make_spec<float,
                           layout<pod, split<batch, rows>, split<hidden, cols>, split<label, rows>>,
                           batch, hidden>,
         S>);
static_assert(!same<detail::make_spec<float, program, hidden, batch>, S>);
static_assert(!same<detail::make_spec<double, program, batch, hidden>, S>);

static_assert(is_split<S, batch> && is_split<S, hidden> && !is_split<S, label>);
static_assert(use_of<S, rows> == use::split);
using P = detail::make_spec<float, layout<pod, partial<cols>>, batch>;
static_assert(use_of<P, rows> == use::replicated && use_of<P, cols> == use::partial &&
              !is_split<P, batch>);

static_assert(same<detail::with_value<S, int>, spec<int, S::layout, batch, hidden>>);
static_assert(same<detail::cotangent_spec<P>, spec<float, layout<pod, partial<rows>>, batch>>);
static_assert(same<detail::cotangent_spec<S>, S>);

// Tables over the dims of a whole operation, and back to a spec.
using all = detail::list<label, hidden, batch>;
template <class Spec>
constexpr detail::table over_all = detail::table_over_dims(
    Spec::table, detail::dims_in<typename Spec::dims>, detail::dims_in<all>);
static_assert(over_all<S>.axis[0] == detail::axis_use{use::split, 2, 0});
static_assert(over_all<S>.axis[1] == detail::axis_use{use::split, 1, 0});
using U =
    detail::make_spec<float, layout<pod, split<uneven<label>, cols>, split<halo<batch, 2>, rows>>,
                      label, batch>;
static_assert(over_all<U>.uneven[0] && !over_all<U>.uneven[2]);
static_assert(over_all<U>.halo[2] == detail::halo_widths(2, 2) && !over_all<U>.halo[1].any());

template <class Spec> struct table_of {
  static constexpr detail::table result = Spec::table;
};
static_assert(same<detail::spec_of_table<float, pod, S::dims, table_of<S>>, S>);
static_assert(same<detail::spec_of_table<float, pod, U::dims, table_of<U>>, U>);
static_assert(same<detail::spec_of_table<float, pod, P::dims, table_of<P>>, P>);

// Tables: what rules of operations compute on.
constexpr detail::table both =
    detail::make_spec<float, layout<pod, split<hidden, cols, rows>>, batch, hidden>::table;
static_assert(both.split_count(1) == 2 && both.split_count(0) == 0);
static_assert(both.axis_at(1, 0) == 1 && both.axis_at(1, 1) == 0 && both.axis_at(1, 2) == -1 &&
              both.axis_at(0, 0) == -1);
static_assert(both.mask(use::split) == 0b11 && both.mask(use::partial) == 0 && !both.any_partial());
constexpr detail::table minor_left = [] {
  detail::table t = both;
  t.unsplit(1);  // the major axis goes, the other moves up
  return t;
}();
static_assert(minor_left.axis_at(1, 0) == 0 && minor_left.split_count(1) == 1);
static_assert(!both.splits_alike(1, minor_left) && both.splits_alike(0, minor_left) &&
              both.splits_alike(1, both));
constexpr detail::table reversed =
    detail::make_spec<float, layout<pod, split<hidden, rows, cols>>, batch, hidden>::table;
static_assert(!both.splits_alike(1, reversed));  // the order of the axes counts

TEST_CASE("a table keeps to its dims when it goes over to others") {
  using here = detail::list<batch, hidden>;
  using there = detail::list<label, hidden, length, batch>;
  const detail::table t =
      detail::table_over_dims(both, detail::dims_in<here>, detail::dims_in<there>);
  CHECK(t.split_count(1) == 2);
  CHECK(t.split_count(3) == 0);
  CHECK(t.axis_at(1, 0) == 1);
  const detail::table none =
      detail::table_over_dims(both, detail::dims_in<here>, detail::dims_in<detail::list<batch>>);
  CHECK(none.mask(use::replicated) == 0b11);  // the dim that was split is not there
}

}  // namespace
