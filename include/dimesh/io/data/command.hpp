// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if only a program can read the data? It writes what it reads to its standard output.
//
//   input::lines({input::output_of("xz -dc texts.xz")})
//   input::from_first(g, [] { return input::output_of("xz -dc texts.xz"); })    // see agree.hpp
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "dimesh/io/data/contents.hpp"

namespace dimesh::input {

/// All bytes that a command of the shell writes. Its standard input is empty. Throws dimesh::error
/// where it cannot be started or fails, with the first line that it said, errors among it.
inline contents output_of(const std::string& command) {
  std::FILE* const out = popen(("{ " + command + "\n} 2>&1 </dev/null").c_str(), "r");
  if (out == nullptr)
    detail::refuse_file(command, std::string("cannot be started: ") + std::strerror(errno));
  std::string said;
  std::array<char, 1 << 16> piece;
  while (const auto n = std::fread(piece.data(), 1, piece.size(), out))
    said.append(piece.data(), n);
  const int status = pclose(out);
  if (status != 0)
    detail::refuse_file(
        command,
        "failed (exit status " +
            std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)) +
            "): " + said.substr(0, std::min<std::size_t>(said.find('\n'), 200)));
  return {command, std::move(said)};
}

}  // namespace dimesh::input
