// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does each set of mesh axes carry? The counts of a ledger or of the census, which go by mask,
// under the names of the axes.
//
//   by_axes<pod>([&](unsigned mask) { return cost.counts.over[mask].bytes; })
//     -> {{"rows", 4096}, {"rows+cols", 68}}
#pragma once

#include <dimesh/detail/name.hpp>
#include <dimesh/mesh.hpp>

#include "result.hpp"

namespace report {

template <class... A> std::string axes_in(unsigned mask, dimesh::detail::list<A...>) {
  std::string text;
  int a = 0;
  ((mask >> a++ & 1u
        ? void(text += (text.empty() ? "" : "+") + std::string(dimesh::detail::name_of<A>()))
        : void()),
   ...);
  return text;
}

/// bytes(mask) of every set of axes that carries something.
template <dimesh::Mesh M, class F> bytes_by_axis by_axes(const F& bytes) {
  bytes_by_axis all;
  for (unsigned mask = 1; mask < (1u << M::rank); ++mask)
    if (const dimesh::index_t n = bytes(mask); n > 0)
      all.emplace_back(axes_in(mask, typename M::axes{}), n);
  return all;
}

}  // namespace report
