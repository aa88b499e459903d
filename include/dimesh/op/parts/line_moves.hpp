// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do elements get to other places along dims that ranks split? A map says which of a rank's
// elements go where in another rank's block, in runs of equal steps; every rank works out what it
// has for whom. Each rank pair with elements for one another has one message; what stays on its
// rank is copied.
//
//   struct reversed { ...; void each(index_t owner, index_t wanting, F f) const; };  // f(line_run)
//   const line_moves m(reversed{..}, grid, axes, across);
//   move_lines<T>(m, x, y, "flip_exchange");
//   kept_moves<reversed>(x, y, {d}, [&] { return line_moves(...); })   worked out once
#pragma once

#include <optional>

#include "dimesh/op/parts/along.hpp"
#include "dimesh/op/parts/strided.hpp"

namespace dimesh::detail {

/// Element place + k place_step of a block is element own + k own_step of that of an operand.
struct line_run {
  int operand;
  index_t own, own_step, place, place_step, count;
};

/// A block as lines along some neighbouring dims, read as one: (outer, n, inner).
struct line_block {
  index_t outer = 1, n = 1, inner = 1;

  constexpr line_block(const tensor_core& x, int first, int count) {
    for (int d = 0; d < x.rank(); ++d)
      (d < first ? outer : d < first + count ? n : inner) *= x.local(d);
  }
  constexpr index_t across() const { return outer * inner; }
};

/// Of this rank.
struct line_moves : move_plan {
  const communicator* over = nullptr;  // null: there is nobody to talk to
  std::vector<line_run> kept, out, in;
  std::vector<collective::message> sends, receives;
  index_t sent = 0, received = 0;

  /// axes: those that cut the lines, with more ranks than one. across: elements at one place.
  template <class Map>
  line_moves(const Map& map, const grid_state& grid, unsigned axes, index_t across) {
    if (axes != 0) over = &grid.along(axes);
    const index_t me = over == nullptr ? 0 : over->rank();
    const index_t ranks = over == nullptr ? 1 : over->size();
    map.each(me, me, [this](const line_run& r) { kept.push_back(r); });
    const auto meet = [across](index_t owner, index_t wanting, index_t peer, const Map& m,
                               std::vector<line_run>& runs,
                               std::vector<collective::message>& messages, index_t& total) {
      const index_t before = total;
      m.each(owner, wanting, [&](const line_run& r) {
        runs.push_back(r);
        total += r.count * across;
      });
      if (total > before) messages.push_back({static_cast<int>(peer), {before, total - before}});
    };
    for (index_t r = 0; r < ranks; ++r) {
      if (r == me) continue;
      meet(me, r, r, map, out, sends, sent);
      meet(r, me, r, map, in, receives, received);
    }
  }
};

/// What the rank at the origin, `me`, sends.
template <class Map>
constexpr void count_lines(tally& t, const Map& map, unsigned axes, const index_t* sizes,
                           index_t me, index_t bytes_each) {
  for (index_t r = 0, ranks = axes == 0 ? 1 : group_size(axes, sizes); r < ranks; ++r) {
    if (r == me) continue;
    index_t n = 0;
    map.each(me, r, [&n](const line_run& run) { n += run.count; });
    if (n * bytes_each > 0) t.collective(event_kind::message, axes, n * bytes_each, n * bytes_each);
  }
}

/// The moves from x to y that `make` works out, at the first call with these layouts, extents of x
/// and other numbers; room keeps those of which there are too many. A slice may begin elsewhere at
/// every step: the last few are kept, as of blocks of any lengths.
template <class Map, class Make>
const line_moves& kept_moves(const tensor_core& x, const tensor_core& y,
                             std::initializer_list<index_t> numbers,
                             std::optional<line_moves>& room, const Make& make) {
  plan_key key(&kind_of_plan<Map>, x, y, {});
  for (const index_t n : numbers)
    if (!key.add(n)) return room.emplace(make());
  std::shared_ptr<const move_plan>& plan = ragged_plans::here().at(key, x, y);
  if (!plan) {
    plan = std::make_shared<const line_moves>(make());
    plans_worked_out.fetch_add(1, std::memory_order_relaxed);
  }
  return static_cast<const line_moves&>(*plan);
}

/// Lines of elements in memory.
template <class T> struct lines_at {
  line_block of;
  T* data;

  lines_at(const tensor_core& x, int first, int count)
      : of(x, first, count), data(x.template data<T>()) {}
  T* at(index_t place) const { return data + place * of.inner; }
};
template <class T> struct run_box {
  index_t extent[3], stride[3];
  T* data;

  run_box(const lines_at<T>& l, index_t place, index_t step, index_t count)
      : extent{l.of.outer, count, l.of.inner},
        stride{l.of.n * l.of.inner, step * l.of.inner, 1},
        data(l.at(place)) {}
};

/// Moves what the operands x have of y.
template <class T>
void move_lines(const line_moves& m, const lines_at<const T>* x, const lines_at<T>& y,
                const char* call) {
  for (const line_run& r : m.kept) {
    const run_box<const T> from(x[r.operand], r.own, r.own_step, r.count);
    const run_box<T> to(y, r.place, r.place_step, r.count);
    local::copy_box(3, from.extent, from.data, from.stride, to.data, to.stride);
  }
  if (m.over == nullptr) return;
  const storage out = storage::acquire(static_cast<std::size_t>(m.sent) * sizeof(T));
  const storage in = storage::acquire(static_cast<std::size_t>(m.received) * sizeof(T));
  T* packed = static_cast<T*>(out.data());
  const index_t across = y.of.across();
  for (const line_run& r : m.out) {
    const run_box<const T> from(x[r.operand], r.own, r.own_step, r.count);
    local::pack(3, from.extent, from.data, from.stride, packed);
    packed += r.count * across;
  }
  collective::exchange_some(*m.over, static_cast<const T*>(out.data()), m.sends,
                            static_cast<T*>(in.data()), m.receives, call, {&out, &in});
  const T* received = static_cast<const T*>(in.data());
  for (const line_run& r : m.in) {
    const run_box<T> to(y, r.place, r.place_step, r.count);
    local::unpack(3, to.extent, received, to.data, to.stride);
    received += r.count * across;
  }
}

/// Element to + k to_step of a dim is element from + k from_step of another, which is cut over the
/// same axes.
struct strided_map {
  cut_dim from, to;
  strided moved;
  int operand = 0;

  constexpr strided_map(const tensor_core& x, const dim_facts* own, const tensor_core& y,
                        const dim_facts* place, const strided& w, int k = 0)
      : from(placement_of(x), x.layout(), x.facts->place_of(own), boundary::zero),
        to(placement_of(y), y.layout(), y.facts->place_of(place), boundary::zero),
        moved(w),
        operand(k) {}

  template <class F> constexpr void each(index_t owner, index_t wanting, F&& f) const {
    const block has = from.of(owner), wants = to.of(wanting);
    range k{0, moved.count};
    k.within(has, moved.from, moved.from_step);
    k.within(wants, moved.to, moved.to_step);
    if (k.begin < k.end)
      f(line_run{operand, moved.from + k.begin * moved.from_step - has.offset, moved.from_step,
                 moved.to + k.begin * moved.to_step - wants.offset, moved.to_step,
                 k.end - k.begin});
  }

 private:
  /// Whole numbers k.
  struct range {
    index_t begin, end;
    /// first + k step lies in the block.
    constexpr void within(const block& b, index_t first, index_t step) {
      index_t low = b.offset - first, high = low + b.length;  // of k step
      if (step < 0) {
        const index_t was = low;
        low = 1 - high, high = 1 - was, step = -step;
      }
      begin = std::max(begin, up(low, step));
      end = std::min(end, up(high, step));
    }
    /// The least whole number not below a / b, b > 0.
    static constexpr index_t up(index_t a, index_t b) {
      return a >= 0 ? (a + b - 1) / b : -(-a / b);
    }
  };
};

/// Sets all of y, where the elements that come leave some.
template <class T> void fill_around(const tensor_core& y, T around) {
  const index_t n[] = {y.elements()}, step[] = {1};
  local::fill_box(1, n, around, y.template data<T>(), step);
}

}  // namespace dimesh::detail
