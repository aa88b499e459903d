// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who owns a buffer of the pool? Counted handles, of all of it or of a part, which know the space
// in which it lies.
//
//   storage s = storage::acquire(4096);   // uninitialised, 64-byte aligned
//   storage t = s.at(1024);               // shares the buffer, starts 1024 bytes further on
//   storage u = s.part(1024);             // likewise, but u.alone(): nobody else has this part
//   storage v = storage::lent_by(p, lent::to_read, keeps);   // the program's own memory
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/memory/pool.hpp"

namespace dimesh::detail {

/// A counted handle of (a part of) a pool buffer.
class storage {
 public:
  constexpr storage() = default;
  /// In the space that this thread works in, or in the one given (null: the default one).
  static storage acquire(std::size_t bytes) { return acquire(bytes, space_now); }
  DIMESH_OUTLINE static inline storage acquire(std::size_t bytes, const space_facts* space) {
    storage s;
    s.buffer_ = pool::of(space).acquire(bytes);
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
  /// Memory of the program in a space, which stays there as long as `keeps` does (null: as long as
  /// it takes).
  static storage lent_by(void* data, lent how, std::shared_ptr<const void> keeps,
                         const space_facts* space = nullptr) {
    storage s;
    s.buffer_ = pool::of(space).borrow(data, how, std::move(keeps));
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
    s.buffer_ = buffer_->home->part_of(buffer_);
    s.data_ = static_cast<std::byte*>(data_) + bytes;
    return s;
  }
  /// What a part is a part of; null where it is none.
  const void* slab() const { return buffer_ != nullptr ? buffer_->whole : nullptr; }
  constexpr void* data() const { return data_; }
  /// Null: the default one.
  const space_facts* space() const { return buffer_ != nullptr ? buffer_->home->space() : nullptr; }
  constexpr explicit operator bool() const { return buffer_ != nullptr; }
  /// May it be written without anybody else noticing who should not?
  constexpr bool alone() const {
    return buffer_ != nullptr && buffer_->owners.load(std::memory_order_acquire) == 1 &&
           buffer_->from_program != lent::to_read;
  }
  /// Room for so many bytes, in which nobody else has any: this memory, if it serves, or other.
  void become_room(std::size_t bytes) {
    if (!alone() || buffer_->capacity < bytes || buffer_->home != &pool::of(space_now))
      *this = acquire(bytes);
  }
  constexpr bool lent_to_write() const {
    return buffer_ != nullptr && buffer_->from_program == lent::to_write;
  }

 private:
  /// Out of line: handles die in many places.
  DIMESH_OUTLINE static inline void let_go(buffer* b) noexcept {
    // Where this is the only handle nobody can make another, and nothing is counted down.
    while (b != nullptr && (b->owners.load(std::memory_order_acquire) == 1 ||
                            b->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)) {
      buffer* const whole = b->whole;
      b->home->release(b);
      b = whole;
    }
  }
  buffer* buffer_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace dimesh::detail
