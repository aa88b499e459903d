// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does each set of mesh axes carry? The counts of a ledger or of the census, which go by mask,
// under the names of the axes.
//
//   by_axes<pod>([&](unsigned mask) { return cost.counts.over[mask].bytes; })
//     -> {{"rows", 4096}, {"rows+cols", 68}}
#pragma once

#include <dimesh/reflect/describe.hpp>

#include "result.hpp"

namespace report {

/// bytes(mask) of every set of axes that carries something.
template <dimesh::Mesh M, class F> bytes_by_axis by_axes(const F& bytes) {
  bytes_by_axis all;
  for (unsigned mask = 1; mask < (1u << M::rank); ++mask)
    if (const dimesh::index_t n = bytes(mask); n > 0)
      all.emplace_back(dimesh::describe_axes<M>(mask), n);
  return all;
}

}  // namespace report
