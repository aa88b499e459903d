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
#include <string>
#include <utility>

namespace dimesh::detail {

class key_uses {
 public:
  static key_uses& here() {
    static key_uses all;
    return all;
  }
  /// `type` and `block` say which tensor it is: the same again may be drawn anew. `words` are for
  /// who reads the note. Of very many keys the first are known.
  void add(std::uint64_t key, const void* type, const void* block, const std::string& words) {
    const std::lock_guard lock(mutex_);
    if (block == nullptr || (blocks_.size() > 10000 && blocks_.count({key, type}) == 0)) return;
    const auto [first, is_new] = blocks_.try_emplace({key, type}, block);
    if (!is_new && first->second != block && twice_.empty()) twice_ = words;
  }
  void tell() {
    const std::lock_guard lock(mutex_);
    if (!twice_.empty())
      std::fprintf(stderr,
                   "dimesh: note: one random_key has filled two tensors %s, which have the same "
                   "numbers then; key.fold(n) gives each its own\n",
                   twice_.c_str());
    twice_.clear();
    blocks_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, const void*>, const void*> blocks_;
  std::string twice_;
};

}  // namespace dimesh::detail
