// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the nodes of a tape live? In chunks of its own, which go back to a list that all tapes
// share: tapes end in any order, on any thread, and a training step allocates nothing once the
// first is over.
//
//   tape_memory m;  m.take(bytes)   // aligned to 64 bytes, until m ends
#pragma once

#include <cstddef>
#include <mutex>
#include <new>

#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

struct memory_chunk {
  memory_chunk* next = nullptr;
  std::size_t size = 0;
};

/// Chunks that no tape uses.
class chunk_list {
 public:
  static chunk_list& instance() {
    static chunk_list* it =
        new chunk_list;  // never destroyed: tapes may outlive static destructors
    return *it;
  }
  /// A chunk of `size` bytes at least, its head included.
  DIMESH_OUTLINE inline memory_chunk* take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    for (memory_chunk** at = &free_; *at != nullptr; at = &(*at)->next)
      if ((*at)->size >= size) {
        memory_chunk* const found = *at;
        *at = found->next;
        return found;
      }
    auto* const made = static_cast<memory_chunk*>(::operator new(size, std::align_val_t{64}));
    made->size = size;
    return made;
  }
  DIMESH_OUTLINE inline void give_back(memory_chunk* c) {
    const std::lock_guard lock(mutex_);
    while (c != nullptr) {
      memory_chunk* const next = c->next;
      c->next = free_;
      free_ = c;
      c = next;
    }
  }

 private:
  std::mutex mutex_;
  memory_chunk* free_ = nullptr;
};

class tape_memory {
 public:
  constexpr tape_memory() = default;
  tape_memory(const tape_memory&) = delete;
  tape_memory& operator=(const tape_memory&) = delete;
  constexpr ~tape_memory() {
    if (chunks_ != nullptr) chunk_list::instance().give_back(chunks_);
  }

  DIMESH_OUTLINE inline void* take(std::size_t bytes) {
    bytes = (bytes + 63) / 64 * 64;
    if (chunks_ == nullptr || used_ + bytes > chunks_->size) {
      const std::size_t size = 64 + bytes > usual ? 64 + bytes : usual;
      memory_chunk* const c = chunk_list::instance().take(size);
      c->next = chunks_;
      chunks_ = c;
      used_ = 64;
    }
    void* const at = reinterpret_cast<std::byte*>(chunks_) + used_;
    used_ += bytes;
    return at;
  }

 private:
  static constexpr std::size_t usual = std::size_t{1} << 16;
  memory_chunk* chunks_ = nullptr;  // the newest first
  std::size_t used_ = 0;            // of the newest
};

}  // namespace dimesh::detail
