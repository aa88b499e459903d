// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dims merged and cut whatever axes split them, evenly or not, beside addends: against whole arrays
// under every layout of the dims there are, into every layout of those that come of them; their
// transposes and costs; that nothing travels but what changes rank. Layouts before are values.
// ranks: 1 2 3 4
// checks: 5456 9808 7480 13120
#include "dimesh/op/merge_exchange.hpp"

#include <doctest/doctest.h>

#include "support/movement.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;
using dd::list;
using dm::split, dm::uneven;

struct two : dm::dim<2> {};
template <class... D> using T = dm::tensor<double, dm::layout<plane, dm::held_at_run_time>, D...>;

template <class To> struct merged {
  template <class X> auto operator()(const X& v) const { return dm::merge_exchange<To, p, q>(v); }
};
template <class... New> struct cut {
  index_t n;  // of p
  template <class X> auto operator()(const X& v) const {
    return dm::cut_exchange<r, New...>(v, p{n});
  }
};

/// The index of the same element of an array that is read over other extents.
extents reread(const extents& index, const extents& from, const extents& to) {
  index_t flat = 0;
  for (std::size_t d = 0; d < from.size(); ++d) flat = flat * from[d] + index[d];
  extents at(to.size());
  for (std::size_t d = to.size(); d-- > 0; flat /= to[d]) at[d] = flat % to[d];
  return at;
}

/// f(v) has the elements of v in order: a becomes `want`.
template <class F, class X> void check(const F& f, const X& v, const array& a, const array& want) {
  census::reset();
  const auto y = f(v);
  const index_t sent = census::snapshot().bytes();
  CHECK(agrees(y, want));
  CHECK(sent ==
        bytes_leaving(v, y, [&](const extents& i) { return reread(i, a.size, want.size); }));
  for (const unsigned once : {0u, ~0u}) {
    const operation_report r = run_adjoint(f, once, 1, {a}, v);
    CHECK(r.tangent == r.cotangent);
    if (v.grid().rank() != 0) continue;
    CHECK(r.forward == "");
    CHECK(r.backward == "");
  }
}

/// Do the axes that New... name split all that these axes split, and, where they say so, evenly?
template <class... New> bool fits(const dm::grid<plane>& g, unsigned axes, const extents& size) {
  constexpr dd::dim_list dims = dd::dims_in<list<dd::new_dim_of<New>...>>;
  constexpr dd::table t = dd::target<dd::layout_of_new<plane, New...>>::of(dims).layout;
  unsigned those = 0;
  for (int d = 0; d < dims.size; ++d) {
    those |= t.axes_of(d);
    const index_t n = size[static_cast<std::size_t>(d)];
    if (!t.uneven[d] && n % dd::ranks_over(t, d, g.state().sizes()) != 0) return false;
  }
  return those == axes;
}

/// Under every layout of a choice: p and q become r, which is split in each way that the axes of
/// the two allow.
template <layout_choice Choice> void check_merges(const std::vector<extents>& sizes) {
  using S = dm::spec_of<T<s, p, q, two>>;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for_each_layout_value<plane, list<s, p, q>, Choice>([&](auto) {
      for (const extents& n : sizes) {
        if (!comes_out_even<S>(g, {n[0], n[1], n[2], 2})) continue;
        const unsigned axes = table_now<S>().axes_of(1) | table_now<S>().axes_of(2);
        const array a = numbers({"s", "p", "q", "two"}, {n[0], n[1], n[2], 2}, 4);
        const array all{{"s", "r", "two"}, {n[0], n[1] * n[2], 2}, a.values};
        const auto v = scattered<T<s, p, q, two>>(g, a);
        for_each_type<r, split<r, x>, split<r, y>, split<r, x, y>, split<r, y, x>,
                      split<uneven<r>, x>, split<uneven<r>, y>, split<uneven<r>, x, y>,
                      split<uneven<r>, y, x>>([&]<class To>(dd::tag<To>) {
          if (fits<To>(g, axes, {n[1] * n[2]})) check(merged<To>{}, v, a, all);
        });
      }
    });
  });
}

TEST_CASE("several dims as one: blocks of any lengths, addends") {
  check_merges<unevenly_with_partial>({{2, 3, 5}, {1, 4, 2}, {3, 1, 4}, {2, 4, 0}});
}
TEST_CASE("several dims as one: even blocks, addends") {
  check_merges<with_partial>({{4, 4, 4}, {3, 3, 6}, {4, 4, 2}});
}

/// The ways in which axes split p and q that r becomes.
template <class P, class Q> struct into {};
template <class P, class Q, class X>
void check_cut(dd::tag<into<P, Q>>, const X& v, unsigned axes, const array& a, const extents& n) {
  if (!fits<P, Q>(v.grid(), axes, {n[1], n[2]})) return;
  check(cut<P, Q>{n[1]}, v, a, {{"s", "p", "q", "two"}, {n[0], n[1], n[2], 2}, a.values});
}

template <layout_choice Choice> void check_cuts(const std::vector<extents>& sizes) {
  using S = dm::spec_of<T<s, r, two>>;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for_each_layout_value<plane, list<s, r>, Choice>([&](auto) {
      for (const extents& n : sizes) {
        if (!comes_out_even<S>(g, {n[0], n[1] * n[2], 2})) continue;
        const array a = numbers({"s", "r", "two"}, {n[0], n[1] * n[2], 2}, 4);
        const auto v = scattered<T<s, r, two>>(g, a);
        const auto to = [&](auto way) { check_cut(way, v, table_now<S>().axes_of(1), a, n); };
        using left = uneven<p>;
        using right = uneven<q>;
        for_each_type<into<p, q>, into<split<p, x>, q>, into<p, split<q, y>>,
                      into<split<p, y, x>, q>, into<p, split<q, x, y>>,
                      into<split<p, x>, split<q, y>>, into<split<left, x>, q>,
                      into<split<left, y>, q>, into<p, split<right, x>>, into<p, split<right, y>>,
                      into<split<left, x, y>, q>, into<split<left, y, x>, q>,
                      into<p, split<right, x, y>>, into<p, split<right, y, x>>,
                      into<split<left, x>, split<right, y>>, into<split<left, y>, split<right, x>>>(
            to);
      }
    });
  });
}

TEST_CASE("one dim as several: blocks of any lengths, addends") {
  check_cuts<unevenly_with_partial>({{2, 3, 5}, {1, 4, 2}, {3, 1, 4}});
}
TEST_CASE("one dim as several: even blocks, addends") {
  check_cuts<with_partial>({{4, 4, 4}, {3, 3, 6}, {4, 4, 2}});
}

}  // namespace
