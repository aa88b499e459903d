// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation run where nothing is recorded, once its typing rule has been checked? It
// computes, or enters its cost on shapes. One function for all operations and types.
//
//   run_plain(bound<einsum_op<float>, 1>(op), results, operands, 2, false, nullptr)
#pragma once

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
  fill_and_report(sink, [&] { op.fill(y, x); }, [&](tally& t) { op.cost(t, y, x); });
}

/// Placed: extents and blocks of the results are there already. Slots: memory for them, or null.
constexpr void compute(const operation& op, results y, operands x, bool placed,
                       const storage* slots) {
  tally* const t = x[0].is_shape ? tally_of(x) : nullptr;
  event_sink* const sink = !x[0].is_shape ? watcher : t != nullptr ? t->sink : nullptr;
  const running here(sink, op.facts->name);
  for (int i = 0; i < y.count(); ++i) {
    if (!y.has(i)) continue;
    if (!placed) place(op, y[i], x);
    give_memory(op, y[i], x, slots != nullptr ? slots + i : nullptr, t);
  }
  if (x[0].is_shape) {
    if (t != nullptr) {
      t->mesh = x[0].facts->mesh;
      op.cost(*t, y, x);
    }
  } else if (op.facts->aliases < 0) {
    if (sink != nullptr) [[unlikely]]
      fill_watched(op, y, x, *sink);
    else
      op.fill(y, x);
  }
}

/// Addends of one operand and a value held whole in another: makes them all addends, from operand k
/// on. `at` lists the operands.
DIMESH_OUTLINE constexpr void compute_settled(const operation& op, results y,
                                              const tensor_core** at, int count, int k,
                                              unsigned mixed, bool placed, const storage* slots) {
  while (k < count && (at[k]->once & mixed) == 0) ++k;
  if (k == count) return compute(op, y, operands(at, count), placed, slots);
  tensor_core settled(*at[k]);
  settle(settled, settled.once & mixed);
  at[k] = &settled;
  compute_settled(op, y, at, count, k + 1, mixed, placed, slots);
}

DIMESH_OUTLINE constexpr void run_plain(const operation& op, results y, const tensor_core** at,
                                        int count, bool placed, const storage* slots) {
  const operands x(at, count);
  match_operands(op, x);
  unsigned any = 0, split = 0;
  int partials = 0;
  for (int k = 0; k < x.count(); ++k) {
    if (x[k].facts->partial == 0) continue;
    ++partials;
    any |= x[k].once;
    split |= x[k].facts->partial & ~x[k].once;
  }
  if (partials > 1 && (any & split) != 0)
    compute_settled(op, y, at, count, 0, any & split, placed, slots);
  else
    compute(op, y, x, placed, slots);
}

}  // namespace dimesh::detail
