// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of the program, and what does it learn from?
#pragma once

#include "../common/result.hpp"
#include "../common/sentence_pairs.hpp"

struct settings {
  std::string catalogs = "/usr/share/locale", domains = "iso_", tokens = "pairs", out = "demo-out",
              save, resume;
  std::vector<std::string> translate;
  std::vector<int> experts = {1, 4, 16};
  int steps = 600, compare = 5, save_every = 200, stop_after = 0, held_out = 8, longest = 60;
  double rate = 3e-3, temperature = 5, balance = 0.01;
  unsigned seed = 1;
  bool terminal = false;
};

/// Source symbols, what was written before each place, and what is to be written there.
using training_row =
    std::tuple<std::vector<std::int32_t>, std::vector<std::int32_t>, std::vector<std::int32_t>>;

struct language {
  std::string name;
  std::vector<training_row> training;
};
/// A pair that is never trained on, in any language, and its place in corpus::languages.
struct held_out_pair {
  std::size_t language;
  training_row row;
  std::string english, other;
};
struct corpus {
  dimesh::input::byte_pairs sources, english;
  std::vector<language> languages;  // those with most pairs first
  std::vector<double> drawn;  // the sum of the chances of a language and those before it
  std::vector<held_out_pair> held_out;  // languages take turns

  /// The half of all pairs that are in few languages: those are high-resource.
  std::size_t high() const;
};
/// Reads the catalogs of all languages, and learns two vocabularies (or takes those of the run that
/// is resumed).
corpus read_corpus(const settings& s);

/// Sums over held-out sentences of a language.
struct score {
  double symbols = 0, right = 0, loss = 0;
  std::vector<std::string> found, wanted;

  void add(const score& o) {
    symbols += o.symbols, right += o.right, loss += o.loss;
    found.insert(found.end(), o.found.begin(), o.found.end());
    wanted.insert(wanted.end(), o.wanted.begin(), o.wanted.end());
  }
};
/// What a mixture did with held-out sentences.
struct expert_use {
  std::vector<double> load;  // parts of all choices
  double dropped = 0, entropy = 0, imbalance = 0;
};
struct outcome : report::run_result {
  int experts = 1;
  std::vector<score> scores;  // of each language
  std::vector<expert_use> used;  // of the encoder's mixture and of the decoder's
  std::vector<double> watched_at;  // steps
  std::vector<expert_use> watched;  // what the encoder's mixture did then
  double symbols_per_second = 0;
  bool told_to_end = false;
};

/// Trains a model with so many experts, on all ranks of MPI_COMM_WORLD or (is_alone) on rank 0 for
/// the first steps. Collective; what it learns of held-out sentences is the same on all ranks.
outcome train(int experts, const corpus& c, const settings& s, bool is_alone);
/// Prints tables, draws pictures; 0 where all is as it should be.
int conclude(std::vector<outcome>& all, const corpus& c, const settings& s);
