// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program start and end? `run` starts MPI and Kokkos where the user has not, and ends
// what it started. A rank that throws takes the job down with a message; none is left hanging.
//
//   int main(int argc, char** argv) {
//     return dimesh::run(argc, argv, [&] { grid<pod> g; ... });
//   }
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "dimesh/collective/communicator.hpp"
#include "dimesh/core/any_argument.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/layout/fault.hpp"
#if DIMESH_COMPILED != 1
#include <Kokkos_Core.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "dimesh/detail/watchdog.hpp"
#endif
#ifdef DIMESH_CHECKED
#include "dimesh/detail/key_uses.hpp"
#include "dimesh/detail/rule_uses.hpp"
#endif

namespace dimesh {

namespace detail {
class watchdog;
}

/// Starts MPI and Kokkos if they do not run yet; its destructor ends what it started.
class runtime {
 public:
  /// `threads` is what the program will ask of MPI: MPI_THREAD_FUNNELED, where one thread calls the
  /// library (others may compute), or more. Throws dimesh::error if MPI grants less than that to a
  /// runtime that starts it.
  runtime(int& argc, char**& argv, int threads = MPI_THREAD_FUNNELED) {
    start(argc, argv, threads);
  }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime() { end(); }

  /// What MPI grants threads: one of MPI_THREAD_SINGLE < FUNNELED < SERIALIZED < MULTIPLE. Whether
  /// a thread of its own may move messages on is asked here.
  int thread_level() const { return threads_; }

  /// Says on stderr what went wrong on this rank and ends the job on all ranks.
  [[noreturn]] static void end_job(const char* what) noexcept;

 private:
  void start(int& argc, char**& argv, int threads);
  void end();
  /// Kokkos gets the arguments that begin with --kokkos, and they are taken out. Given all of them,
  /// it would answer the program's own --help, and up to 3.x take a --threads. False where it runs
  /// already.
  static bool start_kokkos(int& argc, char** argv);
  static void end_kokkos();
  [[noreturn]] static void on_terminate() noexcept;

  bool owns_mpi_ = false, owns_kokkos_ = false;
  int threads_ = MPI_THREAD_SINGLE;
  std::terminate_handler before_ = nullptr;
  std::shared_ptr<detail::watchdog> watchdog_;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void runtime::start(int& argc, char**& argv, int threads) {
  int running = 0;
  MPI_Initialized(&running);
  owns_mpi_ = !running;
  if (owns_mpi_) {
    MPI_Init_thread(&argc, &argv, threads, &threads_);
    if (threads_ < threads) {
      const int granted = threads_;
      MPI_Finalize();
      (detail::words() << "runtime: MPI grants thread level " << granted << " where " << threads
                       << " is asked for; use an MPI library that is built for threads")
          .raise();
    }
  } else {
    MPI_Query_thread(&threads_);
  }
  watchdog_ = detail::watchdog::from_environment(detail::world_rank());
#ifdef DIMESH_CHECKED
  const detail::waiting here("runtime");
  // Where the program began MPI, some ranks may have no runtime: the first grid over all does it.
  if (owns_mpi_) detail::board::start();
#endif
  owns_kokkos_ = start_kokkos(argc, argv);
  before_ = std::set_terminate(&runtime::on_terminate);
}
DIMESH_OUTLINE inline void runtime::end() {
  std::set_terminate(before_);
#ifdef DIMESH_CHECKED
  if (detail::world_rank() == 0) {
    detail::rule_uses::here().tell();
    detail::key_uses::here().tell();
  }
#endif
  if (watchdog_ != nullptr) watchdog_->end();
  if (owns_kokkos_) end_kokkos();
  if (owns_mpi_) MPI_Finalize();
}
DIMESH_OUTLINE inline void runtime::end_job(const char* what) noexcept {
  std::fprintf(stderr, "dimesh: rank %d: %s\n", detail::world_rank(), what);
  std::fflush(stderr);
  int ended = 0, running = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  // Where all ranks fail alike, each should have said so before the job is taken down.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (running && !ended) MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}
DIMESH_OUTLINE inline bool runtime::start_kokkos(int& argc, char** argv) {
  if (Kokkos::is_initialized()) return false;
  std::vector<char*> its;
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    const bool names_it = i > 0 && std::strncmp(argv[i], "--kokkos", 8) == 0;
    if (i == 0 || names_it) its.push_back(argv[i]);
    if (!names_it) argv[kept++] = argv[i];
  }
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
  int count = static_cast<int>(its.size());
  its.push_back(nullptr);
  Kokkos::initialize(count, its.data());
  return true;
}
DIMESH_OUTLINE inline void runtime::end_kokkos() { Kokkos::finalize(); }
DIMESH_OUTLINE inline void runtime::on_terminate() noexcept {
  try {
    if (std::current_exception()) throw;
  } catch (const std::exception& e) {
    end_job(e.what());
  } catch (...) {
    end_job("an exception of unknown type");
  }
  end_job("terminated without an exception");
}
#endif

namespace detail {
template <class Program>
using program_fault = std::conditional_t<std::is_invocable_v<Program&>, no_fault,
                                         wrong_arguments<std::remove_cvref_t<Program>>>;
}  // namespace detail

/// Runs `program` between start and end; returns what it returns, or 0. An exception that leaves
/// it ends the job on all ranks. Arguments for MPI and Kokkos (--kokkos-...) are taken out.
template <class Program> int run(int& argc, char** argv, Program&& program) {
  static_assert(ok<detail::program_fault<Program>>,
                "run: the program takes no arguments; it captures what it needs, and makes its "
                "grids: run(argc, argv, [&] { grid<pod> g; })");
  runtime started(argc, argv);
  try {
    if constexpr (!ok<detail::program_fault<Program>>) {
      return 1;
    } else if constexpr (std::is_void_v<decltype(program())>) {
      program();
      return 0;
    } else {
      return program();
    }
  } catch (const std::exception& e) {
    runtime::end_job(e.what());
  } catch (...) {
    runtime::end_job("an exception of unknown type");
  }
}
template <class Program> int run(const int& argc, char** argv, Program&& program) {
  int count = argc;
  return run(count, argv, std::forward<Program>(program));
}
// Anything else.
template <class... No>
  requires(sizeof...(No) == 0)
int run(detail::any_argument, detail::any_argument = {}, detail::any_argument = {},
        detail::any_argument = {}) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "run: takes the arguments of main and then the program: run(argc, argv, [&] { "
                "grid<pod> g; })");
  return 1;
}

}  // namespace dimesh
