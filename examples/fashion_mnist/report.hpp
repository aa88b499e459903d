// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the reader get to see of the runs? What all examples report (common/report.hpp), and
// how many test images each layout's network labels rightly.
//
//   std::cout << table(all);      // std::vector<layout_result>
#pragma once

#include "../common/report.hpp"

namespace report {

struct layout_result : run_result {
  double test_accuracy = 0;  ///< in [0, 1]
};

/// Aligned with spaces, numbers to the right; 120 columns suffice for meshes of three axes.
inline std::string table(const std::vector<layout_result>& all) {
  text_table t{.headings = {{"", "", "", "final", "max", "test", "parameters", "peak", "",
                             "bytes per step", ""},
                            {"layout", "mesh", "ranks", "loss", "diff", "acc.", "per rank",
                             "per rank", "axis", "types = counted", "time"}},
               .left = {0, 1, 8}};
  for (const auto& r : all)
    add_rows(t, r,
             {r.layout, r.mesh, std::to_string(r.ranks), format("%.4f", r.final_loss()),
              difference_text(r.max_loss_difference), format("%.4f", r.test_accuracy),
              grouped(r.parameters_per_rank), memory(r.peak_bytes_per_rank), "", "",
              format("%.1f s", r.seconds)},
             8);
  return t.str();
}

inline std::vector<figure> figures(const layout_result& r) {
  return {{"test_accuracy", r.test_accuracy}};
}

}  // namespace report
