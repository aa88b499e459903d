// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are raw bytes set and copied where tensors live? By memset and memcpy on hosts, by Kokkos on
// devices. Kokkos' own deep_copy of views costs the compiler, and small arrays, much more.
//
//   zero_bytes(x.data(), x.local_bytes());   copy_bytes(y.data(), x.data(), x.local_bytes());
#pragma once

#include <Kokkos_Core.hpp>
#include <cstring>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/error.hpp"
#include "dimesh/memory/storage.hpp"

namespace dimesh::detail {

/// Memory that the host reaches is the host's when kernels of a device have ended that may still
/// write there.
inline bool is_settled(bool reached) {
  if constexpr (!hosts_only)
    if (reached) Kokkos::fence();
  return reached;
}
/// Are pointers to what this thread works on good for the host?
inline bool reached_now() {
  return is_settled(space_now == nullptr ? on_host : space_now->is_reached);
}

void zero_bytes(void* to, index_t bytes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void zero_bytes(void* to, index_t bytes) {
  const auto n = static_cast<std::size_t>(bytes);
  if (n == 0) return;
  const opened memory;
  if (reached_now())
    std::memset(to, 0, n);
  else
    facts_of_space(space_now).set(to, 0, n);
}
#endif

void copy_bytes(void* to, const void* from, index_t bytes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void copy_bytes(void* to, const void* from, index_t bytes) {
  const auto n = static_cast<std::size_t>(bytes);
  if (n == 0) return;
  const opened memory;
  if (reached_now())
    std::memcpy(to, from, n);
  else
    facts_of_space(space_now).copy(to, from, n);
}
#endif

/// The same from memory of the host to where tensors live, and back.
inline void copy_from_host(void* to, const void* from, index_t bytes) {
  if (bytes > 0) facts_of_space(space_now).copy_in(to, from, static_cast<std::size_t>(bytes));
}
inline void copy_to_host(void* to, const void* from, index_t bytes) {
  if (bytes > 0) facts_of_space(space_now).copy_out(to, from, static_cast<std::size_t>(bytes));
}

/// The same from one space to another (null: the default one).
void copy_between(void* to, const space_facts* there, const void* from, const space_facts* here,
                  index_t bytes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void copy_between(void* to, const space_facts* there, const void* from,
                                        const space_facts* here, index_t bytes) {
  const auto n = static_cast<std::size_t>(bytes);
  const space_facts &a = facts_of_space(here), &b = facts_of_space(there);
  if (n == 0) return;
  const opened memory;
  if (is_settled(a.is_reached)) return b.copy_in(to, from, n);
  if (is_settled(b.is_reached)) return a.copy_out(to, from, n);
  if (a.memory == b.memory) return a.copy(to, from, n);
  const storage near = storage::acquire(n, &facts_of_memory<pinned_space>);
  a.copy_out(near.data(), from, n);
  b.copy_in(to, near.data(), n);
}
#endif

/// Before elements are written where they lie: memory that others hold, too, is left to them, and
/// the writer takes some of its own. Keeping: the elements come along. Throws dimesh::error where
/// the memory is the program's, lent to be written: it would not see what is written elsewhere.
void own_memory(storage& memory, index_t bytes, bool keeping);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void own_memory(storage& memory, index_t bytes, bool keeping) {
  if (!memory || memory.alone()) return;
  if (memory.lent_to_write())
    throw error(
        "tensor: memory of the program, borrowed to be written, is shared by another tensor "
        "now; let that one go first, or clone it");
  storage mine = storage::acquire(static_cast<std::size_t>(bytes), memory.space());
  const in_space there(memory.space());
  if (keeping) copy_bytes(mine.data(), memory.data(), bytes);
  memory = std::move(mine);
}
#endif
/// The same of a tensor's.
template <class X> void own_memory(X& x, bool keeping) {
  own_memory(x.memory(), x.local_bytes(), keeping);
}

/// One element, from the host.
template <class T> void set_element(T* to, T value) {
  const opened memory;
  if (reached_now())
    *to = value;
  else
    copy_from_host(to, &value, sizeof(T));
}

/// One element, on the host.
template <class T> T get_element(const T* from) {
  const opened memory;
  if (reached_now()) return *from;
  T value{};
  copy_to_host(&value, from, sizeof(T));
  return value;
}

}  // namespace dimesh::detail
