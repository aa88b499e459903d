// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms that kernels have for devices, run on the host: element by element (row by row, column
// by column) they give what the host's forms give, to rounding where sums are made in another
// order, to the bit where nothing is summed. So do the host's forms in several pieces.
#include "dimesh/local/pieces.hpp"

#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <thread>
#include <vector>

#include "dimesh/local/copy.hpp"
#include "dimesh/local/cross_entropy.hpp"
#include "dimesh/local/dropout.hpp"
#include "dimesh/local/factored.hpp"
#include "dimesh/local/norm.hpp"
#include "dimesh/local/rotary.hpp"
#include "dimesh/local/take.hpp"
#include "dimesh/random.hpp"

namespace {
namespace dl = dimesh::local;
using dimesh::index_t;
using device = Kokkos::Serial;

template <class T> std::vector<T> numbers(index_t n, unsigned seed) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x)
    v = static_cast<T>(
        dimesh::uniform_at<double>(dimesh::random_key(seed), index_t(&v - x.data())) * 4 - 2);
  return x;
}
template <class T> void near(const char* what, const std::vector<T>& a, const std::vector<T>& b) {
  INFO(what);
  REQUIRE(a.size() == b.size());
  const double bound = sizeof(T) == 4 ? 2e-5 : 1e-13;
  bool all = true;
  for (std::size_t i = 0; i < a.size(); ++i)
    all = all && std::abs(double(a[i]) - double(b[i])) <= bound * (1 + std::abs(double(a[i])));
  CHECK(all);
}

/// A thread that takes a piece of a kernel over tensors of one space must not take its scratch in
/// the program's default one, which hosts may not reach.
TEST_CASE("pieces: each works in the space of whoever launched it") {
  namespace dd = dimesh::detail;
  const dd::space_facts launched = dd::facts_of_memory<Kokkos::HostSpace>, others = launched;
  const dd::space_facts* seen = nullptr;
  const auto run = [](const void* to, index_t) {
    *static_cast<const dd::space_facts**>(const_cast<void*>(to)) = dd::space_now;
  };
  const auto work = [&] {
    const dd::in_space here(&launched);
    return dl::detail::work_in_pieces{run, &seen};
  }();
  CHECK(dd::space_now == nullptr);
  const dd::space_facts* left = nullptr;
  std::thread worker([&] {
    const dd::in_space its_own(&others);
    work(0);
    left = dd::space_now;
  });
  worker.join();
  CHECK(seen == &launched);
  CHECK(left == &others);
}

TEST_CASE_TEMPLATE("boxes: copied, added and filled in any order of strides", T, float, double, int,
                   std::complex<double>) {
  const index_t extent[] = {3, 4, 5};
  const index_t orders[][3] = {{20, 5, 1}, {1, 3, 12}, {60, 1, 7}, {200, 50, 2}};
  for (const auto& from : orders)
    for (const auto& to : orders) {
      const auto x = numbers<int>(1000, 1);
      std::vector<T> src(x.begin(), x.end()), host(1000, T(3)), dev(1000, T(3));
      const dl::detail::box b(3, extent, from, to);
      CHECK(b.size == 60);
      dl::copy_box(3, extent, src.data(), from, host.data(), to);
      dl::detail::each_for_itself<device>(
          b.size, dl::detail::box_element<dl::detail::assign_run, T>{b, src.data(), dev.data()});
      CHECK(host == dev);
      dl::add_box(3, extent, src.data(), from, host.data(), to);
      dl::detail::each_for_itself<device>(
          b.size, dl::detail::box_element<dl::detail::add_run, T>{b, src.data(), dev.data()});
      CHECK(host == dev);
      const index_t still[3] = {};
      const dl::detail::box f(3, extent, still, to);
      dl::fill_box(3, extent, T(7), host.data(), to);
      dl::detail::each_for_itself<device>(f.size, dl::detail::fill_element<T>{f, T(7), dev.data()});
      CHECK(host == dev);
    }
}

template <bool Center, class T>
void check_norm(index_t rows, index_t n, bool gains, bool biases, T far = 0) {
  auto x = numbers<T>(rows * n, 1);
  for (T& v : x) v += far;
  const auto ybar = numbers<T>(rows * n, 2), gain = numbers<T>(n, 3), bias = numbers<T>(n, 4);
  const T *g = gains ? gain.data() : nullptr, *b = biases ? bias.data() : nullptr;
  const auto size = static_cast<std::size_t>(rows * n), wide = static_cast<std::size_t>(n);
  std::vector<T> y(size), z(size), xbar(size), zbar(size), gbar(wide), hbar(wide), bbar(wide),
      cbar(wide);
  const T eps = T(1e-5);
  dl::normalize<Center>(rows, n, eps, x.data(), g, b, y.data());
  dl::detail::normalize_rows<Center, device>(rows, n, eps, x.data(), g, b, z.data());
  near("y", y, z);
  dl::normalize_transpose<Center>(rows, n, eps, ybar.data(), x.data(), g, xbar.data(), gbar.data(),
                                  bbar.data());
  dl::detail::normalize_transpose_rows<Center, device>(rows, n, eps, ybar.data(), x.data(), g,
                                                       zbar.data(), hbar.data(), cbar.data());
  near("xbar", xbar, zbar);
  near("gain", gbar, hbar);
  near("bias", bbar, cbar);
  using dimesh_test::reversed;
  dl::normalize<Center, T, reversed>(rows, n, eps, x.data(), g, b, z.data());
  near("y, in pieces", y, z);  // two compiled forms, which may fuse products otherwise
  dl::normalize_transpose<Center, T, reversed>(rows, n, eps, ybar.data(), x.data(), g, zbar.data(),
                                               hbar.data(), cbar.data());
  near("xbar, in pieces", xbar, zbar);
  near("gain, in pieces", gbar, hbar);
  near("bias, in pieces", bbar, cbar);
  std::vector<T> only(wide, T(5));
  dl::normalize_transpose<Center, T, reversed>(rows, n, eps, ybar.data(), x.data(), g,
                                               static_cast<T*>(nullptr), static_cast<T*>(nullptr),
                                               only.data());
  CHECK(only == cbar);
  dl::detail::normalize_transpose_rows<Center, device>(rows, n, eps, ybar.data(), x.data(), g,
                                                       zbar.data(), hbar.data(), cbar.data());
  dl::detail::normalize_transpose_rows<Center, device>(rows, n, eps, ybar.data(), x.data(), g,
                                                       static_cast<T*>(nullptr),
                                                       static_cast<T*>(nullptr), only.data());
  CHECK(only == cbar);
}
TEST_CASE_TEMPLATE("norms: rows, and the columns of gains and biases", T, float, double) {
  for (const index_t rows : {1, 5, 9, 150})
    for (const index_t n : {1, 7, 64}) {
      if (n > 1) check_norm<true, T>(rows, n, true, true);
      if (n > 1) check_norm<true, T>(rows, n, true, true, sizeof(T) == 4 ? T(1e7) : T(1e15));
      if (n > 1) check_norm<true, T>(rows, n, false, false);
      check_norm<false, T>(rows, n, true, false);
      check_norm<false, T>(rows, n, false, false);
    }
}

TEST_CASE_TEMPLATE("rows of a table: looked up and added, those that are elsewhere too", T, float,
                   double) {
  const std::vector<int> ids{3, 0, 7, -1, 5, 3, 3, 100};
  const auto count = static_cast<index_t>(ids.size());
  const auto table = numbers<T>(4 * 5, 1), rows = numbers<T>(count * 5, 2);
  std::vector<T> a(static_cast<std::size_t>(count * 5), T(9)), b = a;
  dl::take_rows(count, 5, ids.data(), 2, 4, table.data(), a.data());
  dl::detail::each_for_itself<device>(
      count * 5, dl::detail::taken_element<T, int>{5, ids.data(), 2, 4, table.data(), b.data()});
  CHECK(a == b);
  std::vector<T> p(4 * 5, T(9)), q = p;
  dl::add_rows(count, 5, ids.data(), 2, 4, rows.data(), p.data());
  for (const index_t shares : {1, 2, 4, 8}) {
    dl::detail::each_for_itself<device>(
        5 * shares, dl::detail::added_column<T, T, int>{count, 5, ids.data(), 2, 4, shares,
                                                        rows.data(), q.data()});
    CHECK(p == q);
  }
}

template <class Y, class X, class Z> void check_quads() {
  const auto x = numbers<X>(23, 1);
  const auto z = numbers<Z>(23, 2);
  const auto f = [](auto a, auto b) { return 2 * a - b; };
  for (const index_t n : {0, 1, 3, 4, 5, 8, 19})
    for (const index_t at : {0, 1, 2}) {  // aligned, or not
      std::vector<Y> a(23, Y(9)), b = a;
      dl::map(n, f, a.data() + at, x.data() + at, z.data() + 2 * at);
      using made = dl::detail::made_of_others<decltype(f)>;
      const dl::detail::for_each_quad<true, made, Y, const X, const Z> kernel(
          made{f}, n, b.data() + at, x.data() + at, z.data() + 2 * at);
      dl::detail::each_for_itself<device>(kernel.threads(), kernel);
      CHECK(a == b);
      const auto step = [](auto& p, const auto& q) { p -= q / 2; };
      dl::for_each(n, step, a.data() + at, x.data() + at);
      const dl::detail::for_each_quad<false, decltype(step), Y, const X> each(
          step, n, b.data() + at, x.data() + at);
      dl::detail::each_for_itself<device>(each.threads(), each);
      CHECK(a == b);
    }
}
TEST_CASE("maps of arrays: four elements a thread, and what is left") {
  check_quads<float, float, float>();
  check_quads<double, float, double>();
  check_quads<float, double, float>();
}

TEST_CASE("dropout: the same elements stay") {
  const dl::dropout_mask mask(dimesh::random_key(5), 0.3);
  const auto x = numbers<float>(500, 1);
  for (const index_t begin : {0, 1, 6, 131}) {
    std::vector<float> a(500), b(500);
    dl::dropout_run(mask, begin, 500, x.data(), a.data());
    dl::detail::each_for_itself<device>(
        500, dl::detail::dropped_element<float>{mask.key, mask.threshold, mask.scale<float>(),
                                                begin, x.data(), b.data()});
    CHECK(a == b);
  }
}

TEST_CASE_TEMPLATE("cross entropy: losses and slopes, targets elsewhere and nowhere", T, float,
                   double) {
  constexpr index_t rows = 6, width = 5;
  const auto x = numbers<T>(rows * width, 1), lse = numbers<T>(rows, 2), bar = numbers<T>(rows, 3);
  const std::vector<int> target{0, 12, 7, -1, 3, 4};
  for (const double smoothing : {0.0, 0.1})
    for (const bool counts : {true, false}) {
      const dl::cross_entropy_terms t{smoothing, 1e-3, 3, 12, counts};
      std::vector<T> a(rows), b(rows), p(rows * width), q(rows * width);
      const T on = T(1 - smoothing), z = T(1e-3), every = T(smoothing / 12);
      dl::cross_entropy(rows, width, t, x.data(), lse.data(), target.data(), a.data());
      dl::detail::each_for_itself<device>(
          rows, dl::detail::cross_entropy_row<T, int>{width, t, on, z, every, x.data(), lse.data(),
                                                      target.data(), b.data()});
      near("loss", a, b);
      using dimesh_test::reversed;
      dl::cross_entropy<T, int, reversed>(rows, width, t, x.data(), lse.data(), target.data(),
                                          b.data());
      near("loss, in pieces", a, b);
      dl::cross_entropy_transpose(rows, width, t, bar.data(), x.data(), lse.data(), target.data(),
                                  p.data());
      const dl::detail::cross_entropy_slope<T, int> slope{
          width, t, on, z, every, bar.data(), x.data(), lse.data(), target.data(), q.data()};
      dl::detail::each_for_itself<device>(rows * slope.quarter(), slope);
      near("slopes", p, q);
      dl::cross_entropy_transpose<T, int, reversed>(rows, width, t, bar.data(), x.data(),
                                                    lse.data(), target.data(), q.data());
      near("slopes, in pieces", p, q);
    }
}

TEST_CASE_TEMPLATE("rotations: by position, forth and back", T, float, double) {
  for (const index_t first : {0, 5, 31, 32, 70, -3})
    for (const bool back : {false, true}) {
      dl::rotation what;
      what.positions = 40, what.half = 3, what.first = first, what.back = back, what.row = 2 * 6;
      what.outer = 2;
      what.extent[0] = 2, what.stride[0] = 40 * 12;
      what.extent[1] = 2, what.stride[1] = 6;
      const auto x = numbers<T>(2 * 40 * 12, 1);
      std::vector<T> a(x.size()), b(x.size());
      std::vector<double> scratch(
          static_cast<std::size_t>(dl::rotation_scratch<T>(what)) / sizeof(double) + 1);
      dl::rotate(what, x.data(), a.data(), scratch.data());
      dl::detail::each_for_itself<device>(what.positions * what.half,
                                          dl::detail::rotated_pair<T>{what, 4, x.data(), b.data()});
      near("y", a, b);
    }
}

TEST_CASE_TEMPLATE("factored arrays: sums, shares, squares and steps", T, float, double) {
  const dl::factored_extents all[] = {
      {1, 4, 1, 5, 1}, {2, 3, 2, 4, 3}, {1, 1, 1, 7, 1}, {3, 2, 1, 1, 2}};
  for (const auto& n : all) {
    const auto size = [](index_t k) { return static_cast<std::size_t>(k); };
    const auto g = numbers<T>(n.size(), 1);
    std::vector<T> row(size(n.rows())), col(size(n.columns())), total(size(n.both()));
    auto row2 = row, col2 = col, total2 = total;
    const T eps = T(1e-3);
    dl::factored_sums(n, g.data(), 1e-3, row.data(), col.data());
    dl::detail::each_for_itself<device>(
        n.rows(), dl::detail::factored_row_sum<T>{n, g.data(), eps, row2.data()});
    dl::detail::each_for_itself<device>(
        n.columns(), dl::detail::factored_column_sum<T>{n, g.data(), eps, col2.data()});
    near("rows", row, row2);
    near("columns", col, col2);
    dl::factored_total(n, row.data(), total.data());
    for (std::size_t k = 0; k < total2.size(); ++k)
      for (index_t i = 0, step = n.B * n.C; i < n.P; ++i)
        total2[k] += row[size((index_t(k) / step * n.P + i) * step + index_t(k) % step)];
    near("total", total, total2);
    row2 = row;
    dl::factored_divide(n, total.data(), row.data());
    dl::detail::each_for_itself<device>(
        n.rows(), dl::detail::factored_row_share<T>{n, total.data(), row2.data()});
    near("shares", row, row2);
    std::vector<double> square(size(n.rows()));
    dl::detail::each_for_itself<device>(
        n.rows(),
        dl::detail::factored_row_square<T>{n, g.data(), row.data(), col.data(), square.data()});
    double sum = 0;
    for (const double s : square) sum += s;
    const double want = dl::factored_square(n, g.data(), row.data(), col.data());
    CHECK(std::abs(sum - want) <= 1e-5 * want);
    auto p = numbers<T>(n.size(), 2), p2 = p, m = numbers<T>(n.size(), 3), m2 = m;
    dl::factored_step(n, g.data(), row.data(), col.data(), T(0.1), p.data());
    dl::detail::each_for_itself<device>(
        n.size(), dl::detail::factored_update<T>{n, g.data(), row.data(), col.data(), T(0.1),
                                                 p2.data(), nullptr, T(0)});
    near("step", p, p2);
    dl::factored_step(n, g.data(), row.data(), col.data(), T(0.1), p.data(), m.data(), T(0.9));
    dl::detail::each_for_itself<device>(
        n.size(), dl::detail::factored_update<T>{n, g.data(), row.data(), col.data(), T(0.1),
                                                 p2.data(), m2.data(), T(0.9)});
    near("step with momentum", p, p2);
    near("momentum", m, m2);
  }
}

}  // namespace
