// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the test mains share? A watchdog, so that a hanging test ends with a message that names
// the test case, and output that says which rank it comes from.
//
//   start_watchdog()  -> after DIMESH_TEST_TIMEOUT (300) seconds the process ends, status 124
//   runs_nothing(stats)    -> no test case was left by the filters
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <streambuf>
#include <string>

namespace test_support {

/// The test case now running and this rank, where a signal handler can read them.
inline char current_case[256] = "(before the first test case)";
inline int current_rank = -1;

inline void set_current_case(const char* name) {
  std::snprintf(current_case, sizeof current_case, "%s", name);
}

/// Ends the process if the tests take longer than DIMESH_TEST_TIMEOUT seconds. The launcher takes
/// the other ranks down when one ends with a failure.
inline void start_watchdog() {
  const char* text = std::getenv("DIMESH_TEST_TIMEOUT");
  const int seconds = text != nullptr ? std::atoi(text) : 300;
  if (seconds <= 0) return;
  signal(SIGALRM, [](int) {
    char line[400];
    const int size =
        std::snprintf(line, sizeof line, "[rank %d] watchdog: the time is up in test case \"%s\"\n",
                      current_rank, current_case);
    if (write(STDERR_FILENO, line, static_cast<size_t>(size)) < 0) _exit(125);
    _exit(124);
  });
  alarm(static_cast<unsigned>(seconds));
}

/// Is there no test case of the names or the file that were asked for? That is a failure, but of
/// the program whose files assert while compiling.
template <class Stats> bool runs_nothing(const Stats& run) {
  const bool nothing =
      run.numTestCasesPassingFilters == 0 && std::getenv("DIMESH_TEST_STATIC") == nullptr;
  if (nothing) std::fprintf(stderr, "no test case passes the filters\n");
  return nothing;
}

/// Writes whole lines, each labelled with the rank. Ranks other than 0 leave out the summary that
/// every rank would repeat.
class labelled_buffer : public std::streambuf {
 public:
  labelled_buffer(int rank, int size) : rank_(rank), size_(size) {}
  ~labelled_buffer() override { flush_line(); }

 private:
  int overflow(int character) override {
    if (character == traits_type::eof()) return 0;
    if (character == '\n') {
      flush_line();
    } else {
      line_.push_back(static_cast<char>(character));
    }
    return character;
  }

  void flush_line() {
    const bool summary =
        line_.compare(0, 9, "[doctest]") == 0 || line_.compare(0, 9, "=========") == 0;
    if (rank_ == 0 || !(summary || line_.empty())) {
      const std::string text = (size_ > 1 ? "[" + std::to_string(rank_) + "] " : "") + line_ + "\n";
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    }
    line_.clear();
  }

  int rank_;
  int size_;
  std::string line_;
};

}  // namespace test_support
