// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A new name with another extent.
// expect: rename: the extents of the two dims differ; a new name must have the old extent
// expect: extents_differ<hidden, label>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
struct hidden_out : dm::dim<6> {};
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::rename<hidden, label>(x); }
#else
auto f(const matrix& x) { return dm::rename<hidden, hidden_out>(x); }
#endif
