// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Learns to translate English from the catalogs of installed programs: an encoder and a decoder
// under the first of the layouts named; the others train for some steps beside it, and their losses
// must be equal. Ends with how well unseen sentences are translated, and what the user types.
//
// ranks: 1 2 4
// args: --catalogs built-in --steps 6 --compare 6 --held-out 1 --beams 2 --translate "a red cat"
// demo ranks: 2

#include <dimesh/runtime.hpp>
#include <iostream>

#include "settings.hpp"

int conclude(std::vector<outcome> all, const corpus& c, const settings& s) {
  const outcome& first = all.front();
  if (first.told_to_end) {
    std::cout << "Told to end; --resume " << s.save << " goes on from there.\n";
    return 0;
  }
  report::text_table t{.headings = {{"", "", "", "loss of", "max", "", "bytes per step", ""},
                                    {"layout", "mesh", "step", "that step", "diff", "axis",
                                     "types = counted", "symbols/s"}},
                       .left = {0, 1, 5}};
  bool agree = true;
  report::compare(all);
  for (outcome& o : all) {
    agree = report::agrees(o, first.losses, 12, 5e-5) && agree;
    report::add_rows(
        t, o,
        {o.layout, o.mesh, std::to_string(o.losses.size()), report::format("%.4f", o.final_loss()),
         report::difference_text(o.max_loss_difference), "", "",
         report::grouped(std::llround(o.symbols_per_second))},
        5);
  }
  std::cout << "\n" << t.str() << "\nHeld-out sentences:\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(8, first.found.size()); ++i)
    std::cout << "  " << c.held_out_texts[i].english << "  ->  " << first.found[i] << "   ("
              << c.held_out_texts[i].other << ")\n";
  std::cout << "Of " << first.found.size() << " of them: loss "
            << report::format("%.3f", first.held_out_loss) << " nats a symbol, "
            << report::format("%.1f", 100 * first.accuracy) << " % of symbols right, BLEU "
            << report::format("%.1f", first.bleu) << ", chrF " << report::format("%.1f", first.chrf)
            << " (beams: " << s.beams << ").\n";
  if (agree) std::cout << "The losses of all layouts are equal; all bytes are as predicted.\n";
  return agree ? 0 : 1;
}

int main(int argc, char** argv) {
  return dimesh::run(argc, argv, [&] {
    settings s;
    report::options o("Translates English into the language of installed catalogs");
    o.add("--to", s.to, "language, as its folder is called: fr, de, pt_BR");
    o.add("--catalogs", s.catalogs, "folder of LANGUAGE/LC_MESSAGES/*.mo");
    o.add("--longest", s.longest, "bytes of a sentence").between(4, 1000);
    o.add("--layouts", s.layouts, "names; the first is trained to the end")
        .split_at_commas()
        .among(layout_names());
    report::add_training_options(o, s);
    o.add("--compare", s.compare, "steps of the other layouts").between(1, 1 << 30);
    o.add("--dropout", s.dropout, "part of the activations left out");
    o.add("--held-out", s.held_out, "batches of sentences never trained on").between(1, 1 << 20);
    o.add("--beams", s.beams, "translations kept while searching").between(1, 64);
    o.add("--translate", s.translate, "what to translate at the end; -: lines typed");
    if (const auto done = o.parse(argc, argv)) return *done;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const corpus c = read_corpus(s);
    if (rank == 0)
      std::cout << c.training.size() << " pairs to learn, " << c.held_out.size() << " held out, "
                << c.vocabulary.size() << " symbols.\n";
    std::vector<outcome> all;
    for (const std::string& name : s.layouts) {
      if (!all.empty())  // which patience may have ended
        s.compare = std::min(s.compare, static_cast<int>(all.front().losses.size()));
      all.push_back(train(name, c, s, all.empty()));
      if (all.front().told_to_end || !(s.save.empty() && s.resume.empty())) break;
    }
    return rank == 0 ? conclude(std::move(all), c, s) : 0;
  });
}
