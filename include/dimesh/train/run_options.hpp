// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of a training run, and what did runs before it leave?
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dimesh/detail/mpi.hpp"
#include "dimesh/detail/watchdog.hpp"
#include "dimesh/io/agree.hpp"
#include "dimesh/io/checkpoint/files.hpp"
#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/train/kept_state.hpp"
#include "dimesh/train/progress.hpp"

namespace dimesh {

struct run_options {
  std::string name{};  ///< on the line that tells how far it is; empty: no line
  std::string save{};  ///< folder for checkpoints; empty: none, and signals do what they would
  /// Folder of checkpoints, to go on from the latest, or one of them; empty: from the start. Where
  /// `save` has any, a run goes on from there, whatever this is: it is a job that is started again.
  std::string resume{};
  std::string log{};  ///< folder for its figures (train/summaries.hpp) and, when it ends, for a
      ///< report.html of their plots; empty: none
  index_t keep_last = 2;  ///< older checkpoints are removed; 0: none is
  index_t stop_after = 0;  ///< steps in all, then it ends as if a signal had told it to; 0: never
  std::vector<step_rate> rates{};  ///< what the line tells beside the loss
  bool check_finite = true;  ///< a save is an error, and the checkpoint before it stays the last,
  ///< where a kept tensor has an element that is infinite or no number; false: that may be meant
  bool terminal = on_terminal();  ///< a person reads along
  double stalled_after = 600;  ///< seconds after which a rank that comes to no new call and no new
  ///< step says on stderr where it is; 0: never, and nobody says so
};

namespace detail {

/// f() on the first rank: folders may look otherwise to others. Collective; throws on all ranks.
template <class F> bool first_rank_finds(MPI_Comm everyone, const F& f) {
  int rank = 0, there = 0;
  MPI_Comm_rank(everyone, &rank);
  together(everyone, [&] { there = rank == 0 && f() ? 1 : 0; });
  const waiting here("training_run");
  check(MPI_Bcast(&there, 1, MPI_INT, 0, everyone), "training_run");
  return there != 0;
}
/// The folder of checkpoints from which such a run goes on, as the first rank sees it; empty: it
/// begins. Collective.
inline std::string folder_before(const run_options& how, MPI_Comm everyone) {
  const bool was_here = !how.save.empty() && first_rank_finds(everyone, [&how] {
    std::error_code none;
    return std::filesystem::exists(how.save + "/latest", none) ||
           !checkpoint::steps_in(how.save).empty();
  });
  return was_here ? how.save : how.resume;
}
/// The folder of checkpoints that this one, or one of it, is.
inline std::string root_of_checkpoints(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code none;
  fs::path p = fs::weakly_canonical(fs::absolute(folder, none), none);
  if (!p.has_filename()) p = p.parent_path();  // "runs/7/"
  return (fs::exists(p / "manifest.json", none) ? p.parent_path() : p).string();
}

}  // namespace detail

/// The text that a run of these options is going to go on with, which the one before it kept by
/// that name; none where it begins. For what is made before there is a run: data in symbols of the
/// vocabulary, say. Collective over `everyone`; throws dimesh::error on all ranks where there is
/// nothing to go on from, or no such text.
inline std::optional<std::string> kept_text(const run_options& how, const std::string& name,
                                            MPI_Comm everyone = MPI_COMM_WORLD) {
  const std::string folder = detail::folder_before(how, everyone);
  if (folder.empty()) return {};
  std::string text;
  detail::together(everyone, [&] {
    text = detail::found_in(detail::checkpoint::load_record_at(folder).files, name, folder);
  });
  return text;
}

}  // namespace dimesh
