// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do blocks move to another mesh, once it is known who sends what? Packing, one all-to-all over
// all ranks, and unpacking; parts that are runs of a block travel from where they lie.
//
//   move_across<false>(p, x, y)            // moved
//   move_across<true>(p, y, x)             // the way back: added to x
//   move_across<false>(p, x, y, &flight)   // begins to
#pragma once

#include "dimesh/core/flight.hpp"
#include "dimesh/op/parts/across.hpp"

namespace dimesh::detail {

/// The elements that stay on the rank: from one of its blocks to the other, or (Back) added.
template <bool Back, class T> void keep_across(const across_plan& p, const T* x, T* y) {
  if (p.kept.size() == 0 || x == y) return;
  const T* const kept = x + (Back ? p.kept_wanted : p.kept_had);
  T* const place = y + (Back ? p.kept_had : p.kept_wanted);
  const strides& old_stride = Back ? p.wanted_stride : p.had_stride;
  const strides& new_stride = Back ? p.had_stride : p.wanted_stride;
  if constexpr (Back)
    local::add_box(p.kept.rank, p.kept.length, kept, old_stride.data(), place, new_stride.data());
  else if (p.kept_is_run)
    collective::copy(kept, place, p.kept.size());
  else
    local::copy_box(p.kept.rank, p.kept.length, kept, old_stride.data(), place, new_stride.data());
}
template <class T> void pack_across(const across_side& from, const T* x, T* packed) {
  const strides stride(from.whole);
  for (const box& b : from.part) {
    local::pack(b.rank, b.length, x + offset_in(from.whole, b), stride.data(), packed);
    packed += b.size();
  }
}
template <bool Add, class T> void unpack_across(const across_side& to, const T* part, T* y) {
  const strides stride(to.whole);
  for (const box& b : to.part) {
    T* at = y + offset_in(to.whole, b);
    if constexpr (Add)
      local::unpack_add(b.rank, b.length, part, at, stride.data());
    else
      local::unpack(b.rank, b.length, part, at, stride.data());
    part += b.size();
  }
}
/// The call; or, with `later`, its beginning.
template <class T>
void send_across(const across_plan& p, const across_side& from, const T* sent,
                 const across_side& to, T* received, collective::requests* later) {
  if (p.fits())
    collective::all_to_all_counted(
        *p.over, p.wire, collective::bytes_of(sent), from.elements, collective::bytes_of(received),
        to.elements, p.most,
        {from.units.data(), from.first.data(), to.units.data(), to.first.data()}, later);
  else
    collective::all_to_all_v(*p.over, sent, from.runs.data(), received, to.runs.data(), p.most);
}

inline void announce_across(const across_plan& p, flight& f) {
  f.axes = p.over->axes();
  f.mesh = p.over->mesh();
}
template <bool Back, class T>
[[gnu::noinline]] void move_parts_across(const across_plan& p, const T* x, T* y, flight* later) {
  const across_side &from = Back ? p.wanted : p.had, &to = Back ? p.had : p.wanted;
  keep_across<Back>(p, x, y);
  if (p.over == nullptr) return;
  storage out, in;
  const T* sent = x;
  T* received = y;
  if (from.packed > 0) {
    out = storage::acquire(static_cast<std::size_t>(from.packed) * sizeof(T));
    pack_across(from, x, static_cast<T*>(out.data()));
    sent = static_cast<const T*>(out.data());
  }
  if (to.packed > 0) {
    in = storage::acquire(static_cast<std::size_t>(to.packed) * sizeof(T));
    received = static_cast<T*>(in.data());
  }
  const bool waits = later == nullptr || !p.fits();
  if (!waits) later->plan = p.shared_from_this(), announce_across(p, *later);
  send_across(p, from, sent, to, received, waits ? nullptr : &later->under_way);
  if (waits) {
    if (to.packed > 0) unpack_across<Back, T>(to, received, y);
    return;
  }
  later->out = std::move(out);
  later->in = std::move(in);
  if (to.packed > 0)
    later->land = [](flight& f, tensor_core& result) {
      unpack_across<false, T>(static_cast<const across_plan&>(*f.plan).wanted,
                              static_cast<const T*>(f.in.data()), result.data<T>());
      return true;
    };
}
/// Moves x, this rank's block on one side, to y, that on the other, or (Back) adds to what y holds;
/// with `later`, begins to move x to y (not back).
template <bool Back, class T>
void move_across(const across_plan& p, const T* x, T* y, flight* later = nullptr) {
  if (Back || p.dense == 0) return move_parts_across<Back>(p, x, y, later);
  if (later != nullptr) announce_across(p, *later);
  collective::all_to_all_dense(*p.over, p.wire, collective::bytes_of(x), p.dense,
                               collective::bytes_of(y),
                               later != nullptr ? &later->under_way : nullptr);
}

}  // namespace dimesh::detail
