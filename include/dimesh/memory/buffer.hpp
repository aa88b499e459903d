// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a pool (pool.hpp) know of a buffer that it has handed out? How large it is, how many
// handles there are of it, and whose memory it is.
//
//   buffer* b = ...;  b->owners   -> handles;   b->home->release(b) by the last of them
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>

#include "dimesh/detail/config.hpp"

namespace dimesh::detail {

/// Whose memory a buffer is: the pool's, or the program's, to be written or only to be read.
enum class lent : unsigned char { no, to_write, to_read };

class pool;

/// A buffer of the pool; `next` links free ones of one size.
struct buffer {
  void* data = nullptr;
  std::size_t capacity = 0, asked = 0;
  int slot = 0;  // of its capacity
  std::atomic<int> owners{0};
  buffer* next = nullptr;
  buffer* whole = nullptr;  // of a part: the buffer that it lies in, and keeps
  bool in_slab = false;
  bool of_owner = false;  // it belongs to the free lists of the pool's owner
  pool* home = nullptr;
  lent from_program = lent::no;
  std::shared_ptr<const void> keeps;  // of lent memory: what keeps it there
};

/// A number that one thread at a time changes, and any may read.
class one_writers_number {
 public:
  index_t get() const { return value_.load(std::memory_order_relaxed); }
  void set(index_t n) { value_.store(n, std::memory_order_relaxed); }

 private:
  std::atomic<index_t> value_{0};
};

/// What the pool has handed out, in bytes asked for.
struct pool_figures {
  index_t live = 0, peak = 0;
  index_t allocations = 0;  ///< how often the pool had to make a buffer
};

/// The pools whose owner is this thread, which gives them up when it ends.
struct owned_pools {
  pool* first = nullptr;
  owned_pools() = default;
  owned_pools(const owned_pools&) = delete;
  owned_pools& operator=(const owned_pools&) = delete;
  ~owned_pools();
  static owned_pools& here() {
    static thread_local owned_pools it;
    return it;
  }
};

/// Held for a few instructions, by hardly anybody: a mutex would be half of what a result costs.
class short_lock {
 public:
  bool try_lock() { return !held_.test_and_set(std::memory_order_acquire); }
  void lock() {
    while (!try_lock()) std::this_thread::yield();
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;
};

}  // namespace dimesh::detail
