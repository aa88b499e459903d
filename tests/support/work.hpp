// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much does a call do? What its events say, summed.
#pragma once

#include <cstdint>

#include "dimesh/ledger/event.hpp"

namespace test_support {
namespace dm = dimesh;

/// Flops of a call on this rank, and bytes that it hands to MPI.
struct work {
  std::int64_t flops = 0, bytes = 0;
};
template <class F> work work_of(const F& f) {
  dm::event_list list;
  {
    const dm::watch all(list);
    f();
  }
  work w;
  for (const dm::event& e : list.events) w.flops += e.flops, w.bytes += e.bytes;
  return w;
}

}  // namespace test_support
