// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do cotangents that are sums of many terms keep their digits? As long sums do: in halves
// (halves.hpp), the second of which has cotangents of its own until they are added.
//
//   pull_back_over(all, k, &f);   // ybar, the inputs, their cotangents: all of them in blocks
#pragma once

#include "dimesh/local/halves.hpp"
#include "dimesh/local/pull_blocks.hpp"

#include <cstring>

namespace dimesh::local::detail {

/// The bytes of array k from its first to its last element.
inline std::size_t span_of(const array_loops& l, int k) {
  index_t n = 1;
  for (int g = 0; g < l.groups; ++g) n += (l.extent[g] - 1) * l.stride[k][g];
  return static_cast<std::size_t>(n * l.bytes[k]);
}
/// The next group from g on along which array k moves; l.groups if there is none.
inline int next_moving(const array_loops& l, int k, int g) {
  while (g < l.groups && l.stride[k][g] == 0) ++g;
  return g;
}
/// to += from: array k of l, elements T, both from where group g begins.
template <class T> void add_elements(const array_loops& l, int k, int g, T* to, const T* from) {
  const dimesh::detail::writes_memory kernel;
  g = next_moving(l, k, g);
  if (g == l.groups) {
    *to += *from;
    return;
  }
  const index_t n = l.extent[g], by = l.stride[k][g];
  if (by == 1 && next_moving(l, k, g + 1) == l.groups) {
#pragma omp simd
    for (index_t i = 0; i < n; ++i) to[i] += from[i];
  } else {
    for (index_t i = 0; i < n; ++i) add_elements(l, k, g + 1, to + i * by, from + i * by);
  }
}

template <class T> void add_part(const array_loops& l, int k, const std::byte* part) {
  add_elements(l, k, 0, reinterpret_cast<T*>(l.at[k]), reinterpret_cast<const T*>(part));
}

/// Which group to halve for the sake of a cotangent; -1: none.
inline int halved_group(const array_loops& l, const pull_kernels& k) {
  int best = -1;
  for (int a = 1 + k.inputs; a < l.arrays; ++a) {
    if (l.at[a] == nullptr) continue;
    constexpr index_t lanes = 16;  // sums of rows are of so many at least
    const bool row = l.groups > 0 && l.stride[a][l.groups - 1] == 0;
    const int g = halved_group(l.groups, l.extent, l.stride[a], (row ? lanes : 1) * longest_sum);
    if (g >= 0 && (best < 0 || g < best)) best = g;
  }
  return best;
}

inline void pull_halves(const array_loops& l, const pull_kernels& k, const void* f) {
  const dimesh::detail::writes_memory kernel;
  const int g = halved_group(l, k);
  if (g < 0) return pull_blocks(l, k, f).run();
  const index_t half = l.extent[g] / 2;
  pull_halves(l.part(g, 0, half), k, f);
  array_loops rest = l.part(g, half, l.extent[g]);
  dimesh::detail::storage room[max_reals];
  for (int r = 0, a = 1 + k.inputs; a < l.arrays; ++r, ++a) {
    if (l.at[a] == nullptr || l.stride[a][g] != 0) continue;
    room[r] = dimesh::detail::storage::acquire(span_of(l, a));
    rest.at[a] = static_cast<std::byte*>(room[r].data());
    std::memset(rest.at[a], 0, span_of(l, a));
  }
  pull_halves(rest, k, f);
  for (int a = 1 + k.inputs; a < l.arrays; ++a) {
    if (l.at[a] == nullptr || l.stride[a][g] != 0) continue;
    l.bytes[a] == sizeof(float)    ? add_part<float>(l, a, rest.at[a])
    : l.bytes[a] == sizeof(double) ? add_part<double>(l, a, rest.at[a])
                                   : add_part<long double>(l, a, rest.at[a]);
  }
}

void pull_back_over(const array_loops& l, const pull_kernels& k, const void* f);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void pull_back_over(const array_loops& l, const pull_kernels& k,
                                          const void* f) {
  const dimesh::detail::writes_memory kernel;
  pull_halves(l, k, f);
}
#endif

}  // namespace dimesh::local::detail
