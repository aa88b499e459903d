// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation whose kernel is code of the host (a sort, a transform of a library) run on
// tensors that no host reaches? On copies of its operands in host memory, with results there, which
// are then copied back: right, and as slow as that. Where the host reaches the tensors, nothing
// happens.
//
//   struct sort_op {
//     static constexpr bool on_host = true;   // fill() is code of the host
//     void fill(results y, operands x) const;
//   };
#pragma once

#include <vector>

#include "dimesh/core/operation.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::detail {

inline constexpr const space_facts& host_memory = facts_of_memory<Kokkos::HostSpace>;

/// Operands and results of an operation, in the memory of the host while one lives.
class host_copies {
 public:
  host_copies(results y, operands x);
  host_copies(const host_copies&) = delete;
  host_copies& operator=(const host_copies&) = delete;

  operands x() const { return {x_at_.data(), static_cast<int>(x_at_.size())}; }
  results y() const { return {y_at_.data(), static_cast<int>(y_at_.size())}; }
  /// The results go where they belong.
  void bring(results y) const;

 private:
  static storage room(const tensor_core& x);
  std::vector<tensor_core> cores_;
  std::vector<const tensor_core*> x_at_;
  std::vector<tensor_core*> y_at_;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline storage host_copies::room(const tensor_core& x) {
  return x.memory ? storage::acquire(static_cast<std::size_t>(x.bytes()), &host_memory) : storage{};
}
DIMESH_OUTLINE inline host_copies::host_copies(results y, operands x) {
  cores_.reserve(static_cast<std::size_t>(x.count() + y.count()));
  for (int k = 0; k < x.count(); ++k) {
    tensor_core& near = cores_.emplace_back(x[k]);
    near.memory = room(x[k]);
    if (near.memory)
      copy_between(near.memory.data(), &host_memory, x[k].memory.data(), x[k].facts->space,
                   x[k].bytes());
    x_at_.push_back(&near);
  }
  for (int i = 0; i < y.count(); ++i) {
    if (!y.has(i)) {
      y_at_.push_back(nullptr);
      continue;
    }
    tensor_core& near = cores_.emplace_back(y[i]);
    near.memory = room(y[i]);
    y_at_.push_back(&near);
  }
}
DIMESH_OUTLINE inline void host_copies::bring(results y) const {
  for (int i = 0; i < y.count(); ++i)
    if (y.has(i) && y[i].memory)
      copy_between(y[i].memory.data(), y[i].facts->space,
                   y_at_[static_cast<std::size_t>(i)]->memory.data(), &host_memory, y[i].bytes());
}
#endif

/// The local call of an operation, for tensors of the space that this thread works in.
void fill_on_copies(const operation& op, results y, operands x);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void fill_on_copies(const operation& op, results y, operands x) {
  const host_copies near(y, x);
  {
    const in_space host(&host_memory);
    op.fill(near.y(), near.x());
  }
  near.bring(y);
}
#endif
inline void fill_here(const operation& op, results y, operands x) {
  if (!op.facts->on_host) return op.fill(y, x);
  if (!reached_now()) [[unlikely]]
    return fill_on_copies(op, y, x);
  const writes_memory kernel;
  op.fill(y, x);
}

}  // namespace dimesh::detail
