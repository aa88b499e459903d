// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happens while a program runs, one thing after another? Operations compute, collectives send,
// tensors come and go. Each is an event; what becomes of the events is up to a sink. The ledger
// (ledger.hpp) adds them up; an event_list keeps them; a sink of one's own does what it likes.
//
//   struct widest final : event_sink {        // the longest message
//     index_t bytes = 0;
//     constexpr void take(const event& e) override { bytes = std::max(bytes, e.bytes); }
//   };
//   widest w;  count_to(w, f, shapes...);     // on shapes: what will happen (grad/cost.hpp)
//   { watch all(w);  f(tensors...); }         // on data: what does
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/waiting.hpp"
#include "dimesh/ledger/timeline.hpp"

namespace dimesh {

enum class event_kind : unsigned char {
  compute,  ///< arithmetic, and bytes through local memory
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce,  ///< a sum that one rank gets
  gather,  ///< blocks to one rank
  scatter,  ///< blocks from one rank
  scan,  ///< what all ranks before one hold, joined
  message,  ///< from one rank to another
  collective,  ///< of a kind that its operation does not say
  acquire,  ///< a tensor's bytes come alive
  release  ///< and end
};
inline constexpr int event_kinds = 14;

/// "all_reduce" and so on.
constexpr std::string_view name_of(event_kind k) {
  constexpr std::string_view names[event_kinds] = {
      "compute",   "all_reduce", "reduce_scatter", "all_gather", "all_to_all",
      "broadcast", "reduce",     "gather",         "scatter",    "scan",
      "message",   "collective", "acquire",        "release"};
  return names[static_cast<int>(k)];
}
/// Does it use the network?
constexpr bool is_communication(event_kind k) {
  return k > event_kind::compute && k < event_kind::acquire;
}

/// Is it a move from its beginning to its end, or one of these? Of a move that is started, the
/// start says the bytes, the finish how long somebody waited for it.
enum class event_part : unsigned char { whole, start, finish };

/// What each of n ranks sends under a ring algorithm to reduce, scatter or gather `whole` bytes; of
/// other collectives, the bytes themselves.
constexpr index_t ring_bytes(event_kind k, index_t whole, index_t n) {
  if (k == event_kind::all_reduce) return 2 * (n - 1) * whole / n;
  if (k == event_kind::reduce_scatter || k == event_kind::all_gather) return whole - whole / n;
  return whole;
}

/// One thing that a rank does. Names live as long as the program.
struct event {
  event_kind kind = event_kind::compute;
  event_part part = event_part::whole;  ///< of communication
  unsigned axes = 0;  ///< of a collective: bit a is axis a of the mesh
  std::uint64_t mesh = 0;  ///< the number of that mesh (mesh_number<M>); 0: not said
  std::string_view what{};  ///< the operation that runs, "einsum"; empty between operations
  std::string_view transpose_of{};  ///< on the way back: the operation whose cotangents are made
  std::string_view phase{};  ///< the innermost trace_span around it; empty while compiling
  index_t flops = 0;  ///< multiply-add = 2
  index_t moved = 0;  ///< bytes read and written locally
  index_t bytes = 0;  ///< payload: what the rank hands to MPI
  index_t ring_bytes = 0;  ///< what the rank sends under a ring algorithm
  index_t memory = 0;  ///< bytes acquired, or (negative) released
  index_t live = 0;  ///< of acquire and release: bytes alive from now on
  double begin = 0, end = 0;  ///< on data: seconds on this rank's clock (timeline::now)

  /// Does it belong to a transpose?
  constexpr bool backward() const { return !transpose_of.empty(); }
};

namespace detail {
class watched;
class operands;
struct tensor_core;
}  // namespace detail

/// Takes events as they come. Derived classes say what becomes of them.
class event_sink {
 public:
  constexpr virtual void take(const event& e) = 0;
  /// An operation on data has written this result from these operands.
  constexpr virtual void see(const detail::tensor_core&, const detail::operands&) {}
  /// Does `see` look at operands? Then no result is written over one.
  constexpr virtual bool sees_operands() const { return false; }

  /// Takes an event, with the names of what runs just now.
  constexpr void report(event e) {
    e.what = what_;
    e.transpose_of = transpose_of_;
    if (is_communication(e.kind)) e.part = part_;
    if (!std::is_constant_evaluated() && detail::phase_here != nullptr)
      e.phase = detail::phase_here;
    take(e);
  }

 protected:
  constexpr ~event_sink() = default;
  constexpr std::string_view what() const { return what_; }
  constexpr std::string_view transpose_of() const { return transpose_of_; }

 private:
  friend class running;
  friend class detail::watched;
  friend class in_part;
  std::string_view what_{}, transpose_of_{};
  event_part part_ = event_part::whole;
};

/// Keeps them all, in their order.
class event_list final : public event_sink {
 public:
  constexpr void take(const event& e) override { events.push_back(e); }
  std::vector<event> events;
};

/// While one of these lives, the events of a sink (which may be null) are those of operation
/// `what`; or, on the way back, of the transpose of an operation.
class [[nodiscard]] running {
 public:
  constexpr running(event_sink* s, std::string_view what) : sink_(s) {
    if (s == nullptr) return;
    what_ = s->what_;
    transpose_of_ = s->transpose_of_;
    s->what_ = what;
  }
  static constexpr running transpose(event_sink* s, std::string_view of) {
    return running(s, {}, of);
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  constexpr ~running() {
    if (sink_ == nullptr) return;
    sink_->what_ = what_;
    sink_->transpose_of_ = transpose_of_;
  }

 private:
  constexpr running(event_sink* s, std::string_view what, std::string_view of) : running(s, what) {
    if (s != nullptr) s->transpose_of_ = of;
  }
  event_sink* sink_;
  std::string_view what_{}, transpose_of_{};
};

/// While one of these lives, communication that a sink (which may be null) hears of is a part of a
/// started move.
class [[nodiscard]] in_part {
 public:
  constexpr in_part(event_sink* s, event_part p) : sink_(s) {
    if (s != nullptr) before_ = std::exchange(s->part_, p);
  }
  in_part(const in_part&) = delete;
  in_part& operator=(const in_part&) = delete;
  constexpr ~in_part() {
    if (sink_ != nullptr) sink_->part_ = before_;
  }

 private:
  event_sink* sink_;
  event_part before_ = event_part::whole;
};

namespace detail {
/// Where operations on data report on this thread; null: nowhere.
inline constinit thread_local event_sink* watcher = nullptr;
}  // namespace detail

/// While one of these lives, what this thread does to data is reported to a sink: operations when
/// their local call is over, collectives when they are (those that only start: when they have), and
/// memory of the pool, scratch included. The innermost one counts. Without one, each operation,
/// collective and buffer asks once whether there is one.
class [[nodiscard]] watch {
 public:
  explicit watch(event_sink& s) : before_(detail::watcher) { detail::watcher = &s; }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  ~watch() { detail::watcher = before_; }

 private:
  event_sink* before_;
};

namespace detail {

/// Reports what is done from here to the end of the scope as an event, if anybody watches. Nobody
/// does in constant expressions.
class [[nodiscard]] watched {
 public:
  /// A collective over a set of axes.
  constexpr watched(event_kind kind, unsigned axes, index_t bytes, index_t ring_bytes,
                    std::uint64_t mesh = 0)
      : sink_(std::is_constant_evaluated() ? nullptr : watcher),
        told_(std::is_constant_evaluated() || !is_communication(kind) ? nullptr : listener()) {
    if (sink_ != nullptr || told_ != nullptr) [[unlikely]]
      begin(kind, axes, bytes, ring_bytes, mesh);
  }
  /// Arithmetic and bytes through memory.
  constexpr watched(index_t flops, index_t moved) : watched(event_kind::compute, 0, flops, moved) {}
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
  constexpr ~watched() {
    if (sink_ != nullptr || told_ != nullptr) [[unlikely]]
      finish();
  }

 private:
  static wait_listener* listener() { return waits_told_to.load(std::memory_order_acquire); }
  [[gnu::noinline]] void begin(event_kind kind, unsigned axes, index_t first, index_t second,
                               std::uint64_t mesh) {
    kind_ = kind, axes_ = axes, mesh_ = mesh;
    first_ = first, second_ = second, begin_ = 0;
    if (told_ != nullptr)
      told_->enter(name_of(kind_), sink_ != nullptr ? sink_->what_ : std::string_view(), first_);
    if (sink_ != nullptr) begin_ = timeline::now();
  }
  [[gnu::noinline]] void finish() const {
    if (told_ != nullptr) told_->leave();
    if (sink_ == nullptr) return;
    event e;
    e.kind = kind_;
    e.axes = axes_;
    e.mesh = mesh_;
    (kind_ == event_kind::compute ? e.flops : e.bytes) = first_;
    (kind_ == event_kind::compute ? e.moved : e.ring_bytes) = second_;
    e.begin = begin_;
    e.end = timeline::now();
    sink_->report(e);
  }
  // Of no event, where nobody wants to know:
  event_kind kind_;
  unsigned axes_;
  std::uint64_t mesh_;
  index_t first_, second_;
  double begin_;
  event_sink* sink_;
  wait_listener* told_;  // null of what is no communication
};

/// Memory has been acquired or (negative) released; `live` bytes are alive now.
[[gnu::noinline]] inline void report_memory(event_sink& to, index_t bytes, index_t live) {
  event e;
  e.kind = bytes < 0 ? event_kind::release : event_kind::acquire;
  e.memory = bytes;
  e.live = live;
  e.begin = e.end = timeline::now();
  to.report(e);
}

}  // namespace detail
}  // namespace dimesh
