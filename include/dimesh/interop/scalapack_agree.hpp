// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do all ranks mean the same block-cyclic array? Each looks at its own arguments, and one small
// all-reduce says what the others have, those without a part of the array too. What is wrong on one
// rank is thrown on all, in the same words.
//
//   const dealt_array a = agreed_array("to_scalapack_exchange", x, ranks, given, data != nullptr);
//     -> throws "to_scalapack_exchange: LLD_ is 3, and this process has 4 rows (rank 2)", say
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/collective/broadcast.hpp"
#include "dimesh/detail/doing.hpp"
#include "dimesh/interop/scalapack.hpp"
#include "dimesh/interop/scalapack_moves.hpp"

namespace dimesh::detail {

inline constexpr const char* descriptor_entry[] = {"DTYPE_", "CTXT_", "M_",    "N_",  "MB_",
                                                   "NB_",    "RSRC_", "CSRC_", "LLD_"};

/// A text in parts.
template <class... Part> std::string joined_words(const Part&... part) {
  std::string all;
  const auto add = [&all](const auto& p) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(p)>>)
      all += std::to_string(p);
    else
      all += p;
  };
  (add(part), ...);
  return all;
}

/// The ranks of a communicator over the same ranks as those of another one, in its numbers.
inline std::vector<int> ranks_among(MPI_Comm comm, MPI_Comm others) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "scalapack");
  std::vector<int> mine(static_cast<std::size_t>(size)), theirs(mine.size());
  for (std::size_t r = 0; r < mine.size(); ++r) mine[r] = static_cast<int>(r);
  MPI_Group a = MPI_GROUP_NULL, b = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm, &a), "scalapack");
  check(MPI_Comm_group(others, &b), "scalapack");
  check(MPI_Group_translate_ranks(a, size, mine.data(), b, theirs.data()), "scalapack");
  MPI_Group_free(&a);
  MPI_Group_free(&b);
  return theirs;
}

/// Notes in `process` which rank of the tensor's grid has which part of an array. Says what is
/// wrong with the process grid; nothing if nothing is.
inline std::string seat_processes(const communicator& everyone, const process_grid& g,
                                  std::vector<int>& process) {
  process.assign(static_cast<std::size_t>(everyone.size()), -1);
  if (g.comm == MPI_COMM_NULL) return "the process grid has no communicator";
  int how = MPI_UNEQUAL, size = 0;
  check(MPI_Comm_compare(g.comm, everyone.handle(), &how), "scalapack");
  check(MPI_Comm_size(g.comm, &size), "scalapack");
  if (how == MPI_UNEQUAL)
    return joined_words("the process grid's communicator, of ", size, " ranks, is not over the ",
                        everyone.size(), " ranks of the tensor's grid; name one that is");
  if (g.rows < 1 || g.columns < 1 ||
      static_cast<index_t>(g.at.size()) != index_t{g.rows} * g.columns)
    return joined_words("the process grid has ", g.rows, " x ", g.columns, " processes, and names ",
                        g.at.size(), " ranks");
  const std::vector<int> here = ranks_among(g.comm, everyone.handle());
  for (std::size_t p = 0; p < g.at.size(); ++p) {
    if (g.at[p] < 0 || g.at[p] >= size)
      return joined_words("the process grid names rank ", g.at[p], " of ", size);
    int& at = process[static_cast<std::size_t>(here[static_cast<std::size_t>(g.at[p])])];
    if (at >= 0) return joined_words("the process grid names rank ", g.at[p], " twice");
    at = static_cast<int>(p);
  }
  return {};
}

/// The array that a descriptor states, over a process grid that is one.
inline dealt_array array_of(const process_grid& g, const array_descriptor& d,
                            std::vector<int> process) {
  dealt_array a;
  a.dim[0] = {d[5], g.columns, d[7]};
  a.dim[1] = {d[4], g.rows, d[6]};
  a.extent[0] = d[3], a.extent[1] = d[2];
  a.lead = d[8];
  a.process = std::move(process);
  return a;
}

/// What is wrong with the descriptor of a rank that has a part of the array, which is to be the
/// transpose of x; nothing if nothing is. (Of an x that is yet to be made: as its type says.)
inline std::string descriptor_fault(const tensor_core& x, const process_grid& g,
                                    const array_descriptor& d, const std::vector<int>& process,
                                    index_t me, bool has_memory) {
  const auto entry = [&d](std::size_t i, const auto&... what) {
    return joined_words(descriptor_entry[i], " is ", d[i], what...);
  };
  if (d[0] != 1) return entry(0, ", of a dense matrix 1");
  for (std::size_t i = 2; i < 6; ++i)
    if (d[i] < (i < 4 ? 0 : 1)) return entry(i, i < 4 ? ", less than 0" : ", less than 1");
  for (std::size_t i = 6; i < 8; ++i) {
    const int n = i == 6 ? g.rows : g.columns;
    if (d[i] < 0 || d[i] >= n)
      return entry(i, ", and the process grid has ", n, i == 6 ? " rows" : " columns");
  }
  for (int k = 0; k < 2; ++k) {
    const std::size_t i = k == 0 ? 3 : 2;
    const index_t n = x.grid != nullptr ? x.extent(k) : x.facts->dim[k]->extent;
    if (n != dynamic && n != d[i])
      return entry(i, ", and dim '", x.facts->dim[k]->name, "' has ", n, " elements");
  }
  const dealt_array a = array_of(g, d, process);
  const index_t rows = a.dim[1].before(d[2], a.seat(me, 1));
  const index_t columns = a.dim[0].before(d[3], a.seat(me, 0));
  if (d[8] < std::max<index_t>(rows, 1)) return entry(8, ", and this process has ", rows, " rows");
  if (!has_memory && rows * columns > 0)
    return joined_words("the address of ", rows * columns, " elements is null");
  return {};
}

/// Throws, on all ranks, the fault of the first rank that has one.
[[noreturn]] inline void raise_from(const communicator& everyone, int first, std::string text) {
  auto length = static_cast<index_t>(text.size());
  collective::broadcast(everyone, &length, 1, first);
  text.resize(static_cast<std::size_t>(length));
  std::vector<std::int8_t> bytes(text.begin(), text.end());
  collective::broadcast(everyone, bytes.data(), length, first);
  throw error(std::string(bytes.begin(), bytes.end()));
}

/// What ranks compare: a process grid, and all of a descriptor that is the same on its ranks.
struct array_facts {
  static constexpr std::size_t grid = 3, count = grid + 6;
  static constexpr index_t none = std::numeric_limits<index_t>::min() / 2;
  index_t at[2 * count + 1];  // the greatest of each, then of their negatives; who has a fault

  array_facts() { std::fill_n(at, 2 * count + 1, none); }
  void set(std::size_t i, index_t value) { at[i] = value, at[count + i] = -value; }
  index_t least(std::size_t i) const { return -at[count + i]; }
};

/// The array that all ranks mean, over the grid of x. Collective: one small all-reduce over all of
/// them. Throws, on every rank, what is wrong on any.
inline dealt_array agreed_array(const std::string& call, const tensor_core& x,
                                const communicator& everyone, const process_grid& g,
                                const array_descriptor& given, bool has_memory) {
  const of_host numbers;
  const int me = everyone.rank();
  std::vector<int> process;
  std::string fault = seat_processes(everyone, g, process);
  const bool takes_part = fault.empty() && process[static_cast<std::size_t>(me)] >= 0;
  if (takes_part) fault = descriptor_fault(x, g, given, process, me, has_memory);
  array_facts facts;
  if (fault.empty()) {
    facts.set(0, g.rows);
    facts.set(1, g.columns);
    facts.set(2, static_cast<index_t>(hash_of(process.data(), process.size() * sizeof(int)) >> 2));
    for (std::size_t i = 0; i < 6 && takes_part; ++i)
      facts.set(array_facts::grid + i, given[2 + i]);
  } else {
    facts.at[2 * array_facts::count] = -me;
  }
  collective::all_reduce(everyone, facts.at, facts.at, 2 * array_facts::count + 1,
                         collective::reduction::max);
  if (const index_t first = facts.at[2 * array_facts::count]; first != array_facts::none)
    raise_from(everyone, static_cast<int>(-first),
               joined_words(call, ": ", fault, " (rank ", me, ")"));
  for (std::size_t i = 0; i < array_facts::count; ++i) {
    if (facts.at[i] == facts.least(i)) continue;
    if (i < array_facts::grid) throw error(call + ": ranks name different process grids");
    throw error(joined_words(call, ": ", descriptor_entry[i - array_facts::grid + 2], " is ",
                             facts.least(i), " and ", facts.at[i], " on ranks of one array"));
  }
  array_descriptor all = given;
  for (std::size_t i = 0; i < 6; ++i)
    all[2 + i] = static_cast<int>(facts.at[array_facts::grid + i]);
  return array_of(g, all, std::move(process));
}

}  // namespace dimesh::detail
