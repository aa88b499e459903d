// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do blocks of many tensors travel in one message? For each rank in turn, what it needs of
// every tensor is packed one behind the other.
//
//   exchange_all<false>(grid, pieces, n);   // shards = the sums over ranks of parts of the wholes
//   exchange_all<true>(grid, pieces, n);    // wholes = put together from all ranks' shards
#pragma once

#include "dimesh/collective/all_gather.hpp"
#include "dimesh/collective/reduce_scatter.hpp"
#include "dimesh/detail/box.hpp"
#include "dimesh/grad/arena.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/local/copy.hpp"

namespace dimesh::detail {

/// One tensor on its way, without its type.
struct shard_piece {
  placement where;
  table full, cut;  // the layouts of the whole and of the shard
  void *whole = nullptr, *shard = nullptr;
  index_t element = 0;  // bytes of one element: bfloat16, float or double
  unsigned along = 0;  // the axes over which shards are exchanged

  bool goes(unsigned axes, index_t size) const { return along == axes && element == size; }
};

/// Copies the parts of `whole` that rank r of the communicator over `axes` needs, or brings.
template <bool Out, class T>
T* move_part(const shard_piece& p, index_t r, unsigned axes, T* buffer) {
  const box whole = p.where.own(p.full), part = p.where.peers(p.cut, r, axes);
  if (part.size() == 0) return buffer;
  const strides stride(whole);
  T* const at = static_cast<T*>(p.whole) + offset_in(whole, part);
  if constexpr (Out)
    local::unpack(whole.rank, part.length, static_cast<const T*>(buffer), at, stride.data());
  else
    local::pack(whole.rank, part.length, static_cast<const T*>(at), stride.data(), buffer);
  return buffer + part.size();
}

/// Elements of each rank's shards, one number a rank; true if all are equal.
inline bool count_shards(const shard_piece* p, int count, unsigned axes, index_t element,
                         index_t ranks, index_t* counts) {
  bool equal = true;
  for (index_t r = 0; r < ranks; ++r) {
    counts[r] = 0;
    for (int i = 0; i < count; ++i)
      if (p[i].goes(axes, element)) counts[r] += p[i].where.peers(p[i].cut, r, axes).size();
    equal = equal && counts[r] == counts[0];
  }
  return equal;
}

/// The pieces of one group, in one message: shards become sums of blocks of `whole` (Gather:
/// false), or `whole` is put together from shards.
template <bool Gather, class T>
void exchange_shards(const communicator& c, const shard_piece* p, int count, unsigned axes) {
  constexpr auto size = static_cast<index_t>(sizeof(T));
  const auto mark = arena::here().mark();
  auto* const counts = static_cast<index_t*>(
      arena::here().take(static_cast<std::size_t>(c.size()) * sizeof(index_t)));
  const bool equal = count_shards(p, count, axes, size, c.size(), counts);
  index_t total = 0;
  for (int r = 0; r < c.size(); ++r) total += counts[r];
  const auto bytes = [](index_t n) { return static_cast<std::size_t>(n) * sizeof(T); };
  const storage all = storage::acquire(bytes(total)),
                own = storage::acquire(bytes(counts[c.rank()]));
  T *const wholes = static_cast<T*>(all.data()), *const mine = static_cast<T*>(own.data());
  const auto each_shard = [&](const auto& copy) {
    T* at = mine;
    for (int i = 0; i < count; ++i)
      if (p[i].goes(axes, size)) {
        const index_t n = p[i].where.own(p[i].cut).size();
        copy(static_cast<T*>(p[i].shard), at, n);
        at += n;
      }
  };
  const auto each_part = [&] {
    T* at = wholes;
    for (int r = 0; r < c.size(); ++r)
      for (int i = 0; i < count; ++i)
        if (p[i].goes(axes, size)) at = move_part<Gather>(p[i], r, axes, at);
  };
  if constexpr (Gather) {
    each_shard([](T* shard, T* at, index_t n) { collective::copy(shard, at, n); });
    if (equal)
      collective::all_gather(c, mine, counts[0], wholes);
    else
      collective::all_gather_v(c, mine, counts, wholes);
    each_part();
  } else {
    each_part();
    if (equal)
      collective::reduce_scatter(c, wholes, counts[0], mine);
    else
      collective::reduce_scatter_v(c, wholes, counts, mine);
    each_shard([](T* shard, T* at, index_t n) { collective::copy(at, shard, n); });
  }
  arena::here().back_to(mark);
}

/// All pieces, a message for each set of axes; where nobody else is concerned, blocks are cut.
template <bool Gather> void exchange_all(const grid_state& grid, const shard_piece* p, int count) {
  for (int i = 0; i < count; ++i) {
    bool seen = p[i].whole == p[i].shard;
    for (int j = 0; j < i && !seen; ++j)
      seen = p[j].whole != p[j].shard && p[j].along != 0 && p[j].goes(p[i].along, p[i].element);
    if (seen) continue;
    collective::with_real(p[i].element, [&](auto zero) {
      using T = decltype(zero);
      if (p[i].along != 0)
        exchange_shards<Gather, T>(grid.along(p[i].along), p, count, p[i].along);
      else
        (void)move_part<Gather>(p[i], 0, 0, static_cast<T*>(p[i].shard));
    });
  }
}

}  // namespace dimesh::detail
