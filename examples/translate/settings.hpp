// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of the program, and what does it learn from? Known before any layout is.
#pragma once

#include "../common/result.hpp"
#include "../common/sentence_pairs.hpp"
#include "../common/training_options.hpp"

struct settings : report::training_settings {
  settings() : training_settings{.steps = 2000, .save_every = 200, .rate = 3e-3} {}
  std::string to = "fr", catalogs = "/usr/share/locale";
  std::vector<std::string> layouts = {"data", "model", "square"}, translate;
  int compare = 12, held_out = 4, beams = 4, longest = 40;
  double dropout = 0.1;
};

/// A pair as a training step wants it: the English symbols, what the decoder has written before
/// each place, and what it is to write there (-1: nothing).
using training_row =
    std::tuple<std::vector<std::int32_t>, std::vector<std::int32_t>, std::vector<std::int32_t>>;

struct corpus {
  dimesh::input::byte_pairs vocabulary;
  std::vector<training_row> training, held_out;
  std::vector<text::pair> held_out_texts;  // of the same pairs
};
inline constexpr const char* vocabulary_file = "vocabulary.txt";  // in checkpoints
/// Reads the catalogs, and learns a vocabulary, or takes that of the run that goes on. Collective.
corpus read_corpus(const settings& s);

struct outcome : report::run_result {
  double held_out_loss = 0, accuracy = 0, bleu = 0, chrf = 0, symbols_per_second = 0;
  std::vector<std::string> found;  ///< the first held-out pairs, as the model translates them
};

/// Trains under a layout of that name, and translates what the settings ask for where `is_first`.
/// Collective over MPI_COMM_WORLD; the same on all ranks.
outcome train(const std::string& layout, const corpus& c, const settings& s, bool is_first);
std::vector<std::string> layout_names();
