// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do tests with MPI run? Every rank runs every test case; a check that fails on one rank fails
// the test on all. After each pass through a test case the ranks meet: a rank that left it early (a
// failed REQUIRE, an exception) waits a while for the others, and if they do not come, because they
// hang in a collective that it will never enter, it takes the job down with a message.
//
// Laws over enumerated layouts check what the library calls legal: a rule that refuses too much
// would leave them less to check. So with DIMESH_TEST_CHECKS=N, rank 0 says how many checks each
// case made, and the test fails if there were fewer than N in all.
//
//   mpirun -n 4 ./mpi/all_reduce --test-case="*ring*"   -> the usual doctest options, on each rank
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <chrono>
#include <dimesh/detail/mpi.hpp>
#include <dimesh/memory/pool.hpp>
#include <exception>
#include <thread>

#include "session.hpp"

namespace {

MPI_Comm meeting = MPI_COMM_NULL;  // the meetings' own communicator: they never meet test traffic
bool failed_anywhere = false;
constexpr double patience = 5.0;  // seconds that a rank which left early waits for the others

[[noreturn]] void abort_job(const char* why) {
  std::fprintf(stderr, "[rank %d] test case \"%s\": %s; aborting the job\n",
               test_support::current_rank, test_support::current_case, why);
  std::fflush(stderr);
  // MPICH's launcher loses what it has not read when the job ends.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

/// Meets the other ranks at the end of a pass; `pass` counts the passes through this test case,
/// `last` says that no other follows.
void meet(int pass, bool last, bool left_early, bool failed) {
  const int place = 2 * pass + (last ? 1 : 0);
  int mine[3] = {place, -place, failed ? 1 : 0};
  int all[3] = {};
  MPI_Request request;
  PMPI_Iallreduce(mine, all, 3, MPI_INT, MPI_MAX, meeting, &request);
  const auto start = std::chrono::steady_clock::now();
  for (int done = 0;;) {
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) break;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    if (left_early && waited.count() > patience) {
      abort_job("this rank left it early, and the others do not follow");
    }
    if (waited.count() > 1e-3) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (all[0] != -all[1]) abort_job("the ranks took different ways through its subcases");
  failed_anywhere = failed_anywhere || all[2] != 0;
}

struct meeting_listener : doctest::IReporter {
  explicit meeting_listener(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& data) override {
    test_support::set_current_case(data.m_name);
    pass_ = 0;
    left_early_ = failed_ = false;
  }
  void test_case_reenter(const doctest::TestCaseData&) override {
    meet(pass_++, false, left_early_, failed_);
    left_early_ = false;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    meet(pass_++, true, left_early_, failed_ || stats.failure_flags != 0);
    if (floor() >= 0 && test_support::current_rank == 0)
      std::printf("%d checks: %s\n", stats.numAssertsCurrentTest, test_support::current_case);
  }
  void test_run_end(const doctest::TestRunStats& stats) override {
    failed_anywhere = failed_anywhere || test_support::runs_nothing(stats);
    if (test_support::current_rank != 0 || stats.numAsserts >= floor()) return;
    std::printf("%d checks in all, where there were %d: are too many layouts refused?\n",
                stats.numAsserts, floor());
    failed_anywhere = true;
  }
  void test_case_exception(const doctest::TestCaseException& error) override {
    left_early_ = failed_ = true;
    if (error.is_crash) abort_job(error.error_string.c_str());
  }
  void log_assert(const doctest::AssertData& data) override {
    if (!data.m_failed) return;
    failed_ = true;
    if ((data.m_at & doctest::assertType::is_require) != 0) left_early_ = true;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  static int floor() {
    const char* text = std::getenv("DIMESH_TEST_CHECKS");
    return text == nullptr ? -1 : std::atoi(text);
  }

  int pass_ = 0;
  bool left_early_ = false;
  bool failed_ = false;
};

REGISTER_LISTENER("meeting", 1, meeting_listener);

int run_tests(int argc, char** argv, int rank, int size) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  dimesh::detail::pool::instance().spoil_fresh(true);  // what no kernel writes shall be seen
  test_support::labelled_buffer buffer(rank, size);
  std::ostream out(&buffer);
  doctest::Context context(argc, argv);
  context.setOption("no-colors", true);
  context.setOption("no-intro", true);
  context.setCout(&out);
  int failed = context.run() != 0 || failed_anywhere ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, meeting);
  if (failed != 0 && rank == 0) out << "FAILED on one rank or more of " << size << "\n";
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  test_support::start_watchdog();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Comm_dup(MPI_COMM_WORLD, &meeting);
  test_support::current_rank = rank;
  std::set_terminate([] { abort_job("std::terminate was called"); });

  const int status = run_tests(argc, argv, rank, size);
  PMPI_Comm_free(&meeting);
  MPI_Finalize();
  return status;
}
