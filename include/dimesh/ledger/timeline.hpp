// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does this rank do when? Between start and stop, spans of time gather in a list: phases of
// the program, by a trace_span in their scope, and whatever a profiler adds (support/census adds
// every MPI call). show/trace.hpp writes them, those of all ranks, for a viewer.
//
//   timeline::instance().start();
//   { trace_span here("forward");  ... }       // off: the cost of reading a flag
//   timeline::instance().stop();
//   timeline::instance().spans()               -> {"forward", lane::compute, 0, 0, begin, end} ...
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <vector>

#include "dimesh/detail/compiled.hpp"

namespace dimesh {

enum class lane { compute, communication };

struct time_span {
  const char* name;  ///< must outlive the timeline, as a string literal does
  lane where = lane::compute;
  unsigned axes = 0;  ///< of a call: the axes of its communicator (bit a: axis a of the mesh)
  std::int64_t bytes = 0;  ///< of a call: what it hands to MPI
  double begin = 0, end = 0;  ///< seconds on this rank's clock, timeline::now
};

/// The one list of spans of a process. Threads may record side by side.
class timeline {
 public:
  static timeline& instance();
  /// Seconds since some moment in the past, the same for all processes of a machine.
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// Forgets earlier spans and records from now on.
  void start();
  void stop() { on_.store(false, std::memory_order_relaxed); }
  bool on() const { return on_.load(std::memory_order_relaxed); }

  /// Adds a span that has ended. Those that began before start, or end after stop, are left out.
  void record(const time_span& span);
  /// In the order in which they ended.
  std::vector<time_span> spans() const;

 private:
  timeline() = default;
  std::atomic<bool> on_ = false;
  mutable std::mutex mutex_;
  double since_ = 0;
  std::vector<time_span> spans_;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline timeline& timeline::instance() {
  static timeline one;
  return one;
}
DIMESH_OUTLINE inline void timeline::start() {
  const std::lock_guard lock(mutex_);
  spans_.clear();
  spans_.reserve(1 << 14);
  since_ = now();
  on_.store(true, std::memory_order_relaxed);
}
DIMESH_OUTLINE inline void timeline::record(const time_span& span) {
  const std::lock_guard lock(mutex_);
  if (on() && span.begin >= since_) spans_.push_back(span);
}
DIMESH_OUTLINE inline std::vector<time_span> timeline::spans() const {
  const std::lock_guard lock(mutex_);
  return spans_;
}
#endif

namespace detail {
/// The name of the innermost phase that is under way on this thread.
inline constinit thread_local const char* phase_here = nullptr;
}  // namespace detail

/// Records the time from here to the end of the scope, or to end(), and names the phase for the
/// events in it (event.hpp). In a constant expression it does nothing, so functions that also run
/// on shapes may hold one.
class [[nodiscard]] trace_span {
 public:
  constexpr explicit trace_span(const char* name, lane where = lane::compute, unsigned axes = 0,
                                std::int64_t bytes = 0)
      : span_{name, where, axes, bytes, -1, -1} {
    if (std::is_constant_evaluated()) return;
    if (where == lane::compute) enter();
    if (timeline::instance().on()) span_.begin = timeline::now();
  }
  trace_span(const trace_span&) = delete;
  trace_span& operator=(const trace_span&) = delete;
  constexpr ~trace_span() { end(); }

  constexpr void end() {
    if (in_phase_) leave();
    if (span_.begin < 0) return;
    span_.end = timeline::now();
    timeline::instance().record(span_);
    span_.begin = -1;
  }

 private:
  void enter() {
    around_ = detail::phase_here;
    detail::phase_here = span_.name;
    in_phase_ = true;
  }
  void leave() {
    detail::phase_here = around_;
    in_phase_ = false;
  }
  time_span span_;
  const char* around_ = nullptr;  // the phase that this one is part of
  bool in_phase_ = false;
};

}  // namespace dimesh
