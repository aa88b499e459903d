// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do bytes get to a disk, and back? By calls of POSIX whose errors name the file. No MPI, and
// no types of tensors are here.
//
//   descriptor out("x", O_WRONLY | O_CREAT);  out.write(text, 3, 0);  out.sync();
//   mark_of_part("x", 4, 1)          -> the checksum of the second quarter
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

/// What a folder says of its files is on the disk. One that may be written to, but not read, has no
/// descriptor that can be synced: it is left to the system.
inline void sync_folder(const fs::path& folder) {
  if (::faccessat(AT_FDCWD, folder.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES) return;
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

}  // namespace dimesh::detail::checkpoint
