// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages that are under way when an exception passes: MPI keeps the memory that it writes to, and
// what comes after finds everything in order.
// ranks: 1 2 4
// labels: sanitize
#include "dimesh/collective/requests.hpp"

#include <dimesh/dimesh.hpp>
#include <dimesh/grad/overlap.hpp>
#include <dimesh/grad/recompute.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

#include "dimesh/collective/neighbors.hpp"
#include "dimesh/collective/pair.hpp"
#include "dimesh/collective/start_all_reduce.hpp"
#include "support/host.hpp"

namespace {
namespace dm = dimesh;
using dm::index_t;
using namespace dm::collective;
using dm::detail::storage;

struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
struct width : dm::dim<64> {};

constexpr index_t n = 100000;
constexpr std::size_t bytes = n * sizeof(double);

void start_and_throw(const dm::detail::communicator& c, void*& at) {
  const dm::detail::opened elements;
  const storage memory = storage::acquire(bytes);
  at = memory.data();
  auto* const x = static_cast<double*>(memory.data());
  for (index_t i = 0; i < n; ++i) x[i] = 1;
  pending_sums sums;
  sums.start(c, x, n, n / 4, memory);
  throw std::runtime_error("in between");
}

TEST_CASE("sums: the memory stays taken until MPI is done with it") {
  const dm::grid<line> g;
  const auto& c = g.everyone();
  const index_t live = dm::detail::pool::instance().figures().live;
  void* at = nullptr;
  CHECK_THROWS_WITH(start_and_throw(c, at), "in between");
  const bool under_way = dm::detail::pool::instance().figures().live > live;
  const storage other = storage::acquire(bytes);  // a new owner, if MPI is done
  const dm::detail::opened elements;
  CHECK(under_way == (other.data() != at));
  auto* const y = static_cast<double*>(other.data());
  for (index_t i = 0; i < n; ++i) y[i] = 2;
  while (requests_given_up() > 0) {}
  bool intact = true;
  for (index_t i = 0; i < n; ++i) intact = intact && y[i] == 2;
  CHECK(intact);
  CHECK(dm::detail::pool::instance().figures().live == live + static_cast<index_t>(bytes));
  all_reduce(c, y, y, n);
  CHECK(y[n - 1] == 2.0 * c.size());
}

TEST_CASE("what was given up is let go when others are waited for") {
  const dm::grid<line> g;
  const auto& c = g.everyone();
  const index_t live = dm::detail::pool::instance().figures().live;
  void* at = nullptr;
  CHECK_THROWS_WITH(start_and_throw(c, at), "in between");
  for (int i = 0; dm::detail::pool::instance().figures().live > live && i < 10000000; ++i) {
    requests others;  // no collective: ranks need not come here equally often
    others.wait("test");
  }
  CHECK(dm::detail::pool::instance().figures().live == live);
  MPI_Barrier(c.handle());
}

TEST_CASE("receives: taken back, and what is sent later goes to who asks later") {
  const dm::grid<line> g;
  const auto& c = g.everyone();
  const int next = (c.rank() + 1) % c.size(), last = (c.rank() + c.size() - 1) % c.size();
  double nothing = -1;
  {
    requests r;
    CHECK(MPI_Irecv(&nothing, 1, MPI_DOUBLE, last, 7, c.handle(), r.add(under_way::receive)) ==
          MPI_SUCCESS);
  }
  CHECK(requests_given_up() == 0);
  MPI_Barrier(c.handle());  // all have given up
  requests r;
  const double mine = c.rank();
  double theirs = -1;
  CHECK(MPI_Irecv(&theirs, 1, MPI_DOUBLE, last, 7, c.handle(), r.add(under_way::receive)) ==
        MPI_SUCCESS);
  CHECK(MPI_Isend(&mine, 1, MPI_DOUBLE, next, 7, c.handle(), r.add(under_way::other)) ==
        MPI_SUCCESS);
  r.wait("test");
  CHECK(theirs == last);
  CHECK(nothing == -1);
}

TEST_CASE("wait_for: until one other rank has answered") {
  const dm::grid<line> g;
  const auto& c = g.everyone();
  const int next = (c.rank() + 1) % c.size(), last = (c.rank() + c.size() - 1) % c.size();
  const int mine = c.rank();
  int got = -1;
  requests in, out;
  MPI_Irecv(&got, 1, MPI_INT, last, 0, c.handle(), in.add(under_way::receive));
  MPI_Isend(&mine, 1, MPI_INT, next, 0, c.handle(), out.add());
  wait_for(in, c, last, "test");
  CHECK(got == last);
  CHECK(in.empty());
  wait_for(out, c, next, "test");
  CHECK(out.empty());
}

TEST_CASE("what MPI reported while nobody waited is told who waits") {
  const dm::grid<line> g;
  const auto& c = g.everyone();
  const int next = (c.rank() + 1) % c.size(), last = (c.rank() + c.size() - 1) % c.size();
  if (c.size() == 1) return;  // Open MPI itself ends where a message to oneself does not fit
  const std::vector<char> out(2000);
  std::vector<char> in(1000);
  const auto start = [&](requests& received, requests& sent) {
    MPI_Irecv(in.data(), 1000, MPI_CHAR, last, 0, c.handle(), received.add(under_way::receive));
    MPI_Isend(out.data(), 2000, MPI_CHAR, next, 0, c.handle(), sent.add());
  };
  requests r;
  start(r, r);
  const auto test = [&] {
    while (!r.done()) r.progress("test");
  };
  CHECK_THROWS_AS(test(), dm::error);
  CHECK_THROWS_AS(r.progress("test"), dm::error);
  CHECK_THROWS_AS(r.wait("test"), dm::error);
  // (One alone: of several Open MPI's Waitall may never return where a receive fails.)
  requests waited, sent, in_turn;
  start(waited, sent);
  CHECK_THROWS_AS(waited.wait("test"), dm::error);
  start(in_turn, in_turn);
  CHECK_THROWS_AS(in_turn.wait_for_all("test"), dm::error);
  // Errors that are not ours end the job as before.
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &now);
    CHECK(now == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&now);
  }
}

TEST_CASE("exchange_some: calls that are under way together have different tags") {
  const dm::grid<line> g;
  const auto& c = g.everyone();
  const int first = c.next_tag(), second = c.next_tag();
  CHECK(first != second);
  CHECK(first > 0);
  int* bound = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&bound), &found);
  REQUIRE(found);
  for (int i = 0; i < 40000; ++i)
    if (const int t = c.next_tag(); t < 1 || t > *bound) FAIL("a tag that MPI does not grant");
  const std::vector<double> x{1, 2};
  std::vector<double> y(2, -1);
  const int next = (c.rank() + 1) % c.size(), last = (c.rank() + c.size() - 1) % c.size();
  exchange_some(c, x.data(), {{next, {0, 2}}}, y.data(), {{last, {0, 2}}}, "test");
  CHECK(y[1] == 2);
}

TEST_CASE("exchange_some: where one message fails, the memory of the others stays taken") {
  const dm::grid<line> g;
  const auto& c = g.everyone();
  const int next = (c.rank() + 1) % c.size(), last = (c.rank() + c.size() - 1) % c.size();
  const index_t live = dm::detail::pool::instance().figures().live;
  const auto fail = [&] {
    const storage out = storage::acquire(bytes);
    const dm::detail::opened elements;
    auto* const x = static_cast<double*>(out.data());
    for (index_t i = 0; i < n; ++i) x[i] = c.rank();
    exchange_some(c, x, {{next, {0, n}}, {c.size(), {0, 1}}}, x, {}, "test", {&out});
  };
  CHECK_THROWS_AS(fail(), dm::error);  // there is no such rank
  CHECK(requests_given_up() == 1);
  CHECK(dm::detail::pool::instance().figures().live == live + static_cast<index_t>(bytes));
  std::vector<double> got(n, -1);
  MPI_Recv(got.data(), n, MPI_DOUBLE, last, MPI_ANY_TAG, c.handle(), MPI_STATUS_IGNORE);
  CHECK(got[n - 1] == last);
  while (requests_given_up() > 0) {}
  CHECK(dm::detail::pool::instance().figures().live == live);
}

using layer = dm::tensor<double, dm::layout<line>, width>;
using model = std::array<layer, 3>;

/// Its second visit to the first layer, in the backward pass, fails on demand.
struct block {
  int* until;
  template <class P, class X> auto operator()(const P& p, const X& x) const {
    if (--*until == 0) throw std::runtime_error("in the backward pass");
    return x * p;
  }
};

TEST_CASE("value_and_grad_all_reduce: an exception between a sum's start and its end") {
  const dm::grid<line> g;
  model p{dm::constant<layer>(g, 1), dm::constant<layer>(g, 1), dm::constant<layer>(g, 1)};
  int left = -1;
  const auto f = [&left](const auto& q) {
    auto x = q[0] * q[0];
    for (const auto& l : q) x = dm::recompute(block{&left})(l, x);
    return dm::sum(x);
  };
  const auto gradient = dm::value_and_grad_all_reduce(f, p, {.bucket = 64});
  const auto want = gradient();
  const index_t live = dm::detail::pool::instance().figures().live;
  for (const int until : {6, 5}) {  // three visits forward, then the last layers' again
    left = until;
    CHECK_THROWS_WITH(gradient(), "in the backward pass");
    while (requests_given_up() > 0) {}
    CHECK(dm::detail::pool::instance().figures().live == live);
    left = -1;
    const auto again = gradient();
    CHECK(test_support::on_host(again.value)[0] == test_support::on_host(want.value)[0]);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(test_support::on_host(again.gradient[i])[5] ==
            test_support::on_host(want.gradient[i])[5]);
  }
}
}  // namespace
