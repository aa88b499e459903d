// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who moves messages on while ranks compute? Most MPI libraries do it when they are called. A
// progress_thread calls them again and again for all moves that have been started; without one, MPI
// hears of them at their start, at ready(), and at await.
//
//   dimesh::runtime rt(argc, argv, MPI_THREAD_MULTIPLE);
//   dimesh::progress_thread helper;            // until the end of the scope
//
// It takes a processor for itself: on ranks that use all of theirs it costs more than it gains.
#pragma once

#include <chrono>
#include <thread>

#include "dimesh/collective/requests.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/words.hpp"

namespace dimesh {

namespace collective::detail {

/// The requests that a helping thread tests. Nobody else touches them while they are listed.
class progress_list {
 public:
  static progress_list& all();
  bool is_on() const { return helpers_.load(std::memory_order_relaxed) > 0; }
  void count_helpers(int more) { helpers_.fetch_add(more, std::memory_order_relaxed); }
  void enter(requests& r);
  void leave(requests& r);
  /// Tests all. What MPI reports as an error the requests tell who waits for them.
  void work() noexcept;

 private:
  std::mutex mutex_;
  std::vector<requests*> listed_;
  std::atomic<int> helpers_{0};
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline progress_list& progress_list::all() {
  static auto* const it = new progress_list;  // never destroyed: moves may end after statics
  return *it;
}
DIMESH_OUTLINE inline void progress_list::enter(requests& r) {
  const std::lock_guard lock(mutex_);
  listed_.push_back(&r);
}
DIMESH_OUTLINE inline void progress_list::leave(requests& r) {
  const std::lock_guard lock(mutex_);
  std::erase(listed_, &r);
}
DIMESH_OUTLINE inline void progress_list::work() noexcept {
  const std::lock_guard lock(mutex_);
  for (requests* r : listed_) try {
      r->progress("progress_thread");
    } catch (const std::exception&) {}
}
#endif

}  // namespace collective::detail

/// While one of these lives, a thread of its own lets MPI work on the moves that are started from
/// then on, every `pause`. Throws dimesh::error where MPI does not grant MPI_THREAD_MULTIPLE.
class progress_thread {
 public:
  explicit progress_thread(std::chrono::microseconds pause = std::chrono::microseconds(20)) {
    start(pause);
  }
  progress_thread(const progress_thread&) = delete;
  progress_thread& operator=(const progress_thread&) = delete;
  ~progress_thread() { end(); }

 private:
  void start(std::chrono::microseconds pause);
  void end();
  std::atomic<bool> over_{false};
  std::thread thread_;
};
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void progress_thread::start(std::chrono::microseconds pause) {
  int level = MPI_THREAD_SINGLE;
  detail::check(MPI_Query_thread(&level), "progress_thread");
  if (level < MPI_THREAD_MULTIPLE)
    (detail::words() << "progress_thread: MPI grants thread level " << level
                     << ", and a thread of its own needs " << int{MPI_THREAD_MULTIPLE}
                     << "; start the program with runtime(argc, argv, MPI_THREAD_MULTIPLE)")
        .raise();
  auto& list = collective::detail::progress_list::all();
  list.count_helpers(1);
  thread_ = std::thread([this, pause, &list] {
    while (!over_.load(std::memory_order_relaxed)) {
      list.work();
      std::this_thread::sleep_for(pause);
    }
  });
}
DIMESH_OUTLINE inline void progress_thread::end() {
  over_.store(true, std::memory_order_relaxed);
  thread_.join();
  collective::detail::progress_list::all().count_helpers(-1);
}
#endif

}  // namespace dimesh
