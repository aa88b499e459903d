// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A disk that gets full, or a folder that becomes read-only, at each of the calls by which a
// checkpoint is saved, by a training run as well, on any rank: every rank throws one text that
// names a file, no half checkpoint is found, and the one before loads.
// ranks: 1 2 4 6
// labels: local
// alone: calls of the C library stand here for those of the program
#include <doctest/doctest.h>

#include "dimesh/io/agree.hpp"
#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/io/checkpoint/start_save.hpp"
#include "dimesh/train/run.hpp"
#include "support/checkpoints.hpp"
#include "support/file_calls.hpp"

namespace {
using namespace test_support;
using dimesh::index_t;

/// Names that begin with a dot: what is on its way, or was.
int unfinished(const std::string& folder) {
  int n = 0;
  for (const auto& e : fs::directory_iterator(folder)) n += e.path().filename().string()[0] == '.';
  return n;
}

bool is_in(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// save(folder, step, s) saves the step before, too, where it saves two.
template <class Save> void check_refusals(int code, const Save& save, index_t saves = 1) {
  with_grid([&](const dimesh::grid<plane>& g) {
    for (int rank = 0; rank < std::min(2, g.ranks()); ++rank) {
      const scratch at("refused");
      save(at.path, 1, filled<state<rows>>(g, 1));
      index_t last = 1;
      int calls = 0;
      for (bool refused = true; refused;) {
        const auto s = filled<state<rows>>(g, double(last + saves));
        if (g.rank() == rank) file_calls::fail_from(++calls, code, at.path);
        const std::string text = said([&] { save(at.path, last + saves, s); });
        file_calls::succeed();
        MPI_Barrier(MPI_COMM_WORLD);
        refused = !text.empty();
        CHECK(dimesh::detail::text_from(MPI_COMM_WORLD, 0, text) == text);
        if (refused) CHECK(has(text, "checkpoint: '" + at.path));
        INFO(text);
        if (refused && code == ENOSPC)
          CHECK((is_in(text, std::strerror(code)) || is_in(text, "is the disk full?") ||
                 is_in(text, "cannot be brought to the disk")));
        // What was published before the disk was full is there, and whole.
        auto t = filled<state<whole>>(g, 0);
        const index_t loaded = dimesh::load_checkpoint(at.path, {}, part("m", t)).step;
        CHECK((refused ? last <= loaded : loaded == last + saves));
        CHECK(loaded <= last + saves);
        check_same(t, filled<state<whole>>(g, double(loaded)));
        CHECK(cp::steps_in(at.path).back() == loaded);
        if (code == ENOSPC) CHECK(unfinished(at.path) == 0);
        last = loaded;
        MPI_Barrier(MPI_COMM_WORLD);
      }
      MPI_Bcast(&calls, 1, MPI_INT, rank, MPI_COMM_WORLD);
      INFO("rank ", rank, ", ", calls, " calls");
      CHECK(calls > (rank == 0 ? 10 : 3));
    }
  });
}
const auto saved = [](const std::string& at, index_t step, const state<rows>& s) {
  dimesh::save_checkpoint(at, {.step = step}, {.largest_file = 300}, part("m", s));
};
const auto started = [](const std::string& at, index_t step, const state<rows>& s) {
  dimesh::start_save_checkpoint(at, {.step = step}, {.largest_file = 300}, part("m", s)).finish();
};

/// A run that goes on for two steps from where the last one ended, each of which is saved.
const auto run_to = [](const std::string& at, index_t step, const state<rows>& last) {
  auto s = filled<state<rows>>(last.w.grid(), 0);
  dimesh::training_run run(last.w.grid(), {.steps = step, .save_every = 1},
                           {.save = at, .keep_last = 0});
  run.keep("m", s);
  run.loop.step = [&](index_t n) -> dimesh::metrics {
    s = filled<state<rows>>(last.w.grid(), double(n + 1));
    return {{"loss", 1}};
  };
  (void)run.go();
};

TEST_CASE("training_run: a full disk") { check_refusals(ENOSPC, run_to, 2); }
TEST_CASE("save_checkpoint: a full disk") { check_refusals(ENOSPC, saved); }
TEST_CASE("start_save_checkpoint: a full disk") { check_refusals(ENOSPC, started); }
TEST_CASE("save_checkpoint: a folder that is read-only") { check_refusals(EROFS, saved); }
TEST_CASE("start_save_checkpoint: a folder that is read-only") { check_refusals(EROFS, started); }

}  // namespace
