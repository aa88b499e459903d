// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: device
// Does the census count what a rank hands to MPI, by operation and by axes, no more and no less?
#include <doctest/doctest.h>
#include <census.hpp>
#include <dimesh/grid.hpp>

#include <sstream>
#include <vector>

namespace dm = dimesh;
using census::operation;

namespace {

struct rows : dm::axis<> {};
struct cols : dm::axis<1> {};
struct pod : dm::mesh<rows, cols> {};

struct world {
  int rank = 0;
  int size = 0;
  world() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
};

/// The counts of what `calls` does, which must be one call of `op` on MPI_COMM_WORLD.
template <class Calls> std::int64_t bytes_of_one(operation op, Calls calls) {
  census::reset();
  calls();
  const census::counts c = census::snapshot();
  CHECK(c.calls() == 1);
  CHECK(c.of(op, 0).calls == 1);
  return c.of(op, 0).bytes;
}

}  // namespace

TEST_CASE("census: sums and gathers count the send buffer") {
  const world w;
  const std::size_t n = 6;
  std::vector<double> x(n * static_cast<std::size_t>(w.size));
  std::vector<double> y(x.size());
  const auto comm = MPI_COMM_WORLD;
  MPI_Request request;

  CHECK(bytes_of_one(operation::all_reduce, [&] {
          MPI_Allreduce(x.data(), y.data(), 6, MPI_DOUBLE, MPI_SUM, comm);
        }) == 48);
  CHECK(bytes_of_one(operation::all_reduce, [&] {
          MPI_Allreduce(MPI_IN_PLACE, y.data(), 6, MPI_DOUBLE, MPI_SUM, comm);
        }) == 48);
  CHECK(bytes_of_one(operation::all_reduce, [&] {
          MPI_Iallreduce(x.data(), y.data(), 6, MPI_DOUBLE, MPI_SUM, comm, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        }) == 48);
  CHECK(bytes_of_one(operation::reduce_scatter, [&] {
          MPI_Reduce_scatter_block(x.data(), y.data(), 6, MPI_DOUBLE, MPI_SUM, comm);
        }) == 48 * w.size);
  const std::vector<int> counts(static_cast<std::size_t>(w.size), 6);
  CHECK(bytes_of_one(operation::reduce_scatter, [&] {
          MPI_Reduce_scatter(x.data(), y.data(), counts.data(), MPI_DOUBLE, MPI_SUM, comm);
        }) == 48 * w.size);
  CHECK(bytes_of_one(operation::all_gather, [&] {
          MPI_Allgather(x.data(), 6, MPI_DOUBLE, y.data(), 6, MPI_DOUBLE, comm);
        }) == 48);
  CHECK(bytes_of_one(operation::all_gather, [&] {
          MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y.data(), 6, MPI_DOUBLE, comm);
        }) == 48);
  CHECK(bytes_of_one(operation::all_to_all, [&] {
          MPI_Alltoall(x.data(), 6, MPI_DOUBLE, y.data(), 6, MPI_DOUBLE, comm);
        }) == 48 * (w.size - 1));  // nobody gets the own part
}

TEST_CASE("census: blocks of different lengths") {
  const world w;
  const auto size = static_cast<std::size_t>(w.size);
  std::vector<int> counts(size), at(size);
  for (int r = 0, next = 0; r < w.size; next += r++) {
    counts[static_cast<std::size_t>(r)] = r;
    at[static_cast<std::size_t>(r)] = next;
  }
  const int all = w.size * (w.size - 1) / 2;
  std::vector<float> x(static_cast<std::size_t>(w.size * w.size));
  std::vector<float> y(static_cast<std::size_t>(w.size * w.size));

  CHECK(bytes_of_one(operation::all_gather, [&] {
          MPI_Allgatherv(x.data(), w.rank, MPI_FLOAT, y.data(), counts.data(), at.data(), MPI_FLOAT,
                         MPI_COMM_WORLD);
        }) == 4 * w.rank);
  CHECK(bytes_of_one(operation::all_gather, [&] {
          MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y.data(), counts.data(), at.data(),
                         MPI_FLOAT, MPI_COMM_WORLD);
        }) == 4 * w.rank);
  // Rank r receives r elements from everybody.
  const std::vector<int> from(size, w.rank);
  std::vector<int> from_at(size);
  for (int r = 0; r < w.size; ++r) from_at[static_cast<std::size_t>(r)] = r * w.rank;
  CHECK(bytes_of_one(operation::all_to_all, [&] {
          MPI_Alltoallv(x.data(), counts.data(), at.data(), MPI_FLOAT, y.data(), from.data(),
                        from_at.data(), MPI_FLOAT, MPI_COMM_WORLD);
        }) == 4 * (all - w.rank));
}

TEST_CASE("census: a root's data count on the root only") {
  const world w;
  std::vector<int> x(static_cast<std::size_t>(5 * w.size));
  std::vector<int> y(static_cast<std::size_t>(5 * w.size));
  const int root = w.size - 1;
  const bool is_root = w.rank == root;

  CHECK(bytes_of_one(operation::broadcast, [&] {
          MPI_Bcast(x.data(), 5, MPI_INT, root, MPI_COMM_WORLD);
        }) == (is_root ? 20 : 0));
  CHECK(bytes_of_one(operation::scatter, [&] {
          MPI_Scatter(x.data(), 5, MPI_INT, y.data(), 5, MPI_INT, root, MPI_COMM_WORLD);
        }) == (is_root ? 20 * w.size : 0));
  CHECK(bytes_of_one(operation::gather, [&] {
          MPI_Gather(x.data(), 5, MPI_INT, y.data(), 5, MPI_INT, root, MPI_COMM_WORLD);
        }) == 20);
  CHECK(bytes_of_one(operation::reduce, [&] {
          MPI_Reduce(x.data(), y.data(), 5, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
        }) == 20);
  CHECK(bytes_of_one(operation::barrier, [&] { MPI_Barrier(MPI_COMM_WORLD); }) == 0);
}

TEST_CASE("census: messages count where they are sent, if there is somebody to receive them") {
  const world w;
  int out = 1;
  int in = 0;
  const int next = w.rank + 1 < w.size ? w.rank + 1 : MPI_PROC_NULL;
  const int previous = w.rank > 0 ? w.rank - 1 : MPI_PROC_NULL;
  CHECK(bytes_of_one(operation::send, [&] {
          MPI_Sendrecv(&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
        }) == (next == MPI_PROC_NULL ? 0 : 4));
  CHECK(bytes_of_one(operation::send, [&] {
          MPI_Request requests[2];
          MPI_Irecv(&in, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, &requests[0]);
          MPI_Isend(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[1]);
          MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }) == (next == MPI_PROC_NULL ? 0 : 4));
}

TEST_CASE("census: persistent messages count each time they start") {
  const world w;
  int out = 1;
  int in = 0;
  const int next = (w.rank + 1) % w.size, previous = (w.rank + w.size - 1) % w.size;
  MPI_Request requests[2];
  const auto made = census::persistent_sends();
  census::reset();
  MPI_Recv_init(&in, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[1]);
  CHECK(census::persistent_sends() == made + 1);
  CHECK(census::snapshot().calls() == 0);
  for (int i = 0; i < 3; ++i) {
    CHECK(bytes_of_one(operation::send, [&] {
            if (i == 1)
              for (MPI_Request& r : requests) MPI_Start(&r);
            else
              MPI_Startall(2, requests);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
          }) == 4);
  }
  for (MPI_Request& r : requests) MPI_Request_free(&r);
}

TEST_CASE("census: the grid's communicators are told apart by their axes") {
  const world w;
  const dm::grid<pod> grid(rows{w.size});
  const MPI_Comm along_rows = grid.along<rows>();
  const MPI_Comm along_both = grid.along<rows, cols>();
  int x = 0;
  census::reset();
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, along_rows);
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, along_rows);
  MPI_Bcast(&x, 1, MPI_INT, 0, along_both);
  const census::counts c = census::snapshot();
  CHECK(c.of(operation::all_reduce, 0b01) == census::tally{2, 8});
  CHECK(c.calls_on(0b01) == 2);
  CHECK(c.bytes_on(0b01) == 8);
  CHECK(c.calls_on(0b11) == 1);
  CHECK(c.calls_on(0b10) == 0);
  CHECK(c.bytes() == (w.rank == 0 ? 12 : 8));
}

TEST_CASE("census: a pause hides, a difference shows what came between") {
  int x = 0;
  census::reset();
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const census::counts before = census::snapshot();
  {
    const census::pause hidden;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK(census::snapshot() == before);
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const census::counts between = census::snapshot() - before;
  CHECK(between.of(operation::all_reduce, 0) == census::tally{1, 4});
  CHECK(between.entries.size() == 1);
  std::ostringstream text;
  text << between;
  CHECK(text.str() == "all_reduce axes 0b0: 1 calls, 4 bytes\n");
}
