// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains one deep Transformer on real text over 1, 2 and 4 stages, as many as the ranks allow, the
// other ranks copies of the pipeline with their part of the rows; by every schedule. Ends with a
// table of what each one costs, predicted and counted, and fails if losses part.
//
// ranks: 1 2 4
// writes: timelines of the stages, to --out
// args: --steps 3 --micros 4 --out pipeline_test
// demo ranks: 4

#include <algorithm>
#include <dimesh/pipeline/check.hpp>
#include <dimesh/pipeline/schedules.hpp>
#include <dimesh/pipeline/stale.hpp>
#include <dimesh/runtime.hpp>
#include <filesystem>
#include <iostream>

#include "../common/options.hpp"
#include "../common/result.hpp"
#include "../common/text_table.hpp"
#include "train.hpp"

/// One stage a rank: the same cells and the same sums in the same order, so the same bits.
bool is_straight(const outcome& o) {
  return o.schedule == "gpipe" || o.schedule == "1f1b" || o.schedule == "zb-h1" ||
         o.schedule == "zb-h2";
}
bool as_forecast(const outcome& o) { return o.peak == o.peak_predicted; }
/// The first step at which another schedule over the same stages gave other bits, in words.
std::string other_bits(const outcome& o, const std::vector<outcome>& all) {
  for (const outcome& other : all) {
    if (!is_straight(o) || !is_straight(other) || o.pipes != other.pipes) continue;
    for (std::size_t t = 0; t < o.losses.size() && t < other.losses.size(); ++t)
      if (o.losses[t] != other.losses[t])
        return o.schedule + " and " + other.schedule + ", " + o.pipes + ": losses of step " +
               std::to_string(t) + " differ by " +
               report::difference_text(std::abs(o.losses[t] - other.losses[t]));
  }
  return {};
}
/// How far losses are from the first run's: between other cells training amplifies rounding.
struct distance {
  static constexpr std::size_t steps = 12;
  double begin = 0, end = 0;  // in so many steps, and after them
  void add(const outcome& o, const outcome& first) {
    for (std::size_t t = 0; t < o.losses.size() && t < first.losses.size(); ++t) {
      double& far = t < steps ? begin : end;
      const double d = std::abs(o.losses[t] - first.losses[t]);
      if (d > far || std::isnan(d)) far = d;
    }
  }
  bool small() const { return begin <= 5e-5 && end <= 0.05; }
};
bool agrees(const outcome& o, const outcome& first) {
  distance d;
  d.add(o, first);
  const bool close = o.losses.size() == first.losses.size() && d.small();
  const std::string who = o.schedule + ", " + o.pipes;
  if (!close) std::cout << "FAILED: the losses of " << who << " part from the first.\n";
  if (o.bytes != o.bytes_predicted) std::cout << "FAILED: " << who << " sent other bytes.\n";
  if (o.held != o.held_predicted) std::cout << "FAILED: " << who << " held other micro-batches.\n";
  if (!as_forecast(o)) std::cout << "FAILED: " << who << " needed other memory than forecast.\n";
  return close && as_forecast(o) && o.bytes == o.bytes_predicted && o.held == o.held_predicted;
}
/// What has been compared, and how near it was.
std::string losses_in_words(const std::vector<outcome>& all) {
  distance far;
  bool same = false;  // two runs whose bits are compared
  for (const outcome& o : all) {
    far.add(o, all.front());
    for (const outcome& other : all)
      same =
          same || (&o != &other && is_straight(o) && is_straight(other) && o.pipes == other.pipes);
  }
  return (same ? "Losses of gpipe, 1f1b, zb-h1 and zb-h2 over the same stages are equal to the "
                 "last bit"
               : "No losses are compared to the last bit") +
         std::string("; of all ") + std::to_string(all.size()) +
         " runs the largest difference from the first one's is " +
         report::difference_text(far.begin) + " in " +
         std::to_string(std::min(distance::steps, all.front().losses.size())) + " steps" +
         (all.front().losses.size() > distance::steps
              ? ", and " + report::difference_text(far.end) + " after"
              : "") +
         ".\n";
}
/// What schedules without a flush would pay for a smaller bubble: nothing here trains by them.
template <class S> void add_stale(report::text_table& t, const std::string& name, const S& s) {
  for (int rank = 0; rank < s.ranks; ++rank) {
    const dm::weight_facts f = dm::weight_facts_of(s, rank);
    t.rows.push_back(
        {name, std::to_string(rank), std::to_string(f.versions), std::to_string(f.staleness)});
  }
}
std::string stale_table(int stages, int micros) {
  report::text_table t{.headings = {{"", "", "versions of", "updates that a"},
                                    {"schedule", "stage", "weights kept", "gradient lacks"}},
                       .left = {0}};
  add_stale(t, "pipedream", dm::pipedream{stages, micros});
  add_stale(t, "pipedream-2bw", dm::pipedream_2bw{stages, micros, stages});
  return "\nBy schedules without a flush, of " + std::to_string(stages) + " stages and " +
         std::to_string(micros) +
         " micro-batches (all others keep one version, and no gradient lacks an update):\n" +
         t.str();
}
int conclude(const std::vector<outcome>& all, const settings& s) {
  using report::format, report::grouped;
  report::text_table t{
      .headings = {{"", "stages", "bubble", "", "(K-1)/", "micro-batches held", "",
                    "memory, at most", "", "bytes from stage to stage", "", "tokens", "final"},
                   {"schedule", "x data", "measured", "simulated", "(M+K-1)", "predicted",
                    "counted", "predicted", "counted", "predicted", "counted", "a second", "loss"}},
      .left = {0, 1}};
  bool agree = true;
  for (const outcome& o : all) {
    t.rows.push_back({o.schedule, o.pipes, format("%.3f", o.bubble), format("%.3f", o.simulated),
                      format("%.3f", o.formula), std::to_string(o.held_predicted),
                      std::to_string(o.held), report::memory(o.peak_predicted),
                      report::memory(o.peak), grouped(o.bytes_predicted), grouped(o.bytes),
                      grouped(std::llround(o.tokens_per_second)), format("%.4f", o.losses.back())});
    agree = agrees(o, all.front()) && agree;
    if (const std::string words = other_bits(o, all); !words.empty()) {
      std::cout << "FAILED: " << words << ".\n";
      agree = false;
    }
  }
  std::cout << t.str()
            << "\nWhere the bubble is simulated, a stage takes as long as its arithmetic; where "
               "ranks share "
               "cores, what one waits for a core counts as work.\n";
  std::cout << stale_table(4, 32) << "\n";
  if (agree)
    std::cout << losses_in_words(all)
              << "What was sent, what was held and what memory it took is what was predicted.\n";
  std::cout << "Timelines and traces: " << s.out << "\n";
  return agree ? 0 : 1;
}

/// Numbers of stages of which so many ranks make whole pipelines, whose copies share a
/// micro-batch's rows.
std::vector<int> stages_on(int ranks) {
  std::vector<int> fit;
  for (const int stages : {1, 2, 4})
    if (ranks % stages == 0 && batch::extent % (ranks / stages) == 0) fit.push_back(stages);
  if (fit.empty())
    throw dm::error("pipeline: copies of 1, 2 or 4 stages on " + std::to_string(ranks) +
                    " ranks do not share the " + std::to_string(batch::extent) +
                    " rows of a micro-batch; take 1, 2, 4, 8 or 16 ranks");
  return fit;
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    settings s;
    report::options o("A deep Transformer over the stages of a pipeline");
    o.add("--text", s.text, "a file to learn (the King James text)");
    o.add("--out", s.out, "folder for timelines and traces");
    o.add("--schedule", s.schedule, "one of the schedules, or all")
        .among({"gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "sliced", "all"});
    o.add("--steps", s.steps, "training steps").between(2, 1 << 20);
    o.add("--micros", s.micros, "micro-batches of a step, a multiple of 4").between(4, 1 << 10);
    o.add("--seed", s.seed, "of weights and pieces of text");
    if (const auto done = o.parse(argc, argv)) return *done;
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const std::vector<int> fit = stages_on(size);
    if (s.micros % 4 != 0)
      throw dm::error("pipeline: " + std::to_string(s.micros) +
                      " micro-batches are no multiple of 4; give --micros one");
    if (rank == 0) std::filesystem::create_directories(s.out);
    const text::book book = text::read_book(s.text);
    std::vector<outcome> all;
    for (const int stages : fit) {
      const dm::grid<pod> g(MPI_COMM_WORLD, stage{stages}, rows{size / stages});
      train_straight(g, s, book, all);
      train_returning(g, s, book, all);
      train_sliced(g, s, book, all);
    }
    return rank == 0 ? conclude(all, s) : 0;
  });
}
