// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where does a program stand that no longer moves? With DIMESH_WATCHDOG=seconds, or in a training
// run, a thread of each rank looks whether its rank came to a new call within that time, and says
// on stderr in which one it waits, or that it is in none, and in which step. It talks to nobody:
// ranks that hang cannot answer.
//
//   auto dog = watchdog::from_environment(rank);    // null where nobody wants one
//   auto dog = watchdog::of_run(600, rank);         // null where there is one already
//
// A program that has no runtime has the first one from its first grid (grid_state.hpp), until MPI
// ends.
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
#include <system_error>
#include <thread>
#include <vector>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/waiting.hpp"
#include "dimesh/ledger/event.hpp"

namespace dimesh::detail {

class watchdog final : wait_listener, event_sink {
 public:
  /// Null unless DIMESH_WATCHDOG gives seconds, or where another one watches this process. With
  /// DIMESH_WATCHDOG_ENDS a rank that waits for so long ends the job.
  static std::unique_ptr<watchdog> from_environment(int rank);
  /// The same for a part of a program, and null where the seconds are 0. It hears of calls, not of
  /// the operations that make them: operations with a listener take longer.
  static std::shared_ptr<watchdog> of_run(double seconds, int rank);
  /// Ends its thread. It is kept: another thread may be in a call that has told it.
  static void put_away(watchdog* it);
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog();

  void enter(std::string_view call, std::string_view within, index_t bytes) override;
  void leave() override;
  void at_step(index_t step) override;
  /// This rank has nothing more to do.
  void end();

 private:
  using clock = std::chrono::steady_clock;

  watchdog(double seconds, int rank, bool ends);
  constexpr void take(const event&) override {}
  void look();
  /// Ends the thread; from here on nothing tells it.
  void rest();
  void tell() const;
  std::string call_words() const;

  const std::chrono::duration<double> patience_;
  const int rank_;
  const bool ends_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string call_, within_;
  index_t bytes_ = -1, step_ = -1;
  long long calls_ = 0, moves_ = 0;
  int depth_ = 0;
  bool at_end_ = false, over_ = false;
  std::thread thread_;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline std::unique_ptr<watchdog> watchdog::from_environment(int rank) {
  const char* const text = std::getenv("DIMESH_WATCHDOG");
  const double seconds = text != nullptr ? std::atof(text) : 0;
  if (seconds <= 0 || waits_told_to.load() != nullptr) return nullptr;
  std::unique_ptr<watchdog> made(
      new watchdog(seconds, rank, std::getenv("DIMESH_WATCHDOG_ENDS") != nullptr));
  if (watcher == nullptr) watcher = made.get();  // so that it hears of operations, too
  return made;
}
DIMESH_OUTLINE inline std::shared_ptr<watchdog> watchdog::of_run(double seconds, int rank) {
  if (!(seconds > 0) || waits_told_to.load() != nullptr) return nullptr;
  try {
    return std::shared_ptr<watchdog>(new watchdog(seconds, rank, false), &put_away);
  } catch (const std::system_error&) {
    return nullptr;  // no thread is to be had, and nobody watches
  }
}
DIMESH_OUTLINE inline void watchdog::put_away(watchdog* it) {
  static auto* const over = new std::vector<std::unique_ptr<watchdog>>;
  it->rest();
  over->emplace_back(it);
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline watchdog::~watchdog() { rest(); }
DIMESH_OUTLINE inline void watchdog::rest() {
  if (!thread_.joinable()) return;
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
  ++moves_;
  ++depth_;
  call_.assign(call);
  within_.assign(within);
  bytes_ = bytes;
}
DIMESH_OUTLINE inline void watchdog::leave() {
  const std::lock_guard lock(mutex_);
  --depth_;
  ++moves_;
}
DIMESH_OUTLINE inline void watchdog::at_step(index_t step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  ++moves_;
}
DIMESH_OUTLINE inline void watchdog::end() {
  const std::lock_guard lock(mutex_);
  at_end_ = true;
  ++moves_;
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline watchdog::watchdog(double seconds, int rank, bool ends)
    : patience_(std::min(seconds, 1e8)), rank_(rank), ends_(ends) {
  thread_ = std::thread([this] { look(); });
  waits_told_to = this;
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void watchdog::look() {
  std::unique_lock lock(mutex_);
  long long seen = moves_;
  auto since = clock::now();
  // Whoever moves only counts: when that was is known to an eighth of the time.
  for (bool told = false; !over_; wake_.wait_for(lock, patience_ / 8)) {
    if (moves_ != seen) {
      seen = moves_;
      since = clock::now();
      told = false;
    }
    if (told || clock::now() - since < patience_) continue;
    tell();
    told = true;
    if (!ends_ || (depth_ == 0 && !at_end_)) continue;
    // Others are about to say where they are. One rank after the other: Open MPI's launcher hangs
    // or crashes where several leave at one instant.
    wake_.wait_for(lock, std::chrono::seconds(1 + std::min(rank_, 30)));
    if (!over_ && moves_ == seen) std::_Exit(1);  // and the launcher takes them down
  }
}
DIMESH_OUTLINE inline std::string watchdog::call_words() const {
  if (calls_ == 0) return "none";
  std::string text = "'" + call_ + "'";
  if (!within_.empty() && within_ != call_) text += " of '" + within_ + "'";
  if (bytes_ >= 0) text += " with " + std::to_string(bytes_) + " bytes";
  return text;
}
DIMESH_OUTLINE inline void watchdog::tell() const {
  const double seconds = patience_.count();
  const std::string call = call_words(),
                    step = step_ < 0 ? std::string() : ", in step " + std::to_string(step_);
  if (depth_ > 0)
    std::fprintf(stderr, "dimesh: watchdog: rank %d waits in %s (its call %lld) for %g s%s\n",
                 rank_, call.c_str(), calls_, seconds, step.c_str());
  else if (at_end_)
    std::fprintf(stderr,
                 "dimesh: watchdog: rank %d came to the end of the program %g s ago, after %lld "
                 "calls\n",
                 rank_, seconds, calls_);
  else
    std::fprintf(stderr,
                 "dimesh: watchdog: rank %d has been in no call that ranks make together for %g "
                 "s%s; its last was %s (its call %lld)\n",
                 rank_, seconds, step.c_str(), call.c_str(), calls_);
  std::fflush(stderr);
}
#endif

}  // namespace dimesh::detail
