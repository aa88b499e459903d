// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What came out of it? How well the languages are translated by models of equally many products a
// symbol and of ever more experts, those with many pairs and those with few apart; what was sent;
// and which experts did the work.

#include <dimesh/show/svg.hpp>
#include <fstream>
#include <iostream>

#include "../common/translation_scores.hpp"
#include "settings.hpp"

namespace {

using report::format, report::grouped, report::text_table;

struct group {
  std::string name;
  std::size_t first, last;
};

score sum_of(const outcome& o, const group& g) {
  score all;
  for (std::size_t l = g.first; l < g.last; ++l) all.add(o.scores[l]);
  return all;
}

/// Languages first .. last - 1: how many pairs, how often they are drawn, and a column of each
/// measure for each model.
text_table::row row_of(const std::vector<outcome>& all, const corpus& c, const group& g) {
  std::size_t pairs = 0;
  double chance = 0;
  for (std::size_t l = g.first; l < g.last; ++l)
    pairs += c.languages[l].training.size(), chance += c.chance(l);
  text_table::row r{g.name, grouped(static_cast<std::int64_t>(pairs)), format("%.2f", 100 * chance),
                    std::to_string(sum_of(all[0], g).found.size())};
  for (const auto& measure :
       {+[](const score& s) { return format("%.3f", s.loss / s.symbols); },
        +[](const score& s) { return format("%.1f", 100 * s.right / s.symbols); },
        +[](const score& s) { return format("%.1f", report::chrf(s.found, s.wanted)); },
        +[](const score& s) { return format("%.1f", report::bleu(s.found, s.wanted)); }})
    for (const outcome& o : all) {
      const score s = sum_of(o, g);
      r.push_back(s.found.empty() ? "-" : measure(s));
    }
  return r;
}
text_table quality(const std::vector<outcome>& all) {
  text_table t{.headings = {{"", "", "%", "tested"}, {"languages", "pairs", "drawn", "on"}},
               .left = {0}};
  for (const char* measure : {"loss", "% right", "chrF", "BLEU"})
    for (const outcome& o : all) {
      t.headings[0].push_back(&o == &all[0] ? measure : "");
      t.headings[1].push_back(std::to_string(o.experts) + "x");
    }
  return t;
}

/// Reads: how full a bar is of what the fullest has.
std::string bar(double part) { return std::string(static_cast<std::size_t>(40 * part), '#'); }

/// A line a model, of what its encoder's mixture did during training.
void draw_watched(const std::vector<outcome>& all, const std::string& path,
                  const std::string& title, const std::string& of,
                  double (*number)(const expert_use&)) {
  dimesh::line_plot plot{.title = title, .x_label = "step", .y_label = of};
  for (const outcome& o : all) {
    if (o.experts == 1 || o.watched.empty()) continue;  // it had ended when the run was resumed
    plot.series.push_back({std::to_string(o.experts) + " experts", o.watched_at, {}});
    for (const expert_use& u : o.watched) plot.series.back().y.push_back(number(u));
  }
  if (!plot.series.empty()) plot.write(path);
}
/// How much work experts have, as a part of an even share: the busiest first.
dimesh::plot_series load_of(const std::string& name, const expert_use& use) {
  dimesh::plot_series line{.name = name};
  std::vector<double> load = use.chosen;
  std::sort(load.rbegin(), load.rend());
  const auto n = static_cast<double>(load.size());
  for (std::size_t e = 0; e < load.size(); ++e) {
    line.x.push_back((static_cast<double>(e) + 0.5) / n);
    line.y.push_back(load[e] / use.symbols * n);
  }
  return line;
}
void draw(const std::vector<outcome>& all, const settings& s) {
  dimesh::line_plot load{.title = "Load of experts, those with most of it first",
                         .x_label = "part of the experts",
                         .y_label = "times their even share"};
  for (const outcome& o : all)
    for (std::size_t k = 0; k < 2 && o.experts > 1; ++k)
      load.series.push_back(load_of(
          std::to_string(o.experts) + " experts, " + (k == 0 ? "encoder" : "decoder"), o.used[k]));
  if (load.series.empty()) return;
  load.write(s.out + "/expert_load.svg");
  draw_watched(all, s.out + "/expert_drops.svg", "Encoder's tokens that found their expert full",
               "part of all tokens", [](const expert_use& u) { return u.dropped(); });
  draw_watched(all, s.out + "/expert_entropy.svg",
               "How sure the encoder's router is: entropy, of that of an even one",
               "part of log(experts)", [](const expert_use& u) {
                 return u.entropy() / std::log(static_cast<double>(u.chosen.size()));
               });
  draw_watched(all, s.out + "/expert_imbalance.svg", "The busiest expert of the encoder",
               "times its even share", [](const expert_use& u) { return u.imbalance(); });
  const outcome& o = all.back();
  if (o.experts == 1) return;
  std::cout << "\nThe load of the encoder's experts (" << o.experts << "):\n";
  const expert_use& use = o.used[0];
  const double most = *std::max_element(use.chosen.begin(), use.chosen.end());
  for (const double n : use.chosen)
    std::cout << format("  %5.1f %% ", 100 * n / use.symbols) << bar(n / most) << "\n";
}

/// What experts add, where there are many pairs and where there are few (Lepikhin et al. 2020,
/// figure 6): the languages in tenths.
void draw_gain(const std::vector<outcome>& all, const corpus& c, const settings& s) {
  std::vector<std::size_t> tested;
  for (std::size_t l = 0; l < c.languages.size(); ++l)
    if (!all[0].scores[l].found.empty()) tested.push_back(l);
  const std::size_t n = tested.size(), parts = std::min<std::size_t>(10, n);
  dimesh::line_plot gain{
      .title = "chrF beyond that of " + std::to_string(all[0].experts) + " expert(s) a layer",
      .x_label = "languages, those with most pairs first, in " + std::to_string(parts) + " parts",
      .y_label = "chrF"};
  for (std::size_t k = 1; k < all.size(); ++k) {
    gain.series.push_back({.name = std::to_string(all[k].experts) + " experts"});
    for (std::size_t i = 0; i < parts; ++i) {
      const group g{"", tested[i * n / parts], tested[(i + 1) * n / parts - 1] + 1};
      const score with = sum_of(all[k], g), without = sum_of(all[0], g);
      gain.series.back().x.push_back(static_cast<double>(i + 1));
      gain.series.back().y.push_back(report::chrf(with.found, with.wanted) -
                                     report::chrf(without.found, without.wanted));
    }
  }
  if (all.size() > 1) gain.write(s.out + "/gain.svg");
}

bool agrees(const outcome& o) {
  const double english = sum_of(o, {"", 0, o.scores.size()}).symbols;
  if (!report::bytes_agree(o))
    std::cout << "FAILED: '" << o.layout << "' moved other bytes than its types predict.\n";
  if (!(o.max_loss_difference <= 1e-4))
    std::cout << "FAILED: the losses of '" << o.layout << "' part from those of one rank.\n";
  bool all_counted = true;
  for (const expert_use& u : o.used) {
    const double tested = &u == o.used ? o.source_symbols : english;
    all_counted = all_counted && u.symbols == tested;
  }
  if (!all_counted)
    std::cout << "FAILED: experts of '" << o.layout << "' were counted on other symbols.\n";
  return report::bytes_agree(o) && o.max_loss_difference <= 1e-4 && all_counted;
}

text_table costs_of(const std::vector<outcome>& all) {
  text_table t{
      .headings = {{"", "parameters", "Mflop", "final", "diff from", "", "bytes per step", "", ""},
                   {"experts", "a rank", "a symbol", "loss", "one rank", "axis", "types = counted",
                    "symbols/s", "time"}},
      .left = {5}};
  for (const outcome& o : all)
    report::add_rows(t, o,
                     {std::to_string(o.experts), grouped(o.parameters_per_rank),
                      format("%.3f", 1e-6 * o.flops_per_symbol), format("%.4f", o.final_loss()),
                      o.compared ? report::difference_text(o.max_loss_difference) : "-", "", "",
                      grouped(std::llround(o.symbols_per_second)), format("%.1f s", o.seconds)},
                     5);
  return t;
}
/// What the mixtures did with all held-out sentences.
text_table uses_of(const std::vector<outcome>& all) {
  text_table t{.headings = {{"experts", "of the", "symbols", "dropped", "imbalance", "entropy"}},
               .left = {1}};
  for (const outcome& o : all)
    for (const expert_use& u : o.used)
      t.rows.push_back({std::to_string(o.experts), &u == o.used ? "encoder" : "decoder",
                        grouped(std::llround(u.symbols)), format("%.2f %%", 100 * u.dropped()),
                        format("%.2f", u.imbalance()), format("%.2f", u.entropy())});
  return t;
}
/// By how many per cent one model has more products a symbol than another.
double flops_apart(const std::vector<outcome>& all) {
  const auto [least, most] = std::minmax_element(
      all.begin(), all.end(),
      [](const outcome& a, const outcome& b) { return a.flops_per_symbol < b.flops_per_symbol; });
  return 100 * (most->flops_per_symbol / least->flops_per_symbol - 1);
}
/// High-resource languages and low-resource ones, and a few of each.
text_table groups_of(const std::vector<outcome>& all, const corpus& c,
                     const std::vector<text_table::row>& every) {
  text_table t = quality(all);
  const std::size_t n = c.languages.size(), high = c.high();
  for (const group& g : {group{"all " + std::to_string(n), 0, n},
                         group{std::to_string(high) + " with half of the pairs", 0, high},
                         group{std::to_string(n - high) + " with the rest", high, n}})
    t.rows.push_back(row_of(all, c, g));
  const auto few = static_cast<std::ptrdiff_t>(std::min<std::size_t>(5, every.size()));
  t.rows.insert(t.rows.end(), every.begin(), every.begin() + few);
  if (std::ssize(every) >= 2 * few) t.rows.insert(t.rows.end(), every.end() - few, every.end());
  return t;
}
void write_text(const std::string& path, const std::string& text) {
  if (!(std::ofstream(path) << text))
    throw dimesh::error("multilingual: '" + path + "' cannot be written");
}

}  // namespace

int conclude(std::vector<outcome>& all, const corpus& c, const settings& s) {
  if (all.back().told_to_end) {
    std::cout << "Told to end; --resume " << s.save << " goes on from there.\n";
    return 0;
  }
  bool agree = true;
  for (const outcome& o : all) agree = agrees(o) && agree;
  text_table every = quality(all);
  for (std::size_t l = 0; l < c.languages.size(); ++l)
    if (!all[0].scores[l].found.empty())
      every.rows.push_back(row_of(all, c, {c.languages[l].name, l, l + 1}));
  const std::string comparison = "Flops of a training step by symbol, counted from types, are " +
                                 format("%.1f", flops_apart(all)) +
                                 " % apart at most; with one expert a layer the model is dense.\n" +
                                 costs_of(all).str() + "\n" + uses_of(all).str() + "\n" +
                                 groups_of(all, c, every.rows).str();
  std::cout << "\n" << comparison;
  std::filesystem::create_directories(s.out);
  write_text(s.out + "/comparison.txt", comparison);
  write_text(s.out + "/languages.txt", every.str());
  draw(all, s);
  draw_gain(all, c, s);
  std::cout << "\nSentences by the model of " << all.back().experts << ":\n";
  std::vector<std::size_t> next(c.languages.size(), 0);
  for (std::size_t i = 0; i < std::min<std::size_t>(8, c.held_out.size()); ++i) {
    const auto& p = c.held_out[i];
    std::cout << "  " << c.languages[p.language].name << ": " << p.other << "  ->  "
              << all.back().scores[p.language].found[next[p.language]++] << "   (" << p.english
              << ")\n";
  }
  const bool compared = std::all_of(all.begin(), all.end(), [](auto& o) { return o.compared; });
  if (agree)
    std::cout << (compared ? "Losses are those of one rank; all bytes are as predicted.\n"
                           : "All bytes are as predicted; losses were not all compared.\n");
  std::cout << "The comparison, all languages and pictures: " << s.out << "\n";
  return agree ? 0 : 1;
}
