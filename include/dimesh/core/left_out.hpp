// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which cotangents does a node not give in this part of a way back in two? In the first part those
// that can wait and are worth it, in the second the others. What is cheap (of a bias, of gains)
// does not wait: it would keep more than it saves.
//
//   const unsigned late = late_ones(operands);
//   const left_out others(operands, late);    // their cells are away
//   others.put_back(operands);
#pragma once

#include "dimesh/core/operation.hpp"

namespace dimesh::detail {

/// The operands whose cotangents can wait for the second part, as a mask.
constexpr unsigned late_ones(const held* operands) {
  unsigned late = 0, bit = 1;
  for (const held* h = operands; h != nullptr; h = h->next, bit <<= 1)
    if (h->to != nullptr && h->to->late()) late |= bit;
  return late;
}

/// Where cotangents go that the part of a way back under way leaves out. It is away meanwhile.
struct left_out {
  cell* at[max_operands] = {};
  int count = 0, stay = 0;

  constexpr left_out(held* operands, unsigned away) {
    int i = 0;
    for (held* h = operands; h != nullptr; h = h->next, ++i)
      if (h->to != nullptr && (away >> i & 1u) != 0)
        at[i] = std::exchange(h->to, nullptr), ++count;
      else if (h->to != nullptr)
        ++stay;
  }
  constexpr void put_back(held* operands) const {
    int i = 0;
    for (held* h = operands; h != nullptr; h = h->next, ++i)
      if (at[i] != nullptr) h->to = at[i];
  }
};

}  // namespace dimesh::detail
