// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happens when a program is counted, one event after the other, as text that can be compared?
//
//   CHECK(what_happens(f, probes...) == what_happens(f, shapes...))
//   CHECK(first_difference(a, b) == "")     of long ones
#pragma once

#include <sstream>
#include <string>

#include "dimesh/grad/cost.hpp"

namespace test_support {

/// Every event of f(x...), counted on shapes or probes, in a line.
template <class F, class... X> std::string what_happens(const F& f, const X&... x) {
  dimesh::event_list list;
  dimesh::count_to(list, f, x...);
  std::ostringstream all;
  for (const dimesh::event& e : list.events)
    all << name_of(e.kind) << " over " << e.axes << " of " << e.what << " (" << e.transpose_of
        << "): " << e.flops << " flops, " << e.moved << " moved, " << e.bytes << " sent, "
        << e.ring_bytes << " in a ring, " << e.memory << " of " << e.live << '\n';
  return all.str();
}

/// The first line in which two texts differ, as either has it; nothing where they are equal.
inline std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream in_a(a), in_b(b);
  for (int number = 1; in_a || in_b; ++number) {
    std::string one, other;
    std::getline(in_a, one), std::getline(in_b, other);
    if (one != other) return "line " + std::to_string(number) + ": " + one + " | " + other;
  }
  return "";
}

}  // namespace test_support
