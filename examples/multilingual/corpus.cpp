// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the catalogs of all languages to rows of numbers.

#include <numeric>

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
    auto pairs = text::find_pairs(s.catalogs, name, static_cast<std::size_t>(s.longest), s.domains);
    if (pairs.size() >= 16) all.push_back({name, std::move(pairs)});
  }
  if (all.empty()) text::refuse_folder(s.catalogs + "/*/LC_MESSAGES/" + s.domains + "*.mo");
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

}  // namespace

std::size_t corpus::high() const {
  std::size_t all = 0, some = 0, n = 0;
  for (const language& l : languages) all += l.training.size();
  while (2 * some < all) some += languages[n++].training.size();
  return n;
}

corpus read_corpus(const settings& s) {
  const auto all = read_texts(s);
  const auto vocabulary = [&](const char* name, auto side, dm::index_t symbols) {
    if (!s.resume.empty()) return dm::input::byte_pairs::load(s.resume + "/" + name + ".txt");
    return learned(all, side, s.tokens == "bytes" ? 256 : symbols);
  };
  corpus c{.sources = vocabulary("sources", &text::pair::other, source_vocab::extent),
           .english = vocabulary("english", &text::pair::english, vocab::extent),
           .languages = {},
           .drawn = {},
           .held_out = {}};
  std::vector<std::vector<held_out_pair>> held_out;
  for (const texts& t : all) {
    language l{t.name, {}};
    std::vector<held_out_pair> kept;
    for (const text::pair& p : t.pairs) {
      training_row r = row_of(c, p);
      if (std::get<0>(r).empty()) continue;
      // The built-in pairs are too few to leave any out.
      const bool few = s.catalogs == "built-in";
      if (few || text::is_held_out(p)) kept.push_back({c.languages.size(), r, p.english, p.other});
      if (few || !text::is_held_out(p)) l.training.push_back(std::move(r));
    }
    if (l.training.empty()) continue;
    c.languages.push_back(std::move(l));
    held_out.push_back(std::move(kept));
  }
  const auto most = static_cast<std::size_t>(s.held_out * batch::extent);
  for (std::size_t k = 0, before = 1; c.held_out.size() < most && before > 0; ++k) {
    before = c.held_out.size();
    for (auto& of : held_out)
      if (k < of.size() && c.held_out.size() < most) c.held_out.push_back(std::move(of[k]));
    before = c.held_out.size() - before;
  }
  double sum = 0;
  for (const language& l : c.languages)
    c.drawn.push_back(sum += std::pow(static_cast<double>(l.training.size()), 1 / s.temperature));
  for (double& p : c.drawn) p /= sum;
  return c;
}
