// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the model write? Bytes after a prompt, one token's work each.
#pragma once

#include <dimesh/nn/generate/sampling.hpp>
#include <string>

#include "model.hpp"

/// A batch of one text.
struct one_text : dm::dim<1> {};

/// What to write, and how.
struct request {
  std::string prompt;
  dm::index_t count = 0;
  nn::sampling how = {};
  dm::random_key key{0};
};

/// The prompt and what a model with these parameters writes after it; compiled for every layout in
/// sample.cpp. Collective over the grid.
template <class Plan> struct writing {
  static std::string text(const parameters<Plan>& p, const dm::grid<typename Plan::mesh>& g,
                          const request& what);
};
