// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a law hold on tensors that live at one place of an axis, and on blocks of any lengths? Every
// layout of a plane that has a place or a ragged dim, or both, beside what the other axis does.
// Layouts are values, so that each operation is compiled once.
//
//   for_each_odd_layout([](const maker& make, const table& t) {   // t: that of a tensor [p, q]
//     const auto v = make.operator()<p, q>(a);   // blocks as the layout of now says
//     CHECK(agrees(f(v), oracle_f(a)));
//     transposes(f, {}, {a}, v);
//   });
#pragma once

#include "dimesh/op/cuts.hpp"
#include "support/adjoint.hpp"

namespace test_support::odd {

using here = dimesh::layout<plane, dimesh::held_at_run_time>;
template <class... D> using T = dimesh::tensor<double, here, D...>;
/// The extents of p and q, if they are ragged.
inline constexpr index_t ps = 5, qs = 4;

/// Tensors under the layout of now; where p or q is ragged, its first rank or its last has nothing.
struct maker {
  const dimesh::grid<plane>& g;
  dimesh::cuts<p> of_p;
  dimesh::cuts<q> of_q;

  explicit maker(const dimesh::grid<plane>& grid)
      : g(grid),
        of_p(dimesh::cuts_by_speed<p>(ps, speeds(true))),
        of_q(dimesh::cuts_by_speed<q>(qs, speeds(false))) {}
  std::vector<double> speeds(bool rising) const {
    std::vector<double> all;
    const auto blocks = static_cast<index_t>(g.everyone().size());
    for (index_t i = 0; i < blocks; ++i)
      all.push_back(static_cast<double>(blocks == 1 ? 1 : rising ? i : blocks - 1 - i));
    return all;
  }
  /// Calls f(cuts...) with those of the dims.
  template <class... D, class F> auto with_cuts(const F& f) const {
    constexpr bool has_p = (std::is_same_v<D, p> || ...), has_q = (std::is_same_v<D, q> || ...);
    if constexpr (has_p && has_q)
      return f(of_p, of_q);
    else if constexpr (has_p)
      return f(of_p);
    else if constexpr (has_q)
      return f(of_q);
    else
      return f();
  }
  template <class... D> T<D...> operator()(const array& a) const {
    return with_cuts<D...>([&](const auto&... cuts) { return scattered<T<D...>>(g, a, cuts...); });
  }
};

inline constexpr layout_choice raggedly{.partial = true, .ragged = true, .places = 2};
inline constexpr layout_choice unevenly_placed{.partial = true, .uneven = true, .places = 2};

inline int layouts_met = 0;

/// Calls f(maker, table of a tensor [p, q]) under every layout with a place or a ragged dim.
template <class F> void for_each_odd_layout(const F& f) {
  for_each_grid<plane>([&](const dimesh::grid<plane>& g) {
    if (g.size<x>() > g.size<y>() || g.size<y>() > 3) return;  // one shape of each number of ranks
    const maker make_here(g);
    const auto under = [&](auto) {
      using S = dimesh::spec_of<T<p, q>>;
      const dimesh::detail::table t = table_now<S>();
      if (t.mask(dimesh::use::placed) == 0 && !t.ragged[0] && !t.ragged[1]) return;
      if (!comes_out_even<S>(g, {ps, qs})) return;
      ++layouts_met;
      f(make_here, t);
    };
    for_each_layout_value<plane, dimesh::detail::list<p, q>, raggedly>(under);
    for_each_layout_value<plane, dimesh::detail::list<p, q>, unevenly_placed>(under);
  });
}

/// The transpose on all ranks, and the cost on the one at the origin, since others may send more.
/// Under every second layout every rank holds whole cotangents, where they may be addends.
template <bool Foreseen = true, class F, class... X>
void transposes(const F& f, const precision& how, const std::vector<array>& a, const X&... x) {
  const operation_report r = run_adjoint(f, layouts_met % 2 == 0 ? ~0u : 0, how.step, a, x...);
  CHECK(std::abs(r.tangent - r.cotangent) <= how.tolerance * std::max(1.0, std::abs(r.tangent)));
  if (!Foreseen || std::get<0>(std::tie(x...)).grid().rank() != 0) return;
  CHECK(r.forward == "");
  CHECK(r.backward == "");
}

}  // namespace test_support::odd
