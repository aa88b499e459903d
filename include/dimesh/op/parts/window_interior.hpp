// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which results see nothing of other ranks? While those ranks' elements are on their way, these are
// computed; the others, slabs along each cut, when they have arrived.
//
//   windows of 3 taps over block [8, 16), `same`: results [9, 15) first, then 8 and 15, which see
//   [7, 10) and [14, 17)
#pragma once

#include <vector>

#include "dimesh/core/flight.hpp"
#include "dimesh/op/parts/window_exchange.hpp"

namespace dimesh::detail {

/// Of a rank's block of results: those that see its own elements alone, and slabs of the rest.
inline void work_out_parts(const windowed_view& v, const window_plan& p) {
  const auto add_slab = [&](box of, int d, index_t begin, index_t end) {
    of.begin[d] = begin, of.length[d] = end - begin;
    if (of.size() > 0) p.slabs.push_back(v.part(of));
  };
  const box mine = v.own();
  box rest = v.whole().of;
  for (int i = 0; i < v.count(); ++i) {
    const int from = v.dim_from(i), seen = v.seen_dim(i);
    const index_t begin = mine.begin[seen], end = begin + mine.length[seen];
    const index_t first = rest.begin[from], last = first + rest.length[from];
    index_t low = first, high = last;
    const auto seen_by_rest = [&] { return v.seen_along(i, {low, high - low}); };
    for (block b; (b = seen_by_rest()).length > 0 && b.offset < begin;) ++low;
    for (block b; (b = seen_by_rest()).length > 0 && b.offset + b.length > end;) --high;
    add_slab(rest, from, first, low);
    add_slab(rest, from, high, last);
    rest.begin[from] = low, rest.length[from] = high - low;
  }
  p.inside = v.part(rest);
  p.has_parts = true;
}

/// Where the elements of a part begin in an array that holds the box.
constexpr index_t first_in(const box& whole, const box& part) {
  return part.size() > 0 ? offset_in(whole, part) : 0;
}

/// Calls f(elements, box in which they lie, part) for parts that make up the rank's block of y: the
/// interior with x itself, which lies as the rank's block does, while messages travel; then slabs.
template <class T, class F>
void beside_messages(const windowed_view& v, const T* x, tensor_core& y, const char* call,
                     const F& f) {
  const window_plan& p = v.plan();
  const box mine = v.own();
  const flight_owner move(flight::fresh());
  move->between = &v.others();
  move->called = call;
  move->out.become_room(static_cast<std::size_t>(p.given.elements) * sizeof(T));
  move->in.become_room(static_cast<std::size_t>(p.taken.elements) * sizeof(T));
  T *const packed = static_cast<T*>(move->out.data()), *const got =
                                                           static_cast<T*>(move->in.data());
  v.pack(p.given, mine, x, packed);
  collective::prepare(v.others(), call, 0, collective::wire_of<T>);
  collective::start_exchange_some(v.others(), collective::wire_of<T>, collective::bytes_of(packed),
                                  p.given.messages, collective::bytes_of(got), p.taken.messages,
                                  call, move->tag_of(v.others(), 0), collective::most_per_call<T>,
                                  move->under_way);
  move->begun();
  if (!p.has_parts) work_out_parts(v, p);
  if (p.inside.of.size() > 0) f(x, mine, p.inside);
  move->finish(y);
  storage room;
  for (const window_part& slab : p.slabs) {
    room.become_room(static_cast<std::size_t>(slab.seen.size()) * sizeof(T));
    T* const seen = static_cast<T*>(room.data());
    v.template move<false>(intersection(mine, slab.seen), mine, x, slab.seen, seen);
    for (std::size_t i = 0; i < p.taken.part.size(); ++i) {
      const box& part = p.taken.part[i];
      v.template move<false>(intersection(part, slab.seen), part,
                             static_cast<const T*>(got) + p.taken.messages[i].part.at, slab.seen,
                             seen);
    }
    f(static_cast<const T*>(seen), slab.seen, slab);
  }
}

}  // namespace dimesh::detail
