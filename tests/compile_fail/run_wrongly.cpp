// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that wants an argument.
// expect: run: the program takes no arguments; it captures what it needs, and makes its grids: run(argc, argv, [&] { grid<pod> g; })
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
int start(int argc, char** argv) {
  return dm::run(argc, argv, [](const dm::grid<pod>& g) { return static_cast<int>(g.rank()); });
}
#else
int start(int argc, char** argv) {
  return dm::run(argc, argv, [] { return static_cast<int>(dm::grid<pod>().rank()); });
}
#endif
