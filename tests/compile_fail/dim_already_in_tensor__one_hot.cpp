// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dim for the classes is there already.
// expect: one_hot: the tensor has this dim already; choose another for the classes
// expect: dim_already_in_tensor<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using places = dm::tensor<int, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const places& x) { return dm::one_hot<batch>(x); }
#else
auto f(const places& x) { return dm::one_hot<label>(x); }
#endif
