// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What products, variances, norms and gradients of extremes are not taken of.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/extreme_all_reduce.hpp>
#include <dimesh/op/reductions.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using recorded = dm::tracked_tensor<matrix>;
using sum = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch, hidden>;

// mistake: reductions__lacking
// A dim that the tensor lacks.
// expect: prod, prod_all_reduce, var, stddev, l1_norm, l2_norm, max_norm, compensated_sum: the tensor lacks this dim; name its own dims
// expect: dim_not_in_tensor<label>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::var<label>(x); }
#else
auto f(const matrix& x) { return dm::var<hidden>(x); }
#endif

// mistake: reductions__twice
// A dim twice.
// expect: prod, prod_all_reduce, var, stddev, l1_norm, l2_norm, max_norm, compensated_sum: a dim is named twice; name it once
// expect: dim_repeated<hidden>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::stddev<hidden, hidden>(x); }
#else
auto f(const matrix& x) { return dm::stddev<hidden>(x); }
#endif

// mistake: reductions__addends
// The norm of addends.
// expect: prod, prod_all_reduce, var, stddev, l1_norm, l2_norm, max_norm: the operand is a sum yet to be made (of compensated_sum: an extreme); complete it first
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
auto f(const sum& x) { return dm::l2_norm<hidden>(x); }
#else
auto f(const sum& x) { return dm::l2_norm<hidden>(dm::complete(x)); }
#endif

// mistake: reductions__halo
// Blocks with halos.
// expect: prod, prod_all_reduce, var, stddev, l1_norm, l2_norm, max_norm, compensated_sum: blocks carry a halo, which would count twice; take the tensor without it
// expect: dim_has_halo<batch>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::compensated_sum<batch>(dm::halo_exchange<1, batch>(x)); }
#else
auto f(const matrix& x) { return dm::compensated_sum<batch>(x); }
#endif

// mistake: reductions__split
// A product along a dim that is split.
// expect: prod: the dim is split, and a rank sees its block only; take prod_all_reduce<dim>(x), or gather it with whole<dim> first
// expect: dim_is_split<batch, rows>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::prod<batch>(x); }
#else
auto f(const matrix& x) { return dm::prod_all_reduce<batch>(x); }
#endif

// mistake: reductions__multiplied_by_mpi
// A product over ranks of elements that MPI does not know.
// expect: prod_all_reduce: ranks do not multiply elements of this type; cast the tensor first
// expect: element_not_summable<std::complex<long double>
template <class T> using numbers = dm::tensor<std::complex<T>, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const numbers<long double>& x) { return dm::prod_all_reduce<batch>(x); }
#else
auto f(const numbers<double>& x) { return dm::prod_all_reduce<batch>(x); }
#endif

// mistake: reductions__long_product
// A product of elements that no word holds.
// expect: prod, prod_all_reduce: elements that are multiplied have 1, 2, 4, 8 or 16 bytes; cast the tensor first
template <class T> using numbers = dm::tensor<std::complex<T>, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const numbers<long double>& x) { return dm::prod<hidden>(x); }
#else
auto f(const numbers<double>& x) { return dm::prod<hidden>(x); }
#endif

// mistake: reductions__long_sum
// A sum of such.
// expect: sum: elements that are added up have 1, 2, 4, 8 or 16 bytes; cast the tensor first
template <class T> using numbers = dm::tensor<std::complex<T>, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const numbers<long double>& x) { return dm::sum<hidden>(x); }
#else
auto f(const numbers<double>& x) { return dm::sum<hidden>(x); }
#endif

// mistake: reductions__long_mean
// A mean of such.
// expect: mean: elements that are added up have 1, 2, 4, 8 or 16 bytes; cast the tensor first
template <class T> using numbers = dm::tensor<std::complex<T>, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const numbers<long double>& x) { return dm::mean<hidden>(x); }
#else
auto f(const numbers<double>& x) { return dm::mean<hidden>(x); }
#endif

// mistake: max__recorded
// The gradient of a maximum that ranks have yet to find.
// expect: max: the dim is split, and a rank does not know to whose element the gradient goes; take max_all_reduce<dim>(x), or max<dim>(stop_gradient(x))
#ifdef COMPILE_FAIL
auto f(const recorded& x) { return dm::max<batch>(x); }
#else
auto f(const recorded& x) { return dm::max<hidden>(x); }
#endif

// mistake: min__recorded
// The gradient of a minimum that ranks have yet to find.
// expect: min: the dim is split, and a rank does not know to whose element the gradient goes; take min_all_reduce<dim>(x), or min<dim>(stop_gradient(x))
#ifdef COMPILE_FAIL
auto f(const recorded& x) { return dm::min<batch>(x); }
#else
auto f(const recorded& x) { return dm::min<batch>(dm::stop_gradient(x)); }
#endif

// mistake: max_all_reduce__lacking
// lines: 11
// The greatest along a dim that the tensor lacks.
// expect: max_all_reduce, min_all_reduce: the tensor lacks this dim; name its own dims
// expect: dim_not_in_tensor<label>
#ifdef COMPILE_FAIL
auto f(const recorded& x) { return dm::max_all_reduce<label>(x); }
#else
auto f(const recorded& x) { return dm::max_all_reduce<batch>(x); }
#endif

// mistake: max_all_reduce__twice
// lines: 11
// A dim twice.
// expect: max_all_reduce, min_all_reduce: a dim is named twice; name it once
// expect: dim_repeated<batch>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::min_all_reduce<batch, batch>(x); }
#else
auto f(const matrix& x) { return dm::min_all_reduce<batch>(x); }
#endif

// mistake: max_all_reduce__addends
// lines: 11
// The greatest of addends.
// expect: max_all_reduce, min_all_reduce: the operand is a sum yet to be made, of which addends say nothing; complete it first
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
auto f(const sum& x) { return dm::max_all_reduce<hidden>(x); }
#else
auto f(const sum& x) { return dm::max_all_reduce<hidden>(dm::complete(x)); }
#endif

// mistake: max_all_reduce__halo
// lines: 11
// Blocks with halos.
// expect: max_all_reduce, min_all_reduce: blocks of this dim carry a halo, which would count twice; take the tensor without it
// expect: dim_has_halo<batch>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::max_all_reduce<batch>(dm::halo_exchange<1, batch>(x)); }
#else
auto f(const matrix& x) { return dm::max_all_reduce<batch>(x); }
#endif

// mistake: reductions__greatest_of_three_bytes
// expect: max: elements of this type have no order that is known; cast the tensor first
struct three {
  char of[3];
};
template <class T> using numbers = dm::tensor<T, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const numbers<three>& x) { return dm::max<hidden>(x); }
#else
auto f(const numbers<std::int8_t>& x) { return dm::max<hidden>(x); }
#endif

// mistake: reductions__least_of_long_numbers
// expect: min: elements of this type have no order that is known; cast the tensor first
template <class T> using numbers = dm::tensor<T, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const numbers<std::complex<long double>>& x) { return dm::min<hidden>(x); }
#else
auto f(const numbers<long double>& x) { return dm::min<hidden>(x); }
#endif

// mistake: reductions__greatest_over_ranks
// expect: max_all_reduce, min_all_reduce: elements of this type have no order that is known; cast the tensor first
struct three {
  char of[3];
};
template <class T> using numbers = dm::tensor<T, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const numbers<three>& x) { return dm::max_all_reduce<batch>(x); }
#else
auto f(const numbers<std::int8_t>& x) { return dm::max_all_reduce<batch>(x); }
#endif
