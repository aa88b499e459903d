// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a language model read where only its speed matters?
//
//   dm::generate<tokens>(g, symbol{0}, batch{4})    and, to predict, symbol{1}
#pragma once

#include <dimesh/detail/config.hpp>

#include <Kokkos_Macros.hpp>

/// Symbols of a text, `ahead` of each place: numbers below 1024. (A named function: a device's
/// kernels call it.)
struct symbol {
  dimesh::index_t ahead;
  KOKKOS_FUNCTION dimesh::index_t operator()(dimesh::index_t b, dimesh::index_t t) const {
    t += ahead;
    return (b * 37 + t * t * 11 + t) % 1024;
  }
};
