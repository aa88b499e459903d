// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who takes part in a collective? The ranks along some axes of the mesh: an MPI communicator that
// knows these axes, turns MPI's error codes into exceptions and, in checked builds, compares what
// its ranks are about to do.
//
//   check(MPI_Barrier(c.handle()), "barrier")   -> throws dimesh::error with MPI's text
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#ifdef DIMESH_CHECKED
#include "dimesh/detail/agreement.hpp"
#endif
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/config.hpp"
#include "dimesh/detail/mpi.hpp"
#include "dimesh/detail/words.hpp"

namespace dimesh::detail {

/// The rank in MPI_COMM_WORLD, for messages; 0 before MPI runs, and after.
inline int world_rank() {
  int running = 0, over = 0, rank = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&over);
  if (running && !over) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

[[noreturn]] void raise_mpi(int code, std::string_view call);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void raise_mpi(int code, std::string_view call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  words w;
  w << call << ": MPI reports '" << text << "' on rank " << world_rank();
  w.raise();
}
#endif

/// Throws what an MPI call reports.
inline void check(int code, const char* call) {
  if (code != MPI_SUCCESS) raise_mpi(code, call);
}

/// Throws where MPI does not run, or where there is no communicator.
void require_mpi(MPI_Comm comm);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void require_mpi(MPI_Comm comm) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (!begun || ended)
    throw error(ended ? "grid: MPI has ended; grids live within the runtime, in main"
                      : "grid: MPI has not begun; make a dimesh::runtime first, and grids in "
                        "main, after it");
  if (comm == MPI_COMM_NULL)
    throw error(
        "grid: the communicator is MPI_COMM_NULL; a grid is made by the ranks of its "
        "communicator only");
}
#endif
/// While any of these lives, MPI returns the errors that it blames on no communicator of ours: of
/// those it asks MPI_COMM_WORLD, or MPI_COMM_SELF, which mostly end the job.
class errors_returned {
 public:
  errors_returned() { count(1); }
  errors_returned(const errors_returned&) = delete;
  errors_returned& operator=(const errors_returned&) = delete;
  ~errors_returned() { count(-1); }

 private:
  /// Of several, on any threads, the first one notes what the program has set, the last brings it
  /// back, if the program has not set another one since.
  static void count(int more);
};
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void errors_returned::count(int more) {
  static std::mutex mutex;
  static int alive = 0;
  static MPI_Errhandler kept[2] = {MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL};
  const std::lock_guard lock(mutex);
  alive += more;
  if (alive != (more > 0 ? 1 : 0)) return;
  const MPI_Comm asked[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  for (int i = 0; i < 2; ++i) {
    if (more > 0) {
      MPI_Comm_get_errhandler(asked[i], &kept[i]);
      MPI_Comm_set_errhandler(asked[i], MPI_ERRORS_RETURN);
    } else {
      MPI_Errhandler now = MPI_ERRHANDLER_NULL;
      MPI_Comm_get_errhandler(asked[i], &now);
      if (now == MPI_ERRORS_RETURN) MPI_Comm_set_errhandler(asked[i], kept[i]);
      MPI_Errhandler_free(&now);
      MPI_Errhandler_free(&kept[i]);
    }
  }
}
#endif

/// While messages are waited for, or asked about. Open MPI blames them on their communicator, where
/// other libraries do not.
#ifdef OPEN_MPI
struct errors_of_waits_returned {
  errors_of_waits_returned() {}  // so that variables count as used
};
#else
using errors_of_waits_returned = errors_returned;
#endif

/// MPI ends the job where it is asked about what is no communicator: here an exception does. (Open
/// MPI's handles are pointers: it cannot tell that one was freed, if a copy of it is used.)
int ranks_of(MPI_Comm comm);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline int ranks_of(MPI_Comm comm) {
  int ranks = 0, code = MPI_SUCCESS;
  {
    const errors_returned here;
    code = MPI_Comm_size(comm, &ranks);
  }
  if (code != MPI_SUCCESS)
    throw error(
        "grid: this is no communicator: it was freed, or never made; make grids while theirs "
        "lives");
  return ranks;
}
#endif

/// The attribute under which a communicator carries the set of its axes (bit a = axis a of the
/// mesh): what a profiler needs to tell the traffic of one axis from another's.
int axes_keyval();
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline int axes_keyval() {
  static const int key = [] {
    int k = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, nullptr);
    return k;
  }();
  return key;
}
#endif

class meeting;

/// Owns a communicator of the ranks along a set of axes.
class communicator {
 public:
  communicator() = default;
  /// Takes over `comm`, whose ranks differ along `axes` only, and in checked builds the meeting of
  /// these ranks (null: they make their own).
  communicator(MPI_Comm comm, unsigned axes, std::uint64_t mesh = 0, meeting* m = nullptr)
      : meeting_(m), comm_(comm), axes_(axes), mesh_(mesh) {
#ifdef DIMESH_CHECKED
    if (m == nullptr) meeting_ = meeting::of(comm, "a communicator").release();
#endif
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(comm_, axes_keyval(), reinterpret_cast<void*>(std::uintptr_t{axes}));
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  ~communicator() {
    int over = 0;
    MPI_Finalized(&over);
    if (!over && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
#ifdef DIMESH_CHECKED
    delete meeting_;
#endif
  }

  MPI_Comm handle() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  unsigned axes() const { return axes_; }
  /// The number of the mesh whose axes they are.
  std::uint64_t mesh() const { return mesh_; }

  /// A tag for messages that only the same call on another rank may match: calls that are under way
  /// at the same time get different ones. Ranks ask for tags in one order; 0 is never among them.
  /// As many as MPI has: a call that failed may leave a message that nobody takes.
  int next_tag() const {
    static const unsigned tags = greatest_tag();
    const unsigned n = tag_.fetch_add(1, std::memory_order_relaxed);
    return 1 + static_cast<int>(n < tags ? n : n % tags);
  }

  /// In checked builds: do all ranks of this communicator make the same call? A program whose ranks
  /// diverge, or of which one has ended, is reported here rather than left hanging: throws
  /// dimesh::error on all who come. `elements` stands for the type of what travels.
  void agree(const char* call, index_t count, unsigned elements) const {
#ifdef DIMESH_CHECKED
    errand e;
    e.count = count;
    e.element = elements;
    e.operands = doing::now().operands;
    e.extents = doing::now().extents.sent;
    e.tag = tag_.load(std::memory_order_relaxed);
    put_text(e.call, call);
    put_text(e.within, doing::now().operation);
    if (phase_here != nullptr) put_text(e.phase, phase_here);
    const kept_blocks blocks = kept_blocks::take(axes_);
    e.kept = blocks.which;
    e.values = blocks.values;
    if (meeting_ != nullptr) return meeting_->agree(e, blocks.words);
    compare_hashes(e);
#else
    (void)call;
    (void)count;
    (void)elements;
#endif
  }

  /// In checked builds: of its ranks.
  const meeting* met() const { return meeting_; }

 private:
  /// What MPI grants: 32767 at least, and mostly many times that.
  static unsigned greatest_tag() {
    int* bound = nullptr;
    int found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&bound), &found);
    return found ? static_cast<unsigned>(*bound) - 1 : 32766;
  }

#ifdef DIMESH_CHECKED
  /// Where nobody started a runtime, and no grid takes all ranks: differences are seen, absences
  /// are not.
  void compare_hashes(errand e) const {
    std::memset(e.phase, 0, sizeof e.phase);  // told, not compared
    e.kept = e.values = 0;  // of other ranks' local work nothing is known here
    e.extents = {};
    const auto low = static_cast<std::int64_t>(hash_of(&e, sizeof e) >> 2);
    std::int64_t both[2] = {low, -low};
    check(PMPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT64_T, MPI_MIN, comm_), e.call);
    if (both[0] != -both[1])
      throw error(std::string(e.call) +
                  ": the ranks of this communicator make different calls: rank " +
                  std::to_string(world_rank()) + " is about to do " + said(e));
  }
#endif
  // There in every build: files of one program that differ in DIMESH_CHECKED share this type.
  meeting* meeting_ = nullptr;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  unsigned axes_ = 0;
  std::uint64_t mesh_ = 0;
  mutable std::atomic<unsigned> tag_{0};
};

}  // namespace dimesh::detail
