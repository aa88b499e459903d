// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Must be rejected: the correct twin does not compile. In a namespace of its own it would.
// expect: keep: the type is large; name a small one
#include <library.hpp>
struct large {};
#ifdef COMPILE_FAIL
int value = keep<large>();
#else
int value = keep<char>();
int global_name = value;
#endif
