// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Must be rejected: of two mistakes the second compiles.
#include <library.hpp>
struct large {};

// mistake: by_name
// expect: keep: the type is large; name a small one
#ifdef COMPILE_FAIL
int value = keep<large>();
#else
int value = keep<char>();
#endif

// mistake: none
// expect: keep: the type is large; name a small one
#ifdef COMPILE_FAIL
int value = keep<char>();
#else
int value = keep<char>();
#endif
