// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The greatest along a dim that is there.
// expect: top_k: the tensor has the new dim already; choose another for the greatest
// expect: dim_already_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/sort.hpp>

#include "names.hpp"

using cube = dm::tensor<float, by_batch, batch, hidden, label>;
struct best : dm::dim<2> {};
#ifdef COMPILE_FAIL
auto f(const cube& x) { return dm::top_k<hidden, label>(x).values; }
#else
auto f(const cube& x) { return dm::top_k<hidden, best>(x).values; }
#endif
