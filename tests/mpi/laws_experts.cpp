// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 3357 6714 10071
// compiler: clang
// Under every layout that their rules allow: tokens into slots and back, who goes where; tensors
// that annotations move; extents that are compared. Values, transposes, bytes as foreseen.
#include <doctest/doctest.h>

#include "dimesh/nn/moe/route.hpp"
#include "dimesh/op/extents_all_reduce.hpp"
#include "dimesh/op/shard_along.hpp"
#include "support/adjoint.hpp"
#include "support/places.hpp"
#include "support/routes.hpp"

namespace {
using namespace test_support;
using namespace test_support::moe;
namespace dd = dimesh::detail;

struct choice : dm::dim<2> {};
struct every : dm::dim<> {};
struct slot : dm::dim<> {};
constexpr index_t experts = 3, slots = 2;

#ifdef DIMESH_CHECKED
[[maybe_unused]] const bool as_in_plain_builds = (dd::checks_places = false);
#endif
/// -1 .. 6, where slots end at 5; some are taken twice, which only their sums tell.
std::int32_t place_of(index_t i, index_t t, index_t k) {
  return static_cast<std::int32_t>((5 * i + 3 * t + k) % 8 - 1);
}
/// How often choice k of token t of group i is in slot c of expert e.
array one_hot(const extents& n) {
  return make({"p", "q", "choice", "r", "slot"}, {n[0], n[1], 2, experts, slots},
              [](const extents& at) {
                return place_of(at[0], at[1], at[2]) == at[3] * slots + at[4] ? 1. : 0.;
              });
}
/// The places of tokens, beside tensors that some axis may hold in parts.
template <class L, class X> auto places_for(const X& v, const extents& n) {
  return places_beside<L, p, q, choice>(v, place_of, p{n[0]}, q{n[1]}, choice{});
}

TEST_CASE("tokens in slots and back, whatever splits groups and models") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_all_layouts<plane, dd::list<p, s>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      for (const extents& n : {extents{4, 3, 5}, extents{3, 2, 1}, extents{0, 2, 4}}) {
        const array a = numbers({"p", "q", "s"}, n, 1),
                    b = numbers({"r", "p", "slot", "s"}, {experts, n[0], slots, n[2]}, 2),
                    w = numbers({"p", "q", "choice"}, {n[0], n[1], 2}, 3);
        const auto in = scattered<dm::tensor<double, L, p, q, s>>(g, a);
        const auto held = scattered<dm::tensor<double, L, r, p, slot, s>>(g, b);
        const auto gates = scattered<dm::tensor<double, L, p, q, choice>>(g, w);
        const auto there = [&](const auto& i) {
          return dm::nn::to_slots<q, choice, r, slot>(i, places_for<L>(i, n), r{experts},
                                                      slot{slots});
        };
        const auto back = [&](const auto& i, const auto& j) {
          return dm::nn::from_slots<q, choice, r, slot>(i, j, places_for<L>(i, n));
        };
        CHECK(agrees(there(in), einsum({"r", "p", "slot", "s"}, {one_hot(n), a})));
        CHECK(agrees(back(held, gates), einsum({"p", "q", "s"}, {one_hot(n), w, b})));
        check_operation(there, {}, {a}, in);
        check_operation(back, {}, {b, w}, held, gates);
      }
    });
  });
}

template <class R> void check_routed(const R& got, const routes& want) {
  CHECK(agrees(got.chosen, want.chosen));
  CHECK(agrees(got.slots, want.slots));
  CHECK(agrees(got.gates, want.gates));
}

TEST_CASE("routes, whatever splits the groups: those of one rank, and the weights' gradient") {
  const nn::gating how{
      .capacity_factor = 0.5, .later = nn::later_choices::random_freeing, .key = dm::random_key{4}};
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for_all_layouts<plane, dd::list<p>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      for (const extents& n : {extents{5, 6, 3}, extents{2, 1, 2}, extents{0, 3, 2}}) {
        const array a = scores(n[0], n[1], n[2], 3);
        const array all = make({"p", "q"}, {n[0], n[1]}, [](const extents&) { return 1.; });
        const auto v = scattered<dm::tensor<double, L, p, q, r>>(g, a);
        check_routed(nn::route<q, r, choice>(how, v), one_by_one(how, a, all, 2, "choice"));
        const array other = scores(n[0], n[1], n[2], 7);
        const array some = make({"p", "q"}, {n[0], n[1]},
                                [](const extents& at) { return (at[0] + at[1]) % 3 ? 1. : 0.; });
        const auto mask = scattered<dm::tensor<double, L, p, q>>(g, some);
        check_routed(nn::route_by<q, r, choice>(
                         how, v, scattered<dm::tensor<double, L, p, q, r>>(g, other), mask),
                     one_by_one(how, a, some, 2, "choice", other));
        check_routed(nn::expert_choice<q, r, every>(how, v, mask),
                     chosen_by_experts(how, a, some, "every"));
        const array b = reals(a.dims, a.size, 2);  // no two alike
        check_operation([&](const auto& i) { return nn::route<q, r, choice>(how, i * i).gates; },
                        precision{1e-5, 1e-6}, {b},
                        scattered<dm::tensor<double, L, p, q, r>>(g, b));
      }
    });
  });
}

const std::vector<extents> sizes = {{4, 6}, {5, 3}, {0, 2}};

/// y has the values of v, and in its layout `split` says how often p and q are split.
template <class F, class X> void check_moved(const F& f, const X& v, const array& a, int p_split) {
  const auto moved = f(v);
  CHECK(agrees(moved, a));
  const dd::table now = dd::core_of(moved).layout();
  CHECK(now.split_count(0) == p_split);
  CHECK(!now.any_partial());
  check_operation(f, {}, {a}, v);
}

TEST_CASE("annotations on tensors of every layout: split, whole, along one axis") {
  for_all_cases<plane, unevenly_with_partial, p, q>(sizes, [](auto all, const array& a) {
    where<[](const auto& t) { return t.axis[1].what != dm::use::split || t.axis[1].dim == 0; }>(
        all, [&](const auto& v) {
          check_moved([](const auto& i) { return dm::shard<dm::split<dm::uneven<p>, y>>(i); }, v, a,
                      1);
        });
    check_moved([](const auto& i) { return dm::shard_along<dm::uneven<p>, x>(i); }, all, a, 1);
    check_moved([](const auto& i) { return dm::replicate<p>(i); }, all, a, 0);
    check_moved([](const auto& i) { return dm::replicate(i); }, all, a, 0);
  });
}

TEST_CASE("extents that are compared change nothing, and cost what is foreseen") {
  for_all_cases<plane, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    const auto f = [](const auto& i) { return dm::extents_all_reduce(i, i); };
    CHECK(agrees(f(v), a));
    check_operation(f, {}, {a}, v);
    CHECK(costs_as_foreseen(f, v));
  });
}

}  // namespace
