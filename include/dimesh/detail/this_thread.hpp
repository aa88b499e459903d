// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which thread is this, and does it compute? Threads that read batches ahead do not.
#pragma once

namespace dimesh::detail {

enum class thread_work : char { other, computes, ends };
/// Its address tells threads apart that live at the same time. One that makes a grid computes.
inline constinit thread_local thread_work this_thread = thread_work::other;

inline void this_thread_computes() {
  if (this_thread == thread_work::other) this_thread = thread_work::computes;
}

}  // namespace dimesh::detail
