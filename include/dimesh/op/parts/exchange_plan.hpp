// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who sends which part of its block to whom, when blocks go from one layout to any other, and how?
// A plan says it, once for all calls; moving is packing, one all-to-all, and unpacking.
//
//   const exchange_plan& p = exchange_plan::of(x, y, false);
//   move_parts<false>(p, x.data<const T>(), y.data<T>());            // moved
//   move_parts<false>(p, x.data<const T>(), y.data<T>(), &flight);   // begins to
#pragma once

#include <algorithm>
#include <bit>

#include "dimesh/collective/all_to_all.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/local/copy.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// The parts of a rank's block that others have for it, or want of it, and where they lie: in the
/// block itself if every part is one run of its elements, else one after another in a buffer.
struct exchange_side {
  box whole;
  std::vector<box> part;
  std::vector<collective::run> runs;
  std::vector<int> units, first;  // the same as MPI counts
  index_t packed = 0;  // elements of the buffer, 0 if there is none
  index_t elements = 0;  // that go to others, or come from them

  /// Do the parts of n elements, the own one too, lie one after another in the block?
  bool in_rank_order(index_t n) const;
  void count(int of_one);
  void lay_out(std::size_t ranks, std::size_t me, bool may_stay);
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline bool exchange_side::in_rank_order(index_t n) const {
  bool yes = packed == 0;
  for (std::size_t r = 0; yes && r < part.size(); ++r)
    yes = part[r].size() == n && is_run(whole, part[r]) &&
          offset_in(whole, part[r]) == static_cast<index_t>(r) * n;
  return yes;
}
DIMESH_OUTLINE inline void exchange_side::count(int of_one) {
  for (const collective::run& r : runs) {
    units.push_back(static_cast<int>(r.count * of_one));
    first.push_back(static_cast<int>(r.at * of_one));
  }
}
DIMESH_OUTLINE inline void exchange_side::lay_out(std::size_t ranks, std::size_t me,
                                                  bool may_stay) {
  runs.resize(ranks);
  bool stays = may_stay;
  for (std::size_t r = 0; r < ranks; ++r) stays = stays && (r == me || is_run(whole, part[r]));
  packed = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const index_t count = r == me ? 0 : part[r].size();
    runs[r] = {count == 0 ? 0 : stays ? offset_in(whole, part[r]) : packed, count};
    if (!stays) packed += count;
    elements += count;
  }
}
#endif

/// May blocks go by one dense all-to-all? Where one axis leaves one dim and cuts another, each at
/// its minor end and evenly, all ranks give all others equally much.
constexpr bool is_dense(const placement& where, const table& from, const table& to) {
  const unsigned moved = moved_axes(from, to);
  if (!std::has_single_bit(moved)) return false;
  const axis_use was = from.axis[std::countr_zero(moved)], is = to.axis[std::countr_zero(moved)];
  if (was.what != use::split || is.what != use::split || was.dim == is.dim) return false;
  const auto evenly = [&where](const table& t, const axis_use& u) {
    const index_t n = ranks_over(t, u.dim, where.sizes);
    return u.level + 1 == t.split_count(u.dim) && !t.ragged[static_cast<int>(u.dim)] &&
           where.extent[static_cast<int>(u.dim)] % n == 0;
  };
  return evenly(from, was) && evenly(to, is);
}

/// As many elements as no buffer exceeds of the ranks of a group that talk. A rank packs a part of
/// its block for each that wants a copy, which may be more than anybody's block where blocks are
/// uneven. All of them ask, and find the same.
index_t most_packed(const placement& old, const table& from, const placement& now, const table& to,
                    unsigned talk);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline index_t most_packed(const placement& old, const table& from,
                                          const placement& now, const table& to, unsigned talk) {
  const index_t ranks = group_size(talk, old.sizes);
  index_t most = 0;
  for (index_t sender = 0; sender < ranks; ++sender) {
    const box had = old.peers(from, sender, talk);
    index_t sent = 0;
    for (index_t r = 0; r < ranks; ++r)
      if (r != sender) sent += intersection(had, now.peers(to, r, talk)).size();
    most = most > sent ? most : sent;
  }
  return most;
}
#endif

/// Who needs what of whom, when blocks go from one layout to another (back: the other way, and
/// copies add up).
struct exchange_plan : move_plan {
  const communicator* over = nullptr;  // null: there is nobody to talk to
  collective::wire wire;
  index_t most = 0;  // elements of the largest block, or buffer, of any rank
  index_t dense = 0;  // of every part, where they are equal and lie in rank order; else 0
  exchange_side had, wanted;
  box kept;

  /// Axes that replicate in `from` do not talk: receivers take what has their coordinates there.
  static constexpr unsigned axes(const table& from, const table& to) {
    return moved_axes(from, to) & from.mask(use::split);
  }
  exchange_plan(const tensor_core& x, const tensor_core& y, const plan_hints& with);
  bool fits() const { return most <= wire.most_per_call(); }
  const exchange_side& from(bool back) const { return back ? wanted : had; }
  const exchange_side& to(bool back) const { return back ? had : wanted; }

  static const exchange_plan& of(const tensor_core& x, const tensor_core& y, bool back);
};
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline exchange_plan::exchange_plan(const tensor_core& x, const tensor_core& y,
                                                   const plan_hints& with) {
  const bool back = with[0] != 0;
  const tensor_core &first = back ? y : x, &last = back ? x : y;
  const placement old = placement_of(first), now = placement_of(last);  // their cuts may differ
  const table from = back ? dual_of(y.layout()) : x.layout();
  const table to = back ? dual_of(x.layout()) : y.layout();
  const index_t before = old.most(from), after = now.most(to);
  const unsigned talk = talking(axes(from, to), old.sizes);
  wire = {x.facts->kind, x.facts->element};
  most = before > after ? before : after;
  had.whole = old.own(from);
  wanted.whole = now.own(to);
  kept = intersection(had.whole, wanted.whole);
  if (talk == 0) return;
  over = &x.grid->along(talk);
  // Rarely asked: it costs a step for each pair of ranks.
  if (before * group_size(talk & ~to.mask(use::split), old.sizes) > wire.most_per_call())
    most = std::max(most, most_packed(old, from, now, to, talk));
  const auto ranks = static_cast<std::size_t>(over->size());
  for (index_t r = 0; r < over->size(); ++r) {
    had.part.push_back(intersection(had.whole, now.peers(to, r, talk)));
    wanted.part.push_back(intersection(old.peers(from, r, talk), wanted.whole));
  }
  const auto me = static_cast<std::size_t>(over->rank());
  had.lay_out(ranks, me, !back);
  wanted.lay_out(ranks, me, true);
  if (most > wire.most_per_call()) return;
  had.count(wire.units());
  wanted.count(wire.units());
  const index_t n = had.whole.size() / over->size();
  if (!back && is_dense(old, from, to) && had.in_rank_order(n) && wanted.in_rank_order(n))
    dense = n;
}
DIMESH_OUTLINE inline const exchange_plan& exchange_plan::of(const tensor_core& x,
                                                             const tensor_core& y, bool back) {
  return plan_of<exchange_plan>(x, y, {back});
}
#endif

/// The elements that stay on the rank.
template <bool Add, class T> void move_kept(const exchange_plan& p, const T* x, T* y) {
  if (p.kept.size() == 0) return;
  const exchange_side &from = p.from(Add), &to = p.to(Add);
  const strides old_stride(from.whole), new_stride(to.whole);
  const T* kept = x + offset_in(from.whole, p.kept);
  T* place = y + offset_in(to.whole, p.kept);
  if constexpr (Add)
    local::add_box(p.kept.rank, p.kept.length, kept, old_stride.data(), place, new_stride.data());
  else
    local::copy_box(p.kept.rank, p.kept.length, kept, old_stride.data(), place, new_stride.data());
}
template <class T> void pack_side(const exchange_side& from, const T* x, T* packed) {
  const strides stride(from.whole);
  for (std::size_t r = 0; r < from.part.size(); ++r)
    if (from.runs[r].count > 0)
      local::pack(from.whole.rank, from.part[r].length, x + offset_in(from.whole, from.part[r]),
                  stride.data(), packed + from.runs[r].at);
}
template <bool Add, class T> void unpack_side(const exchange_side& to, const T* received, T* y) {
  const strides stride(to.whole);
  for (std::size_t r = 0; r < to.part.size(); ++r)
    if (to.runs[r].count > 0) {
      const T* part = received + to.runs[r].at;
      T* at = y + offset_in(to.whole, to.part[r]);
      if constexpr (Add)
        local::unpack_add(to.whole.rank, to.part[r].length, part, at, stride.data());
      else
        local::unpack(to.whole.rank, to.part[r].length, part, at, stride.data());
    }
}
/// The call; or, with `later`, its beginning.
template <class T>
void send_parts(const exchange_plan& p, bool back, const T* sent, T* received,
                collective::requests* later) {
  const exchange_side &from = p.from(back), &to = p.to(back);
  if (p.fits())
    collective::all_to_all_counted(
        *p.over, p.wire, collective::bytes_of(sent), from.elements, collective::bytes_of(received),
        to.elements, p.most,
        {from.units.data(), from.first.data(), to.units.data(), to.first.data()}, later);
  else
    collective::all_to_all_v(*p.over, sent, from.runs.data(), received, to.runs.data(), p.most);
}

/// Parts that are equal and lie in rank order go from where they are to where they belong.
inline void move_dense(const exchange_plan& p, const std::byte* x, std::byte* y, flight* later) {
  if (later != nullptr) later->axes = p.over->axes();
  collective::all_to_all_dense(*p.over, p.wire, x, p.dense, y,
                               later != nullptr ? &later->under_way : nullptr);
}
template <bool Add, class T>
[[gnu::noinline]] void move_packed(const exchange_plan& p, const T* x, T* y, flight* later) {
  const exchange_side &from = p.from(Add), &to = p.to(Add);
  const bool waits = later == nullptr || !p.fits();
  if (!waits && p.over != nullptr) {
    later->plan = p.shared_from_this();  // its counts, and its boxes
    later->axes = p.over->axes();
  }
  move_kept<Add>(p, x, y);
  if (p.over == nullptr || p.most == 0) return;
  storage out, in;
  const T* sent = x;
  T* received = y;
  if (from.packed > 0) {
    out = storage::acquire(static_cast<std::size_t>(from.packed) * sizeof(T));
    pack_side(from, x, static_cast<T*>(out.data()));
    sent = static_cast<const T*>(out.data());
  }
  if (to.packed > 0) {
    in = storage::acquire(static_cast<std::size_t>(to.packed) * sizeof(T));
    received = static_cast<T*>(in.data());
  }
  send_parts(p, Add, sent, received, waits ? nullptr : &later->under_way);
  if (waits) {
    if (to.packed > 0) unpack_side<Add, T>(to, received, y);
    return;
  }
  later->out = std::move(out);
  later->in = std::move(in);
  if (to.packed > 0)
    later->land = [](flight& f, tensor_core& result) {
      unpack_side<Add, T>(static_cast<const exchange_plan&>(*f.plan).to(Add),
                          static_cast<const T*>(f.in.data()), result.data<T>());
      return true;
    };
}
/// Moves x to y, or adds to what y holds; with `later` it begins to.
template <bool Add, class T>
void move_parts(const exchange_plan& p, const T* x, T* y, flight* later = nullptr) {
  if (p.dense > 0)
    move_dense(p, collective::bytes_of(x), collective::bytes_of(y), later);
  else
    move_packed<Add>(p, x, y, later);
}

}  // namespace dimesh::detail
