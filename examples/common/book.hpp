// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do models of text learn? A book, byte by byte: a row of a batch is a piece of it and, as
// targets, the bytes that follow. The last twentieth is never trained on.
//
//   const auto b = text::read_book(g, "");                    // the King James text
//   text::drawn_rows(b.training, 128, key, 16)                // any pieces, 16 a step
//   text::rows_in_order(b.held_out, 128, 16)                  // one after the other
#pragma once

#include <dimesh/io/data/agree.hpp>
#include <dimesh/io/data/any_stage.hpp>
#include <dimesh/io/data/command.hpp>
#include <dimesh/io/data/sample.hpp>
#include <dimesh/io/data/text.hpp>
#include <dimesh/io/data/transform.hpp>
#include <string>

namespace text {

namespace dm = dimesh;
namespace in = dimesh::input;

/// "Ge1:1 In the beginning" -> "In the beginning": the lines of the `bible` tool without their
/// references. Throws dimesh::error at a line that has none.
inline std::string without_references(std::string_view verses) {
  std::string bare;
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

/// A verse a line, from the `bible` tool of Debian's bible-kjv. Throws dimesh::error where the tool
/// or its data are missing.
inline in::contents king_james(const std::string& tool = "bible") {
  constexpr std::size_t least = 4'000'000;
  try {
    std::string verses = without_references(in::output_of(tool + " -f Gen1:1-Rev22:21").bytes());
    if (verses.size() < least)
      throw dm::error("text: '" + tool + "' printed only " + std::to_string(verses.size()) +
                      " bytes of verses, expected at least " + std::to_string(least));
    return {"King James", std::move(verses)};
  } catch (const dm::error& e) {
    throw dm::error(std::string(e.what()) +
                    "; install Debian's bible-kjv and bible-kjv-text, or name a file with --text");
  }
}

struct book {
  in::contents training, held_out;
};
/// A file, or the King James text, read by one rank for all. Collective; errors, too.
template <dm::Mesh M> book read_book(const dm::grid<M>& g, const std::string& path) {
  const auto all =
      in::from_first(g, [&] { return path.empty() ? king_james() : in::contents(path); });
  const std::size_t kept = all.bytes().size() / 20, rest = all.bytes().size() - kept;
  return {{all.path(), std::string(all.bytes().substr(0, rest))},
          {"the last twentieth of " + all.path(), std::string(all.bytes().substr(rest))}};
}

/// A row: all bytes of a piece but the last one, and all but the first.
using row = std::tuple<std::span<const std::uint8_t>, std::span<const std::uint8_t>>;
struct with_targets {
  row operator()(std::span<const std::uint8_t> piece) const {
    return {piece.first(piece.size() - 1), piece.subspan(1)};
  }
};
/// n rows a step that begin anywhere: a function of the key, the step (an epoch) and the row.
inline in::any_stage<row> drawn_rows(const in::contents& of, dm::index_t length, dm::random_key key,
                                     dm::index_t n) {
  return in::windows(of, length + 1, 1) | in::sample(key, n) | in::map(with_targets{});
}
/// From front to back, each byte a target once; a short text again until a batch of n is full.
inline in::any_stage<row> rows_in_order(const in::contents& of, dm::index_t length, dm::index_t n) {
  const in::windows all(of, length + 1, length);
  return all | in::repeat((n + all.size() - 1) / all.size()) | in::map(with_targets{});
}

}  // namespace text
