// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that are functions of tensors.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;

// mistake: and
// expect: operator&&: of tensors it is a function: logical_and(x > 0, x < 1), of <dimesh/op/logic.hpp>
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::select(x > 0 && x < 1, x, 0); }
#else
auto f(const matrix& x) { return dm::select(dm::logical_and(x > 0, x < 1), x, 0); }
#endif

// mistake: or
// expect: operator||: of tensors it is a function: logical_or(x < 0, x > 1), of <dimesh/op/logic.hpp>
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::select(x < 0 || x > 1, x, 0); }
#else
auto f(const matrix& x) { return dm::select(dm::logical_or(x < 0, x > 1), x, 0); }
#endif

// mistake: not
// expect: operator!: of tensors it is a function: logical_not(x > 0), of <dimesh/op/logic.hpp>; one truth
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::select(!(x > 0), x, 0); }
#else
auto f(const matrix& x) { return dm::select(dm::logical_not(x > 0), x, 0); }
#endif

// mistake: if_not
// expect: operator!: of tensors it is a function: logical_not(x > 0), of <dimesh/op/logic.hpp>; one truth
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return !(x > 0) ? 1 : 2; }
#else
auto f(const matrix& x) { return dm::value(dm::sum(x)) > 0 ? 2 : 1; }
#endif
