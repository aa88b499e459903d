// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a checkpoint hold besides tensors? The step, and whatever else a program needs to go on
// where it was: random keys, the place in the data, the optimizer's count of steps, metrics, a file
// of its own.
//
//   checkpoint_record r{.step = 7};  r.integers["adam.steps"] = 7;  r.numbers["loss"] = 1.25;
//   r.files["vocabulary.bpe"] = vocabulary.printed();
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "dimesh/detail/config.hpp"

namespace dimesh {

/// The scalars of a checkpoint. Numbers are kept to the last bit, NaN and infinity as well. What is
/// saved is the first rank's, all but the step, which is the same on all ranks.
struct checkpoint_record {
  index_t step = 0;
  std::map<std::string, std::int64_t> integers{};
  std::map<std::string, double> numbers{};
  std::map<std::string, std::string> texts{};
  std::map<std::string, std::string> files{};  ///< their bytes, by names in the checkpoint's folder
};

namespace detail::checkpoint {
/// A file of the checkpoint's own folder, and of no other.
inline bool is_plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find_first_of("/\\") == std::string::npos &&
         name.find('\0') == std::string::npos;
}
inline constexpr const char* index_name = "model.safetensors.index.json";
/// Of a file that the program has in a checkpoint: not one of the checkpoint's own.
inline bool is_name_for_program(const std::string& name) {
  return is_plain_name(name) && !name.ends_with(".safetensors") && name != index_name &&
         name != "manifest.json";
}
}  // namespace detail::checkpoint

}  // namespace dimesh
