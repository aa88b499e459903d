// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the catalogs of all languages to rows of numbers.

#include "../common/by_temperature.hpp"
#include "kept.hpp"
#include "model.hpp"

namespace {

struct texts {
  std::string name;
  std::vector<text::pair> pairs;
};

/// All languages but English, those with most pairs first.
std::vector<texts> read_texts(const settings& s) {
  std::vector<texts> all;
  if (s.catalogs == "built-in") {
    std::vector<text::pair> loud = text::built_in();
    for (text::pair& p : loud) {
      p.other = p.english;
      for (char& c : p.other) c = c == ' ' ? c : static_cast<char>(c - 32);
    }
    loud.resize(6);
    return {{"fr", text::built_in()}, {"loud", loud}};
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(s.catalogs, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("en")) continue;
    auto pairs =
        text::find_pairs(s.catalogs, name, static_cast<std::size_t>(s.longest), s.prefix());
    if (pairs.size() >= 16) all.push_back({name, std::move(pairs)});
  }
  if (all.empty()) text::refuse_folder(s.catalogs + "/*/LC_MESSAGES/" + s.prefix() + "*.mo");
  std::sort(all.begin(), all.end(), [](const texts& a, const texts& b) {
    return std::pair(b.pairs.size(), a.name) < std::pair(a.pairs.size(), b.name);
  });
  return all;
}

/// Learned from equally many pairs of each language, as far as it has them. Of 256 symbols: bytes.
dm::input::byte_pairs learned(const std::vector<texts>& all, std::string text::pair::* side,
                              dm::index_t symbols) {
  std::string sample;
  for (const texts& t : all)
    for (std::size_t i = 0; i < std::min<std::size_t>(t.pairs.size(), 400); ++i)
      if (!text::is_held_out(t.pairs[i])) sample += t.pairs[i].*side + "\n";
  return dm::input::byte_pairs::train(sample, symbols);
}

training_row row_of(const corpus& c, const text::pair& p) {
  auto from = text::source_row(c.sources, p.other, source::extent);
  auto to = text::target_row(c.english, p.english, length::extent);
  if (from.empty() || to.ids.empty()) return {};
  return {std::move(from), std::move(to.ids), std::move(to.next)};
}

struct pairs_of_language {
  language of;
  std::vector<held_out_pair> held_out;
};
/// The pairs that the model has room for: languages with most of them first.
std::vector<pairs_of_language> rows_of(const std::vector<texts>& all, corpus& c,
                                       const settings& s) {
  // The built-in pairs are too few to leave any out.
  const bool few = s.catalogs == "built-in";
  std::vector<pairs_of_language> rows;
  for (const texts& t : all) {
    pairs_of_language l{{t.name, {}}, {}};
    for (const text::pair& p : t.pairs) {
      training_row r = row_of(c, p);
      if (std::get<0>(r).empty()) {
        ++c.left_out;
        continue;
      }
      if (few || text::is_held_out(p)) l.held_out.push_back({0, r, p.english, p.other});
      if (few || !text::is_held_out(p)) l.of.training.push_back(std::move(r));
    }
    if (!l.of.training.empty()) rows.push_back(std::move(l));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.of.training.size() > b.of.training.size();
  });
  return rows;
}
/// So many pairs, one of each language in turn.
void hold_out(std::vector<pairs_of_language>& rows, std::size_t most, corpus& c) {
  for (std::size_t k = 0, before = 1; c.held_out.size() < most && before > 0; ++k) {
    before = c.held_out.size();
    for (std::size_t l = 0; l < rows.size() && c.held_out.size() < most; ++l) {
      if (k >= rows[l].held_out.size()) continue;
      c.held_out.push_back(std::move(rows[l].held_out[k]));
      c.held_out.back().language = l;
    }
    before = c.held_out.size() - before;
  }
}

}  // namespace

std::size_t corpus::high() const {
  std::size_t all = 0, some = 0, n = 0;
  for (const language& l : languages) all += l.training.size();
  while (2 * some < all) some += languages[n++].training.size();
  return n;
}

std::string rooms() {
  return std::to_string(source::extent - 1) + " symbols, " + std::to_string(length::extent - 1) +
         " of English";
}

corpus read_corpus(const settings& s) {
  const auto all = read_texts(s);
  const auto vocabulary = [&](const char* name, auto side, dm::index_t symbols) {
    if (const auto kept = text_of_any(s, name)) return dm::input::byte_pairs::load({name, *kept});
    return learned(all, side, s.tokens == "bytes" ? 256 : symbols);
  };
  corpus c{.sources = vocabulary(sources_file, &text::pair::other, source_vocab::extent),
           .english = vocabulary(english_file, &text::pair::english, vocab::extent),
           .languages = {},
           .drawn = {},
           .held_out = {},
           .left_out = 0};
  auto rows = rows_of(all, c, s);
  if (rows.empty())
    throw dm::error("multilingual: none of " + std::to_string(c.left_out) +
                    " pairs has room: " + rooms() + " are the most; take --tokens pairs");
  hold_out(rows, static_cast<std::size_t>(s.held_out * batch::extent), c);
  if (c.held_out.empty())
    throw dm::error(
        "multilingual: no pair is left to test on: 1 in 32 is held out, and there are too few");
  std::vector<std::size_t> sizes;
  for (pairs_of_language& l : rows) {
    sizes.push_back(l.of.training.size());
    c.languages.push_back(std::move(l.of));
  }
  c.drawn = text::chances_up_to(sizes, s.temperature);
  return c;
}
