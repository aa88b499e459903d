// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far is the training, and how fast? A line for one rank to write: a few times a second on a
// terminal, after each tenth of the steps elsewhere.
//
//   training_progress p(std::cout, isatty(1), "data", steps, batch * length, bytes_per_step);
//   p.update(40, loss)
//     -> data  [##----]  40/400  loss 2.4913  10,240 tokens/s  rows 15.0 MiB/s  72 s left
#pragma once

#include "../common/progress.hpp"
#include "../common/result.hpp"

namespace report {

/// What the line says after its bar: means since the start, `seconds` ago.
inline std::string training_rates(int done, int steps, double seconds, double loss,
                                  std::int64_t tokens_per_step, const bytes_by_axis& per_step) {
  std::string text = format("loss %.4f", loss);
  if (seconds > 0) {
    const auto rate = [&](std::int64_t of_a_step) {
      return static_cast<std::int64_t>(static_cast<double>(of_a_step) * done / seconds);
    };
    text += "  " + grouped(rate(tokens_per_step)) + " tokens/s";
    for (const auto& [axis, bytes] : per_step)
      text += "  " + axis + " " + memory(rate(bytes)) + "/s";
  }
  const bool last = done >= steps;
  const auto time =
      static_cast<std::int64_t>(std::lround(last ? seconds : seconds / done * (steps - done)));
  return text + "  " + (time >= 60 ? std::to_string(time / 60) + " min " : "") +
         std::to_string(time % 60) + " s" + (last ? "" : " left");
}

class training_progress {
 public:
  /// `per_step`: what a step hands to MPI, by axis.
  training_progress(std::ostream& out, bool terminal, std::string name, int steps,
                    std::int64_t tokens_per_step, bytes_by_axis per_step)
      : line_(out, terminal, std::move(name), steps, 10),
        steps_(steps),
        tokens_(tokens_per_step),
        bytes_(std::move(per_step)) {}

  /// `done` steps lie behind, at least one.
  void update(int done, double loss) {
    line_.update(done, [&](double seconds) {
      return training_rates(done, steps_, seconds, loss, tokens_, bytes_);
    });
  }

 private:
  progress_line line_;
  int steps_;
  std::int64_t tokens_;
  bytes_by_axis bytes_;
};

}  // namespace report
