// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relayout from every layout of a line and of a plane to others, targets that keep addends along
// some axes among them: contents, the transpose, of cotangents that are addends and that all ranks
// hold whole, and the costs there and back. Both layouts are values, so that all pairs are compiled
// once.
// ranks: 1 2 3 4
// checks: 2786 5754 5754 8666
#include "dimesh/op/relayout.hpp"

#include <doctest/doctest.h>

#include "dimesh/op/cuts.hpp"
#include "support/movement.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

struct to_layout_of_now {
  template <class X> auto operator()(const X& v) const {
    return dm::relayout<dm::layout<typename X::mesh_type, dm::at_run_time>>(v);
  }
};

/// From every layout of one choice to every one of another that adds up along no further axis. The
/// first of the ranks that share a ragged dim has nothing.
template <class M, layout_choice From, layout_choice To> void check_pairs(const extents& n) {
  using T = dm::tensor<double, dm::layout<M, dm::held_at_run_time>, p, q>;
  using S = dm::spec_of<T>;
  const array a = numbers({"p", "q"}, n, 1);
  for_each_grid<M>([&](const dm::grid<M>& g) {
    std::vector<double> speeds;
    for (index_t i = 0; i < static_cast<index_t>(g.everyone().size()); ++i)
      speeds.push_back(static_cast<double>(g.everyone().size() == 1 ? 1 : i));
    const auto of_p = dm::cuts_by_speed<p>(n[0], speeds);
    const auto of_q = dm::cuts_by_speed<q>(n[1], speeds);
    for_each_layout_value<M, dd::list<p, q>, From>([&](auto) {
      if (!comes_out_even<S>(g, n)) return;
      const unsigned addends = table_now<S>().mask(dm::use::partial);
      const T v = scattered<T>(g, a, of_p, of_q);
      for_each_layout_value<M, dd::list<p, q>, To>([&](auto) {
        if (!comes_out_even<S>(g, n)) return;
        if ((table_now<S>().mask(dm::use::partial) & ~addends) != 0) return;
        CHECK(agrees(to_layout_of_now{}(v), a));
        for (const unsigned once : {0u, ~0u}) {
          const operation_report r = run_adjoint(to_layout_of_now{}, once, 1, {a}, v);
          CHECK(r.tangent == r.cotangent);
          if (g.rank() != 0) continue;
          CHECK(r.forward == "");
          CHECK(r.backward == "");
        }
      });
    });
  });
}

constexpr layout_choice anything{.partial = true, .uneven = true, .places = 2};
constexpr layout_choice ragged{.partial = true, .ragged = true};
constexpr layout_choice every(int stride, layout_choice c) {
  c.stride = stride;
  return c;
}

TEST_CASE("on a line: addends, places, even blocks and such as follow from arithmetic") {
  check_pairs<line, anything, anything>({5, 3});
  check_pairs<line, with_partial, with_partial>({12, 24});
}
TEST_CASE("on a line: blocks of any lengths") {
  check_pairs<line, ragged, anything>({5, 3});
  check_pairs<line, anything, ragged>({5, 3});
}
TEST_CASE("on a plane: addends, places, uneven blocks") {
  check_pairs<plane, anything, every(5, anything)>({5, 3});
}
TEST_CASE("on a plane: even blocks, and such of any lengths") {
  check_pairs<plane, with_partial, every(2, with_partial)>({12, 12});
  check_pairs<plane, ragged, every(2, ragged)>({5, 3});
}

}  // namespace
