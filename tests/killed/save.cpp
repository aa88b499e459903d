// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that loads what the one before it has saved, and is killed while it saves its own step:
// at the n-th call of rank R that changes files, or when half of its bytes are written. Run again
// and again by support/killed_saves.py, for n = 1, 2, ..., until nothing is left to be killed at.
//
//   save FOLDER saved|started|run N R    prints "loaded STEP", and "saved STEP" if it lives to;
//                                        run: a training run, which goes on by itself
//   save FOLDER race FIRST BY            saves 20 steps from FIRST on, beside another job: prints
//                                        "saved STEP" or "refused STEP: WHY" (support/two_jobs.py)
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "dimesh/create.hpp"
#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/io/checkpoint/start_save.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/runtime.hpp"
#include "dimesh/train/run.hpp"
#include "support/file_calls.hpp"

namespace {

using namespace dimesh;

struct rows : axis<> {};
struct pod : mesh<rows> {};
struct length : dim<> {};
using numbers = tensor<double, layout<pod, split<uneven<length>, rows>>, length>;

/// The elements of a step: of no two the same.
numbers of_step(const grid<pod>& g, index_t step) {
  return generate<numbers>(
      g, [step](index_t i) { return static_cast<double>(1000 * step + i); }, length{300});
}

void load_and_save(const std::string& folder, bool started, int n, int rank) {
  const grid<pod> g;
  index_t step = 0;
  if (std::filesystem::exists(folder)) {
    auto x = of_step(g, -1), y = of_step(g, -1);
    const checkpoint_record r = load_checkpoint(folder, {}, part("x", x), part("y", y));
    step = r.step;
    const auto wanted = to_rank(of_step(g, step), 0);
    if (to_rank(x, 0) != wanted || to_rank(y, 0) != wanted || r.integers.at("again") != step)
      throw error("what step " + std::to_string(step) + " has saved is not what was loaded");
  }
  if (g.rank() == 0) std::printf("loaded %ld\n", static_cast<long>(step)), std::fflush(stdout);
  const checkpoint_record record{.step = ++step, .integers = {{"again", step}}};
  const save_options options{.largest_file = 1000, .keep_last = 2};
  auto x = of_step(g, step), y = of_step(g, step);
  if (g.rank() == rank) file_calls::kill_at(n);
  if (started)
    start_save_checkpoint(folder, record, options, part("x", x), part("y", y)).finish();
  else
    save_checkpoint(folder, record, options, part("x", x), part("y", y));
  file_calls::kill_at(0);
  if (g.rank() == 0) std::printf("saved %ld\n", static_cast<long>(step)), std::fflush(stdout);
}

/// One step of a run that knows no end.
void run_on(const std::string& folder, int n, int rank) {
  const grid<pod> g;
  std::vector<numbers> x(3, of_step(g, -1));
  index_t again = 0;
  training_run run(g, {.steps = 1'000'000}, {.save = folder});
  run.keep("x", x);
  run.keep("again", again);
  run.loop.step = [&](index_t step) -> metrics {
    bool same = again == step && run.losses().size() == static_cast<std::size_t>(step);
    for (numbers& one : x) {
      same = same && (step == 0 || to_rank(one, 0) == to_rank(of_step(g, step), 0));
      one = of_step(g, step + 1);
    }
    if (!same)
      throw error("what step " + std::to_string(step) + " has saved is not what was loaded");
    if (g.rank() == 0) std::printf("loaded %ld\n", static_cast<long>(step)), std::fflush(stdout);
    again = step + 1;
    if (g.rank() == rank) file_calls::kill_at(n);
    return {{"loss", 1}};
  };
  run.loop.should_end = [] { return true; };
  run.go();
  file_calls::kill_at(0);
  if (g.rank() == 0) std::printf("saved %ld\n", static_cast<long>(again)), std::fflush(stdout);
}

void race(const std::string& folder, index_t first, index_t by) {
  const grid<pod> g;
  const save_options options{.largest_file = 1000, .keep_last = 2};
  for (index_t step = first; step < first + 20 * by; step += by) {
    const checkpoint_record record{.step = step, .integers = {{"again", step}}};
    const auto x = of_step(g, step), y = of_step(g, step);
    std::string said = "saved " + std::to_string(step);
    try {
      if (step / by % 2 == 0)
        start_save_checkpoint(folder, record, options, part("x", x), part("y", y)).finish();
      else
        save_checkpoint(folder, record, options, part("x", x), part("y", y));
    } catch (const error& e) {
      said = "refused " + std::to_string(step) + ": " + e.what();
    }
    if (g.rank() == 0) std::printf("%s\n", said.c_str()), std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  return dimesh::run(argc, argv, [argv] {
    if (argv[2] == std::string("race"))
      return race(argv[1], std::atol(argv[3]), std::atol(argv[4]));
    if (argv[2] == std::string("run"))
      return run_on(argv[1], std::atoi(argv[3]), std::atoi(argv[4]));
    load_and_save(argv[1], argv[2] == std::string("started"), std::atoi(argv[3]),
                  std::atoi(argv[4]));
  });
}
