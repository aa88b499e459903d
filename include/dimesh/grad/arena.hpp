// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do short lists live while a struct is completed or sharded? In chunks that the next call
// uses again, so that a training step allocates nothing once the first is over. The last scope
// opened ends first. (The nodes of tapes have memory of their own: core/tape_memory.hpp.)
//
//   const arena::scope here;  ... arena::here().take(bytes) ...   // given back at the end
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

class arena {
 public:
  static arena& here();
  struct place {
    std::size_t chunk = 0, used = 0;
  };
  /// Gives back, when it ends, what has been taken since it began.
  class scope {
   public:
    scope() : begin_(here().mark()) {}
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() { here().back_to(begin_); }

   private:
    place begin_;
  };
  place mark() const { return at_; }
  void back_to(place p) { at_ = p; }

  /// Aligned to 64 bytes.
  void* take(std::size_t bytes);

 private:
  static constexpr std::size_t chunk_size = std::size_t{1} << 16;
  struct chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };
  std::vector<chunk> chunks_;
  place at_;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline arena& arena::here() {
  thread_local arena a;
  return a;
}
DIMESH_OUTLINE inline void* arena::take(std::size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  while (at_.chunk < chunks_.size() && at_.used + bytes > chunks_[at_.chunk].size)
    at_ = {at_.chunk + 1, 0};
  if (at_.chunk == chunks_.size()) {
    const std::size_t size = bytes > chunk_size ? bytes : chunk_size;
    chunks_.push_back({std::make_unique<std::byte[]>(size + 64), size});
  }
  const auto start = reinterpret_cast<std::uintptr_t>(chunks_[at_.chunk].bytes.get());
  const std::uintptr_t aligned = (start + 63) / 64 * 64 + at_.used;
  at_.used += bytes;
  return reinterpret_cast<void*>(aligned);
}
#endif

}  // namespace dimesh::detail
