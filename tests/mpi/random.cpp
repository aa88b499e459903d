// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// checks: 1249 2204 2204 3175
#include "dimesh/random.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/element/half.hpp"
#include "dimesh/random/fill.hpp"
#include "support/host.hpp"
#include "support/layouts.hpp"
#include "support/odd_layouts.hpp"
#include "support/oracle.hpp"

namespace dm = dimesh;
namespace ts = test_support;
using ts::p;
using ts::plane;
using ts::q;

TEST_CASE("random tensors: the same bits under every layout") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::random_key key = dm::random_key{99}.fold(4);
  ts::for_each_layout<plane, dm::detail::list<p, q>, ts::unevenly>([&](auto t) {
    using L = typename decltype(t)::type;
    ts::for_each_sizes<plane>(ranks, [&](const auto& sizes) {
      const dm::grid<plane> g(ts::x{sizes[0]}, ts::y{sizes[1]});
      const auto x = dm::uniform<dm::tensor<float, L, p, q>>(g, key, -2, 2, p{7}, q{5});
      const auto n = dm::normal<dm::tensor<double, L, p, q>>(g, key, 1, 0.5, p{7}, q{5});
      dm::index_t wrong = 0;
      ts::detail::for_each_element(
          ts::detail::holding_of(x), [&](std::size_t at, const ts::extents& i) {
            const dm::index_t place = i[0] * 5 + i[1];  // in the whole tensor, row-major
            wrong += test_support::on_host(x)[at] != -2 + 4 * dm::uniform_at<float>(key, place);
            wrong += test_support::on_host(n)[at] != 1 + 0.5 * dm::normal_at<double>(key, place);
          });
      CHECK(wrong == 0);
    });
  });
}

TEST_CASE("random tensors: partial layouts count each number once") {
  const dm::grid<ts::line> g;
  using L = dm::layout<ts::line, dm::partial<ts::x>>;
  const dm::random_key key{5};
  const auto x = dm::uniform<dm::tensor<double, L, p>>(g, key, 0, 1, p{9});
  double mine = 0, all = 0, want = 0;
  for (dm::index_t k = 0; k < x.local_size(); ++k) mine += test_support::on_host(x)[k];
  for (dm::index_t k = 0; k < 9; ++k) want += dm::uniform_at<double>(key, k);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == want);
}

namespace {

/// Sets a tensor's elements by the k-th distribution.
constexpr int distributions = 8;
struct drawing {
  int k;
  dm::random_key key;
  template <class X> void operator()(X& x) const {
    switch (k) {
      case 0:
        return dm::fill_bernoulli(x, key, 0.3);
      case 1:
        return dm::fill_exponential(x, key, 2.5);
      case 2:
        return dm::fill_truncated_normal(x, key, 1, 0.3);
      case 3:
        return dm::fill_gamma(x, key, 0.4, 3);
      case 4:
        return dm::fill_gamma(x, key, 2.2, 1);
      case 5:
        return dm::fill_uniform(x, key, -2, 2);
      case 6:
        return dm::fill_normal(x, key, 1, 0.5);
      default:
        return dm::fill_permutation(x, key);
    }
  }
};

/// Does every element have the bits that it has where one rank holds all of them?
template <class X, class Whole> void check_bits(const X& x, const Whole& whole, bool holds) {
  dm::index_t wrong = 0;
  ts::detail::for_each_element(
      ts::detail::holding_of(x), [&](std::size_t at, const ts::extents& i) {
        const dm::index_t place = i[0] * whole.template extent<q>() + i[1];
        const auto want = holds ? test_support::on_host(whole)[place] : dm::value_of<X>{};
        wrong += test_support::on_host(x)[at] != want;
      });
  CHECK(wrong == 0);
}

template <class T> void check_distributions(int ranks) {
  using Whole = dm::tensor<T, dm::layout<plane>, p, q>;
  ts::for_each_layout<plane, dm::detail::list<p, q>, ts::unevenly_with_partial>([&](auto t) {
    using X = dm::tensor<T, typename decltype(t)::type, p, q>;
    ts::for_each_sizes<plane>(ranks, [&](const auto& sizes) {
      const dm::grid<plane> g(ts::x{sizes[0]}, ts::y{sizes[1]});
      bool holds = true;
      for (int a = 0; a < 2; ++a)
        if (dm::spec_of<X>::table.is_partial(a)) holds = holds && g.state().coords()[a] == 0;
      for (const auto& [m, n] : {std::pair{7, 45}, std::pair{33, 3}, std::pair{0, 4}})
        for (int k = 0; k < distributions; ++k) {
          const drawing draw{k, dm::random_key{7}.fold(static_cast<std::uint64_t>(k))};
          Whole whole(g, p{m}, q{n});
          X x(g, p{m}, q{n});
          draw(whole);
          draw(x);
          check_bits(x, whole, holds);
        }
    });
  });
}
std::string error_of(const auto& f) {
  try {
    f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("other distributions: the same bits under every layout, addends counted once") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check_distributions<float>(ranks);
  check_distributions<double>(ranks);
}

TEST_CASE("all distributions: the same bits at one place and in blocks of any lengths") {
  ts::odd::for_each_odd_layout([](const ts::odd::maker& make, const dm::detail::table& t) {
    using X = ts::odd::T<p, q>;
    using Whole = dm::tensor<double, dm::layout<plane>, p, q>;
    bool holds = true;
    for (int a = 0; a < 2; ++a)
      if (t.is_partial(a)) holds = holds && make.g.state().coords()[a] == 0;
    for (int k = 0; k < distributions; ++k) {
      const drawing draw{k, dm::random_key{7}.fold(static_cast<std::uint64_t>(k))};
      Whole whole(make.g, p{ts::odd::ps}, q{ts::odd::qs});
      X x = make.with_cuts<p, q>(
          [&](const auto&... cuts) { return X(make.g, p{ts::odd::ps}, q{ts::odd::qs}, cuts...); });
      draw(whole);
      draw(x);
      check_bits(x, whole, holds);
    }
  });
}

TEST_CASE("other distributions: the numbers of the functions of an element") {
  const dm::grid<ts::line> g;
  using L = dm::layout<ts::line, dm::split<dm::uneven<p>, ts::x>>;
  using X = dm::tensor<double, L, p>;
  const dm::random_key key{31};
  const auto offset = X(g, p{1000}).block(0).offset;
  const auto check = [&](const X& x, const auto& want) {
    dm::index_t wrong = 0;
    for (dm::index_t k = 0; k < x.local_size(); ++k)
      wrong += test_support::on_host(x)[k] != doctest::Approx(want(offset + k)).epsilon(1e-13);
    CHECK(wrong == 0);
  };
  using dm::index_t;
  check(dm::bernoulli<X>(g, key, 0.5, p{1000}),
        [&](index_t i) { return dm::bernoulli_at(key, i, 0.5) ? 1.0 : 0.0; });
  check(dm::exponential<X>(g, key, 3, p{1000}),
        [&](index_t i) { return 3 * dm::exponential_at<double>(key, i); });
  check(dm::truncated_normal<X>(g, key, -1, 2, p{1000}),
        [&](index_t i) { return 2 * dm::truncated_normal_at<double>(key, i) - 1; });
  for (const double shape : {0.5, 1.5})
    check(dm::gamma<X>(g, key, shape, 2, p{1000}),
          [&](index_t i) { return 2 * dm::gamma_at<double>(key, i, shape); });
  const auto order = dm::permutation<X>(g, key, p{1000});
  check(order,
        [&](index_t i) { return static_cast<double>(dm::random_permutation(key, 1000)(i)); });
}

TEST_CASE("other distributions: elements of all kinds, scalars, extremes, wrong parameters") {
  const dm::grid<ts::line> g;
  using L = dm::layout<ts::line>;
  const dm::random_key key{32};
  const auto flips = dm::bernoulli<dm::tensor<bool, L, p>>(g, key, 1, p{40});
  for (int k = 0; k < 40; ++k) CHECK(test_support::on_host(flips)[k]);
  const auto none = dm::bernoulli<dm::tensor<int, L, p>>(g, key, 0, p{40});
  for (int k = 0; k < 40; ++k) CHECK(test_support::on_host(none)[k] == 0);
  CHECK(test_support::on_host(dm::gamma<dm::tensor<float, L>>(g, key, 2, 1))[0] ==
        static_cast<float>(dm::gamma_at<double>(key, 0, 2)));
  CHECK(test_support::on_host(dm::permutation<dm::tensor<int, L>>(g, key))[0] == 0);
  const auto short_ones = dm::truncated_normal<dm::tensor<dm::bfloat16, L, p>>(g, key, 0, 1, p{9});
  for (int k = 0; k < 9; ++k)
    CHECK(std::abs(static_cast<float>(test_support::on_host(short_ones)[k])) <= 2);
  auto x = dm::exponential<dm::tensor<float, L, p>>(g, key, 0, p{3});
  CHECK(test_support::on_host(x)[1] == 0);

  const auto says = [&](const auto& f, const char* text) {
    CHECK(error_of(f).find(text) != std::string::npos);
  };
  says([&] { dm::fill_bernoulli(x, key, 1.5); }, "fill_bernoulli: the probability is 1.5");
  says([&] { dm::fill_bernoulli(x, key, std::nan("")); }, "choose one between 0 and 1");
  says([&] { dm::fill_exponential(x, key, -1); }, "fill_exponential: the mean is -1");
  says([&] { dm::fill_truncated_normal(x, key, 0, -1); }, "is -1; it must be at least 0");
  says([&] { dm::fill_truncated_normal(x, key, 0, 1, 0); }, "is 0; it must be above 0");
  says([&] { dm::fill_gamma(x, key, 0, 1); }, "fill_gamma: the shape is 0;");
  says([&] { dm::fill_gamma(x, key, 1, -2); }, "fill_gamma: the scale is -2");
  using counts = dm::tensor<std::int8_t, L, p>;
  CHECK(dm::permutation<counts>(g, key, p{128}).local_size() == 128);
  says([&] { (void)dm::permutation<counts>(g, key, p{129}); },
       "fill_permutation: the elements are too short for the number 128");
}

namespace {

/// How many of many numbers, drawn by draw(x), have bad(element).
template <class T> dm::index_t count_drawn(const auto& draw, const auto& bad) {
  using L = dm::layout<ts::line, dm::split<dm::uneven<p>, ts::x>>;
  const dm::grid<ts::line> g;
  dm::tensor<T, L, p> x(g, p{1 << 17});
  draw(x);
  dm::index_t n = 0;
  for (dm::index_t k = 0; k < x.local_size(); ++k)
    n += bad(static_cast<dm::computed<T>>(test_support::on_host(x)[k]));
  return n;
}
template <class T> void check_ends(dm::computed<T> lo, dm::computed<T> hi) {
  CAPTURE(hi);
  CHECK(count_drawn<T>([&](auto& x) { dm::fill_uniform(x, dm::random_key{3}, lo, hi); },
                       [&](auto v) { return !(lo <= v && v < hi); }) == 0);
}

}  // namespace

TEST_CASE(
    "uniform numbers do not reach their end, nor truncated ones pass their bound, by rounding") {
  check_ends<float>(1000, 1001);
  check_ends<double>(0x1p52, 0x1p52 + 4);
  check_ends<dm::bfloat16>(0, 1);
  check_ends<dm::bfloat16>(-0.3f, 0);  // -0.3 is no element
  check_ends<dm::bfloat16>(-2, -1);
  check_ends<dm::half>(0, 1);
  const auto beyond = [](auto v) { return std::abs(v) > 0.04; };
  const auto draw = [](auto& x) { dm::fill_truncated_normal(x, dm::random_key{3}, 0, 0.02); };
  CHECK(count_drawn<dm::bfloat16>(draw, beyond) == 0);
  CHECK(count_drawn<float>(draw, beyond) == 0);

  // where no element lies between them, or the ends are one, they are what they were
  const auto all = [](float lo, float hi, float want) {
    return count_drawn<dm::bfloat16>(
        [&](auto& x) { dm::fill_uniform(x, dm::random_key{3}, lo, hi); },
        [&](auto v) { return v != want; });
  };
  CHECK(all(3, 3, 3) == 0);
  CHECK(all(1001, 1001.5f, 1000) == 0);
}
