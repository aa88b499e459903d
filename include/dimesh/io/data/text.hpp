// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does text become records? As lines, or as windows of bytes. Both show the bytes where they
// lie: a record is good as long as a copy of its source lives.
//
//   input::lines(input::glob("texts/*.txt"))(3)         -> the fourth line, without its end
//   input::windows("book.txt", 129, 128)(3)             -> bytes 384 .. 512
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "dimesh/io/data/contents.hpp"
#include "dimesh/io/data/files.hpp"
#include "dimesh/io/data/stage.hpp"

namespace dimesh::input {

namespace detail {

/// Of several files with so many records each: where a record is.
class file_index {
 public:
  void add(index_t records) { ends_.push_back(size() + records); }
  index_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  struct place {
    std::size_t file;
    index_t record;
  };
  place of(const char* what, index_t i) const {
    if (i < 0 || i >= size()) refuse_place(what, i, size());
    const auto file =
        static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
    return {file, file == 0 ? i : i - ends_[file - 1]};
  }

 private:
  std::vector<index_t> ends_;
};

}  // namespace detail

/// The lines of files, one file after the other: std::string_view without "\n" or "\r\n". Text
/// after the last end of line is a line, too.
class lines : public detail::source<lines> {
 public:
  explicit lines(const std::string& path) : lines(std::vector<std::string>{path}) {}
  /// Reads all files once, to find the lines, by so many threads (0: one on each processor that
  /// this rank may use). Throws dimesh::error where one cannot be read: of several the first.
  explicit lines(const std::vector<std::string>& paths, int threads = 0)
      : lines(input::open_all<contents>(paths, threads), threads) {}
  explicit lines(std::vector<contents> files, int threads = 0) {
    auto all = std::make_shared<every>();
    all->starts.resize(files.size());
    detail::for_each_by(detail::threads_of("lines", threads), files.size(), [&](std::size_t k) {
      std::vector<index_t> starts{0};
      const std::string_view text = files[k].bytes();
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        at = end == std::string_view::npos ? text.size() : end + 1;
        starts.push_back(static_cast<index_t>(at));
      }
      files[k].require_unchanged();
      all->starts[k] = std::move(starts);
    });
    for (const auto& s : all->starts) all->index.add(static_cast<index_t>(s.size()) - 1);
    all->files = std::move(files);
    all_ = std::move(all);
  }
  index_t size() const { return all_->index.size(); }
  std::string_view operator()(index_t i) const {
    const auto at = all_->index.of("lines", i);
    const contents& c = all_->files[at.file];
    const auto* const start = all_->starts[at.file].data() + at.record;
    std::string_view line = c.bytes().substr(static_cast<std::size_t>(start[0]),
                                             static_cast<std::size_t>(start[1] - start[0]));
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  void require_unchanged() const {
    for (const contents& c : all_->files) c.require_unchanged();
  }
  std::string where(index_t i) const {
    const auto at = all_->index.of("lines", i);
    return "line " + std::to_string(at.record + 1) + " of '" + all_->files[at.file].path() + "'";
  }

 private:
  struct every {
    std::vector<contents> files;
    std::vector<std::vector<index_t>> starts;  // of lines, and the end
    detail::file_index index;
  };
  std::shared_ptr<const every> all_;
};

/// Runs of `length` bytes that begin every `step` bytes, as many as fit.
class windows : public detail::source<windows> {
 public:
  windows(const std::string& path, index_t length, index_t step)
      : windows(contents(path), length, step) {}
  /// Throws dimesh::error where the text does not hold one of them.
  windows(contents text, index_t length, index_t step)
      : text_(std::move(text)), length_(length), step_(step) {
    if (length < 1 || step < 1)
      throw error("input::windows: " + std::to_string(length) + " bytes every " +
                  std::to_string(step) + "; give 1 or more of both");
    if (text_.size() < length)
      detail::refuse_file(text_.path(), "has " + std::to_string(text_.size()) +
                                            " bytes, and a window wants " + std::to_string(length));
  }
  index_t size() const { return (text_.size() - length_) / step_ + 1; }
  std::span<const std::uint8_t> operator()(index_t i) const {
    if (i < 0 || i >= size()) detail::refuse_place("windows", i, size());
    return {reinterpret_cast<const std::uint8_t*>(text_.bytes().data()) + i * step_,
            static_cast<std::size_t>(length_)};
  }
  void require_unchanged() const { text_.require_unchanged(); }
  std::string where(index_t i) const {
    return "bytes from " + std::to_string(i * step_) + " on of '" + text_.path() + "'";
  }

 private:
  contents text_;
  index_t length_, step_;
};

}  // namespace dimesh::input
