// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Must be rejected: the mistake gives 2 errors, one of them that of shared.cpp, which is said once.
// expect: keep: the type is large; name a small one
#include <library.hpp>
struct mine {};
#ifdef COMPILE_FAIL
int value = keep<mine>() + keep<int>();
#else
int value = keep<char>();
#endif
