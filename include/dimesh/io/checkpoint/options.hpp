// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of how a checkpoint is saved and loaded?
//
//   save_checkpoint("run", record, {.keep_last = 2}, ...);
//   load_checkpoint("run", {.file_has_more = true}, part("model", params));    no adam.first
//   load_checkpoint("run", {.partial = true, .names = {{"model.w", "wte"}}}, ...);
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "dimesh/io/checkpoint/stored.hpp"

namespace dimesh {

struct save_options {
  index_t largest_file = index_t{5} << 30;  ///< bytes of elements; a tensor is in one file always
  index_t keep_last = 0;  ///< older checkpoints of the folder are removed; 0: none is
  std::vector<index_t> keep_steps{};  ///< but not those of these steps: the best one, say
};

struct load_options {
  bool file_has_more = false;  ///< than the program: the weights of a run without its optimizer
  bool partial = false;  ///< the program may have more, too, of which nothing changes; but of no
  ///< part all, whatever is asked for: that is a name mistaken
  bool casts = false;  ///< real numbers may be of another precision in the file
  bool verify = true;  ///< all files are read once to compare their checksums
  std::map<std::string, std::string> names{};  ///< of tensors, as the file calls them
  std::map<std::string, stored_part> parts{};  ///< of tensors that a file has in larger ones
  std::set<std::string> unused{};  ///< the file's names of tensors that no one misses
};

}  // namespace dimesh
