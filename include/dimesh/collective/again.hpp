// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is there of calls that are made again and again? Of messages a persistent request for each:
// MPI works out once what it has to (MPI 4.1, section 3.9). Each rank makes its own, without any
// other, so that one whose buffers have moved may make another. Persistent collectives are no such
// thing, all ranks would have to make theirs anew together: there it is what MPI is told, if that
// is one call from one memory to another.
//
//   messages_again again;   if (!again.has(x, y)) again.start({x, n, type, to, tag, comm, ...}, r);
//   check(make({dense::all_gather, x, y, n, type, MPI_OP_NULL, comm}, nullptr), "all_gather");
#pragma once

#include <utility>
#include <vector>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/mpi.hpp"

namespace dimesh::collective {

/// May a request be taken back? Only a receive: what was sent may have arrived.
enum class under_way : unsigned char { receive, other };

/// A message, without the request that MPI has for it.
struct message_again {
  const void* data = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int peer = 0, tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  under_way what = under_way::other;

  bool operator==(const message_again&) const = default;
  int init(MPI_Request& r) const {
    return what == under_way::receive
               ? MPI_Recv_init(const_cast<void*>(data), count, type, peer, tag, comm, &r)
               : MPI_Send_init(data, count, type, peer, tag, comm, &r);
  }
};

/// In the order in which they begin, which is the same each time: some together, then others.
class messages_again {
 public:
  /// What begins now are the first of them.
  void rewind();
  /// The next ones are between these memories. True: as they were last time. (All messages of a
  /// move are of some set, or none is.)
  bool has(const void* x, const void* y);
  /// They are not, whatever is known, or go by other memory.
  void doubt() { sets_[next_set_ - 1].is_known = false; }
  /// Then: begins these. Returns what MPI does.
  int start_set(std::vector<MPI_Request>& requests, std::vector<under_way>& what);
  /// Else: begins the next one, by the request of last time if that is for the same message:
  /// `request` becomes it. Returns what MPI does.
  int start(const message_again& m, MPI_Request& request);
  /// All that there are, of all sets.
  int start_all() {  // (Of none Open MPI wants an address, too.)
    return requests_.empty() ? MPI_SUCCESS : MPI_Startall(size(), requests_.data());
  }
  int wait_all() { return MPI_Waitall(size(), requests_.data(), MPI_STATUSES_IGNORE); }
  int test_all(int& over) {
    return MPI_Testall(size(), requests_.data(), &over, MPI_STATUSES_IGNORE);
  }
  void add_all(std::vector<MPI_Request>& requests, std::vector<under_way>& what) const {
    add(0, requests_.size(), requests, what);
  }
  /// None of them is under way. (MPI runs, or there are none.)
  void free() noexcept;
  /// Somebody else has these requests, and frees them when they are over.
  void leave(const std::vector<MPI_Request>& to) noexcept;

 private:
  int size() const { return static_cast<int>(requests_.size()); }
  struct set {
    const void *x = nullptr, *y = nullptr;
    std::size_t begin = 0, end = 0;
    bool is_known = false;
  };
  void add(std::size_t begin, std::size_t end, std::vector<MPI_Request>& requests,
           std::vector<under_way>& what) const;
  std::vector<message_again> all_;
  std::vector<MPI_Request> requests_;  // of each
  std::vector<set> sets_;
  std::size_t next_ = 0, next_set_ = 0;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void messages_again::rewind() {
  if (next_set_ != 0) sets_[next_set_ - 1].end = next_;
  next_ = next_set_ = 0;
}
DIMESH_OUTLINE inline bool messages_again::has(const void* x, const void* y) {
  if (next_set_ != 0) sets_[next_set_ - 1].end = next_;
  if (next_set_ == sets_.size()) sets_.emplace_back();
  set& s = sets_[next_set_++];
  if (s.is_known && s.x == x && s.y == y) return true;
  s = {x, y, next_, next_, true};
  return false;
}
DIMESH_OUTLINE inline int messages_again::start_set(std::vector<MPI_Request>& requests,
                                                    std::vector<under_way>& what) {
  const set& s = sets_[next_set_ - 1];
  next_ = s.end;
  if (s.begin == s.end) return MPI_SUCCESS;
  const auto n = static_cast<int>(s.end - s.begin);
  const int code = MPI_Startall(n, &requests_[s.begin]);  // which may be others then
  add(s.begin, s.end, requests, what);
  return code;
}
DIMESH_OUTLINE inline void messages_again::add(std::size_t begin, std::size_t end,
                                               std::vector<MPI_Request>& requests,
                                               std::vector<under_way>& what) const {
  for (std::size_t i = begin; i < end; ++i) {
    requests.push_back(requests_[i]);
    what.push_back(all_[i].what);
  }
}
DIMESH_OUTLINE inline int messages_again::start(const message_again& m, MPI_Request& request) {
  if (next_ == all_.size()) {
    all_.emplace_back();
    requests_.push_back(MPI_REQUEST_NULL);
  }
  MPI_Request& r = requests_[next_];
  int code = MPI_SUCCESS;
  if (message_again& last = all_[next_++]; r == MPI_REQUEST_NULL || !(last == m)) {
    if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
    last = m;
    code = m.init(r);
  }
  if (code == MPI_SUCCESS) code = MPI_Start(&r);
  request = r;
  return code;
}
DIMESH_OUTLINE inline void messages_again::free() noexcept {
  for (MPI_Request& r : requests_)
    if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
  all_.clear(), requests_.clear(), sets_.clear();
  next_ = next_set_ = 0;
}
DIMESH_OUTLINE inline void messages_again::leave(const std::vector<MPI_Request>& to) noexcept {
  for (MPI_Request& r : requests_)
    for (const MPI_Request theirs : to)
      if (r == theirs) r = MPI_REQUEST_NULL;
}
#endif

enum class dense : unsigned char {
  nothing,
  all_reduce,
  reduce_scatter,
  reduce,
  all_gather,
  all_to_all,
  broadcast
};
/// A collective that reads one memory and writes another (a broadcast: that one, or reads it), as
/// MPI is told. Count: of all that is reduced or broadcast, of a rank's part elsewhere.
struct dense_call {
  dense what = dense::nothing;
  const void* x = nullptr;
  void* y = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op sum = MPI_OP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  int root = 0;

  // (Not by a switch: a jump through a table is foreseen less often than these branches, which for
  // one move always go the same way.)
  /// Makes it. Returns what MPI does.
  [[gnu::always_inline]] int now() const {
    if (what == dense::all_reduce) return MPI_Allreduce(x, y, count, type, sum, comm);
    if (what == dense::all_gather) return MPI_Allgather(x, count, type, y, count, type, comm);
    if (what == dense::all_to_all) return MPI_Alltoall(x, count, type, y, count, type, comm);
    if (what == dense::reduce_scatter)
      return MPI_Reduce_scatter_block(x, y, count, type, sum, comm);
    if (what == dense::broadcast) return MPI_Bcast(y, count, type, root, comm);
    if (what == dense::reduce) return MPI_Reduce(x, y, count, type, sum, root, comm);
    return MPI_SUCCESS;
  }
  /// Begins it.
  [[gnu::always_inline]] int begin(MPI_Request* r) const {
    if (what == dense::all_reduce) return MPI_Iallreduce(x, y, count, type, sum, comm, r);
    if (what == dense::all_gather) return MPI_Iallgather(x, count, type, y, count, type, comm, r);
    if (what == dense::all_to_all) return MPI_Ialltoall(x, count, type, y, count, type, comm, r);
    if (what == dense::reduce_scatter)
      return MPI_Ireduce_scatter_block(x, y, count, type, sum, comm, r);
    if (what == dense::broadcast) return MPI_Ibcast(y, count, type, root, comm, r);
    if (what == dense::reduce) return MPI_Ireduce(x, y, count, type, sum, root, comm, r);
    return MPI_SUCCESS;
  }
};
/// The dense calls that this thread makes to the end of the scope.
struct dense_calls_here {
  mutable dense_call latest;
  mutable int count = 0;

  dense_calls_here() : before_(std::exchange(noted(), this)) {}
  dense_calls_here(const dense_calls_here&) = delete;
  dense_calls_here& operator=(const dense_calls_here&) = delete;
  ~dense_calls_here() { noted() = before_; }
  static const dense_calls_here*& noted() {
    static constinit thread_local const dense_calls_here* it = nullptr;
    return it;
  }

 private:
  const dense_calls_here* before_;
};

}  // namespace dimesh::collective
