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

#include "../common/report.hpp"
#include "settings.hpp"

namespace dm = dimesh;

int conclude(std::vector<report::run_result>& results, const settings& s) {
  const report::run_result& first = results.front();
  if (first.told_to_end) {
    std::cout << "Told to end after " << first.losses.size() << " steps; --resume " << s.save
              << " goes on from there.\n";
    return 0;
  }
  report::present(results, s.out);
  if (s.sample > 0)
    std::cout << "What the model writes (" << first.layout << "):\n"
              << std::get<std::string>(first.figures.back().value) << "\n\n";
  bool agree = true;
  for (const auto& r : results) agree = report::agrees(r, first.losses, 20, 2e-5) && agree;
  return report::verdict(agree,
                         "The loss curves of all layouts coincide, and the bytes that MPI carried "
                         "are those that the types predict.",
                         s.out);
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    settings s;
    auto layouts = layout_names();
    layouts.push_back("all");
    report::options o("A byte-level language model under layouts chosen by name");
    o.add("--text", s.text, "a file to learn (the King James text)");
    o.add("--out", s.out, "folder for the report, pictures and traces");
    o.add("--layouts,--layout", s.layouts, "names; others are compared with the first")
        .split_at_commas()
        .among(layouts);
    report::add_training_options(o, s, 3);
    o.add("--warmup", s.warmup, "steps until the full rate");
    o.add("--decay", s.decay, "weight decay");
    o.add("--dropout", s.dropout, "part of the activations left out");
    o.add("--validation", s.validation, "batches of text never trained on; 0: all");
    o.add("--sample", s.sample, "bytes to write at the end");
    o.add("--prompt,--generate", s.prompt, "what they continue");
    o.add("--temperature", s.temperature, "of the sample; 0: the likeliest byte");
    if (const auto done = o.parse(argc, argv)) return *done;
    if (s.prompt.empty()) s.prompt = "\n";
    const bool several = s.layouts.size() > 1 || s.layouts[0] == "all";
    if (several && !(s.save.empty() && s.resume.empty()))
      throw dm::error("language_model: --save and --resume are for one layout; give --layouts one");
    auto results = train_all(s);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0 ? conclude(results, s) : 0;
  });
}
