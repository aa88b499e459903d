// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of the language model's results the report has beside what all examples have; see
// common/report.hpp.
#pragma once

#include "../common/report.hpp"
#include "result.hpp"

namespace report {

inline std::vector<figure> figures(const language_result& r) {
  return {{"validation_bits_per_byte", r.validation_bits_per_byte},
          {"optimizer_bytes_per_rank", r.optimizer_bytes_per_rank},
          {"tokens_per_second", r.tokens_per_second},
          {"sample", r.sample}};
}

}  // namespace report
