// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a run go under one layout? The same parameters and the same sentences under every one;
// then sentences that it has never seen are translated, by beam search. The encoder reads a
// sentence once, and the decoder keeps what it has read.
#pragma once

#include <dimesh/grad/cost.hpp>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/prefetch.hpp>
#include <dimesh/nn/generate/translate.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/op/argmax.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/schedule.hpp>
#include <dimesh/train/run.hpp>

#include "../common/measured.hpp"
#include "../common/some_ranks.hpp"
#include "../common/translation_scores.hpp"
#include "../common/typed_lines.hpp"
#include "layouts.hpp"

template <class C> class translator {
  using mesh = typename C::mesh;
  using net = nn::encoder_decoder<C, form>;
  using parameters = typename net::parameters;

 public:
  struct pairs {
    BOOST_HANA_DEFINE_STRUCT(pairs, (typename net::source_tokens, from),
                             (typename net::tokens, ids), (typename net::tokens, next));
  };

  translator(const dm::grid<mesh>& g, const corpus& c, const settings& s)
      : p(dm::make<parameters>(g)), state(optimizer_.start(p)), g_(g), c_(c), s_(s) {
    nn::initialize(p, dm::random_key{s.seed});
  }

  /// Loss and gradient, both whole: all that a step communicates.
  struct stepfunction {
    nn::run_options run = {};
    template <class P, class S, class I>
    auto operator()(const P& weights, const S& from, const I& ids, const I& next) const {
      const auto loss = [m = net(run)](const auto& q, const auto& f, const auto& i, const auto& n) {
        return nn::loss(m, q, f, dm::cast<float>(f != text::filler), i, n);
      };
      return dm::complete(dm::value_and_grad(loss, weights)(from, ids, next));
    }
  };
  auto predicted() const {
    const auto b = dm::make<pairs>(g_);
    return dm::count(stepfunction{}, p, b.from, b.ids, b.next).counts;
  }
  /// The loss of step n and its gradient.
  auto gradient_of(const pairs& b, dm::index_t n) const {
    const auto key = dm::random_key{s_.seed}.fold(1).fold(static_cast<std::uint64_t>(n));
    return stepfunction{{s_.dropout, key}}(p, b.from, b.ids, b.next);
  }
  double step(const pairs& b, dm::index_t n, double rate) {
    census::reset();
    const auto [loss, gradient] = gradient_of(b, n);
    sent = census::snapshot();
    optimizer_.rate = rate;
    const double value = dm::value(loss);
    if (std::isfinite(value)) optimizer_(p, gradient, state);
    return value;
  }

  /// The mean loss of held-out words, and the part of them that the model finds likeliest.
  void evaluate(outcome& to) const {
    const auto n = static_cast<dm::index_t>(c_.held_out.size());
    double words = 0;
    to.held_out_loss = to.accuracy = 0;
    for (dm::index_t at = 0; at < std::min<dm::index_t>(n, s_.held_out * batch::extent);
         at += batch::extent) {
      const auto number = [&]<std::size_t K>(dm::index_t b, dm::index_t t) {
        return at + b < n
                   ? std::get<K>(
                         c_.held_out[static_cast<std::size_t>(at + b)])[static_cast<std::size_t>(t)]
                   : (K == 2 ? -1 : text::filler);
      };
      const pairs b{dm::generate<typename net::source_tokens>(
                        g_, [&](auto r, auto t) { return number.template operator()<0>(r, t); }),
                    dm::generate<typename net::tokens>(
                        g_, [&](auto r, auto t) { return number.template operator()<1>(r, t); }),
                    dm::generate<typename net::tokens>(
                        g_, [&](auto r, auto t) { return number.template operator()<2>(r, t); })};
      const auto valid = dm::cast<float>(b.from != text::filler);
      const net m;
      const auto logits = nn::decode(m, p, nn::encode(m, p, b.from, valid), valid, b.ids);
      const auto sum = [](const auto& x) {
        return static_cast<double>(dm::value(dm::complete(dm::sum(x))));
      };
      words += sum(dm::cast<float>(b.next >= 0));
      to.held_out_loss += sum(dm::softmax_cross_entropy<vocab>(logits, b.next));
      to.accuracy += sum(dm::cast<float>(dm::argmax<vocab>(dm::whole<vocab>(logits)) == b.next));
    }
    to.held_out_loss /= words;
    to.accuracy /= words;
  }

  /// As many sentences at a time as have room for their beams in a batch.
  std::vector<std::string> translate(const std::vector<std::string>& all) const {
    std::vector<std::string> found;
    const auto each = static_cast<std::size_t>(batch::extent / s_.beams);
    for (std::size_t at = 0; at < all.size(); at += each)
      for (const auto& texts :
           search({all.begin() + static_cast<std::ptrdiff_t>(at),
                   all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + each))})) {
        found.push_back(text::decoded(c_.vocabulary, texts.at(0).tokens));
      }
    return found;
  }

  parameters p;
  dm::adam_state<parameters> state;
  census::counts sent;

 private:
  auto search(const std::vector<std::string>& some) const {
    std::vector<nn::token_list> sources;
    for (const std::string& s : some) {
      auto& row = sources.emplace_back(text::source_row(c_.vocabulary, s, source::extent));
      if (row.empty()) throw dm::error("translate: too long for the model: '" + s + "'");
      std::erase(row, text::filler);
    }
    return nn::beam_search(net(), p, g_, sources,
                           std::vector<nn::token_list>(some.size(), {text::begin}),
                           {.beams = s_.beams, .count = length::extent - 1, .stop = text::end});
  }

  const dm::grid<mesh>& g_;
  const corpus& c_;
  const settings& s_;
  dm::adam optimizer_{.beta2 = 0.98, .weight_decay = 0.01, .decays = dm::decay_matrices};
};

template <class C>
outcome train_under(const std::string& name, const corpus& c, const settings& s, bool is_first) {
  using mesh = typename C::mesh;
  const auto g = even_grid<mesh>(MPI_COMM_WORLD);
  translator<C> t(g, c, s);
  using pairs = typename translator<C>::pairs;
  const auto few = static_cast<dm::index_t>(c.training.size());
  auto load = dm::input::records(c.training) | dm::input::shuffle(s.seed) |
              dm::input::repeat((batch::extent + few - 1) / few) |
              dm::input::batch<pairs>(g, batch{}) | dm::input::prefetch(0);
  auto o = report::begun<outcome>(name, g, t.p, t.predicted());
  dm::loop_options when = report::loop_options(s);
  if (!is_first) when = {.steps = std::min(s.steps, s.compare)};
  dm::training_run run(g, when, report::run_options(s, name));
  run.keep("model", t.p);
  run.keep("adam", t.state);
  std::string words = c.vocabulary.printed();
  run.keep(vocabulary_file, words);
  run.keep(load);
  run.keep_same("seed", s.seed);
  dm::warmup_cosine rate{
      .peak = s.rate, .warmup = s.steps / 10, .total = s.steps, .last = s.rate / 10};
  run.keep("rate", rate);
  pairs now;
  run.loop.step = [&](dm::index_t n) -> dm::metrics {
    now = load.next();
    return {{"loss", t.step(now, n, rate(n))}};
  };
  run.loop.diagnose = [&](dm::index_t n) {
    return run.find_not_finite([&] { (void)t.gradient_of(now, n); });
  };
  if (is_first)
    run.loop.evaluate = [&](dm::index_t) -> dm::metrics {
      t.evaluate(o);
      return {{"loss", o.held_out_loss}, {"accuracy", o.accuracy}};
    };
  o.told_to_end = run.go() == dm::loop_end::signal;
  report::finish<mesh>(o, run, t.sent);
  o.symbols_per_second = o.steps_per_second * batch::extent * length::extent;
  if (!is_first || o.told_to_end) return o;
  o.held_out_loss = run.history().values("evaluation/loss").back();  // maybe of a run before it
  o.accuracy = run.history().values("evaluation/accuracy").back();
  std::vector<std::string> english, other;
  for (const auto& p : c.held_out_texts) english.push_back(p.english), other.push_back(p.other);
  const auto most =
      std::min<std::size_t>(english.size(), static_cast<std::size_t>(s.held_out * batch::extent));
  english.resize(most), other.resize(most);
  o.found = t.translate(english);
  o.bleu = report::bleu(o.found, other);
  o.chrf = report::chrf(o.found, other);
  text::answer(s.translate, g.rank(),
               [&](const std::string& from) { return t.translate({from})[0]; });
  return o;
}
