// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program without the arguments of main. The twin is a function of the user's own.
// expect: run: takes the arguments of main and then the program: run(argc, argv, [&] { grid<pod> g; })
// expect: wrong_arguments<dimesh::detail::nothing<>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

constexpr auto program = [] { return dm::grid<pod>().rank(); };
#ifdef COMPILE_FAIL
int start() { return dm::run(program); }
#else
namespace mine {
using namespace dimesh;
struct settings {};
int run(const settings&);
int start() { return run(settings{}); }
}  // namespace mine
int start(int argc, char** argv) { return dm::run(argc, argv, program); }
#endif
