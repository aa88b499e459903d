// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halves of the transforms of real numbers along dims that stay split: against naive sums over
// whole arrays under every layout, of many lengths; their transposes and costs; which layouts come
// out, and what moves.
// alone: it links FFTW
// ranks: 1 2 4
// checks: 4423 8724 13037
// labels: sanitize_all
#include "dimesh/create.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/local/half_frequencies.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/fft_exchange.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/plan/probe.hpp"
#include "support/dft.hpp"

namespace {

using std::abs;  // of Kokkos' complex numbers: theirs
using namespace test_support;
namespace dm = dimesh;

struct h : dm::dim<> {};

/// A dim of n real elements in so many blocks is cut into this many rows.
static_assert(dm::detail::six_step_rows_of_real(256, 4) == 64);
static_assert(dm::detail::six_step_rows_of_real(12, 2) == 6);
static_assert(dm::detail::six_step_rows_of_real(17, 4) == 17);
static_assert(dm::detail::six_step_rows_of_real(1, 4) == 1);

numbers_pair half_of(const numbers_pair& along, const std::string& dim) {
  return {renamed(along.re, dim, "h"), renamed(along.im, dim, "h")};
}

/// Dim p of v, which has elements a, becomes h where it lies, and p again.
template <class X> void check_half_where_it_lies(const X& v, const array& a) {
  const index_t n = a.size[static_cast<std::size_t>(a.place("p"))], half = n / 2 + 1;
  const numbers_pair want = half_of(dft(nothing_imaginary(a), "p", -1, 1, half), "p");
  const auto y = dm::rfft_exchange<p, h>(v);
  check_parts(y, want);
  CHECK(agrees(dm::irfft_exchange<h, p>(y, p{n}), a, 1e-11));
  // Of any numbers; imaginary ends count for nothing.
  const auto any = dm::real(y) + dm::imag(y) * 2.0;
  const array re = map([](const auto& e) { return e[0] + 2 * e[1]; }, {want.re, want.im});
  const array im = map([](const auto& e) { return e[0] - 3 * e[1]; }, {want.re, want.im});
  const auto z = dm::as_complex(any, dm::real(y) - dm::imag(y) * 3.0);
  const numbers_pair all = completed({re, im}, "h", n);
  CHECK(agrees(dm::irfft_exchange<h, p>(z, p{n}),
               renamed(dft(all, "h", 1, 1.0 / static_cast<double>(n)).re, "h", "p"), 1e-11));
  check_moves(
      [](const auto& i) {
        const auto f = dm::rfft_exchange<p, h>(i);
        return dm::real(f) + dm::imag(f) * 2.0;
      },
      {a}, v);
}
/// The transpose of the inverse, of dim p as the half of one of n elements.
template <class X>
void check_inverse_moves(const X& v, const X& w, const array& a, const array& b, index_t n) {
  check_moves([n](const auto& i,
                  const auto& j) { return dm::irfft_exchange<p, h>(dm::as_complex(i, j), h{n}); },
              {a, b}, v, w);
}

TEST_CASE("halves under every layout: there and back, transposes and costs" * needs_fftw) {
  for_all_cases<plane, unevenly_with_partial, p, q>(
      {{12, 2}, {9, 1}, {7, 2}, {4, 6}, {5, 2}, {2, 3}, {1, 3}, {6, 0}},
      [](auto v, const array& a) {
        check_half_where_it_lies(v, a);
        const array b = numbers(a.dims, a.size, 9);
        const auto w = scattered<decltype(v)>(v.grid(), b);
        const index_t n = 2 * a.size[0] - 1;
        check_inverse_moves(v, w, a, b, n);
        if (n > 1) check_inverse_moves(v, w, a, b, n - 1);
      });
}

TEST_CASE("along further dims, whole or split: there and back, transposes and costs" * needs_fftw) {
  for_all_cases<plane, unevenly, p, q>({{12, 2}, {5, 4}, {6, 3}}, [](auto v, const array& a) {
    const index_t n = a.size[0];
    const auto y = dm::rfft_exchange<p, h, q>(v);
    check_parts(y, half_of(dft(dft(nothing_imaginary(a), "p", -1, 1, n / 2 + 1), "q", -1), "p"));
    CHECK(agrees(dm::irfft_exchange<h, p, q>(y, p{n}), a, 1e-11));
    const auto convolved = [n](const auto& u) {  // with itself
      const auto f = dm::rfft_exchange<p, h, q>(u);
      return dm::irfft_exchange<h, p, q>(f * f, p{n});
    };
    check_moves(convolved, {a}, v);
  });
}

template <class... R> using four = dm::tensor<double, dm::layout<plane, R...>, q, p, r>;

TEST_CASE("halves of blocks of any lengths, at one place, over two axes" * needs_fftw) {
  using dm::split, dm::uneven;
  const array a = numbers({"q", "p", "r"}, {2, 24, 3}, 1), b = numbers(a.dims, a.size, 2);
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    const auto lies = [&]<class X>(dm::detail::tag<X>, const auto&... cuts) {
      const auto v = scattered<X>(g, a, cuts...), w = scattered<X>(g, b, cuts...);
      check_half_where_it_lies(v, a);
      check_inverse_moves(v, w, a, b, 47);
      check_inverse_moves(v, w, a, b, 46);
    };
    lies(dm::detail::tag<four<split<uneven<p>, x>, dm::placed<y, 0>>>{});
    lies(dm::detail::tag<four<split<uneven<p>, y, x>>>{});
    lies(dm::detail::tag<four<split<uneven<q>, x>, split<uneven<p>, y>>>{});
    std::vector<double> speeds;
    for (index_t i = 0; i < g.size<x>(); ++i) speeds.push_back(static_cast<double>(i));
    if (g.size<x>() > 1)  // the first has nothing
      lies(dm::detail::tag<four<split<dm::ragged<p>, x>>>{}, dm::cuts_by_speed<p>(24, speeds));
  });
}

TEST_CASE("halves under every layout with blocks of any lengths or a place" * needs_fftw) {
  const array a = numbers({"p", "q"}, {odd::ps, odd::qs}, 1);
  odd::for_each_odd_layout([&](const odd::maker& make, const dm::detail::table&) {
    const auto v = make.operator()<p, q>(a);
    const index_t n = a.size[0];
    const numbers_pair along = dft(nothing_imaginary(a), "p", -1, 1, n / 2 + 1);
    check_parts(dm::rfft_exchange<p, h, q>(v), half_of(dft(along, "q", -1), "p"));
    const auto there_and_back = [n](const auto& i) {
      return dm::irfft_exchange<h, p, q>(dm::rfft_exchange<p, h, q>(i) * 2.0, p{n});
    };
    CHECK(agrees(there_and_back(v), map([](const auto& e) { return 2 * e[0]; }, {a}), 1e-11));
    odd::transposes(there_and_back, transforms, {a}, v);
  });
}

/// The greatest difference of elements, in parts of the greatest element.
template <class T> double apart(const std::vector<T>& x, const std::vector<T>& y) {
  REQUIRE(x.size() == y.size());
  double most = 0, difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, static_cast<double>(abs(x[i] - y[i])));
    most = std::max(most, static_cast<double>(abs(x[i])));
  }
  return difference / std::max(most, 1.0);
}
/// A signal of n elements, where it lies and whole.
template <class T, class Split> void check_signal(const dm::grid<plane>& g, index_t n, double e) {
  using split_one = dm::tensor<T, dm::layout<plane, Split>, p>;
  const auto wave = [](auto i) { return static_cast<T>(std::sin(double(i * i % 1009))); };
  const auto u = dm::generate<split_one>(g, wave, p{n});
  const auto v = dm::generate<dm::tensor<T, dm::layout<plane>, p>>(g, wave, p{n});
  const auto y = dm::rfft_exchange<p, h>(u);
  CHECK(apart(dm::to_rank(dm::rfft<p, h>(v)), dm::to_rank(y)) < e);
  CHECK(apart(dm::to_rank(v), dm::to_rank(dm::irfft_exchange<h, p>(y, p{n}))) < e);
}

TEST_CASE("a lone dim of any length, float and double: what is local where it is whole" *
          needs_fftw) {
  using dm::split, dm::uneven;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for (index_t n = 1; n < 40; ++n) {
      check_signal<double, split<uneven<p>, x, y>>(g, n, 1e-13);
      check_signal<float, split<uneven<p>, y>>(g, n, 1e-5);
    }
    for (const index_t n : {101, 210, 1000, 1009, 1024, 2310, 4096}) {
      check_signal<double, split<uneven<p>, x, y>>(g, n, 1e-13);
      check_signal<double, split<uneven<p>, y, x>>(g, n, 1e-13);
      check_signal<float, split<uneven<p>, x>>(g, n, 1e-5);
    }
  });
}

TEST_CASE("the operand is as it was; numbers of Kokkos" * needs_fftw) {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using signal = dm::tensor<double, dm::layout<plane, dm::split<dm::uneven<p>, x>>, p>;
    const auto u = dm::generate<signal>(g, [](auto i) { return std::cos(double(i)); }, p{30});
    const auto u_before = dm::to_rank(u);
    const auto y = dm::rfft_exchange<p, h>(u);
    CHECK(dm::to_rank(u) == u_before);
    const auto y_before = dm::to_rank(y);
    const auto back = dm::to_rank(dm::irfft_exchange<h, p>(y, p{30}));
    CHECK(dm::to_rank(y) == y_before);
    const auto k = dm::cast<Kokkos::complex<double>>(y);
    CHECK(dm::to_rank(dm::irfft_exchange<h, p>(k, p{30})) == back);
  });
}

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
struct down : dm::dim<8> {};
struct across : dm::dim<6> {};
struct deep : dm::dim<10> {};
struct half : dm::dim<6> {};  // of deep

// The half is split as the dim was, unevenly where types do not say that it comes out even.
using wave = dm::layout<pod, dm::split<deep, rows>, dm::split<across, cols>>;
template <class T, class... D> using under_wave = dm::tensor<T, wave, D...>;
using halves =
    dm::tensor<std::complex<float>,
               dm::layout<pod, dm::split<dm::uneven<half>, rows>, dm::split<across, cols>>, across,
               half>;
static_assert(std::is_same_v<decltype(dm::rfft_exchange<deep, half, across>(
                                 std::declval<under_wave<float, across, deep>>())),
                             halves>);
static_assert(
    std::is_same_v<
        decltype(dm::irfft_exchange<half, deep>(std::declval<halves>())),
        dm::tensor<float,
                   dm::layout<pod, dm::split<dm::uneven<deep>, rows>, dm::split<across, cols>>,
                   across, deep>>);

struct ring : dm::axis<4> {};
struct around : dm::mesh<ring> {};
struct time : dm::dim<256> {};
struct frequency : dm::dim<129> {};
using by_time = dm::tensor<double, dm::layout<around, dm::split<time, ring>>, time>;
using by_frequency =
    dm::tensor<std::complex<double>, dm::layout<around, dm::split<dm::uneven<frequency>, ring>>,
               frequency>;
static_assert(std::is_same_v<decltype(dm::rfft_exchange<time, frequency>(std::declval<by_time>())),
                             by_frequency>);
static_assert(
    std::is_same_v<decltype(dm::irfft_exchange<frequency, time>(std::declval<by_frequency>())),
                   by_time>);

// 256 real numbers on 4 ranks are 64 rows of 4 columns, of which 33 rows are worked out, 9 of them
// by the first rank. It sends three quarters of its 64 numbers; then what it has of the rows of
// others in its column; then 26 of the 35 frequencies 0..8, 64..72, 128 and, conjugated, 120..127
// and 56..63, since its block is 0..32.
template <class T, class... R>
using shape_of_time = dm::tensor<T, dm::shaped<dm::layout<around, R...>>, time>;
struct to_frequencies {
  constexpr auto operator()(const auto& u) const { return dm::rfft_exchange<time, frequency>(u); }
};
struct there_and_back {
  constexpr auto operator()(const auto& u) const {
    return dm::irfft_exchange<frequency, time>(dm::rfft_exchange<time, frequency>(u));
  }
};
struct all_frequencies {
  constexpr auto operator()(const auto& u) const { return dm::fft_exchange<time>(u); }
};
using split_time = shape_of_time<double, dm::split<time, ring>>;
constexpr auto half_bytes = dm::count(to_frequencies{}, split_time{}).bytes();
static_assert(half_bytes == 48 * 8 + 24 * 16 + 26 * 16);
static_assert(half_bytes < dm::count(all_frequencies{}, split_time{}).bytes() * 5 / 8);

// Where one rank has all of it, it is a transform like any other.
struct lone : dm::axis<1> {};
struct by_itself : dm::mesh<lone> {};
template <class... Split>
using by_one = dm::tensor<double, dm::shaped<dm::layout<by_itself, Split...>>, time>;
struct whole_there_and_back {
  constexpr auto operator()(const auto& u) const {
    return dm::irfft<frequency, time>(dm::rfft<time, frequency>(u));
  }
};
static_assert(dm::count(there_and_back{}, by_one<dm::split<time, lone>>{}).moved() ==
              dm::count(whole_there_and_back{}, by_one<>{}).moved());

TEST_CASE("probes: the costs of the types, for a layout that the run says" * needs_fftw) {
  using dm::split;
  using any = dm::layout<pod, dm::at_run_time>;
  const auto back = [](const auto& u) {
    return dm::irfft_exchange<half, deep, down>(dm::rfft_exchange<deep, half, down, across>(u));
  };
  const dm::mesh_sizes<pod> on{rows{2}, cols{3}};
  const auto same = [&]<class... R>(dm::layout<pod, R...> l) {
    using typed = dm::tensor<double, dm::shaped<dm::layout<pod, R...>>, down, across, deep>;
    using cube = dm::tensor<double, any, down, across, deep>;
    const auto a = dm::count(back, typed(on));
    const auto b = dm::count(back, dm::probe_of<cube>(dm::layout_value<pod>(l), on));
    CHECK(a.flops() == b.flops());
    CHECK(a.moved() == b.moved());
    CHECK(a.counts.over == b.counts.over);
  };
  same(dm::layout<pod, split<down, rows>>{});
  same(dm::layout<pod, split<deep, rows>>{});
  same(dm::layout<pod, split<dm::uneven<deep>, rows, cols>>{});
  same(dm::layout<pod, split<deep, rows>, split<across, cols>>{});
}

TEST_CASE("extents that do not fit" * needs_fftw) {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using line_of =
        dm::tensor<dm::complex_of<double>, dm::layout<plane, dm::split<dm::uneven<h>, x>>, h>;
    const auto y = dm::generate<line_of>(g, [](auto i) { return double(i); }, h{4});
    CHECK(has(told([&] { (void)dm::irfft_exchange<h, p>(y, p{9}); }),
              "irfft_exchange: dim 'p' has 9 elements, dim 'h' has 4"));
    CHECK(has(told([&] { (void)dm::irfft_exchange<h, p>(y); }),
              "irfft_exchange: dim 'h' may stand for 6 or 7 elements of 'p'"));
    CHECK(has(told([&] { (void)dm::rfft_exchange<h, half>(dm::real(y)); }),
              "rfft_exchange: dim 'h' has 4 elements, dim 'half' has 6"));
  });
}

}  // namespace
