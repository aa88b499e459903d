// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of the program?
#pragma once

#include "../common/result.hpp"
#include "../common/training_options.hpp"

struct settings : report::training_settings {
  settings() : training_settings{.steps = 400, .rate = 2e-3} {}
  std::string text, out = "demo-out", prompt = "And God said unto ";
  std::vector<std::string> layouts = {"data", "model"};
  int warmup = 100, validation = 16, sample = 240;
  double decay = 0.01, dropout = 0, temperature = 0.8;
};

/// What the layouts are called (train.cpp).
std::vector<std::string> layout_names();

/// Trains under the layouts asked for, in their order ("all": under each), on the ranks of
/// MPI_COMM_WORLD: one result each on rank 0.
std::vector<report::run_result> train_all(const settings& s);
