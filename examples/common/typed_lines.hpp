// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program of several ranks answer what is typed? Rank 0 reads and writes; all of them
// work on the answer.
//
//   text::answer({"Old French", "-"}, rank, translate)      -> "Old French  ->  ancien francais"
#pragma once

#include <mpi.h>

#include <algorithm>
#include <dimesh/error.hpp>
#include <iostream>
#include <string>
#include <vector>

namespace text {

/// A line of standard input on all ranks of MPI_COMM_WORLD. False after the last one.
inline bool read_line(std::string& s, int rank) {
  int size = rank == 0 && std::getline(std::cin, s) ? static_cast<int>(s.size()) : -1;
  MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
  s.resize(static_cast<std::size_t>(std::max(size, 0)));
  MPI_Bcast(s.data(), static_cast<int>(s.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return size >= 0;
}

/// Prints f(text) for each text, and for each line of standard input where the text is "-". What f
/// refuses, on all ranks, is said, and the next one comes.
template <class F> void answer(const std::vector<std::string>& texts, int rank, const F& f) {
  const auto say = [&](const std::string& from) {
    std::string words;
    try {
      words = from + "  ->  " + f(from);
    } catch (const dimesh::error& e) {
      words = e.what();
    }
    if (rank == 0) std::cout << words << std::endl;
  };
  for (const std::string& from : texts) {
    std::string typed;
    if (from != "-") say(from);
    while (from == "-" && read_line(typed, rank)) say(typed);
  }
}

}  // namespace text
