// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A View with a dimension less than the tensor.
// expect: view: the View has not as many dimensions as the tensor has dims; name a tensor of as many, or reshape the View
// expect: ranks_differ<Kokkos::View<float
// lines: 11
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/borrow.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g, const Kokkos::View<float*>& v) { return dm::borrow<matrix>(g, v); }
#else
auto f(const dm::grid<pod>& g, const Kokkos::View<float**>& v) { return dm::borrow<matrix>(g, v); }
#endif
