// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: device
// checks: 1258 2399 2399 3554
#include "dimesh/op/argmax.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/cost.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/categorical_all_gather.hpp"
#include "dimesh/op/one_hot.hpp"
#include "support/host.hpp"
#include "support/odd_layouts.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

/// The first place of the greatest (sign 1) or smallest (sign -1) element along a dim.
array first_extreme(const array& a, const names& keep, const std::string& dim, double sign) {
  array out = sum(keep, a);
  const auto d = static_cast<std::size_t>(a.place(dim));
  std::size_t at = 0;
  for_each_index(out.size, [&](const extents& index) {
    double best = 0, found = -1;
    for (index_t k = 0; k < a.size[d]; ++k) {
      extents whole = index;
      whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(d), k);
      const double v = sign * value_at(a, a.dims, whole);
      if (found < 0 || v > best || (std::isnan(v) && !std::isnan(best)))
        best = v, found = static_cast<double>(k);
    }
    out.values[at++] = found;
  });
  return out;
}

TEST_CASE("argmax, argmin: the first of equals, in every layout that leaves the dim whole") {
  for_each_case<plane, unevenly, p, q, r>(
      {{4, 5, 6}, {3, 1, 2}, {2, 0, 3}, {70, 3, 70}}, [](auto x, const array& a) {
        using S = dm::spec_of<decltype(x)>;
        if constexpr (!dm::is_split<S, q>) {
          CHECK(agrees(dm::argmax<q>(x), first_extreme(a, {"p", "r"}, "q", 1)));
          CHECK(agrees(dm::argmin<q>(x), first_extreme(a, {"p", "r"}, "q", -1)));
        }
        if constexpr (!dm::is_split<S, r>)
          CHECK(agrees(dm::argmax<r>(x), first_extreme(a, {"p", "q"}, "r", 1)));
      });
}

#ifdef DIMESH_CHECKED
[[maybe_unused]] const bool as_in_plain_builds = (dm::detail::checks_places = false);
#endif
TEST_CASE("one_hot: 1 at the place, nothing for numbers that are none; argmax undoes it") {
  for_each_case<plane, unevenly, p, q>({{4, 6}, {5, 1}}, [](auto x, const array& a) {
    const auto classes = dm::cast<std::int32_t>(x);  // -4 .. 4
    CHECK(agrees(classes, a));
    const auto hot = dm::one_hot<s, double>(classes, s{3});
    array want{{"p", "q", "s"}, {a.size[0], a.size[1], 3}, {}};
    for (const double v : a.values)
      for (int k = 0; k < 3; ++k) want.values.push_back(v == k ? 1 : 0);
    CHECK(agrees(hot, want));
    static_assert(std::is_same_v<dm::value_of<decltype(dm::one_hot<s>(classes, s{3}))>, float>);
    array place = a;
    for (double& v : place.values) v = v > 0 && v < 3 ? v : 0;
    CHECK(agrees(dm::argmax<s>(hot), place));
  });
}

/// Logits and a Gumbel number each, keyed by the place in the whole tensor.
array disturbed(array a, const dm::random_key& key) {
  std::size_t place = 0;
  for (double& v : a.values)
    v -= std::log(dm::exponential_at<double>(key, static_cast<index_t>(place++)));
  return a;
}

TEST_CASE("over ranks: the first of equals, the same classes, under every layout") {
  const dm::random_key key{41};
  for_all_cases<plane, layout_choice{.uneven = true, .places = 1}, p, q, r>(
      {{4, 5, 6}, {3, 1, 2}, {2, 0, 3}, {2, 7, 20}}, [&](const auto& x, const array& a) {
        const auto greatest = [](const auto& t) { return dm::argmax_all_gather<q>(t); };
        const auto smallest = [](const auto& t) { return dm::argmin_all_gather<r>(t); };
        const auto drawn = [&](const auto& t) { return dm::categorical_all_gather<q>(key, t); };
        CHECK(agrees(greatest(x), first_extreme(a, {"p", "r"}, "q", 1)));
        CHECK(agrees(smallest(x), first_extreme(a, {"p", "q"}, "r", -1)));
        CHECK(agrees(drawn(x), first_extreme(disturbed(a, key), {"p", "r"}, "q", 1)));
        CHECK(costs_as_foreseen(greatest, x));
        CHECK(costs_as_foreseen(smallest, x));
        CHECK(costs_as_foreseen(drawn, x));
      });
}

TEST_CASE("over ranks: the same classes at one place and in blocks of any lengths") {
  const dm::random_key key{43};
  const array a = reals({"p", "q"}, {odd::ps, odd::qs}, 6);
  odd::for_each_odd_layout([&](const odd::maker& make, const dm::detail::table& t) {
    if (t.any_partial()) return;
    const auto x = make.operator()<p, q>(a);
    const auto greatest = [](const auto& v) { return dm::argmax_all_gather<p>(v); };
    const auto along_p = [&](const auto& v) { return dm::categorical_all_gather<p>(key, v); };
    const auto along_q = [&](const auto& v) { return dm::categorical_all_gather<q>(key, v); };
    const array then = disturbed(a, key);
    CHECK(agrees(greatest(x), first_extreme(a, {"q"}, "p", 1)));
    CHECK(agrees(along_p(x), first_extreme(then, {"q"}, "p", 1)));
    CHECK(agrees(along_q(x), first_extreme(then, {"p"}, "q", 1)));
    CHECK(costs_as_foreseen(greatest, x));
    CHECK(costs_as_foreseen(along_p, x));
    CHECK(costs_as_foreseen(along_q, x));
    if (t.split_count(1) == 0)
      CHECK(agrees(dm::categorical<q>(key, x), first_extreme(then, {"p"}, "q", 1)));
  });
}

TEST_CASE("over ranks: NaN, infinities, other types, axes in the other order, ragged blocks") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const double nan = std::nan(""), none = std::numeric_limits<double>::infinity();
    const array a{{"p", "q"}, {4, 5}, {1, 2, nan, 7, nan, -none, -none, -none, -none, -none,  //
                                       3, 3, 3,   3, 3,   none,  0,     none,  -1,    -1}};
    const array top = first_extreme(a, {"p"}, "q", 1), low = first_extreme(a, {"p"}, "q", -1);
    const auto check = [&](const auto& v) {
      CHECK(agrees(dm::argmax_all_gather<q>(v), top));
      CHECK(agrees(dm::argmin_all_gather<q>(v), low));
    };
    using turned = dm::layout<plane, dm::split<dm::uneven<q>, y, x>>;
    check(scattered<dm::tensor<double, turned, p, q>>(g, a));
    check(scattered<dm::tensor<double, turned, q, p>>(g, transpose({"q", "p"}, a)));
    check(scattered<dm::tensor<dm::bfloat16, turned, p, q>>(g, a));
    using ragged = dm::layout<plane, dm::split<dm::ragged<q>, y, x>>;
    std::vector<double> last(g.everyone().size(), 0.0);
    last.back() = 1;
    check(scattered<dm::tensor<float, ragged, p, q>>(g, a, dm::cuts_by_speed<q>(5, last)));
    const array b = numbers({"p", "q"}, {3, 11}, 2);
    CHECK(agrees(dm::argmin_all_gather<q>(scattered<dm::tensor<std::int32_t, turned, p, q>>(g, b)),
                 first_extreme(b, {"p"}, "q", -1)));
  });
}

struct wide : dm::dim<4096> {};
struct four : dm::axis<4> {};
struct ring : dm::mesh<four> {};
struct finding {
  template <class V> constexpr auto operator()(const V& v) const {
    return dm::argmax_all_gather<wide>(v);
  }
};
// A value and its place to each of three others.
using wide_row = dm::tensor<float, dm::shaped<dm::layout<ring, dm::split<wide, four>>>, wide>;
static_assert(dm::cost_of<finding, wide_row>.template ring_bytes<four> == 3 * (4 + 4));

TEST_CASE("categorical: the same classes in every layout that leaves the dim whole") {
  const dm::random_key key{41};
  for_each_case<plane, unevenly, p, q, r>(
      {{4, 5, 6}, {3, 1, 2}, {2, 0, 3}, {2, 33, 40}}, [&](auto x, const array& a) {
        using S = dm::spec_of<decltype(x)>;
        const array noisy = disturbed(a, key);
        if constexpr (!dm::is_split<S, q>)
          CHECK(agrees(dm::categorical<q>(key, x), first_extreme(noisy, {"p", "r"}, "q", 1)));
        if constexpr (!dm::is_split<S, r>)
          CHECK(agrees(dm::categorical<r>(key, x), first_extreme(noisy, {"p", "q"}, "r", 1)));
      });
}

TEST_CASE("categorical: classes come up as their logits say") {
  const dm::grid<line> g;
  using X = dm::tensor<float, dm::layout<line>, p, q>;
  X logits(g, p{40000}, q{4});
  const double share[] = {0.1, 0.6, 0.0, 0.3};
  for (index_t k = 0; k < logits.local_size(); ++k)
    test_support::on_host(logits)[k] = static_cast<float>(std::log(share[k % 4]) + 7);
  const auto drawn = dm::categorical<q>(dm::random_key{42}, logits);
  double seen[4] = {};
  for (index_t k = 0; k < 40000; ++k) seen[test_support::on_host(drawn)[k]] += 1;
  for (int c = 0; c < 4; ++c)
    CHECK(std::abs(seen[c] - 40000 * share[c]) <= 4 * std::sqrt(40000 * share[c] * (1 - share[c])));
  const auto rounded = dm::categorical<q>(dm::random_key{42}, dm::cast<dm::bfloat16>(logits));
  CHECK(test_support::on_host(rounded)[0] >= 0);
}

TEST_CASE("argmax, argmin, categorical: more places than int32 can tell") {
  const dm::shaped_tensor<float, dm::layout<line>, q> much(dm::mesh_sizes<line>{x{1}},
                                                           q{index_t{1} << 31});
  const std::string says = ": dim 'q' has 2147483648 elements, more than places in int32 can tell";
  CHECK_THROWS_WITH((void)dm::argmax<q>(much), ("argmax" + says).c_str());
  CHECK_THROWS_WITH((void)dm::argmin<q>(much), ("argmin" + says).c_str());
  CHECK_THROWS_WITH((void)dm::categorical<q>(dm::random_key{1}, much),
                    ("categorical" + says).c_str());
  CHECK_THROWS_WITH((void)dm::argmax_all_gather<q>(much), ("argmax_all_gather" + says).c_str());
  CHECK_THROWS_WITH((void)dm::argmin_all_gather<q>(much), ("argmin_all_gather" + says).c_str());
  CHECK_THROWS_WITH((void)dm::categorical_all_gather<q>(dm::random_key{1}, much),
                    ("categorical_all_gather" + says).c_str());
  const dm::shaped_tensor<float, dm::layout<line>, q> most(dm::mesh_sizes<line>{x{1}},
                                                           q{(index_t{1} << 31) - 1});
  CHECK(dm::argmax<q>(most).local_size() == 1);
}

TEST_CASE("cast: any layout, addends too; truncates as static_cast does") {
  for_each_case<plane, unevenly_with_partial, p, q>({{4, 6}, {5, 1}}, [](auto x, const array& a) {
    CHECK(agrees(dm::cast<float>(x), a));
    CHECK(dm::cast<double>(x).data() == x.data());
  });
  const dm::grid<line> g;
  const array halves{{"p"}, {3}, {-1.5, 0.5, 2.75}};
  const auto x = scattered<dm::tensor<double, dm::layout<line>, p>>(g, halves);
  CHECK(agrees(dm::cast<int>(x), array{{"p"}, {3}, {-1, 0, 2}}));
}

}  // namespace
