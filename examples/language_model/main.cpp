// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains one language model on real text under layouts chosen by name; each is a line of
// layouts.hpp. Ends with a table of what each layout costs, predicted by its types and counted in
// MPI, and fails if their losses part.
//
// ranks: 2 4
// writes: a report and pictures, to --out
// args: --steps 12 --validation 2 --sample 8 --layouts all --out language_model_test
// demo ranks: 2

#include <dimesh/runtime.hpp>
#include <iostream>

#include "../common/options.hpp"
#include "../common/progress.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace dm = dimesh;

/// Training amplifies rounding: curves must agree to six digits at first, and stay close.
bool agrees(const report::language_result& r, const std::vector<double>& first) {
  bool close = r.losses.size() == first.size();
  for (std::size_t t = 0; close && t < first.size(); ++t)
    close = std::abs(r.losses[t] - first[t]) <= (t < 20 ? 2e-5 : 0.05);
  if (!close) std::cout << "FAILED: the losses of '" << r.layout << "' part from the first.\n";
  if (!report::bytes_agree(r))
    std::cout << "FAILED: '" << r.layout << "' moved other bytes than its types predict.\n";
  return close && report::bytes_agree(r);
}

/// The table, the sample, the report and the verdict.
int conclude(std::vector<report::language_result>& results, const settings& s) {
  if (results.front().told_to_end) {
    std::cout << "Told to end after " << results.front().losses.size() << " steps; --resume "
              << s.save << " goes on from there.\n";
    return 0;
  }
  report::compare(results);
  std::cout << "\n" << report::table(results) << "\n";
  if (s.sample > 0)
    std::cout << "What the model writes (" << results.front().layout << "):\n"
              << results.front().sample << "\n\n";
  report::write_report(results, s.out);
  bool agree = true;
  for (const auto& r : results) agree = agrees(r, results.front().losses) && agree;
  if (agree)
    std::cout << "The loss curves of all layouts coincide, and the bytes that MPI carried are "
                 "those that the types predict.\n";
  std::cout << "Report, pictures and traces: " << s.out << "\n";
  return agree ? 0 : 1;
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    settings s;
    auto layouts = layout_names();
    layouts.push_back("all");
    s.terminal = report::on_terminal();
    report::options o("A byte-level language model under layouts chosen by name");
    o.add("--text", s.text, "a file to learn (the King James text)");
    o.add("--out", s.out, "folder for the report, pictures and traces");
    o.add("--layouts", s.layouts, "names; the others are compared with the first")
        .split_at_commas()
        .among(layouts);
    o.add("--steps", s.steps, "training steps").between(3, 1 << 30);
    o.add("--save", s.save, "folder for checkpoints, which a signal asks for, too");
    o.add("--save-every", s.save_every, "steps between them");
    o.add("--resume", s.resume, "folder of checkpoints to go on from, under any layout");
    o.add("--warmup", s.warmup, "steps until the full rate");
    o.add("--rate", s.rate, "learning rate");
    o.add("--decay", s.decay, "weight decay");
    o.add("--dropout", s.dropout, "part of the activations left out");
    o.add("--validation", s.validation, "batches of text never trained on");
    o.add("--sample", s.sample, "bytes to write at the end");
    o.add("--prompt", s.prompt, "what they continue");
    o.add("--temperature", s.temperature, "of the sample; 0: the likeliest byte");
    o.add("--seed", s.seed, "of parameters, pieces of text and dropout");
    if (const auto done = o.parse(argc, argv)) return *done;
    if (s.prompt.empty()) s.prompt = "\n";
    if (s.layouts.size() > 1 && !(s.save.empty() && s.resume.empty()))
      throw dm::error("language_model: --save and --resume are for one layout; give --layouts one");
    auto results = train_all(s);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0 ? conclude(results, s) : 0;
  });
}
