// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents of no dim.
// expect: tensor: the dim that is asked for stands in the angle brackets: x.extent<batch>(), x.local<batch>(), x.block<batch>(); x.local_size() counts all elements
// expect: not_a_dim<dimesh::detail::nothing<>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.extent() + x.local() + x.block().length; }
#else
auto f(const matrix& x) { return x.extent<batch>() + x.local<batch>() + x.block<batch>().length; }
#endif
