// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do big buffers lie? Side by side in slabs that ask the system for huge pages: a matrix
// whose rows lie 4 KiB apart touches a page a row, and looking pages up would cost as much as the
// numbers.
//
//   slabs s;
//   void* p = s.take(1 << 20);   // uninitialised, 64-byte aligned; null where slabs do not serve
//   s.give_back();               // all of it
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace dimesh::detail {

using memory_space = Kokkos::DefaultExecutionSpace::memory_space;

class slabs {
 public:
#ifdef __SANITIZE_ADDRESS__
  static constexpr bool serves = false;  // it guards what lies around each allocation
#else
  static constexpr bool serves = std::is_same_v<memory_space, Kokkos::HostSpace>;
#endif
  /// Smaller ones share pages on the heap anyway.
  static constexpr std::size_t least = std::size_t{256} << 10;

  void* take(std::size_t bytes) {
    if (!serves || bytes < least) return nullptr;
    bytes = rounded_up(bytes, 64);
    if (bytes > left_) begin_slab(bytes);
    std::byte* const p = next_;
    next_ += bytes, left_ -= bytes;
    return p;
  }
  void give_back() {
    for (void* p : all_) Kokkos::kokkos_free<memory_space>(p);
    all_.clear();
    left_ = 0;
  }

 private:
  static constexpr std::size_t page = std::size_t{2} << 20, usual = 16 * page;

  static std::size_t rounded_up(std::size_t n, std::size_t step) {
    return (n + step - 1) / step * step;
  }
  /// What is left of the last slab stays unused; the system gives no memory for what none touches.
  void begin_slab(std::size_t bytes) {
    const std::size_t size = bytes > usual ? rounded_up(bytes, page) : usual;
    all_.push_back(Kokkos::kokkos_malloc<memory_space>("dimesh", size + page));
    const auto at = reinterpret_cast<std::uintptr_t>(all_.back());
    next_ = static_cast<std::byte*>(all_.back()) + (rounded_up(at, page) - at);
    left_ = size;
#ifdef MADV_HUGEPAGE
    madvise(next_, size, MADV_HUGEPAGE);  // a wish: without it the pages are small ones
#endif
  }

  std::vector<void*> all_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace dimesh::detail
