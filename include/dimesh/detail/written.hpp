// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which memory has the program written itself? Checked builds note it where a tensor is filled, or
// its elements are handed out, and look at it when an operation first takes it
// (core/kept_replicas.hpp): what operations compute from equal replicas is equal.
#pragma once

#include <mutex>
#include <unordered_set>

namespace dimesh::detail {

class written_blocks {
 public:
  static written_blocks& here() {
    static written_blocks it;
    return it;
  }
  void add(const void* block) {
    const std::lock_guard alone(lock_);
    if (block != nullptr) blocks_.insert(block);
  }
  /// Was it noted, and is it no longer?
  bool take(const void* block) {
    const std::lock_guard alone(lock_);
    return blocks_.erase(block) != 0;
  }

 private:
  std::mutex lock_;
  std::unordered_set<const void*> blocks_;
};

}  // namespace dimesh::detail
