// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do two translation units that include the whole library link? This one has the main.
#include <dimesh/dimesh.hpp>

int other_unit();

int main() { return other_unit() == 2 ? 0 : 1; }
