// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where does a program stand that no longer moves? With DIMESH_WATCHDOG=seconds a thread of each
// rank looks whether its rank came to a new call within that time, and says on stderr in which one
// it waits, or that it is in none. It talks to nobody: ranks that hang cannot answer.
//
//   auto dog = watchdog::from_environment(rank);    // null where nobody wants one
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/waiting.hpp"
#include "dimesh/ledger/event.hpp"

namespace dimesh::detail {

class watchdog final : wait_listener, event_sink {
 public:
  /// Null unless DIMESH_WATCHDOG gives seconds, or where another one watches this process. With
  /// DIMESH_WATCHDOG_ENDS a rank that waits for so long ends the job.
  static std::unique_ptr<watchdog> from_environment(int rank);
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog();

  void enter(std::string_view call, std::string_view within, index_t bytes) override;
  void leave() override;
  /// This rank has nothing more to do.
  void end();

 private:
  using clock = std::chrono::steady_clock;

  watchdog(double seconds, int rank, bool ends);
  constexpr void take(const event&) override {}
  void moved();
  void look();
  void tell() const;

  const std::chrono::duration<double> patience_;
  const int rank_;
  const bool ends_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string call_;
  long long calls_ = 0;
  int depth_ = 0;
  bool at_end_ = false, over_ = false, told_ = false;
  clock::time_point since_;
  std::thread thread_;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline std::unique_ptr<watchdog> watchdog::from_environment(int rank) {
  const char* const text = std::getenv("DIMESH_WATCHDOG");
  const double seconds = text != nullptr ? std::atof(text) : 0;
  if (seconds <= 0 || waits_told_to != nullptr) return nullptr;
  return std::unique_ptr<watchdog>(
      new watchdog(seconds, rank, std::getenv("DIMESH_WATCHDOG_ENDS") != nullptr));
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline watchdog::~watchdog() {
  waits_told_to = nullptr;
  if (watcher == this) watcher = nullptr;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void watchdog::enter(std::string_view call, std::string_view within,
                                           index_t bytes) {
  const std::lock_guard lock(mutex_);
  ++calls_;
  ++depth_;
  call_ = "'" + std::string(call) + "'";
  if (!within.empty() && within != call) call_ += " of '" + std::string(within) + "'";
  if (bytes >= 0) call_ += " with " + std::to_string(bytes) + " bytes";
  moved();
}
DIMESH_OUTLINE inline void watchdog::leave() {
  const std::lock_guard lock(mutex_);
  --depth_;
  moved();
}
DIMESH_OUTLINE inline void watchdog::end() {
  const std::lock_guard lock(mutex_);
  at_end_ = true;
  moved();
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline watchdog::watchdog(double seconds, int rank, bool ends)
    : patience_(seconds), rank_(rank), ends_(ends), since_(clock::now()) {
  waits_told_to = this;
  if (watcher == nullptr) watcher = this;  // so that collectives of this thread are reported
  thread_ = std::thread([this] { look(); });
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void watchdog::moved() {
  since_ = clock::now();
  told_ = false;
}
DIMESH_OUTLINE inline void watchdog::look() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    const auto due = since_ + std::chrono::duration_cast<clock::duration>(patience_);
    if (told_)
      wake_.wait_for(lock, patience_ / 4);
    else
      wake_.wait_until(lock, due);
    if (over_ || told_ || clock::now() - since_ < patience_) continue;
    tell();
    told_ = true;
    if (!ends_ || (depth_ == 0 && !at_end_)) continue;
    // Others are about to say where they are. One rank after the other: Open MPI's launcher hangs
    // or crashes where several leave at one instant.
    wake_.wait_for(lock, std::chrono::seconds(1 + std::min(rank_, 30)));
    if (!over_ && told_) std::_Exit(1);  // and the launcher takes them down
  }
}
DIMESH_OUTLINE inline void watchdog::tell() const {
  const double seconds = patience_.count();
  if (depth_ > 0)
    std::fprintf(stderr, "dimesh: watchdog: rank %d waits in %s (its call %lld) for %g s\n", rank_,
                 call_.c_str(), calls_, seconds);
  else if (at_end_)
    std::fprintf(stderr,
                 "dimesh: watchdog: rank %d came to the end of the program %g s ago, after %lld "
                 "calls\n",
                 rank_, seconds, calls_);
  else
    std::fprintf(stderr,
                 "dimesh: watchdog: rank %d has been in no call that ranks make together for %g "
                 "s; its last was %s (its call %lld)\n",
                 rank_, seconds, call_.empty() ? "none" : call_.c_str(), calls_);
  std::fflush(stderr);
}
#endif

}  // namespace dimesh::detail
