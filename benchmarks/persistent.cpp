// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a persistent move cost beside the MPI call that it makes? Both keep their buffers, as
// programs do that move the same arrays in each step. At once: the blocking call, for messages
// persistent requests; begun: MPI_I... and MPI_Wait, for messages MPI_Startall and MPI_Waitall.
// Bar: 1.02 of its time from 1 KiB on, and the same bytes.
// ranks: 2 4
//
//   mpirun -n 2 benchmarks/persistent [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/persistent.hpp>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "support/moves.hpp"

namespace {

namespace dm = dimesh;

struct line : dm::axis<> {};
struct ring : dm::mesh<line> {};
struct row : dm::dim<> {};
struct col : dm::dim<> {};
using whole = dm::layout<ring>;
using by_row = dm::layout<ring, dm::split<row, line>>;
using by_col = dm::layout<ring, dm::split<col, line>>;
using addends = dm::layout<ring, dm::partial<line>>;
template <class L> using matrix = dm::tensor<float, L, row, col>;

/// A matrix of p rows, full of ones.
template <class L> matrix<L> ones(const dm::grid<ring>& g, dm::index_t p, dm::index_t n) {
  return dm::constant<matrix<L>>(g, 1.0f, row{p}, col{n});
}

/// Once at once, once begun and awaited; the twin calls MPI and waits, given a request.
template <class Move, class AtOnce, class Begun>
void both(bench::contest& race, const std::string& what, long bytes, Move move,
          const AtOnce& at_once, const Begun& begun) {
  race.compare(what.c_str(), bytes, [&] { (void)move.run(); }, at_once);
  race.compare((what + ", begun").c_str(), bytes,
               [&] {
                 move.start();
                 (void)move.wait();
               },
               [&] {
                 MPI_Request q = MPI_REQUEST_NULL;
                 begun(&q);
                 MPI_Wait(&q, MPI_STATUS_IGNORE);
               });
}

void collectives(bench::contest& race, const dm::grid<ring>& g, dm::index_t bytes) {
  const dm::index_t p = g.ranks(), n = bytes / 4 / p / p * p;
  const auto elements = static_cast<int>(p * n), part = static_cast<int>(n),
             each = part / static_cast<int>(p);
  const MPI_Comm comm = g.along<line>();
  const auto size = static_cast<long>(4 * p * n);
  std::vector<float> in(static_cast<std::size_t>(elements), 1.0f), out(in.size());
  float *const x = in.data(), *const y = out.data();

  if (size <= dm::collective::cut_above)  // beyond, it goes in pieces (benchmarks/collectives)
    both(
        race, "all_reduce", size, dm::persistent_all_reduce<line>(ones<addends>(g, p, n)),
        [&] { MPI_Allreduce(x, y, elements, MPI_FLOAT, MPI_SUM, comm); },
        [&](MPI_Request* q) { MPI_Iallreduce(x, y, elements, MPI_FLOAT, MPI_SUM, comm, q); });
  both(
      race, "reduce_scatter", size,
      dm::persistent_reduce_scatter<row, line>(ones<addends>(g, p, n)),
      [&] { MPI_Reduce_scatter_block(x, y, part, MPI_FLOAT, MPI_SUM, comm); },
      [&](MPI_Request* q) { MPI_Ireduce_scatter_block(x, y, part, MPI_FLOAT, MPI_SUM, comm, q); });
  both(
      race, "all_gather", size, dm::persistent_all_gather<line>(ones<by_row>(g, p, n)),
      [&] { MPI_Allgather(x, part, MPI_FLOAT, y, part, MPI_FLOAT, comm); },
      [&](MPI_Request* q) { MPI_Iallgather(x, part, MPI_FLOAT, y, part, MPI_FLOAT, comm, q); });
  both(
      race, "all_to_all", size, dm::persistent_all_to_all<col, row, line>(ones<by_col>(g, p, n)),
      [&] { MPI_Alltoall(x, each, MPI_FLOAT, y, each, MPI_FLOAT, comm); },
      [&](MPI_Request* q) { MPI_Ialltoall(x, each, MPI_FLOAT, y, each, MPI_FLOAT, comm, q); });
}

/// Two messages of a rank, in and out, by requests that are kept.
class kept_messages {
 public:
  kept_messages() = default;
  kept_messages(const kept_messages&) = delete;
  kept_messages& operator=(const kept_messages&) = delete;
  ~kept_messages() {
    for (MPI_Request& q : all_) MPI_Request_free(&q);
  }
  void receive(float* y, int n, int from, int tag, MPI_Comm comm) {
    MPI_Recv_init(y, n, MPI_FLOAT, from, tag, comm, &all_.emplace_back());
  }
  void send(const float* x, int n, int to, int tag, MPI_Comm comm) {
    MPI_Send_init(x, n, MPI_FLOAT, to, tag, comm, &all_.emplace_back());
  }
  void run() {
    MPI_Startall(static_cast<int>(all_.size()), all_.data());
    MPI_Waitall(static_cast<int>(all_.size()), all_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<MPI_Request> all_;
};

/// Between neighbours: blocks of so many bytes, and rows of a sixteenth of one.
void neighbours(bench::contest& race, const dm::grid<ring>& g, dm::index_t bytes) {
  constexpr dm::index_t rows = 16;
  const dm::index_t p = g.ranks(), n = bytes / 4, across = n / rows;
  const auto part = static_cast<int>(n), ranks = static_cast<int>(p),
             edge = static_cast<int>(across);
  const MPI_Comm comm = g.along<line>();
  const auto me = static_cast<int>(g.coord<line>());
  const int next = (me + 1) % ranks, last = (me + ranks - 1) % ranks;
  const int above = me == 0 ? MPI_PROC_NULL : me - 1;
  const int under = me + 1 == p ? MPI_PROC_NULL : me + 1;
  const auto size = static_cast<long>(bytes);
  const auto room = static_cast<std::size_t>((rows + 2) * across);
  std::vector<float> in(static_cast<std::size_t>(n), 1.0f), out(room);

  kept_messages around;
  around.receive(out.data(), part, last, 1, comm);
  around.send(in.data(), part, next, 1, comm);
  auto permuted = dm::persistent_permute_along<line>(ones<by_row>(g, p, n),
                                                     [p](dm::index_t i) { return (i + 1) % p; });
  race.compare("permute_along", size, [&] { (void)permuted.run(); }, [&] { around.run(); });
  auto shifted = dm::persistent_shift<row>(ones<by_row>(g, p, n), 1);
  race.compare("shift", size, [&] { (void)shifted.run(); }, [&] { around.run(); });

  auto edges = dm::persistent_halo_exchange<1, row>(ones<by_row>(g, rows * p, across));
  float *const begin = out.data() + across, *const end = begin + rows * across;
  kept_messages beside;
  beside.receive(out.data(), edge, above, 2, comm);
  beside.receive(end, edge, under, 3, comm);
  beside.send(begin, edge, above, 3, comm);
  beside.send(end - across, edge, under, 2, comm);
  race.compare(
      "halo_exchange", size, [&] { (void)edges.run(); },
      [&] {
        std::memcpy(begin, in.data(), in.size() * sizeof(float));
        beside.run();
      });
}

/// Between a place and all, or another one: of `bytes` each.
void places(bench::contest& race, const dm::grid<ring>& g, dm::index_t bytes) {
  const dm::index_t n = bytes / 4;
  const auto elements = static_cast<int>(n);
  const MPI_Comm comm = g.along<line>();
  const auto me = static_cast<int>(g.coord<line>());
  const auto size = static_cast<long>(bytes);
  std::vector<float> in(static_cast<std::size_t>(elements), 1.0f), out(in.size());
  float *const x = in.data(), *const y = out.data();
  const auto here = dm::place<line, 0>(dm::constant<matrix<whole>>(g, 1.0f, row{1}, col{n}));

  const auto copied = [&] {  // the result is another tensor, at the place, too
    if (me == 0) std::memcpy(y, x, static_cast<std::size_t>(size));
  };
  both(
      race, "broadcast", size, dm::persistent_broadcast<line>(here),
      [&] {
        copied();
        MPI_Bcast(y, elements, MPI_FLOAT, 0, comm);
      },
      [&](MPI_Request* q) {
        copied();
        MPI_Ibcast(y, elements, MPI_FLOAT, 0, comm, q);
      });
  both(
      race, "reduce to a place", size, dm::persistent_reduce<line, 0>(ones<addends>(g, 1, n)),
      [&] { MPI_Reduce(x, y, elements, MPI_FLOAT, MPI_SUM, 0, comm); },
      [&](MPI_Request* q) { MPI_Ireduce(x, y, elements, MPI_FLOAT, MPI_SUM, 0, comm, q); });
  kept_messages given;
  if (me == 0) given.send(x, elements, 1, 4, comm);
  if (me == 1) given.receive(y, elements, 0, 4, comm);
  auto sent = dm::persistent_send<line, 1>(here);
  race.compare("send", size, [&] { (void)sent.run(); }, [&] { given.run(); });
}

}  // namespace

int main(int argc, char** argv) {
  const double budget = argc > 1 && std::strcmp(argv[1], "--quick") == 0 ? 0.1 : 1.0;
  return dm::run(argc, argv, [&] {
    const dm::grid<ring> g;
    bench::contest race(g.along<line>(), budget);
    if (g.rank() == 0) std::printf("%ld ranks\n", static_cast<long>(g.ranks()));
    if (g.rank() == 0) bench::headline("persistent move; twin: MPI by hand, buffers kept");
    for (const dm::index_t bytes : {64, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24}) {
      collectives(race, g, bytes);
      neighbours(race, g, bytes);
      places(race, g, bytes);
    }
    race.print_score();
  });
}
