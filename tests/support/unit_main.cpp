// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do tests without MPI run? With Kokkos initialised and a watchdog, as a plain program.
//
//   ./unit/layout --test-case="*spread*"   -> the usual doctest options
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <dimesh/memory/pool.hpp>

#include "session.hpp"

namespace {
bool nothing = false;
struct watching_listener : doctest::IReporter {
  explicit watching_listener(const doctest::ContextOptions&) {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    nothing = test_support::runs_nothing(stats);
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("watching", 1, watching_listener);
}  // namespace

int main(int argc, char** argv) {
  test_support::start_watchdog();
  Kokkos::ScopeGuard kokkos(argc, argv);
  dimesh::detail::pool::instance().spoil_fresh(true);  // what no kernel writes shall be seen
  doctest::Context context(argc, argv);
  context.setOption("no-colors", true);
  return context.run() != 0 || nothing ? 1 : 0;
}
