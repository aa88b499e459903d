// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the training under every layout that was asked for. What is compiled for each layout, the
// step and the writing of text, too, is compiled here, where their types are made once.

#include "train.hpp"

#include <filesystem>

#include "../common/some_ranks.hpp"
#include "layouts.hpp"

dm::run_options what_is_told(const settings& s, const report::run_result& foreseen) {
  dm::run_options told = report::run_options(s, foreseen.layout);
  told.log = s.out + "/" + foreseen.layout;
  told.rates = report::rates("tokens", tokens_per_step, foreseen.bytes_predicted);
  return told;
}

dm::step_trace pictures_of_step(const settings& s, const std::string& name) {
  return {.trace = s.out + "/trace_" + name + ".json",
          .picture = s.out + "/timeline_" + name + ".svg",
          .title = "A step under '" + name + "'"};
}

void training::prepare() {
  run.keep("rate", rate);
  const auto options = [this](dm::index_t n) -> nn::run_options {
    return {s.dropout, dm::random_key{s.seed + 1}.fold(2).fold(static_cast<std::uint64_t>(n))};
  };
  run.loop.step = [=, this](dm::index_t n) -> dm::metrics {
    return {{"loss", step(options(n), rate(n))}};
  };
  run.loop.diagnose = [=, this](dm::index_t n) { return who_went_bad(options(n)); };
}

void training::conclude() {
  const double nats = run.history().values("evaluation/loss").back();
  const double bits = nats / std::log(2.0);  // 8: it knows nothing
  const std::int64_t optimizer = 2 * std::int64_t{sizeof(float)} * result.parameters_per_rank;
  const double tokens = result.steps_per_second * tokens_per_step;
  nn::token_list prompt;
  for (const char c : s.prompt) prompt.push_back(static_cast<unsigned char>(c));
  const nn::generate_options how{.count = s.sample,
                                 .how = {.temperature = s.temperature},
                                 .key = dm::random_key{s.seed},
                                 .written = text::as_it_comes(s.prompt)};
  std::string sample;
  for (const auto token : write(prompt, how)) sample += static_cast<char>(token);
  result.figures = {{"validation_bits_per_byte", bits, report::column::result, "valid.", "bits/B",
                     report::format("%.3f", bits)},
                    {"optimizer_bytes_per_rank", optimizer, report::column::memory, "optimizer",
                     "per rank", report::memory(optimizer)},
                    {"tokens_per_second", tokens, report::column::speed, "", "tokens/s",
                     report::grouped(std::llround(tokens))},
                    {"sample", report::readable(sample)}};
}

std::vector<std::string> layout_names() { return layouts.names(); }

std::vector<report::run_result> train_all(const settings& s) {
  const text::book book = text::read_book(s.text);
  if (dm::grid<line>().rank() == 0) std::filesystem::create_directories(s.out);
  std::vector<report::run_result> results;
  const bool all = std::find(s.layouts.begin(), s.layouts.end(), "all") != s.layouts.end();
  for (const std::string& name : all ? layouts.names() : s.layouts)
    layouts.visit(name, [&]<class Plan>(dm::layout_tag<Plan>) {
      on_mesh<typename Plan::mesh>(
          name, [&](const auto& g) { results.push_back(train<Plan>(name, g, book, s)); });
    });
  return results;
}
