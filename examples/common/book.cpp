// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "book.hpp"

#include <dimesh/io/data/agree.hpp>
#include <dimesh/io/data/command.hpp>
#include <dimesh/io/data/sample.hpp>
#include <dimesh/io/data/text.hpp>
#include <dimesh/io/data/transform.hpp>
#include <dimesh/train/progress.hpp>
#include <iostream>

namespace text {

namespace {

struct readers : dm::axis<> {};
struct everyone : dm::mesh<readers> {};

row with_targets(std::span<const std::uint8_t> piece) {
  return {piece.first(piece.size() - 1), piece.subspan(1)};
}

}  // namespace

std::string without_references(std::string_view verses) {
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

in::contents king_james(const std::string& tool) {
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

book read_book(const std::string& path) {
  const auto all = in::from_first(dm::grid<everyone>(),
                                  [&] { return path.empty() ? king_james() : in::contents(path); });
  const std::size_t kept = all.bytes().size() / 20, rest = all.bytes().size() - kept;
  return {{all.path(), std::string(all.bytes().substr(0, rest))},
          {"the last twentieth of " + all.path(), std::string(all.bytes().substr(rest))}};
}

in::any_stage<row> drawn_rows(const in::contents& of, dm::index_t length, dm::random_key key,
                              dm::index_t n) {
  return in::windows(of, length + 1, 1) | in::sample(key, n) | in::map(&with_targets);
}
in::any_stage<row> rows_in_order(const in::contents& of, dm::index_t length, dm::index_t n) {
  const in::windows all(of, length + 1, length);
  return all | in::repeat((n + all.size() - 1) / all.size()) | in::map(&with_targets);
}

std::function<void(dm::index_t, std::int32_t)> as_it_comes(const std::string& prompt, int rank) {
  if (rank != 0 || !dm::on_terminal()) return {};
  return [before = prompt](dm::index_t row, std::int32_t byte) mutable {
    if (row != 0) return;
    std::cout << std::exchange(before, "") << static_cast<char>(byte) << std::flush;
  };
}

std::function<void(dm::index_t, std::int32_t)> as_it_comes(const std::string& prompt) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return as_it_comes(prompt, rank);
}

}  // namespace text
