// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addends padded with a number.
// expect: pad: every rank would add the value to a sum yet to be made; complete it first, or pad with zeros
// expect: partial_meets_scalar<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct length : dm::dim<> {};
using line = dm::tensor<float, by_batch, batch, length>;
#ifdef COMPILE_FAIL
auto f(const line& x) { return dm::pad<length>(dm::sum<batch>(x), 1, 1, 0.5); }
#else
auto f(const line& x) { return dm::pad<length>(dm::sum<batch>(x), 1, 1); }
#endif
