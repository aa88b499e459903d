// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the results of an operation look like before it has run? Their facts are there; grid,
// extents and blocks come from the operands, which must agree, and memory from the pool.
//
//   match_operands("einsum", x);   place(op, y, x);   give_memory(op, y, x, slot, tally)
#pragma once

#include "dimesh/core/known_blocks.hpp"
#include "dimesh/core/operation.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

[[noreturn]] inline void refuse_extents(const operation& op, const dim_facts* d, index_t here,
                                        index_t there) {
  (words() << op.facts->name << ": the operands disagree on dim '" << d->name << "': " << here
           << " elements here, " << there << " there")
      .raise();
}
[[noreturn]] void refuse_grids(std::string_view call);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void refuse_grids(std::string_view call) {
  (words() << call
           << ": the operands live on two grids; make them on one, or bring them there with "
              "relayout")
      .raise();
}
#endif

/// Where do two tables of cuts differ first? Throws, on all ranks alike.
[[noreturn]] void refuse_cuts(const operation& op, const cut_record& a, const cut_record& b);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void refuse_cuts(const operation& op, const cut_record& a,
                                       const cut_record& b) {
  words w;
  w << op.facts->name << ": the operands cut dim '" << a.dim->name << "' differently: ";
  index_t i = 0;
  while (i < a.ranks() && i < b.ranks() && a.at(i, a.ranks()) == b.at(i, b.ranks())) ++i;
  if (i == a.ranks() || i == b.ranks())
    w << "into " << a.ranks() << " blocks here, " << b.ranks() << " there";
  else
    w << "block " << i << " has " << a.at(i, a.ranks()).length << " elements here, "
      << b.at(i, b.ranks()).length << " there";
  w << "; relayout one of them, or let the dims have two names";
  w.raise();
}
#endif
/// Dims that are ragged in operand k and in one before it are cut alike.
void match_cuts(const operation& op, operands x, int k);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void match_cuts(const operation& op, operands x, int k) {
  for (int d = 0; d < x[k].rank(); ++d)
    for (int i = 0; i < k && (x[k].facts->ragged >> d & 1u); ++i) {
      const dim_facts* const dim = x[k].facts->dim[d];
      const int at = x[i].facts->place_of(dim);
      if (at < 0 || !(x[i].facts->ragged >> at & 1u)) continue;
      const cut_record* const here = cuts_of_dim(x[i].cuts.first(), dim);
      const cut_record* const there = cuts_of_dim(x[k].cuts.first(), dim);
      if (here != there && here->begin != there->begin) refuse_cuts(op, *here, *there);
    }
}
#endif

constexpr void match_others(const operation& op, operands x) {
  const tensor_core& first = x[0];
  for (int k = 1; k < x.count(); ++k) {
    if (x[k].is_shape != first.is_shape)  // data that a function under `count` has captured
      require_grid(op.facts->name, x[k].is_shape ? x[k] : first);
    if (x[k].grid != first.grid) {
      if (!x[k].is_shape) require_grid(op.facts->name, x[k]);
      refuse_grids(op.facts->name);
    }
    if (x[k].facts->ragged != 0) [[unlikely]]
      match_cuts(op, x, k);
    if (x[k].facts->is_static) continue;
    if (k > 0 && x[k].facts == first.facts) {  // the same dims: most often
      for (int d = 0; d < first.rank(); ++d)
        if (x[k].extent(d) != first.extent(d))
          refuse_extents(op, first.facts->dim[d], first.extent(d), x[k].extent(d));
      continue;
    }
    for (int d = 0; k > 0 && d < x[k].rank(); ++d) {
      const dim_facts* const dim = x[k].facts->dim[d];
      if (dim->extent != dynamic) continue;
      for (int i = 0; i < k; ++i) {
        const int at = x[i].facts->place_of(dim);
        if (at < 0) continue;
        if (x[i].extent(at) != x[k].extent(d))
          refuse_extents(op, dim, x[i].extent(at), x[k].extent(d));
        break;
      }
    }
  }
}

/// Operands must live on one grid, and agree on extents that only the run knows.
constexpr void match_operands(const operation& op, operands x) {
  if (!x[0].is_shape && !x[0].is_there()) [[unlikely]]
    require_grid(op.facts->name, x[0]);
  if (x.count() > 1) match_others(op, x);
}

/// The extent of a dim of the result.
constexpr index_t extent_among(const operation& op, const dim_facts* d, operands x) {
  if (d->extent != dynamic) return d->extent;
  if (op.facts->own_dims) {
    const index_t n = op.extent_of(d);
    if (n != dynamic) return n;
  }
  for (int k = 0; k < x.count(); ++k) {
    const int at = x[k].facts->place_of(d);
    if (at >= 0) return x[k].extent(at);
  }
  return dynamic;
}

constexpr tally* tally_of(operands x) {
  for (int k = 0; k < x.count(); ++k)
    if (x[k].count != nullptr) return x[k].count;
  return nullptr;
}

[[noreturn]] inline void refuse_open(const operation& op) {
  (words() << op.facts->name
           << ": an operand is a probe, and no rule says the layout of the result; run the "
              "operation by apply_rule")
      .raise();
}

/// Extents and blocks of y, on its grid, anew.
constexpr void work_out(const operation& op, tensor_core& y, operands x) {
  if (y.is_shape && y.facts->placed != 0) y.count = tally_of(x);  // it says whose cost this is
  y.runs.resize(y.rank());
  for (int d = 0; d < y.rank(); ++d) y.runs.extents()[d] = extent_among(op, y.facts->dim[d], x);
  y.place();
}
/// Have all operands the form of the first, without addends or cuts? Their extents are equal where
/// match_operands says so.
constexpr bool are_one_form(operands x) {
  if (x.count() == 1) return true;
  if (x[0].facts->partial != 0 || x[0].cuts) return false;
  for (int k = 1; k < x.count(); ++k)
    if (x[k].facts != x[0].facts || x[k].cuts || x[k].is_shape != x[0].is_shape) return false;
  return true;
}
/// Extents and blocks of y, whose facts are there: those of an operand of the same form, or as they
/// were when they were worked out.
constexpr void place(const operation& op, tensor_core& y, operands x) {
  if (y.facts->is_open) refuse_open(op);
  const bool own_dims = op.facts->own_dims;
  bool known = !own_dims && are_one_form(x);
  if (std::is_constant_evaluated()) known = false;
  if (op.facts->own_grid) {
    op.land(y);
    if (known && recall_blocks(y, x[0])) return;
    work_out(op, y, x);
    if (known) note_blocks(y, x[0]);
    return;
  }
  if (known) {
    y.stand_with(x[0]);
    if (recall_blocks(y, x[0])) return;
  }
  const bool alike = !own_dims && y.facts->same_blocks(*x[0].facts);
  if (alike)
    y.place_like(x[0]);
  else
    y.stand_with(x[0]);
  for (int k = alike ? 1 : 0; k < x.count(); ++k)
    if (x[k].cuts) [[unlikely]]
      y.cuts.add_all(x[k].cuts);
  if (!alike) work_out(op, y, x);
  if (known) note_blocks(y, x[0]);
}
/// The same with memory (the slot's, if there is one), once more for operands as before: what else
/// is asked of them has been answered then. Null where it has not; checked builds ask each time.
inline known_blocks* recall_result(const operation& op, tensor_core& y, operands x,
                                   const storage* slot) {
#ifdef DIMESH_CHECKED
  return (void)op, (void)y, (void)x, (void)slot, nullptr;
#else
  const tensor_core& first = x[0];
  if (!op.facts->follows || watcher != nullptr || !first.is_there() || !are_one_form(x))
    return nullptr;
  for (int k = 1; k < x.count(); ++k)
    if (x[k].grid != first.grid || !first.runs.same_extents(x[k].runs, first.rank()))
      return nullptr;
  if (op.facts->own_grid)
    op.land(y);
  else
    y.stand_with(first);
  known_blocks& known = known_blocks::of(y.facts, first.facts);
  if (!known.is_plain || !known.are_of(y, first)) return nullptr;
  y.runs.become(known.result);
  y.away = known.away;
  if (y.away != 0) {
    y.memory = storage{};
  } else if (slot != nullptr && *slot) {
    if (slot != &y.memory) y.memory = *slot;
  } else {
    y.memory = storage::acquire(static_cast<std::size_t>(known.bytes), y.facts->space);
  }
  return &known;
#endif
}

/// The axes along which the result of a linear operation may be counted once: where every partial
/// operand is.
constexpr unsigned common_once(unsigned partial, operands x) {
  unsigned any = 0, mixed = 0;
  for (int k = 0; k < x.count(); ++k) {
    any |= x[k].facts->partial;
    mixed |= x[k].facts->partial & ~x[k].once;
  }
  return partial & any & ~mixed;
}

/// Is this rank away from where the operands and the results live? What moves tensors from place to
/// place is at work wherever one of them is; to another grid, on all ranks.
constexpr bool is_away(results y, operands x) {
  unsigned away = x[0].away;
  if (y.has(0) && (y[0].grid != x[0].grid || y[0].facts->mesh != x[0].facts->mesh)) return false;
  for (int k = 1; k < x.count(); ++k) away &= x[k].away;
  for (int i = 0; i < y.count(); ++i)
    if (y.has(i)) away &= y[i].away;
  return away != 0;
}
/// A rank that is away takes no part, except that all ranks along an axis make its communicator: of
/// one along which x changes places, when those two first ask for it.
constexpr void leave_to_others(const tensor_core& y, const tensor_core& x) {
  if (x.is_shape) return;
  for (unsigned rest = x.facts->placed & y.facts->placed; rest != 0; rest &= rest - 1) {
    const auto a = static_cast<std::size_t>(std::countr_zero(rest));
    if (x.layout().axis[a].at != y.layout().axis[a].at) (void)x.grid->along(1u << a);
  }
}

/// Memory for a result (of a shape: bytes that count as alive).
constexpr void give_memory(const operation& op, tensor_core& y, operands x, const storage* slot,
                           tally* t) {
  if (op.facts->own_grid)
    op.land(y);
  else if (y.facts->partial != 0)
    y.once = common_once(y.facts->partial, x);
  if (y.is_shape) {
    y.count = t;
    if (op.facts->aliases >= 0 && y.away == 0)
      y.live = x[op.facts->aliases].live;
    else
      y.live = live_bytes(t, y.bytes());
  } else if (y.away != 0) {
    y.memory = storage{};
  } else if (op.facts->aliases >= 0) {
    y.memory = x[op.facts->aliases].memory;
  } else if (slot != nullptr && *slot) {
    if (slot != &y.memory) y.memory = *slot;
  } else {
    y.memory = y.fresh_memory();
  }
}

}  // namespace dimesh::detail
