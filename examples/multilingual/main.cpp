// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One model translates all languages of the installed catalogs into English, with one, four and
// sixteen experts in every other layer at equal products a symbol. Ends with what that does for
// languages that have many pairs and for those that have few; fails where the losses are not those
// of one rank.
//
// ranks: 1 2 4 8
// writes: tables and pictures, to --out
// args: --catalogs built-in --steps 4 --compare 4 --experts 1,4 --held-out 1 --out languages_test
// demo ranks: 2

#include <dimesh/runtime.hpp>
#include <iostream>

#include "../common/options.hpp"
#include "settings.hpp"

int main(int argc, char** argv) {
  return dimesh::run(argc, argv, [&] {
    settings s;
    report::options o("Translates the languages of installed catalogs into English");
    o.add("--catalogs", s.catalogs, "folder of LANGUAGE/LC_MESSAGES/*.mo");
    o.add(
        "--domains", s.domains,
        "how names of catalogs begin; empty: any. by folder: iso_ in the installed one, else any");
    o.add("--tokens", s.tokens, "what is read and written: pairs of bytes, or bytes")
        .among({"pairs", "bytes"});
    o.add("--longest", s.longest, "bytes of a sentence").between(4, 1000);
    o.add("--experts", s.experts, "of a layer, a model each").split_at_commas().between(1, 1024);
    o.add("--columns", s.columns,
          "ranks that share hidden layers; of each rank in a column, experts")
        .between(1, 1 << 20);
    const auto save = report::add_training_options(o, s, 1, false);
    o.add("--compare", s.compare, "steps that one rank makes again, alone").between(0, 1 << 30);
    o.add("--temperature", s.temperature, "of languages; 1: drawn as often as they are")
        .between(1.0, 1e6);
    o.add("--balance", s.balance, "weight of the loss that balances experts");
    o.add("--held-out", s.held_out, "batches of sentences never trained on").between(1, 1 << 20);
    o.add("--stop-after", s.stop_after, "steps, to go on from there another time")
        .needs(save)
        .between(1, 1 << 30);
    o.add("--translate", s.translate, "what the last model translates; -: lines typed");
    o.add("--out", s.out, "folder for tables and pictures");
    if (const auto done = o.parse(argc, argv)) return *done;
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const corpus c = read_corpus(s);
    if (rank == 0)
      std::cout << c.languages.size() << " languages, from " << c.languages.front().training.size()
                << " to " << c.languages.back().training.size() << " pairs; " << c.held_out.size()
                << " held out; " << c.left_out << " left out, beyond " << rooms() << ".\n";
    std::vector<outcome> all;
    for (const int experts : s.experts) {
      all.push_back(train(experts, c, s, false));
      if (all.back().told_to_end) break;
      all.back().compared = size == 1;  // it is that one
      if (s.compare == 0 || size == 1 || !all.back().as_asked) continue;
      const auto alone = train(experts, c, s, true).losses;
      const auto& losses = all.back().losses;
      all.back().max_loss_difference = report::loss_difference(
          report::beginning(losses, alone.size()), report::beginning(alone, losses.size()));
      all.back().compared = true;
    }
    return rank == 0 ? conclude(all, c, s) : 0;
  });
}
