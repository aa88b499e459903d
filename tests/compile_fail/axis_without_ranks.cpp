// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An axis of no ranks.
// lines: 11
// expect: axis: a size is at least 1; write axis<> for a size given at start-up
#include <dimesh/dimesh.hpp>

namespace dm = dimesh;

#ifdef COMPILE_FAIL
struct rows : dm::axis<0> {};
#else
struct rows : dm::axis<> {};
#endif
