// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which matrix products make up a contraction of two blocks? Labels are sorted by who holds them,
// neighbours in memory merge, the longest loop of each kind becomes m, n or k, the rest are outer
// loops, which the kernel folds further. Done at run time on a handful of numbers, so that it costs
// the compiler nothing.
//
//   [b t d] . [d f] -> [b t f]      one product: m = b*t, k = d, n = f
//   [b t h d] . [b s h d] -> [b h t s]   b*h products: m = t, k = d, n = s, strides as stored
#pragma once

#include "dimesh/core/geometry.hpp"
#include "dimesh/local/contract.hpp"
#include "dimesh/local/contract_bfloat16.hpp"

namespace dimesh::detail {

/// One label: its length here and its element strides (0 where an operand lacks it).
struct label {
  index_t length = 1, a = 0, b = 0, c = 0;
  bool in_a = false, in_b = false, in_c = false;
};

/// Where a label stands among the dims of each block; -1 where that lacks it.
struct label_places {
  int a, b, c;
};

/// Loops of one kind, merged where strides permit.
struct loop_set {
  label at[max_dims];
  int size = 0;

  void add(const label& l) {
    if (l.length == 1) return;
    if (size > 0) {
      label& major = at[size - 1];
      if (major.a == l.a * l.length && major.b == l.b * l.length && major.c == l.c * l.length) {
        major = {major.length * l.length, l.a, l.b, l.c, l.in_a, l.in_b, l.in_c};
        return;
      }
    }
    at[size++] = l;
  }
  /// Takes out the longest loop; a loop of length 1 where there is none.
  label take() {
    if (size == 0) return {};
    int best = 0;
    for (int i = 1; i < size; ++i)
      if (at[i].length > at[best].length) best = i;
    const label found = at[best];
    for (int i = best; i + 1 < size; ++i) at[i] = at[i + 1];
    --size;
    return found;
  }
};

/// c = the sum over labels that c lacks of a * b. Labels come in the order of c's dims, then those
/// that are summed in the order of a's.
template <class T, class C>
void contract_labels(const label* labels, int count, const T* a, const T* b, C* c) {
  loop_set m, n, k, batch;
  for (int i = 0; i < count; ++i) {
    const label& l = labels[i];
    (!l.in_c ? k : !l.in_b ? m : !l.in_a ? n : batch).add(l);
  }
  local::contraction s;
  const label lm = m.take(), ln = n.take(), lk = k.take();
  s.m = lm.length, s.a_m = lm.a, s.c_m = lm.c;
  s.n = ln.length, s.b_n = ln.b, s.c_n = ln.c;
  s.k = lk.length, s.a_k = lk.a, s.b_k = lk.b;
  for (const loop_set* set : {&batch, &m, &n, &k})
    for (int i = 0; i < set->size; ++i) {
      s.extent[s.outer] = set->at[i].length;
      s.a_outer[s.outer] = set->at[i].a;
      s.b_outer[s.outer] = set->at[i].b;
      s.c_outer[s.outer++] = set->at[i].c;
      if (set == &k && set->at[i].length == 0) s.k = 0, --s.outer;  // an empty sum
    }
  if constexpr (is_storage_only<T>)
    local::contract_bfloat16(s, a, b, c);
  else
    local::contract(s, a, b, c);
}

inline void enter_place(const block_view& x, int d, index_t& length, index_t& stride, bool& in) {
  if (d < 0) return;
  in = true;
  length = x.local(d);
  stride = x.stride(d);
}

/// The same for the blocks of tensors, by the places of each label among their dims. One function
/// for all tensors.
template <class T, class C>
[[gnu::noinline]] void contract_blocks(const label_places* places, int count, const block_view& va,
                                       const block_view& vb, const block_view& vc, const T* a,
                                       const T* b, C* c) {
  label labels[3 * max_dims];
  for (int i = 0; i < count; ++i) {
    label& l = labels[i];
    enter_place(va, places[i].a, l.length, l.a, l.in_a);
    enter_place(vb, places[i].b, l.length, l.b, l.in_b);
    enter_place(vc, places[i].c, l.length, l.c, l.in_c);
  }
  contract_labels(labels, count, a, b, c);
}

}  // namespace dimesh::detail
