// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are many tensors summed in few messages? What goes along the same axes of the same grid, in
// elements of one kind, is a group: one reduction, in place where it lies side by side, otherwise
// packed.
//
//   piece pieces[n];   reduce_pieces(pieces, n);   // to[...] = the sums over ranks of from[...]
#pragma once

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/core/runtime_facts.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/grad/variables.hpp"
#include "dimesh/layout/box.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh::detail {

/// Who adds up what: the ranks along some axes of a grid, elements of one kind. With null and 0
/// there is nothing to do.
struct sum_group {
  const grid_state* grid = nullptr;
  unsigned axes = 0;
  collective::wire element;
  const space_facts* space = nullptr;  // in which the elements lie
  bool operator==(const sum_group&) const = default;
};

/// One tensor of a struct that is being completed.
struct piece {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  index_t bytes = 0;  // of elements
  sum_group group;
  /// The memory that from and to are parts of; null: there is none.
  const void* from_slab = nullptr;
  const void* to_slab = nullptr;

  index_t end() const { return (bytes + 63) / 64 * 64; }
  bool goes() const { return group.axes != 0 && bytes > 0; }
};

/// Does piece b lie right behind piece a, and go the same way? A gap between them must be memory
/// of both, which holds numbers.
inline bool joins(const piece& a, const piece& b) {
  const auto follows = [](const void* a_slab, const void* b_slab, bool gap) {
    return !gap || (a_slab != nullptr && a_slab == b_slab);
  };
  const bool gap = a.end() != a.bytes;
  return a.group == b.group && a.from + a.end() == b.from && a.to + a.end() == b.to &&
         follows(a.from_slab, b.from_slab, gap) && follows(a.to_slab, b.to_slab, gap);
}

/// Do the pieces of a group travel with gaps between them, as they lie on a slab?
enum class gaps_are : bool { left_out, sent };

/// Where a piece of a group stands in its message, behind those that end at `end`. That follows
/// from sizes alone: how pieces lie in memory is each rank's affair (one may hold copies of some).
constexpr index_t place_behind(index_t end, gaps_are g) {
  return g == gaps_are::sent ? slab_step(end) : end;
}

/// The pieces of one group as they lie.
struct piece_group {
  sum_group of;
  gaps_are between = gaps_are::left_out;
  index_t bytes = 0;  // of the message
  int runs = 0;  // how many stretches of memory

  bool has(const piece& p) const { return p.group == of && p.bytes > 0; }
};

piece_group group_of(const piece* p, int count, const sum_group& of, gaps_are between);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline piece_group group_of(const piece* p, int count, const sum_group& of,
                                           gaps_are between) {
  piece_group g{of, between};
  for (int i = 0; i < count; ++i) {
    if (!g.has(p[i])) continue;
    const bool joined = i > 0 && joins(p[i - 1], p[i]);
    g.runs += !joined;
    g.bytes = place_behind(g.bytes, between) + p[i].bytes;
  }
  return g;
}
#endif

inline void reduce_bytes(const piece_group& g, const std::byte* from, std::byte* to,
                         index_t bytes) {
  const collective::wire& w = g.of.element;
  collective::all_reduce_elements(g.of.grid->along(g.of.axes), w, from, to, bytes / w.size);
}

/// Copies the pieces of a group into one buffer, sums it, and copies them out. Gaps that travel
/// hold zeros.
void reduce_packed(const piece* p, int count, const piece_group& g);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void reduce_packed(const piece* p, int count, const piece_group& g) {
  const storage packed = storage::acquire(static_cast<std::size_t>(g.bytes));
  auto* const data = static_cast<std::byte*>(packed.data());
  for (const bool out : {false, true}) {
    index_t end = 0;
    for (int i = 0; i < count; ++i) {
      if (!g.has(p[i])) continue;
      const index_t at = place_behind(end, g.between);
      if (out) {
        collective::copy(data + at, p[i].to, p[i].bytes);
      } else {
        if (at > end) zero_bytes(data + end, at - end);
        collective::copy(p[i].from, data + at, p[i].bytes);
      }
      end = at + p[i].bytes;
    }
    if (!out) reduce_bytes(g, data, data, g.bytes);
  }
}
#endif

inline void reduce_in_place(const piece* p, const piece_group& g) {
  int first = 0;
  while (!g.has(p[first])) ++first;
  reduce_bytes(g, p[first].from, p[first].to, g.bytes);
}

/// Sums all pieces, one reduction a group, in the order in which groups first appear. Without gaps
/// no piece is part of a slab.
void reduce_pieces(const piece* p, int count, gaps_are between = gaps_are::left_out);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void reduce_pieces(const piece* p, int count, gaps_are between) {
  for (int i = 0; i < count; ++i) {
    bool seen = !p[i].goes();
    for (int j = 0; j < i && !seen; ++j) seen = p[j].goes() && p[j].group == p[i].group;
    if (seen) continue;
    const piece_group g = group_of(p, count, p[i].group, between);
    const in_space here(g.of.space);
    if (g.runs == 1)
      reduce_in_place(p, g);
    else
      reduce_packed(p, count, g);
  }
}
#endif

// ---- tensors of a struct ------------------------------------------------------------------------

/// The axes along which a tensor's addends must be summed.
constexpr unsigned addend_axes(const tensor_core& x) {
  return talking(x.facts->partial & ~x.once, x.sizes());
}
template <Tensor X> constexpr unsigned addend_axes(const X& x) { return addend_axes(core_of(x)); }

inline sum_group sum_group_of(const tensor_core& x, unsigned axes) {
  return {x.grid, axes, {x.facts->kind, x.facts->element}, x.facts->space};
}

template <Tensor X> sum_group sum_group_of(const X& x, unsigned axes) {
  return sum_group_of(core_of(x), axes);
}

/// Must it be summed elsewhere? In place only where nobody else holds the memory.
inline bool needs_room(const tensor_core& x, bool in_place) {
  return x.away == 0 && addend_axes(x) != 0 && !(in_place && x.memory.alone());
}

/// to[...] = from[...] with all sums made. A tensor without a grid is one that this rank has no
/// part in: it stays so. Room: for `count` pieces.
void complete_tensors(const tensor_core* const* from, tensor_core* const* to, int count,
                      bool in_place, piece* room);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void complete_tensors(const tensor_core* const* from, tensor_core* const* to,
                                            int count, bool in_place, piece* room) {
  const running here(watcher, "complete");
#ifdef DIMESH_CHECKED
  extent_history extents;
  for (int i = 0; i < count; ++i)
    if (from[i]->defined()) from[i]->add_extents(extents);
  const while_doing checked("complete", 0, extents);
#endif
  index_t total = 0, at = 0;
  const space_facts* const space = count > 0 ? from[0]->facts->space : nullptr;
  for (int i = 0; i < count; ++i)  // a slab lies in one space
    if (from[i]->defined() && needs_room(*from[i], in_place) && from[i]->facts->space == space)
      total += slab_step(from[i]->bytes());
  const storage slab =
      total > 0 ? storage::acquire(static_cast<std::size_t>(total), space) : storage{};
  for (int i = 0; i < count; ++i) {
    const tensor_core& g = *from[i];
    tensor_core& r = *to[i];
    // Empty where this rank has no part.
    piece& mine = *std::construct_at(room + i, piece{});
    if (!g.defined()) continue;
    require_grid("complete", g);
#ifdef DIMESH_CHECKED
    if (addend_axes(g) != 0)
      require_replicas("complete", "tensor " + std::to_string(i + 1) + " of the struct", g);
#endif
    r.place_like(g);
    r.take_history(g);
    if (needs_room(g, in_place) && g.facts->space != space) {
      r.memory = r.fresh_memory();
    } else if (needs_room(g, in_place)) {
      r.memory = slab.part(static_cast<std::size_t>(at));
      at += slab_step(g.bytes());
    } else {
      r.memory = g.memory;
    }
    if (g.away != 0) continue;
    mine = {g.data<const std::byte>(),       r.data<std::byte>(), g.bytes(),
            sum_group_of(g, addend_axes(g)), g.memory.slab(),     r.memory.slab()};
  }
  reduce_pieces(room, count, gaps_are::sent);
}
#endif

/// What a group of pieces sends.
struct foreseen_group {
  std::uint64_t mesh = 0;  // whose axes they are
  unsigned axes = 0;
  element_kind element = element_kind::other;
  const index_t* sizes = nullptr;
  index_t size = 0;  // of an element
  index_t bytes = 0;

  constexpr bool is(const foreseen_group& g) const {
    return mesh == g.mesh && axes == g.axes && element == g.element;
  }
  constexpr void add(index_t more, gaps_are between) {
    if (more > 0) bytes = place_behind(bytes, between) + more;
  }
  constexpr void enter(tally& t) const {
    const index_t n = group_size(axes, sizes);
    t.mesh = mesh;
    t.collective(event_kind::all_reduce, axes, bytes, 2 * (n - 1) * bytes / n);
  }
};

/// What sums cost that start bucket by bucket, as overlap.hpp cuts them: stretches of tensors that
/// lie side by side and go the same way, in messages of `most` bytes.
constexpr void enter_buckets(tally& t, const tensor_core* const* from, int count, index_t most) {
  index_t stretch = 0, gap = 0, bucket = 0;
  foreseen_group way;
  const auto send = [&] {
    const index_t whole = most / (way.size > 0 ? way.size : 1) * way.size;
    for (; way.axes != 0 && stretch > 0; stretch -= whole < stretch ? whole : stretch) {
      way.bytes = whole < stretch ? whole : stretch;
      way.enter(t);
    }
    stretch = gap = 0;
  };
  for (int n = 0; n < count; ++n) {
    const tensor_core& g = *from[n];
    const index_t step = slab_step(g.bytes());
    const foreseen_group mine{g.facts->mesh, g.bytes() > 0 ? addend_axes(g) : 0, g.facts->kind,
                              g.sizes(), g.facts->element};
    const bool next = n == 0 || bucket + step > most;
    if (next || !way.is(mine)) send();
    bucket = next ? step : bucket + step;
    way = mine;
    stretch += gap + g.bytes();
    gap = step - g.bytes();
  }
  send();
}

/// The completed tensor's facts, where its type does not say them.
constexpr void complete_facts(const tensor_core& from, tensor_core& to) {
  if (from.facts->at_run_time)
    to.facts = &facts_under(*to.facts, without_axes(from.layout(), from.facts->partial));
}
/// The same on shapes: what each group of tensors costs, or each bucket of so many bytes. Groups:
/// room for `count`.
DIMESH_OUTLINE constexpr void complete_shapes(const tensor_core* const* from,
                                              tensor_core* const* to, int count,
                                              foreseen_group* groups, index_t bucket = 0) {
  tally* t = nullptr;
  int used = 0;
  for (int n = 0; n < count; ++n) {
    const tensor_core& g = *from[n];
    tensor_core& r = *to[n];
    complete_facts(g, r);
    r.place_like(g);
    r.count = t = g.count;
    r.live = g.live;
    if (g.away != 0) continue;
    const foreseen_group mine{g.facts->mesh, addend_axes(g), g.facts->kind, g.sizes(),
                              g.facts->element};
    int i = 0;
    while (i < used && !groups[i].is(mine)) ++i;
    if (i == used) groups[used++] = mine;
    groups[i].add(g.bytes(), gaps_are::sent);
  }
  if (t != nullptr && bucket > 0) return enter_buckets(*t, from, count, bucket);
  const running here(t != nullptr ? t->sink : nullptr, "complete");
  for (int i = 0; t != nullptr && i < used; ++i)
    if (groups[i].axes != 0 && groups[i].bytes > 0) groups[i].enter(*t);
}

}  // namespace dimesh::detail
