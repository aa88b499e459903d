// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices that ScaLAPACK does not take.
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/scalapack.hpp>

#include "names.hpp"

using blocks = dm::tensor<double, hybrid, batch, hidden>;
using by_row = dm::tensor<double, by_batch, batch, hidden>;

// mistake: scalapack__descriptor
// Whole columns.
// expect: scalapack_descriptor: this is no matrix over a mesh of two axes, of which the first splits the rows, the second the columns, without halos; relayout it
#ifdef COMPILE_FAIL
auto f(const by_row& x) { return dm::scalapack_descriptor(x, 0); }
#else
auto f(const blocks& x) { return dm::scalapack_descriptor(x, 0); }
#endif

// mistake: scalapack__require
// The same, of what a routine left.
// expect: require_scalapack: this is no matrix over a mesh of two axes, of which the first splits the rows, the second the columns, without halos; relayout it
#ifdef COMPILE_FAIL
void f(const by_row& x) { dm::require_scalapack(x, {}); }
#else
void f(const blocks& x) { dm::require_scalapack(x, {}); }
#endif
