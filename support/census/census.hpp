// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What did this rank really hand to MPI? Linked into a program, the census counts every collective
// and every send through MPI's profiling interface: calls and payload bytes, by operation and by
// the set of mesh axes that the communicator joins.
//
//   census::reset();  step();  census::snapshot().bytes(census::operation::all_reduce)   -> 4096
//   census::snapshot().bytes_on(0b10)   -> bytes over the second mesh axis alone
//
// It is no MPI implementation's own trace: bytes are what the caller passes as send data, not what
// an algorithm moves. MPI_IN_PLACE counts as the payload it stands for; a broadcast and a scatter
// count on their root only; receives count nothing.
//
// While the library's timeline is on (dimesh/ledger/timeline.hpp), each of these calls, and those
// that wait, is also a span in its lane of communication.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string_view>
#include <utility>

namespace census {

/// A blocking call and its non-blocking form are one operation.
enum class operation {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  scan,
  neighbor,
  send,
  barrier
};

/// `all_reduce` and so on, as printed.
std::string_view name(operation op);

struct tally {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const tally&, const tally&) = default;
};

/// The counts at one moment, by operation and axis mask (bit i: axis i of the mesh; 0: unknown).
struct counts {
  std::map<std::pair<operation, unsigned>, tally> entries;

  tally of(operation op, unsigned mask) const;
  std::int64_t calls(operation op) const;
  std::int64_t bytes(operation op) const;
  /// Over all operations.
  std::int64_t calls() const;
  std::int64_t bytes() const;
  /// Over all operations on communicators of exactly this set of axes.
  std::int64_t calls_on(unsigned mask) const;
  std::int64_t bytes_on(unsigned mask) const;

  /// What happened between two moments: `after - before`. Entries without calls are left out.
  friend counts operator-(const counts& after, const counts& before);
  friend bool operator==(const counts&, const counts&) = default;
};

/// One line an entry: `all_reduce axes 0b10: 3 calls, 4096 bytes`.
std::ostream& operator<<(std::ostream& out, const counts& c);

/// The MPI attribute under which communicators keep their axis mask, cast to a pointer. Unless told
/// otherwise: the library's own.
void set_keyval(int keyval);

/// All counts to zero.
void reset();

/// The counts since the last reset.
counts snapshot();

/// How many persistent requests to send were made so far. Their starts are counted as sends.
std::int64_t persistent_sends();

/// How many all-to-alls were made so far that said one count for all ranks.
std::int64_t dense_all_to_alls();

/// Nothing is counted while one of these lives: for the check's own communication.
class pause {
 public:
  pause();
  ~pause();
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;
};

}  // namespace census
