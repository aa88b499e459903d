// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions, their transposes and pooling along dims that are split: against whole arrays under
// every layout, with strides, dilations, paddings, blocks shorter than halos, or empty; gradients
// and costs; and which elements travel, counted one by one.
// ranks: 1 2 3 4
// checks: 2502 4929 4929 7355
// compiler: clang
// labels: local device
#include "dimesh/op/convolution_exchange.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "dimesh/grad/vjp.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/pooling_exchange.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/value.hpp"
#include "support/adjoint.hpp"
#include "support/windows.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

constexpr layout_choice some_unevenly{.uneven = true, .stride = 2, .first = 1};

/// check_operation; the cost is that of the origin, and ranks that lie inside send more.
template <class F, class... X>
void check_exchange(const F& f, const precision& p, const std::vector<array>& a, const X&... x) {
  const unsigned all =
      dd::dual_of(dm::spec_of<decltype(f(x...))>::table).mask(dimesh::use::partial);
  for (const unsigned once : std::set<unsigned>{0u, all}) {
    const operation_report r = run_adjoint(f, once, p.step, a, x...);
    INFO("cotangents held whole along axes ", once);
    CHECK(std::abs(r.tangent - r.cotangent) <= p.tolerance * std::max(1.0, std::abs(r.tangent)));
    if (std::get<0>(std::tie(x...)).grid().rank() != 0) continue;
    CHECK(r.forward == "");
    CHECK(r.backward == "");
  }
}

/// check(f()), where halos come before all else, and check(f(beside_interior)).
template <class F, class C> void check_both_ways(const F& f, const C& check) {
  {
    INFO("halos first");
    check(f());
  }
  INFO("halos beside the interior");
  check(f(dm::beside_interior));
}

TEST_CASE("a window over a dim that is split, in every layout") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dd::list<high, r>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("layout ", std::string(dd::spelled<L>()));
      for (const window_case& m : window_cases) {
        INFO("extent ", m.n, ", taps ", m.taps, ", stride ", m.stride);
        const array a = numbers({"p", "high", "q"}, {3, m.n, 2}, 1);
        const array b = numbers({"tall", "q", "r"}, {m.taps, 2, 3}, 2);
        const auto v = scattered<dm::tensor<double, L, p, high, q>>(g, a);
        const auto w = scattered<dm::tensor<double, L, tall, q, r>>(g, b);
        const auto f = [&](auto... way) {
          return [=](const auto& s, const auto& k) {
            return dm::convolution_exchange<p, rows, r>(
                way..., s, k, dm::window<high, tall, rows>{m.stride, m.dilation, m.around});
          };
        };
        const array whole =
            convolved({"p", "rows", "r"}, a, b,
                      {{"high", "tall", "rows", m.stride, m.dilation, m.before, m.results}});
        check_both_ways(f, [&](const auto& g) {
          CHECK(agrees(g(v, w), whole));
          check_exchange(g, {}, {a, b}, v, w);
        });
      }
    });
  });
}

TEST_CASE("the transpose over a dim that is split") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dd::list<rows, q>, some_unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("layout ", std::string(dd::spelled<L>()));
      for (const window_case& m : window_cases) {
        if (m.results == 0) continue;
        INFO("extent ", m.n, ", taps ", m.taps, ", stride ", m.stride);
        const array a = numbers({"p", "rows", "r"}, {2, m.results, 2}, 1);
        const array b = numbers({"tall", "q", "r"}, {m.taps, 3, 2}, 2);
        const auto v = scattered<dm::tensor<double, L, p, rows, r>>(g, a);
        const auto w = scattered<dm::tensor<double, L, tall, q, r>>(g, b);
        const auto f = [&](auto... way) {
          return [=](const auto& y, const auto& k) {
            return dm::transposed_convolution_exchange<p, high, q>(
                way..., y, k, dm::window<rows, tall, high>{m.stride, m.dilation, m.around, m.n});
          };
        };
        check_both_ways(f, [&](const auto& g) {
          CHECK(agrees(g(v, w), transposed_whole(a, b, m)));
          check_exchange(g, {}, {a, b}, v, w);
        });
      }
    });
  });
}

TEST_CASE("height and width split, corners and all; groups") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dd::list<high, wide>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("layout ", std::string(dd::spelled<L>()));
      const array a = numbers({"s", "high", "q", "wide"}, {2, 7, 2, 6}, 1);
      const array b = numbers({"s", "r", "q", "tall", "broad"}, {2, 3, 2, 3, 4}, 2);
      const auto v = scattered<dm::tensor<double, L, s, high, q, wide>>(g, a);
      const auto w = scattered<dm::tensor<double, L, s, r, q, tall, broad>>(g, b);
      const auto f = [](auto... way) {
        return [=](const auto& i, const auto& k) {
          return dm::convolution_exchange<s, r, rows, columns>(
              way..., i, k, dm::window<high, tall, rows>{.around = dm::padding::same},
              dm::window<wide, broad, columns>{.stride = 2, .around = {1, 2}});
        };
      };
      const array whole = convolved(
          {"s", "r", "rows", "columns"}, a, b,
          {{"high", "tall", "rows", 1, 1, 1, 7}, {"wide", "broad", "columns", 2, 1, 1, 3}});
      check_both_ways(f, [&](const auto& h) {
        CHECK(agrees(h(v, w), whole));
        check_exchange(h, {}, {a, b}, v, w);
      });
    });
  });
}

/// Are all elements the same? (Of tensors of one layout, or sums yet to be made of it.)
template <class X, class Y> bool equal(const X& u, const Y& v) {
  const auto d = dm::complete(u) - dm::complete(v);
  return dm::value(dm::complete(dm::sum<>(d * d))) == 0;
}

TEST_CASE("blocks that are worth a library's convolution, and their gradients, in parts") {
  using L = dm::layout<plane, dm::split<dm::uneven<high>, x>, dm::split<dm::uneven<wide>, y>>;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const array b = numbers({"tall", "broad", "q", "r"}, {3, 3, 16, 8}, 2);
    for (const index_t images : {1, 2}) {
      INFO("images ", images);
      const array a = numbers({"s", "high", "wide", "q"}, {images, 26, 23, 16}, 1);
      const auto v = scattered<dm::tensor<float, L, s, high, wide, q>>(g, a);
      const auto w = scattered<dm::tensor<float, L, tall, broad, q, r>>(g, b);
      for (const index_t stride : {1, 2}) {
        INFO("stride ", stride);
        const auto f = [&](auto... way) {
          return dm::vjp(
              [=](const auto& i, const auto& k) {
                return dm::convolution_exchange<s, rows, columns, r>(
                    way..., i, k,
                    dm::window<high, tall, rows>{.stride = stride, .around = dm::padding::same},
                    dm::window<wide, broad, columns>{.around = dm::padding::same});
              },
              v, w);
        };
        auto first = f(), beside = f(dm::beside_interior);
        CHECK(equal(first.value, beside.value));
        const auto [v_bar, w_bar] = first.pullback(first.value);
        const auto [v_beside, w_beside] = beside.pullback(first.value);
        CHECK(equal(v_bar, v_beside));
        CHECK(equal(w_bar, w_beside));
      }
    }
  });
}

TEST_CASE("volumes whose dims stay, split in two of them") {
  using L = dm::layout<plane, dm::split<dm::uneven<deep>, x>, dm::split<dm::uneven<high>, y>>;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const array a = numbers({"high", "wide", "deep", "r"}, {5, 4, 5, 2}, 1);
    const array b = numbers({"tall", "broad", "thick", "r", "q"}, {3, 2, 2, 2, 2}, 2);
    const auto v = scattered<dm::tensor<double, L, high, wide, deep, r>>(g, a);
    const auto w = scattered<dm::tensor<double, L, tall, broad, thick, r, q>>(g, b);
    const auto f = [](auto... way) {
      return [=](const auto& i, const auto& k) {
        return dm::convolution_exchange<high, wide, deep, q>(
            way..., i, k, dm::window<high, tall>{.dilation = 2, .around = dm::padding::same},
            dm::window<wide, broad>{.around = dm::padding::same},
            dm::window<deep, thick>{.dilation = 3, .around = dm::padding::same});
      };
    };
    const array whole = convolved({"high", "wide", "deep", "q"}, a, b,
                                  {{"high", "tall", "high", 1, 2, 2, 5},
                                   {"wide", "broad", "wide", 1, 1, 0, 4},
                                   {"deep", "thick", "deep", 1, 3, 1, 5}});
    check_both_ways(f, [&](const auto& h) {
      CHECK(agrees(h(v, w), whole));
      check_exchange(h, {}, {a, b}, v, w);
    });
  });
}

TEST_CASE("transposes over two dims and three: groups, even filters, dilation, any padding") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dd::list<rows, columns>, some_unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("layout ", std::string(dd::spelled<L>()));
      {
        const array a = numbers({"s", "rows", "r", "columns"}, {2, 4, 3, 3}, 1);
        const array b = numbers({"s", "r", "q", "tall", "broad"}, {2, 3, 2, 4, 2}, 2);
        const auto v = scattered<dm::tensor<double, L, s, rows, r, columns>>(g, a);
        const auto w = scattered<dm::tensor<double, L, s, r, q, tall, broad>>(g, b);
        const auto f = [](const auto& y, const auto& k) {
          return dm::transposed_convolution_exchange<s, high, q, wide>(
              y, k, dm::window<rows, tall, high>{.stride = 2, .around = {1, 2}, .extent = 7},
              dm::window<columns, broad, wide>{.dilation = 3, .around = {2, 1}, .extent = 3});
        };
        CHECK(agrees(f(v, w), transposed_over({"s", "high", "q", "wide"}, {2, 7, 2, 3}, a, b,
                                              {{"high", "tall", "rows", 2, 1, 1, 4},
                                               {"wide", "broad", "columns", 1, 3, 2, 3}})));
        check_exchange(f, {}, {a, b}, v, w);
      }
      {  // a filter for each channel
        const array a = numbers({"rows", "r", "columns", "layers"}, {3, 2, 4, 2}, 1);
        const array b = numbers({"r", "tall", "broad", "thick"}, {2, 2, 3, 4}, 2);
        const auto v = scattered<dm::tensor<double, L, rows, r, columns, layers>>(g, a);
        const auto w = scattered<dm::tensor<double, L, r, tall, broad, thick>>(g, b);
        const auto f = [](const auto& y, const auto& k) {
          return dm::transposed_convolution_exchange<high, wide, r, deep>(
              y, k,
              dm::window<rows, tall, high>{.stride = 2, .around = dm::padding::same, .extent = 6},
              dm::window<columns, broad, wide>{.dilation = 2, .around = dm::padding::same},
              dm::window<layers, thick, deep>{.stride = 3, .around = {1, 0}});
        };
        CHECK(agrees(f(v, w), transposed_over({"high", "wide", "r", "deep"}, {6, 4, 2, 6}, a, b,
                                              {{"high", "tall", "rows", 2, 1, 0, 3},
                                               {"wide", "broad", "columns", 1, 2, 2, 4},
                                               {"deep", "thick", "layers", 3, 1, 1, 2}})));
        check_exchange(f, {}, {a, b}, v, w);
      }
    });
  });
}

TEST_CASE("pooling over a dim that is split") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dd::list<p, high>, some_unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("layout ", std::string(dd::spelled<L>()));
      for (const window_case& m : window_cases) {
        INFO("extent ", m.n, ", window ", m.taps, ", stride ", m.stride);
        const array a = numbers({"p", "high", "q"}, {3, m.n, 2}, 1);
        const array b = reals(a.dims, a.size, 2);
        const auto v = scattered<dm::tensor<double, L, p, high, q>>(g, a);
        const auto u = scattered<dm::tensor<double, L, p, high, q>>(g, b);
        const dm::pool_window<high, rows> over{m.taps, m.stride, m.dilation, m.around};
        const seen w{"high", "", "rows", m.stride, m.dilation, m.before, m.results};
        const auto mean = [&](auto... way) {
          return [=](const auto& i) { return dm::mean_pool_exchange(way..., i, over); };
        };
        const auto most = [&](auto... way) {
          return [=](const auto& i) { return dm::max_pool_exchange(way..., i, over); };
        };
        check_both_ways(mean, [&](const auto& f) {
          CHECK(agrees(f(u), pooled_whole(b, true, w, m.taps), 1e-12));
          check_exchange(f, smooth, {a}, v);
        });
        check_both_ways(most, [&](const auto& f) {
          CHECK(agrees(f(v), pooled_whole(a, false, w, m.taps)));
          if (m.before < m.taps) check_exchange(f, smooth, {b}, u);
        });
      }
    });
  });
}

TEST_CASE("pooling whole numbers over a dim that is split") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<high>, x>>;
    const auto all = [](const std::string& dim, index_t n) {
      return make({dim}, {n}, [](const extents&) { return 200.0; });
    };
    const auto v = scattered<dm::tensor<std::uint8_t, L, high>>(g, all("high", 1024));
    const auto y = dm::mean_pool_exchange(v, dm::pool_window<high, rows>{.size = 512});
    CHECK(agrees(y, all("rows", 2)));
  });
}

TEST_CASE("pooling: the gradient's own derivative; blocks cut anywhere") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::ragged<high>, x>>;
    const array a = reals({"p", "high", "q"}, {2, 9, 2}, 1);
    std::vector<double> weight(g.everyone().size(), 1);
    weight.back() = 4;
    const auto cut = dm::cuts_by_speed<high>(9, weight);
    const auto v = scattered<dm::tensor<double, L, p, high, q>>(g, a, cut);
    const dm::pool_window<high, rows> over{.size = 3, .stride = 2};
    const auto f = [&](const auto& i) { return dm::max_pool_exchange(i, over); };
    CHECK(agrees(f(v), pooled_whole(a, false, {"high", "", "rows", 2, 1, 0, 4}, 3)));
    const auto gradient = [&](const auto& u) { return f(u * u) * dm::mean_pool_exchange(u, over); };
    check_exchange(gradient, precision{1e-6, 1e-5}, {a}, v);
    const array b = numbers({"tall"}, {3}, 2);
    const auto w = scattered<dm::tensor<double, dm::layout<line>, tall>>(g, b);
    CHECK(agrees(dm::convolution_exchange<p, high, q>(
                     v, w, dm::window<high, tall>{.around = dm::padding::same}),
                 convolved({"p", "high", "q"}, a, b, {{"high", "tall", "high", 1, 1, 1, 9}}),
                 1e-12));
  });
}

/// The blocks of all ranks along dim D.
template <class D, class X> std::vector<dm::block> blocks_of_all(const X& y) {
  std::vector<index_t> all(2 * y.grid().everyone().size());
  const dm::block own = y.template block<D>();
  const index_t mine[] = {own.offset, own.length};
  MPI_Allgather(mine, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, y.grid().everyone().handle());
  std::vector<dm::block> blocks;
  for (std::size_t k = 0; k < all.size(); k += 2) blocks.push_back({all[k], all[k + 1]});
  return blocks;
}
/// Elements that leave this rank: of its block, those that windows of others' results see.
index_t leaving(const window_case& m, dm::block mine, const std::vector<dm::block>& results,
                int me) {
  index_t n = 0;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (static_cast<int>(k) == me) continue;
    std::set<index_t> seen_there;
    for (index_t o = results[k].offset; o < results[k].offset + results[k].length; ++o)
      for (index_t t = 0; t < m.taps; ++t)
        seen_there.insert(m.stride * o + m.dilation * t - m.before);
    for (const index_t i : seen_there) n += i >= mine.offset && i < mine.offset + mine.length;
  }
  return n;
}
/// The same on the way back: those whose windows, holes in them included, cover others' elements.
index_t returning(const window_case& m, dm::block mine, const std::vector<dm::block>& array,
                  int me) {
  index_t n = 0;
  for (std::size_t k = 0; k < array.size(); ++k) {
    if (static_cast<int>(k) == me) continue;
    const index_t first = array[k].offset, last = first + array[k].length - 1;
    for (index_t o = mine.offset; o < mine.offset + mine.length; ++o) {
      const index_t from = m.stride * o - m.before;
      n += last >= first && from <= last && from + m.dilation * (m.taps - 1) >= first;
    }
  }
  return n;
}

TEST_CASE("halos: nothing travels but what windows see, whatever the halos' widths") {
  const std::vector<window_case> halos = {
      {24, 3, 1, 1, dm::padding::same, 1, 24},   // one on either side
      {24, 2, 1, 1, dm::padding::same, 0, 24},   // an even filter: behind only
      {24, 3, 2, 1, dm::padding::same, 0, 12},   // a stride: behind only
      {24, 2, 2, 1, dm::padding::valid, 0, 12},  // windows side by side: none
      {60, 13, 1, 1, dm::padding::valid, 0, 48},  // halos that grow with the rank, and shrink
      {24, 3, 1, 4, dm::padding::same, 4, 24},   // dilation
      {24, 21, 1, 1, dm::padding::same, 10, 24},  // beyond the neighbours
      {12, 1, 1, 1, {12, 0}, 12, 24},            // whole blocks on their way
      {23, 5, 3, 1, {4, 2}, 4, 9},               // uneven blocks
  };
  using L = dm::layout<line, dm::split<dm::uneven<high>, x>>;
  for_each_grid<line>([&](const dm::grid<line>& g) {
    for (const window_case& m : halos) {
      INFO("extent ", m.n, ", taps ", m.taps, ", stride ", m.stride, ", dilation ", m.dilation);
      const array a = numbers({"high", "q"}, {m.n, 2}, 1), b = numbers({"tall"}, {m.taps}, 2);
      const auto v = scattered<dm::tensor<double, L, high, q>>(g, a);
      const auto w = scattered<dm::tensor<double, dm::layout<line>, tall>>(g, b);
      const dm::window<high, tall, rows> over{m.stride, m.dilation, m.around};
      const auto f = [&](auto... way) {
        return [=] { return dm::convolution_exchange<rows, q>(way..., v, w, over); };
      };
      const array whole =
          convolved({"rows", "q"}, a, b,
                    {{"high", "tall", "rows", m.stride, m.dilation, m.before, m.results}});
      check_both_ways(f, [&](const auto& run) {
        const auto before = census::snapshot();
        const auto y = run();
        const auto sent = census::snapshot() - before;
        CHECK(agrees(y, whole));
        CHECK(sent.bytes() == 2 * 8 * leaving(m, v.block(0), blocks_of_all<rows>(y), g.rank()));
      });
    }
  });
}

// Lepikhin et al. 2020, section A.4: arrays with holes between their elements (base dilation).
TEST_CASE("halos of transposes: strides that divide the blocks, and others") {
  const std::vector<window_case> halos = {
      {24, 3, 2, 1, dm::padding::same, 0, 12},   // whole strides in a block: all ranks pad alike
      {21, 3, 2, 1, dm::padding::same, 1, 11},  // not so: each begins elsewhere between elements
      {25, 4, 3, 1, {2, 1}, 2, 9},  // holes, and several filters over an element
      {23, 2, 3, 1, dm::padding::same, 0, 8},  // elements that no filter reaches
      {25, 3, 2, 3, {3, 3}, 3, 13},  // a filter with holes, too
  };
  using L = dm::layout<line, dm::split<dm::uneven<rows>, x>>;
  for_each_grid<line>([&](const dm::grid<line>& g) {
    for (const window_case& m : halos) {
      INFO("extent ", m.n, ", taps ", m.taps, ", stride ", m.stride, ", dilation ", m.dilation);
      const array a = numbers({"p", "rows", "r"}, {2, m.results, 2}, 1);
      const array b = numbers({"tall", "q", "r"}, {m.taps, 3, 2}, 2);
      const auto v = scattered<dm::tensor<double, L, p, rows, r>>(g, a);
      const auto w = scattered<dm::tensor<double, dm::layout<line>, tall, q, r>>(g, b);
      const auto before = census::snapshot();
      const auto y = dm::transposed_convolution_exchange<p, high, q>(
          v, w, dm::window<rows, tall, high>{m.stride, m.dilation, m.around, m.n});
      const auto sent = census::snapshot() - before;
      CHECK(agrees(y, transposed_whole(a, b, m)));
      CHECK(sent.bytes() ==
            4 * 8 * returning(m, v.block<rows>(), blocks_of_all<high>(y), g.rank()));
    }
  });
}

TEST_CASE("holes and a stride at once: a filter of one tap makes the holes") {
  using L = dm::layout<line, dm::split<dm::uneven<high>, x>>;
  for_each_grid<line>([&](const dm::grid<line>& g) {
    const array tap = make({"tall"}, {1}, [](const extents&) { return 1.0; });
    const auto one = scattered<dm::tensor<double, dm::layout<line>, tall>>(g, tap);
    for (const index_t n : {13, 16})
      for (const auto& [holes, stride] : {std::pair<index_t, index_t>{2, 3}, {3, 2}, {2, 4}}) {
        INFO("extent ", n, ", holes ", holes, ", stride ", stride);
        const index_t far = holes * (n - 1) + 1;
        const array a = numbers({"high", "q"}, {n, 2}, 1), b = numbers({"broad"}, {4}, 2);
        const auto v = scattered<dm::tensor<double, L, high, q>>(g, a);
        const auto w = scattered<dm::tensor<double, dm::layout<line>, broad>>(g, b);
        const auto f = [&](const auto& i, const auto& j, const auto& k) {
          const auto spread = dm::transposed_convolution_exchange<wide, q>(
              i, j, dm::window<high, tall, wide>{.stride = holes, .extent = far});
          return dm::convolution_exchange<rows, q>(
              spread, k, dm::window<wide, broad, rows>{.stride = stride, .around = {2, 1}});
        };
        const auto y = f(v, one, w);
        check_exchange(f, smooth, {a, tap, b}, v, one, w);
        const array whole = make({"wide", "q"}, {far, 2}, [&](const extents& at) {
          return at[0] % holes == 0 ? value_at(a, a.dims, {at[0] / holes, at[1]}) : 0.0;
        });
        CHECK(agrees(y,
                     convolved({"rows", "q"}, whole, b,
                               {{"wide", "broad", "rows", stride, 1, 2, (far - 1) / stride + 1}})));
      }
  });
}

TEST_CASE("types: results lie as what they come from; even blocks must come out even") {
  struct eight : dm::dim<8> {};
  using X = dm::tensor<float, dm::layout<line, dm::split<high, x>>, p, high>;
  using W = dm::tensor<float, dm::layout<line>, tall>;
  using Y = dm::tensor<float, dm::layout<line, dm::split<rows, x>>, p, rows>;
  static_assert(
      std::is_same_v<decltype(dm::convolution_exchange<p, rows>(
                         std::declval<X>(), std::declval<W>(), dm::window<high, tall, rows>{})),
                     Y>);
  using U = dm::tensor<float, dm::layout<line, dm::split<dm::uneven<high>, x>>, p, high>;
  using V = dm::tensor<float, dm::layout<line, dm::split<dm::uneven<eight>, x>>, p, eight>;
  static_assert(
      std::is_same_v<
          decltype(dm::max_pool_exchange(std::declval<U>(), dm::pool_window<high, eight>{})), V>);
  for_each_grid<line>([](const dm::grid<line>& g) {
    const index_t ranks = g.state().sizes()[0];
    const X v(g, p{2}, high{2 * ranks});
    const W w(g, tall{2});
    if (ranks == 1) return;
    CHECK_THROWS_WITH_AS(
        (void)(dm::convolution_exchange<p, rows>(v, w, dm::window<high, tall, rows>{})),
        doctest::Contains("'rows'"), dm::error);
  });
}

}  // namespace
