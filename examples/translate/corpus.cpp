// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From catalogs to rows of numbers; compiled once for all layouts.

#include <dimesh/io/data/agree.hpp>

#include "../common/measured.hpp"
#include "layouts.hpp"

namespace {

/// Empty parts where the pair has no room.
training_row row_of(const corpus& c, const text::pair& p) {
  auto from = text::source_row(c.vocabulary, p.english, source::extent);
  auto to = text::target_row(c.vocabulary, p.other, length::extent);
  if (from.empty() || to.ids.empty()) return {};
  return {std::move(from), std::move(to.ids), std::move(to.next)};
}

dm::input::byte_pairs learned(const std::vector<text::pair>& pairs) {
  std::string all;
  for (const text::pair& p : pairs)
    if (!text::is_held_out(p)) all += p.english + "\n" + p.other + "\n";
  return dm::input::byte_pairs::train(all, vocab::extent);
}

}  // namespace

corpus read_corpus(const settings& s) {
  const auto pairs = text::pairs(s.catalogs, s.to, static_cast<std::size_t>(s.longest));
  const auto kept = dm::kept_text(report::run_options(s, ""), vocabulary_file);
  corpus c{
      .vocabulary = kept ? dm::input::byte_pairs::load({vocabulary_file, *kept}) : learned(pairs),
      .training = {},
      .held_out = {},
      .held_out_texts = {}};
  if (c.vocabulary.size() > vocab::extent)
    throw dm::error("translate: the run that goes on has a vocabulary of " +
                    std::to_string(c.vocabulary.size()) + " symbols, the model " +
                    std::to_string(vocab::extent));
  const text::pair* first = nullptr;  // that one trains with
  for (const text::pair& p : pairs) {
    training_row r = row_of(c, p);
    if (std::get<0>(r).empty()) continue;
    if (text::is_held_out(p)) c.held_out.push_back(r), c.held_out_texts.push_back(p);
    // The built-in pairs are too few to leave any out.
    if (text::is_held_out(p) && s.catalogs != "built-in") continue;
    if (first == nullptr) first = &p;
    c.training.push_back(std::move(r));
  }
  if (first == nullptr)
    throw dm::error("translate: no pair to train with is short enough for the model, of " +
                    std::to_string(pairs.size()));
  if (c.held_out.empty()) c.held_out.push_back(c.training[0]), c.held_out_texts.push_back(*first);
  return c;
}

std::vector<std::string> layout_names() { return layouts.names(); }

outcome train(const std::string& layout, const corpus& c, const settings& s, bool is_first) {
  outcome o;
  layouts.visit(layout,
                [&]<class C>(dm::layout_tag<C>) { o = train_under<C>(layout, c, s, is_first); });
  return o;
}
