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
#include "dimesh/memory/pool.hpp"

namespace dimesh::detail {

inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory_space>::accessible;
/// The same of the memory of tensors X: for assertions that only a use may trip.
template <class X> inline constexpr bool is_on_host = on_host;

using raw_view = Kokkos::View<char*, memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

void zero_bytes(void* to, index_t bytes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void zero_bytes(void* to, index_t bytes) {
  const auto n = static_cast<std::size_t>(bytes);
  if (n == 0) return;
  const opened memory;
  if constexpr (on_host)
    std::memset(to, 0, n);
  else
    Kokkos::deep_copy(raw_view(static_cast<char*>(to), n), char{0});
}
#endif

void copy_bytes(void* to, const void* from, index_t bytes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void copy_bytes(void* to, const void* from, index_t bytes) {
  const auto n = static_cast<std::size_t>(bytes);
  if (n == 0) return;
  const opened memory;
  if constexpr (on_host)
    std::memcpy(to, from, n);
  else
    Kokkos::deep_copy(raw_view(static_cast<char*>(to), n),
                      raw_view(static_cast<char*>(const_cast<void*>(from)), n));
}
#endif

/// The same from memory of the host to where tensors live.
inline void copy_from_host(void* to, const void* from, index_t bytes) {
  if constexpr (on_host)
    copy_bytes(to, from, bytes);
  else if (bytes > 0)
    Kokkos::deep_copy(
        raw_view(static_cast<char*>(to), static_cast<std::size_t>(bytes)),
        Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            static_cast<const char*>(from), static_cast<std::size_t>(bytes)));
}

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
  storage mine = storage::acquire(static_cast<std::size_t>(bytes));
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
  if constexpr (on_host)
    *to = value;
  else
    Kokkos::deep_copy(Kokkos::View<T, memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(to),
                      value);
}

/// One element, on the host.
template <class T> T get_element(const T* from) {
  const opened memory;
  if constexpr (on_host) {
    return *from;
  } else {
    T value{};
    Kokkos::deep_copy(
        Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&value),
        Kokkos::View<const T, memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(from));
    return value;
  }
}

}  // namespace dimesh::detail
