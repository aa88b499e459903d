// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which key of random numbers has filled two tensors of one type? They begin with equal numbers,
// and nobody would know: two layers of a network do then what one does. Checked builds note the
// keys; the first rank names one when the runtime ends.
//
//   key_uses::here().add(bits_of_key, type, block);    // by fill_uniform, fill_normal
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

namespace dimesh::detail {

class key_uses {
 public:
  static key_uses& here() {
    static key_uses all;
    return all;
  }
  /// `type` and `block` say which tensor it is: the same again may be drawn anew.
  void add(std::uint32_t key, const void* type, const void* block) {
    const std::lock_guard lock(mutex_);
    const auto [first, is_new] = blocks_.try_emplace({key, type}, block);
    if (!is_new && first->second != block && block != nullptr) twice_ = true;
  }
  void tell() {
    const std::lock_guard lock(mutex_);
    if (twice_)
      std::fprintf(stderr,
                   "dimesh: note: one random_key has filled two tensors of one type, which have "
                   "the same numbers then; key.fold(n) gives each its own\n");
    twice_ = false;
    blocks_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, const void*>, const void*> blocks_;
  bool twice_ = false;
};

}  // namespace dimesh::detail
