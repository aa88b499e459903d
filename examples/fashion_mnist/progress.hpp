// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far is the run? A line that tells, for one rank to write while it trains.
//
//   progress_line p(std::cout, isatty(1), "batch x hidden", steps);
//   p.update(120, loss)    -> batch x hidden  [#####---------------]  120/469  loss 0.4123  3.1 s
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>

namespace report {

/// One line that is rewritten thrice a second on a terminal, and a line each quarter elsewhere.
/// (mpirun lends its ranks terminals, whatever its own output is: lines must be few there, too.)
class progress_line {
 public:
  progress_line(std::ostream& out, bool terminal, std::string name, int steps)
      : out_(out), terminal_(terminal), name_(std::move(name)), steps_(std::max(1, steps)) {}
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() {
    if (open_) out_ << std::endl;
  }

  /// `done` steps lie behind.
  void update(int done, double loss) {
    const bool last = done >= steps_;
    if (terminal_) {
      const double now = seconds();
      if (!last && now - shown_ < 1.0 / 3) return;
      shown_ = now;
      out_ << '\r' << line(done, loss) << "\033[K" << (last ? "\n" : "") << std::flush;
      open_ = !last;
    } else if (const int quarter = 4 * done / steps_; quarter > quarter_) {
      quarter_ = quarter;
      out_ << line(done, loss) << std::endl;
    }
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  std::string line(int done, double loss) const {
    constexpr int cells = 20;
    const auto full = static_cast<std::size_t>(std::clamp(cells * done / steps_, 0, cells));
    char tail[96];
    std::snprintf(tail, sizeof tail, "%6d/%d  loss %.4f  %.1f s", done, steps_, loss, seconds());
    std::string name = name_;
    name.resize(std::max<std::size_t>(name.size(), 20), ' ');
    return "  " + name + " [" + std::string(full, '#') + std::string(cells - full, '-') + "]" +
           tail;
  }

  std::ostream& out_;
  bool terminal_;
  std::string name_;
  int steps_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double shown_ = -1;
  int quarter_ = 0;
  bool open_ = false;
};

}  // namespace report
