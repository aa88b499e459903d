// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Has something failed on one of the ranks? Then it has failed on all: each throws the same text,
// that of the first rank where it did, and nobody waits for who has left.
//
//   together(comm, [&] { if (rank == 0) make_folder(); });
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <string>

#include "dimesh/collective/communicator.hpp"
#include "dimesh/detail/waiting.hpp"
#include "dimesh/error.hpp"

namespace dimesh::detail {

/// A text of rank `root`, on all ranks, in messages of at most `limit` bytes. Collective.
inline std::string text_from(MPI_Comm comm, int root, std::string text,
                             std::size_t limit = std::size_t{1} << 30) {
  const waiting here("agree");
  std::uint64_t length = text.size();
  check(MPI_Bcast(&length, 1, MPI_UINT64_T, root, comm), "agree");
  text.resize(length);
  for (std::size_t at = 0; at < length; at += limit) {
    const auto count = static_cast<int>(std::min(limit, text.size() - at));
    check(MPI_Bcast(text.data() + at, count, MPI_CHAR, root, comm), "agree");
  }
  return text;
}

/// Texts of rank `root` by their names, on all ranks, whatever these have. Collective.
inline std::map<std::string, std::string> texts_from(
    MPI_Comm comm, int root, const std::map<std::string, std::string>& texts) {
  std::map<std::string, std::string> all;
  int count = static_cast<int>(texts.size());
  {
    const waiting here("agree");
    check(MPI_Bcast(&count, 1, MPI_INT, root, comm), "agree");
  }
  auto own = texts.begin();  // of rank `root`
  for (int i = 0; i < count; ++i) {
    const bool has = own != texts.end();
    const std::string name = text_from(comm, root, has ? own->first : std::string());
    all[name] = text_from(comm, root, has ? own->second : std::string());
    if (has) ++own;
  }
  return all;
}

/// Throws `fault` of the first rank whose fault is not empty, on all ranks. Collective.
inline void agree_on_fault(MPI_Comm comm, std::string fault) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int mine = fault.empty() ? ranks : rank, first = ranks;
  {
    const waiting here("agree");
    check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm), "agree");
  }
  if (first == ranks) return;
  if (rank == first && ranks > 1) fault += " (rank " + std::to_string(rank) + ")";
  throw error(text_from(comm, first, std::move(fault)));
}

/// Calls f on every rank; if it throws on one of them, all throw. f does not communicate.
template <class F> void together(MPI_Comm comm, F&& f) {
  std::string fault;
  try {
    f();
  } catch (const std::exception& e) {
    fault = e.what();
    if (fault.empty()) fault = "agree: an exception without a text";
  }
  agree_on_fault(comm, std::move(fault));
}

/// Keeps what the first failing call of MPI said of what `of` names: "npy: tensor [p] in 'x.npy'".
/// Calls that are collective go on after it, and agree_on_fault ends them.
struct first_fault {
  std::string of, text;
  void note(int code, const std::string& what) {
    if (code == MPI_SUCCESS || !text.empty()) return;
    char said[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, said, &length);
    text = of + ": " + what + ": MPI reports '" + said + "'";
  }
  /// Calls f, which does not communicate: false where it throws. (Its rank then goes on with
  /// nothing to move: others wait for it in the next collective call.)
  template <class F> bool is_ready(const std::string& what, const F& f) {
    try {
      f();
      return true;
    } catch (const std::exception& e) {
      if (text.empty()) text = of + ": " + what + ": " + e.what();
      return false;
    }
  }
  /// Of a call that moved `wanted` bytes. Open MPI's own file layer returns success where a write
  /// failed, but does not count it.
  void note_moved(int code, MPI_Status& done, index_t wanted, const std::string& what) {
    MPI_Count moved = 0;
    if (code == MPI_SUCCESS) code = MPI_Get_elements_x(&done, MPI_BYTE, &moved);
    note(code, what);
    if (text.empty() && static_cast<index_t>(moved) != wanted)
      text = of + ": " + what + ": " + std::to_string(static_cast<index_t>(moved)) + " of " +
             std::to_string(wanted) + " bytes were moved";
  }
};

/// A communicator of one's own for as long as something is saved or loaded.
struct own_comm {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  explicit own_comm(MPI_Comm like) {
    const waiting here("checkpoint");
    check(MPI_Comm_dup(like, &comm), "checkpoint");
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
  }
  own_comm(const own_comm&) = delete;
  own_comm& operator=(const own_comm&) = delete;
  ~own_comm() {
    const waiting here("checkpoint");
    MPI_Comm_free(&comm);
  }
};

}  // namespace dimesh::detail
