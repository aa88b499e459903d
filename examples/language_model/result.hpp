// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the reader get to see of the runs? What all examples report (common/report.hpp); how
// well text is predicted that was never trained on; what the optimizer keeps; how fast it went; and
// what the model writes.
//
//   std::cout << table(all);                      // std::vector<language_result>
#pragma once

#include "../common/result.hpp"

namespace report {

struct language_result : run_result {
  double validation_bits_per_byte = 0;  ///< mean cross-entropy to the base 2; 8: knows nothing
  std::int64_t optimizer_bytes_per_rank = 0;
  double tokens_per_second = 0;
  std::string sample = {};
  bool told_to_end = false;  ///< by a signal, before the last step
};

/// Nats, as losses come, to bits.
inline double bits(double nats) { return nats / 0.69314718055994530942; }

/// Aligned with spaces, numbers to the right.
inline std::string table(const std::vector<language_result>& all) {
  text_table t{
      .headings = {{"", "", "", "final", "max", "valid.", "parameters", "optimizer", "peak", "",
                    "bytes per step", "", ""},
                   {"layout", "mesh", "ranks", "loss", "diff", "bits/B", "per rank", "per rank",
                    "per rank", "axis", "types = counted", "tokens/s", "time"}},
      .left = {0, 1, 9}};
  for (const auto& r : all)
    add_rows(t, r,
             {r.layout, r.mesh, std::to_string(r.ranks), format("%.4f", r.final_loss()),
              difference_text(r.max_loss_difference), format("%.3f", r.validation_bits_per_byte),
              grouped(r.parameters_per_rank), memory(r.optimizer_bytes_per_rank),
              memory(r.peak_bytes_per_rank), "", "", grouped(std::llround(r.tokens_per_second)),
              format("%.1f s", r.seconds)},
             9);
  return t.str();
}

}  // namespace report
