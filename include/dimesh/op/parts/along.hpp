// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do elements move along one dim, whoever holds them? Each rank wants a window of the dim: a
// run of global indices that may begin before its block, end behind it, and leave the dim. Shifts
// and halos are such windows. Every rank works out who holds which piece of whose window.
//
//   halo of width 1 of block [4, 8)     -> window [3, 9)
//   block [4, 8) of a shift by 5        -> window [-1, 3); -1 is the last element, or zero
#pragma once

#include "dimesh/collective/neighbors.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/local/copy.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh {

/// What lies beyond the ends of a dim: zeros, or its other end.
enum class boundary : unsigned char { zero, periodic };

namespace detail {

/// The window that goes with a block: `shift` elements earlier, `reach` more on either side.
struct window {
  index_t shift = 0, reach = 0;
  constexpr index_t begin(const block& b) const { return b.offset - shift - reach; }
  constexpr index_t count(const block& b) const { return b.length + 2 * reach; }
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

/// A box in a larger array.
template <class T> struct region {
  T* data = nullptr;  // its first element
  int rank = 0;
  index_t extent[max_dims]{}, stride[max_dims]{};

  index_t size() const {
    index_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }
  /// Elements at one place of dim d.
  index_t across(int d) const {
    index_t n = 1;
    for (int e = 0; e < rank; ++e) n *= e == d ? 1 : extent[e];
    return n;
  }
  /// Without `n` places at either end of dim d.
  region within(int d, index_t n) const {
    region r = *this;
    r.data += n * stride[d];
    r.extent[d] -= 2 * n;
    return r;
  }
  /// Places from `begin` on, `count` of them, of dim d.
  region part(int d, index_t begin, index_t count) const {
    region r = *this;
    r.data += begin * stride[d];
    r.extent[d] = count;
    return r;
  }
  template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>)
  operator region<U>() const {
    region<const T> r;
    r.data = data;
    r.rank = rank;
    for (int d = 0; d < rank; ++d) r.extent[d] = extent[d], r.stride[d] = stride[d];
    return r;
  }
};

/// All that a rank stores of a tensor.
template <class T> region<T> stored_region(const tensor_core& x) {
  region<T> r{x.data<T>(), x.rank()};
  index_t n = 1;
  for (int d = x.rank() - 1; d >= 0; --d) {
    r.stride[d] = n;
    r.extent[d] = x.local(d);
    n *= r.extent[d];
  }
  return r;
}

template <class T, Tensor X> region<T> stored_region(const X& x) {
  return stored_region<T>(core_of(x));
}

/// Copies (or adds) one region to another of the same extents; a region to itself: nothing.
template <bool Add, class T> void move_region(const region<const T>& x, const region<T>& y) {
  if (x.data == y.data) return;
  if constexpr (Add)
    local::add_box(x.rank, x.extent, x.data, x.stride, y.data, y.stride);
  else
    local::copy_box(x.rank, x.extent, x.data, x.stride, y.data, y.stride);
}
template <class T> void zero_region(const region<T>& y) {
  if (y.size() > 0) local::fill_box(y.rank, y.extent, T{}, y.data, y.stride);
}

/// Who has which piece of whose window: of this rank.
struct window_moves {
  /// Where a run of places of the dim lies in the owner's block and in the window.
  struct piece {
    index_t own, place, count;
  };
  const communicator* over = nullptr;  // null: there is nobody to talk to
  int d = 0;
  std::vector<piece> kept;  // of the own window
  std::vector<collective::message> sends, receives;
  std::vector<piece> out, in;  // what these consist of, in their order
  index_t sent = 0, received = 0;

  window_moves() = default;
  /// Windows are filled from blocks; back: emptied into them. across: elements at one place of the
  /// dim.
  window_moves(const grid_state& grid, const cut_dim& dim, const window& w, index_t across,
               bool back);

 private:
  static void add(std::vector<collective::message>& list, index_t& total, index_t rank,
                  index_t count);
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline window_moves::window_moves(const grid_state& grid, const cut_dim& dim,
                                                 const window& w, index_t across, bool back)
    : d(dim.d) {
  const index_t me = dim.me();
  const block mine = dim.of(me);
  const auto add_to = [](std::vector<piece>& all) {
    return
        [&all](index_t own, index_t place, index_t count) { all.push_back({own, place, count}); };
  };
  dim.for_each_piece(mine, mine, w, add_to(kept));
  if (dim.talk == 0) return;
  over = &grid.along(dim.talk);
  for (index_t r = 0; r < dim.ranks(); ++r) {
    if (r == me) continue;
    const block theirs = dim.of(r);
    const index_t given = dim.elements(mine, theirs, w) * across,
                  taken = dim.elements(theirs, mine, w) * across;
    add(sends, sent, r, back ? taken : given);
    add(receives, received, r, back ? given : taken);
  }
  for (const auto& m : sends) {
    const block theirs = dim.of(m.peer);
    dim.for_each_piece(back ? theirs : mine, back ? mine : theirs, w, add_to(out));
  }
  for (const auto& m : receives) {
    const block theirs = dim.of(m.peer);
    dim.for_each_piece(back ? mine : theirs, back ? theirs : mine, w, add_to(in));
  }
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void window_moves::add(std::vector<collective::message>& list, index_t& total,
                                             index_t rank, index_t count) {
  if (count > 0) list.push_back({static_cast<int>(rank), {total, count}});
  total += count;
}
#endif

/// The pieces of the own window.
template <bool Back, class T>
void move_kept(const window_moves& m, const region<const T>& x, const region<T>& y) {
  for (const auto& p : m.kept)
    move_region<Back, T>(x.part(m.d, Back ? p.place : p.own, p.count),
                         y.part(m.d, Back ? p.own : p.place, p.count));
}
/// What others get, in a buffer.
template <bool Back, class T>
storage pack_windows(const window_moves& m, const region<const T>& x) {
  storage out = storage::acquire(static_cast<std::size_t>(m.sent) * sizeof(T));
  T* packed = static_cast<T*>(out.data());
  const index_t across = x.across(m.d);
  for (const auto& p : m.out) {
    const auto part = x.part(m.d, Back ? p.place : p.own, p.count);
    local::pack(part.rank, part.extent, part.data, part.stride, packed);
    packed += p.count * across;
  }
  return out;
}
template <bool Back, class T>
void unpack_windows(const window_moves& m, const T* received, const region<T>& y) {
  const index_t across = y.across(m.d);
  for (const auto& p : m.in) {
    const auto part = y.part(m.d, Back ? p.own : p.place, p.count);
    if constexpr (Back)
      local::unpack_add(part.rank, part.extent, received, part.data, part.stride);
    else
      local::unpack(part.rank, part.extent, received, part.data, part.stride);
    received += p.count * across;
  }
}

/// Fills the windows y of all ranks from their blocks x. Back: adds to the blocks y what the
/// windows x hold of them. Blocks may lie inside their windows.
template <bool Back, class T>
void move_windows(const window_moves& m, const region<const T>& x, const region<T>& y,
                  const char* call) {
  move_kept<Back>(m, x, y);
  if (m.over == nullptr) return;
  const storage out = pack_windows<Back>(m, x);
  const storage in = storage::acquire(static_cast<std::size_t>(m.received) * sizeof(T));
  collective::exchange_some(*m.over, static_cast<const T*>(out.data()), m.sends,
                            static_cast<T*>(in.data()), m.receives, call, {&out, &in});
  unpack_windows<Back>(m, static_cast<const T*>(in.data()), y);
}
/// Begins to fill the windows, under a tag that all ranks took at the same point of the program;
/// what comes from others is in f.in when the requests are over.
template <class T>
void start_windows(const window_moves& m, const region<const T>& x, const region<T>& y,
                   const char* call, int tag, flight& f) {
  move_kept<false>(m, x, y);
  if (m.over == nullptr) return;
  f.out = pack_windows<false>(m, x);
  f.in = storage::acquire(static_cast<std::size_t>(m.received) * sizeof(T));
  f.axes |= m.over->axes();
  f.between = m.over;
  collective::start_exchange_some(*m.over, collective::wire_of<T>,
                                  static_cast<const std::byte*>(f.out.data()), m.sends,
                                  static_cast<std::byte*>(f.in.data()), m.receives, call, tag,
                                  collective::most_per_call<T>, f.under_way);
}
/// The tag, and what checked builds compare, of messages that are about to start.
inline int window_tag(const window_moves& m, const char* call, const collective::wire& w) {
  if (m.over == nullptr) return 0;
  collective::prepare(*m.over, call, 0, w);
  return m.over->next_tag();
}

}  // namespace detail
}  // namespace dimesh
