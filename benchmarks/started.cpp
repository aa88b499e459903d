// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a started move cost beside the MPI call that it makes, and what does one gain by
// computing meanwhile? Two bars of the first, each for itself: 200 ns above MPI_I... and MPI_Wait
// by hand; and from 1 KiB on 1.02 of their time. The second has no bar: it is a property of the MPI
// library.
// ranks: 2 4
//
//   mpirun -n 2 benchmarks/started [--quick] [--helper]     (--helper: a thread that calls MPI)
#include <dimesh/dimesh.hpp>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct line : dm::axis<> {};
struct ring : dm::mesh<line> {};
struct row : dm::dim<> {};
struct col : dm::dim<> {};
using by_row = dm::layout<ring, dm::split<row, line>>;
using by_col = dm::layout<ring, dm::split<col, line>>;
using addends = dm::layout<ring, dm::partial<line>>;
template <class L> using matrix = dm::tensor<float, L, row, col>;

double budget = 1.0;

/// How often a bar was held, and how often it was met.
struct bar {
  int held = 0, met = 0;
  const char* hold(bool good) {
    ++held;
    met += good;
    return good ? "PASS" : "short";
  }
} difference, ratio_of_times;

const char* sized(long bytes) {
  static char text[32];
  if (bytes >= 1 << 20)
    std::snprintf(text, sizeof text, "%4ld MiB", bytes >> 20);
  else if (bytes >= 1 << 10)
    std::snprintf(text, sizeof text, "%4ld KiB", bytes >> 10);
  else
    std::snprintf(text, sizeof text, "%4ld B  ", bytes);
  return text;
}

/// The difference in nanoseconds and the ratio, each beside its bar.
template <class F, class Twin>
void overhead(const dm::grid<ring>& g, const char* what, long bytes, F&& f, Twin&& twin) {
  auto [typed, raw] = bench::race(g.along<line>(), budget)(f, twin);
  const double more = (typed.counts() - raw.counts()) * 1e9;
  const double ratio = typed.counts() / raw.counts();
  const char* const few = difference.hold(more <= 200);
  const char* const close = bytes < 1 << 10 ? "" : ratio_of_times.hold(ratio <= 1.02);
  if (g.rank() == 0)
    std::printf("%-22s %s %11.2f %11.2f %9.0f ns  %-9s %8.3f  %s\n", what, sized(bytes),
                typed.counts() * 1e6, raw.counts() * 1e6, more, few, ratio, close);
  std::fflush(stdout);
}

void overheads(const dm::grid<ring>& g, dm::index_t bytes) {
  const dm::index_t p = g.ranks(), n = bytes / 4 / p / p * p;
  const auto elements = static_cast<int>(p * n), part = static_cast<int>(n);
  const MPI_Comm comm = g.along<line>();
  const auto size = static_cast<long>(4 * p * n);
  matrix<addends> a(g, row{p}, col{n});
  matrix<by_row> r(g, row{p}, col{n});
  matrix<by_col> c(g, row{p}, col{n});
  dm::fill(a, 1.0f);
  dm::fill(r, 1.0f);
  dm::fill(c, 1.0f);
  std::vector<float> in(static_cast<std::size_t>(elements), 1.0f), out(in.size());
  MPI_Request q = MPI_REQUEST_NULL;
  const auto wait = [&q] { MPI_Wait(&q, MPI_STATUS_IGNORE); };
  overhead(
      g, "all_reduce", size, [&] { auto y = dm::await(dm::start_all_reduce<line>(a)); },
      [&] {
        MPI_Iallreduce(in.data(), out.data(), elements, MPI_FLOAT, MPI_SUM, comm, &q);
        wait();
      });
  overhead(
      g, "all_gather", size, [&] { auto y = dm::await(dm::start_all_gather<line>(r)); },
      [&] {
        MPI_Iallgather(in.data(), part, MPI_FLOAT, out.data(), part, MPI_FLOAT, comm, &q);
        wait();
      });
  overhead(
      g, "all_to_all", size, [&] { auto y = dm::await(dm::start_all_to_all<col, row, line>(c)); },
      [&] {
        const int each = part / static_cast<int>(p);
        MPI_Ialltoall(in.data(), each, MPI_FLOAT, out.data(), each, MPI_FLOAT, comm, &q);
        wait();
      });
  const int me = static_cast<int>(g.coord<line>()), all = static_cast<int>(p);
  overhead(
      g, "permute_along", size / p,
      [&] {
        auto y =
            dm::await(dm::start_permute_along<line>(r, [p](dm::index_t i) { return (i + 1) % p; }));
      },
      [&] {
        MPI_Request both[2];
        MPI_Irecv(out.data(), part, MPI_FLOAT, (me + all - 1) % all, 1, comm, both);
        MPI_Isend(in.data(), part, MPI_FLOAT, (me + 1) % all, 1, comm, both + 1);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
      });
}

/// The gather of one matrix beside the tanh of another one, which takes about as long.
void gains(const dm::grid<ring>& g, dm::index_t bytes) {
  const dm::index_t p = g.ranks(), n = bytes / 4 / p;
  const MPI_Comm comm = g.along<line>();
  const auto part = static_cast<int>(n);
  matrix<by_row> r(g, row{p}, col{n});
  dm::fill(r, 0.5f);
  std::vector<float> in(static_cast<std::size_t>(n), 0.5f), out(static_cast<std::size_t>(p * n));
  double move = 0, compute = 0;
  matrix<by_row> work(g, row{p}, col{std::max<dm::index_t>(n / 4, 64)});
  {
    auto [m, c] = bench::race(comm, budget / 4)([&] { auto y = dm::all_gather<line>(r); },
                                                [&] { auto y = dm::tanh(work); });
    move = m.counts(), compute = c.counts();
  }
  const double times = std::max(1.0, move / compute);
  const auto steps = static_cast<int>(times + 0.5);
  const auto local = [&] {
    for (int i = 0; i < steps; ++i) auto y = dm::tanh(work);
  };
  auto [blocking, started, by_hand, alone] = bench::race(comm, budget)(
      [&] {
        auto y = dm::all_gather<line>(r);
        local();
      },
      [&] {
        auto coming = dm::start_all_gather<line>(r);
        local();
        auto y = dm::await(std::move(coming));
      },
      [&] {
        MPI_Request q = MPI_REQUEST_NULL;
        MPI_Iallgather(in.data(), part, MPI_FLOAT, out.data(), part, MPI_FLOAT, comm, &q);
        local();
        MPI_Wait(&q, MPI_STATUS_IGNORE);
      },
      local);
  if (g.rank() == 0)
    std::printf("%-22s %s %11.2f %11.2f %11.2f %11.2f %8.3f\n", "all_gather beside tanh",
                sized(static_cast<long>(bytes)), blocking.counts() * 1e6, started.counts() * 1e6,
                by_hand.counts() * 1e6, alone.counts() * 1e6, blocking.counts() / started.counts());
  std::fflush(stdout);
}

struct smooth {
  template <class U> KOKKOS_FUNCTION auto operator()(const U& u) const {
    return 0.25f *
           (dm::at<row>(u, -1) + dm::at<row>(u, 1) + dm::at<col>(u, -1) + dm::at<col>(u, 1));
  }
};

/// A time step whose halos travel afterwards, or beside the interior.
void halos(const dm::grid<ring>& g, dm::index_t n) {
  const auto u0 = dm::constant<matrix<by_row>>(g, 1.0f, row{n * g.ranks()}, col{n});
  const auto u = dm::halo_exchange<1, row, col>(u0);
  auto [blocking, beside] = bench::race(g.along<line>(), budget)(
      [&] { auto y = dm::stencil_exchange(smooth{}, dm::boundary::zero, u); },
      [&] { auto y = dm::stencil_exchange(smooth{}, dm::beside_interior(dm::boundary::zero), u); });
  if (g.rank() == 0)
    std::printf("stencil_exchange %5ld x %-5ld %11.2f %11.2f %33s %8.3f\n", static_cast<long>(n),
                static_cast<long>(n), blocking.counts() * 1e6, beside.counts() * 1e6, "",
                blocking.counts() / beside.counts());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  bool with_helper = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) budget = 0.1;
    if (std::strcmp(argv[i], "--helper") == 0) with_helper = true;
  }
  const dm::runtime rt(argc, argv, with_helper ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED);
  const dm::grid<ring> g;
  std::optional<dm::progress_thread> helper;
  if (with_helper) helper.emplace();
  if (g.rank() == 0) {
    std::printf("%d ranks%s\n", g.ranks(), with_helper ? ", a helping thread each" : "");
    std::printf("%-22s %8s %11s %11s %12s  %-9s %8s  %s\n", "start and await", "", "typed us",
                "by hand us", "more", "<= 200 ns", "ratio", "<= 1.02");
  }
  for (const dm::index_t bytes : {64, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24})
    overheads(g, bytes);
  if (g.rank() == 0) {
    std::printf("at most 200 ns more: %d of %d; from 1 KiB on at most 1.02 of the time: %d of %d\n",
                difference.met, difference.held, ratio_of_times.met, ratio_of_times.held);
    std::printf("%-22s %8s %11s %11s %11s %11s %8s\n", "move beside work", "", "blocking us",
                "started us", "by hand us", "work us", "gain");
  }
  for (const dm::index_t bytes : {1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24}) gains(g, bytes);
  for (const dm::index_t n : {64, 256, 1024}) halos(g, n);
}
