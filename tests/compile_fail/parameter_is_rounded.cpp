// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters are kept in bfloat16.
// expect: adam: small updates would be rounded away; keep parameters in float or double
// expect: parameter_is_rounded<
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/adam.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using element = dm::bfloat16;
#else
using element = float;
#endif
using weight = dm::tensor<element, hybrid, batch, hidden>;
void f(weight& w, const weight& gradient, dm::adam_state<weight>& state) {
  dm::adam{}(w, gradient, state);
}
