// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two proper cases in one file.
#include <library.hpp>
struct large {};

// mistake: by_name
// expect: keep: the type is large; name a small one
// expect: small<large>
// also: TWICE
#ifdef COMPILE_FAIL
int value = keep<large>();
#else
int value = keep<char>();
#endif

// mistake: const_too
// expect: small<const large>
#ifdef COMPILE_FAIL
int value = keep<const large>();
#else
int value = keep<char>();
#endif
