// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where is a ragged dim cut? At offsets that the run gives: a table for each such dim, the same on
// all ranks, which the cores of tensors share. Tensors without one have a null pointer.
//
//   cut_list c;  c.add(&facts_of_dim<token>, {0, 3, 3, 8});      // blocks of 3, 0, 5
//   block_under(t, d, 8, sizes, coords, {c.first(), dims})       -> {offset 3, length 5} at 2
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/words.hpp"
#include "dimesh/layout/block.hpp"

namespace dimesh::detail {

/// The cuts of one dim: block i begins at begin[i]; the last entry is the extent. Never changed.
struct cut_record {
  const dim_facts* dim = nullptr;
  std::vector<index_t> begin;
  const cut_record* next = nullptr;  // of another dim
  mutable std::atomic<int> owners{1};

  index_t ranks() const { return static_cast<index_t>(begin.size()) - 1; }
  index_t extent() const { return begin.back(); }
  /// Block i of `parts`, which are runs of equally many blocks.
  block at(index_t i, index_t parts) const {
    const index_t each = ranks() / parts;
    const index_t from = begin[static_cast<std::size_t>(i * each)];
    return {from, begin[static_cast<std::size_t>((i + 1) * each)] - from};
  }
  index_t longest(index_t parts) const {
    index_t most = 0;
    for (index_t i = 0; i < parts; ++i)
      most = at(i, parts).length > most ? at(i, parts).length : most;
    return most;
  }
};

/// The record of a dim, null where there is none.
constexpr const cut_record* cuts_of_dim(const cut_record* first, const dim_facts* d) {
  while (first != nullptr && !same_dim(first->dim, d)) first = first->next;
  return first;
}

/// Owns the cuts of some dims, with others.
class cut_list {
 public:
  constexpr cut_list() = default;
  constexpr cut_list(const cut_list& o) noexcept : first_(o.first_) {
    if (first_ != nullptr) [[unlikely]]
      take(first_);
  }
  constexpr cut_list(cut_list&& o) noexcept : first_(std::exchange(o.first_, nullptr)) {}
  constexpr cut_list& operator=(const cut_list& o) noexcept {
    if (first_ != o.first_) [[unlikely]] {
      cut_list copy(o);
      std::swap(first_, copy.first_);
    }
    return *this;
  }
  constexpr cut_list& operator=(cut_list&& o) noexcept {
    std::swap(first_, o.first_);
    return *this;
  }
  constexpr ~cut_list() {
    if (first_ != nullptr) [[unlikely]]
      drop(first_);
  }

  constexpr const cut_record* first() const { return first_; }
  constexpr explicit operator bool() const { return first_ != nullptr; }
  /// Cuts for a dim of which nothing was said.
  void add(const dim_facts* d, std::vector<index_t> begin) {
    auto* const r = new cut_record;
    r->dim = d;
    r->begin = std::move(begin);
    r->next = first_;
    first_ = r;
  }
  /// What the other list says of dims of which this one says nothing.
  void add_all(const cut_list& o) {
    if (first_ == nullptr) {
      *this = o;
      return;
    }
    if (first_ == o.first_) return;
    for (const cut_record* r = o.first_; r != nullptr; r = r->next)
      if (cuts_of_dim(first_, r->dim) == nullptr) add(r->dim, r->begin);
  }

 private:
  static void take(const cut_record* r) { r->owners.fetch_add(1, std::memory_order_relaxed); }
  static void drop(const cut_record* r) {
    while (r != nullptr && r->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const cut_record* const next = r->next;
      delete r;
      r = next;
    }
  }
  const cut_record* first_ = nullptr;
};

/// n elements of a dim in p blocks of ceil(n/p), the last ones shorter or empty.
inline cut_list cut_by_ceil(const dim_facts* d, index_t n, index_t p) {
  std::vector<index_t> begin{0};
  for (index_t i = 0; i < p; ++i) {
    cut c{{0, n}, n};
    c.into(p, i);
    begin.push_back(c.now.offset + c.now.length);
  }
  cut_list all;
  all.add(d, std::move(begin));
  return all;
}

/// Cuts, and the dims of a tensor by place.
struct cut_source {
  const cut_record* first = nullptr;
  const dim_facts* const* dim = nullptr;
};

[[noreturn]] void refuse_cuts(const dim_facts* d, index_t n, index_t ranks, const cut_record* r);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void refuse_cuts(const dim_facts* d, index_t n, index_t ranks,
                                       const cut_record* r) {
  words w;
  w << "tensor: dim '" << d->name << "' is ragged over " << ranks << " blocks of " << n
    << " elements, and ";
  if (r == nullptr)
    w << "nothing says where they are cut; pass cuts<" << d->name << ">, or take with_cuts(x, ...)";
  else
    w << "its cuts are for " << r->ranks() << " blocks of " << r->extent()
      << "; the blocks must be these, or runs of equally many of them";
  w.raise();
}
#endif
/// The block of a ragged dim d of n elements at some coordinates.
block ragged_block(const table& t, int d, index_t n, const index_t* sizes, const index_t* coords,
                   const cut_source& from);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline block ragged_block(const table& t, int d, index_t n, const index_t* sizes,
                                         const index_t* coords, const cut_source& from) {
  const cut_record* const r = cuts_of_dim(from.first, from.dim[d]);
  index_t at = 0, ranks = 1;
  for (int level = 0, a = 0; (a = t.axis_at(d, level)) >= 0; ++level) {
    at = at * sizes[a] + coords[a];
    ranks *= sizes[a];
  }
  if (r == nullptr || r->extent() != n || r->ranks() % ranks != 0)
    refuse_cuts(from.dim[d], n, ranks, r);
  return r->at(at, ranks);
}
#endif
/// The block of dim d of any kind.
constexpr block block_under(const table& t, int d, index_t n, const index_t* sizes,
                            const index_t* coords, const cut_source& from) {
  if (t.ragged[d]) [[unlikely]]
    return ragged_block(t, d, n, sizes, coords, from);
  return block_at(t, d, n, sizes, coords);
}
/// The longest block of dim d. (Of even and uneven ones the first is.)
constexpr index_t longest_block(const table& t, int d, index_t n, const index_t* sizes,
                                const cut_source& from) {
  const index_t origin[max_axes] = {};
  const index_t first = block_under(t, d, n, sizes, origin, from).length;
  return t.ragged[d] ? cuts_of_dim(from.first, from.dim[d])->longest(ranks_over(t, d, sizes))
                     : first;
}

}  // namespace dimesh::detail
