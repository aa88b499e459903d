// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The greatest of what has no order, among ranks.
// expect: complete: ranks cannot compare elements of this type; cast the tensor first
// expect: element_not_summable<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using greatest = dm::layout<pod, dm::partial_max<rows>>;
#ifdef COMPILE_FAIL
struct three {
  char of[3];
};
using found = dm::tensor<three, greatest, hidden>;
#else
using found = dm::tensor<std::int8_t, greatest, hidden>;
#endif
auto f(const found& x) { return dm::complete(x); }
