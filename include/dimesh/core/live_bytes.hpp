// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a ledger know how many bytes are alive at once? Shapes hold a counted handle to the
// bytes that they would have, as tensors hold their memory.
//
//   live_bytes a(&t, 64), b = a;   // t.live == 64 until both are gone
#pragma once

#include <utility>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/ledger/ledger.hpp"

namespace dimesh::detail {

/// Bytes that count as live on a tally for as long as a handle to them lives.
class live_bytes {
 public:
  constexpr live_bytes() = default;
  constexpr live_bytes(tally* t, index_t bytes) : tally_(t) {
    if (tally_ == nullptr) return;
    count_ = new counter{1, bytes};
    tally_->hold(bytes);
  }
  constexpr live_bytes(const live_bytes& o) : tally_(o.tally_), count_(o.count_) {
    if (count_ != nullptr) ++count_->owners;
  }
  constexpr live_bytes(live_bytes&& o) noexcept : tally_(o.tally_), count_(o.count_) {
    o.count_ = nullptr;
  }
  constexpr live_bytes& operator=(const live_bytes& o) {
    if (count_ == o.count_) return *this;
    let_go();
    tally_ = o.tally_;
    count_ = o.count_;
    if (count_ != nullptr) ++count_->owners;
    return *this;
  }
  constexpr live_bytes& operator=(live_bytes&& o) noexcept {
    // o may be *this; to ask so is no constant expression to g++ 14, where o is a temporary.
    counter* const count = std::exchange(o.count_, nullptr);
    let_go();
    tally_ = o.tally_;
    count_ = count;
    return *this;
  }
  constexpr ~live_bytes() {
    if (count_ != nullptr) let_go();
  }
  constexpr bool alone() const { return count_ != nullptr && count_->owners == 1; }
  /// Lets go, but the bytes count as live to the end.
  constexpr void pin() {
    if (count_ != nullptr && --count_->owners == 0) delete count_;
    count_ = nullptr;
  }

 private:
  struct counter {
    int owners;
    index_t bytes;
  };
  DIMESH_OUTLINE constexpr void let_go() {
    if (count_ != nullptr && --count_->owners == 0) {
      tally_->hold(-count_->bytes);
      delete count_;
    }
    count_ = nullptr;
  }
  tally* tally_ = nullptr;
  counter* count_ = nullptr;
};

}  // namespace dimesh::detail
