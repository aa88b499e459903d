// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters in bfloat16.
// expect: sgd: small updates would be rounded away; keep parameters in float or double
// expect: parameter_is_rounded<dimesh::bfloat16>
#include <dimesh/dimesh.hpp>
#include <dimesh/element/bfloat16.hpp>
#include <dimesh/optim/sgd.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using element = dm::bfloat16;
#else
using element = float;
#endif
using row = dm::tensor<element, whole, hidden>;
void f(row& p, const row& g) { dm::sgd{}(p, g); }
