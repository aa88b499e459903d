// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do elements move along one dim, whoever holds them? Each rank wants a window of the dim: a
// run of global indices that may begin before its block, end behind it, and leave the dim. Shifts
// and halos are such windows. Every rank works out who holds which piece of whose window.
//
//   halo of width 1 of block [4, 8)     -> window [3, 9)
//   block [4, 8) of a shift by 5        -> window [-1, 3); -1 is the last element, or zero
#pragma once

#include <algorithm>

#include "dimesh/collective/neighbors.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/op/halo_way.hpp"
#include "dimesh/op/parts/array_box.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh {
namespace detail {

/// The window that goes with a block: `shift` elements earlier, and longer at either end.
struct window {
  index_t shift = 0;
  halo_widths more{};
  constexpr index_t begin(const block& b) const { return b.offset - shift - more.before; }
  constexpr index_t count(const block& b) const { return b.length + more.both(); }
};

/// A dim of `extent` elements, and how it is cut.
struct cut_dim {
  placement where;
  table layout;
  int d = 0;
  boundary ends = boundary::zero;
  unsigned talk = 0;  // the axes that cut it

  constexpr cut_dim(const placement& p, const table& t, int dim, boundary e)
      : where(p), layout(t), d(dim), ends(e) {
    talk = talking(t.axes_of(dim), p.sizes);
  }
  constexpr index_t extent() const { return where.extent[d]; }
  constexpr index_t ranks() const { return group_size(talk, where.sizes); }
  constexpr block of(index_t rank) const {
    return block_under(layout, d, extent(), where.sizes,
                       peer(rank, talk, where.sizes, where.coords).coords, where.cuts);
  }
  /// Rank of these coordinates (null: the origin) among those along the axes that cut the dim.
  constexpr index_t me() const {
    index_t r = 0;
    for (int a = 0; a < layout.axes; ++a)
      if (talk >> a & 1u) r = r * where.sizes[a] + (where.coords != nullptr ? where.coords[a] : 0);
    return r;
  }
  /// Calls f(place in the owner's block, place in the window, count) for all that block `owner` has
  /// of the window of block `wanting`, in an order that both know.
  template <class F>
  constexpr void for_each_piece(const block& owner, const block& wanting, const window& w,
                                F&& f) const {
    const index_t n = extent(), begin = w.begin(wanting), end = begin + w.count(wanting);
    if (n == 0) return;
    const index_t turns =
        ends == boundary::zero ? 0 : 1 + ((begin < 0 ? -begin : 0) + (end > n ? end - n : 0)) / n;
    for (index_t turn = -turns; turn <= turns; ++turn) {
      const index_t first = owner.offset + turn * n, last = first + owner.length;
      const index_t from = first > begin ? first : begin, to = last < end ? last : end;
      if (from < to) f(from - first, from - begin, to - from);
    }
  }
  /// Elements of the dim that go from one block to the window of another.
  constexpr index_t elements(const block& owner, const block& wanting, const window& w) const {
    index_t n = 0;
    for_each_piece(owner, wanting, w, [&n](index_t, index_t, index_t count) { n += count; });
    return n;
  }
};

/// What the origin sends when windows are filled (or, back, when they are emptied).
constexpr void count_windows(tally& t, const cut_dim& dim, const window& w, index_t bytes_each,
                             bool back) {
  const block mine = dim.of(dim.me());
  for (index_t r = 0; r < dim.ranks(); ++r) {
    if (r == dim.me()) continue;
    const index_t n = back ? dim.elements(dim.of(r), mine, w) : dim.elements(mine, dim.of(r), w);
    if (n * bytes_each > 0)
      t.collective(event_kind::message, dim.talk, n * bytes_each, n * bytes_each);
  }
}

/// Who has which piece of whose window, and where it lies: of this rank. Messages that are runs of
/// the array, each of them, travel from and into the array itself.
struct window_moves {
  const communicator* over = nullptr;  // null: there is nobody to talk to
  std::vector<moved_box> kept;  // of the own window
  std::vector<collective::message> sends, receives;  // runs of the array, or of buffers
  std::vector<moved_box> out, in;  // what these consist of, to and from buffers
  index_t sent = 0, received = 0;  // elements of the buffers
  bool sends_in_place = false, receives_in_place = false;
  std::vector<moved_box> beyond;  // what of the own window lies beyond the ends of the dim

  window_moves() = default;
  /// Windows are filled from blocks; back: emptied into them. Given where this rank's lie, in
  /// arrays that may be one.
  window_moves(const grid_state& grid, const cut_dim& dim, const window& w, const array_box& blocks,
               const array_box& windows, bool back);
  /// Do messages go from where elements lie to where they belong?
  bool is_in_place() const { return over != nullptr && sends_in_place && receives_in_place; }

 private:
  static void add(std::vector<collective::message>& list, index_t& total, index_t rank,
                  index_t count);
  static void add(std::vector<moved_box>& list, const array_box& from, const array_box& to);
  /// Messages that consist of these boxes become runs of the array, in which the boxes begin at
  /// `place`, if each is one.
  static bool lay_in_place(std::vector<collective::message>& list, std::vector<moved_box>& boxes,
                           index_t moved_box::* place, index_t& buffered);
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline window_moves::window_moves(const grid_state& grid, const cut_dim& dim,
                                                 const window& w, const array_box& blocks,
                                                 const array_box& windows, bool back) {
  const index_t me = dim.me(), across = blocks.across(dim.d);
  const block mine = dim.of(me);
  dim.for_each_piece(mine, mine, w, [&](index_t own, index_t place, index_t count) {
    const array_box here = blocks.part(dim.d, own, count), seen = windows.part(dim.d, place, count);
    back ? add(kept, seen, here) : add(kept, here, seen);
  });
  if (dim.ends == boundary::zero || dim.extent() == 0) {
    const index_t n = w.count(mine), begin = w.begin(mine);
    const auto clamped = [n](index_t k) { return k < 0 ? 0 : k < n ? k : n; };
    const index_t before = clamped(-begin), behind = clamped(begin + n - dim.extent());
    for (const array_box& b :
         {windows.part(dim.d, 0, before), windows.part(dim.d, n - behind, behind)})
      add(beyond, b, b);
  }
  if (dim.talk == 0) return;
  over = &grid.along(dim.talk);
  index_t packed = 0, unpacked = 0;
  const auto send_part = [&](const array_box& b) {
    add(out, b, b.dense(packed));
    packed += b.size();
  };
  const auto receive_part = [&](const array_box& b) {
    add(in, b.dense(unpacked), b);
    unpacked += b.size();
  };
  for (index_t r = 0; r < dim.ranks(); ++r) {
    if (r == me) continue;
    const block theirs = dim.of(r);
    const index_t given = dim.elements(mine, theirs, w) * across,
                  taken = dim.elements(theirs, mine, w) * across;
    add(sends, sent, r, back ? taken : given);
    add(receives, received, r, back ? given : taken);
    dim.for_each_piece(mine, theirs, w, [&](index_t own, index_t, index_t count) {
      const array_box here = blocks.part(dim.d, own, count);
      back ? receive_part(here) : send_part(here);
    });
    dim.for_each_piece(theirs, mine, w, [&](index_t, index_t place, index_t count) {
      const array_box seen = windows.part(dim.d, place, count);
      back ? send_part(seen) : receive_part(seen);
    });
  }
  sends_in_place = lay_in_place(sends, out, &moved_box::from, sent);
  receives_in_place = !back && lay_in_place(receives, in, &moved_box::to, received);
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void window_moves::add(std::vector<collective::message>& list, index_t& total,
                                             index_t rank, index_t count) {
  if (count > 0) list.push_back({static_cast<int>(rank), {total, count}});
  total += count;
}
DIMESH_OUTLINE inline void window_moves::add(std::vector<moved_box>& list, const array_box& from,
                                             const array_box& to) {
  if (from.size() > 0) list.emplace_back(from, to);
}
DIMESH_OUTLINE inline bool window_moves::lay_in_place(std::vector<collective::message>& list,
                                                      std::vector<moved_box>& boxes,
                                                      index_t moved_box::* place,
                                                      index_t& buffered) {
  const auto is_run = [](const moved_box& b) { return b.is_run(); };
  if (list.size() != boxes.size() || !std::all_of(boxes.begin(), boxes.end(), is_run)) return false;
  for (std::size_t i = 0; i < list.size(); ++i) list[i].part.at = boxes[i].*place;
  boxes.clear();
  buffered = 0;
  return true;
}
#endif

/// Zeros in y where the windows leave the dim.
template <class T> void zero_beyond(const window_moves& m, T* y) {
  for (const moved_box& b : m.beyond) local::fill_box(b.how, T{}, y + b.to);
}
/// What others get: in x itself, or in `room`.
template <class T> const T* pack_windows(const window_moves& m, const T* x, storage& room) {
  if (m.sends_in_place) return x;
  room.become_room(static_cast<std::size_t>(m.sent) * sizeof(T));
  for (const moved_box& b : m.out) b.move<false>(x, static_cast<T*>(room.data()));
  return static_cast<const T*>(room.data());
}
/// Where it comes to: into y itself, or into `room`.
template <class T> T* place_for_windows(const window_moves& m, T* y, storage& room) {
  if (m.receives_in_place) return y;
  room.become_room(static_cast<std::size_t>(m.received) * sizeof(T));
  return static_cast<T*>(room.data());
}
template <bool Add, class T> void unpack_windows(const window_moves& m, const T* received, T* y) {
  for (const moved_box& b : m.in) b.move<Add>(received, y);
}

/// Fills the windows of all ranks, in y, from their blocks, in x; or, as the moves say and adding,
/// blocks in y from windows in x. Both may lie in one array. (Their memory, not pointers: where an
/// exception passes MPI may go on reading and writing it.)
template <bool Add, class T>
void move_windows(const window_moves& m, const storage& from, const storage& to, const char* call) {
  const T* const x = static_cast<const T*>(from.data());
  T* const y = static_cast<T*>(to.data());
  for (const moved_box& b : m.kept) b.move<Add>(x, y);
  if (m.over == nullptr) return;
  storage out, in;
  const T* const sent = pack_windows(m, x, out);
  T* const received = place_for_windows(m, y, in);
  collective::exchange_some(*m.over, sent, m.sends, received, m.receives, call,
                            {m.sends_in_place ? &from : &out, m.receives_in_place ? &to : &in});
  unpack_windows<Add>(m, static_cast<const T*>(received), y);
}
/// Begins to fill the windows, under a tag that all ranks took at the same point of the program;
/// what comes from others and is not in place is in f.in when the requests are over.
template <class T>
void start_windows(const window_moves& m, const storage& from, const storage& to, const char* call,
                   int tag, flight& f) {
  const T* const x = static_cast<const T*>(from.data());
  T* const y = static_cast<T*>(to.data());
  for (const moved_box& b : m.kept) b.move<false>(x, y);
  if (m.over == nullptr) return;
  const T* const sent = pack_windows(m, x, f.out);
  T* const received = place_for_windows(m, y, f.in);
  f.axes |= m.over->axes();
  f.between = m.over;
  collective::start_exchange_some(*m.over, collective::wire_of<T>, collective::bytes_of(sent),
                                  m.sends, collective::bytes_of(received), m.receives, call, tag,
                                  collective::most_per_call<T>, f.under_way);
}
/// The tag, and what checked builds compare, of messages that are about to start: those of a
/// flight's stage.
inline int window_tag(const window_moves& m, const char* call, const collective::wire& w, flight& f,
                      int stage = 0) {
  if (m.over == nullptr) return 0;
  collective::prepare(*m.over, call, 0, w);
  return f.tag_of(*m.over, stage);
}

}  // namespace detail
}  // namespace dimesh
