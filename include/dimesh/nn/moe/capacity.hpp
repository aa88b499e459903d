// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many tokens of a group does an expert take, and what is done where systems differ? The
// defaults are GShard's (Lepikhin et al. 2020), but that every second choice is taken;
// `algorithm_1` is its listing, where chance decides on those.
//
//   capacity_of({}, 2, 2048, 128)                        -> 32: 2 x 2048 tokens / 128 experts
//   capacity_of({.capacity_factor = 1.25}, 1, 100, 8)    -> 16: 15.6, rounded up
//   struct slot : dim<capacity_of(gate, 2, 64, 8)> {};   where types say how many tokens there are
#pragma once

#include "dimesh/detail/words.hpp"
#include "dimesh/random.hpp"

namespace dimesh::nn {

/// When the gates of a token's experts are divided by their sum.
enum class renormalise : unsigned char {
  before_capacity,  ///< what a full expert drops is missing (GShard)
  after_drops,  ///< among those that took the token (DeepSpeed)
  never  ///< the probabilities themselves (Switch, Fedus et al. 2021)
};
/// Whether choices behind the first are taken by chance.
enum class later_choices : unsigned char {
  all,  ///< always (the default of Lingvo)
  random_consuming,  ///< with probability gate / threshold; who is skipped keeps a slot (GShard)
  random_freeing  ///< the same, and the slot goes to the next token (Lingvo)
};
/// Who is first in line for an expert's slots. First choices of all stand before second ones.
enum class line_order : unsigned char {
  by_token,  ///< in the order of tokens (GShard)
  by_gate  ///< the greatest first gate first (Tutel's batch-prioritised routing)
};
/// The scale of the loss that balances experts.
enum class balance_scale : unsigned char {
  paper,  ///< mean over experts of f m: 1 / E^2 for a uniform router (GShard)
  scaled  ///< E times their sum: 1 for a uniform router (Switch, Lingvo, Tutel, DeepSpeed)
};

/// The choices of a gate.
struct gating {
  double capacity_factor = 1;  ///< slots for each choice: 1 gives GShard's 2S/E of two choices
      ///< (of all tokens: infinity)
  index_t at_least = 1;  ///< slots of an expert (Lingvo and DeepSpeed: 4)
  index_t multiple_of = 1;  ///< slots of an expert, rounded up (Lingvo: 4)
  renormalise gates = renormalise::before_capacity;
  later_choices later = later_choices::all;
  double threshold = 0.5;  ///< of a random choice: taken where gate > threshold * uniform(0, 1)
  line_order line = line_order::by_token;
  /// Of random choices, which are keyed by their number in the whole tensor. A layer puts its run's
  /// in this place (run_options::key), in evaluation, too: a form that is to take all choices there
  /// says so.
  random_key key{0};
};

/// GShard's Algorithm 1 as it is listed: second choices are taken with probability min(1, 2 gate),
/// and keep their slots where they are not.
inline constexpr gating algorithm_1{.later = later_choices::random_consuming};

namespace detail {
inline void refuse_gating(const gating& g, index_t experts) {
  (dimesh::detail::words() << "capacity_of: " << experts << " experts, a factor of "
                           << std::to_string(g.capacity_factor) << ", at least " << g.at_least
                           << " slots, a multiple of " << g.multiple_of
                           << "; all of them are above 0")
      .raise();
}
}  // namespace detail

/// Slots of each expert for a group of `tokens`, each with so many choices: choices * factor *
/// tokens / experts, rounded up, or one for each token where the factor is infinite, or so great
/// that slots have no numbers; then at least `at_least`, then up to a multiple of `multiple_of`.
/// Depends on global extents alone, so that all ranks have the same. Throws dimesh::error where
/// there is no expert, or where an option is not above 0.
constexpr index_t capacity_of(const gating& g, index_t choices, index_t tokens, index_t experts) {
  if (experts < 1 || !(g.capacity_factor > 0) || g.at_least < 1 || g.multiple_of < 1)
    detail::refuse_gating(g, experts);
  // 1.1 * 10 / 1 is 11.000000000000002 in binary: the product is exact to 2^-50, and so is this.
  const double exact = g.capacity_factor * static_cast<double>(choices * tokens) /
                       static_cast<double>(experts) * (1 - 0x1p-50);
  index_t slots = tokens;
  if (exact * static_cast<double>(experts) < 0x1p31) {  // what std::int32_t numbers
    slots = static_cast<index_t>(exact);
    if (static_cast<double>(slots) < exact) ++slots;
  }
  if (slots < g.at_least) slots = g.at_least;
  return (slots + g.multiple_of - 1) / g.multiple_of * g.multiple_of;
}

}  // namespace dimesh::nn
