// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far is the run? A line that tells, for one rank to write while it trains.
//
//   progress_line p(std::cout, isatty(1), "batch x hidden", steps);
//   p.update(120, loss)    -> batch x hidden  [#####---------------]  120/469  loss 0.4123  3.1 s
//   p.update(120, [](double seconds) { return "..."; })     // other words at the end
//   rates_text({{"tokens", 2048}, {"rows", 4 << 20, true}}, 10, 2)
//     -> "10,240 tokens/s  rows 20.0 MiB/s": where 10 steps took two seconds
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimesh {

/// Does a person read along? A script that knows better sets DIMESH_PLAIN. Open MPI's mpirun gives
/// ranks a terminal whatever its own output is: where its output can be seen, that counts.
inline bool on_terminal() {
  if (isatty(1) == 0 || std::getenv("DIMESH_PLAIN") != nullptr) return false;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return true;
  char name[256];
  const std::string output = "/proc/" + std::to_string(getppid()) + "/fd/1";
  const ssize_t n = readlink(output.c_str(), name, sizeof name);
  if (n < 0) return true;
  const std::string_view to(name, static_cast<std::size_t>(n));
  return to.starts_with("/dev/pts/") || to.starts_with("/dev/tty");
}

/// What a step does, to be told per second: so many of something, or bytes on a mesh axis.
struct step_rate {
  std::string name;
  std::int64_t per_step = 0;
  bool in_bytes = false;
};

namespace detail {
/// 1234567 -> "1,234,567"
inline std::string grouped_digits(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (int i = static_cast<int>(digits.size()) - 3; i > (n < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}
/// 123456 -> "120.6 KiB"
inline std::string bytes_in_words(std::int64_t bytes) {
  constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double n = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; n >= 1024 && unit < 3; ++unit) n /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", n, units[unit]);
  return text;
}
}  // namespace detail

/// Means over `steps` steps that took `seconds`; empty where no time has passed.
inline std::string rates_text(const std::vector<step_rate>& all, int steps, double seconds) {
  std::string text;
  for (const step_rate& r : all) {
    if (!(seconds > 0)) break;
    const auto rate = static_cast<std::int64_t>(static_cast<double>(r.per_step) * steps / seconds);
    if (!text.empty()) text += "  ";
    text += r.in_bytes ? r.name + " " + detail::bytes_in_words(rate) + "/s"
                       : detail::grouped_digits(rate) + " " + r.name + "/s";
  }
  return text;
}
/// "8 min 20 s": rounded.
inline std::string time_text(double seconds) {
  const long long all = std::llround(seconds);
  return (all >= 60 ? std::to_string(all / 60) + " min " : "") + std::to_string(all % 60) + " s";
}

/// One line that is rewritten a few times a second on a terminal; elsewhere, a line after each of
/// `parts` equal parts of the steps.
class progress_line {
 public:
  progress_line(std::ostream& out, bool terminal, std::string name, int steps, int parts = 4)
      : out_(out),
        terminal_(terminal),
        name_(std::move(name)),
        steps_(std::max(1, steps)),
        parts_(parts) {}
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() {
    if (open_) out_ << std::endl;
  }

  /// `done` steps lie behind.
  void update(int done, double loss) {
    update(done, [=](double seconds) {
      char text[64];
      std::snprintf(text, sizeof text, "loss %.4f  %.1f s", loss, seconds);
      return std::string(text);
    });
  }
  /// The same with words of the caller's: words(seconds since the start) -> std::string, called
  /// where they are shown.
  template <class Words>
    requires std::is_invocable_r_v<std::string, Words, double>
  void update(int done, const Words& words) {
    const bool last = done >= steps_;
    if (terminal_) {
      const double now = seconds();
      if (!last && now - shown_ < 0.2) return;
      shown_ = now;
      out_ << '\r' << line(done, words(seconds())) << "\033[K" << (last ? "\n" : "") << std::flush;
      open_ = !last;
    } else if (const auto part = std::int64_t{parts_} * done / steps_; part > part_) {
      part_ = part;
      out_ << line(done, words(seconds())) << std::endl;
    }
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  std::string line(int done, const std::string& words) const {
    constexpr int cells = 20;
    const auto full = static_cast<std::size_t>(
        std::clamp<std::int64_t>(std::int64_t{cells} * done / steps_, 0, cells));
    char count[32];
    std::snprintf(count, sizeof count, "%6d/%d  ", done, steps_);
    std::string name = name_;
    name.resize(std::max<std::size_t>(name.size(), 20), ' ');
    return "  " + name + " [" + std::string(full, '#') + std::string(cells - full, '-') + "]" +
           count + words;
  }

  std::ostream& out_;
  bool terminal_;
  std::string name_;
  int steps_, parts_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double shown_ = -1;
  std::int64_t part_ = 0;
  bool open_ = false;
};

}  // namespace dimesh
