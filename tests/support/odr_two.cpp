// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do two translation units that include the whole library link? This is the second.
#include <dimesh/dimesh.hpp>

int other_unit() { return 2; }
