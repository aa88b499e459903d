// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decoder that keeps keys and values, its own and those of the source, says token by token what
// it says of the whole text; its search finds what a search by whole texts finds; and a token costs
// a token's work.
//
// ranks: 1 2 4
// labels: heavy
#include "dimesh/nn/generate/translate.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <numeric>

#include "dimesh/op/to_rank.hpp"
#include "dimesh/show/events.hpp"
#include "support/host.hpp"
#include "support/language_model_run.hpp"
#include "support/work.hpp"

namespace {
using namespace test_support;

struct x : dm::axis<> {};
struct y : dm::axis<2> {};
struct line : dm::mesh<x> {};
struct plane : dm::mesh<x, y> {};
struct source : dm::dim<12> {};

/// Learned positions, biases; and the other choices.
struct first : small {
  using source = ::source;
  static constexpr int encoder_layers = 1;
};
struct second : other {
  using source = ::source;
  static constexpr int encoder_layers = 1;
};
/// Messages and activations in bfloat16, weights and scores in float.
struct brief : first {
  using element = float;
  using activations = dm::bfloat16;
};
struct waving : first {
  static constexpr auto positions = nn::position_kind::sinusoidal;
  static constexpr index_t window = 3;
};

using none = dm::layout<line>;
using stored = dm::layout<line, dm::spread<x>>;
using data = dm::layout<line, dm::split<batch, x>>;
using parts = dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>>;
using places = dm::layout<line, dm::split<length, x>, dm::split<source, x>>;
using both = dm::layout<plane, dm::split<batch, x>, dm::split<heads, y>, dm::split<hidden, y>,
                        dm::split<vocab, y>, dm::split_if_free<source, y>>;

/// Row b of the sources has so many tokens.
constexpr index_t words(index_t b) { return 5 + b; }
constexpr std::int32_t word(index_t b, index_t t) {
  return static_cast<std::int32_t>((b * 7 + t * t * 5 + 1) % 24);
}
constexpr auto token = [](index_t b, index_t t) {
  return static_cast<std::int32_t>((b * 5 + t * t * 3) % 24);
};

/// Under compute layout C, parameters under S.
template <class C, class M, class S = C> struct translation {
  using net = nn::encoder_decoder<C, M>;
  using parameters = nn::encoder_decoder_parameters<S, M>;
  using grid = dm::grid<typename C::mesh>;
  explicit translation(const grid& on)
      : g(on),
        p(dm::make<parameters>(on)),
        from(dm::generate<typename net::source_tokens>(
            on, [](index_t b, index_t t) { return t < words(b) ? word(b, t) : 0; })),
        valid(dm::generate<typename net::source_tokens>(
            on, [](index_t b, index_t t) { return t < words(b) ? 1 : 0; })) {
    nn::initialize(p, dm::random_key{5});
  }
  auto next(index_t done, index_t n) const {
    return dm::generate<nn::tokens<C, M, nn::next_tokens>>(
        g, [&](index_t b, index_t t) { return token(b, done + t); }, nn::next_tokens{n});
  }

  const grid& g;
  net m{};
  parameters p;
  typename net::source_tokens from, valid;
};

/// Logits of all positions, by the whole text and by parts of it.
template <class C, class M, bool Padded = true, class S = C>
void check(const dm::grid<typename C::mesh>& g, double epsilon = 1e-12) {
  const translation<C, M, S> t(g);
  const auto ids = dm::generate<typename translation<C, M>::net::tokens>(g, token);
  const auto all = [&] {
    if constexpr (Padded)
      return dm::to_rank(nn::decode(t.m, t.p, nn::encode(t.m, t.p, t.from, t.valid), t.valid, ids));
    else
      return dm::to_rank(t.m.decode(t.p, t.m.encode(t.p, t.from), ids));
  }();
  const auto read = [&] {
    if constexpr (Padded)
      return nn::read_source(t.m, t.p, t.from, t.valid);
    else
      return nn::read_source(t.m, t.p, t.from);
  }();
  for (const std::vector<index_t>& cut : {std::vector<index_t>(8, 1), {8}, {3, 1, 4}}) {
    auto kept = read;
    for (const index_t n : cut) {
      const auto logits = dm::to_rank(nn::feed(t.m, t.p, t.next(kept.filled, n), kept));
      if (g.rank() != 0) continue;
      for (index_t b = 0; b < 8; ++b)
        for (index_t v = 0; v < 24; ++v)
          CHECK(logits[static_cast<std::size_t>(b * 24 + v)] ==
                doctest::Approx(all[static_cast<std::size_t>((b * 8 + kept.filled - 1) * 24 + v)])
                    .epsilon(epsilon));
    }
    CHECK(kept.filled == 8);
    CHECK_THROWS_WITH_AS((void)nn::feed(t.m, t.p, t.next(0, 1), kept),
                         doctest::Contains("feed: 1 tokens after 8 do not fit the length 8"),
                         dm::error);
  }
  CHECK(read.filled == 0);
}

TEST_CASE("feed of a decoder: as the whole text, every kind of position, under every layout") {
  const dm::grid<line> g;
  check<data, first>(g);
  check<data, second>(g);
  check<none, waving>(g);
  check<none, first, false>(g);
  check<data, first, true, stored>(g);
  check<data, brief>(g, 2e-2);
  check<parts, first>(g);
  check<places, second>(g);
  if (g.ranks() % 2 == 0) check<both, second>(dm::grid<plane>());
}

/// A search by a function that decodes the whole text for each token.
template <class C, class M>
auto found_anew(const translation<C, M>& t, const std::vector<nn::token_list>& sources,
                const std::vector<nn::token_list>& prompts, const nn::beam_options& o) {
  using net = nn::encoder_decoder<C, M>;
  const auto at = [&](index_t b, index_t i, bool there) {
    const auto k = static_cast<std::size_t>(b / o.beams), j = static_cast<std::size_t>(i);
    const bool has = k < sources.size() && j < sources[k].size();
    return there ? std::int32_t{has} : (has ? sources[k][j] : 0);
  };
  const auto ids_of = [&](bool there) {
    return dm::generate<typename net::source_tokens>(
        t.g, [&](index_t b, index_t i) { return at(b, i, there); });
  };
  const auto valid = ids_of(true);
  const auto memory = nn::encode(t.m, t.p, ids_of(false), valid);
  return nn::beam_search(
      [&](const std::vector<nn::token_list>& rows, index_t n) {
        const auto ids = dm::generate<typename net::tokens>(t.g, [&](index_t b, index_t i) {
          const auto k = static_cast<std::size_t>(b), j = static_cast<std::size_t>(i);
          return i < n && k < rows.size() && j < rows[k].size() ? rows[k][j] : 0;
        });
        const auto all = dm::relayout<dm::layout<typename C::mesh>>(
            dm::pick<length>(dm::whole<length>(nn::decode(t.m, t.p, memory, valid, ids)), n - 1));
        const auto values = test_support::on_host(all);
        return std::vector<double>(values.data(), values.data() + rows.size() * 24);
      },
      24, prompts, o);
}

const std::vector<nn::token_list> some_sources{{4, 9, 2, 17}, {8}, {3, 3, 20, 1, 0, 5, 7}};
const std::vector<nn::token_list> some_prompts{{1}, {1, 6}, {2}};

template <class C> void check_search(const dm::grid<typename C::mesh>& g) {
  const translation<C, first> t(g);
  for (const index_t beams : {1, 2}) {
    const nn::beam_options o{.beams = beams, .count = 6, .stop = 3};
    const auto mine = nn::beam_search(t.m, t.p, g, some_sources, some_prompts, o);
    const auto anew = found_anew(t, some_sources, some_prompts, o);
    REQUIRE(mine.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      REQUIRE(mine[i].size() == anew.at(i).size());
      for (std::size_t k = 0; k < mine[i].size(); ++k) {
        CHECK(mine[i][k].tokens == anew[i][k].tokens);
        CHECK(mine[i][k].score == doctest::Approx(anew[i][k].score).epsilon(1e-10));
      }
    }
    if (beams == 1) {
      const auto greedy = nn::generate(t.m, t.p, g, some_sources, some_prompts,
                                       {.count = 6, .how = {.temperature = 0}, .stop = 3});
      for (std::size_t i = 0; i < 3; ++i) CHECK(greedy.at(i) == anew[i].at(0).tokens);
    }
  }
}

TEST_CASE("beam_search and generate by sources: what whole texts give, under every layout") {
  const dm::grid<line> g;
  check_search<none>(g);
  check_search<data>(g);
  check_search<parts>(g);
  if (g.ranks() % 2 == 0) check_search<both>(dm::grid<plane>());
}

TEST_CASE("beam_search by a function that keeps what it has read, and is told of new rows") {
  const dm::grid<line> g;
  const translation<data, first> t(g);
  auto kept = nn::read_source(t.m, t.p,
                              dm::generate<typename translation<data, first>::net::source_tokens>(
                                  g, [](index_t, index_t i) { return word(0, i); }));
  const auto next = [&](const std::vector<nn::token_list>& rows, index_t n) {
    const index_t done = kept.filled;
    const auto ids = dm::generate<nn::tokens<data, first, nn::next_tokens>>(
        g,
        [&](index_t b, index_t i) {
          return rows[static_cast<std::size_t>(b)].at(static_cast<std::size_t>(done + i));
        },
        nn::next_tokens{n - done});
    const auto all = dm::relayout<dm::layout<line>>(nn::feed(t.m, t.p, ids, kept));
    const auto values = test_support::on_host(all);
    return std::vector<double>(values.data(), values.data() + rows.size() * 24);
  };
  nn::token_list words_of(12);
  for (index_t i = 0; i < 12; ++i) words_of[static_cast<std::size_t>(i)] = word(0, i);
  const nn::beam_options o{.beams = 8, .count = 5, .stop = 3};
  const auto mine = nn::beam_search(
      next, 24, {{1, 6}}, o, [&](const std::vector<index_t>& from) { nn::reorder(kept, from); });
  const auto wanted = nn::beam_search(t.m, t.p, g, {words_of}, {{1, 6}}, o);
  REQUIRE(mine.at(0).size() == wanted.at(0).size());
  for (std::size_t k = 0; k < mine[0].size(); ++k) CHECK(mine[0][k].tokens == wanted[0][k].tokens);
}

TEST_CASE("generate by sources: draws, rows beside each other, texts longer than the length") {
  const dm::grid<line> g;
  const translation<data, second> t(g);
  const nn::sampling how{.temperature = 2, .top_k = 12};
  const dm::random_key key{11};
  const nn::generate_options o{.count = 10, .how = how, .key = key};
  const auto texts = nn::generate(t.m, t.p, g, some_sources, some_prompts, o);
  const auto alone = nn::generate(t.m, t.p, g, {some_sources[0]}, {some_prompts[0]}, o);
  CHECK(texts.at(0) == alone.at(0));  // other rows change nothing
  CHECK(texts[0].size() == 11);
  const auto elsewhere = nn::generate(t.m, t.p, g, {some_sources[2]}, {some_prompts[0]}, o);
  CHECK(elsewhere[0] != alone[0]);  // the source matters
  // Beyond the length (8) it goes on from the last half, of the same source.
  const nn::token_list half(texts[0].begin() + 5, texts[0].begin() + 9);
  const auto anew = nn::beam_search(t.m, t.p, g, {some_sources[0]}, {half}, {.beams = 1});
  const auto longer = nn::generate(t.m, t.p, g, {some_sources[0]},
                                   {nn::token_list(texts[0].begin(), texts[0].begin() + 9)},
                                   {.count = 1, .how = {.temperature = 0}});
  CHECK(longer[0].back() == anew[0].at(0).tokens.back());
}

TEST_CASE("generate, beam_search by sources: mistakes") {
  const dm::grid<line> g;
  const translation<data, first> t(g);
  const auto says = [&](const std::vector<nn::token_list>& sources,
                        const std::vector<nn::token_list>& prompts, const char* text) {
    CHECK_THROWS_WITH_AS((void)nn::generate(t.m, t.p, g, sources, prompts), doctest::Contains(text),
                         dm::error);
  };
  says({{1}, {2}}, {{1}}, "generate: 2 sources for 1 prompts; give one for each");
  says({{}}, {{1}}, "generate: a source of 0 tokens; give at least one, and at most 12");
  says({nn::token_list(13, 1)}, {{1}}, "generate: a source of 13 tokens");
  says({{1}}, {{}}, "generate: a prompt has no token; begin it with one");
  CHECK_THROWS_WITH_AS((void)nn::beam_search(t.m, t.p, g, {{1}, {2}, {3}}, {{1}, {1}, {1}}),
                       doctest::Contains("beam_search: 12 rows for a batch of 8"), dm::error);
  CHECK(nn::generate(t.m, t.p, g, {}, {}).empty());
}

template <class C> void check_work(const dm::grid<typename C::mesh>& g) {
  const translation<C, first> t(g);
  const auto memory = nn::encode(t.m, t.p, t.from, t.valid);
  const work encoding = work_of([&] { (void)nn::encode(t.m, t.p, t.from, t.valid); });
  const work reading = work_of([&] { (void)nn::read_source(t.m, t.p, t.from, t.valid); });
  const auto ids = dm::generate<typename translation<C, first>::net::tokens>(g, token);
  const work anew = work_of([&] { (void)nn::decode(t.m, t.p, memory, t.valid, ids); });
  auto kept = nn::read_source(t.m, t.p, t.from, t.valid);
  std::vector<work> each;
  for (index_t i = 0; i < 8; ++i) {
    const auto one = t.next(i, 1);
    each.push_back(work_of([&] { (void)nn::feed(t.m, t.p, one, kept); }));
  }
  // From token to token no more than one more key for each query, and no more bytes.
  const std::int64_t more = each[1].flops - each[0].flops;
  const std::int64_t rows = memory.local(0), mine = kept.layers[0].key.local(2);
  CHECK(more == 2 * 4 * rows * mine * head::extent);
  for (std::size_t i = 1; i < 8; ++i) {
    CHECK(each[i].flops - each[i - 1].flops == more);
    CHECK(each[i].bytes == each[0].bytes);
  }
  // All tokens, and the source's keys and values, cost about what the whole text costs once.
  std::int64_t sum = 0;
  for (const work& w : each) sum += w.flops;
  const double all = static_cast<double>(sum + reading.flops - encoding.flops);
  CHECK(all == doctest::Approx(static_cast<double>(anew.flops)).epsilon(0.02));
  const std::int64_t projections = 2 * 2 * 2 * rows * source::extent * model::extent * mine *
                                   head::extent;  // two layers' keys and values
  CHECK(reading.flops - encoding.flops >= projections);
  CHECK(each[7].flops < (anew.flops - projections) / 6);
}

TEST_CASE("a token costs a token's work; the source's keys and values are made once") {
  const dm::grid<line> g;
  check_work<none>(g);
  check_work<data>(g);
  check_work<parts>(g);
}

}  // namespace
