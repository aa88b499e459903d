// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim is to be split over a number of ranks that no axes of the mesh have.
// expect: shard_along: no axis of the mesh, and no neighbours, have so many ranks by their types; name the axes: shard_along<dim, axis>(x)
// expect: no_axes_of_size<pod,
// expect: ranks_in_all<3>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shard_along.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
auto f(const dm::tensor<float, whole, batch, hidden>& x) { return dm::shard_along<hidden, 3>(x); }
#else
auto f(const dm::tensor<float, whole, batch, hidden>& x) { return dm::shard_along<hidden, 2>(x); }
#endif
