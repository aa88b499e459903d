// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops visit the elements of several arrays in step, where only the run knows? Extents,
// outermost first, and how far each array moves along each group: no kernel's code depends on dims
// and layouts.
//
//   h (256, 1024) + b (1024) -> y:   loops<3>{2, {256, 1024}, {{1024, 1}, {1024, 1}, {0, 1}}}
//
// A group is a run of adjacent dims along which every array moves alike, merged into one. Every
// array with elements moves by one element along one group, and not at all (0) along those that it
// lacks.
#pragma once

#include "dimesh/detail/config.hpp"

namespace dimesh::local {

/// The loops over N arrays. No groups: a single element.
template <int N> struct loops {
  int groups = 0;
  index_t extent[max_dims];  // of the first `groups`; the rest is never read, nor cleared
  index_t stride[N][max_dims];

  constexpr index_t size() const {
    index_t n = 1;
    for (int g = 0; g < groups; ++g) n *= extent[g];
    return n;
  }
};

}  // namespace dimesh::local
