// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a run go? The languages take turns by chance, large ones more often, but not as often as
// they have pairs; then sentences that were never seen are translated, and experts are counted.

#include <dimesh/grad/cost.hpp>
#include <dimesh/io/data/prefetch.hpp>
#include <dimesh/io/data/transform.hpp>
#include <dimesh/nn/generate/beam_search.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/op/argmax.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/schedule.hpp>

#include "../common/by_temperature.hpp"
#include "../common/measured.hpp"
#include "../common/some_ranks.hpp"
#include "../common/typed_lines.hpp"
#include "kept.hpp"
#include "model.hpp"

namespace {

namespace in = dm::input;

/// Record i is any pair of a language: both are drawn, by the epoch and by i alone.
auto sampled(const corpus& c, unsigned seed) {
  return in::numbers(1 << 16) | in::map(seed, [&c](dm::index_t, dm::random_key key) {
           const auto& of =
               c.languages[text::drawn_at(c.drawn, dm::uniform_at<double>(key, 0))].training;
           return of[static_cast<std::size_t>(dm::uniform_at<double>(key, 1) *
                                              static_cast<double>(of.size()))];
         });
}

/// What a probability adds to the entropy.
struct uncertainty {
  float operator()(float p) const { return p > 0 ? -p * std::log(p) : 0; }
};
template <class X> double total_of(const X& x) {
  return static_cast<double>(dm::value(dm::complete(dm::sum(x))));
}
template <class X> std::vector<double> numbers_of(const X& x) {
  const auto all = dm::relayout<dm::layout<square>>(x);
  return {all.data(), all.data() + all.local_size()};
}

class translator {
 public:
  translator(const dm::grid<square>& g, int experts, const corpus& c, const settings& s)
      : p(dm::make<parameters>(g, expert{experts})),
        state(optimizer_.start(p)),
        g_(g),
        c_(c),
        step_{static_cast<float>(s.balance)} {
    nn::initialize(p, dm::random_key{s.seed});
  }

  auto predicted() const {
    const auto b = dm::make<pairs>(g_);
    return dm::count(step_, p, b.from, b.ids, b.next).counts;
  }
  auto gradient_of(const pairs& b) const { return step_(p, b.from, b.ids, b.next); }
  double step(const pairs& b, double rate) {
    census::reset();
    const auto [loss, gradient] = gradient_of(b);
    sent = census::snapshot();
    optimizer_.rate = rate;
    const double value = dm::value(loss);
    if (std::isfinite(value)) optimizer_(p, gradient, state);
    return value;
  }
  /// The held-out sentences from `at` on, as many as a batch has: their scores, and what the
  /// mixtures did with them.
  void evaluate(std::size_t at, outcome& to) const {
    const auto n = std::min<std::size_t>(batch::extent, c_.held_out.size() - at);
    const pairs b = held_out(at, n);
    const auto read = encode(p, b.from);
    const auto wrote = decode(p, read.features, b.from, b.ids);
    const auto logits = logits_of(p, wrote.features);
    const auto losses =
        numbers_of(dm::sum<length>(dm::softmax_cross_entropy<vocab>(logits, b.next)));
    const auto right =
        numbers_of(dm::sum<length>(dm::cast<float>(dm::argmax<vocab>(logits) == b.next)));
    const auto symbols = numbers_of(dm::sum<length>(dm::cast<float>(b.next >= 0)));
    const auto found = written(read.features, b.from, n);
    for (std::size_t i = 0; i < n; ++i)
      to.scores[c_.held_out[at + i].language].add(
          {symbols[i], right[i], losses[i], {found[i]}, {c_.held_out[at + i].english}});
    to.used[0].add(use_of(read));
    to.used[1].add(use_of(wrote));
    to.source_symbols += total_of(dm::cast<float>(b.from != text::filler));
  }
  /// What the encoder's mixture does with the first held-out sentences.
  expert_use watched() const {
    const pairs b = held_out(0, std::min<std::size_t>(batch::extent, c_.held_out.size()));
    return use_of(encode(p, b.from));
  }
  std::string translate(const std::string& sentence) const {
    const auto r = text::source_row(c_.sources, sentence, source::extent);
    if (r.empty()) throw dm::error("multilingual: too long for the model: '" + sentence + "'");
    const auto from = dm::generate<source_ids>(
        g_, [&](auto b, auto t) { return b == 0 ? r[static_cast<std::size_t>(t)] : text::filler; });
    return written(encode(p, from).features, from, 1)[0];
  }

  parameters p;
  dm::adam_state<parameters> state;
  census::counts sent;

 private:
  template <class Half> static expert_use use_of(const Half& half) {
    const auto r = nn::expert_metrics<typename Half::symbol, expert, choice>(
        half.mixed.probabilities, half.mixed.route, half.counted);
    const double n = total_of(half.counted);
    expert_use u{
        numbers_of(r.load), n, n * r.dropped,
        total_of(dm::sum<expert>(dm::map(uncertainty{}, half.mixed.probabilities)) * half.counted)};
    for (double& part : u.chosen) part *= n;
    return u;
  }
  pairs held_out(std::size_t at, std::size_t n) const {
    const auto number = [&]<std::size_t K>(dm::index_t b, dm::index_t t) {
      const auto i = static_cast<std::size_t>(b);
      return i < n ? std::get<K>(c_.held_out[at + i].row)[static_cast<std::size_t>(t)]
                   : (K == 2 ? -1 : text::filler);
    };
    return {dm::generate<source_ids>(
                g_, [&](auto b, auto t) { return number.template operator()<0>(b, t); }),
            dm::generate<target_ids>(
                g_, [&](auto b, auto t) { return number.template operator()<1>(b, t); }),
            dm::generate<target_ids>(
                g_, [&](auto b, auto t) { return number.template operator()<2>(b, t); })};
  }
  /// The first n sentences of a batch in English, the likeliest symbol each time.
  template <class Y>
  std::vector<std::string> written(const Y& memory, const source_ids& from, std::size_t n) const {
    cache kept = start_of(p, memory, from);
    const auto next = [&](const std::vector<nn::token_list>& rows, dm::index_t done) {
      const dm::index_t at = kept.filled;
      const auto ids = dm::generate<next_ids>(
          g_,
          [&](auto b, auto t) {
            const auto i = static_cast<std::size_t>(b), k = static_cast<std::size_t>(at + t);
            return i < rows.size() && k < rows[i].size() ? rows[i][k] : text::filler;
          },
          nn::next_tokens{done - at});
      const auto logits = dm::relayout<dm::layout<square>>(decode_next(p, ids, kept));
      return std::vector<float>(logits.data(), logits.data() + rows.size() * vocab::extent);
    };
    std::vector<std::string> all;
    for (const auto& found :
         nn::beam_search(next, vocab::extent, std::vector<nn::token_list>(n, {text::begin}),
                         {.beams = 1, .count = length::extent - 1, .stop = text::end}))
      all.push_back(text::decoded(c_.english, found.at(0).tokens));
    return all;
  }

  const dm::grid<square>& g_;
  const corpus& c_;
  step_function step_;
  dm::adam optimizer_{.beta2 = 0.98, .weight_decay = 0.01, .decays = dm::decay_matrices};
};

constexpr double symbols = batch::extent * (source::extent + length::extent);  // of a step

/// Of a step, for each symbol, where one rank has it all: of several, the first may have more than
/// its part.
double flops_per_symbol(int experts) {
  const dm::grid<square> alone(MPI_COMM_SELF, cols{1});
  const auto p = dm::make<parameters>(alone, expert{experts});
  const auto b = dm::make<pairs>(alone);
  const auto cost = dm::count(step_function{0}, p, b.from, b.ids, b.next).counts;
  return static_cast<double>(cost.flops) / symbols;
}

outcome run_on(const dm::grid<square>& g, int experts, const corpus& c, const settings& s,
               bool is_alone) {
  const std::string name = "experts-" + std::to_string(experts);
  translator t(g, experts, c, s);
  auto load = sampled(c, s.seed) | in::batch<pairs>(g, batch{}) | in::prefetch(0);
  auto o = report::begun<outcome>(name, g, t.p, t.predicted());
  o.experts = experts;
  o.scores.resize(c.languages.size());
  o.flops_per_symbol = flops_per_symbol(experts);
  auto how = is_alone ? dm::run_options{} : run_of(experts, s);
  how.name = name + (is_alone ? ", one rank" : "");
  dm::training_run run(
      g, {.steps = is_alone ? std::min(s.compare, s.steps) : s.steps, .save_every = s.save_every},
      how);
  std::string sources = c.sources.printed(), english = c.english.printed();
  run.keep(sources_file, sources);
  run.keep(english_file, english);
  run.keep("model", t.p);
  run.keep("adam", t.state);
  run.keep(load);
  run.keep_same("seed", s.seed);
  dm::warmup_cosine rate{
      .peak = s.rate, .warmup = s.steps / 10, .total = s.steps, .last = s.rate / 10};
  run.keep("rate", rate);
  double balance = s.balance, temperature = s.temperature;
  run.keep("balance", balance);
  run.keep("temperature", temperature);
  typename decltype(load)::value_type now;
  run.loop.step = [&](dm::index_t n) -> dm::metrics {
    now = load.next();
    return {{"loss", t.step(now, rate(n))}};
  };
  run.loop.diagnose = [&](dm::index_t) {
    return run.find_not_finite([&] { (void)t.gradient_of(now); });
  };
  run.loop.after_step.push_back([&](dm::index_t done, const dm::metrics&) {
    if (is_alone || done % std::max(1, s.steps / 20) != 0) return;
    o.watched_at.push_back(static_cast<double>(done));
    o.watched.push_back(t.watched());
  });
  o.told_to_end = run.go() == dm::loop_end::signal;
  report::finish<square>(o, run, t.sent);
  o.as_asked = rate.total == s.steps && rate.peak == s.rate && balance == s.balance &&
               temperature == s.temperature;
  o.symbols_per_second = o.steps_per_second * symbols;
  if (is_alone || o.told_to_end) return o;
  for (std::size_t i = 0; i < c.held_out.size(); i += batch::extent) t.evaluate(i, o);
  if (experts == s.experts.back())
    text::answer(s.translate, g.rank(), [&](const std::string& from) { return t.translate(from); });
  return o;
}

}  // namespace

outcome train(int experts, const corpus& c, const settings& s, bool is_alone) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  outcome o;
  on_first_ranks(is_alone ? 1 : size, [&](MPI_Comm some) {
    o = run_on(dm::grid<square>(some, cols{is_alone ? 1 : s.columns}), experts, c, s, is_alone);
  });
  return o;
}
