// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory in which by::best can bring no two operands together.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/contract.hpp>

#include "names.hpp"

namespace by = dm::by;
using inputs = dm::tensor<float, dm::layout<pod, dm::split<batch, rows, cols>>, batch, pixel>;
using weights = dm::tensor<float, dm::layout<pod, dm::split<pixel, rows>, dm::split<hidden, cols>>,
                           pixel, hidden>;

// mistake: operands_exceed_memory
// One byte less than the smallest gather: of inputs, along an axis, 4 x 12 numbers.
// expect: contract: by::best gathers more bytes of operands than it may, and they send no blocks by ring or panels; allow the bytes named first, or split them further
// expect: operands_exceed_memory<192, 191>
#ifdef COMPILE_FAIL
inline constexpr int memory = 191;
#else
inline constexpr int memory = 192;
#endif
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::best<whole, memory>, batch, hidden>(x, w);
}

// mistake: operands_exceed_memory__chain
// Of the products of three operands, the one that needs the most.
// expect: contract: by::best gathers more bytes of operands than it may, and they send no blocks by ring or panels; allow the bytes named first, or split them further
// expect: operands_exceed_memory<48, 47>
using last = dm::tensor<float, dm::layout<pod, dm::split<label, rows, cols>>, hidden, label>;
#ifdef COMPILE_FAIL
inline constexpr int memory = 47;
#else
inline constexpr int memory = 48;
#endif
auto f(const inputs& x, const weights& w, const last& v) {
  return dm::contract<by::best<whole, memory>, batch, label>(x, w, v);
}
