// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of a user's own: MPI by MPI_Init_thread, Kokkos, and a communicator of some of the
// ranks, each with an error handler of its own. The library touches what docs/tutorial/10 says:
// afterwards everything is as it was, also where something went wrong.
// ranks: 1 2 3 4
// main: own
// labels: mpich
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "dimesh/dimesh.hpp"
#include "dimesh/interop/borrow.hpp"

namespace {

/// Communicators that were made and freed; whether the next one is asked for wrongly.
int made = 0, freed = 0;
bool breaks = false;
int counted(int code) {
  made += code == MPI_SUCCESS;
  return code;
}

}  // namespace

extern "C" {
int MPI_Comm_dup(MPI_Comm of, MPI_Comm* to) { return counted(PMPI_Comm_dup(of, to)); }
int MPI_Comm_split(MPI_Comm of, int color, int key, MPI_Comm* to) {
  return counted(PMPI_Comm_split(of, color, key, to));
}
int MPI_Comm_create_group(MPI_Comm of, MPI_Group group, int tag, MPI_Comm* to) {
  int any = 0;
  if (breaks) return PMPI_Bcast(&any, 1, MPI_INT, -7, of);  // no rank: an error of MPI's own
  return counted(PMPI_Comm_create_group(of, group, tag, to));
}
int MPI_Comm_free(MPI_Comm* c) {
  ++freed;
  return PMPI_Comm_free(c);
}
}

namespace {
namespace dm = dimesh;
using dm::index_t;

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
struct item : dm::dim<> {};
struct kind : dm::dim<3> {};
using by_item = dm::tensor<double, dm::layout<pod, dm::split<item, cols>>, item, kind>;

std::vector<std::string> wrong;
void check(bool good, const char* what) {
  if (!good) wrong.emplace_back(what);
}
/// The error that f() ends with.
template <class F> std::string error_of(const F& f) {
  try {
    f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return "none";
}

/// What is printed while it lives.
class printed {
 public:
  printed() : file_(std::tmpfile()) {
    std::fflush(nullptr);
    for (const int f : {1, 2}) {
      kept_[f] = dup(f);
      dup2(fileno(file_), f);
    }
  }
  printed(const printed&) = delete;
  printed& operator=(const printed&) = delete;
  ~printed() {
    for (const int f : {1, 2}) {
      dup2(kept_[f], f);
      close(kept_[f]);
    }
    std::fclose(file_);
  }
  long bytes() const {
    std::fflush(nullptr);
    return lseek(fileno(file_), 0, SEEK_END);
  }

 private:
  std::FILE* file_;
  int kept_[3] = {};
};

// Error handlers of the program's, which count their calls.
enum owner { of_world, of_self, of_mine, owners };
int calls[owners] = {};
template <owner Who> void on_error(MPI_Comm*, int*, ...) { ++calls[Who]; }
template <owner Who> MPI_Errhandler handle_errors(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&on_error<Who>, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  return handler;
}
/// Is the handler of a communicator still this one, and does MPI call it?
template <owner Who> bool still_handles(MPI_Comm comm, MPI_Errhandler handler) {
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &now);
  const bool same = now == handler;
  MPI_Errhandler_free(&now);
  MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return same && calls[Who] == 1;
}

/// What the program does with the library, on the ranks of its communicator.
void use_tensors(MPI_Comm mine) {
  const dm::grid<pod> g(mine, rows{1});
  const index_t n = 2 * g.ranks(), all = 3 * n;
  const auto x = dm::generate<by_item>(
      g, [](index_t i, index_t k) { return static_cast<double>(3 * i + k); }, item{n});
  check(dm::value(dm::complete(dm::sum(x))) == static_cast<double>(all * (all - 1) / 2), "a sum");
  const auto turned = dm::relayout<dm::layout<pod, dm::split<dm::uneven<kind>, cols>>>(x);
  check(dm::to_rank(turned) == dm::to_rank(x), "a relayout");
  check(dm::to_rank(dm::shift<item>(dm::shift<item>(x, 1), -1)) == dm::to_rank(x), "shifts");
  const auto slope = dm::complete(
      dm::value_and_grad([](const auto& v) { return dm::complete(dm::sum(v * v)); }, x)());
  check(dm::to_rank(slope.gradient) == dm::to_rank(x + x), "a gradient");
}

/// What goes wrong is an exception, on all ranks of the communicator; then all goes on.
void be_refused(MPI_Comm mine) {
  const dm::grid<pod> g(mine, rows{1});
  const std::vector<double> short_one(5);
  check(error_of([&] {
          (void)dm::borrow<by_item>(g, short_one.data(), 5, item{2 * g.ranks()});
        }).find("borrow: 5 elements are lent") == 0,
        "a wrong length is no exception");
  breaks = true;
  check(error_of([&] { (void)g.along<cols>(); }).find("grid: MPI reports '") == 0,
        "an error of MPI is no exception");
  breaks = false;
  int ranks = 0;
  MPI_Comm_size(g.along<cols>(), &ranks);
  check(ranks == g.ranks(), "after an error of MPI there is no communicator to be had");
}

/// The library between messages of the program's, which it leaves alone.
void solve(MPI_Comm mine) {
  int any = 0, mark = 42, here = 0, rank = 0;
  MPI_Comm_rank(mine, &rank);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, mine, &request);
  use_tensors(mine);
  be_refused(mine);
  use_tensors(mine);
  MPI_Test(&request, &here, MPI_STATUS_IGNORE);
  check(here == 0, "a message of the library's came to the program");
  MPI_Send(&mark, 1, MPI_INT, rank, 7, mine);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(any == mark, "the program's message did not come");
}

bool same_signal(int number, const struct sigaction& before) {
  struct sigaction now{};
  sigaction(number, nullptr, &now);
  return now.sa_handler == before.sa_handler;
}

}  // namespace

int main(int argc, char** argv) {
  int granted = MPI_THREAD_SINGLE, level = MPI_THREAD_SINGLE, rank = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &granted);
  Kokkos::initialize(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm mine = MPI_COMM_NULL;  // all ranks but the last, if there are several, in turned order
  const bool solves = ranks == 1 || rank < ranks - 1;
  PMPI_Comm_split(MPI_COMM_WORLD, solves ? 0 : MPI_UNDEFINED, -rank, &mine);
  const MPI_Errhandler world = handle_errors<of_world>(MPI_COMM_WORLD),
                       self = handle_errors<of_self>(MPI_COMM_SELF);
  struct sigaction at_end{}, at_warning{};
  sigaction(SIGTERM, nullptr, &at_end);
  sigaction(SIGUSR1, nullptr, &at_warning);
  const auto on_terminate = std::get_terminate();
  if (solves) {
    const MPI_Errhandler own = handle_errors<of_mine>(mine);
    {
      const printed text;
      solve(mine);
      check(text.bytes() == 0, "the library prints");
    }
    check(calls[of_mine] == 0, "an error of the library's came to the program's handler");
    check(still_handles<of_mine>(mine, own), "the communicator has another error handler");
    check(made > 0 && made == freed, "communicators are left");
    PMPI_Comm_free(&mine);
  }
  check(calls[of_world] == 0 && calls[of_self] == 0, "MPI_COMM_WORLD has had an error");
  check(still_handles<of_world>(MPI_COMM_WORLD, world), "MPI_COMM_WORLD has another handler");
  check(still_handles<of_self>(MPI_COMM_SELF, self), "MPI_COMM_SELF has another handler");
  check(std::get_terminate() == on_terminate, "there is another terminate handler");
  check(same_signal(SIGTERM, at_end) && same_signal(SIGUSR1, at_warning), "signals are handled");
  MPI_Query_thread(&level);
  check(level == granted, "MPI grants threads another level");
  check(Kokkos::is_initialized(), "Kokkos has ended");
  int sum = 0, one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(sum == ranks, "MPI does not work any more");
  for (const std::string& what : wrong)
    std::fprintf(stderr, "in_my_code.cpp: rank %d: wrong: %s\n", rank, what.c_str());
  Kokkos::finalize();
  MPI_Finalize();
  return wrong.empty() ? 0 : 1;
}
