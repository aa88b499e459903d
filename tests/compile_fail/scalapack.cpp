// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices that ScaLAPACK does not take.
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/scalapack.hpp>

#include "names.hpp"

using blocks = dm::tensor<double, hybrid, batch, hidden>;
using by_row = dm::tensor<double, by_batch, batch, hidden>;
using both = dm::layout<pod, dm::split<batch, rows, cols>>;
using twice = dm::tensor<double, both, batch, hidden>;
using addends = dm::tensor<double, dm::layout<pod, dm::partial<rows>>, batch, hidden>;
extern const dm::grid<pod>& g;
extern double* data;

// mistake: scalapack__descriptor
// Rows over two axes.
// expect: scalapack_descriptor: this is no matrix of which each dim is whole or split over one axis, without halos, cuts, addends or places; relayout it
#ifdef COMPILE_FAIL
auto f(const twice& x) { return dm::scalapack_descriptor(x, 0); }
#else
auto f(const by_row& x) { return dm::scalapack_descriptor(x, 0); }
#endif

// mistake: scalapack__require
// The same, of what a routine left.
// expect: require_scalapack: this is no matrix of which each dim is whole or split over one axis, without halos, cuts, addends or places; relayout it
#ifdef COMPILE_FAIL
void f(const twice& x) { dm::require_scalapack(x, {}); }
#else
void f(const blocks& x) { dm::require_scalapack(x, {}); }
#endif

// mistake: scalapack__grid
// A sum yet to be made.
// expect: scalapack_grid: this is no matrix of which each dim is whole or split over one axis, without halos, cuts, addends or places; relayout it
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::scalapack_grid(x); }
#else
auto f(const addends& x) { return dm::scalapack_grid(dm::complete(x)); }
#endif

// mistake: scalapack__borrow
// No matrix.
// expect: borrow: an array of ScaLAPACK's is a matrix of which each dim is whole or split over one axis, without halos, cuts, addends or places; name such a tensor
#ifdef COMPILE_FAIL
auto f(const dm::array_descriptor& d) {
  return dm::borrow<dm::tensor<double, hybrid, batch>>(g, data, d);
}
#else
auto f(const dm::array_descriptor& d) { return dm::borrow<blocks>(g, data, d); }
#endif
