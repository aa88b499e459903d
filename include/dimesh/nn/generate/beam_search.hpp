// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which text does a model find likeliest? Not that of the likeliest token each time: several
// beginnings are kept beside each other, and the best of what they become are kept again.
//
//   auto best = beam_search(m, p, g, {{5, 3}, {2}}, {.beams = 4, .count = 20, .stop = 0});
//     -> for each prompt, the texts found, best first: best[0][0].tokens, .score
//   beam_search(next, 24, {{5, 3}}, {...})           // by a function that gives logits
#pragma once

#include "dimesh/nn/generate/generate.hpp"

namespace dimesh::nn {

struct beam_options {
  index_t beams = 4;  ///< rows of the batch for each prompt
  index_t count = 1;  ///< tokens to write at most
  /// How far longer texts are favoured, below 0 shorter ones: the exponent of the length penalty.
  double alpha = 0.6;
  std::int32_t stop = -1;  ///< a token that ends a text, and belongs to it; -1: none does
};

/// A text that was found. Score: the logarithm of the probability of what was written, divided by
/// ((5 + how many tokens that is) / 6)^alpha.
struct found_text {
  token_list tokens;
  double score = 0;
};

namespace detail {

/// The beams of one prompt.
struct beam_group {
  std::size_t prompt = 0;  // tokens that were given
  std::vector<double> live;  // logarithms of probabilities; the first only, until they part
  std::vector<found_text> ended;
  bool open = true;

  double scored(double log_probability, std::size_t size, double alpha) const {
    const double penalty = std::pow((5 + static_cast<double>(size - prompt)) / 6, alpha);
    return log_probability / penalty;
  }
};

struct beam_candidate {
  double log_probability;
  std::size_t beam;
  std::int32_t token;
};

/// The most likely ways on for all live beams of a group, best first; of equal ones those of
/// earlier beams and tokens.
template <class T>
std::vector<beam_candidate> ways_on(const beam_group& g, const logit_rows<T>& logits,
                                    std::size_t first, std::size_t most) {
  std::vector<beam_candidate> all;
  for (std::size_t k = 0; k < g.live.size(); ++k) {
    const auto row = logits[first + k];
    const double top = *std::max_element(row.begin(), row.end());
    if (!std::isfinite(top) ||
        std::any_of(row.begin(), row.end(), [](T l) { return std::isnan(l); }))
      throw error("beam_search: the logits are not numbers of which the greatest is finite");
    double sum = 0;
    for (const T l : row) sum += std::exp(static_cast<double>(l) - top);
    const double all_of_it = top + std::log(sum);
    for (std::size_t v = 0; v < row.size(); ++v)
      if (std::isfinite(row[v]))  // -infinity: a token that cannot follow
        all.push_back(
            {g.live[k] + static_cast<double>(row[v]) - all_of_it, k, static_cast<std::int32_t>(v)});
  }
  const std::size_t n = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end(),
                    [](const beam_candidate& a, const beam_candidate& b) {
                      return std::tuple(-a.log_probability, a.beam, a.token) <
                             std::tuple(-b.log_probability, b.beam, b.token);
                    });
  all.resize(n);
  return all;
}

/// No live text of a group, `size` tokens long, can get a score above this: at best it keeps its
/// probability, up to the longest where alpha favours that, else by the next token.
inline double best_ahead(const beam_group& g, std::size_t size, std::size_t longest, double alpha) {
  return g.scored(g.live[0], alpha < 0 ? size + 1 : longest, alpha);
}

/// One token more for each beam of a group, whose rows begin at `first`; notes which row each came
/// from.
template <class T>
void extend(beam_group& g, const logit_rows<T>& logits, std::size_t first, const beam_options& o,
            std::vector<token_list>& rows, std::vector<index_t>& from) {
  const auto beams = static_cast<std::size_t>(o.beams);
  std::vector<token_list> next;
  std::vector<double> live;
  for (const beam_candidate& c : ways_on(g, logits, first, 2 * beams)) {
    token_list text = rows[first + c.beam];
    text.push_back(c.token);
    if (c.token == o.stop) {
      // The best first, of equals the one found first; clang warns of std::stable_sort.
      const double score = g.scored(c.log_probability, text.size(), o.alpha);
      const auto worse = std::find_if(g.ended.begin(), g.ended.end(),
                                      [score](const found_text& f) { return f.score < score; });
      g.ended.insert(worse, {text, score});
    } else if (live.size() < beams) {
      from[first + live.size()] = static_cast<index_t>(first + c.beam);
      live.push_back(c.log_probability);
      next.push_back(std::move(text));
    }
  }
  if (g.ended.size() > beams) g.ended.resize(beams);
  std::move(next.begin(), next.end(), rows.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t k = live.size(); k < beams; ++k) rows[first + k] = rows[first];
  g.live = std::move(live);
  const std::size_t longest = g.prompt + static_cast<std::size_t>(o.count);
  const bool full = rows[first].size() >= longest;
  g.open = !full && !g.live.empty() &&
           !(g.ended.size() == beams &&
             best_ahead(g, rows[first].size(), longest, o.alpha) <= g.ended.back().score);
}

/// What becomes of the rows, `beams` for each prompt: logits_after(n) says what may follow the
/// first n tokens of each, and reorder(from) is told that row b is now what row from[b] was.
template <class Logits, class Reorder>
std::vector<std::vector<found_text>> search(const std::vector<token_list>& prompts,
                                            std::vector<token_list>& rows, const beam_options& o,
                                            const Logits& logits_after, const Reorder& reorder) {
  const auto beams = static_cast<std::size_t>(o.beams);
  std::vector<beam_group> groups;
  std::size_t at = prompts.empty() ? 0 : prompts[0].size();
  for (const token_list& r : prompts) {
    groups.push_back({r.size(), {0.0}, {}, o.count > 0});
    at = std::min(at, r.size());
  }
  const auto open = [&groups] {
    return std::any_of(groups.begin(), groups.end(), [](const auto& b) { return b.open; });
  };
  for (; open(); ++at) {
    const auto logits = logits_after(static_cast<index_t>(at));
    std::vector<index_t> from(rows.size());
    std::iota(from.begin(), from.end(), index_t{0});
    const std::vector<index_t> stay = from;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i].open && rows[i * beams].size() == at)
        extend(groups[i], logits, i * beams, o, rows, from);
    if (from != stay) reorder(from);
  }
  std::vector<std::vector<found_text>> found;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    beam_group& group = groups[i];
    for (std::size_t k = 0; k < group.live.size() && group.ended.size() < beams; ++k) {
      const token_list& text = rows[i * beams + k];
      group.ended.push_back({text, group.scored(group.live[k], text.size(), o.alpha)});
    }
    found.push_back(std::move(group.ended));
  }
  return found;
}
inline std::vector<token_list> rows_for(const std::vector<token_list>& prompts,
                                        const beam_options& o) {
  if (o.beams < 1)
    throw error("beam_search: " + std::to_string(o.beams) + " beams; give at least one");
  std::vector<token_list> all;
  for (const token_list& r : prompts) all.insert(all.end(), static_cast<std::size_t>(o.beams), r);
  return all;
}
template <class Texts>
auto found(const std::vector<token_list>& prompts, const beam_options& o, Texts texts) {
  return search(
      prompts, texts.rows(), o, [&](index_t at) { return texts.logits_after(at); },
      [&](const std::vector<index_t>& from) { texts.reorder(from); });
}

}  // namespace detail

/// For each prompt the texts found, best first: those that ended, and where these are fewer than
/// `beams`, those that the count cut off. The same on all ranks of the grid (Wu et al. 2016,
/// section 7, with its length penalty). Collective. Throws dimesh::error as generate does, each
/// prompt taking `beams` rows.
template <Layout C, class Form, class P>
std::vector<std::vector<found_text>> beam_search(const language_model<C, Form>& m, const P& p,
                                                 const grid<typename C::mesh>& g,
                                                 const std::vector<token_list>& prompts,
                                                 const beam_options& o = {}) {
  return detail::found(prompts, o,
                       detail::growing("beam_search", m, p, g, detail::rows_for(prompts, o)));
}

/// What is done when a search reorders its rows: nothing.
struct keeps_nothing {
  void operator()(const std::vector<index_t>&) const {}
};

/// The same by any function that says what may follow: next(rows, n) gives the logits of what
/// follows the first n tokens of each row, row after row, `vocab` each, the same on all ranks.
/// There are `beams` rows for each prompt; shorter ones have ended, and nothing said of them
/// counts. A token whose logit is -infinity never follows. Where `next` keeps something of each row
/// (a cache), reorder(from) says that row b now goes on with what was row from[b].
/// Throws dimesh::error at other numbers of logits.
template <class F, class Reorder = keeps_nothing>
  requires requires(const F& next, const std::vector<token_list>& rows) {
    { next(rows, index_t{})[0] } -> std::convertible_to<double>;
  }
auto beam_search(const F& next, index_t vocab, const std::vector<token_list>& prompts,
                 const beam_options& o = {}, const Reorder& reorder = {}) {
  std::vector<token_list> rows = detail::rows_for(prompts, o);
  using T = std::remove_cvref_t<decltype(next(rows, index_t{})[0])>;
  const auto logits_after = [&](index_t n) {
    detail::logit_rows<T> logits{next(rows, n), static_cast<std::size_t>(vocab)};
    if (vocab < 1 || logits.values.size() != rows.size() * logits.vocab)
      throw error("beam_search: " + std::to_string(logits.values.size()) + " logits for " +
                  std::to_string(rows.size()) + " rows of " + std::to_string(vocab));
    return logits;
  };
  return detail::search(prompts, rows, o, logits_after, reorder);
}

}  // namespace dimesh::nn
