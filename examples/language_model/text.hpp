// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is learned? A text, byte by byte: each row of a batch is a piece of it, its targets the
// bytes that follow. Which pieces is a function of seed, step and row alone, so that every layout
// trains on the same ones; a rank fills in what its block holds.
//
//   const auto c = text::load("", 128);      // King James; collective, errors too
//   auto r = text::draw_rows(c.train(), batch::extent, 128, key, step);
//   r.fill_inputs(x);  r.fill_targets(y);    // x, y: tensor<std::int32_t, L, batch, length>
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dimesh/fill.hpp>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace text {

namespace dm = dimesh;
using dm::index_t;

constexpr index_t symbols = 256;  // the vocabulary: all bytes

// --- where a text comes from --------------------------------------------------------------------

/// All bytes of a file. Throws dimesh::error if it is missing, no file, or cannot be read.
inline std::string read_file(const std::string& path) {
  const auto fail = [&](const std::string& what) {
    throw dm::error("text: '" + path + "' " + what);
  };
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) fail("does not exist");
  if (std::filesystem::is_directory(status)) fail("is a directory; name a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(std::string("cannot be opened: ") + std::strerror(errno));
  std::string bytes;
  std::array<char, 1 << 16> piece;
  while (in.read(piece.data(), piece.size()), in.gcount() > 0)
    bytes.append(piece.data(), static_cast<std::size_t>(in.gcount()));
  if (in.bad()) fail("cannot be read to its end");
  return bytes;
}

/// "Ge1:1 In the beginning" -> "In the beginning": the lines of the `bible` tool without their
/// references. Throws dimesh::error at a line that has none.
inline std::string without_references(std::string_view verses) {
  std::string bare;
  bare.reserve(verses.size());
  while (!verses.empty()) {
    const std::string_view line = verses.substr(0, verses.find('\n'));
    const auto space = line.find(' '), colon = line.find(':');
    if (space == line.npos || colon + 1 >= space || line[space - 1] < '0' || line[space - 1] > '9')
      throw dm::error("text: not a verse with its reference: '" + std::string(line.substr(0, 60)) +
                      "'");
    bare.append(line.substr(space + 1)).push_back('\n');
    verses.remove_prefix(std::min(verses.size(), line.size() + 1));
  }
  return bare;
}

/// The King James text, a verse a line, from the `bible` tool of Debian's bible-kjv. Throws
/// dimesh::error where the tool or its data are missing.
inline std::string king_james(const std::string& tool = "bible") {
  constexpr std::size_t least = 4'000'000;
  const std::string
      command = tool + " -f Gen1:1-Rev22:21",
      hint = "; install Debian's bible-kjv and bible-kjv-text, or name a file with --text";
  std::FILE* out = popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (!out) throw dm::error("text: '" + command + "' cannot be started" + hint);
  std::string said;
  std::array<char, 1 << 16> piece;
  while (const auto n = std::fread(piece.data(), 1, piece.size(), out))
    said.append(piece.data(), n);
  const int status = pclose(out);
  if (status != 0)
    throw dm::error(
        "text: '" + command + "' failed (exit status " +
        std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)) +
        "): " + said.substr(0, std::min<std::size_t>(said.find('\n'), 200)) + hint);
  std::string verses = without_references(said);
  if (verses.size() < least)
    throw dm::error("text: '" + command + "' printed only " + std::to_string(verses.size()) +
                    " bytes of verses, expected at least " + std::to_string(least) + hint);
  return verses;
}

// --- the corpus ---------------------------------------------------------------------------------

using bytes_view = std::span<const std::uint8_t>;

/// A text cut in two: the last twentieth is never trained on.
class corpus {
 public:
  /// Throws dimesh::error unless both parts hold a row of `length` bytes and its targets.
  corpus(std::string source, std::vector<std::uint8_t> bytes, index_t length)
      : source_(std::move(source)), bytes_(std::move(bytes)) {
    const auto shorter = static_cast<index_t>(validation().size());
    if (shorter < length + 1)
      throw dm::error("text: '" + source_ + "' has " + std::to_string(bytes_.size()) +
                      " bytes; a twentieth is kept for validation and must hold a row of " +
                      std::to_string(length) + " and one byte more, so at least " +
                      std::to_string(20 * (length + 1)) + " are needed");
  }
  const std::string& source() const { return source_; }
  bytes_view train() const { return bytes_view(bytes_).first(bytes_.size() - kept()); }
  bytes_view validation() const { return bytes_view(bytes_).last(kept()); }

 private:
  std::size_t kept() const { return bytes_.size() / 20; }
  std::string source_;
  std::vector<std::uint8_t> bytes_;
};

/// Rank 0 reads, the others get what it read: the text and, where it fails, the error. Collective
/// over `comm`. An empty `path` stands for the King James text.
inline corpus load(const std::string& path, index_t length, MPI_Comm comm = MPI_COMM_WORLD) {
  std::string got;
  std::array<std::int64_t, 2> head{};  // is it an error, how many bytes
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    try {
      got = path.empty() ? king_james() : read_file(path);
    } catch (const dm::error& e) {
      head[0] = 1, got = e.what();
    }
    head[1] = static_cast<std::int64_t>(got.size());
  }
  MPI_Bcast(head.data(), 2, MPI_INT64_T, 0, comm);
  got.resize(static_cast<std::size_t>(head[1]));
  constexpr std::int64_t most = 1 << 30;  // MPI counts in int
  for (std::int64_t at = 0; at < head[1]; at += most)
    MPI_Bcast(got.data() + at, static_cast<int>(std::min(most, head[1] - at)), MPI_BYTE, 0, comm);
  if (head[0] != 0) throw dm::error(got);
  return {path.empty() ? "King James" : path, {got.begin(), got.end()}, length};
}

// --- batches ------------------------------------------------------------------------------------

/// Byte t of row b. A named function: one type, and so one kernel, for tensors of all layouts.
struct byte_of_row {
  const std::uint8_t* first;
  const index_t* start;
  std::uint8_t operator()(index_t b, index_t t) const { return first[start[b] + t]; }
};

/// The rows of one batch: pieces of `length` bytes that begin at `starts`.
struct rows {
  bytes_view from;
  index_t length;
  std::vector<index_t> starts;

  /// x[b, t]: byte t of row b. X: whole numbers, dims batch and length in this order.
  template <dm::Tensor X> void fill_inputs(X& x) const { fill(x, 0); }
  /// y[b, t]: the byte after x[b, t].
  template <dm::Tensor X> void fill_targets(X& y) const { fill(y, 1); }

 private:
  template <class X> void fill(X& x, index_t ahead) const {
    static_assert(X::rank == 2 && std::is_integral_v<dm::value_of<X>>,
                  "rows: a batch of text is a tensor of whole numbers, [batch, length]");
    const auto extents = x.shape().extents();
    if (extents[0] != static_cast<index_t>(starts.size()) || extents[1] != length)
      throw dm::error("rows: the tensor is " + std::to_string(extents[0]) + " x " +
                      std::to_string(extents[1]) + ", the batch " + std::to_string(starts.size()) +
                      " x " + std::to_string(length));
    dm::fill_by(x, byte_of_row{from.data() + ahead, starts.data()});
  }
};

/// Row b of step s begins anywhere in the text with equal chance: a function of key, s and b.
inline rows draw_rows(bytes_view from, index_t count, index_t length, dm::random_key key,
                      index_t step) {
  rows r{from, length, std::vector<index_t>(static_cast<std::size_t>(count))};
  const auto places = static_cast<double>(static_cast<index_t>(from.size()) - length);
  const dm::random_key of_step = key.fold(static_cast<std::uint64_t>(step));
  for (index_t b = 0; b < count; ++b)
    r.starts[static_cast<std::size_t>(b)] =
        static_cast<index_t>(places * dm::uniform_at<double>(of_step, b));
  return r;
}

/// How many full batches a text has when read from front to back.
inline index_t batches(bytes_view from, index_t count, index_t length) {
  return (static_cast<index_t>(from.size()) - 1) / length / count;
}

/// Batch n of these, for validation: row after row, and from the front again after the last one.
/// The text holds a row at least, as those of a corpus do.
inline rows read_rows(bytes_view from, index_t count, index_t length, index_t n) {
  rows r{from, length, std::vector<index_t>(static_cast<std::size_t>(count))};
  const index_t whole = batches(from, 1, length);
  for (index_t b = 0; b < count; ++b)
    r.starts[static_cast<std::size_t>(b)] = (n * count + b) % whole * length;
  return r;
}

}  // namespace text
