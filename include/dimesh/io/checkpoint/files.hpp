// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a checkpoint appear all at once, or not at all? It is written to a folder of another
// name; when all is on the disk, `latest` says what comes, the folder is renamed, and `latest`
// names it alone. Each step is a function, so that what a program leaves that ends between two of
// them can be looked at.
//
//   commit c("run", 7);  c.make_folder();  ...write files into c.unfinished()...
//   c.write_manifest(text);  c.publish();  c.move_latest();        // run/step-7, run/latest
#pragma once

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "dimesh/io/agree.hpp"
#include "dimesh/io/checkpoint/abandoned.hpp"
#include "dimesh/io/checkpoint/descriptor.hpp"
#include "dimesh/io/checkpoint/record.hpp"

namespace dimesh::detail::checkpoint {

inline std::string step_name(index_t step) { return "step-" + std::to_string(step); }

/// Steps of which a folder has checkpoints, the oldest first.
inline std::vector<index_t> steps_in(const fs::path& root) {
  std::vector<index_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("step-", 0) != 0 || name.size() > 23 ||
        name.find_first_not_of("0123456789", 5) != std::string::npos || name.size() == 5)
      continue;
    const index_t step = std::stoll(name.substr(5));
    if (name == step_name(step) && fs::exists(entry.path() / "manifest.json", ignored))
      found.push_back(step);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Is there a checkpoint of this name?
inline bool is_checkpoint(const fs::path& root, const std::string& name) {
  return fs::exists(root / name / "manifest.json");
}

/// The step that `latest` names. While one is being published it has two lines, that of before and
/// the one to come: where that is there, the program ended before it could name it alone. (Times of
/// files do not say it: a copy of the folder has others.)
inline std::string named_latest(const fs::path& root) {
  std::istringstream lines(read_text(root / "latest"));
  std::string name, next;
  const auto read = [&lines](std::string& line) {
    std::getline(lines, line);
    if (line.ends_with('\r')) line.pop_back();
  };
  read(name), read(next);
  return next.starts_with("step-") && is_plain_name(next) && is_checkpoint(root, next) ? next
                                                                                       : name;
}

/// The folder of a checkpoint: itself if it has a manifest, else what `latest` names; where nothing
/// is named, the last step.
inline fs::path folder_of(const fs::path& root) {
  if (fs::exists(root / "manifest.json")) return root;
  if (fs::exists(root / "latest")) {
    const std::string name = named_latest(root);
    if (name.rfind("step-", 0) != 0 || name.find_first_of("/\\") != std::string::npos)
      fail_at(root / "latest", "expected the name of a step in this folder, found '" + name + "'",
              0);
    if (!is_checkpoint(root, name))
      fail_at(root / "latest",
              "names '" + name + "', which is not there; load the folder of another step", 0);
    return root / name;
  }
  const auto steps = steps_in(root);
  if (steps.empty()) fail_at(root, "expected a checkpoint, found none", 0);
  return root / step_name(steps.back());
}

/// The same on all ranks, as the first one finds it: another job may publish a step meanwhile.
/// Collective; throws on all ranks or on none.
inline std::string folder_for_all(MPI_Comm comm, const std::string& root) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string place;
  together(comm, [&] {
    if (rank == 0) place = folder_of(root).string();
  });
  return text_from(comm, 0, place);
}

/// One checkpoint on its way to the disk, as rank 0 sees it. A step each; what an earlier one left
/// is never a checkpoint. A commit that ends before `publish` removes what it has written; one that
/// is killed leaves a folder whose name begins with a dot, which nobody reads, and which the next
/// one on this host removes.
class commit {
 public:
  commit(fs::path root, index_t step)
      : root_(std::move(root)),
        name_(step_name(step)),
        mark_(name_ + "." + own_mark()),
        unfinished_(root_ / ("." + mark_)) {}
  commit(const commit&) = delete;
  commit& operator=(const commit&) = delete;
  ~commit() {
    std::error_code ignored;
    if (made_) fs::remove_all(unfinished_, ignored);
  }

  fs::path unfinished() const { return unfinished_; }
  fs::path finished() const { return root_ / name_; }

  void make_folder() {
    std::error_code e;
    fs::create_directories(root_, e);
    if (e) fail_at(root_, "cannot be made", e.value());
    sync_folder(fs::absolute(root_).parent_path());
    if (fs::exists(finished())) taken();
    remove_abandoned(root_);
    fs::remove_all(unfinished_, e);
    if (!fs::create_directory(unfinished_, e)) fail_at(unfinished_, "cannot be made", e.value());
    made_ = true;
  }
  void write_manifest(const std::string& text) {
    write_text(unfinished_ / "manifest.json", text);
    sync_folder(unfinished_);
  }
  /// From here on the checkpoint is there, and found by whoever looks for the latest. Of two jobs
  /// that get here, one fails.
  void publish() {
    if (fs::exists(finished())) taken();
    const bool any_before = fs::exists(root_ / "latest");
    if (any_before) write_latest(named_latest(root_) + "\n" + name_), mend_latest();
    if (::rename(unfinished_.c_str(), finished().c_str()) != 0) {
      const int why = errno;
      if (any_before) write_latest(named_latest(root_));  // nothing is to come
      if (why == ENOTEMPTY || why == EEXIST) taken();
      fail_at(finished(), "cannot be given its name", why);
    }
    made_ = false;
    sync_folder(root_);
  }
  void move_latest() {
    write_latest(name_);
    mend_latest();
  }
  /// Of two jobs that save here, one may remove, as an old one, the step that the other has just
  /// published and is about to name. Whoever comes last, by naming or by removing, sees that, and
  /// names the last step instead.
  void mend_latest() {
    while (!is_checkpoint(root_, named_latest(root_))) {
      const auto steps = steps_in(root_);
      if (steps.empty()) return;
      write_latest(step_name(steps.back()));
    }
  }
  /// As if the process ended here: nothing is tidied up.
  void abandon() { made_ = false; }

 private:
  void write_latest(const std::string& lines) {
    const fs::path next = root_ / (".latest." + mark_);
    try {
      write_text(next, lines + "\n");
      if (::rename(next.c_str(), (root_ / "latest").c_str()) != 0)
        fail_at(root_ / "latest", "cannot be moved", errno);
    } catch (...) {
      std::error_code ignored;
      fs::remove(next, ignored);
      throw;
    }
    sync_folder(root_);
  }
  [[noreturn]] void taken() const {
    fail_at(finished(), "there is a checkpoint of this step already; does another job write here?",
            0);
  }
  fs::path root_;
  std::string name_, mark_;
  fs::path unfinished_;
  bool made_ = false;
};

/// Removes checkpoints but the last `most` and those of these steps, and never what `latest` names.
inline void remove_old(const fs::path& root, index_t most, const std::vector<index_t>& keep) {
  auto steps = steps_in(root);
  const auto last = static_cast<std::size_t>(most);
  if (steps.size() <= last) return;
  steps.resize(steps.size() - last);
  const std::string latest = named_latest(root);
  for (const index_t step : steps) {
    if (latest == step_name(step) || std::find(keep.begin(), keep.end(), step) != keep.end())
      continue;
    // It first gets a name that nobody reads: should this end halfway, the next commit removes it.
    const fs::path gone = root / ("." + step_name(step) + "." + own_mark());
    std::error_code e;
    fs::rename(root / step_name(step), gone, e);
    if (e == std::errc::no_such_file_or_directory) continue;  // another job has removed it
    if (!e) fs::remove_all(gone, e);
    if (e) fail_at(root / step_name(step), "cannot be removed", e.value());
  }
}

}  // namespace dimesh::detail::checkpoint
