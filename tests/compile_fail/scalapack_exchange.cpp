// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that do not move to a block-cyclic array, or from one.
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/scalapack_exchange.hpp>

#include "names.hpp"

using matrix = dm::tensor<double, hybrid, batch, hidden>;
extern const dm::grid<pod>& g;
extern double* data;
extern const dm::array_descriptor& d;
extern const dm::process_grid& ranks;

// mistake: partial_operand__to_scalapack_exchange
// A sum yet to be made.
// expect: to_scalapack_exchange: the tensor is a sum yet to be made; complete it first
// expect: partial_operand<rows>
using addends = dm::tensor<double, dm::layout<pod, dm::partial<rows>>, batch, hidden>;
#ifdef COMPILE_FAIL
void f(const addends& x) { dm::to_scalapack_exchange(x, data, d, ranks); }
#else
void f(const addends& x) { dm::to_scalapack_exchange(dm::complete(x), data, d, ranks); }
#endif

// mistake: tensor_is_placed__to_scalapack_exchange
// A matrix of one stage.
// expect: to_scalapack_exchange: the tensor lives at one place of this axis; broadcast it first
// expect: tensor_is_placed<rows>
using placed = dm::tensor<double, dm::layout<pod, dm::placed<rows, 1>>, batch, hidden>;
#ifdef COMPILE_FAIL
void f(const placed& x) { dm::to_scalapack_exchange(x, data, d, ranks); }
#else
void f(const placed& x) { dm::to_scalapack_exchange(dm::broadcast<rows>(x), data, d, ranks); }
#endif

// mistake: dim_has_halo__to_scalapack_exchange
// Blocks with neighbours' elements.
// expect: to_scalapack_exchange: blocks of this dim carry a halo, which the array has not; give a tensor without it
// expect: dim_has_halo<batch>
#ifdef COMPILE_FAIL
using near = dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>;
using blocks = dm::tensor<double, near, batch, hidden>;
#else
using blocks = dm::tensor<double, by_batch, batch, hidden>;
#endif
void f(const blocks& x) { dm::to_scalapack_exchange(x, data, d, ranks); }

// mistake: scalapack_exchange__vector
// No matrix.
// expect: to_scalapack_exchange: an array of ScaLAPACK's is a matrix; give a tensor of two dims: merge others
#ifdef COMPILE_FAIL
using given = dm::tensor<double, by_batch, batch>;
#else
using given = dm::tensor<double, by_batch, batch, hidden>;
#endif
void f(const given& x) { dm::to_scalapack_exchange(x, data, d, ranks); }

// mistake: elements_differ__to_scalapack_exchange
// An array of other elements.
// expect: to_scalapack_exchange: the tensor's elements are of another type than the array's; cast<T>(x) first
// expect: elements_differ<float, double>
using brief = dm::tensor<float, hybrid, batch, hidden>;
#ifdef COMPILE_FAIL
void f(const brief& x) { dm::to_scalapack_exchange(x, data, d, ranks); }
#else
void f(const brief& x) { dm::to_scalapack_exchange(dm::cast<double>(x), data, d, ranks); }
#endif

// mistake: scalapack_exchange__without_ranks
// No process grid.
// expect: to_scalapack_exchange: a tensor comes first, then the local array, its descriptor and a process grid: to_scalapack_exchange(x, data, desc, ranks)
#ifdef COMPILE_FAIL
void f(const matrix& x) { dm::to_scalapack_exchange(x, data, d); }
#else
void f(const matrix& x) { dm::to_scalapack_exchange(x, data, d, ranks); }
#endif

// mistake: scalapack_exchange__of_poison
// What is poisoned already has been told of.
// expect: partial_operand<rows>
using sums = dm::tensor<double, dm::layout<pod, dm::partial<rows>>, batch, hidden>;
#ifdef COMPILE_FAIL
void f(const sums& x) { dm::to_scalapack_exchange(dm::relu(x), data, d, ranks); }
#else
void f(const sums& x) { dm::to_scalapack_exchange(dm::relu(dm::complete(x)), data, d, ranks); }
#endif

// mistake: partial_operand__from_scalapack_exchange
// expect: from_scalapack_exchange: the tensor would be a sum yet to be made; name a whole one
#ifdef COMPILE_FAIL
using gotten = dm::tensor<double, dm::layout<pod, dm::partial<rows>>, batch, hidden>;
#else
using gotten = matrix;
#endif
auto f() { return dm::from_scalapack_exchange<gotten>(g, data, d, ranks); }

// mistake: tensor_is_placed__from_scalapack_exchange
// expect: from_scalapack_exchange: the tensor would live at one place of this axis; name one without a place, and `place` it
#ifdef COMPILE_FAIL
auto f() {
  return dm::from_scalapack_exchange<
      dm::tensor<double, dm::layout<pod, dm::placed<rows, 1>>, batch, hidden>>(g, data, d, ranks);
}
#else
auto f() {
  return dm::place<rows, 1>(
      dm::from_scalapack_exchange<dm::tensor<double, dm::layout<pod>, batch, hidden>>(g, data, d,
                                                                                      ranks));
}
#endif

// mistake: dim_has_halo__from_scalapack_exchange
// expect: from_scalapack_exchange: blocks of this dim would carry a halo; name a tensor without it, then halo_exchange
#ifdef COMPILE_FAIL
using near = dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>;
using gotten = dm::tensor<double, near, batch, hidden>;
#else
using gotten = dm::tensor<double, by_batch, batch, hidden>;
#endif
auto f() { return dm::from_scalapack_exchange<gotten>(g, data, d, ranks); }

// mistake: scalapack_exchange__from_vector
// expect: from_scalapack_exchange: an array of ScaLAPACK's is a matrix; name a tensor of two dims
#ifdef COMPILE_FAIL
using gotten = dm::tensor<double, by_batch, batch>;
#else
using gotten = matrix;
#endif
auto f() { return dm::from_scalapack_exchange<gotten>(g, data, d, ranks); }

// mistake: elements_differ__from_scalapack_exchange
// expect: from_scalapack_exchange: the tensor's elements are of another type than the array's; name a tensor of these, and cast it
#ifdef COMPILE_FAIL
auto f() {
  return dm::from_scalapack_exchange<dm::tensor<float, hybrid, batch, hidden>>(g, data, d, ranks);
}
#else
auto f() { return dm::cast<float>(dm::from_scalapack_exchange<matrix>(g, data, d, ranks)); }
#endif

// mistake: scalapack_exchange__descriptor_last
// Arguments in another order.
// expect: from_scalapack_exchange: the tensor's type stands in the angle brackets, then come these: from_scalapack_exchange<X>(grid, data, desc, ranks)
#ifdef COMPILE_FAIL
auto f() { return dm::from_scalapack_exchange<matrix>(g, data, ranks, d); }
#else
auto f() { return dm::from_scalapack_exchange<matrix>(g, data, d, ranks); }
#endif

// mistake: scalapack_exchange__without_type
// No type is named.
// expect: from_scalapack_exchange: the tensor's type stands in the angle brackets
#ifdef COMPILE_FAIL
auto f() { return dm::from_scalapack_exchange(g, data, d, ranks); }
#else
auto f() { return dm::from_scalapack_exchange<matrix>(g, data, d, ranks); }
#endif
