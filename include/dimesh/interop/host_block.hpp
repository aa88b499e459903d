// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program on the host look at many elements at once, wherever tensors live? It names the
// block: on hosts these are the elements where they lie, on devices a copy of them.
//
//   const host_block b(x);      // this rank's block of x, row-major, to be read
//   for (index_t i = 0; i < b.size(); ++i) sum += b[i];
//
// For single elements there is x.at(...); to write, fill_from and fill_block (from_array.hpp).
#pragma once

#include <span>
#include <type_traits>

#include "dimesh/core/addends.hpp"
#include "dimesh/memory/closed.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

namespace detail {
/// Has it elements, as far as its type says? (A concept, so that of poison is the more special.)
template <class X> concept HasBlock = Operand<X> && !is_tracked<X> && !is_shaped<X>;
}  // namespace detail

/// This rank's block of a tensor, contiguous, row-major in the order of the dims, halos included;
/// readable on the host as long as this lives. Does not change with x where it is a copy. Of a sum
/// yet to be made that each rank holds whole (x.once()), the first one's; zeros on the others.
/// Throws dimesh::error where x is not defined. Local.
template <detail::HasBlock X> class host_block {
 public:
  using value_type = value_of<X>;

  explicit host_block(const X& of) : x_(of) {
    detail::require_grid("host_block", detail::core_of(of));
    detail::settle(detail::core_of(x_), of.once());
    const X& x = x_;
    const auto n = static_cast<std::size_t>(x.local_size());
    if constexpr (is_there) {
      detail::is_settled(true);
      all_ = {x.data(), n};
    } else {
      near_ = Kokkos::View<value_type*, Kokkos::HostSpace>("dimesh::host_block", n);
      Kokkos::deep_copy(near_, x.view());
      all_ = {near_.data(), n};
    }
  }
  host_block(const host_block&) = delete;
  host_block& operator=(const host_block&) = delete;

  index_t size() const { return static_cast<index_t>(all_.size()); }
  const value_type* data() const { return all_.data(); }
  const value_type& operator[](index_t i) const { return all_[static_cast<std::size_t>(i)]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  static constexpr bool is_there = detail::host_reaches<detail::memory_of<typename X::mesh_type>>;
  struct nothing {};
  X x_;  // its memory stays taken
  [[no_unique_address]] detail::opened open_;
  [[no_unique_address]] std::conditional_t<is_there, nothing,
                                           Kokkos::View<value_type*, Kokkos::HostSpace>> near_;
  std::span<const value_type> all_;
};

/// Poison has no elements.
template <detail::HasBlock X>
  requires is_poison<X>
class host_block<X> : public poison {
 public:
  explicit host_block(const X&) {}
  const int* begin() const { return nullptr; }
  const int* end() const { return nullptr; }
};

}  // namespace dimesh
