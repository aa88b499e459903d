// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if only a program can read the data? It writes what it reads to its standard output.
//
//   input::lines({input::output_of("xz -dc texts.xz")})
//   input::from_first(g, [] { return input::output_of("xz -dc texts.xz"); })    // see agree.hpp
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "dimesh/io/data/contents.hpp"

namespace dimesh::input {

namespace detail {
struct file_closer {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
/// The first line of a text, or what fits a message of it.
inline std::string first_line(const std::string& text) {
  return text.substr(0, std::min<std::size_t>(text.find('\n'), 200));
}
}  // namespace detail

/// All bytes that a command of the shell writes to its standard output. Its standard input is
/// empty. Throws dimesh::error where it cannot be started or fails, with the first line of its
/// errors or, if there are none, of what it wrote.
inline contents output_of(const std::string& command) {
  const auto refuse = [&] {
    detail::refuse_file(command, std::string("cannot be started: ") + std::strerror(errno));
  };
  const std::unique_ptr<std::FILE, detail::file_closer> errors(std::tmpfile());
  if (errors == nullptr) refuse();
  const std::string to_errors = " 2>/dev/fd/" + std::to_string(fileno(errors.get()));
  std::FILE* const out = popen(("{ " + command + "\n}" + to_errors + " </dev/null").c_str(), "r");
  if (out == nullptr) refuse();
  std::string said;
  std::array<char, 1 << 16> piece;
  while (const auto n = std::fread(piece.data(), 1, piece.size(), out))
    said.append(piece.data(), n);
  const int status = pclose(out);
  if (status == -1) refuse();
  if (status == 0) return {command, std::move(said)};
  std::rewind(errors.get());
  const std::string complaint(piece.data(),
                              std::fread(piece.data(), 1, piece.size(), errors.get()));
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  detail::refuse_file(command, "failed (exit status " + std::to_string(code) + "): " +
                                   detail::first_line(complaint.empty() ? said : complaint));
}

}  // namespace dimesh::input
