// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A proper case, of a template that another file's mistake has an error in, too.
// expect: keep: the type is large; name a small one
#include <library.hpp>
#ifdef COMPILE_FAIL
int value = keep<int>();
#else
int value = keep<char>();
#endif
