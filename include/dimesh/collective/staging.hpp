// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does MPI read and write? The memory in which tensors lie, or, where MPI may not have that
// (collective/stages.hpp), a copy of it on the host.
//
//   staged near(later);                       // does nothing where MPI may have the memory itself
//   MPI_Allgather(near.reads(x, n), ..., near.writes(y, m), ...);
//   near.bring();                             // y is there, or will be when `later` is over
#pragma once

#include <cstddef>
#include <optional>

#include "dimesh/collective/requests.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::collective {

namespace detail {
/// What lies on the host meanwhile: what is read, and what is written and goes `to` where.
struct copies_of_call {
  dimesh::detail::storage near[2];
  void* to = nullptr;
  index_t bytes = 0;
};
}  // namespace detail

/// What MPI reads and writes in one call. With `later` the call is only begun.
class staged {
 public:
  explicit staged(requests* later = nullptr) : later_(later), stages_(stages()) {}
  /// Of MPI's calls on files, which know no devices anywhere.
  static staged of_file() { return {nullptr, stages() || !dimesh::detail::reached_now()}; }
  /// Of reductions. By_us: the MPI_Op is a function of ours.
  static staged of_sums(requests* later, bool by_us) {
    return {later, stages_sums(later != nullptr, by_us)};
  }
  staged(const staged&) = delete;
  staged& operator=(const staged&) = delete;

  /// x[0..bytes), or a copy of it.
  template <class T> const T* reads(const T* x, index_t bytes) {
    return stages_ && x != nullptr && bytes > 0 ? static_cast<const T*>(near(0, x, bytes)) : x;
  }
  /// y[0..bytes), or room for it; with `reads_too`, what it holds comes along.
  template <class T> T* writes(T* y, index_t bytes, bool reads_too = false) {
    if (!stages_ || y == nullptr || bytes <= 0) return y;
    return static_cast<T*>(note_target(y, bytes, reads_too));
  }
  /// What was written goes to y: all of it.
  void bring() {
    if (copies_) bring_part(0, copies_->bytes);
  }
  /// Or runs of so many units, of `unit` bytes each, at these places.
  void bring(const int* count, const int* at, int runs, index_t unit) {
    for (int r = 0; stages_ && r < runs; ++r) bring_part(at[r] * unit, count[r] * unit);
  }

 private:
  staged(requests* later, bool stages) : later_(later), stages_(stages) {}
  void* near(std::size_t which, const void* from, index_t bytes) {
    if (!copies_) copies_.emplace();
    dimesh::detail::storage& here = copies_->near[which];
    here = dimesh::detail::storage::acquire(
        static_cast<std::size_t>(bytes),
        &dimesh::detail::facts_of_memory<dimesh::detail::pinned_space>);
    if (later_ != nullptr) later_->keep(here);
    if (from != nullptr) dimesh::detail::copy_to_host(here.data(), from, bytes);
    return here.data();
  }
  void* note_target(void* y, index_t bytes, bool reads_too) {
    void* const room = near(1, reads_too ? y : nullptr, bytes);
    copies_->to = y;
    copies_->bytes = bytes;
    return room;
  }
  void bring_part(index_t at, index_t bytes) {
    if (!copies_ || copies_->to == nullptr || bytes == 0) return;
    const auto skip = static_cast<std::size_t>(at);
    std::byte* const to = static_cast<std::byte*>(copies_->to) + skip;
    const std::byte* const from = static_cast<const std::byte*>(copies_->near[1].data()) + skip;
    if (later_ != nullptr)
      later_->bring_when_over({to, from, bytes, dimesh::detail::space_now});
    else
      dimesh::detail::copy_from_host(to, from, bytes);
  }

  requests* later_;
  bool stages_;
  std::optional<detail::copies_of_call> copies_;
};

/// The end of the last of so many runs, in units.
inline index_t end_of_runs(const int* count, const int* at, int runs) {
  index_t end = 0;
  for (int r = 0; r < runs; ++r)
    if (count[r] > 0 && index_t{at[r]} + count[r] > end) end = index_t{at[r]} + count[r];
  return end;
}

}  // namespace dimesh::collective
