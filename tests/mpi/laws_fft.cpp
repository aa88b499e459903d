// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms along dims that are whole or split: against naive sums over whole arrays under
// every layout that their rules allow, three dims under a sample; their transposes and costs; which
// layouts come out.
// alone: it links FFTW
// ranks: 1 2 4
// checks: 6148 9206 12296
// labels: sanitize_all
#include "dimesh/op/fft.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/grad/cost.hpp"
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

template <class D, class X> inline constexpr bool is_whole = !dm::is_split<dm::spec_of<X>, D>;

const std::vector<extents> sizes = {{4, 6}, {5, 3}, {0, 3}, {3, 1}, {2, 9}};

TEST_CASE("along whole dims, of addends too, under every layout" * needs_fftw) {
  for_each_case<plane, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    using X = decltype(v);
    const array b = numbers(a.dims, a.size, 9);
    const auto z = dm::as_complex(v, scattered<X>(v.grid(), b));
    const numbers_pair c{a, b};
    if constexpr (is_whole<q, X>) {
      check_parts(dm::fft<q>(z), dft(c, "q", -1));
      check_parts(dm::ifft<q>(z), dft(c, "q", 1, inverse_of(a, "q")));
      check_parts(dm::fft<q>(v), dft(nothing_imaginary(a), "q", -1));
    }
    if constexpr (is_whole<p, X> && is_whole<q, X>)
      if (a.size[0] > 0) check_parts(dm::fft<p, q>(z), dft(dft(c, "p", -1), "q", -1));
  });
}

TEST_CASE("of real numbers: half of it, and back" * needs_fftw) {
  for_each_case<line, unevenly_with_partial, p, q>(
      {{4, 6}, {5, 3}, {6, 1}, {1, 4}}, [](auto v, const array& a) {
        using X = decltype(v);
        const index_t n = a.size[0], half = n / 2 + 1;
        const array im = numbers({"h", "q"}, {half, a.size[1]}, 3),
                    re = numbers({"h", "q"}, {half, a.size[1]}, 4);
        if constexpr (is_whole<p, X>) {
          const numbers_pair along_p = dft(nothing_imaginary(a), "p", -1, 1, half);
          const auto renamed_half = [](numbers_pair c) {
            return numbers_pair{renamed(c.re, "p", "h"), renamed(c.im, "p", "h")};
          };
          const auto y = dm::rfft<p, h>(v);
          check_parts(y, renamed_half(along_p));
          CHECK(agrees(dm::irfft<h, p>(y, p{n}), a, 1e-11));
          using H = std::remove_cvref_t<decltype(dm::real(y))>;
          const auto any = dm::as_complex(scattered<H>(v.grid(), re), scattered<H>(v.grid(), im));
          const numbers_pair all = completed({re, im}, "h", n);
          CHECK(agrees(dm::irfft<h, p>(any, p{n}),
                       renamed(dft(all, "h", 1, 1.0 / static_cast<double>(n)).re, "h", "p"),
                       1e-11));
          if constexpr (is_whole<q, X>) {
            check_parts(dm::rfft<p, h, q>(v), renamed_half(dft(along_p, "q", -1)));
            CHECK(agrees(dm::irfft<h, p, q>(dm::rfft<p, h, q>(v), p{n}), a, 1e-11));
            // Imaginary ends count for nothing, those that come to be along q.
            const numbers_pair then = completed(dft({re, im}, "q", 1), "h", n);
            CHECK(agrees(
                dm::irfft<h, p, q>(any, p{n}),
                renamed(dft(then, "h", 1, 1.0 / static_cast<double>(n * a.size[1])).re, "h", "p"),
                1e-11));
          }
        }
      });
}

TEST_CASE("along split dims, under every layout, there and back" * needs_fftw) {
  for_each_case<plane, layout_choice{.uneven = true, .stride = 2}, p, q>(
      {{4, 6}, {5, 3}, {3, 1}}, [](auto v, const array& a) {
        using X = decltype(v);
        const array b = numbers(a.dims, a.size, 9);
        const auto z = dm::as_complex(v, scattered<X>(v.grid(), b));
        const auto y = dm::fft_all_to_all<p, q>(z);
        check_parts(y, dft(dft({a, b}, "p", -1), "q", -1));
        check_parts(dm::ifft_all_to_all<p, q>(y), {a, b});
        check_parts(dm::ifft_all_to_all<q>(z), dft({a, b}, "q", 1, inverse_of(a, "q")));
      });
}

TEST_CASE("of real numbers along split dims" * needs_fftw) {
  for_each_case<plane, layout_choice{.partial = true, .uneven = true, .stride = 3}, p, q>(
      {{4, 6}, {5, 3}}, [](auto v, const array& a) {
        const index_t n = a.size[0];
        const auto y = dm::rfft_all_to_all<p, h, q>(v);
        const numbers_pair c = dft(dft(nothing_imaginary(a), "p", -1, 1, n / 2 + 1), "q", -1);
        check_parts(y, {renamed(c.re, "p", "h"), renamed(c.im, "p", "h")});
        CHECK(agrees(dm::irfft_all_to_all<h, p, q>(y, p{n}), a, 1e-11));
      });
}

TEST_CASE("transposes and costs: the local ones" * needs_fftw) {
  for_each_case<line, unevenly_with_partial, p, q>({{5, 4}, {2, 6}}, [](auto v, const array& a) {
    using X = decltype(v);
    const array b = numbers(a.dims, a.size, 9);
    const auto w = scattered<X>(v.grid(), b);
    if constexpr (is_whole<q, X>) {
      check_operation(
          [](const auto& x, const auto& y) {
            const auto z = dm::fft<q>(dm::as_complex(x, y));
            return dm::real(z) + dm::imag(z) * 2.0;
          },
          transforms, {a, b}, v, w);
      check_operation([](const auto& x) { return dm::imag(dm::ifft<q>(x)); }, transforms, {a}, v);
      check_operation(
          [](const auto& x) {
            const auto z = dm::rfft<q, h>(x);
            return dm::real(z) + dm::imag(z) * 2.0;
          },
          transforms, {a}, v);
      const index_t n = a.size[1];
      check_operation(
          [n](const auto& x, const auto& y) {
            return dm::irfft<q, h>(dm::as_complex(x, y), h{2 * n - 1});
          },
          transforms, {a, b}, v, w);
      check_operation(
          [n](const auto& x, const auto& y) {
            return dm::irfft<q, h>(dm::as_complex(x, y), h{2 * n - 2});
          },
          transforms, {a, b}, v, w);
    }
    if constexpr (is_whole<p, X> && is_whole<q, X>)
      check_operation([](const auto& x) { return dm::real(dm::rfft<p, h, q>(x)) * 3.0; },
                      transforms, {a}, v);
  });
}

TEST_CASE("transposes and costs: those that move" * needs_fftw) {
  for_each_case<plane, layout_choice{.uneven = true, .stride = 3, .first = 1}, p, q>(
      {{4, 6}, {5, 3}}, [](auto v, const array& a) {
        using X = decltype(v);
        const array b = numbers(a.dims, a.size, 9);
        const auto w = scattered<X>(v.grid(), b);
        check_operation(
            [](const auto& x, const auto& y) {
              return dm::imag(dm::fft_all_to_all<p, q>(dm::as_complex(x, y)));
            },
            transforms, {a, b}, v, w);
        const index_t n = a.size[0];
        check_operation(
            [n](const auto& x) {
              const auto y = dm::rfft_all_to_all<p, h, q>(x);
              return dm::irfft_all_to_all<h, p, q>(y * dm::conj(y), p{n});
            },
            precision{1, 1e-9}, {a}, v);
      });
}

TEST_CASE("three dims in slabs and pencils: values, there and back, transposes and costs" *
          needs_fftw) {
  for_each_case<plane, layout_choice{.uneven = true, .stride = 7, .first = 1}, p, q, r>(
      {{4, 6, 3}, {5, 2, 4}}, [](auto v, const array& a) {
        using X = decltype(v);
        const array b = numbers(a.dims, a.size, 9);
        const auto w = scattered<X>(v.grid(), b);
        const auto y = dm::fft_all_to_all<p, q, r>(dm::as_complex(v, w));
        check_parts(y, dft(dft(dft({a, b}, "p", -1), "q", -1), "r", -1));
        check_parts(dm::ifft_all_to_all<p, q, r>(y), {a, b});
        check_operation(
            [](const auto& i, const auto& j) {
              const auto f = dm::fft_all_to_all<p, q, r>(dm::as_complex(i, j));
              return dm::real(f) + dm::imag(f) * 2.0;
            },
            transforms, {a, b}, v, w);
        const index_t n = a.size[0];
        const auto convolved = [n](const auto& i) {  // with itself, the way that codes do it
          const auto f = dm::rfft_all_to_all<p, h, q, r>(i);
          return dm::irfft_all_to_all<h, p, q, r>(f * f, p{n});
        };
        check_operation(convolved, precision{1, 1e-9}, {a}, v);
      });
}

/// A dim of n elements in so many blocks is cut into this many rows.
static_assert(dm::detail::six_step_rows(64, 4) == 8);
static_assert(dm::detail::six_step_rows(12, 3) == 3);
static_assert(dm::detail::six_step_rows(24, 4) == 4);
static_assert(dm::detail::six_step_rows(17, 4) == 1);
static_assert(dm::detail::six_step_rows(64, 1) == 1);
static_assert(dm::detail::six_step_rows(0, 4) == 1);

/// Dim p of v, with elements a, as it lies, there and back.
template <class X>
void check_where_it_lies(const X& v, const X& w, const array& a, const array& b) {
  const auto z = dm::as_complex(v, w);
  const auto y = dm::fft_exchange<p>(z);
  check_parts(y, dft({a, b}, "p", -1));
  check_parts(dm::ifft_exchange<p>(y), {a, b});
  check_parts(dm::ifft_exchange<p>(z), dft({a, b}, "p", 1, inverse_of(a, "p")));
  check_parts(dm::fft_exchange<p>(v), dft(nothing_imaginary(a), "p", -1));
  check_moves(
      [](const auto& i, const auto& j) {
        const auto f = dm::fft_exchange<p>(dm::as_complex(i, j));
        return dm::real(f) + dm::imag(f) * 2.0;
      },
      {a, b}, v, w);
  check_moves([](const auto& i) { return dm::imag(dm::ifft_exchange<p>(i)) * 3.0; }, {a}, v);
}

TEST_CASE("dims that stay split, under every layout: there and back, transposes and costs" *
          needs_fftw) {
  for_all_cases<plane, unevenly_with_partial, p, q>(
      {{12, 2}, {4, 6}, {5, 2}, {1, 3}, {0, 3}}, [](auto v, const array& a) {
        const array b = numbers(a.dims, a.size, 9);
        check_where_it_lies(v, scattered<decltype(v)>(v.grid(), b), a, b);
        const numbers_pair both = dft(dft(nothing_imaginary(a), "q", -1), "p", -1);
        check_parts(dm::fft_exchange<q, p>(v), both);
      });
}

template <class... R> using four = dm::tensor<double, dm::layout<plane, R...>, q, p, r>;

TEST_CASE("dims that stay split: blocks of any lengths, at one place, over two axes" * needs_fftw) {
  using dm::split, dm::uneven;
  const array a = numbers({"q", "p", "r"}, {2, 24, 3}, 1), b = numbers(a.dims, a.size, 2);
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    const auto lies = [&]<class X>(dm::detail::tag<X>, const auto&... cuts) {
      check_where_it_lies(scattered<X>(g, a, cuts...), scattered<X>(g, b, cuts...), a, b);
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

TEST_CASE("blocks of any lengths and tensors at one place: along dims whole or split" *
          needs_fftw) {
  const array a = numbers({"p", "q"}, {odd::ps, odd::qs}, 1), b = numbers(a.dims, a.size, 2);
  odd::for_each_odd_layout([&](const odd::maker& make, const dm::detail::table& t) {
    const auto v = make.operator()<p, q>(a), w = make.operator()<p, q>(b);
    const auto z = dm::as_complex(v, w);
    const auto both = [](const auto& i, const auto& j) {
      const auto f = dm::fft_all_to_all<p, q>(dm::as_complex(i, j));
      return dm::real(f) + dm::imag(f) * 2.0;
    };
    if (t.split_count(1) == 0) {
      check_parts(dm::fft<q>(z), dft({a, b}, "q", -1));
      const auto along_q = [](const auto& i) { return dm::imag(dm::ifft<q>(i)); };
      odd::transposes(along_q, transforms, {a}, v);
    }
    // Each dim would be cut by the axes of the other, and a ragged one has cuts for its own.
    if (t.split_count(0) > 0 && t.split_count(1) > 0 && (t.ragged[0] || t.ragged[1])) {
      CHECK(has(told([&] { (void)both(v, w); }), "fft_all_to_all: dim_is_split"));
      return;
    }
    const auto y = dm::fft_all_to_all<p, q>(z);
    check_parts(y, dft(dft({a, b}, "p", -1), "q", -1));
    check_parts(dm::ifft_all_to_all<p, q>(y), {a, b});
    odd::transposes(both, transforms, {a, b}, v, w);
    const index_t n = a.size[0];
    const auto real_ones = [n](const auto& i) {
      const auto f = dm::rfft_all_to_all<p, h, q>(i);
      return dm::irfft_all_to_all<h, p, q>(f * 2.0, p{n});
    };
    CHECK(agrees(real_ones(v), map([](const auto& e) { return 2 * e[0]; }, {a}), 1e-11));
    odd::transposes(real_ones, transforms, {a}, v);
  });
}

TEST_CASE("a dim in blocks of any lengths beside one in blocks as arithmetic says" * needs_fftw) {
  using dm::split;
  const array a = numbers({"p", "q"}, {odd::ps, odd::qs}, 1), b = numbers(a.dims, a.size, 2);
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    using X = dm::tensor<double,
                         dm::layout<plane, split<dm::uneven<p>, x>, split<dm::ragged<q>, y>>, p, q>;
    const odd::maker make(g);
    const auto v = scattered<X>(g, a, make.of_q), w = scattered<X>(g, b, make.of_q);
    check_parts(dm::fft_all_to_all<p, q>(dm::as_complex(v, w)), dft(dft({a, b}, "p", -1), "q", -1));
    check_moves(
        [](const auto& i, const auto& j) {
          return dm::imag(dm::fft_all_to_all<p, q>(dm::as_complex(i, j)));
        },
        {a, b}, v, w);
  });
}

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
struct down : dm::dim<8> {};
struct across : dm::dim<6> {};
struct deep : dm::dim<10> {};
struct half : dm::dim<6> {};
template <class... R> using field = dm::tensor<double, dm::layout<pod, R...>, down, across, deep>;
template <class Y, class... R>
inline constexpr bool lies =
    std::is_same_v<Y,
                   dm::tensor<typename Y::value_type, dm::layout<pod, R...>, down, across, deep>>;

// A ragged dim takes no further axes: its cuts are for other blocks.
template <class... R>
using moves_p =
    dm::detail::fault_of<dm::detail::fft_moves_rule<true, dm::detail::fft_takes::both, p>,
                         dm::tensor<double, dm::layout<plane, R...>, p, q>>;
static_assert(dm::ok<moves_p<dm::split<p, x>, dm::split<dm::uneven<q>, y>>>);
static_assert(dm::ok<moves_p<dm::split<dm::ragged<p>, x>, dm::split<q, y>>>);
static_assert(!dm::ok<moves_p<dm::split<p, x>, dm::split<dm::ragged<q>, y>>>);

TEST_CASE("slabs and pencils: where they lie, and what moves" * needs_fftw) {
  using dm::split;
  using dm::uneven;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(rows{ranks > 1 ? 2 : 1}, cols{ranks / (ranks > 1 ? 2 : 1)});
  const auto wave = [](auto i, auto j, auto k) {
    return std::sin(0.3 * double(i)) + std::cos(double(i + 2 * j)) * double(k);
  };
  const auto slabs = dm::generate<field<split<down, rows>>>(g, wave);
  const auto there = dm::fft_all_to_all<down, across, deep>(slabs);
  using Slab = std::remove_const_t<decltype(there)>;
  static_assert(lies<Slab, split<uneven<across>, rows>>);
  using Back = decltype(dm::ifft_all_to_all<down, across, deep>(there));
  static_assert(lies<Back, split<uneven<down>, rows>>);

  const auto pencils = dm::relayout<dm::layout<pod, split<down, rows>, split<across, cols>>>(slabs);
  const auto turned = dm::fft_all_to_all<down, across, deep>(pencils);
  using Pencil = std::remove_const_t<decltype(turned)>;
  static_assert(lies<Pencil, split<uneven<across>, rows>, split<uneven<deep>, cols>>);
  const auto back = dm::ifft_all_to_all<down, across, deep>(turned);
  static_assert(lies<std::remove_const_t<decltype(back)>, split<uneven<down>, rows>,
                     split<uneven<across>, cols>>);
  const auto whole = dm::fft<down, across, deep>(dm::relayout<dm::layout<pod>>(slabs));
  const auto a = dm::to_rank(there), b = dm::to_rank(turned), c = dm::to_rank(whole);
  for (std::size_t i = 0; i < c.size(); ++i) {
    CHECK(abs(a[i] - c[i]) < 1e-11);
    CHECK(abs(b[i] - c[i]) < 1e-11);
  }
  const auto u = dm::to_rank(dm::real(back)), v = dm::to_rank(slabs);
  for (std::size_t i = 0; i < u.size(); ++i) CHECK(abs(u[i] - v[i]) < 1e-12);

  // Real numbers: the half is a dim of its own, and is split where the others are done.
  const auto half_there = dm::rfft_all_to_all<deep, half, down, across>(pencils);
  static_assert(std::is_same_v<
                std::remove_const_t<decltype(half_there)>,
                dm::tensor<dm::complex_of<double>,
                           dm::layout<pod, split<uneven<across>, rows>, split<uneven<half>, cols>>,
                           down, across, half>>);
  const auto half_back = dm::irfft_all_to_all<half, deep, down, across>(half_there);
  const auto w = dm::to_rank(half_back);
  for (std::size_t i = 0; i < w.size(); ++i) CHECK(abs(w[i] - v[i]) < 1e-12);
}

// Dims that stay split lie as before.
using wave = dm::layout<pod, dm::split<down, rows>, dm::split<across, cols>>;
using signal = dm::tensor<float, wave, across, down>;
static_assert(std::is_same_v<decltype(dm::fft_exchange<down, across>(std::declval<signal>())),
                             dm::tensor<std::complex<float>, wave, across, down>>);
// Of 256 complex numbers on 4 ranks each has 64, and three times sends three quarters of them.
struct ring : dm::axis<4> {};
struct around : dm::mesh<ring> {};
struct time : dm::dim<256> {};
template <class T>
using by_time = dm::tensor<T, dm::shaped<dm::layout<around, dm::split<time, ring>>>, time>;
struct along_time {
  constexpr auto operator()(const auto& u) const { return dm::fft_exchange<time>(u); }
};
static_assert(dm::count(along_time{}, by_time<std::complex<double>>{}).bytes() == 3 * 48 * 16);
static_assert(dm::count(along_time{}, by_time<double>{}).bytes() ==
              48 * 8 + 2 * 48 * 16);  // real numbers the first time

// Where one rank has all of it, it is a transform like any other.
struct lone : dm::axis<1> {};
struct by_itself : dm::mesh<lone> {};
template <class T, class... Split>
using by_one = dm::tensor<T, dm::shaped<dm::layout<by_itself, Split...>>, time>;
struct along_whole_time {
  constexpr auto operator()(const auto& u) const { return dm::fft<time>(u); }
};
static_assert(dm::count(along_time{}, by_one<double, dm::split<time, lone>>{}).moved() ==
              dm::count(along_whole_time{}, by_one<double>{}).moved());

TEST_CASE("float, complex numbers of Kokkos, and plans that are kept" * needs_fftw) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(rows{1}, cols{ranks});
  using single = dm::tensor<float, dm::layout<pod>, down, across>;
  const auto x = dm::generate<single>(g, [](auto i, auto j) { return float(i * j % 5); });
  const auto y = dm::fft<down, across>(x);
  static_assert(std::is_same_v<decltype(y)::value_type, dm::complex_of<float>>);
  const auto z = dm::to_rank(dm::ifft<across, down>(y)), v = dm::to_rank(dm::as_complex(x));
  for (std::size_t i = 0; i < z.size(); ++i) CHECK(abs(z[i] - v[i]) < 1e-5f);
  const auto k = dm::fft<down, across>(dm::cast<Kokkos::complex<float>>(dm::as_complex(x)));
  static_assert(std::is_same_v<decltype(k)::value_type, Kokkos::complex<float>>);
  const auto as_k = dm::to_rank(k);
  const auto as_std = dm::to_rank(y);
  for (std::size_t i = 0; i < as_k.size(); ++i)
    CHECK((as_k[i].real() == as_std[i].real() && as_k[i].imag() == as_std[i].imag()));

  const auto plans = dm::local::fft_plan_count<float>();
  CHECK(plans == 2);
  for (int i = 0; i < 3; ++i) (void)dm::fft<down, across>(x);
  CHECK(dm::local::fft_plan_count<float>() == plans);
}

/// The same numbers as a block whose lines all lie together.
template <class T> std::vector<std::complex<T>> numbers_of(index_t n) {
  std::vector<std::complex<T>> v;
  for (index_t i = 0; i < n; ++i)
    v.emplace_back(static_cast<T>(std::sin(double(i * 7919 % 1009))),
                   static_cast<T>(std::cos(double(i * 104729 % 1013))));
  return v;
}
/// Of a block [a, b, c] the dims of a mask, all at once by FFTW, and one after another in panels;
/// there and in place. Turned: the result is [c, b, a].
template <class T>
void check_dims(index_t a, index_t b, index_t c, unsigned along, bool forward, bool turned) {
  const index_t n[] = {a, b, c}, from[] = {b * c, c, 1}, back[] = {1, a, b * a};
  dm::local::fft_loops l;
  for (int d = 0; d < 3; ++d) {
    const index_t to = turned ? back[d] : from[d];
    if (along >> d & 1u)
      l.along(n[d], from[d], to);
    else
      l.over(n[d], from[d], to);
  }
  auto x = numbers_of<T>(a * b * c);
  const auto kept = x;
  std::vector<std::complex<T>> want(x.size()), got(x.size());
  dm::local::fft(l, forward, x.data(), want.data());
  dm::local::fft_dims<T>(l, forward, T(0.25), x.data(), got.data());
  CHECK(x == kept);
  double apart = 0, most = 0;
  const auto compare = [&](const std::vector<std::complex<T>>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      apart = std::max(apart, static_cast<double>(std::abs(y[i] - want[i] * T(0.25))));
      most = std::max(most, static_cast<double>(std::abs(want[i])));
    }
    CHECK(apart <= (sizeof(T) == 8 ? 1e-14 : 1e-6) * most);
  };
  compare(got);
  if (turned) return;
  dm::local::fft_dims<T>(l, forward, T(0.25), x.data(), x.data());
  compare(x);
}

TEST_CASE("columns that lie far apart, some at a time in a buffer: what FFTW makes of them" *
          needs_fftw) {
  const index_t blocks[][3] = {{1, 64, 64},  {3, 40, 51},  {16, 16, 24}, {64, 5, 33},
                               {2, 600, 64}, {17, 33, 17}, {1, 1, 2100}, {300, 1, 128}};
  for (const auto& n : blocks)
    for (const unsigned along : {1u, 2u, 4u, 3u, 5u, 6u, 7u})
      for (const bool turned : {false, true}) {
        check_dims<double>(n[0], n[1], n[2], along, along % 2 == 0, turned);
        check_dims<float>(n[0], n[1], n[2], along, along % 2 == 1, turned);
      }
}

TEST_CASE("transforms of larger blocks, there and back; what nobody else holds stays in place" *
          needs_fftw) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(rows{ranks}, cols{1});
  using slab = dm::tensor<double, dm::layout<pod, dm::split<dm::uneven<p>, rows>>, p, q, r>;
  const auto u = dm::generate<slab>(
      g, [](auto i, auto j, auto k) { return std::sin(double(i * 31 + j * 17 + k * k)); }, p{40},
      q{36}, r{30});
  const auto v = dm::to_rank(u);
  const auto same = [&](const auto& w) {
    const auto back = dm::to_rank(w);
    double apart = 0;
    for (std::size_t i = 0; i < back.size(); ++i) apart = std::max(apart, abs(back[i] - v[i]));
    CHECK(apart < 1e-13);
  };
  const auto f = dm::fft_all_to_all<p, q, r>(u);
  same(dm::real(dm::ifft_all_to_all<p, q, r>(f)));
  same(dm::real(dm::ifft_all_to_all<r, p, q>(f)));
  const auto half_of_it = dm::rfft_all_to_all<r, h, p, q>(u);
  same(dm::irfft_all_to_all<h, r, p, q>(half_of_it, r{30}));
  same(dm::irfft_all_to_all<h, r, p, q>(half_of_it, r{30}));  // the operand is as it was
  same(dm::real(dm::ifft_exchange<p>(dm::fft_exchange<p>(u))));
  // The operand's own memory is not written, whoever holds it.
  const auto z = dm::as_complex(u);
  const auto before = dm::to_rank(z);
  (void)dm::fft_all_to_all<q, r>(z);
  CHECK(dm::to_rank(z) == before);
}

#ifdef FFTW_FORWARD
// One thread at a time may make or destroy plans: those that run are not let go by the table.
TEST_CASE(
    "a full table keeps the plans that are held, so that none is destroyed without its lock") {
  using dm::local::detail::fft_kind;
  auto& plans = dm::local::detail::fft_plans<double>::all();
  std::complex<double> x[700] = {};
  const auto find = [&](index_t n) {
    dm::local::fft_loops l;
    l.along(n, 1, 1);
    return plans.find(l, fft_kind::forward, x, x);
  };
  const auto held = find(3);
  std::size_t most = 0;
  for (index_t n = 4; n < 700; ++n) (void)find(n), most = std::max(most, plans.size());
  CHECK(find(3) == held);
  CHECK(plans.size() < most);  // the others were forgotten
}
#endif

TEST_CASE("probes: the costs of the types, for a layout that the run says" * needs_fftw) {
  using dm::split;
  using any = dm::layout<pod, dm::at_run_time>;
  const auto there_and_back = [](const auto& u) {
    const auto v = dm::rfft_all_to_all<deep, half, down, across>(u);
    const auto w = dm::fft_all_to_all<down, across>(dm::ifft_all_to_all<across, down>(v));
    return dm::irfft_all_to_all<half, deep, down, across>(w);
  };
  const dm::mesh_sizes<pod> on{rows{2}, cols{3}};
  const auto where_it_lies = [](const auto& u) {
    return dm::ifft_exchange<deep, down>(dm::fft_exchange<down, across>(u));
  };
  const auto same = [&]<class... R>(dm::layout<pod, R...> l) {
    using typed = dm::tensor<double, dm::shaped<dm::layout<pod, R...>>, down, across, deep>;
    using cube = dm::tensor<double, any, down, across, deep>;
    const auto check = [&](const auto& f) {
      const auto a = dm::count(f, typed(on));
      const auto b = dm::count(f, dm::probe_of<cube>(dm::layout_value<pod>(l), on));
      CHECK(a.flops() == b.flops());
      CHECK(a.moved() == b.moved());
      CHECK(a.counts.over == b.counts.over);
    };
    check(there_and_back);
    check(where_it_lies);
  };
  same(dm::layout<pod, split<down, rows>>{});
  same(dm::layout<pod, split<down, rows>, split<across, cols>>{});
  same(dm::layout<pod, split<dm::uneven<deep>, rows>, split<across, cols>>{});
  const auto alone = [&](const auto& f) {
    const dm::layout_value<pod> l(dm::layout<pod, split<down, rows>>{});
    return told([&] { (void)dm::count(f, dm::probe_of<dm::tensor<double, any, down>>(l, on)); });
  };
  CHECK(has(alone([](const auto& u) { return dm::fft_all_to_all<down>(u); }),
            "fft_all_to_all: dim_is_split"));
  CHECK(has(alone([](const auto& u) { return dm::fft<down>(u); }), "fft: dim_is_split"));
}

TEST_CASE("what FFTW cannot do" * needs_fftw) {
  dm::local::fft_loops l;
  l.along(-4, 1, 1);
  std::complex<double> x[4];
  CHECK_THROWS_WITH_AS(dm::local::fft(l, true, x, x), "fft: FFTW finds no plan for these extents",
                       dm::error);
}

TEST_CASE("extents that do not fit" * needs_fftw) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(rows{1}, cols{ranks});
  using line_of = dm::tensor<dm::complex_of<double>, dm::layout<pod>, h>;
  const auto y = dm::generate<line_of>(g, [](auto i) { return double(i); }, h{4});
  CHECK(has(told([&] { (void)dm::irfft<h, p>(y, p{9}); }),
            "irfft: dim 'p' has 9 elements, dim 'h' has 4"));
  CHECK(has(told([&] { (void)dm::irfft<h, p>(y); }),
            "irfft: dim 'h' may stand for 6 or 7 elements of 'p'"));
  CHECK(has(told([&] { (void)dm::rfft<h, half>(dm::real(y)); }),
            "rfft: dim 'h' has 4 elements, dim 'half' has 6"));
}

}  // namespace
