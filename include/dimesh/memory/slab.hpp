// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do big buffers lie? Side by side in slabs that ask the system for huge pages: a matrix
// whose rows lie 4 KiB apart touches a page a row, and looking pages up would cost as much as the
// numbers. The largest have a slab of their own.
//
//   slabs s;
//   void* p = s.take(1 << 20);   // uninitialised, 64-byte aligned; null where slabs do not serve,
//                                // or the system has no memory for one
//   s.give_back(p);              // one that has a slab of its own
//   s.give_back();               // all of it
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <vector>
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>

#endif

#include "dimesh/detail/compiled.hpp"
#include "dimesh/memory/space.hpp"

namespace dimesh::detail {

inline constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t rounded_up(std::size_t n, std::size_t step) {
  return (n + step - 1) / step * step;
}
/// Of memory that nobody has touched yet, what makes whole ones. A wish: without it the pages are
/// small ones.
inline void wish_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t skipped = rounded_up(at, huge_page) - at;
  if (bytes < skipped + huge_page) return;
  const std::size_t whole = (bytes - skipped) / huge_page * huge_page;
  madvise(static_cast<std::byte*>(memory) + skipped, whole, MADV_HUGEPAGE);
#endif
}

class slabs {
 public:
  // The address sanitizer guards what lies around each allocation.
#if defined(__has_feature)
  static constexpr bool guarded = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
  static constexpr bool guarded = true;
#else
  static constexpr bool guarded = false;
#endif
#ifdef DIMESH_CLOSED
  static constexpr bool closed = true;  // pages of their own
#else
  static constexpr bool closed = false;
#endif
  static constexpr bool serves =
      !guarded && !closed && std::is_same_v<memory_space, Kokkos::HostSpace>;
  /// Smaller ones share pages on the heap anyway.
  static constexpr std::size_t least = std::size_t{256} << 10;

  void* take(std::size_t bytes);
  static constexpr bool has_own(std::size_t bytes) { return serves && bytes > usual / 2; }
  void give_back(const void* own);
  void give_back();

 private:
  static constexpr std::size_t page = huge_page, usual = 16 * page;

  /// The first page of a slab.
  static std::byte* begin_of(const void* slab) {
    return reinterpret_cast<std::byte*>(rounded_up(reinterpret_cast<std::uintptr_t>(slab), page));
  }
  std::byte* begin_slab(std::size_t size);

  std::vector<void*> all_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void* slabs::take(std::size_t bytes) {
  if (!serves || bytes < least) return nullptr;
  bytes = rounded_up(bytes, 64);
  try {
    if (has_own(bytes)) return begin_slab(rounded_up(bytes, page));
    if (bytes > left_) {
      next_ = begin_slab(usual);
      left_ = usual;
    }
  } catch (const std::exception&) {
    return nullptr;  // the pool knows what to do
  }
  std::byte* const p = next_;
  next_ += bytes, left_ -= bytes;
  return p;
}
DIMESH_OUTLINE inline void slabs::give_back(const void* own) {
  const auto is_its = [&](const void* slab) { return begin_of(slab) == own; };
  const auto at = std::find_if(all_.begin(), all_.end(), is_its);
  Kokkos::kokkos_free<memory_space>(*at);
  all_.erase(at);
}
DIMESH_OUTLINE inline void slabs::give_back() {
  for (void* p : all_) Kokkos::kokkos_free<memory_space>(p);
  all_.clear();
  left_ = 0;
}
DIMESH_OUTLINE inline std::byte* slabs::begin_slab(std::size_t size) {
  all_.reserve(all_.size() + 1);
  all_.push_back(Kokkos::kokkos_malloc<memory_space>("dimesh", size + page));
  std::byte* const begin = begin_of(all_.back());
  wish_huge_pages(begin, size);
  return begin;
}
#endif

}  // namespace dimesh::detail
