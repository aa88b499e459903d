// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation run where nothing is recorded, once its typing rule has been checked? It
// computes, or enters its cost on shapes. One function for all operations and types.
//
//   run_plain(bound<einsum_op<float>, 1>(op), results, operands, 2, false, nullptr)
#pragma once

#ifdef DIMESH_CHECKED
#include "dimesh/core/checked.hpp"
#endif
#include "dimesh/core/on_host.hpp"
#include "dimesh/core/results.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

/// Passes on what an operation computes. Its collectives report themselves when they are made.
class arithmetic_alone final : public event_sink {
 public:
  arithmetic_alone(event_sink& to, double begin) : to_(&to), begin_(begin) {}
  constexpr void take(const event& e) override {
    if (e.kind != event_kind::compute) return;
    event timed = e;
    timed.begin = begin_;
    timed.end = timeline::now();
    to_->report(timed);
  }

 private:
  event_sink* to_;
  double begin_;
};

/// Runs a local call and reports it: its cost for this rank's blocks, which cost(tally&) enters.
template <class Fill, class Cost>
void fill_and_report(event_sink& sink, const Fill& fill, const Cost& cost) {
  arithmetic_alone only(sink, timeline::now());
  fill();
  tally t;
  t.sink = &only;
  cost(t);
}
[[gnu::noinline]] inline void fill_watched(const operation& op, results y, operands x,
                                           event_sink& sink) {
  fill_and_report(sink, [&] { fill_here(op, y, x); }, [&](tally& t) { op.cost(t, y, x); });
  for (int i = 0; i < y.count(); ++i)
    if (y.has(i)) sink.see(y[i], x);
}

/// Addends of one operand and a value held whole in another: along which axes?
constexpr unsigned mixed_axes(operands x) {
  if (x.count() == 1) return 0;
  unsigned any = 0, split = 0;
  int partials = 0;
  for (int k = 0; k < x.count(); ++k) {
    if (x[k].facts->partial == 0) continue;
    ++partials;
    any |= x[k].once;
    split |= x[k].facts->partial & ~x[k].once;
  }
  return partials > 1 ? any & split : 0;
}
constexpr void run_settled(const operation& op, results y, const tensor_core** at, int count,
                           unsigned mixed, bool placed, const storage* slots);

/// Are some operands data among shapes whose tally takes what a function has captured?
constexpr bool some_captured(operands x) {
  for (int k = 1; k < x.count(); ++k)
    if (x[k].is_shape != x[0].is_shape) {
      const tally* const t = tally_of(x);
      return t != nullptr && t->takes_captured;
    }
  return false;
}
/// Once more with operands such as before, into memory that a slot gives (null: the pool). False
/// where they are others.
bool run_once_more(const operation& op, tensor_core& y, operands x, const storage* slot);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline bool run_once_more(const operation& op, tensor_core& y, operands x,
                                         const storage* slot) {
  known_blocks* const known = recall_result(op, y, x, slot);
  if (known == nullptr) return false;
  const in_space here(x[0].facts->space);
  const going_on as_before(y, x[0], known);
  tensor_core* const to[] = {&y};
  op.fill(results(to, 1), x);
  return true;
}
#endif

/// Data among shapes stand for themselves.
void run_as_shapes(const operation& op, results y, const tensor_core** at, int count, bool placed,
                   const storage* slots);

/// Runs an operation, or enters its cost on shapes, whatever there was before.
DIMESH_OUTLINE constexpr void run_anew(const operation& op, results y, const tensor_core** at,
                                       int count, bool placed, const storage* slots) {
  const operands x(at, count);
  if (some_captured(x)) [[unlikely]]
    return run_as_shapes(op, y, at, count, placed, slots);
  match_operands(op, x);
  if (const unsigned mixed = mixed_axes(x); mixed != 0) [[unlikely]]
    return run_settled(op, y, at, count, mixed, placed, slots);
  tally* const t = x[0].is_shape ? tally_of(x) : nullptr;
  event_sink* const sink = !x[0].is_shape ? watcher : t != nullptr ? t->sink : nullptr;
  const running here(sink, op.facts->name);
#ifdef DIMESH_CHECKED
  const checked_run checked(op, x);
#endif
  for (int i = 0; i < y.count(); ++i) {
    if (!y.has(i)) continue;
    if (!placed) place(op, y[i], x);
    give_memory(op, y[i], x, slots != nullptr ? slots + i : nullptr, t);
  }
#ifdef DIMESH_CHECKED
  checked.remember(y);
#endif
  if (x[0].away != 0 && is_away(y, x)) {
    for (int i = 0; i < y.count(); ++i)
      if (y.has(i)) leave_to_others(y[i], x[0]);
    return;
  }
  if (x[0].is_shape) {
    if (t != nullptr) {
      t->mesh = x[0].facts->mesh;
      op.cost(*t, y, x);
    }
  } else if (op.facts->aliases < 0) {
    const in_space here_too(x[0].facts->space);
#ifdef DIMESH_CHECKED
    if (!std::is_constant_evaluated() && op.compares) check_before(op, y, x);
#endif
    if (sink != nullptr) [[unlikely]]
      fill_watched(op, y, x, *sink);
    else
      fill_here(op, y, x);
  }
}

/// Runs an operation, or enters its cost on shapes. `at` lists the operands. Placed: extents and
/// blocks of the results are there already. Slots: memory for them, or null.
DIMESH_OUTLINE constexpr void run_plain(const operation& op, results y, const tensor_core** at,
                                        int count, bool placed, const storage* slots) {
  if (!std::is_constant_evaluated() && !placed && y.count() == 1 && y.has(0))
    if (run_once_more(op, y[0], operands(at, count), slots)) return;
  run_anew(op, y, at, count, placed, slots);
}
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void run_as_shapes(const operation& op, results y, const tensor_core** at,
                                         int count, bool placed, const storage* slots) {
  tally* const t = tally_of(operands(at, count));
  tensor_core shapes[max_operands];
  for (int k = 0; k < count; ++k) {
    if (at[k]->is_shape) continue;
    shapes[k] = *at[k];
    shapes[k].become_shape(nullptr);
    shapes[k].count = t;
    at[k] = &shapes[k];
  }
  run_plain(op, y, at, count, placed, slots);
}
#endif

/// The same with one operand after another made addends along the mixed axes.
constexpr void run_settled(const operation& op, results y, const tensor_core** at, int count,
                           unsigned mixed, bool placed, const storage* slots) {
  int k = 0;
  while ((at[k]->facts->partial & at[k]->once & mixed) == 0) ++k;
  tensor_core settled(*at[k]);
  settle(settled, settled.once & mixed);
  at[k] = &settled;
  run_plain(op, y, at, count, placed, slots);
}

}  // namespace dimesh::detail
