// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a job learn that it must end soon? By a signal: SIGTERM, or SIGUSR1, which schedulers
// send some time before they kill (Slurm: --signal=USR1@120). While one of these lives such a
// signal is noted on the rank that got it; the program ends when it likes. A second one of its kind
// does what it would without.
//
//   stop_request stop;
//   while (!stop.asked()) ...              // this rank's; training_loop asks all of them
#pragma once

#include <csignal>

#include "dimesh/error.hpp"

namespace dimesh {

class stop_request {
 public:
  /// Takes over both signals, until it ends. One at a time in a program.
  stop_request() {
    if (in_use) throw error("stop_request: there is one already; a program has one at a time");
    in_use = true;
    number = 0;
    struct sigaction take{};
    take.sa_handler = [](int s) { number = s; };
    take.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    for (int i = 0; i < 2; ++i) sigaction(signals[i], &take, &before_[i]);
  }
  stop_request(const stop_request&) = delete;
  stop_request& operator=(const stop_request&) = delete;
  ~stop_request() {
    for (int i = 0; i < 2; ++i) sigaction(signals[i], &before_[i], nullptr);
    in_use = false;
  }

  /// Did this rank get one of the signals?
  bool asked() const { return number != 0; }
  /// Which; 0: none.
  int signal() const { return number; }

 private:
  static constexpr int signals[2] = {SIGTERM, SIGUSR1};
  inline static volatile std::sig_atomic_t number = 0;
  inline static bool in_use = false;
  struct sigaction before_[2]{};
};

}  // namespace dimesh
