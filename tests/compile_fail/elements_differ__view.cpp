// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A View of other elements.
// expect: view: the View's elements are of another type than the tensor's; name a tensor of the same
// expect: elements_differ<double, float>
// lines: 11
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/borrow.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const Kokkos::View<double**>& v) { dm::copy_to(v, x); }
#else
auto f(const matrix& x, const Kokkos::View<float**>& v) { dm::copy_to(v, x); }
#endif
