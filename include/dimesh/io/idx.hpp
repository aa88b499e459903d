// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an IDX file (the format of the MNIST family, plain or gzip'ed) become bytes and extents?
// Every defect is a dimesh::error that names the file, what was expected and what was found.
//
//   read_idx("train-images-idx3-ubyte.gz")          -> idx_array, extents() == {60000, 28, 28}
//   read_idx("train-labels-idx1-ubyte.gz").require({dynamic}).bytes()[7]   -> the eighth label
//
// Needs zlib (link with -lz); the umbrella header does not include it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/error.hpp"
#include "dimesh/io/gzip.hpp"

namespace dimesh {

/// An array of unsigned bytes, row-major: the last extent runs fastest.
class idx_array {
 public:
  idx_array(std::string path, std::vector<index_t> extents, std::vector<std::uint8_t> bytes)
      : path_(std::move(path)), extents_(std::move(extents)), bytes_(std::move(bytes)) {}

  const std::string& path() const { return path_; }
  std::span<const index_t> extents() const { return extents_; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  /// Throws unless the extents are the wanted ones; `dynamic` accepts any extent in its place.
  const idx_array& require(std::initializer_list<index_t> wanted) const& {
    check(wanted);
    return *this;
  }
  idx_array&& require(std::initializer_list<index_t> wanted) && {
    check(wanted);
    return std::move(*this);
  }

 private:
  void check(std::initializer_list<index_t> wanted) const;

  std::string path_;
  std::vector<index_t> extents_;
  std::vector<std::uint8_t> bytes_;
};

namespace detail::idx {

inline std::string print(std::span<const index_t> extents) {
  std::string text;
  for (const index_t e : extents)
    text += (text.empty() ? "" : " x ") + (e == dynamic ? std::string("any") : std::to_string(e));
  return text.empty() ? "no extents" : text;
}

[[noreturn]] inline void fail(const std::string& path, const std::string& what) {
  throw error("read_idx: '" + path + "': " + what);
}

inline std::vector<std::uint8_t> slurp(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) fail(path, "expected a file, found nothing of that name");
  if (std::filesystem::is_directory(status)) fail(path, "expected a file, found a directory");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "expected a readable file, found one that cannot be opened");
  std::vector<std::uint8_t> bytes;
  if (const auto size = std::filesystem::file_size(path, ignored); !ignored) bytes.reserve(size);
  std::array<char, 1 << 16> piece;
  while (in.read(piece.data(), piece.size()), in.gcount() > 0)
    bytes.insert(bytes.end(), piece.data(), piece.data() + in.gcount());
  if (in.bad()) fail(path, "expected to read to its end, found a read error");
  return bytes;
}

/// Hands out the file's contents front to back, inflated where they are gzip'ed.
class source {
 public:
  explicit source(const std::string& path) : path_(path), raw_(slurp(path)) {
    if (raw_.size() >= 2 && raw_[0] == 0x1f && raw_[1] == 0x8b)
      zipped_.emplace(std::string_view(reinterpret_cast<const char*>(raw_.data()), raw_.size()));
  }

  /// No content can be longer than this: deflate shrinks at most 1032-fold. It keeps a lying
  /// header from allocating the machine's whole memory.
  index_t most() const { return static_cast<index_t>(raw_.size()) * (zipped_ ? 1032 : 1); }

  /// Reads up to n bytes; fewer only at the end of the contents.
  index_t read(std::uint8_t* to, index_t n) {
    if (zipped_) return inflate_up_to(to, n);
    const index_t m = std::min(n, static_cast<index_t>(raw_.size() - at_));
    std::copy_n(raw_.data() + at_, m, to);
    at_ += static_cast<std::size_t>(m);
    return m;
  }

  /// The next n bytes, or fewer where the contents end. Where they are all that is left of a plain
  /// file they stay in its memory: a second array would cost as much as reading the file.
  std::vector<std::uint8_t> take(index_t n) {
    if (!zipped_ && static_cast<index_t>(raw_.size() - at_) == n) {
      raw_.erase(raw_.begin(), raw_.begin() + static_cast<std::ptrdiff_t>(at_));
      at_ = 0;
      return std::exchange(raw_, {});
    }
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n));
    bytes.resize(static_cast<std::size_t>(read(bytes.data(), n)));
    return bytes;
  }

  /// False when gzip data lack their end, where the checksum stands.
  bool closed() const { return !zipped_ || zipped_->end() == gzip_end::sound; }

 private:
  index_t inflate_up_to(std::uint8_t* to, index_t n) {
    const index_t done = zipped_->read(to, n);
    if (zipped_->end() == gzip_end::trailing)
      fail(path_, "expected the end of the gzip data, found " + std::to_string(zipped_->rest()) +
                      " trailing bytes");
    if (zipped_->end() == gzip_end::corrupt)
      fail(path_, "expected gzip data, found corrupt bytes (" + zipped_->reason() + ")");
    return done;
  }

  std::string path_;
  std::vector<std::uint8_t> raw_;
  std::size_t at_ = 0;
  std::optional<gzip_reader> zipped_;  // reads raw_
};

inline const char* element_name(int code) {
  switch (code) {
    case 0x09:
      return "signed bytes";
    case 0x0b:
      return "16-bit integers";
    case 0x0c:
      return "32-bit integers";
    case 0x0d:
      return "32-bit floats";
    case 0x0e:
      return "64-bit floats";
    default:
      return "no type of the format";
  }
}

/// The four magic bytes: two zeros, the element type, the number of extents. Returns the last.
inline int read_magic(source& in, const std::string& path) {
  std::array<std::uint8_t, 4> m{};
  const index_t got = in.read(m.data(), 4);
  if (got < 4) fail(path, "truncated: expected a header of 4 bytes, found " + std::to_string(got));
  char text[32];
  std::snprintf(text, sizeof text, "%02x %02x %02x %02x", m[0], m[1], m[2], m[3]);
  if (m[0] != 0 || m[1] != 0)
    fail(path, std::string("wrong magic number: expected 00 00 08 NN, found ") + text);
  if (m[2] != 0x08) {
    std::snprintf(text, sizeof text, "0x%02x", m[2]);
    fail(path, std::string("unsupported element type: expected 0x08 (unsigned bytes), found ") +
                   text + " (" + element_name(m[2]) + ")");
  }
  return m[3];
}

}  // namespace detail::idx

inline void idx_array::check(std::initializer_list<index_t> wanted) const {
  const auto fits = [](index_t w, index_t e) { return w == dynamic || w == e; };
  if (!std::equal(wanted.begin(), wanted.end(), extents_.begin(), extents_.end(), fits))
    detail::idx::fail(path_, "wrong extents: expected " + detail::idx::print(wanted) + ", found " +
                                 detail::idx::print(extents_));
}

/// Reads a whole file; throws dimesh::error if anything about it is wrong.
inline idx_array read_idx(const std::string& path) {
  using namespace detail::idx;
  source in(path);
  std::vector<index_t> extents(static_cast<std::size_t>(read_magic(in, path)));
  index_t size = 1;
  bool overflow = false;
  for (index_t& e : extents) {
    std::array<std::uint8_t, 4> b{};
    if (in.read(b.data(), 4) < 4)
      fail(path, "truncated: expected " + std::to_string(extents.size()) +
                     " extents of 4 bytes, found the end of the file");
    e = index_t{b[0]} << 24 | index_t{b[1]} << 16 | index_t{b[2]} << 8 | index_t{b[3]};
    if (e != 0 && size > std::numeric_limits<index_t>::max() / e)
      overflow = true;
    else
      size *= e;
  }
  if (overflow && std::find(extents.begin(), extents.end(), 0) == extents.end())
    fail(path, "absurd extents: expected at most 2^63 - 1 elements, found " + print(extents));
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) size = 0;
  const std::string promise = std::to_string(size) + " bytes of data (" + print(extents) + ")";
  if (size > in.most())
    fail(path, "truncated: expected " + promise + ", found a file that can hold at most " +
                   std::to_string(in.most()));
  std::vector<std::uint8_t> bytes = in.take(size);
  const auto got = static_cast<index_t>(bytes.size());
  if (got < size) fail(path, "truncated: expected " + promise + ", found " + std::to_string(got));
  // One byte more than promised: at the end this also makes zlib verify its checksum.
  std::uint8_t extra = 0;
  if (in.read(&extra, 1) != 0)
    fail(path, "trailing bytes: expected " + promise + " and then the end, found more");
  if (!in.closed())
    fail(path, "truncated: expected the checksum that ends gzip data, found the end");
  return {path, std::move(extents), std::move(bytes)};
}

}  // namespace dimesh
