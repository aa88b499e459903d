// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum names a dim twice.
// expect: sum: a dim is named twice; name it once
// expect: dim_repeated<hidden>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::sum<hidden, hidden>(x); }
#else
auto f(const matrix& x) { return dm::sum<batch, hidden>(x); }
#endif
