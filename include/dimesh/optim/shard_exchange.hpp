// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do blocks of many tensors travel in one message? For each rank in turn, what it needs of
// every tensor is packed one behind the other.
//
//   exchange_all<false>(pieces, n);   // shards = the sums over ranks of parts of the wholes
//   exchange_all<true>(pieces, n);    // wholes = put together from all ranks' shards
#pragma once

#include "dimesh/collective/all_gather.hpp"
#include "dimesh/collective/reduce_scatter.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/grad/arena.hpp"
#include "dimesh/grad/pieces.hpp"
#include "dimesh/layout/box.hpp"
#include "dimesh/local/copy.hpp"

namespace dimesh::detail {

/// One tensor on its way, without its type.
struct shard_piece {
  using mover = std::byte* (*)(const shard_piece&, index_t r, unsigned axes, std::byte* buffer);

  placement where;
  table full, cut;  // the layouts of the whole and of the shard
  std::byte *whole = nullptr, *shard = nullptr;
  sum_group group;  // the axes over which shards are exchanged
  mover bring = nullptr, take = nullptr;  // a part of the whole from a buffer, and to it

  bool stays() const { return group.axes == 0; }
};

/// Copies the part of `whole` that rank r of the communicator over `axes` needs, or brings.
template <bool Out, class T>
[[gnu::noinline]] std::byte* move_part(const shard_piece& p, index_t r, unsigned axes,
                                       std::byte* buffer) {
  const box whole = p.where.own(p.full), part = p.where.peers(p.cut, r, axes);
  if (part.size() == 0) return buffer;
  const strides stride(whole);
  T* const at = reinterpret_cast<T*>(p.whole) + offset_in(whole, part);
  T* const packed = reinterpret_cast<T*>(buffer);
  if constexpr (Out)
    local::unpack(whole.rank, part.length, static_cast<const T*>(packed), at, stride.data());
  else
    local::pack(whole.rank, part.length, static_cast<const T*>(at), stride.data(), packed);
  return reinterpret_cast<std::byte*>(packed + part.size());
}

/// Elements of each rank's shards, one number a rank; true if all are equal.
inline bool count_shards(const shard_piece* p, int count, const sum_group& g, index_t ranks,
                         index_t* counts) {
  const writes_arrays host;
  bool equal = true;
  for (index_t r = 0; r < ranks; ++r) {
    counts[r] = 0;
    for (int i = 0; i < count; ++i)
      if (p[i].group == g) counts[r] += p[i].where.peers(p[i].cut, r, g.axes).size();
    equal = equal && counts[r] == counts[0];
  }
  return equal;
}

/// The buffers of one group: [ranks][shards] and [own shards].
struct shard_buffers {
  storage all, own;
  std::byte *wholes = nullptr, *mine = nullptr;

  shard_buffers(index_t total, index_t mine_count, index_t size)
      : all(storage::acquire(static_cast<std::size_t>(total * size))),
        own(storage::acquire(static_cast<std::size_t>(mine_count * size))),
        wholes(static_cast<std::byte*>(all.data())),
        mine(static_cast<std::byte*>(own.data())) {}
};

/// The pieces of one group, in one message: shards become sums of blocks of `whole` (Gather:
/// false), or `whole` is put together from shards.
template <bool Gather> void exchange_shards(const shard_piece* p, int count, const sum_group& g) {
  const communicator& c = g.grid->along(g.axes);
  const collective::wire& w = g.element;
  const in_space there(g.space);
  const arena::scope here;
  auto* const counts = static_cast<index_t*>(
      arena::here().take(static_cast<std::size_t>(c.size()) * sizeof(index_t)));
  const bool equal = count_shards(p, count, g, c.size(), counts);
  index_t total = 0;
  for (int r = 0; r < c.size(); ++r) total += counts[r];
  const shard_buffers b(total, counts[c.rank()], w.size);
  const auto each_shard = [&](const auto& copy) {
    std::byte* at = b.mine;
    for (int i = 0; i < count; ++i)
      if (p[i].group == g) {
        const index_t bytes = p[i].where.own(p[i].cut).size() * w.size;
        copy(p[i].shard, at, bytes);
        at += bytes;
      }
  };
  const auto each_part = [&] {
    std::byte* at = b.wholes;
    for (int r = 0; r < c.size(); ++r)
      for (int i = 0; i < count; ++i)
        if (p[i].group == g) at = (Gather ? p[i].bring : p[i].take)(p[i], r, g.axes, at);
  };
  if constexpr (Gather) {
    each_shard([](std::byte* shard, std::byte* at, index_t n) { collective::copy(shard, at, n); });
    if (equal)
      collective::all_gather_elements(c, w, b.mine, counts[0], b.wholes);
    else
      collective::all_gather_elements_v(c, w, b.mine, counts, b.wholes, w.most_per_call());
    each_part();
  } else {
    each_part();
    if (equal)
      collective::reduce_scatter_elements(c, w, b.wholes, counts[0], b.mine);
    else
      collective::reduce_scatter_elements_v(c, w, b.wholes, counts, b.mine, w.most_per_call());
    each_shard([](std::byte* shard, std::byte* at, index_t n) { collective::copy(at, shard, n); });
  }
}

/// All pieces, a message for each group; where nobody else is concerned, blocks are cut.
template <bool Gather> void exchange_all(const shard_piece* p, int count) {
  for (int i = 0; i < count; ++i) {
    bool seen = p[i].whole == p[i].shard;
    for (int j = 0; j < i && !seen; ++j)
      seen = p[j].whole != p[j].shard && !p[j].stays() && p[j].group == p[i].group;
    if (seen) continue;
    if (p[i].stays()) {
      const in_space there(p[i].group.space);
      (void)(Gather ? p[i].bring : p[i].take)(p[i], 0, 0, p[i].shard);
    } else {
      exchange_shards<Gather>(p, count, p[i].group);
    }
  }
}

}  // namespace dimesh::detail
