// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do tensors get their memory? From lists of free buffers, by size: after the first step of
// a training loop nothing is allocated any more. Handles count their owners.
//
//   storage s = storage::acquire(4096);   // uninitialised, 64-byte aligned, in the default memory
//                                         space
//   storage t = s.at(1024);               // shares the buffer, starts 1024 bytes further on
//   storage u = s.part(1024);             // likewise, but u.alone(): nobody else has this part
//   storage v = storage::lent_by(p, lent::to_read, keeps);   // the program's own memory
//
// Where it spoils them, buffers are given out full of 0xff, which is NaN, or -1: an element that no
// kernel wrote is then seen. It does so with DIMESH_CHECKED, and where tests tell it to.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/config.hpp"
#include "dimesh/error.hpp"
#include "dimesh/ledger/event.hpp"
#include "dimesh/memory/closed.hpp"
#include "dimesh/memory/slab.hpp"

namespace dimesh::detail {

/// Whose memory a buffer is: the pool's, or the program's, to be written or only to be read.
enum class lent : unsigned char { no, to_write, to_read };

/// A buffer of the pool; `next` links free ones of one size.
struct buffer {
  void* data = nullptr;
  std::size_t capacity = 0, asked = 0;
  std::atomic<int> owners{0};
  buffer* next = nullptr;
  buffer* whole = nullptr;  // of a part: the buffer that it lies in, and keeps
  bool in_slab = false;
  lent from_program = lent::no;
  std::shared_ptr<const void> keeps;  // of lent memory: what keeps it there
};

/// What the pool has handed out, in bytes asked for.
struct pool_figures {
  index_t live = 0, peak = 0;
  index_t allocations = 0;  ///< how often the pool had to make a buffer
};

class pool {
 public:
  static pool& instance();

  buffer* acquire(std::size_t bytes);

  /// A part of a buffer, with owners of its own.
  buffer* part_of(buffer* whole);
  /// A record of memory that is not the pool's.
  buffer* borrow(void* data, lent how, std::shared_ptr<const void> keeps);

  void release(buffer* b);

  pool_figures figures() const { return figures_; }
  void restart_peak() { figures_.peak = figures_.live; }

  /// Are buffers spoilt before they are given out, from now on?
  void spoil_fresh(bool on) { spoils_ = on; }

 private:
  void take_back(buffer* b);
  /// A record of no memory of its own.
  buffer* record();
  /// Its memory is as its last owner left it.
  buffer* take(std::size_t bytes);

  static void spoil(void* data, std::size_t bytes);

  // Sizes are 4, 5, 6, 7 times a power of two: at most a quarter is wasted.
  static int slot_of(std::size_t bytes);
  static std::size_t size_of(int slot);
  void drain();

  std::array<buffer*, 256> free_{};
  buffer* parts_ = nullptr;  // free records of parts
  slabs slabs_;
  std::mutex mutex_;
  pool_figures figures_;
  bool hooked_ = false, drained_ = false;
#ifdef DIMESH_CHECKED
  bool spoils_ = true;
#else
  bool spoils_ = false;
#endif
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline pool& pool::instance() {
  static pool* it = new pool;  // never destroyed: handles may outlive static destructors
  return *it;
}
DIMESH_OUTLINE inline buffer* pool::acquire(std::size_t bytes) {
  buffer* const b = take(bytes);
  if (spoils_) spoil(b->data, bytes);
  if (watcher != nullptr) [[unlikely]]
    report_memory(*watcher, static_cast<index_t>(bytes), figures_.live);
  return b;
}
DIMESH_OUTLINE inline buffer* pool::part_of(buffer* whole) {
  whole->owners.fetch_add(1, std::memory_order_relaxed);
  buffer* const b = record();
  b->whole = whole;
  b->from_program = whole->from_program;
  return b;
}
DIMESH_OUTLINE inline buffer* pool::borrow(void* data, lent how,
                                           std::shared_ptr<const void> keeps) {
  buffer* const b = record();
  b->data = data;
  b->whole = nullptr;
  b->from_program = how;
  b->keeps = std::move(keeps);
  return b;
}
DIMESH_OUTLINE inline void pool::release(buffer* b) {
  const auto bytes = static_cast<index_t>(b->asked);
  const bool ends = b->whole == nullptr && b->from_program == lent::no;
  const std::shared_ptr<const void> kept = std::move(b->keeps);  // ends after the lock
  take_back(b);
  if (ends && watcher != nullptr) [[unlikely]]
    report_memory(*watcher, -bytes, figures_.live);
}
DIMESH_OUTLINE inline void pool::take_back(buffer* b) {
  const std::lock_guard lock(mutex_);
  if (b->whole != nullptr || b->from_program != lent::no) {
    b->next = parts_;
    parts_ = b;
    return;
  }
  figures_.live -= static_cast<index_t>(b->asked);
  if (drained_) {  // Kokkos has ended and taken the memory back
    delete b;
    return;
  }
  buffer*& head = free_[static_cast<std::size_t>(slot_of(b->capacity))];
  b->next = head;
  head = b;
}
DIMESH_OUTLINE inline buffer* pool::record() {
  const std::lock_guard lock(mutex_);
  buffer* b = parts_;
  if (b != nullptr)
    parts_ = b->next;
  else
    b = new buffer;
  b->owners.store(1, std::memory_order_relaxed);
  return b;
}
DIMESH_OUTLINE inline buffer* pool::take(std::size_t bytes) {
  const int slot = slot_of(bytes);
  const std::lock_guard lock(mutex_);
  buffer*& head = free_[static_cast<std::size_t>(slot)];
  buffer* b = head;
  if (b != nullptr) {
    head = b->next;
  } else {
    if (!Kokkos::is_initialized())
      throw error(
          "tensor: there is no memory: Kokkos has not begun, or has ended; make a "
          "dimesh::runtime first, and tensors in main, after it");
    if (!hooked_) Kokkos::push_finalize_hook([] { instance().drain(); });
    hooked_ = true;
    b = new buffer;
    b->capacity = size_of(slot);
#ifdef DIMESH_CLOSED
    b->data = closed_pages::all().take(b->capacity);
#else
    b->data = slabs_.take(b->capacity);
#endif
    b->in_slab = b->data != nullptr;
    if (!b->in_slab) b->data = Kokkos::kokkos_malloc<memory_space>("dimesh", b->capacity);
    ++figures_.allocations;
  }
  b->asked = bytes;
  b->owners.store(1, std::memory_order_relaxed);
  figures_.live += static_cast<index_t>(bytes);
  if (figures_.live > figures_.peak) figures_.peak = figures_.live;
  return b;
}
DIMESH_OUTLINE inline void pool::spoil(void* data, std::size_t bytes) {
  constexpr int pattern = 0xff;
  const opened memory;
  if constexpr (std::is_same_v<memory_space, Kokkos::HostSpace>)
    std::memset(data, pattern, bytes);
  else
    Kokkos::deep_copy(Kokkos::View<unsigned char*, memory_space, Kokkos::MemoryUnmanaged>(
                          static_cast<unsigned char*>(data), bytes),
                      static_cast<unsigned char>(pattern));
}
DIMESH_OUTLINE inline int pool::slot_of(std::size_t bytes) {
  if (bytes <= 64) return 0;
  const auto width = static_cast<int>(std::bit_width(bytes - 1));
  const auto quarter = ((bytes - 1) >> (width - 3)) & 3;
  return (width - 7) * 4 + static_cast<int>(quarter) + 1;
}
DIMESH_OUTLINE inline std::size_t pool::size_of(int slot) {
  if (slot == 0) return 64;
  const int width = (slot - 1) / 4 + 7;
  return (std::size_t{4} + static_cast<std::size_t>((slot - 1) % 4) + 1) << (width - 3);
}
DIMESH_OUTLINE inline void pool::drain() {
  const std::lock_guard lock(mutex_);
  for (buffer*& head : free_)
    while (head != nullptr) {
      buffer* b = std::exchange(head, head->next);
      if (!b->in_slab) Kokkos::kokkos_free<memory_space>(b->data);
      delete b;
    }
  if (figures_.live == 0) slabs_.give_back();  // else a handle that outlives Kokkos may need one
  drained_ = true;
}
#endif

/// A counted handle of (a part of) a pool buffer.
class storage {
 public:
  constexpr storage() = default;
  DIMESH_OUTLINE static inline storage acquire(std::size_t bytes) {
    storage s;
    s.buffer_ = pool::instance().acquire(bytes);
    s.data_ = s.buffer_->data;
    return s;
  }
  constexpr storage(const storage& o) noexcept : buffer_(o.buffer_), data_(o.data_) {
    if (buffer_ != nullptr) buffer_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  constexpr storage(storage&& o) noexcept
      : buffer_(std::exchange(o.buffer_, nullptr)), data_(std::exchange(o.data_, nullptr)) {}
  constexpr storage& operator=(storage o) noexcept {
    std::swap(buffer_, o.buffer_);
    std::swap(data_, o.data_);
    return *this;
  }
  constexpr ~storage() {
    if (buffer_ != nullptr) let_go(buffer_);
  }
  /// Memory of the program, which stays there as long as `keeps` does (null: as long as it takes).
  static storage lent_by(void* data, lent how, std::shared_ptr<const void> keeps) {
    storage s;
    s.buffer_ = pool::instance().borrow(data, how, std::move(keeps));
    s.data_ = data;
    return s;
  }
  storage at(std::size_t bytes) const {
    storage s(*this);
    s.data_ = static_cast<std::byte*>(data_) + bytes;
    return s;
  }
  /// A part whose owners are counted by themselves: whoever holds other parts of the buffer, this
  /// one is alone as long as it has one handle. Parts do not overlap; they keep the buffer.
  storage part(std::size_t bytes) const {
    storage s;
    s.buffer_ = pool::instance().part_of(buffer_);
    s.data_ = static_cast<std::byte*>(data_) + bytes;
    return s;
  }
  constexpr void* data() const { return data_; }
  constexpr explicit operator bool() const { return buffer_ != nullptr; }
  /// May it be written without anybody else noticing who should not?
  constexpr bool alone() const {
    return buffer_ != nullptr && buffer_->owners.load(std::memory_order_acquire) == 1 &&
           buffer_->from_program != lent::to_read;
  }
  constexpr bool lent_to_write() const {
    return buffer_ != nullptr && buffer_->from_program == lent::to_write;
  }

 private:
  /// Out of line: handles die in many places.
  DIMESH_OUTLINE static inline void let_go(buffer* b) noexcept {
    while (b != nullptr && b->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      buffer* const whole = b->whole;
      pool::instance().release(b);
      b = whole;
    }
  }
  buffer* buffer_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace dimesh::detail
