// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Something else than a tensor is completed.
// expect: complete: this is no tensor, no struct of tensors, and not what value_and_grad(f, params)(x) gives; pass one of these
// expect: not_a_tensor<own>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct own {
  int count;
};
using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const own& w) { return dm::complete(w); }
#else
auto f(const row& w) { return dm::complete(w); }
#endif
