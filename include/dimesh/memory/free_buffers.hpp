// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that nobody has: by size, and what becomes of them where memory is needed.
//
//   lists.put(b);   buffer* b = lists.take(slot_of_size(4096));
#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/memory/buffer.hpp"
#include "dimesh/memory/slab.hpp"
#include "dimesh/memory/space.hpp"

namespace dimesh::detail {

// Sizes are 4, 5, 6, 7 times a power of two: at most a quarter is wasted.
inline int slot_of_size(std::size_t bytes) {
  if (bytes <= 64) return 0;
  const auto width = static_cast<int>(std::bit_width(bytes - 1));
  const auto quarter = ((bytes - 1) >> (width - 3)) & 3;
  return (width - 7) * 4 + static_cast<int>(quarter) + 1;
}
inline std::size_t size_of_slot(int slot) {
  if (slot == 0) return 64;
  const int width = (slot - 1) / 4 + 7;
  return (std::size_t{4} + static_cast<std::size_t>((slot - 1) % 4) + 1) << (width - 3);
}

/// Buffers that nobody has, by slot.
class free_buffers {
 public:
  buffer* take(int slot) {
    buffer*& head = first_[static_cast<std::size_t>(slot)];
    buffer* const b = head;
    if (b != nullptr) head = b->next;
    return b;
  }
  void put(buffer* b) {
    buffer*& head = first_[static_cast<std::size_t>(b->slot)];
    b->next = head;
    head = b;
  }
  /// Those of another list, which has none left.
  void put_all(free_buffers& others) {
    for (buffer*& head : others)
      while (buffer* const b = head) {
        head = b->next;
        put(b);
      }
  }
  buffer** begin() { return first_.data(); }
  buffer** end() { return first_.data() + first_.size(); }

 private:
  std::array<buffer*, 256> first_{};
};

/// Gives them back to the space, those in slabs only if asked to. Returns their bytes.
std::size_t free_memory(free_buffers& lists, const space_facts& space, slabs& all_slabs,
                        bool those_of_slabs);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline std::size_t free_memory(free_buffers& lists, const space_facts& space,
                                              slabs& all_slabs, bool those_of_slabs) {
  std::size_t bytes = 0;
  for (buffer*& head : lists)
    for (buffer** at = &head; *at != nullptr;) {
      buffer* const b = *at;
      if (b->in_slab && !those_of_slabs && !slabs::has_own(b->capacity)) {
        at = &b->next;
        continue;
      }
      *at = b->next;
      bytes += b->capacity;
      if (!b->in_slab)
        space.give_back(b->data);
      else if (slabs::has_own(b->capacity))
        all_slabs.give_back(b->data);
      delete b;
    }
  return bytes;
}
#endif

}  // namespace dimesh::detail
