// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who wants to know where a rank waits for others? The watchdog (watchdog.hpp), where the runtime
// or a training run has started one: then this is not null.
//
//   const waiting here("grid");    // until the end of the scope
#pragma once

#include <atomic>
#include <string_view>

#include "dimesh/detail/config.hpp"

namespace dimesh::detail {

class wait_listener {
 public:
  /// This rank is about to wait in a call, within an operation, with so many bytes (-1: unknown).
  virtual void enter(std::string_view call, std::string_view within, index_t bytes) = 0;
  virtual void leave() = 0;
  /// This rank begins a step of its training; -1: it has left them.
  virtual void at_step(index_t step) = 0;

 protected:
  ~wait_listener() = default;
};
/// Never freed once it was here: another thread may be in a call that has told it.
inline constinit std::atomic<wait_listener*> waits_told_to{nullptr};

class [[nodiscard]] waiting {
 public:
  explicit waiting(const char* call) : told_(waits_told_to.load(std::memory_order_acquire)) {
    if (told_ != nullptr) [[unlikely]]
      told_->enter(call, {}, -1);
  }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;
  ~waiting() {
    if (told_ != nullptr) [[unlikely]]
      told_->leave();
  }

 private:
  wait_listener* told_;
};

}  // namespace dimesh::detail
