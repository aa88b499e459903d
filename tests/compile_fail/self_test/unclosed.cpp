// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Must be rejected: the correct twin does not compile, for a scope that is left open.
// expect: keep: the type is large; name a small one
#include <library.hpp>
struct large {};
namespace left_open {
#ifdef COMPILE_FAIL
int value = keep<large>();
}
#else
int value = keep<char>();
#endif
