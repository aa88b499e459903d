// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do models of text learn? A book, byte by byte: a row of a batch is a piece of it and, as
// targets, the bytes that follow. The last twentieth is never trained on. book.cpp is compiled once
// for all examples.
//
//   const auto b = text::read_book("");                       // the King James text
//   text::drawn_rows(b.training, 128, key, 16)                // any pieces, 16 a step
//   text::rows_in_order(b.held_out, 128, 16)                  // one after the other
#pragma once

#include <cstdint>
#include <dimesh/io/data/any_stage.hpp>
#include <dimesh/io/data/contents.hpp>
#include <dimesh/random.hpp>
#include <functional>
#include <span>
#include <string>
#include <tuple>

namespace text {

namespace dm = dimesh;
namespace in = dimesh::input;

/// "Ge1:1 In the beginning" -> "In the beginning": the lines of the `bible` tool without their
/// references. Throws dimesh::error at a line that has none.
std::string without_references(std::string_view verses);
/// A verse a line, from the `bible` tool of Debian's bible-kjv. Throws dimesh::error where the tool
/// or its data are missing.
in::contents king_james(const std::string& tool = "bible");

struct book {
  in::contents training, held_out;
};
/// A file, or the King James text, read by one rank of MPI_COMM_WORLD for all. Collective; errors,
/// too.
book read_book(const std::string& path);

/// Of a piece, all bytes but the last one, and all but the first.
using row = std::tuple<std::span<const std::uint8_t>, std::span<const std::uint8_t>>;
/// n rows a step that begin anywhere: a function of the key, the step (an epoch) and the row.
in::any_stage<row> drawn_rows(const in::contents& of, dm::index_t length, dm::random_key key,
                              dm::index_t n);
/// From front to back, each byte a target once; a short text again until a batch of n is full.
in::any_stage<row> rows_in_order(const in::contents& of, dm::index_t length, dm::index_t n);

/// Shows a text while a model writes it, byte by byte, on the first rank, where a person reads
/// along: of several rows the first one, whose prompt this is.
std::function<void(dm::index_t, std::int32_t)> as_it_comes(const std::string& prompt, int rank);
/// The same on this rank of MPI_COMM_WORLD.
std::function<void(dm::index_t, std::int32_t)> as_it_comes(const std::string& prompt);

}  // namespace text
