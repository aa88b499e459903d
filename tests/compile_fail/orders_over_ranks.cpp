// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is not put in order over ranks, nor on one.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/top_k_all_gather.hpp>

#include "names.hpp"

struct best : dm::dim<3> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;

// mistake: orders_over_ranks__lacking
// A dim that the tensor lacks.
// expect: sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: the tensor lacks this dim; name one of its own
// expect: dim_not_in_tensor<label>
// lines: 11
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::sort_all_to_all<label>(x); }
#else
auto f(const matrix& x) { return dm::sort_all_to_all<batch>(x); }
#endif

// mistake: orders_over_ranks__there_already
// The greatest under a name that the tensor has.
// expect: top_k_all_gather: the tensor has the new dim already; choose another for the greatest
// expect: dim_already_in_tensor<hidden>
// lines: 11
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::top_k_all_gather<batch, hidden>(x); }
#else
auto f(const matrix& x) { return dm::top_k_all_gather<batch, best>(x); }
#endif

// mistake: orders_over_ranks__addends
// A sum yet to be made.
// expect: sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: the operand is a sum yet to be made; complete it first
// expect: partial_operand<rows>
// lines: 11
using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::argsort_all_to_all<hidden>(x); }
#else
auto f(const addends& x) { return dm::argsort_all_to_all<hidden>(dm::complete(x)); }
#endif

// mistake: orders_over_ranks__halo
// Blocks with elements of their neighbours.
// expect: sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: the blocks carry halos, which would count twice; do it before halo_exchange
// expect: dim_has_halo<batch>
// lines: 11
using wide = dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch>;
#ifdef COMPILE_FAIL
auto f(const wide& x) { return dm::nth_largest_all_gather<batch>(x, 2); }
#else
auto f(const dm::tensor<float, by_batch, batch>& x) {
  return dm::nth_largest_all_gather<batch>(x, 2);
}
#endif

// mistake: orders_over_ranks__halo_here
// The same on one rank.
// expect: sort, argsort, top_k, nth_largest, nth_smallest: blocks of this dim carry a halo; take the tensor without it
// expect: dim_has_halo<hidden>
// lines: 12
using haloed =
    decltype(dm::halo_exchange<1, hidden>(std::declval<const dm::tensor<float, whole, hidden>&>()));
#ifdef COMPILE_FAIL
auto f(const haloed& x) { return dm::sort<hidden>(x); }
#else
auto f(const dm::tensor<float, whole, hidden>& x) { return dm::sort<hidden>(x); }
#endif

// mistake: orders_over_ranks__halo_beside
// Halos along a dim that is not put in order: the places are found, the elements not picked.
// expect: sort, argsort, top_k, nth_largest, nth_smallest: blocks of this dim carry a halo; take the tensor without it
// expect: dim_has_halo<batch>
// lines: 12
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::top_k<hidden, best>(dm::halo_exchange<1, batch>(x)); }
#else
auto f(const matrix& x) { return dm::argsort<hidden>(dm::halo_exchange<1, batch>(x)); }
#endif
