// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a typed mover cost beside the same MPI call on a raw buffer? Bar: 1.02 of its time from
// 1 KiB on, and the same bytes. A large all_reduce goes in pieces and must beat the one call for
// the whole.
//
// ranks: 2 4
//
//   mpirun -n 2 benchmarks/collectives [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/all_gather.hpp>
#include <dimesh/op/all_to_all.hpp>
#include <dimesh/op/broadcast.hpp>
#include <dimesh/op/halo_exchange.hpp>
#include <dimesh/op/permute_along.hpp>
#include <dimesh/op/place.hpp>
#include <dimesh/op/reduce_scatter.hpp>
#include <dimesh/op/relayout.hpp>
#include <dimesh/op/relayout_across.hpp>
#include <dimesh/op/send.hpp>
#include <dimesh/op/shift.hpp>
#include <dimesh/op/to_rank.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "handwritten/all_reduce.hpp"
#include "support/moves.hpp"

namespace {

namespace dm = dimesh;

struct line : dm::axis<> {};
struct string_of_ranks : dm::mesh<line> {};
struct other_line : dm::axis<> {};
struct other_mesh : dm::mesh<other_line> {};
struct row : dm::dim<> {};
struct col : dm::dim<> {};
using whole = dm::layout<string_of_ranks>;
using by_row = dm::layout<string_of_ranks, dm::split<row, line>>;
using by_col = dm::layout<string_of_ranks, dm::split<col, line>>;
using there_by_row = dm::layout<other_mesh, dm::split<row, other_line>>;
using there_by_col = dm::layout<other_mesh, dm::split<col, other_line>>;
using addends = dm::layout<string_of_ranks, dm::partial<line>>;
template <class L> using matrix = dm::tensor<float, L, row, col>;

void all(bench::contest& race, const dm::grid<string_of_ranks>& g, const dm::grid<other_mesh>& h,
         dm::index_t bytes) {
  const dm::index_t p = g.ranks();
  const dm::index_t n = bytes / 4 / p / p * p;  // columns; p rows
  const auto elements = static_cast<int>(p * n), part = static_cast<int>(n);
  const MPI_Comm comm = g.along<line>();
  const auto size = static_cast<long>(4 * p * n);

  matrix<addends> a(g, row{p}, col{n});
  matrix<by_row> r(g, row{p}, col{n});
  matrix<by_col> c(g, row{p}, col{n});
  std::fill_n(a.data(), a.local_size(), 1.0f);
  std::fill_n(r.data(), r.local_size(), 1.0f);
  std::fill_n(c.data(), c.local_size(), 1.0f);
  std::vector<float> in(static_cast<std::size_t>(elements), 1.0f), out(in.size());

  race.compare(
      "all_reduce", size, [&] { auto y = dm::all_reduce<line>(a); },
      [&] {
        if (size <= dm::collective::cut_above) {
          MPI_Allreduce(in.data(), out.data(), elements, MPI_FLOAT, MPI_SUM, comm);
        } else {
          for (int i = 0; i < elements; i += 1 << 18)
            MPI_Allreduce(in.data() + i, out.data() + i, std::min(1 << 18, elements - i), MPI_FLOAT,
                          MPI_SUM, comm);
        }
      });
  if (size > dm::collective::cut_above)
    race.compare(
        "all_reduce, whole by hand", size, [&] { auto y = dm::all_reduce<line>(a); },
        [&] { MPI_Allreduce(in.data(), out.data(), elements, MPI_FLOAT, MPI_SUM, comm); }, 1.0);
  const auto scatter = [&] {
    MPI_Reduce_scatter_block(in.data(), out.data(), part, MPI_FLOAT, MPI_SUM, comm);
  };
  const auto gather = [&] {
    MPI_Allgather(in.data(), part, MPI_FLOAT, out.data(), part, MPI_FLOAT, comm);
  };
  race.compare("reduce_scatter", size, [&] { auto y = dm::reduce_scatter<row, line>(a); }, scatter);
  race.compare("all_gather", size, [&] { auto y = dm::all_gather<line>(r); }, gather);
  const auto swap = [&] {
    MPI_Alltoall(in.data(), part / static_cast<int>(p), MPI_FLOAT, out.data(),
                 part / static_cast<int>(p), MPI_FLOAT, comm);
  };
  race.compare("all_to_all", size, [&] { auto y = dm::all_to_all<col, row, line>(c); }, swap);
  race.compare(
      "relayout, partial to split", size, [&] { auto y = dm::relayout<by_row>(a); }, scatter);
  race.compare("relayout, split to whole", size, [&] { auto y = dm::relayout<whole>(r); }, gather);
  race.compare("relayout, split to split", size, [&] { auto y = dm::relayout<by_row>(c); }, swap);
  race.compare(
      "relayout, to another mesh", size, [&] { auto y = dm::relayout<there_by_row>(c, h); }, swap);
  if (size >= 1 << 18)  // nothing is copied: a call costs the same for all sizes
    race.compare(
        "the same, blocks stay", size, [&] { auto y = dm::relayout<there_by_col>(c, h); },
        [&] { std::memcpy(out.data(), in.data(), static_cast<std::size_t>(size / p)); });
}

/// Between one place and all, and between two places: of `bytes` each.
void places(bench::contest& race, const dm::grid<string_of_ranks>& g, dm::index_t bytes) {
  const dm::index_t n = bytes / 4;
  const auto elements = static_cast<int>(n);
  const MPI_Comm comm = g.along<line>();
  const auto me = static_cast<int>(g.coord<line>());
  const auto size = static_cast<long>(bytes);

  matrix<whole> w(g, row{1}, col{n});
  matrix<addends> a(g, row{1}, col{n});
  dm::fill(w, 1.0f);
  dm::fill(a, 1.0f);
  const auto here = dm::place<line, 0>(w);
  std::vector<float> in(static_cast<std::size_t>(elements), 1.0f), out(in.size());

  // A result is a tensor of its own, on the sender, too.
  const auto copied = [&] {
    if (me == 0) std::memcpy(out.data(), in.data(), static_cast<std::size_t>(size));
    MPI_Bcast(out.data(), elements, MPI_FLOAT, 0, comm);
  };
  race.compare("broadcast", size, [&] { auto y = dm::broadcast<line>(here); }, copied);
  race.compare(
      "broadcast, twin in place", size, [&] { auto y = dm::broadcast<line>(here); },
      [&] { MPI_Bcast(in.data(), elements, MPI_FLOAT, 0, comm); });
  race.compare(
      "reduce to a place", size, [&] { auto y = dm::reduce<line, 0>(a); },
      [&] { MPI_Reduce(in.data(), out.data(), elements, MPI_FLOAT, MPI_SUM, 0, comm); });
  race.compare(
      "send", size, [&] { auto y = dm::send<line, 1>(here); },
      [&] {
        if (me == 0) MPI_Send(in.data(), elements, MPI_FLOAT, 1, 0, comm);
        if (me == 1) MPI_Recv(out.data(), elements, MPI_FLOAT, 0, 0, comm, MPI_STATUS_IGNORE);
      });
}

/// Between neighbours, and to one rank: blocks of `bytes` each.
void neighbours(bench::contest& race, const dm::grid<string_of_ranks>& g, dm::index_t bytes) {
  const dm::index_t p = g.ranks(), n = bytes / 4;
  const auto part = static_cast<int>(n), ranks = static_cast<int>(p);
  const MPI_Comm comm = g.along<line>();
  const auto me = static_cast<int>(g.coord<line>());
  const int next = (me + 1) % ranks, last = (me + ranks - 1) % ranks;
  const auto size = static_cast<long>(bytes);

  matrix<by_row> r(g, row{p}, col{n});
  dm::fill(r, 1.0f);
  const dm::index_t held = me == 0 ? p * n : n;
  std::vector<float> in(static_cast<std::size_t>(part), 1.0f), out(static_cast<std::size_t>(held));
  const auto ring = [&] {
    MPI_Sendrecv(in.data(), part, MPI_FLOAT, next, 0, out.data(), part, MPI_FLOAT, last, 0, comm,
                 MPI_STATUS_IGNORE);
  };
  race.compare(
      "permute_along", size,
      [&] { auto y = dm::permute_along<line>(r, [p](dm::index_t i) { return (i + 1) % p; }); },
      ring);
  race.compare("shift", size, [&] { auto y = dm::shift<row>(r, 1); }, ring);
  // A result is a vector of its own.
  race.compare(
      "to_rank", size, [&] { auto y = dm::to_rank(r); },
      [&] {
        std::vector<float> all(me == 0 ? out.size() : 0);
        MPI_Gather(in.data(), part, MPI_FLOAT, all.data(), part, MPI_FLOAT, 0, comm);
      });
  race.compare(
      "to_rank, twin's is kept", size, [&] { auto y = dm::to_rank(r); },
      [&] { MPI_Gather(in.data(), part, MPI_FLOAT, out.data(), part, MPI_FLOAT, 0, comm); });
}

/// A block of so many bytes between two rows of halo, of a sixteenth of it each.
void halos(bench::contest& race, const dm::grid<string_of_ranks>& g, dm::index_t bytes) {
  constexpr dm::index_t rows = 16;
  const dm::index_t p = g.ranks(), n = bytes / 4 / rows;
  const auto edge = static_cast<int>(n);
  const MPI_Comm comm = g.along<line>();
  const auto me = static_cast<int>(g.coord<line>());
  const int above = me == 0 ? MPI_PROC_NULL : me - 1;
  const int under = me + 1 == p ? MPI_PROC_NULL : me + 1;

  matrix<by_row> r(g, row{rows * p}, col{n});
  dm::fill(r, 1.0f);
  std::vector<float> in(static_cast<std::size_t>(rows * n), 1.0f);
  std::vector<float> out(static_cast<std::size_t>((rows + 2) * n));
  race.compare(
      "halo_exchange", static_cast<long>(4 * rows * n),
      [&] { auto y = dm::halo_exchange<1, row>(r); },
      [&] {
        float *const begin = out.data() + n, *const end = begin + rows * n;
        std::memcpy(begin, in.data(), in.size() * sizeof(float));
        MPI_Sendrecv(begin, edge, MPI_FLOAT, above, 0, end, edge, MPI_FLOAT, under, 0, comm,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(end - n, edge, MPI_FLOAT, under, 1, out.data(), edge, MPI_FLOAT, above, 1,
                     comm, MPI_STATUS_IGNORE);
      });
}

}  // namespace

int main(int argc, char** argv) {
  const double budget = argc > 1 && std::strcmp(argv[1], "--quick") == 0 ? 0.1 : 1.0;
  return dm::run(argc, argv, [&] {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const dm::grid<string_of_ranks> g(line{ranks});
    const dm::grid<other_mesh> h(other_line{ranks});
    bench::contest race(g.along<line>(), budget);
    if (g.rank() == 0) std::printf("%d ranks\n", ranks);
    if (g.rank() == 0) bench::headline("collective; twin: the MPI call by hand");
    for (const dm::index_t bytes :
         {64, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26}) {
      all(race, g, h, bytes);
      if (bytes > 1 << 24) continue;  // blocks of each rank: one may have no room for those of all
      places(race, g, bytes);
      neighbours(race, g, bytes);
      halos(race, g, bytes);
    }
    race.print_score();
  });
}
