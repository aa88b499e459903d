// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do blocks and panels of an operand get to those who multiply them? Blocks go from neighbour
// to neighbour; panels are broadcast by who has them. Either is under way while a product is
// computed.
//
//   go_round<float>(x, source, [&](begin, end, slab) { ... })   // every block, one's own first
//   slab s = start_panel<float>(x, source, owner, begin, end, room, requests)
#pragma once

#include <vector>

#include "dimesh/collective/broadcast.hpp"
#include "dimesh/collective/neighbors.hpp"
#include "dimesh/op/parts/panels.hpp"

namespace dimesh::detail {

/// f(begin, end, slab) for every block of x along the ring that is not empty, one's own first; the
/// next one travels meanwhile.
template <class T, class F>
void go_round(const tensor_core& x, const panel_source& from, const F& f) {
  const bool moves = from.over != 0;
  const communicator* const c = moves ? &x.grid->along(from.over) : nullptr;
  if (moves) collective::prepare(*c, "contract", 0, collective::wire_of<T>);
  const int tag = moves ? c->next_tag() : 0;
  const int n = static_cast<int>(from.ranks), me = static_cast<int>(from.me);
  const auto message = [](int peer, index_t count) {
    return count == 0 ? std::vector<collective::message>()
                      : std::vector<collective::message>{{peer, {0, count}}};
  };
  storage room[2];
  void* now = x.data<void>();
  for (int step = 0; step < n; ++step) {
    const box here = from.block_of((me + step) % n);
    collective::requests under_way;
    storage& next = room[step % 2];
    if (step + 1 < n) {
      const index_t coming = from.block_of((me + step + 1) % n).size();
      next = storage();  // of two steps ago: before more is taken
      next = storage::acquire(static_cast<std::size_t>(coming) * sizeof(T));
      under_way.keep(room[0]), under_way.keep(room[1]), under_way.keep(x.memory);
      collective::start_exchange_some(
          *c, collective::wire_of<T>, static_cast<const std::byte*>(now),
          message((me + n - 1) % n, here.size()), static_cast<std::byte*>(next.data()),
          message((me + 1) % n, coming), "contract", tag, collective::most_per_call<T>, under_way);
    }
    const index_t begin = here.begin[from.place], end = begin + here.length[from.place];
    if (end > begin) f(begin, end, slab_of(here, now, from.place));
    if (step + 1 < n) under_way.wait("contract");
    now = next.data();
  }
}
constexpr void cost_of_ring(tally& t, const panel_source& s) {
  for (index_t step = 0; s.over != 0 && step + 1 < s.ranks; ++step)
    if (const index_t n = s.block_of((s.me + step) % s.ranks).size() * s.element; n > 0)
      t.collective(event_kind::message, s.over, n, n);
}

/// The part of a rank's own block that is in a panel.
constexpr box part_in_panel(const panel_source& s, index_t begin, index_t end) {
  box part = s.where.own(s.layout);
  part.begin[s.place] = begin;
  part.length[s.place] = end - begin;
  return part;
}
/// A panel of x: where it lies, or as it will be once what is under way is over. Owner: whose
/// coordinate along the axis has it.
template <class T>
slab start_panel(const tensor_core& x, const panel_source& s, index_t owner, index_t begin,
                 index_t end, storage& room, collective::requests& under_way) {
  if (s.over == 0) return slab_of(x, s.place);
  const box own = s.where.own(s.layout), part = part_in_panel(s, begin, end);
  const index_t n = part.size();
  room = storage::acquire(static_cast<std::size_t>(n) * sizeof(T));
  T* const to = static_cast<T*>(room.data());
  if (owner == s.me && n > 0)
    local::pack(part.rank, part.length, x.data<const T>() + offset_in(own, part),
                strides(own).data(), to);
  under_way.keep(room);
  collective::broadcast(x.grid->along(s.over), to, n, static_cast<int>(owner),
                        collective::most_per_call<T>, &under_way);
  return slab_of(part, to, s.place);
}
constexpr void cost_of_panel(tally& t, const panel_source& s, index_t owner, index_t length) {
  if (const index_t n = s.slice(length) * s.element; s.over != 0 && n > 0)
    t.collective(event_kind::broadcast, s.over, owner == s.me ? n : 0, n);
}

}  // namespace dimesh::detail
