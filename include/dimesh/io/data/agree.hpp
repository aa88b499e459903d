// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if a file is damaged that one rank reads and others do not? Then all of them throw, the same
// text: that of the first record, whoever read it. Otherwise the others would wait for ever.
//
//   auto files = input::together(g, [] { return input::lines(input::glob("texts/*")); });
//                                              // opened by every rank: collective over the grid
//   auto text = input::from_first(g, [] { return input::contents("book.txt"); });
//                                              // read by the first one, for all
#pragma once

#include <exception>
#include <limits>
#include <optional>
#include <string>

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/collective/broadcast.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/io/agree.hpp"
#include "dimesh/io/data/contents.hpp"

namespace dimesh::input {

namespace detail {

/// The text of the exception that is being handled.
inline std::string current_text() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// `place`: where this rank failed, none: nowhere. All ranks of c throw what that one says which
/// failed at the smallest place. Collective.
inline void agree(const dimesh::detail::communicator& c, std::optional<index_t> place,
                  const std::string& text) {
  constexpr index_t nowhere = std::numeric_limits<index_t>::max();
  const index_t mine = place ? *place * c.size() + c.rank() : nowhere;
  index_t first = mine;
  const dimesh::detail::of_host numbers;
  collective::all_reduce(c, &mine, &first, 1, collective::reduction::min);
  if (first == nowhere) return;
  const auto root = static_cast<int>(first % c.size());
  throw error(dimesh::detail::text_from(c.handle(), root, text));
}

/// What the first rank of c has, on all. Collective.
inline contents told(const dimesh::detail::communicator& c, const contents* mine) {
  const dimesh::detail::of_host numbers;
  index_t size = mine != nullptr ? mine->size() : 0;
  collective::broadcast(c, &size, 1, 0);
  std::string bytes(mine != nullptr ? mine->bytes() : std::string_view());
  bytes.resize(static_cast<std::size_t>(size));
  collective::broadcast(c, bytes.data(), size, 0);
  return {dimesh::detail::text_from(c.handle(), 0, mine != nullptr ? mine->path() : ""),
          std::move(bytes)};
}

}  // namespace detail

/// f() on every rank of the grid; where it throws on one of them, all throw dimesh::error with the
/// text of the first such rank. Collective.
template <class M, class F> auto together(const grid<M>& g, const F& f) {
  std::optional<decltype(f())> made;
  std::string text;
  try {
    made.emplace(f());
  } catch (...) {
    text = detail::current_text();
  }
  detail::agree(g.everyone(), made ? std::optional<index_t>() : 0, text);
  return std::move(*made);
}

/// What f() gives on the grid's first rank, `contents`, on all of them: for files that the others
/// do not see, and for what only one should do. Where it throws there, all throw dimesh::error with
/// its text. Collective.
template <class M, class F> contents from_first(const grid<M>& g, const F& f) {
  const auto& c = g.everyone();
  std::optional<contents> read;
  std::string text;
  try {
    if (c.rank() == 0) read.emplace(f());
  } catch (...) {
    text = detail::current_text();
  }
  detail::agree(c, c.rank() > 0 || read ? std::optional<index_t>() : 0, text);
  return c.size() == 1 ? *read : detail::told(c, read ? &*read : nullptr);
}

}  // namespace dimesh::input
