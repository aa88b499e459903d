// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a model writes is the same under every layout, also where ranks share the keys and values of
// one text; and a token costs a token's work.
//
// ranks: 1 2 4
// alone: it makes models of seven layouts
#include "dimesh/nn/generate/beam_search.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "dimesh/nn/generate/split_keys.hpp"
#include "support/language_model_run.hpp"
#include "support/work.hpp"

namespace {
using namespace test_support;

struct x : dm::axis<> {};
struct y : dm::axis<2> {};
struct line : dm::mesh<x> {};
struct plane : dm::mesh<x, y> {};

using none = dm::layout<line>;
using data = dm::layout<line, dm::split<batch, x>>;
using parts = dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>>;
using along = dm::layout<line, dm::split<length, x>>;
using spread = dm::layout<line, dm::spread<x>>;
using rows_along = dm::layout<plane, dm::split<batch, x>, dm::split<length, y>>;
using along_parts =
    dm::layout<plane, dm::split<length, x>, dm::split<heads, y>, dm::split<hidden, y>>;

struct windowed : other {
  static constexpr index_t window = 3;
};
/// Four queries for each key: where these split the axis, keys cannot be split along the length.
struct kv : dm::dim<2> {};
struct each : dm::dim<4> {};
struct grouped : other {
  using heads = dm::shape<kv, each>;
  using key_heads = dm::shape<kv>;
};
using each_along = dm::layout<line, dm::split<each, x>, dm::split_if_free<length, x>>;
using along_heads = dm::layout<line, dm::split<length, x>, dm::split_if_free<heads, x>>;
/// Blocks that differ.
struct seven : dm::dim<7> {};
struct odd : other {
  using length = seven;
};
using unevenly = dm::layout<line, dm::split<dm::uneven<seven>, x>>;

template <class S, class M> auto parameters_of(const dm::grid<typename S::mesh>& g) {
  auto p = dm::make<nn::language_model_parameters<S, M>>(g);
  nn::initialize(p, dm::random_key{5});
  return p;
}

/// Greedy, drawn and searched for; prompts of several lengths.
template <class C, class S = C>
std::vector<nn::token_list> texts(const dm::grid<typename C::mesh>& g) {
  using M = other;
  const auto p = parameters_of<S, M>(g);
  const nn::language_model<C, M> m;
  const std::vector<nn::token_list> prompts{{5, 3, 8}, {2}, {7, 7, 7, 1}};
  std::vector<nn::token_list> all;
  for (const nn::sampling how :
       {nn::sampling{.temperature = 0}, nn::sampling{.temperature = 1.5, .top_k = 9},
        nn::sampling{.top_p = 0.8}}) {
    const auto some =
        nn::generate(m, p, g, prompts, {.count = 4, .how = how, .key = dm::random_key{3}});
    all.insert(all.end(), some.begin(), some.end());
  }
  for (const auto& found : nn::beam_search(m, p, g, {{5, 3}, {2}}, {.beams = 4, .count = 3}))
    for (const auto& f : found) all.push_back(f.tokens);
  return all;
}

TEST_CASE("texts are the same under every layout") {
  const dm::grid<line> g;
  const auto one = texts<none>(g);
  CHECK(one.size() == 9 + 8);
  CHECK(texts<data>(g) == one);
  CHECK(texts<parts>(g) == one);
  CHECK(texts<along>(g) == one);
  CHECK(texts<data, spread>(g) == one);
  if (g.ranks() % 2 != 0) return;
  const dm::grid<plane> square;
  CHECK(texts<rows_along>(square) == one);
  CHECK(texts<along_parts>(square) == one);
}

constexpr auto symbol = [](index_t b, index_t i) {
  return static_cast<std::int32_t>((b * 5 + i * i) % 24);
};

/// A text fed token by token, and all at once, gives the logits of the whole text read anew.
template <class M, class C> void check_feed(const dm::grid<typename C::mesh>& g) {
  const auto p = parameters_of<C, M>(g);
  const nn::language_model<C, M> m;
  const auto ids = dm::generate<nn::tokens<C, M>>(g, symbol);
  using whole = dm::layout<typename C::mesh>;
  const auto read_anew = dm::relayout<whole>(m.logits(p, ids));
  const auto all = test_support::on_host(read_anew);
  constexpr index_t n = M::length::extent;
  for (const index_t step : {index_t{1}, index_t{3}, n}) {
    nn::text_cache<C, M> kept(g);
    for (index_t done = 0; done < n; done = kept.filled) {
      const auto some = dm::generate<nn::tokens<C, M, nn::next_tokens>>(
          g, [&](index_t b, index_t i) { return symbol(b, done + i); },
          nn::next_tokens{std::min(step, n - done)});
      const auto fed = dm::relayout<whole>(nn::feed(m, p, some, kept));
      const auto logits = test_support::on_host(fed);
      double most = 0;
      for (index_t b = 0; b < 8; ++b)
        for (index_t v = 0; v < 24; ++v)
          most = std::max(
              most, std::abs(logits[static_cast<std::size_t>(b * 24 + v)] -
                             all[static_cast<std::size_t>((b * n + kept.filled - 1) * 24 + v)]));
      CHECK(most < 1e-12);
    }
  }
}

TEST_CASE("keys and values split along the length") {
  const dm::grid<line> g;
  check_feed<windowed, along>(g);
  check_feed<small, along>(g);
  check_feed<grouped, each_along>(g);
  check_feed<small, along_heads>(g);
  check_feed<odd, unevenly>(g);
  // A rank keeps its positions of every text, and no more.
  const nn::text_cache<along, other> kept(g);
  CHECK(kept.layers[0].key.local_size() * g.ranks() == 8 * 8 * 8 * 2);
  if (g.ranks() % 2 != 0) return;
  const dm::grid<plane> square;
  check_feed<other, along_parts>(square);
}

/// A value that is no number, hidden from the first query and seen by the second, at a place that
/// bfloat16 does not hold.
struct places : dm::dim<> {};
template <class T> void check_hidden(const dm::grid<line>& g) {
  using L = dm::layout<line, dm::split<dm::uneven<places>, x>>;
  using rows = dm::tensor<T, L, places, heads, head>;
  const auto one_but_for = [](index_t i, index_t, index_t) {
    return static_cast<T>(i == 301 ? std::nanf("") : 1.F);
  };
  const auto v = dm::generate<rows>(g, one_but_for, places{303});
  const auto q = dm::zeros<dm::tensor<T, L, nn::next_tokens, heads, head>>(g, nn::next_tokens{2});
  const auto y = nn::detail::attention_all_reduce<nn::next_tokens, places, head>(
      q, dm::zeros_like(v), v, {.causal = true, .offset = 300});
  const auto all = test_support::on_host(y);
  const auto half = static_cast<std::size_t>(y.local_size()) / 2;
  for (std::size_t i = 0; i < half; ++i) {
    CHECK(std::abs(static_cast<double>(all[i]) - 1) < 0.02);
    CHECK(std::isnan(static_cast<float>(all[half + i])));
  }
}
TEST_CASE("a value that is hidden from a query reaches none of its results, be it no number") {
  const dm::grid<line> g;
  check_hidden<double>(g);
  check_hidden<dm::bfloat16>(g);
}

template <class C> void check_work(const dm::grid<line>& g) {
  using M = small;
  const auto p = parameters_of<C, M>(g);
  const nn::language_model<C, M> m;
  const auto ids = dm::generate<nn::tokens<C, M>>(g, symbol);
  const work anew = work_of([&] { (void)m.logits(p, ids); });
  nn::text_cache<C, M> kept(g);
  std::vector<work> each;
  for (index_t i = 0; i < 8; ++i) {
    const auto one = dm::generate<nn::tokens<C, M, nn::next_tokens>>(
        g, [&](index_t b, index_t) { return symbol(b, i); }, nn::next_tokens{1});
    each.push_back(work_of([&] { (void)nn::feed(m, p, one, kept); }));
  }
  // From token to token no more than one more key for each query of two layers, and no more bytes.
  const auto& key = kept.layers[0].key;
  const bool shared = dm::is_split<dm::spec_of<std::remove_cvref_t<decltype(key)>>, length>;
  const std::int64_t more = shared ? 0 : 2 * 4 * key.local(0) * key.local(2) * head::extent;
  for (std::size_t i = 1; i < 8; ++i) {
    CHECK(each[i].flops - each[i - 1].flops == more);
    CHECK(each[i].bytes == each[0].bytes);
  }
  if (!shared) CHECK(each[7].flops < anew.flops / 4);
}

TEST_CASE("a token costs a token's work, whatever the prompt") {
  const dm::grid<line> g;
  check_work<none>(g);
  check_work<parts>(g);
  check_work<along>(g);
}

}  // namespace
