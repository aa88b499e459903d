// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model that keeps keys and values says, token by token, what it says of the whole text.
//
// ranks: 1 2 4
#include "dimesh/nn/generate/beam_search.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "dimesh/layout/layout_set.hpp"
#include "dimesh/nn/generate/cache.hpp"
#include "dimesh/op/to_rank.hpp"
#include "support/host.hpp"
#include "support/language_model_run.hpp"

namespace {
using namespace test_support;

struct x : dm::axis<> {};
struct y : dm::axis<2> {};
struct line : dm::mesh<x> {};
struct plane : dm::mesh<x, y> {};

struct waving : small {
  static constexpr auto positions = nn::position_kind::sinusoidal;
  static constexpr index_t window = 3;
};

/// Logits of all positions, by the whole text and by parts of it.
template <class M, class C> void check_parts(const dm::grid<typename C::mesh>& g) {
  using model_type = nn::language_model<C, M>;
  const model_type m;
  auto p = dm::make<nn::language_model_parameters<C, M>>(g);
  nn::initialize(p, dm::random_key{5});
  const auto at = [](index_t b, index_t i) {
    return static_cast<std::int32_t>((b * 5 + i * i * 3) % 24);
  };
  const auto ids = dm::generate<nn::tokens<C, M>>(g, at);
  const auto all = dm::to_rank(m.logits(p, ids));
  using next = nn::tokens<C, M, nn::next_tokens>;
  for (const std::vector<index_t>& parts : {std::vector<index_t>(8, 1), {8}, {3, 1, 4}, {1, 7}}) {
    nn::text_cache<C, M> kept(g);
    for (const index_t n : parts) {
      const index_t done = kept.filled;
      const auto some = dm::generate<next>(
          g, [&](index_t b, index_t i) { return at(b, done + i); }, nn::next_tokens{n});
      const auto logits = dm::to_rank(nn::feed(m, p, some, kept));
      if (g.rank() != 0) continue;
      for (index_t b = 0; b < 8; ++b)
        for (index_t v = 0; v < 24; ++v)
          CHECK(logits[static_cast<std::size_t>(b * 24 + v)] ==
                doctest::Approx(all[static_cast<std::size_t>((b * 8 + kept.filled - 1) * 24 + v)])
                    .epsilon(1e-12));
    }
    CHECK(kept.filled == 8);
    const auto more = dm::generate<next>(g, at, nn::next_tokens{1});
    CHECK_THROWS_WITH_AS((void)nn::feed(m, p, more, kept),
                         doctest::Contains("feed: 1 tokens after 8 do not fit the length 8"),
                         dm::error);
  }
}

TEST_CASE("feed: every way to cut a text, every kind of position") {
  const dm::grid<line> g;
  using C = dm::layout<line, dm::split<batch, x>>;
  check_parts<small, C>(g);
  check_parts<other, C>(g);
  check_parts<waving, C>(g);
}

TEST_CASE("feed: under layouts that split heads, hidden, vocabulary, length") {
  const dm::grid<line> g;
  check_parts<small,
              dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>>>(g);
  check_parts<other, dm::layout<line, dm::split<length, x>>>(g);
  check_parts<small, dm::layout<line>>(g);
  if (g.ranks() % 2 == 0) {
    const dm::grid<plane> square;
    check_parts<other, dm::layout<plane, dm::split<batch, x>, dm::split<heads, y>,
                                  dm::split<hidden, y>, dm::split_if_free<length, y>>>(square);
  }
}

/// What comes next, by the whole text alone: the model without anything that it keeps.
template <class M, class C, class P> struct plain_reader {
  const dm::grid<typename C::mesh>& g;
  const P& p;
  std::vector<double> operator()(const nn::token_list& text) const {
    const auto ids = dm::generate<nn::tokens<C, M>>(g, [&](index_t, index_t i) {
      return i < static_cast<index_t>(text.size()) ? text[static_cast<std::size_t>(i)] : 0;
    });
    const auto all =
        dm::relayout<dm::layout<typename C::mesh>>(nn::language_model<C, M>().logits(p, ids));
    const auto values = test_support::on_host(all);
    const double* const row = values.data() + (text.size() - 1) * 24;
    return {row, row + 24};
  }
};

template <class M, class C> auto parameters_of(const dm::grid<typename C::mesh>& g) {
  auto p = dm::make<nn::language_model_parameters<C, M>>(g);
  nn::initialize(p, dm::random_key{5});
  return p;
}

template <class C> void check_texts(const dm::grid<typename C::mesh>& g) {
  using M = other;
  const auto p = parameters_of<M, C>(g);
  const nn::language_model<C, M> m;
  const plain_reader<M, C, decltype(p)> next{g, p};
  const std::vector<nn::token_list> prompts{{5, 3, 8}, {2}, {7, 7, 7, 1, 9, 23}};
  for (const nn::sampling how : {nn::sampling{.temperature = 0}, nn::sampling{.temperature = 2},
                                 nn::sampling{.top_k = 3}, nn::sampling{.top_p = 0.5}}) {
    std::vector<nn::token_list> told(3);
    const dm::random_key key{11};
    const auto texts = nn::generate(
        m, p, g, prompts,
        {.count = 2, .how = how, .key = key, .written = [&](index_t b, std::int32_t t) {
           told[static_cast<std::size_t>(b)].push_back(t);
         }});
    REQUIRE(texts.size() == 3);
    for (std::size_t b = 0; b < 3; ++b) {
      nn::token_list text = prompts[b];
      for (int i = 0; i < 2; ++i) {
        const auto logits = next(text);
        text.push_back(static_cast<std::int32_t>(
            nn::draw_symbol(std::span<const double>(logits), key.fold(b).fold(text.size()), how)));
      }
      CHECK(texts[b] == text);
      CHECK(told[b] == nn::token_list(text.end() - 2, text.end()));
    }
  }
}

TEST_CASE("generate: prompts of several lengths, as if each were read alone, under every layout") {
  const dm::grid<line> g;
  check_texts<dm::layout<line>>(g);
  check_texts<dm::layout<line, dm::split<batch, x>>>(g);
  check_texts<dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>>>(g);
}

TEST_CASE("generate: a token that ends a text, a text that outgrows the length, mistakes") {
  const dm::grid<line> g;
  using C = dm::layout<line, dm::split<batch, x>>;
  const auto p = parameters_of<small, C>(g);
  const nn::language_model<C, small> m;
  const auto first = nn::generate(m, p, g, {{4}}, {.count = 5, .how = {.temperature = 0}});
  const std::int32_t stop = first[0][3];
  const auto cut =
      nn::generate(m, p, g, {{4}}, {.count = 5, .how = {.temperature = 0}, .stop = stop});
  const auto end = std::find(first[0].begin() + 1, first[0].end(), stop) + 1;
  CHECK(cut[0] == nn::token_list(first[0].begin(), end));

  // Beyond the length (8) it goes on from the last half, as a text of its own.
  const auto longer = nn::generate(m, p, g, {{4}}, {.count = 9, .how = {.temperature = 0}});
  REQUIRE(longer[0].size() == 10);
  const auto anew =
      nn::generate(m, p, g, {nn::token_list(longer[0].begin() + 5, longer[0].begin() + 9)},
                   {.count = 1, .how = {.temperature = 0}});
  CHECK(longer[0].back() == anew[0].back());

  // What is forgotten of a prompt that is longer does not hang on the prompt beside it.
  const nn::token_list much{4, 9, 2, 7, 7, 1, 3, 8, 5, 6, 2, 4};
  const nn::generate_options greedy{.count = 3, .how = {.temperature = 0}};
  const auto beside = nn::generate(m, p, g, {much, {1}}, greedy);
  CHECK(beside[0] == nn::generate(m, p, g, {much}, greedy)[0]);

  CHECK_THROWS_WITH_AS((void)nn::generate(m, p, g, std::vector<nn::token_list>(9, {1})),
                       doctest::Contains("generate: 9 rows for a batch of 8"), dm::error);
  CHECK_THROWS_WITH_AS((void)nn::generate(m, p, g, {{1}, {}}),
                       doctest::Contains("generate: a prompt has no token; begin it with one"),
                       dm::error);
  CHECK(nn::generate(m, p, g, {}).empty());
}

struct no_layers : small {
  static constexpr int layers = 0;
};

TEST_CASE("generate: a model without layers") {
  const dm::grid<line> g;
  using C = dm::layout<line, dm::split<batch, x>>;
  const auto p = parameters_of<no_layers, C>(g);
  const nn::language_model<C, no_layers> m;
  // It says what it says of a token and its place, also beyond the length (8).
  const auto text = nn::generate(m, p, g, {{4}}, {.count = 9, .how = {.temperature = 0}});
  REQUIRE(text[0].size() == 10);
  const auto anew =
      nn::generate(m, p, g, {nn::token_list(text[0].begin() + 5, text[0].begin() + 9)},
                   {.count = 1, .how = {.temperature = 0}});
  CHECK(text[0].back() == anew[0].back());
  const auto found = nn::beam_search(m, p, g, {{4}}, {.beams = 1, .count = 5});
  CHECK(found[0].at(0).tokens == nn::token_list(text[0].begin(), text[0].begin() + 6));
}

struct lone : dm::dim<1> {};

TEST_CASE("generate: a batch of one text, with the parameters of the larger one") {
  const dm::grid<line> g;
  using C = dm::layout<line, dm::split<batch, x>, dm::split<hidden, x>>;
  using D = dm::layout<line, dm::split<hidden, x>>;
  const auto p = parameters_of<small, D>(g);
  const auto many = nn::generate(nn::language_model<D, small>(), p, g, {{4, 2}, {1}},
                                 {.count = 4, .how = {.temperature = 0}});
  const auto one = nn::generate(nn::language_model<D, nn::with_batch<small, lone>>(), p, g,
                                {{4, 2}}, {.count = 4, .how = {.temperature = 0}});
  CHECK(one[0] == many[0]);
  (void)sizeof(C);
}

/// All continuations of a text by `count` tokens that a search could find, scored.
template <class Next>
void all_texts(const Next& next, const nn::token_list& text, double log_probability,
               std::size_t prompt, index_t count, std::int32_t stop, double alpha,
               std::vector<nn::found_text>& to) {
  const auto end = [&](const nn::token_list& t, double l) {
    to.push_back({t, l / std::pow((5 + static_cast<double>(t.size() - prompt)) / 6, alpha)});
  };
  const auto logits = next(text);
  double sum = 0;
  for (const double l : logits) sum += std::exp(l);
  for (std::int32_t v = 0; v < 24; ++v) {
    nn::token_list longer = text;
    longer.push_back(v);
    const double l = log_probability + logits[static_cast<std::size_t>(v)] - std::log(sum);
    if (v == stop || count == 1)
      end(longer, l);
    else
      all_texts(next, longer, l, prompt, count - 1, stop, alpha, to);
  }
}

TEST_CASE("beam_search: with beams enough it finds the best of all texts; scores are as stated") {
  const dm::grid<line> g;
  struct many : dm::dim<48> {};
  using M = nn::with_batch<other, many>;
  const auto check = [&]<class C>(dm::layout_tag<C>) {
    const auto p = parameters_of<M, C>(g);
    const nn::language_model<C, M> m;
    using R = nn::with_batch<other, lone>;
    using D = dm::layout<line>;
    const auto q = parameters_of<R, D>(g);
    const plain_reader<R, D, decltype(q)> next{g, q};
    const std::vector<nn::token_list> prompts{{5, 3, 8}, {2}};
    // 24 beams keep every beginning of two tokens.
    const auto found =
        nn::beam_search(m, p, g, prompts, {.beams = 24, .count = 2, .alpha = 0.6, .stop = 3});
    REQUIRE(found.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<nn::found_text> all;
      all_texts(next, prompts[i], 0, prompts[i].size(), 2, 3, 0.6, all);
      REQUIRE(found[i].size() == 24);
      std::vector<nn::found_text> ended;
      for (const auto& t : all)
        if (t.tokens.back() == 3) ended.push_back(t);
      const auto best = [](std::vector<nn::found_text>& v) {
        std::stable_sort(v.begin(), v.end(),
                         [](const auto& a, const auto& b) { return a.score > b.score; });
      };
      best(ended);
      CHECK(found[i][0].tokens == ended[0].tokens);
      CHECK(found[i][0].score == doctest::Approx(ended[0].score).epsilon(1e-10));
      for (const auto& t : found[i]) {
        const auto it = std::find_if(all.begin(), all.end(),
                                     [&](const auto& u) { return u.tokens == t.tokens; });
        REQUIRE(it != all.end());
        CHECK(t.score == doctest::Approx(it->score).epsilon(1e-10));
      }
    }
  };
  check(dm::layout_tag<dm::layout<line>>{});
  check(dm::layout_tag<dm::layout<line, dm::split<many, x>>>{});
}

TEST_CASE("beam_search: where shorter texts are favoured, the next token may still end the best") {
  const auto next = [](const std::vector<nn::token_list>& rows, index_t n) {
    std::vector<double> logits;
    for (const nn::token_list& r : rows) {
      const bool seven = n > 1 && r[static_cast<std::size_t>(n) - 1] == 7;
      for (int v = 0; v < 8; ++v) {
        const double p = seven ? v == 2 : v == 2 ? 0.3 : v == 7 ? 0.6 : v == 0 ? 0.1 : 0;
        logits.push_back(std::log(p));
      }
    }
    return logits;
  };
  for (const index_t count : {2, 10}) {
    const auto found =
        nn::beam_search(next, 8, {{1}}, {.beams = 1, .count = count, .alpha = -1, .stop = 2});
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].size() == 1);
    CHECK(found[0][0].tokens == nn::token_list{1, 7, 2});
    CHECK(found[0][0].score == doctest::Approx(std::log(0.6) * 7 / 6));
  }
}

TEST_CASE("beam_search: one beam is greedy; mistakes") {
  const dm::grid<line> g;
  using C = dm::layout<line, dm::split<heads, x>>;
  const auto p = parameters_of<small, C>(g);
  const nn::language_model<C, small> m;
  const auto greedy = nn::generate(m, p, g, {{4}, {1, 2}}, {.count = 5, .how = {.temperature = 0}});
  const auto found = nn::beam_search(m, p, g, {{4}, {1, 2}}, {.beams = 1, .count = 5});
  for (std::size_t i = 0; i < 2; ++i) CHECK(found[i].at(0).tokens == greedy[i]);
  // The same texts from a function that reads all of each row anew.
  using one_row = nn::with_batch<small, lone>;
  const nn::language_model<C, one_row> reader;
  const auto logits_of = [&](const std::vector<nn::token_list>& rows, index_t n) {
    std::vector<double> all;
    for (const auto& row : rows) {
      nn::text_cache<C, one_row> kept(g);
      const auto ids = dm::generate<nn::tokens<C, one_row, nn::next_tokens>>(
          g,
          [&](index_t, index_t i) {
            return i < static_cast<index_t>(row.size()) ? row[static_cast<std::size_t>(i)] : 0;
          },
          nn::next_tokens{n});
      const auto logits = dm::relayout<dm::layout<line>>(nn::feed(reader, p, ids, kept));
      all.insert(all.end(), test_support::on_host(logits).data(),
                 test_support::on_host(logits).data() + logits.local_size());
    }
    return all;
  };
  const auto cached = nn::beam_search(m, p, g, {{4}, {1, 2}}, {.beams = 2, .count = 5, .stop = 3});
  const auto anew =
      nn::beam_search(logits_of, 24, {{4}, {1, 2}}, {.beams = 2, .count = 5, .stop = 3});
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(anew.at(i).size() == cached[i].size());
    for (std::size_t k = 0; k < anew[i].size(); ++k) {
      CHECK(anew[i][k].tokens == cached[i][k].tokens);
      CHECK(anew[i][k].score == doctest::Approx(cached[i][k].score).epsilon(1e-10));
    }
  }
  CHECK_THROWS_WITH_AS((void)nn::beam_search(logits_of, 23, {{1}}, {.beams = 2}),
                       doctest::Contains("beam_search: 48 logits for 2 rows of 23"), dm::error);
  const auto no_logits = [](const auto&, index_t) { return std::vector<float>(); };
  CHECK_THROWS_WITH_AS((void)nn::beam_search(no_logits, 0, {{1}}, {.beams = 2}),
                       doctest::Contains("beam_search: 0 logits for 2 rows of 0"), dm::error);
  // Tokens of which one is forbidden: two texts there are, whatever beams there are.
  const auto forbidding = [](const auto& rows, index_t) {
    std::vector<float> all;
    for (std::size_t k = 0; k < rows.size(); ++k)
      all.insert(all.end(), {0.f, -std::numeric_limits<float>::infinity(), 0.f});
    return all;
  };
  const auto allowed = nn::beam_search(forbidding, 3, {{1}}, {.beams = 5, .count = 1, .stop = 1});
  REQUIRE(allowed.at(0).size() == 2);
  CHECK(allowed[0][0].tokens == nn::token_list{1, 0});
  CHECK(allowed[0][1].tokens == nn::token_list{1, 2});
  CHECK_THROWS_WITH_AS((void)nn::beam_search(m, p, g, {{1}}, {.beams = 0}),
                       doctest::Contains("beam_search: 0 beams"), dm::error);
  CHECK_THROWS_WITH_AS((void)nn::beam_search(m, p, g, {{1}}, {.beams = 9}),
                       doctest::Contains("beam_search: 9 rows for a batch of 8"), dm::error);
  auto bad = parameters_of<small, C>(g);
  dm::fill(bad.embedding, std::nan(""));
  CHECK_THROWS_WITH_AS((void)nn::beam_search(m, bad, g, {{1}}, {}),
                       doctest::Contains("beam_search: the logits are not numbers"), dm::error);
}

}  // namespace
