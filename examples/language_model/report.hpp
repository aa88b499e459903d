// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of the language model as JSON; see common/report.hpp.
#pragma once

#include "../common/report.hpp"
#include "result.hpp"

namespace report {

inline void to_json(ordered_json& j, const language_result& r) {
  to_json(j, static_cast<const run_result&>(r));
  j["validation_bits_per_byte"] = r.validation_bits_per_byte;
  j["optimizer_bytes_per_rank"] = r.optimizer_bytes_per_rank;
  j["tokens_per_second"] = r.tokens_per_second;
  j["sample"] = r.sample;
}
inline void from_json(const ordered_json& j, language_result& r) {
  from_json(j, static_cast<run_result&>(r));
  r.validation_bits_per_byte = number_from(j.at("validation_bits_per_byte"));
  r.optimizer_bytes_per_rank = j.at("optimizer_bytes_per_rank");
  r.tokens_per_second = number_from(j.at("tokens_per_second"));
  r.sample = j.at("sample");
}

}  // namespace report
