// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a division into cells train by a schedule? Each step a batch of text, as micro-batches;
// the last step is recorded.
#pragma once

#include <census.hpp>
#include <dimesh/io/data/prefetch.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/show/pipeline_timeline.hpp>
#include <dimesh/train/memory_use.hpp>
#include <dimesh/train/run.hpp>

#include "../common/book.hpp"
#include "model.hpp"

struct settings {
  std::string text, out = "demo-out", schedule = "all";
  int steps = 24, micros = 8;
  unsigned seed = 1;
};

/// What a run came to; complete on rank 0.
struct outcome {
  std::string schedule, pipes;  // "1f1b", "2 x 2": stages and data
  std::vector<double> losses = {};
  double bubble = 0, simulated = 0, formula = 0;
  int held = 0, held_predicted = 0;  // micro-batches on the rank that holds most
  dm::index_t peak = 0, peak_predicted = 0;  // bytes that the pipeline adds, on the rank of most
  dm::index_t bytes = 0, bytes_predicted = 0;  // from stage to stage, in a step
  double tokens_per_second = 0;
};

/// Mean loss of a micro-batch's tokens, in nats, at coordinate K.
template <int K, class T> struct mean_loss {
  const std::vector<T>& next;
  template <class Y> constexpr auto operator()(const Y& scores, int micro) const {
    const auto& y = next[static_cast<std::size_t>(micro)];
    return dm::mean(dm::softmax_cross_entropy<vocab>(scores, dm::place<stage, K>(y)));
  }
};

/// Bytes that a step sends from stage to stage: each micro-batch's activations forward and their
/// cotangents back, and in each direction one header of four numbers for each copy of the pipeline,
/// and each slice of a sequence.
template <class S> dm::index_t predicted_bytes(const S& s, int sequences, dm::index_t copies) {
  dm::index_t boundaries = 0;
  for (int b = 0; b + 1 < s.stages(); ++b) boundaries += s.rank_of(b, 0) != s.rank_of(b + 1, 0);
  const dm::index_t activations = batch::extent * length::extent * model::extent * 4;
  return 2 * boundaries * (sequences * activations + copies * (s.micros / sequences) * 4 * 8);
}

inline dm::index_t over_ranks(dm::index_t mine, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, op, MPI_COMM_WORLD);
  return mine;
}

/// A micro-batch of text.
struct pieces {
  BOOST_HANA_DEFINE_STRUCT(pieces, (tokens, ids), (tokens, next));
};

template <int... K> struct trainer {
  static constexpr int last = std::array{K...}.back();
  using weights_type =
      decltype(weights_at<K...>(std::declval<const dm::grid<pod>&>(), std::declval<whole>()));

  const dm::grid<pod>& g;
  const settings& how;
  weights_type weights;
  std::vector<tokens> x, y;

  trainer(const dm::grid<pod>& grid, const settings& s)
      : g(grid), how(s), weights(begun(grid, s.seed)) {
    for (int i = 0; i < how.micros; ++i)
      x.push_back(dm::make<tokens>(g)), y.push_back(dm::make<tokens>(g));
  }
  static weights_type begun(const dm::grid<pod>& g, unsigned seed) {
    whole all = dm::make<whole>(g);
    nn::initialize(all, dm::random_key{seed});
    return weights_at<K...>(g, all);
  }
  /// Cut makes the pipeline's micro-batches of those that the trainer has: the same, or slices.
  template <class S, class Net, class Cut>
  outcome run(const std::string& name, const S& s, const text::book& book, const Net& net,
              const Cut& cut) {
    const int copies = static_cast<int>(g.template size<rows>());
    outcome o{.schedule = name, .pipes = std::to_string(s.ranks) + " x " + std::to_string(copies)};
    const dm::adam optimizer{.rate = 2e-3};
    auto state = optimizer.start(weights);
    dm::pipeline_report report;
    auto load = text::drawn_rows(book.training, length::extent, dm::random_key{how.seed + 1},
                                 how.micros * batch::extent) |
                text::in::batch<pieces>(g, batch{}) | text::in::prefetch(0);
    std::vector<typename Cut::type> in = cut(x), next = cut(y);
    const auto input = [&in](int i) { return in[static_cast<std::size_t>(i)]; };
    const mean_loss<last, typename Cut::type> loss{next};
    const auto told = net.forecast(s, weights, input, loss);
    double seconds = 0;
    dm::training_run training(g, {.steps = how.steps}, {});
    training.loop.step = [&](dm::index_t step) -> dm::metrics {
      in.clear(), next.clear();
      for (std::size_t i = 0; i < x.size(); ++i) {
        const pieces b = load.next();
        x[i] = b.ids, y[i] = b.next;
      }
      in = cut(x), next = cut(y);
      dm::restart_peak_memory();
      const dm::index_t before = dm::memory_in_use().live;
      census::reset();
      MPI_Barrier(MPI_COMM_WORLD);
      const bool recorded = step + 1 == how.steps;
      if (recorded) dm::timeline::instance().start();
      const double begin = MPI_Wtime();
      auto one = net.value_and_grad(s, weights, input, loss, {.report = &report});
      o.peak = std::max(o.peak, dm::memory_in_use().peak - before);
      dm::timeline::instance().stop();
      o.bytes = census::snapshot().bytes_on(1u);
      const auto whole_one = dm::complete(std::move(one));
      optimizer(weights, whole_one.gradient, state);
      if (step > 0) seconds += MPI_Wtime() - begin;  // the first one makes its memory
      return {{"loss", dm::value(dm::broadcast<stage>(whole_one.value))}};  // the last stage has it
    };
    training.go();
    o.losses = training.losses();
    conclude(o, s, report, told, copies);
    o.tokens_per_second = (how.steps - 1) * how.micros *
                          static_cast<double>(batch::extent * length::extent) / seconds;
    return o;
  }
  template <class S>
  void conclude(outcome& o, const S& s, const dm::pipeline_report& report,
                const dm::pipeline_forecast& told, int copies) const {
    o.bytes = over_ranks(o.bytes, MPI_SUM),
    o.bytes_predicted = predicted_bytes(s, how.micros, copies);
    o.peak = over_ranks(o.peak, MPI_MAX), o.peak_predicted = over_ranks(told.peak, MPI_MAX);
    const auto facts = dm::check_schedule(s, told);
    o.held = static_cast<int>(over_ranks(report.peak, MPI_MAX)), o.held_predicted = facts.peak;
    o.simulated = facts.bubble, o.formula = double(s.ranks - 1) / (s.micros + s.ranks - 1);
    const auto spans = dm::gather_timeline(g);
    if (g.rank() != 0) return;
    const dm::pipeline_timeline t(s, spans, copies);
    o.bubble = t.bubble;
    const std::string file = how.out + "/" + o.schedule + "_" + std::to_string(s.ranks);
    std::ofstream(file + ".svg") << t.svg(o.schedule + ", " + o.pipes + " (stages x data)");
    dm::write_trace(file + ".json", t.with_bubble());
  }
};

/// Micro-batches of whole sequences.
struct uncut {
  using type = tokens;
  std::vector<tokens> operator()(const std::vector<tokens>& all) const { return all; }
};

/// Trains by the schedules asked for with so many stages, those of one stage a rank (straight.cpp),
/// those of two (returning.cpp) and that of slices (sliced.cpp). Every rank of the grid calls it.
void train_straight(const dm::grid<pod>& g, const settings& s, const text::book& c,
                    std::vector<outcome>& all);
void train_returning(const dm::grid<pod>& g, const settings& s, const text::book& c,
                     std::vector<outcome>& all);
void train_sliced(const dm::grid<pod>& g, const settings& s, const text::book& c,
                  std::vector<outcome>& all);

template <int... K, class S>
void train_by(const char* name, const S& schedule, const dm::grid<pod>& g, const settings& how,
              const text::book& c, std::vector<outcome>& all) {
  if (how.schedule == "all" || how.schedule == name)
    all.push_back(trainer<K...>(g, how).run(name, schedule, c, pipeline_at<K...>(), uncut{}));
}
