// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any build: where a rank waits for others that do not come, the watchdog says in which call: in
// those of checkpoints and traces, too, which are no collectives of the library's. The last rank
// stalls in a call of MPI, or has come to the end.
// options: -O0
#include <atomic>
#include <filesystem>

#include "cases.hpp"
#include "dimesh/create.hpp"
#include "dimesh/io/checkpoint/start_save.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/show/trace.hpp"

namespace {
using namespace dimesh;

struct rows : axis<> {};
struct pod : mesh<rows> {};
struct length : dim<> {};
using halves = tensor<double, layout<pod, split<uneven<length>, rows>>, length>;

/// Which call of MPI the last rank comes to and does not make.
std::atomic<const char*> stalls_in{""};
void come_to(std::string_view call) {
  int size = 0;
  if (stalls_in.load() != call) return;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  while (run_fail::rank() == size - 1) std::this_thread::sleep_for(std::chrono::seconds(1));
}
}  // namespace

extern "C" {
int MPI_Comm_dup(MPI_Comm of, MPI_Comm* to) {
  come_to("dup");
  return PMPI_Comm_dup(of, to);
}
int MPI_Allgather(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype of,
                  MPI_Comm comm) {
  come_to("all_gather");
  return PMPI_Allgather(from, n, type, to, m, of, comm);
}
}

namespace {
/// A checkpoint of one tensor; the last rank stalls in a call that others make with it.
void save_without(const char* call) {
  const grid<pod> g;
  halves x = zeros<halves>(g, length{5});
  const std::string folder = std::string("waits_in_") + call + "_" + std::to_string(g.ranks());
  if (g.rank() == 0) std::filesystem::remove_all(folder);
  MPI_Barrier(MPI_COMM_WORLD);
  stalls_in = call;
  start_save_checkpoint(folder, {.step = 1}, part("x", x)).finish();
}

const run_fail::table cases{
    // case duplicates: 2 3
    //   dimesh: watchdog: rank 0 waits in 'checkpoint' \(its call \d+\) for 1 s
    {"duplicates", [] { run_fail::watched([] { save_without("dup"); }); }, true},
    // case gathers_checksums: 2 3
    //   dimesh: watchdog: rank 0 waits in 'checkpoint' \(its call \d+\) for 1 s
    {"gathers_checksums", [] { run_fail::watched([] { save_without("all_gather"); }); }, true},
    // case gathers_spans: 2 3 unchecked
    //   dimesh: watchdog: rank 0 waits in 'gather_timeline' \(its call \d+\) for 1 s
    //   dimesh: watchdog: rank 1 came to the end of the program 1 s ago, after \d+ calls
    {"gathers_spans",
     [] {
       run_fail::watched([] {
         const grid<pod> g;
         if (g.rank() != 1) (void)gather_timeline(g);
       });
     },
     true},
    // case without_a_runtime: 2 3 unchecked
    //   dimesh: watchdog: rank 0 waits in 'all_reduce' .*for 1 s
    //   dimesh: watchdog: rank 1 has been in no call that ranks make together for 1 s; its last
    //   was 'grid'
    {"without_a_runtime",
     [] {
       setenv("DIMESH_WATCHDOG", "1", 1);
       setenv("DIMESH_WATCHDOG_ENDS", "1", 1);
       MPI_Init(nullptr, nullptr);
       const Kokkos::ScopeGuard kokkos;
       const grid<pod> g;
       const tensor<double, layout<pod, partial<rows>>, length> addends(g, length{4});
       while (g.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
       (void)complete(addends);
     },
     true},
};
}  // namespace

int main(int argc, char** argv) { return cases.run(argc, argv); }
