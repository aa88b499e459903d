// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the bytes of records come from? From files: mapped into memory where they are plain,
// inflated where they are gzip'ed. They stay as long as anybody holds them.
//
//   for (const auto& path : input::glob("texts/*.txt.gz"))  input::contents(path).bytes();
//
// Where a file is cut short or written to while it is mapped, require_unchanged() says so. Nothing
// can keep it from changing between that and the read: then a signal ends the program (SIGBUS).
// Needs zlib, where its header is found (link with -lz); without it gzip'ed files are refused.
#pragma once

#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/error.hpp"

#if __has_include(<zlib.h>)
#include "dimesh/io/gzip.hpp"
#endif

namespace dimesh::input {

/// The files whose names fit a pattern of the shell (* ? [a-z]), in the order of their bytes.
/// Throws dimesh::error where there are none.
inline std::vector<std::string> glob(const std::string& pattern) {
  ::glob_t found{};
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths;
  for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i)
    paths.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  if (paths.empty()) throw error("input::glob: no file fits '" + pattern + "'");
  std::sort(paths.begin(), paths.end());
  return paths;
}

namespace detail {

[[noreturn]] inline void refuse_file(const std::string& path, const std::string& what) {
  throw error("input: '" + path + "': " + what);
}

/// A name beside `path` for what is not finished: ranks that write one file do not meet there.
inline std::string unfinished_name(const std::string& path) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return path + "." + host + "." + std::to_string(::getpid()) + ".part";
}

/// Closes a file descriptor.
struct descriptor {
  int number = -1;
  explicit descriptor(int n) : number(n) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number >= 0) ::close(number);
  }
};

/// A file that is mapped; its size and time of change as they were. It is closed: a program may
/// read more files than it may have open.
class mapping {
 public:
  explicit mapping(const std::string& path) : path_(path) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number < 0)
      refuse_file(path_, std::string("cannot be opened: ") + std::strerror(errno));
    if (::fstat(file.number, &at_first_) != 0) refuse_status();
    std::error_code none;  // else a program that changes its folder asks of another file
    place_ = std::filesystem::absolute(path, none).string();
    if (S_ISDIR(at_first_.st_mode)) refuse_file(path_, "is a folder; name a file");
    if (!S_ISREG(at_first_.st_mode))
      refuse_file(path_, "is no regular file; copy what it gives to one");
    if (at_first_.st_size == 0) return;
    void* const to = ::mmap(nullptr, size(), PROT_READ, MAP_PRIVATE, file.number, 0);
    if (to == MAP_FAILED)
      refuse_file(path_, std::string("cannot be mapped: ") + std::strerror(errno));
    first_ = static_cast<const char*>(to);
  }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() {
    if (first_ != nullptr) ::munmap(const_cast<char*>(first_), size());
  }
  std::string_view bytes() const { return {first_, first_ == nullptr ? 0 : size()}; }

  /// Throws where the file is no longer what it was when it was opened. One that was removed, or
  /// has given its name to another one, is mapped as it was.
  void require_unchanged() const {
    struct stat s{};
    if (::stat(place_.c_str(), &s) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return;
      refuse_status();
    }
    if (s.st_ino != at_first_.st_ino || s.st_dev != at_first_.st_dev) return;
    if (s.st_size != at_first_.st_size)
      refuse_file(path_, "changed while it was read: it had " + std::to_string(at_first_.st_size) +
                             " bytes and has " + std::to_string(s.st_size));
    if (s.st_mtim.tv_sec != at_first_.st_mtim.tv_sec ||
        s.st_mtim.tv_nsec != at_first_.st_mtim.tv_nsec)
      refuse_file(path_, "changed while it was read: it was written to after it was opened");
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(at_first_.st_size); }
  [[noreturn]] void refuse_status() const {
    refuse_file(path_, std::string("cannot be asked for its size: ") + std::strerror(errno));
  }

  std::string path_, place_;
  struct stat at_first_{};
  const char* first_ = nullptr;
};

#if __has_include(<zlib.h>)
/// What gzip'ed bytes stand for.
inline std::string inflated(const std::string& path, std::string_view zipped) {
  using dimesh::detail::gzip_end;
  dimesh::detail::gzip_reader in(zipped);
  std::string out;
  std::vector<char> piece(1 << 16);
  while (in.end() == gzip_end::none)
    out.append(piece.data(),
               static_cast<std::size_t>(in.read(piece.data(), static_cast<index_t>(piece.size()))));
  if (in.end() == gzip_end::cut) refuse_file(path, "ends in the middle of its gzip data");
  if (in.end() != gzip_end::sound)
    refuse_file(
        path, "corrupt gzip data after " + std::to_string(in.at()) + " bytes (" +
                  (in.end() == gzip_end::corrupt ? in.reason()
                                                 : std::to_string(in.rest()) + " trailing bytes") +
                  ")");
  return out;
}
#endif

}  // namespace detail

/// The bytes of a file, for as long as a copy of this lives. Threads may share it.
class contents {
 public:
  /// Opens it. Throws dimesh::error where it is missing, no file, or damaged gzip data.
  explicit contents(const std::string& path) : path_(path) {
    auto file = std::make_shared<const detail::mapping>(path);
    const std::string_view raw = file->bytes();
    if (raw.size() < 2 || raw[0] != '\x1f' || raw[1] != '\x8b') {
      bytes_ = raw;
      file_ = std::move(file);
      return;
    }
#if __has_include(<zlib.h>)
    auto text = std::make_shared<const std::string>(detail::inflated(path, raw));
    file->require_unchanged();
    bytes_ = *text;
    text_ = std::move(text);
#else
    detail::refuse_file(path, "is gzip'ed, and this program was compiled without zlib");
#endif
  }
  /// Bytes that are there already; `name` stands for the file in messages.
  contents(std::string name, std::string bytes)
      : path_(std::move(name)), text_(std::make_shared<const std::string>(std::move(bytes))) {
    bytes_ = *text_;
  }

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return bytes_; }
  index_t size() const { return static_cast<index_t>(bytes_.size()); }
  /// Throws dimesh::error where the file is no longer the one that was opened.
  void require_unchanged() const {
    if (file_ != nullptr) file_->require_unchanged();
  }

 private:
  std::string path_;
  std::shared_ptr<const detail::mapping> file_;
  std::shared_ptr<const std::string> text_;
  std::string_view bytes_;
};

}  // namespace dimesh::input
