// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// Who goes where: beside GShard's Algorithm 1, written as one loop over tokens; each option in
// which systems differ; padding; experts that choose tokens; tokens in slots beside products with
// one-hot masks, forward and backward; scores that are no numbers.
#include "dimesh/nn/moe/route.hpp"

#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "dimesh/nn/moe/balance.hpp"
#include "support/adjoint.hpp"
#include "support/places.hpp"
#include "support/routes.hpp"

namespace {
using namespace test_support;
using namespace test_support::moe;

struct choice : dm::dim<2> {};
struct one : dm::dim<1> {};
struct every : dm::dim<> {};
struct slot : dm::dim<> {};
using by_group = dm::layout<line, dm::split<dm::uneven<p>, x>>;  // p: groups, q: tokens, r: experts

using scored = dm::tensor<double, by_group, p, q, r>;
using flagged = dm::tensor<double, by_group, p, q>;

/// Of each group, nobody shares a slot with another one, and there are no more than these.
void check_slots(const array& slots, index_t most) {
  for (index_t g = 0, i = 0; g < slots.size[0]; ++g) {
    std::set<double> taken;
    for (index_t k = 0; k < slots.size[1] * slots.size[2]; ++k, ++i)
      if (const double at = slots.values[static_cast<std::size_t>(i)]; at >= 0) {
        CHECK(at < static_cast<double>(most));
        CHECK(taken.insert(at).second);
      }
  }
}

template <class Choice, class Grid>
void check_route(const Grid& g, const nn::gating& how, const extents& n, index_t choices,
                 const std::string& dim) {
  const array a = scores(n[0], n[1], n[2], 3);
  const array valid = make({"p", "q"}, {n[0], n[1]}, [](const extents& at) {
    return at[1] % 5 == 3 || at[0] == 2 ? 0. : 1.;
  });
  const auto s = scattered<scored>(g, a);
  const auto check = [&](const auto& got, const array& mask) {
    const routes want = one_by_one(how, a, mask, choices, dim);
    CHECK(agrees(got.chosen, want.chosen));
    CHECK(agrees(got.slots, want.slots));
    CHECK(agrees(got.gates, want.gates));
    CHECK(got.capacity == nn::capacity_of(how, choices, n[1], n[2]));
    check_slots(want.slots, n[2] * got.capacity);
  };
  check(nn::route<q, r, Choice>(how, s),
        make({"p", "q"}, {n[0], n[1]}, [](const extents&) { return 1.; }));
  check(nn::route<q, r, Choice>(how, s, scattered<flagged>(g, valid)), valid);
}

TEST_CASE("capacity: one rule, rounded up") {
  CHECK(nn::capacity_of({}, 2, 2048, 128) == 32);  // 2S/E
  CHECK(nn::capacity_of({.capacity_factor = 1.25}, 1, 100, 8) == 16);
  CHECK(nn::capacity_of({.capacity_factor = 1.1}, 1, 10, 1) == 11);  // 11 exactly, not 12
  CHECK(nn::capacity_of({}, 1, 3, 8) == 1);
  static_assert(nn::capacity_of({.capacity_factor = 1.1}, 2, 10, 2) == 11);
  CHECK(nn::capacity_of({.at_least = 4}, 1, 3, 8) == 4);
  CHECK(nn::capacity_of({.at_least = 4, .multiple_of = 4}, 2, 20, 8) == 8);
  // Slots for all.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(nn::capacity_of({.capacity_factor = infinity}, 2, 10, 4) == 10);
  CHECK(nn::capacity_of({.capacity_factor = infinity, .multiple_of = 4}, 2, 10, 4) == 12);
  CHECK(nn::capacity_of({.capacity_factor = infinity}, 2, 0, 4) == 1);
  CHECK(nn::capacity_of({.capacity_factor = 1e300}, 2, 10, 4) == 10);
  CHECK(nn::capacity_of({.capacity_factor = 0x1p60}, 1, 10, 4) == 10);
  CHECK(nn::capacity_of({.capacity_factor = 100}, 1, 10, 4) == 250);
  CHECK_THROWS_WITH_AS(nn::capacity_of({.capacity_factor = 0}, 1, 3, 8),
                       "capacity_of: 8 experts, a factor of 0.000000, at least 1 slots, a multiple "
                       "of 1; all of them are above 0",
                       dm::error);
}

TEST_CASE("routes are those of Algorithm 1, and of each option where systems differ") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for (const extents& n : {extents{4, 12, 4}, extents{5, 9, 3}, extents{1, 7, 2}}) {
      for (const auto gates :
           {nn::renormalise::before_capacity, nn::renormalise::after_drops, nn::renormalise::never})
        for (const auto later : {nn::later_choices::all, nn::later_choices::random_consuming,
                                 nn::later_choices::random_freeing})
          check_route<choice>(g, {.gates = gates, .later = later, .key = dm::random_key{7}}, n, 2,
                              "choice");
      check_route<choice>(g, {.capacity_factor = 0.5, .line = nn::line_order::by_gate}, n, 2,
                          "choice");
      check_route<choice>(g,
                          {.capacity_factor = 0.5,
                           .later = nn::later_choices::random_freeing,
                           .threshold = 0.8,
                           .line = nn::line_order::by_gate,
                           .key = dm::random_key{2}},
                          n, 2, "choice");
      check_route<choice>(g, nn::algorithm_1, n, 2, "choice");
      check_route<one>(g, {.gates = nn::renormalise::never}, n, 1, "one");
    }
    const auto few = scattered<scored>(g, scores(2, 3, 1, 1));
    CHECK_THROWS_WITH_AS((void)(nn::route<q, r, choice>({}, few)),
                         "route: 2 experts for each token, and dim 'r' has 1", dm::error);
  });
}

/// Scores that are of another type than the probabilities.
template <class T> void check_other_scores(const dm::grid<line>& g) {
  const array a = scores(4, 6, 4, 3);
  const array by = make({"p", "q", "r"}, {4, 6, 4}, [](const extents& at) {
    return (at[0] + 2 * at[1] + at[2]) % 3 == 0 ? 1. : 0.;
  });
  const array valid =
      make({"p", "q"}, {4, 6}, [](const extents& at) { return at[1] == 4 ? 0. : 1.; });
  const auto s = scattered<dm::tensor<float, by_group, p, q, r>>(g, a);
  const auto other = dm::cast<T>(scattered<scored>(g, by));
  const auto v = scattered<flagged>(g, valid);
  const auto got = nn::route_by<q, r, choice>({}, s, other, v);
  const routes want = one_by_one({}, a, valid, 2, "choice", by);
  CHECK(agrees(got.chosen, want.chosen));
  CHECK(agrees(got.slots, want.slots));
  CHECK(agrees(got.gates, want.gates, 1e-6));
}

TEST_CASE("experts are chosen by scores of any type") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    check_other_scores<double>(g);
    check_other_scores<bool>(g);
    check_other_scores<int>(g);
    check_other_scores<dm::bfloat16>(g);
    check_other_scores<dm::half>(g);
  });
}

TEST_CASE("a gate of 0, or one that rounds to it, is no dropped token") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto even = scattered<scored>(g, make({"p", "q", "r"}, {3, 4, 4}, [](const extents& at) {
                                          return at[2] == 2 ? 1. : 0.;
                                        }));
    const auto to = nn::route<q, r, choice>(nn::gating{.capacity_factor = 2}, even);
    CHECK(to.capacity == 4);
    CHECK(agrees(to.gates, make({"p", "q", "choice"}, {3, 4, 2},
                                [](const extents& at) { return at[2] == 0 ? 1. : 0.; })));
    // Of equals the first expert: its slots, in the order of tokens.
    CHECK(agrees(to.slots, make({"p", "q", "choice"}, {3, 4, 2}, [](const extents& at) {
                   return static_cast<double>((at[2] == 0 ? 8 : 0) + at[1]);
                 })));
    CHECK(nn::expert_metrics<q, r, choice>(even, to).dropped == 0);
    // 2^-40 of a gate is 0 in half: the token is in its slot.
    const array small = numbers({"p", "q", "s"}, {3, 4, 2}, 1);
    using L = by_group;
    const auto held = nn::to_slots<q, choice, r, slot>(
        scattered<dm::tensor<dm::half, L, p, q, s>>(g, small), to.slots, r{4}, slot{4});
    const auto gates = to.gates + 0x1p-40;
    const auto y = nn::from_slots<q, choice, r, slot>(held, gates, to.slots);
    CHECK(agrees(dm::cast<float>(y), small));
    const auto both = nn::from_slots<q, choice, r, slot>(held, to.gates * 0 + 1, to.slots);
    CHECK(agrees(dm::cast<float>(both), make({"p", "q", "s"}, {3, 4, 2}, [&](const extents& at) {
                   return 2 * value_at(small, small.dims, at);
                 })));
  });
}

TEST_CASE("experts choose: the best tokens of each group, of equals the first") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = scores(3, 8, 4, 9);
    const array valid =
        make({"p", "q"}, {3, 8}, [](const extents& at) { return at[1] == 2 ? 0. : 1.; });
    const auto got = nn::expert_choice<q, r, every>(
        nn::gating{.capacity_factor = 2}, scattered<scored>(g, a), scattered<flagged>(g, valid));
    CHECK(got.capacity == 4);
    const routes want = chosen_by_experts({.capacity_factor = 2}, a, valid, "every");
    CHECK(agrees(got.slots, want.slots));
    CHECK(agrees(got.gates, want.gates));
    CHECK(agrees(got.chosen, want.chosen));
    const auto m = nn::expert_metrics<q, r, every>(scattered<scored>(g, a), got);
    CHECK(agrees(m.load, make({"r"}, {4}, [](const extents&) { return 0.25; })));
    CHECK(m.dropped == 0);
  });
}

TEST_CASE("a score that is no number is the greatest, and its token first in line") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto with = [](double odd) {  // one of every other token
      return make({"p", "q", "r"}, {3, 7, 4}, [&](const extents& at) {
        return at[1] % 2 == 1 && at[2] == (at[0] + at[1]) % 4 ? odd
                                                              : static_cast<double>(7 - at[1]);
      });
    };
    const array all = make({"p", "q"}, {3, 7}, [](const extents&) { return 1.; }),
                large = with(1e30);
    const auto s = scattered<scored>(g, with(std::numeric_limits<double>::quiet_NaN()));
    const auto picked = nn::expert_choice<q, r, every>(nn::gating{.capacity_factor = 2}, s);
    CHECK(
        agrees(picked.slots, chosen_by_experts({.capacity_factor = 2}, large, all, "every").slots));
    for (const auto in_line : {nn::line_order::by_token, nn::line_order::by_gate}) {
      const auto to = nn::route<q, r, choice>({.line = in_line}, s);
      const routes want = one_by_one({.line = nn::line_order::by_gate}, large, all, 2, "choice");
      CHECK(agrees(to.chosen, want.chosen));
      CHECK(agrees(to.slots, want.slots));
      CHECK(agrees(dm::cast<double>(to.gates != to.gates),
                   make({"p", "q", "choice"}, {3, 7, 2},
                        [](const extents& at) { return at[1] % 2 == 1 ? 1. : 0.; })));
    }
  });
}

/// combine[p, q, r, slot]: the gate where a choice has a slot.
array mask_of(const routes& to, index_t experts, index_t capacity, bool weighted) {
  array m = make({"p", "q", "r", "slot"}, {to.slots.size[0], to.slots.size[1], experts, capacity},
                 [](const extents&) { return 0.; });
  for (std::size_t i = 0; i < to.slots.values.size(); ++i)
    if (to.slots.values[i] >= 0) {
      const auto token = static_cast<index_t>(i) / to.slots.size[2];
      m.values[static_cast<std::size_t>(token * experts * capacity +
                                        static_cast<index_t>(to.slots.values[i]))] =
          weighted ? to.gates.values[i] : 1;
    }
  return m;
}

TEST_CASE("tokens in slots: as products with one-hot masks (GSEC), and their transposes") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using L = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<s>, y>>;
    const array a = scores(4, 6, 3, 5), v = numbers({"p", "q", "s"}, {4, 6, 5}, 6);
    const nn::gating how{.capacity_factor = 0.75};
    const array all = make({"p", "q"}, {4, 6}, [](const extents&) { return 1.; });
    const routes want = one_by_one(how, a, all, 2, "choice");
    const auto to = nn::route<q, r, choice>(how, scattered<dm::tensor<double, L, p, q, r>>(g, a));
    const auto there = [&](const auto& i) {
      return nn::to_slots<q, choice, r, slot>(i, to.slots, r{3}, slot{to.capacity});
    };
    const auto tokens = scattered<dm::tensor<double, L, p, q, s>>(g, v);
    const array in_slots = einsum({"r", "p", "slot", "s"}, {mask_of(want, 3, 3, false), v});
    CHECK(agrees(there(tokens), in_slots));
    const array b = numbers({"r", "p", "slot", "s"}, {3, 4, 3, 5}, 8);
    const auto back = [&](const auto& i, const auto& w) {
      return nn::from_slots<q, choice, r, slot>(i, w, to.slots);
    };
    const auto held = scattered<dm::tensor<double, L, r, p, slot, s>>(g, b);
    CHECK(agrees(back(held, to.gates), einsum({"p", "q", "s"}, {mask_of(want, 3, 3, true), b}),
                 1e-13));  // compilers fuse products and sums, or do not

    // The same on shapes: slots are made inside from a function of their places.
    const auto of = [](index_t i, index_t t, index_t k) {
      return static_cast<std::int32_t>((4 * i + 2 * t + k) * 5 % 11 - 2);
    };
    const auto small = numbers({"p", "q", "s"}, {4, 2, 5}, 1);
    const auto slots = [&](const auto& i) {
      return places_beside<L, p, q, choice>(i, of, p{4}, q{2}, choice{});
    };
    check_operation(
        [&](const auto& i) { return nn::to_slots<q, choice, r, slot>(i, slots(i), r{3}, slot{3}); },
        {}, {small}, scattered<dm::tensor<double, L, p, q, s>>(g, small));
    const auto w = numbers({"p", "q", "choice"}, {4, 2, 2}, 3);
    check_operation(
        [&](const auto& i, const auto& j) {
          return nn::from_slots<q, choice, r, slot>(i, j, slots(i));
        },
        {}, {b, w}, held, scattered<dm::tensor<double, L, p, q, choice>>(g, w));
  });
}

template <class T> void check_narrow(const dm::grid<plane>& g) {
  using L = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<s>, y>>;
  const array a = scores(4, 6, 3, 5), v = numbers({"p", "q", "s"}, {4, 6, 5}, 6),
              w = numbers({"p", "q", "choice"}, {4, 6, 2}, 7);
  const nn::gating how{.capacity_factor = 0.75};
  routes want =
      one_by_one(how, a, make({"p", "q"}, {4, 6}, [](const extents&) { return 1.; }), 2, "choice");
  want.gates = w;
  const auto to = nn::route<q, r, choice>(how, scattered<dm::tensor<double, L, p, q, r>>(g, a));
  const auto tokens = scattered<dm::tensor<T, L, p, q, s>>(g, v);
  const auto gates = scattered<dm::tensor<T, L, p, q, choice>>(g, w);
  const auto there = [&](const auto& i) {
    return nn::to_slots<q, choice, r, slot>(i, to.slots, r{3}, slot{to.capacity});
  };
  const auto f = [&](const auto& i, const auto& j) {
    return nn::from_slots<q, choice, r, slot>(there(i), j, to.slots);
  };
  const array held = einsum({"r", "p", "slot", "s"}, {mask_of(want, 3, 3, false), v});
  CHECK(agrees(dm::cast<float>(there(tokens)), held));
  CHECK(agrees(dm::cast<float>(f(tokens, gates)),
               einsum({"p", "q", "s"}, {mask_of(want, 3, 3, true), held})));
  // Gradients of the sum of all: whole numbers, too.
  const auto slope = [&](const auto& i, const auto& j) {
    const auto of_x = [&](const auto& k) { return dm::complete(dm::sum<float>(f(k, j))); };
    const auto of_w = [&](const auto& k) { return dm::complete(dm::sum<float>(f(i, k))); };
    return std::pair{dm::cast<float>(dm::complete(dm::value_and_grad(of_x, i)()).gradient),
                     dm::cast<float>(dm::complete(dm::value_and_grad(of_w, j)()).gradient)};
  };
  const auto narrow = slope(tokens, gates);
  const auto wide = slope(dm::cast<float>(tokens), dm::cast<float>(gates));
  CHECK(dm::to_rank(narrow.first) == dm::to_rank(wide.first));
  CHECK(dm::to_rank(narrow.second) == dm::to_rank(wide.second));
}

TEST_CASE("tokens in slots of half and bfloat16: summed in float, rounded once") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    check_narrow<dm::half>(g);
    check_narrow<dm::bfloat16>(g);
  });
  // The square of 1 + 2^-7 is 1 + 2^-6 + 2^-14, whose end no bfloat16 keeps beside the rest.
  using dm::bfloat16;
  const dm::grid<line> g;
  using whole = dm::layout<line>;
  const auto held = dm::generate<dm::tensor<bfloat16, whole, r, slot, s>>(
      g, [](index_t i, index_t, index_t) { return i == 0 ? 1 + 0x1p-7f : 1 + 0x1p-6f; }, r{2},
      slot{1}, s{1});
  const auto gates = dm::generate<dm::tensor<bfloat16, whole, q, choice>>(
      g, [](index_t, index_t k) { return k == 0 ? 1 + 0x1p-7f : -1.f; }, q{1});
  const auto slots = dm::generate<dm::tensor<std::int32_t, whole, q, choice>>(
      g, [](index_t, index_t k) { return static_cast<std::int32_t>(k); }, q{1});
  const auto y = dm::cast<float>(nn::from_slots<q, choice, r, slot>(held, gates, slots));
  CHECK(dm::value(dm::sum(y)) == 0x1p-14f);
}

}  // namespace
