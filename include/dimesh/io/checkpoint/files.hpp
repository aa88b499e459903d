// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a checkpoint appear all at once, or not at all? It is written to a folder of another
// name; when all is on the disk, the folder is renamed, and then `latest` is made to name it. Each
// step is a function, so that what a program leaves that ends between two of them can be looked at.
//
//   commit c("run", 7);  c.make_folder();  ...write files into c.unfinished()...
//   c.write_manifest(text);  c.publish();  c.move_latest();        // run/step-7, run/latest
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/error.hpp"
#include "dimesh/io/checkpoint/abandoned.hpp"
#include "dimesh/layout/block.hpp"

namespace dimesh::detail::checkpoint {

namespace fs = std::filesystem;

[[noreturn]] inline void fail_at(const fs::path& path, const std::string& what, int code) {
  throw error("checkpoint: '" + path.string() + "': " + what +
              (code != 0 ? std::string(": ") + std::strerror(code) : std::string()));
}

/// A file descriptor that is closed in any case.
class descriptor {
 public:
  descriptor(const fs::path& path, int flags)
      : path_(path), at_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (at_ < 0) fail_at(path, "cannot be opened", errno);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (at_ >= 0) ::close(at_);
  }
  void write(const char* from, std::size_t bytes, index_t at) {
    while (bytes > 0) {
      const ssize_t n = ::pwrite(at_, from, bytes, at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail_at(path_, "cannot be written", n < 0 ? errno : ENOSPC);
      from += n, at += n, bytes -= static_cast<std::size_t>(n);
    }
  }
  /// Fewer bytes than asked for only at the end.
  std::size_t read(char* to, std::size_t bytes, index_t at) {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t n = ::pread(at_, to + done, bytes - done, at + static_cast<index_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_at(path_, "cannot be read", errno);
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }
  /// Has the disk find room for so many bytes now, where it can: a write that finds none may be one
  /// of many ranks', who wait for each other.
  void reserve(index_t bytes) {
    while (bytes > 0 && ::fallocate(at_, FALLOC_FL_KEEP_SIZE, 0, bytes) != 0) {
      if (errno == EINTR) continue;
      if (errno == EOPNOTSUPP || errno == ENOSYS) return;
      fail_at(path_, "cannot have " + std::to_string(bytes) + " bytes", errno);
    }
  }
  void sync() {
    if (::fsync(at_) != 0) fail_at(path_, "cannot be brought to the disk", errno);
  }

 private:
  fs::path path_;
  int at_;
};

/// What a folder says of its files is on the disk.
inline void sync_folder(const fs::path& folder) {
  descriptor(folder, O_RDONLY | O_DIRECTORY).sync();
}

/// A file of this text, with room for so many bytes in all.
inline void write_text(const fs::path& path, const std::string& text, index_t room = 0) {
  descriptor out(path, O_WRONLY | O_CREAT | O_TRUNC);
  out.reserve(room);
  out.write(text.data(), text.size(), 0);
  out.sync();
}
inline std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_at(path, "expected a readable file, found none", 0);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline index_t bytes_of(const fs::path& path) {
  std::error_code e;
  const auto bytes = fs::file_size(path, e);
  if (e) fail_at(path, "cannot be read", e.value());
  return static_cast<index_t>(bytes);
}

/// The checksum (CRC-32) of some bytes of a file.
inline std::uint32_t crc_of_range(const fs::path& path, index_t from, index_t bytes) {
  descriptor in(path, O_RDONLY);
  std::vector<char> piece(static_cast<std::size_t>(std::min<index_t>(bytes, 1 << 20)));
  uLong crc = 0;
  while (bytes > 0) {
    const auto want = std::min(piece.size(), static_cast<std::size_t>(bytes));
    if (in.read(piece.data(), want, from) < want) fail_at(path, "truncated while it was read", 0);
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), want);
    from += static_cast<index_t>(want), bytes -= static_cast<index_t>(want);
  }
  return static_cast<std::uint32_t>(crc);
}

/// What one of several ranks reads of a file: of so many bytes in all its share, and its checksum.
struct part_mark {
  index_t total = 0, bytes = 0;
  std::uint64_t crc = 0;
};
inline part_mark mark_of_part(const fs::path& path, int ranks, int rank) {
  const index_t total = bytes_of(path);
  cut c{{0, total}, total};
  c.into(ranks, rank);
  return {total, c.now.length, crc_of_range(path, c.now.offset, c.now.length)};
}
/// The checksum of what has `crc` and is followed by a part.
inline std::uint32_t joined_crc(std::uint32_t crc, const part_mark& part) {
  return static_cast<std::uint32_t>(
      crc32_combine(crc, static_cast<uLong>(part.crc), static_cast<z_off_t>(part.bytes)));
}
inline void require_written(const fs::path& path, index_t there, index_t wanted) {
  if (there != wanted)
    fail_at(path,
            "expected " + std::to_string(wanted) + " bytes to be written, found " +
                std::to_string(there) + "; is the disk full?",
            0);
}

inline std::string step_name(index_t step) { return "step-" + std::to_string(step); }

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
  /// From here on the checkpoint is there. Of two jobs that get here, one fails.
  void publish() {
    if (::rename(unfinished_.c_str(), finished().c_str()) != 0) {
      if (errno == ENOTEMPTY || errno == EEXIST) taken();
      fail_at(finished(), "cannot be given its name", errno);
    }
    made_ = false;
    sync_folder(root_);
  }
  void move_latest() {
    const fs::path next = root_ / (".latest." + mark_);
    try {
      write_text(next, name_ + "\n");
      if (::rename(next.c_str(), (root_ / "latest").c_str()) != 0)
        fail_at(root_ / "latest", "cannot be moved", errno);
    } catch (...) {
      std::error_code ignored;
      fs::remove(next, ignored);
      throw;
    }
    sync_folder(root_);
  }
  /// As if the process ended here: nothing is tidied up.
  void abandon() { made_ = false; }

 private:
  [[noreturn]] void taken() const {
    fail_at(finished(), "there is a checkpoint of this step already; does another job write here?",
            0);
  }
  fs::path root_;
  std::string name_, mark_;
  fs::path unfinished_;
  bool made_ = false;
};

/// Steps of which a folder has checkpoints, the oldest first.
inline std::vector<index_t> steps_in(const fs::path& root) {
  std::vector<index_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("step-", 0) != 0 || name.size() > 23 ||
        name.find_first_not_of("0123456789", 5) != std::string::npos || name.size() == 5)
      continue;
    if (fs::exists(entry.path() / "manifest.json", ignored))
      found.push_back(std::stoll(name.substr(5)));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The folder of a checkpoint: itself if it has a manifest, else what `latest` names, or a step
/// that was published after `latest` was written, by a program that ended before it could move it;
/// where nothing is named, the last step.
inline fs::path folder_of(const fs::path& root) {
  if (fs::exists(root / "manifest.json")) return root;
  if (fs::exists(root / "latest")) {
    std::string name = read_text(root / "latest");
    while (!name.empty() && (name.back() == '\n' || name.back() == '\r')) name.pop_back();
    if (name.rfind("step-", 0) != 0 || name.find_first_of("/\\") != std::string::npos)
      fail_at(root / "latest", "expected the name of a step in this folder, found '" + name + "'",
              0);
    if (!fs::exists(root / name / "manifest.json"))
      fail_at(root / "latest",
              "names '" + name + "', which is not there; load the folder of another step", 0);
    const auto moved = fs::last_write_time(root / "latest");
    for (const index_t step : steps_in(root))
      if (fs::last_write_time(root / step_name(step) / "manifest.json") > moved)
        name = step_name(step);
    return root / name;
  }
  const auto steps = steps_in(root);
  if (steps.empty()) fail_at(root, "expected a checkpoint, found none", 0);
  return root / step_name(steps.back());
}

/// Removes checkpoints but the last `most` and those of these steps, and never what `latest` names.
inline void remove_old(const fs::path& root, index_t most, const std::vector<index_t>& keep) {
  auto steps = steps_in(root);
  const auto last = static_cast<std::size_t>(most);
  if (steps.size() <= last) return;
  steps.resize(steps.size() - last);
  const fs::path latest = folder_of(root).filename();
  for (const index_t step : steps) {
    if (latest == step_name(step) || std::find(keep.begin(), keep.end(), step) != keep.end())
      continue;
    // It first gets a name that nobody reads: should this end halfway, the next commit removes it.
    const fs::path gone = root / ("." + step_name(step) + "." + own_mark());
    std::error_code e;
    fs::rename(root / step_name(step), gone, e);
    if (!e) fs::remove_all(gone, e);
    if (e) fail_at(root / step_name(step), "cannot be removed", e.value());
  }
}

}  // namespace dimesh::detail::checkpoint
