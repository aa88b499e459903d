// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of messages that are under way when their sender stops caring? Usually someone waits
// for them. Where an exception comes between, they are given up: receives are cancelled, and the
// memory that MPI may still read or write stays taken until MPI is done with it.
//
//   requests r;   r.keep(memory);   check(MPI_Irecv(..., r.add(receive)));  ...  r.wait("shift");
//
// Giving up never waits for other ranks: these may have failed, too, and never answer.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "dimesh/collective/again.hpp"
#include "dimesh/collective/communicator.hpp"
#include "dimesh/collective/stages.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/waiting.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::collective {

namespace detail {

/// Requests that nobody waits for, and the memory that they need.
class abandoned {
 public:
  static abandoned& all();
  void take(std::vector<MPI_Request>& requests, std::vector<dimesh::detail::storage>& memory,
            std::vector<std::shared_ptr<const void>>& counts);
  /// Lets go of what MPI is done with; returns how many sets are still under way.
  static std::size_t reap() { return any_.load(std::memory_order_acquire) ? all().reap_some() : 0; }

 private:
  std::size_t reap_some();
  struct set {
    std::vector<MPI_Request> requests;
    std::vector<dimesh::detail::storage> memory;
    std::vector<std::shared_ptr<const void>> counts;
    [[no_unique_address]] opened_to_mpi elements{};
  };
  std::mutex mutex_;
  std::vector<set> sets_;
  static inline constinit std::atomic<bool> any_{false};
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline abandoned& abandoned::all() {
  static auto* const it = new abandoned;  // never destroyed: MPI may end later than statics
  return *it;
}
DIMESH_OUTLINE inline void abandoned::take(std::vector<MPI_Request>& requests,
                                           std::vector<dimesh::detail::storage>& memory,
                                           std::vector<std::shared_ptr<const void>>& counts) {
  const std::lock_guard lock(mutex_);
  sets_.push_back({std::move(requests), std::move(memory), std::move(counts)});
  requests.clear(), memory.clear(), counts.clear();
  any_.store(true, std::memory_order_release);
}
DIMESH_OUTLINE inline std::size_t abandoned::reap_some() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = sets_.size(); i-- > 0;) {
    int done = 0;
    auto& r = sets_[i].requests;
    const dimesh::detail::errors_of_waits_returned here;
    MPI_Testall(static_cast<int>(r.size()), r.data(), &done, MPI_STATUSES_IGNORE);
    for (MPI_Request& q : r)  // persistent ones are left
      if (done && q != MPI_REQUEST_NULL) MPI_Request_free(&q);
    if (done) sets_.erase(sets_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  any_.store(!sets_.empty(), std::memory_order_release);
  return sets_.size();
}
#endif

}  // namespace detail

/// What is on the host when requests are over, and belongs elsewhere.
struct arrival {
  void* to;
  const void* from;
  index_t bytes;
  const dimesh::detail::space_facts* space;  // in which `to` lies
};

/// Requests in the order in which they were made. Its vectors are kept from use to use; they move
/// as requests are added, while MPI holds no pointers to them.
class requests {
 public:
  requests() = default;
  requests(const requests&) = delete;
  requests& operator=(const requests&) = delete;
  ~requests() { give_up(); }

  /// A place for a new request.
  MPI_Request* add(under_way what = under_way::other);
  /// Begin a message as MPI_Isend and MPI_Irecv do, and return what these return.
  int send(const void* x, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm);
  int receive(void* y, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm);
  /// Messages that begin now are those that began last time, in the same order.
  void repeat();
  /// Of messages that are repeated: begins what went between these memories last time, if it did,
  /// all of it or, where it is to be told `one_by_one`, nothing. Returns whether.
  bool start_again(const void* x, const void* y, const char* call, bool one_by_one);
  /// What there is for messages that are repeated; null until repeat(), and after give_up().
  messages_again* repeated() { return again_ ? &*again_ : nullptr; }
  /// All of them are under way.
  void add_repeated() { again_->add_all(requests_, what_); }
  /// Memory that the requests read or write: it stays taken until they are done.
  void keep(const dimesh::detail::storage& memory);
  /// Keeping as many takes no memory later, when an exception passes.
  void expect(std::size_t more) { memory_.reserve(memory_.size() + more); }
  /// What holds the counts that MPI reads until then.
  void keep(std::shared_ptr<const void> counts);

  /// What to copy when they are over.
  void bring_when_over(const arrival& a);

  /// Lets MPI work on them; those made first are asked first.
  void progress(const char* call);
  void wait(const char* call);
  /// The same; false if a receive got an empty message. Not after progress().
  bool wait_for_all(const char* call);
  bool empty() const { return requests_.empty(); }
  /// None of them is under way any more, as far as progress() knows.
  bool done() const { return first_ == requests_.size(); }

  /// Nobody will wait for them any more.
  void give_up() noexcept;

 private:
  void clear() noexcept;
  void end_all();
  /// Throws what MPI reports, now or before: it frees a request that failed, so that the next call
  /// would find nothing wrong.
  void note(int code, const char* call);
  std::vector<MPI_Request> requests_;
  std::vector<under_way> what_;
  std::vector<dimesh::detail::storage> memory_;
  std::vector<arrival> arrivals_;
  std::vector<std::shared_ptr<const void>> counts_;
  std::optional<messages_again> again_;  // of moves that are made again and again
  std::size_t first_ = 0;  // those before it are done
  int failed_ = MPI_SUCCESS;
  [[no_unique_address]] dimesh::detail::opening elements_{};  // while any is under way
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void requests::keep(const dimesh::detail::storage& memory) {
  memory_.push_back(memory);
}
DIMESH_OUTLINE inline void requests::keep(std::shared_ptr<const void> counts) {
  if (counts != nullptr) counts_.push_back(std::move(counts));
}
DIMESH_OUTLINE inline void requests::bring_when_over(const arrival& a) { arrivals_.push_back(a); }
DIMESH_OUTLINE inline MPI_Request* requests::add(under_way what) {
  what_.push_back(what);
  requests_.push_back(MPI_REQUEST_NULL);
  if (!dimesh::detail::stands_for_device || !stages()) elements_.open();
  return &requests_.back();
}
DIMESH_OUTLINE inline int requests::send(const void* x, int n, MPI_Datatype type, int to, int tag,
                                         MPI_Comm comm) {
  MPI_Request* const r = add();
  if (!again_) return MPI_Isend(x, n, type, to, tag, comm, r);
  return again_->start({x, n, type, to, tag, comm, under_way::other}, *r);
}
DIMESH_OUTLINE inline int requests::receive(void* y, int n, MPI_Datatype type, int from, int tag,
                                            MPI_Comm comm) {
  MPI_Request* const r = add(under_way::receive);
  if (!again_) return MPI_Irecv(y, n, type, from, tag, comm, r);
  return again_->start({y, n, type, from, tag, comm, under_way::receive}, *r);
}
DIMESH_OUTLINE inline void requests::repeat() {
  if (!again_) again_.emplace();
  again_->rewind();
}
DIMESH_OUTLINE inline bool requests::start_again(const void* x, const void* y, const char* call,
                                                 bool one_by_one) {
  const bool known = again_->has(x, y);
  if (one_by_one) again_->doubt();
  if (!known || one_by_one) return false;
  elements_.open();
  dimesh::detail::check(again_->start_set(requests_, what_), call);
  return true;
}
DIMESH_OUTLINE inline void requests::note(int code, const char* call) {
  if (failed_ == MPI_SUCCESS) failed_ = code;
  dimesh::detail::check(failed_, call);
}
DIMESH_OUTLINE inline void requests::progress(const char* call) {
  if (this->done()) return;
  int done = 1;
  const dimesh::detail::errors_of_waits_returned here;
  while (done && first_ < requests_.size()) {
    note(MPI_Test(&requests_[first_], &done, MPI_STATUS_IGNORE), call);
    first_ += static_cast<std::size_t>(done);
  }
}
DIMESH_OUTLINE inline void requests::wait(const char* call) {
  const dimesh::detail::waiting here(call);
  note(failed_, call);  // before it waits for what may never come
  const dimesh::detail::errors_of_waits_returned told;
  const auto n = static_cast<int>(requests_.size());  // one is waited for in less time
  note(n == 1 ? MPI_Wait(requests_.data(), MPI_STATUS_IGNORE)
              : MPI_Waitall(n, requests_.data(), MPI_STATUSES_IGNORE),
       call);
  end_all();
}
DIMESH_OUTLINE inline bool requests::wait_for_all(const char* call) {
  const dimesh::detail::waiting here(call);
  bool full = true;
  const dimesh::detail::errors_of_waits_returned told;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    MPI_Status status;
    int bytes = 0;
    note(MPI_Wait(&requests_[i], &status), call);
    if (what_[i] == under_way::receive) MPI_Get_count(&status, MPI_BYTE, &bytes);
    full = full && (what_[i] != under_way::receive || bytes != 0);
    if (!full) return false;  // others may never come: what gives these up cancels them
  }
  end_all();
  return full;
}
inline void requests::end_all() {
  for (const arrival& a : arrivals_) {
    const dimesh::detail::in_space there(a.space);
    dimesh::detail::copy_from_host(a.to, a.from, a.bytes);
  }
  clear();
  detail::abandoned::reap();  // those given up earlier may be over, too
}
DIMESH_OUTLINE inline void requests::give_up() noexcept {
  if (requests_.empty() && !again_) return clear();
  int running = 0, over = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&over);
  if (!running || over) {
    again_.reset();
    return clear();
  }
  const dimesh::detail::errors_of_waits_returned here;
  for (std::size_t i = 0; i < requests_.size(); ++i)
    if (what_[i] == under_way::receive && requests_[i] != MPI_REQUEST_NULL) {
      // Whether it is cancelled or has its message, waiting is then over at once.
      MPI_Cancel(&requests_[i]);
      MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
    }
  int done = 0;
  MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  if (again_) {
    if (!done) again_->leave(requests_);
    again_->free();
    again_.reset();
  }
  if (!done) detail::abandoned::all().take(requests_, memory_, counts_);
  clear();
}
inline void requests::clear() noexcept {
  requests_.clear(), what_.clear(), memory_.clear(), arrivals_.clear(), counts_.clear();
  first_ = 0;
  failed_ = MPI_SUCCESS;
  elements_.close();
}
#endif

/// Makes a collective; or, with `later`, begins it.
[[gnu::always_inline]] inline int make(const dense_call& call, requests* later) {
  if (const dense_calls_here* const noted = dense_calls_here::noted()) [[unlikely]] {
    noted->latest = call;
    ++noted->count;
  }
  return later == nullptr ? call.now() : call.begin(later->add());
}

/// Requests that were given up and are not over yet, the memory of those that are given back.
inline std::size_t requests_given_up() { return detail::abandoned::reap(); }

}  // namespace dimesh::collective
