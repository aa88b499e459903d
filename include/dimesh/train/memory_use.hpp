// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much memory do tensors take on this rank? Bytes that were asked for, of all tensors, tapes
// and buffers of the library.
//
//   restart_peak_memory();   step();
//   memory_in_use().peak     // the most at once since then
#pragma once

#include "dimesh/memory/pool.hpp"

namespace dimesh {

struct memory_use {
  index_t live = 0;  ///< bytes, now
  index_t peak = 0;  ///< bytes, the most at once
  index_t allocations = 0;  ///< how often memory came from the system
};

/// Of this rank, since the program began or the peak was restarted.
inline memory_use memory_in_use() {
  const detail::pool_figures f = detail::pool::instance().figures();
  return {f.live, f.peak, f.allocations};
}
/// From now on the peak counts.
inline void restart_peak_memory() { detail::pool::instance().restart_peak(); }

}  // namespace dimesh
