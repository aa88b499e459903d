// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and their transposes: against whole arrays under every layout that their rule
// allows, with strides, dilations, paddings, groups; their gradients and costs; and what only the
// run refuses.
// ranks: 1 2 4
// checks: 3242 6440 9638
// labels: local sanitize_all device
#include "dimesh/op/convolution.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "dimesh/op/pooling.hpp"
#include "support/adjoint.hpp"
#include "support/windows.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

struct four : dm::dim<4> {};

template <class L, class Grid> void check_line(const Grid& g, const window_case& m, bool adjoint) {
  const array a = numbers({"p", "high", "q"}, {3, m.n, 4}, 1);
  const array b = numbers({"tall", "q", "r"}, {m.taps, 4, 2}, 2);
  const auto v = scattered<dm::tensor<double, L, p, high, q>>(g, a);
  const auto w = scattered<dm::tensor<double, L, tall, q, r>>(g, b);
  const auto f = [&](const auto& s, const auto& t) {
    return dm::convolution<p, rows, r>(
        s, t, dm::window<high, tall, rows>{m.stride, m.dilation, m.around});
  };
  const std::vector<seen> one = {
      {"high", "tall", "rows", m.stride, m.dilation, m.before, m.results}};
  CHECK(agrees(f(v, w), convolved({"p", "rows", "r"}, a, b, one)));
  if (adjoint) check_operation(f, {}, {a, b}, v, w);
}

TEST_CASE("a window over one dim, in every layout of the other ones") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dd::list<p, q, r>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("layout ", std::string(dd::spelled<L>()));
      for (std::size_t i = 0; i < window_cases.size(); ++i) {
        INFO("window ", i);
        check_line<L>(g, window_cases[i], i < 5);
      }
    });
  });
}

TEST_CASE("the transpose of a convolution is a convolution's gradient, on its own") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dd::list<p, q, r>, layout_choice{.uneven = true, .stride = 4}>(
        [&](auto t) {
          using L = typename decltype(t)::type;
          for (const window_case& m : window_cases) {
            if (m.results == 0) continue;
            INFO("extent ", m.n, ", taps ", m.taps, ", stride ", m.stride);
            const array a = numbers({"p", "rows", "r"}, {3, m.results, 2}, 1);
            const array b = numbers({"tall", "q", "r"}, {m.taps, 4, 2}, 2);
            const auto v = scattered<dm::tensor<double, L, p, rows, r>>(g, a);
            const auto w = scattered<dm::tensor<double, L, tall, q, r>>(g, b);
            const auto f = [&](const auto& y, const auto& k) {
              return dm::transposed_convolution<p, high, q>(
                  y, k, dm::window<rows, tall, high>{m.stride, m.dilation, m.around, m.n});
            };
            CHECK(agrees(f(v, w), transposed_whole(a, b, m)));
            check_operation(f, {}, {a, b}, v, w);
          }
        });
  });
}

TEST_CASE("the transpose of a convolution of no elements gives none") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const dm::tensor<double, dm::layout<line>, p, rows> v(g, p{2}, rows{0});
    struct none {
      index_t taps, stride;
      dm::padding around;
    };
    for (const none& m : {none{3, 2, {1, 1}}, none{1, 2, {}}, none{1, 3, {}}}) {
      const dm::tensor<double, dm::layout<line>, tall> w(g, tall{m.taps});
      const auto x = dm::transposed_convolution<p, high>(
          v, w, dm::window<rows, tall, high>{.stride = m.stride, .around = m.around});
      CHECK(x.template extent<high>() == 0);
      const auto y = dm::convolution<p, rows>(
          x, w, dm::window<high, tall, rows>{.stride = m.stride, .around = m.around});
      CHECK(y.template extent<rows>() == 0);
    }
  });
}

TEST_CASE("two dims and three, groups, any order of dims, and addends") {
  using L = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<r>, y>>;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    {  // images stored by channels; two groups, s, of two channels q
      const array a = numbers({"p", "s", "q", "high", "wide"}, {3, 2, 2, 5, 6}, 1);
      const array b = numbers({"s", "r", "q", "tall", "broad"}, {2, 3, 2, 3, 2}, 2);
      const auto v = scattered<dm::tensor<double, L, p, s, q, high, wide>>(g, a);
      const auto w = scattered<dm::tensor<double, L, s, r, q, tall, broad>>(g, b);
      const auto f = [](const auto& i, const auto& k) {
        return dm::convolution<p, s, r, rows, columns>(
            i, k, dm::window<high, tall, rows>{.around = dm::padding::same},
            dm::window<wide, broad, columns>{.stride = 2, .around = {1, 0}});
      };
      CHECK(agrees(f(v, w), convolved({"p", "s", "r", "rows", "columns"}, a, b,
                                      {{"high", "tall", "rows", 1, 1, 1, 5},
                                       {"wide", "broad", "columns", 2, 1, 1, 3}})));
      check_operation(f, {}, {a, b}, v, w);
    }
    {  // a filter for each channel, stored last; extents stay, and with them the dims
      const array a = numbers({"p", "high", "wide", "r"}, {3, 5, 6, 5}, 1);
      const array b = numbers({"tall", "broad", "r"}, {3, 2, 5}, 2);
      const auto v = scattered<dm::tensor<double, L, p, high, wide, r>>(g, a);
      const auto w = scattered<dm::tensor<double, L, tall, broad, r>>(g, b);
      const auto f = [](const auto& i, const auto& k) {
        return dm::convolution<p, high, wide, r>(
            i, k, dm::window<high, tall>{.dilation = 2, .around = dm::padding::same},
            dm::window<wide, broad>{.around = dm::padding::same});
      };
      CHECK(agrees(f(v, w), convolved({"p", "high", "wide", "r"}, a, b,
                                      {{"high", "tall", "high", 1, 2, 2, 5},
                                       {"wide", "broad", "wide", 1, 1, 0, 6}})));
      check_operation(f, {}, {a, b}, v, w);
    }
    {  // volumes: addends along x, a summed dim split over y
      using V = dm::layout<plane, dm::partial<x>, dm::split<dm::uneven<r>, y>>;
      using F = dm::layout<plane, dm::split<dm::uneven<r>, y>>;
      const array a = numbers({"high", "wide", "deep", "r"}, {3, 4, 5, 3}, 1);
      const array b = numbers({"tall", "broad", "thick", "r", "q"}, {2, 3, 2, 3, 2}, 2);
      const auto v = scattered<dm::tensor<double, V, high, wide, deep, r>>(g, a);
      const auto w = scattered<dm::tensor<double, F, tall, broad, thick, r, q>>(g, b);
      const auto f = [](const auto& i, const auto& k) {
        return dm::convolution<rows, columns, layers, q>(
            i, k, dm::window<high, tall, rows>{}, dm::window<wide, broad, columns>{.stride = 2},
            dm::window<deep, thick, layers>{.dilation = 2, .around = {2, 1}});
      };
      const auto y = f(v, w);
      static_assert(dm::spec_of<decltype(f(v, w))>::table.mask(dm::use::partial) == 3u);
      CHECK(agrees(y, convolved({"rows", "columns", "layers", "q"}, a, b,
                                {{"high", "tall", "rows", 1, 1, 0, 2},
                                 {"wide", "broad", "columns", 2, 1, 0, 1},
                                 {"deep", "thick", "layers", 1, 2, 2, 6}})));
      check_operation(f, {}, {a, b}, v, w);
    }
  });
}

TEST_CASE("floats, bfloat16, extents that types say") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = numbers({"p", "four", "q"}, {3, 4, 2}, 1);
    const array b = numbers({"tall", "q"}, {3, 2}, 2);
    const auto with = [&]<class T>(dd::tag<T>) {
      using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
      const auto v = scattered<dm::tensor<T, L, p, four, q>>(g, a);
      const auto w = scattered<dm::tensor<T, dm::layout<line>, tall, q>>(g, b);
      CHECK(agrees(
          dm::convolution<p, four>(v, w, dm::window<four, tall>{.around = dm::padding::same}),
          convolved({"p", "four"}, a, b, {{"four", "tall", "four", 1, 1, 1, 4}})));
      CHECK(agrees(
          dm::convolution<four, p>(v, w, dm::window<four, tall>{.around = dm::padding::same}),
          convolved({"four", "p"}, a, b, {{"four", "tall", "four", 1, 1, 1, 4}})));
    };
    for_each_type<float, double, dm::bfloat16>(with);
  });
}

TEST_CASE("pooling: the greatest of each window, and the mean, in every layout of other dims") {
  for_each_case<plane, unevenly_with_partial, p, q>(
      {{3, 4}, {2, 1}}, [](const auto& like, const array& sizes) {
        using X = std::remove_cvref_t<decltype(like)>;
        using L = typename X::layout_type;
        for (const window_case& m : window_cases) {
          INFO("extent ", m.n, ", window ", m.taps, ", stride ", m.stride);
          const array a = numbers({"p", "high", "q"}, {sizes.size[0], m.n, sizes.size[1]}, 1);
          const array b = reals(a.dims, a.size, 2);
          const auto v = scattered<dm::tensor<double, L, p, high, q>>(like.grid(), a);
          const auto u = scattered<dm::tensor<double, L, p, high, q>>(like.grid(), b);
          const dm::pool_window<high, rows> over{m.taps, m.stride, m.dilation, m.around};
          const seen w{"high", "", "rows", m.stride, m.dilation, m.before, m.results};
          const auto mean = [&](const auto& i) { return dm::mean_pool(i, over); };
          CHECK(agrees(mean(u), pooled_whole(b, true, w, m.taps), 1e-12));
          check_operation(mean, smooth, {a}, v);
          if constexpr (!dm::spec_of<X>::table.any_partial()) {
            const auto most = [&](const auto& i) { return dm::max_pool(i, over); };
            CHECK(agrees(most(v), pooled_whole(a, false, w, m.taps)));
            if (m.before < m.taps) check_operation(most, smooth, {b}, u);
          }
        }
      });
}

TEST_CASE("pooling over two dims, windows side by side, stored by channels") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const array a = reals({"p", "high", "wide"}, {3, 5, 6}, 1);
    const auto v = scattered<dm::tensor<double, L, p, high, wide>>(g, a);
    const auto f = [](const auto& i) {
      return dm::max_pool(i, dm::pool_window<high, rows>{},
                          dm::pool_window<wide, columns>{.size = 3});
    };
    CHECK(agrees(f(v), make({"p", "rows", "columns"}, {3, 2, 2}, [&](const extents& at) {
                   double most = -9;
                   for_each_index({2, 3}, [&](const extents& t) {
                     most = std::max(
                         most, value_at(a, a.dims, {at[0], 2 * at[1] + t[0], 3 * at[2] + t[1]}));
                   });
                   return most;
                 })));
    check_operation(f, smooth, {a}, v);
    const auto gradient = [&](const auto& u) {  // and its own derivative
      const auto mean = dm::mean_pool(u, dm::pool_window<high, rows>{},
                                      dm::pool_window<wide, columns>{.size = 3});
      return f(u * u) * mean;
    };
    check_operation(gradient, precision{1e-6, 1e-5}, {a}, v);
  });
}

TEST_CASE("pooling over three dims: steps, dilation and padding of their own, of addends too") {
  const auto over = [](const auto& pool, const auto& i) {
    return pool(i, dm::pool_window<high, rows>{.around = {1, 0}},
                dm::pool_window<wide, columns>{.size = 3, .stride = 2, .around = dm::padding::same},
                dm::pool_window<deep, layers>{.stride = 1, .dilation = 2});
  };
  const auto most = [&](const auto& i) {
    return over([](const auto&... v) { return dm::max_pool(v...); }, i);
  };
  const auto mean = [&](const auto& i) {
    return over([](const auto&... v) { return dm::mean_pool(v...); }, i);
  };
  const array a = reals({"p", "high", "wide", "deep"}, {3, 5, 6, 4}, 1);
  const auto pooled = [&](bool by_mean) {
    return make({"p", "rows", "columns", "layers"}, {3, 3, 3, 2}, [&](const extents& at) {
      double sum = 0, greatest = -9;
      index_t n = 0;
      for_each_index({2, 3, 2}, [&](const extents& t) {
        const index_t i = 2 * at[1] + t[0] - 1, j = 2 * at[2] + t[1], k = at[3] + 2 * t[2];
        if (i < 0 || j >= 6) return;  // same: 0 before, 1 behind
        const double one = value_at(a, a.dims, {at[0], i, j, k});
        sum += one, greatest = std::max(greatest, one), ++n;
      });
      return by_mean ? sum / static_cast<double>(n) : greatest;
    });
  };
  for_each_grid<line>([&](const dm::grid<line>& g) {
    for_each_layout<line, dd::list<p>, unevenly_with_partial>([&](auto t) {
      using X = dm::tensor<double, typename decltype(t)::type, p, high, wide, deep>;
      const auto v = scattered<X>(g, a);
      CHECK(agrees(mean(v), pooled(true), 1e-14));
      check_operation(mean, smooth, {a}, v);
      if constexpr (!dm::spec_of<X>::table.any_partial()) {
        CHECK(agrees(most(v), pooled(false)));
        check_operation(most, smooth, {a}, v);
      }
    });
  });
}

TEST_CASE("pooling whole numbers: means are double, whatever their elements hold") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    using addends = dm::layout<line, dm::partial<x>>;
    const auto all = [](const names& dims, const extents& n, double value) {
      return make(dims, n, [=](const extents&) { return value; });
    };
    const auto full = [&]<class T>(dd::tag<T>, double value) {
      const auto v = scattered<dm::tensor<T, L, p, high, wide>>(
          g, all({"p", "high", "wide"}, {3, 16, 16}, value));
      for (const index_t n : {2, 16}) {  // 256 elements in a window: more than a byte counts
        const auto y = dm::mean_pool(v, dm::pool_window<high, rows>{.size = n},
                                     dm::pool_window<wide, columns>{.size = n});
        static_assert(std::is_same_v<dm::value_of<decltype(y)>, double>);
        CHECK(agrees(y, all({"p", "rows", "columns"}, {3, 16 / n, 16 / n}, value)));
      }
      CHECK(agrees(dm::max_pool(v, dm::pool_window<high, rows>{.size = 16}),
                   all({"p", "rows", "wide"}, {3, 1, 16}, value)));
    };
    full(dd::tag<std::uint8_t>{}, 200);
    full(dd::tag<std::int8_t>{}, -100);
    full(dd::tag<bool>{}, 1);
    const array a = numbers({"p", "high", "q"}, {3, 7, 2}, 1);
    const array want = pooled_whole(a, true, {"high", "", "rows", 2, 1, 0, 3}, 2);
    const auto mean = [](const auto& i) { return dm::mean_pool(i, dm::pool_window<high, rows>{}); };
    CHECK(agrees(mean(scattered<dm::tensor<int, L, p, high, q>>(g, a)), want));
    CHECK(agrees(mean(scattered<dm::tensor<int, addends, p, high, q>>(g, a)), want));
  });
}

TEST_CASE("what only the run refuses") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line>;
    const dm::tensor<float, L, p, high> v(g, p{2}, high{5});
    const dm::tensor<float, L, tall> w(g, tall{3});
    const auto said = [](const auto& f) -> std::string {
      try {
        f();
      } catch (const dm::error& e) {
        return e.what();
      }
      return "";
    };
    CHECK(said([&] { (void)dm::convolution<p, high>(v, w, dm::window<high, tall>{}); }) ==
          "convolution: there are 3 results along dim 'high', which has 5 elements; name a dim for "
          "the result, or pad");
    CHECK(said([&] { (void)dm::convolution<p, four>(v, w, dm::window<high, tall, four>{}); }) ==
          "convolution: there are 3 results along dim 'four', which has 4 elements; name a dim for "
          "the result, or pad");
    CHECK(said([&] { (void)dm::convolution<p, rows>(v, w, dm::window<high, tall, rows>{0}); }) ==
          "convolution: a window has taps, and its stride and dilation are at least 1, paddings at "
          "least 0; these are 3, 0, 1, 0, 0");
    CHECK(said([&] { (void)dm::max_pool(v, dm::pool_window<high, rows>{.size = 0}); }) ==
          "max_pool: a window has taps, and its stride and dilation are at least 1, paddings at "
          "least 0; these are 0, 0, 1, 0, 0");
    CHECK(said([&] {
            (void)dm::transposed_convolution<p, rows>(
                v, w, dm::window<high, tall, rows>{.stride = 2, .extent = 9});
          }) ==
          "transposed_convolution: 5 elements of dim 'high' are not what windows over 9 of "
          "'rows' give");
    CHECK(said([&] {
            (void)dm::transposed_convolution<p, rows>(
                v, w, dm::window<high, tall, rows>{.around = {4, 4}});
          }) ==
          "transposed_convolution: paddings of 4 and 4 take off more of 'rows' than windows from 5 "
          "elements cover; pad less");
  });
}

}  // namespace
