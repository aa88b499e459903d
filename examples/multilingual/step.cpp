// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The training step: what the compiler works on longest.

#include "model.hpp"

namespace {

struct total_loss {
  float balance;

  template <class P, class S, class I>
  auto operator()(const P& p, const S& from, const I& ids, const I& next) const {
    const auto read = encode(p, from);
    const auto wrote = decode(p, read.features, from, ids);
    const auto loss = nn::mean_of_tokens(
        dm::softmax_cross_entropy<vocab>(logits_of(p, wrote.features), next), next);
    const auto unbalanced = [](const auto& half) {
      using symbol = typename std::remove_cvref_t<decltype(half)>::symbol;
      return nn::balance_loss<symbol, expert, choice>(nn::balance_scale::scaled,
                                                      half.mixed.probabilities,
                                                      half.mixed.route.chosen, half.counted);
    };
    return dm::complete(loss) + balance * dm::complete(unbalanced(read) + unbalanced(wrote));
  }
};

}  // namespace

gradient_result step_function::operator()(const parameters& p, const source_ids& from,
                                          const target_ids& ids, const target_ids& next) const {
  return dm::complete(dm::value_and_grad(total_loss{balance}, p)(from, ids, next));
}
