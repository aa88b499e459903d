// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: device
// Parts of dims that ranks split, among others, reversed, shuffled, side by side, merged and cut:
// beside whole arrays under every layout; transposes and costs; that nothing travels but what
// changes rank; and what only the run refuses.
#include "dimesh/op/slice_exchange.hpp"

#include <doctest/doctest.h>

#include "dimesh/op/concat_exchange.hpp"
#include "dimesh/op/merge_exchange.hpp"
#include "dimesh/op/shuffle_exchange.hpp"
#include "dimesh/op/split_into_exchange.hpp"
#include "dimesh/op/to_rank.hpp"
#include "support/movement.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

struct three : dm::dim<3> {};
struct nine : dm::dim<9> {};
struct left : dm::dim<4> {};
struct right : dm::dim<5> {};

/// Element i of dim `to` is element at(i) of dim d of a, or `around` where that is not there.
array picked(const array& a, const std::string& d, const std::string& to, index_t n, double around,
             const std::function<index_t(index_t)>& at) {
  const auto k = static_cast<std::size_t>(a.place(d));
  array like = renamed(a, d, to);
  like.size[k] = n;
  return make(like.dims, like.size, [&](extents index) {
    index[k] = at(index[k]);
    return index[k] < 0 || index[k] >= a.size[k] ? around : value_at(a, a.dims, index);
  });
}
array sliced(const array& a, const std::string& to, index_t n, index_t begin, index_t step = 1) {
  return picked(a, "q", to, n, 0, [=](index_t i) { return begin + i * step; });
}
array padded(const array& a, const std::string& to, index_t n, index_t before, double around = 0) {
  return picked(a, "q", to, n, around, [=](index_t i) { return i - before; });
}
array flipped(const array& a) {
  const index_t n = a.size[static_cast<std::size_t>(a.place("q"))];
  return sliced(a, "q", n, n - 1, -1);
}

struct every_third_back {
  template <class X> auto operator()(const X& x) const {
    return dm::slice_exchange<dm::uneven<q>>(x, 9, 0, -3);
  }
};
struct five_of_them {
  template <class X> auto operator()(const X& x) const {
    return dm::slice_exchange<q, dm::uneven<r>>(x, 3, r{5});
  }
};
struct among_zeros {
  template <class X> auto operator()(const X& x) const {
    return dm::pad_exchange<dm::uneven<q>>(x, 3, 4);
  }
};
struct reversed {
  template <class X> auto operator()(const X& x) const { return dm::flip_exchange<q>(x); }
};

TEST_CASE("slice_exchange, pad_exchange, flip_exchange: under every layout, and back") {
  for_each_case<plane, unevenly_with_partial, p, q>({{3, 11}, {2, 10}}, [](auto v, const array& a) {
    const index_t n = a.size[1];
    CHECK(agrees(every_third_back{}(v), sliced(a, "q", 3, 9, -3)));
    CHECK(agrees(five_of_them{}(v), sliced(a, "r", 5, 3)));
    CHECK(agrees(dm::slice_exchange<q, dm::uneven<three>>(v, 1, 4, three{}),
                 sliced(a, "three", 3, 1, 4)));
    CHECK(agrees(dm::slice_exchange<dm::uneven<q>>(v, 4, 4), sliced(a, "q", 0, 4)));
    CHECK(agrees(among_zeros{}(v), padded(a, "q", n + 7, 3)));
    CHECK(agrees(dm::pad_exchange<q, dm::uneven<r>>(v, 2, r{15}), padded(a, "r", 15, 2)));
    CHECK(agrees(reversed{}(v), flipped(a)));
    check_movement(every_third_back{}, a, v);
    check_movement(five_of_them{}, a, v);
    check_movement(among_zeros{}, a, v);
    check_movement(reversed{}, a, v);
  });
}

TEST_CASE("slice_exchange and others: even blocks, other types, values around") {
  for_each_case<plane, evenly, p, q>({{12, 24}}, [](auto v, const array& a) {
    CHECK(agrees(dm::slice_exchange<q>(v, 6, 18), sliced(a, "q", 12, 6)));
    CHECK(agrees(dm::slice_exchange<q, r>(v, 23, -2, r{12}), sliced(a, "r", 12, 23, -2)));
    CHECK(agrees(dm::pad_exchange<q>(v, 4, 8, 7), padded(a, "q", 36, 4, 7)));
    CHECK(agrees(dm::flip_exchange<q>(v), flipped(a)));
    const auto f =
        scattered<dm::tensor<float, typename decltype(v)::layout_type, p, q>>(v.grid(), a);
    CHECK(agrees(dm::flip_exchange<q>(f), flipped(a)));
  });
}

/// Three parts, the last one first again: what split_into_exchange made, by names or numbers.
struct taken_apart {
  template <class X> auto operator()(const X& x) const {
    const index_t n = x.template extent<q>();
    const auto [a, b, c] =
        dm::split_into_exchange<q, dm::uneven<three>, dm::uneven<r>, dm::uneven<s>>(x, three{},
                                                                                    r{n - 4}, s{1});
    return dm::concat_exchange<dm::uneven<q>, s, three, r>(c, a, b);
  }
};
struct taken_apart_by_numbers {
  template <class X> auto operator()(const X& x) const {
    const index_t n = x.template extent<q>();
    const auto parts = dm::split_into_exchange<dm::uneven<q>>(x, 3, n - 4, 1);
    return dm::concat_exchange<dm::uneven<q>>(parts[2], parts[0], parts[1]);
  }
};

TEST_CASE("split_into_exchange: under every layout, and back") {
  for_each_case<plane, unevenly_with_partial, p, q>({{3, 11}, {2, 4}}, [](auto v, const array& a) {
    const index_t n = a.size[1];
    const array turned = picked(a, "q", "q", n, 0, [n](index_t i) { return (i + n - 1) % n; });
    census::reset();
    const auto [first, most, last] =
        dm::split_into_exchange<q, dm::uneven<three>, dm::uneven<r>, dm::uneven<s>>(v, three{},
                                                                                    r{n - 4}, s{1});
    const index_t sent = census::snapshot().bytes();
    const auto leaving = [&v = v](const auto& part, index_t begin) {
      return bytes_leaving(v, part, [&](const extents& i) { return extents{i[0], i[1] - begin}; });
    };
    CHECK(sent == leaving(first, 0) + leaving(most, 3) + leaving(last, n - 1));
    CHECK(agrees(taken_apart{}(v), turned));
    CHECK(agrees(taken_apart_by_numbers{}(v), turned));
    check_movement(taken_apart{}, a, v);
  });
  for_each_case<line, evenly, p, q>({{6, 8}}, [](auto v, const array& a) {
    const auto parts = dm::split_into_exchange<q, left, r>(v, left{}, r{4});
    CHECK(agrees(std::get<0>(parts), sliced(a, "left", 4, 0)));
    CHECK(agrees(std::get<1>(parts), sliced(a, "r", 4, 4)));
  });
}

struct shuffled_by {
  std::uint64_t seed;
  template <class X> auto operator()(const X& x) const {
    return dm::shuffle_exchange<q>(dm::random_key{seed}, x);
  }
};

TEST_CASE("shuffle_exchange: the order of shuffle, under every layout, and back") {
  for_each_case<plane, unevenly_with_partial, p, q>(
      {{3, 11}, {2, 4}, {0, 5}, {3, 0}}, [](auto v, const array& a) {
        const index_t n = a.size[1];
        const dm::random_permutation order(dm::random_key{5}, n);
        CHECK(agrees(shuffled_by{5}(v), picked(a, "q", "q", n, 0, order)));
        for (const unsigned once : {0u, ~0u}) {
          const operation_report report = run_adjoint(shuffled_by{5}, once, 1, {a}, v);
          CHECK(report.tangent == report.cotangent);
        }
      });
}

/// The same along any dim.
template <class D> struct turned_along {
  template <class X> auto operator()(const X& x) const { return dm::flip_exchange<D>(x); }
};
template <class D> struct first_four_along {
  template <class X> auto operator()(const X& x) const {
    return dm::slice_exchange<dm::uneven<D>>(x, 0, 4);
  }
};
template <class D> struct padded_along {
  template <class X> auto operator()(const X& x) const {
    return dm::pad_exchange<dm::uneven<D>>(x, 1, 2);
  }
};
template <class D, class X> void check_along(const std::string& d, const X& v, const array& a) {
  const index_t n = 8;
  CHECK(agrees(turned_along<D>{}(v), picked(a, d, d, n, 0, [](index_t i) { return n - 1 - i; })));
  CHECK(agrees(first_four_along<D>{}(v), picked(a, d, d, 4, 0, [](index_t i) { return i; })));
  CHECK(agrees(padded_along<D>{}(v), picked(a, d, d, n + 3, 0, [](index_t i) { return i - 1; })));
  check_movement(turned_along<D>{}, a, v);
  check_movement(first_four_along<D>{}, a, v);
  check_movement(padded_along<D>{}, a, v);
}

TEST_CASE("one dim of a square after the other: the plan of one is not taken for the other") {
  const array a = numbers({"p", "q"}, {8, 8}, 1);
  const auto check = [&a]<class L>(const dm::grid<plane>& g, dd::tag<L>) {
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
    check_along<p>("p", v, a);
    check_along<q>("q", v, a);
    check_along<p>("p", v, a);
  };
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    using dm::layout, dm::split, dm::uneven;
    check(g, dd::tag<layout<plane, split<uneven<q>, x>>>{});
    check(g, dd::tag<layout<plane, split<uneven<p>, x>, split<uneven<q>, y>>>{});
  });
}

struct beside {
  template <class X, class Y> auto operator()(const X& x, const Y& y) const {
    return dm::concat_exchange<dm::uneven<q>>(x, y);
  }
};
array joined(const array& a, const array& b, const std::string& d) {
  array c = a;
  const auto k = static_cast<std::size_t>(a.place(d));
  c.size[k] += b.size[k];
  return make(c.dims, c.size, [&](extents at) {
    if (at[k] < a.size[k]) return value_at(a, a.dims, at);
    at[k] -= a.size[k];
    return value_at(b, b.dims, at);
  });
}

TEST_CASE("concat_exchange: under every layout, and back") {
  for_each_case<plane, unevenly_with_partial, p, q>({{3, 7}, {2, 4}}, [](auto v, const array& a) {
    using X = decltype(v);
    const array b = numbers({"p", "q"}, {a.size[0], 5}, 9);
    const auto w = scattered<X>(v.grid(), b);
    CHECK(agrees(beside{}(v, w), joined(a, b, "q")));
    CHECK(agrees(dm::concat_exchange<dm::uneven<r>, q, q, q>(v, w, v),
                 renamed(joined(joined(a, b, "q"), a, "q"), "q", "r")));
    for (const unsigned once : {0u, ~0u}) {
      const operation_report report = run_adjoint(beside{}, once, 1, {a, b}, v, w);
      CHECK(report.tangent == report.cotangent);
      if (v.grid().rank() == 0) CHECK(report.forward + report.backward == "");
    }
  });
}

TEST_CASE("concat_exchange: dims of their own, stored in other orders") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = numbers({"p", "left"}, {3, 4}, 1), b = numbers({"right", "p"}, {5, 3}, 2);
    const auto v =
        scattered<dm::tensor<double, dm::layout<line, dm::split<dm::uneven<left>, x>>, p, left>>(g,
                                                                                                 a);
    const auto w =
        scattered<dm::tensor<double, dm::layout<line, dm::split<dm::uneven<right>, x>>, right, p>>(
            g, b);
    const auto both = dm::concat_exchange<dm::uneven<nine>, left, right>(v, w);
    CHECK(agrees(both, renamed(joined(renamed(a, "left", "q"),
                                      renamed(transpose({"p", "right"}, b), "right", "q"), "q"),
                               "q", "nine")));
  });
}

/// a over other names, its elements in order.
array reread(const array& a, const names& dims, const extents& size) {
  return {dims, size, a.values};
}
/// x, of layout L over Old..., merged to r or cut, and back.
template <class L, class To> struct merge_to {
  template <class X> auto operator()(const X& x) const { return dm::merge_exchange<To, p, q>(x); }
};
template <class... To> struct cut_to {
  index_t n;
  template <class X> auto operator()(const X& x) const {
    return dm::cut_exchange<r, To...>(x, p{n});
  }
};
template <class M, class To, class... Old> void check_merge() {
  for_each_grid<M>([](const dm::grid<M>& g) {
    using from = dm::layout<M, Old...>;
    for (const extents& n : {extents{6, 5}, extents{3, 8}, extents{1, 4}, extents{4, 0}}) {
      const array a = numbers({"s", "p", "q", "t"}, {2, n[0], n[1], 3}, 4);
      struct t : dm::dim<3> {};
      const auto v = scattered<dm::tensor<double, from, s, p, q, t>>(g, a);
      const merge_to<from, To> merge;
      const array c = reread(a, {"s", "r", "t"}, {2, n[0] * n[1], 3});
      CHECK(agrees(merge(v), c));
      check_movement(merge, a, v);
      if (n[0] == 0 || n[1] == 0) continue;
      const cut_to<Old...> cut{n[0]};
      const auto w = scattered<dm::tensor<double, dm::layout<M, To>, s, r, t>>(g, c);
      if constexpr (sizeof...(Old) == 2) {
        CHECK(agrees(cut(w), a));
        check_movement(cut, c, w);
      }
    }
  });
}

TEST_CASE("merge_exchange, cut_exchange: whatever splits the dims") {
  using dm::split, dm::uneven;
  check_merge<line, split<uneven<r>, x>, split<uneven<p>, x>>();
  check_merge<line, split<uneven<r>, x>, split<uneven<q>, x>>();
  check_merge<plane, split<uneven<r>, x, y>, split<uneven<p>, x>, split<uneven<q>, y>>();
  check_merge<plane, split<uneven<r>, y, x>, split<uneven<p>, x>, split<uneven<q>, y>>();
  check_merge<plane, split<uneven<r>, y, x>, split<uneven<q>, x, y>>();
}

TEST_CASE("shuffle_exchange: what travels is what changes rank; costs as foreseen") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const index_t ranks = g.state().sizes()[0], each = 2 * ranks, n = ranks * each;
    const array a = numbers({"p", "q"}, {3, n}, 1);
    const auto v = scattered<dm::tensor<double, dm::layout<line, dm::split<q, x>>, p, q>>(g, a);
    const auto away = [&](std::uint64_t seed, index_t rank) {
      const dm::random_permutation order(dm::random_key{seed}, n);
      index_t leaving = 0;
      for (index_t i = 0; i < n; ++i) leaving += order(i) / each == rank && i / each != rank;
      return leaving;
    };
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      census::reset();
      (void)shuffled_by{seed}(v);
      CHECK(census::snapshot().calls() == (ranks > 1 ? 1 : 0));
      CHECK(census::snapshot().bytes() == 3 * 8 * away(seed, g.rank()));
    }
    // As though each rank had as much for every other: so it is for some keys.
    const auto all_alike = [&](std::uint64_t seed) {
      index_t alike = 0;
      for (index_t r = 0; r < ranks; ++r) alike += away(seed, r) == each - each / ranks;
      return alike == ranks;
    };
    std::uint64_t seed = 1;
    while (!all_alike(seed)) ++seed;
    check_operation(shuffled_by{seed}, {}, {a}, v);
  });
}

/// Bytes of messages that this rank sent.
template <class F> index_t bytes_sent(const F& f) {
  census::reset();
  f();
  CHECK(census::snapshot().calls() == census::snapshot().calls(census::operation::send));
  return census::snapshot().bytes();
}

TEST_CASE("an element travels if it changes rank") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const index_t ranks = g.state().sizes()[0], n = 23;
    using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, numbers({"p", "q"}, {2, n}, 1));
    const auto owner = [&](index_t i, index_t of) { return i / ((of + ranks - 1) / ranks); };
    const auto leaving = [&](index_t made, const std::function<index_t(index_t)>& from) {
      index_t bytes = 0;
      for (index_t i = 0; i < made; ++i) {
        const index_t k = from(i);
        if (k >= 0 && k < n && owner(k, n) == g.rank() && owner(i, made) != g.rank())
          bytes += 2 * 8;
      }
      return bytes;
    };
    CHECK(bytes_sent([&] { (void)dm::flip_exchange<q>(v); }) ==
          leaving(n, [](index_t i) { return n - 1 - i; }));
    CHECK(bytes_sent([&] { (void)dm::slice_exchange<q>(v, 1, 22, 2); }) ==
          leaving(11, [](index_t i) { return 1 + 2 * i; }));
    CHECK(bytes_sent([&] { (void)dm::slice_exchange<q>(v, 0, n); }) == 0);
    CHECK(bytes_sent([&] { (void)dm::pad_exchange<q>(v, 2, 5); }) ==
          leaving(n + 7, [](index_t i) { return i - 2; }));
    CHECK(bytes_sent([&] { (void)dm::concat_exchange<q>(v, v); }) ==
          leaving(2 * n, [](index_t i) { return i; }) +
              leaving(2 * n, [](index_t i) { return i - n; }));
  });
}

TEST_CASE("a steady step works out no plan, nor does a gather to a rank") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, numbers({"p", "q"}, {2, 23}, 1));
    const auto step = [&](index_t first) {
      (void)dm::slice_exchange<q>(v, first, 20, 2);
      (void)dm::pad_exchange<q>(v, 2, 5);
      (void)dm::concat_exchange<q>(v, v);
      (void)dm::merge_exchange<dm::split<dm::uneven<r>, x>, p, q>(v);
      (void)dm::to_rank(v, g.ranks() - 1);
    };
    const index_t before = dd::plans_made();
    step(1);
    const index_t made = dd::plans_made();
    CHECK(made == before + 5);
    step(1);
    CHECK(dd::plans_made() == made);
    step(3);  // another slice
    CHECK(dd::plans_made() == made + 1);
  });
}

TEST_CASE("slice_exchange and others: what there is not") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto said = [](const auto& f) -> std::string {
      try {
        f();
      } catch (const dm::error& e) {
        return e.what();
      }
      return "nothing";
    };
    using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    const auto v = scattered<dm::tensor<double, L, q>>(g, numbers({"q"}, {6}, 1));
    CHECK(said([&] { (void)dm::slice_exchange<q>(v, 2, 9); }) ==
          "slice_exchange: 7 elements of dim 'q' from 2 in steps of 1, which has 0..5");
    CHECK(said([&] { (void)dm::slice_exchange<q>(v, 2, 9, 0); }) ==
          "slice_exchange: a step of 0 leads nowhere; give one that is not 0");
    CHECK(said([&] { (void)dm::pad_exchange<q, dm::uneven<nine>>(v, 5); }) ==
          "pad_exchange: 6 elements of dim 'q' behind 5 others do not fit in 'nine', which has 9");
    CHECK(said([&] { (void)dm::pad_exchange<q>(v, -1, 1); }) ==
          "pad_exchange: a number of elements is negative; slice_exchange takes some away");
    CHECK(said([&] { (void)dm::concat_exchange<dm::uneven<nine>, q, q>(v, v); }) ==
          "concat_exchange: the operands have 12 elements together, and dim 'nine' has 9");
    CHECK(said([&] { (void)dm::cut_exchange<q, p, dm::split<dm::uneven<r>, x>>(v, p{4}, r{3}); }) ==
          "cut_exchange: dim 'q' has 6 elements, not the product of p=4 x r=3; give all open "
          "extents but one");
    CHECK(said([&] { (void)dm::split_into_exchange<dm::uneven<q>>(v, 2, 3); }) ==
          "split_into_exchange: the parts have 5 elements together, and dim 'q' has 6");
    const auto m = scattered<dm::tensor<double, L, p, q>>(g, numbers({"p", "q"}, {2, 6}, 1));
    CHECK(said([&] { (void)dm::merge_exchange<dm::split<dm::uneven<nine>, x>, p, q>(m); }) ==
          "merge_exchange: the dims have 12 elements together, and dim 'nine' has 9");
  });
}

}  // namespace
