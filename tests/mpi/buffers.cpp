// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The collectives on raw buffers: in one call, and in the pieces that large buffers travel in.
// ranks: 1 2 3 4
// labels: device
#include "dimesh/collective/all_gather.hpp"
#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/collective/all_to_all.hpp"
#include "dimesh/collective/broadcast.hpp"
#include "dimesh/collective/element.hpp"
#include "dimesh/collective/gather.hpp"
#include "dimesh/collective/neighbors.hpp"
#include "dimesh/collective/point.hpp"
#include "dimesh/collective/reduce_scatter.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <numeric>

namespace {

using namespace dimesh::collective;
using dimesh::index_t;
using dimesh::detail::communicator;

communicator everyone() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  return communicator(copy, 1u);
}

/// What rank r holds at place i; sums over ranks are exact.
double held(int r, index_t i) { return static_cast<double>(100 * r + i % 97); }
std::vector<double> all_held(int r, index_t n) {
  std::vector<double> v;
  for (index_t i = 0; i < n; ++i) v.push_back(held(r, i));
  return v;
}
double sum_held(int ranks, index_t i) {
  double s = 0;
  for (int r = 0; r < ranks; ++r) s += held(r, i);
  return s;
}

/// Uneven blocks, one of them empty.
std::vector<index_t> counts(int ranks) {
  std::vector<index_t> n;
  for (int r = 0; r < ranks; ++r) n.push_back(r == 1 ? 0 : 4 + 3 * r);
  return n;
}
index_t before(const std::vector<index_t>& n, int r) {
  return std::accumulate(n.begin(), n.begin() + r, index_t{0});
}

constexpr index_t limits[] = {most_per_call<double>,
                              3};  // at once, and in messages of three elements

struct odd_size {
  char text[3];
};

TEST_CASE("elements: MPI's own types where there are, bytes for others") {
  CHECK(element<float>::type() == MPI_FLOAT);
  CHECK(element<std::complex<double>>::type() == MPI_C_DOUBLE_COMPLEX);
  CHECK(element<std::int16_t>::type() == MPI_INT16_T);
  CHECK(element<odd_size>::type() == MPI_BYTE);
  CHECK(element<odd_size>::units == 3);
  CHECK(operation<bool>(reduction::sum) == MPI_LOR);
  CHECK(operation<bool>(reduction::min) == MPI_LAND);
  CHECK(operation<bool>(reduction::product) == MPI_LAND);
  CHECK(operation<int>(reduction::max) == MPI_MAX);
  CHECK(operation<double>(reduction::product) == MPI_PROD);
}

TEST_CASE("all_reduce: in one call and in pieces, in place and not") {
  const communicator c = everyone();
  for (const index_t n : {index_t{0}, index_t{5}, cut_above / 8 + 12345}) {
    std::vector<double> x = all_held(c.rank(), n), y(x.size());
    all_reduce(c, x.data(), y.data(), n);
    all_reduce(c, x.data(), x.data(), n);
    bool right = true;
    for (index_t i = 0; i < n; ++i)
      right = right && y[static_cast<std::size_t>(i)] == sum_held(c.size(), i) &&
              x[static_cast<std::size_t>(i)] == sum_held(c.size(), i);
    CHECK(right);
  }
  const dimesh::half two(2.0f);
  dimesh::half power(0.0f);
  all_reduce(c, &two, &power, 1, reduction::product);
  CHECK(static_cast<float>(power) == static_cast<float>(1 << c.size()));
  double v = c.rank(), top = 0, low = 0;
  all_reduce(c, &v, &top, 1, reduction::max);
  all_reduce(c, &v, &low, 1, reduction::min);
  CHECK(top == c.size() - 1);
  CHECK(low == 0);
}

TEST_CASE("reduce_scatter: each rank its block of the sum") {
  const communicator c = everyone();
  for (const index_t n : {index_t{0}, index_t{7}, cut_above / 8 / c.size() + 1001}) {
    const std::vector<double> x = all_held(c.rank(), n * c.size());
    std::vector<double> y(static_cast<std::size_t>(n));
    reduce_scatter(c, x.data(), n, y.data());
    bool right = true;
    for (index_t i = 0; i < n; ++i)
      right = right && y[static_cast<std::size_t>(i)] == sum_held(c.size(), c.rank() * n + i);
    CHECK(right);
  }
  const auto n = counts(c.size());
  for (const index_t limit : limits) {
    const std::vector<double> x = all_held(c.rank(), before(n, c.size()));
    std::vector<double> y(static_cast<std::size_t>(n[static_cast<std::size_t>(c.rank())]), -1);
    reduce_scatter_v(c, x.data(), n.data(), y.data(), limit);
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(y[i] == sum_held(c.size(), before(n, c.rank()) + static_cast<index_t>(i)));
  }
}

TEST_CASE("all_gather, gather, scatter: blocks in rank order") {
  const communicator c = everyone();
  const auto n = counts(c.size());
  const index_t mine = n[static_cast<std::size_t>(c.rank())], all = before(n, c.size());
  std::vector<double> want;
  for (int r = 0; r < c.size(); ++r)
    for (index_t i = 0; i < n[static_cast<std::size_t>(r)]; ++i) want.push_back(held(r, i));
  const std::vector<double> x = all_held(c.rank(), mine);
  const int root = c.size() - 1;
  for (const index_t limit : limits) {
    std::vector<double> y(static_cast<std::size_t>(all)), z(y.size()), back(x.size());
    all_gather_v(c, x.data(), n.data(), y.data(), limit);
    CHECK(y == want);
    gather_v(c, x.data(), n.data(), z.data(), root, limit);
    if (c.rank() == root) CHECK(z == want);
    std::vector<double> held_already(z.size(), -1);
    double* const place = held_already.data() + (all - mine);  // of the last rank
    const double* const own =
        c.rank() == root ? std::copy(x.begin(), x.end(), place) - mine : x.data();
    gather_v(c, own, n.data(), held_already.data(), root, limit);
    if (c.rank() == root) CHECK(held_already == want);
    scatter_v(c, z.data(), n.data(), back.data(), root, limit);
    CHECK(back == x);
  }
  const odd_size name{{'a', 'b', static_cast<char>('0' + c.rank())}};
  std::vector<odd_size> names(static_cast<std::size_t>(c.size()));
  all_gather(c, &name, 1, names.data());
  for (int r = 0; r < c.size(); ++r) CHECK(names[static_cast<std::size_t>(r)].text[2] == '0' + r);
}

TEST_CASE("all_to_all: every rank a part for every other") {
  const communicator c = everyone();
  const auto value = [](int from, int to, index_t i) {
    return static_cast<double>(1000 * from + 100 * to + i);
  };
  for (const index_t limit : limits) {
    // Rank s has s + r elements for rank r, laid out from the last rank to the first.
    std::vector<run> send(static_cast<std::size_t>(c.size())), receive(send.size());
    index_t out = 0, in = 0;
    for (int r = c.size() - 1; r >= 0; --r) {
      const index_t count = r == c.rank() ? 0 : c.rank() + r;
      send[static_cast<std::size_t>(r)] = {out, count};
      receive[static_cast<std::size_t>(r)] = {in, count};
      out += count, in += count;
    }
    std::vector<double> a(static_cast<std::size_t>(out)), b(static_cast<std::size_t>(in), -1);
    for (int r = 0; r < c.size(); ++r)
      for (index_t i = 0; i < send[static_cast<std::size_t>(r)].count; ++i)
        a[static_cast<std::size_t>(send[static_cast<std::size_t>(r)].at + i)] =
            value(c.rank(), r, i);
    all_to_all_v(c, a.data(), send.data(), b.data(), receive.data(), 100, limit);
    for (int r = 0; r < c.size(); ++r)
      for (index_t i = 0; i < receive[static_cast<std::size_t>(r)].count; ++i)
        CHECK(b[static_cast<std::size_t>(receive[static_cast<std::size_t>(r)].at + i)] ==
              value(r, c.rank(), i));
  }
}

TEST_CASE("broadcast, and messages between neighbours") {
  const communicator c = everyone();
  for (const index_t limit : limits)
    for (int root = 0; root < c.size(); ++root) {
      std::vector<double> x = all_held(c.rank(), 10);
      broadcast(c, x.data(), 10, root, limit);
      CHECK(x == all_held(root, 10));
    }
  for (const index_t limit : limits) {
    const int next = (c.rank() + 1) % c.size(), last = (c.rank() + c.size() - 1) % c.size();
    const std::vector<double> x = all_held(c.rank(), 8);
    std::vector<double> y(9, -1);
    const std::vector<message> to{{next, {1, 7}}}, from{{last, {2, 7}}};
    exchange_some(c, x.data(), to, y.data(), from, "test", {}, limit);
    CHECK(y[0] == -1);
    for (std::size_t i = 0; i < 7; ++i) CHECK(y[2 + i] == held(last, static_cast<index_t>(i) + 1));
    std::vector<double> z(8, -1);
    exchange(c, x.data(), c.size() > 1 ? 8 : 0, next, z.data(), c.size() > 1 ? 8 : 0, last, "test",
             limit);
    if (c.size() > 1) CHECK(z == all_held(last, 8));
  }
}

TEST_CASE("what MPI reports becomes an exception that names the call") {
  const communicator c = everyone();
  double x = 0;
  CHECK_THROWS_WITH_AS(
      dimesh::detail::check(MPI_Bcast(&x, 1, MPI_DOUBLE, c.size() + 5, c.handle()), "broadcast"),
      doctest::Contains("broadcast: MPI reports"), dimesh::error);
}

}  // namespace
