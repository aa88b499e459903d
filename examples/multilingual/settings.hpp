// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of the program, and what does it learn from?
#pragma once

#include "../common/result.hpp"
#include "../common/sentence_pairs.hpp"
#include "../common/training_options.hpp"

struct settings : report::training_settings {
  settings() : training_settings{.steps = 600, .save_every = 200, .rate = 3e-3} {}
  static constexpr const char* installed = "/usr/share/locale";
  static constexpr const char* unsaid = "by folder";
  std::string catalogs = installed, domains = unsaid, tokens = "pairs", out = "demo-out";
  std::vector<std::string> translate;
  std::vector<int> experts = {1, 4, 16};
  int compare = 5, stop_after = 0, held_out = 8, longest = 60, columns = 1;
  double temperature = 5, balance = 0.01;

  /// How names of catalogs begin. What is installed has more than a demo needs.
  std::string prefix() const {
    return domains != unsaid ? domains : catalogs == installed ? "iso_" : "";
  }
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
  std::size_t left_out = 0;  // pairs of more symbols than the model has room for

  double chance(std::size_t language) const {
    return drawn[language] - (language == 0 ? 0 : drawn[language - 1]);
  }
  /// The half of all pairs that are in few languages: those are high-resource.
  std::size_t high() const;
};
/// Reads the catalogs of all languages, and learns two vocabularies, or takes those of the run that
/// goes on. Collective.
corpus read_corpus(const settings& s);
/// How long a sentence may be, and what it is in English; the end is a symbol more.
std::string rooms();

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
/// What a mixture did with held-out sentences: sums over their symbols, of which each has one
/// choice.
struct expert_use {
  std::vector<double> chosen;  // how many chose each expert
  double symbols = 0, lost = 0, uncertain = 0;  // lost: found their expert full

  void add(const expert_use& o) {
    chosen.resize(o.chosen.size(), 0);
    for (std::size_t e = 0; e < chosen.size(); ++e) chosen[e] += o.chosen[e];
    symbols += o.symbols, lost += o.lost, uncertain += o.uncertain;
  }
  double dropped() const { return lost / symbols; }
  double entropy() const { return uncertain / symbols; }
  /// Of the busiest expert, times an even share.
  double imbalance() const {
    return *std::max_element(chosen.begin(), chosen.end()) * static_cast<double>(chosen.size()) /
           symbols;
  }
};
struct outcome : report::run_result {
  int experts = 1;
  bool as_asked = true;  // its first steps were made with these settings, maybe by a run before it
  bool compared = false;  // with those that one rank makes
  std::vector<score> scores;  // of each language
  expert_use used[2];  // of the encoder's mixture and of the decoder's
  double source_symbols = 0;  // of held-out sentences
  std::vector<double> watched_at;  // steps
  std::vector<expert_use> watched;  // what the encoder's mixture did then
  double symbols_per_second = 0, flops_per_symbol = 0;  // of a step
};

/// Trains a model with so many experts, on all ranks of MPI_COMM_WORLD or (is_alone) on rank 0 for
/// the first steps. Collective; what it learns of held-out sentences is the same on all ranks.
outcome train(int experts, const corpus& c, const settings& s, bool is_alone);
/// Prints tables, draws pictures; 0 where all is as it should be.
int conclude(std::vector<outcome>& all, const corpus& c, const settings& s);
