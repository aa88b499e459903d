// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of the program?
#pragma once

#include <string>
#include <vector>

#include "result.hpp"

struct settings {
  std::string text, out = "demo-out", prompt = "And God said unto ";
  std::string save, resume;  // folders of checkpoints, or none
  std::vector<std::string> layouts = {"data", "model"};
  int steps = 400, warmup = 100, validation = 16, sample = 240, save_every = 100;
  double rate = 2e-3, decay = 0.01, dropout = 0, temperature = 0.8;
  unsigned seed = 1;
  bool terminal = false;
};

/// What the layouts are called (train.cpp).
std::vector<std::string> layout_names();

/// Trains under the layouts asked for, in their order ("all": under each), on the ranks of
/// MPI_COMM_WORLD: one result each on rank 0.
std::vector<report::language_result> train_all(const settings& s);
