// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same, of operations with headers of their own.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/batch_norm.hpp>
#include <dimesh/op/categorical.hpp>
#include <dimesh/op/logic.hpp>
#include <dimesh/op/masked_mean.hpp>
#include <dimesh/op/pooling_exchange.hpp>
#include <dimesh/op/reductions.hpp>
#include <dimesh/op/scan.hpp>
#include <dimesh/op/top_k_all_gather.hpp>

#include "names.hpp"

struct best : dm::dim<2> {};
struct broad : dm::dim<6> {};
using waves = dm::tensor<std::complex<float>, whole, batch, pixel>;
extern const waves z;
extern const dm::tensor<bool, whole, batch, pixel> counts;
extern const dm::tensor<int, whole, batch> target;
extern const dm::pool_window<pixel, broad> window;

// mistake: element_is_complex__sort
// lines: 12
// Elements in order.
// expect: sort, argsort, top_k, nth_largest, nth_smallest: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::sort<pixel>(z); }
#else
auto f() { return dm::sort<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__argsort
// lines: 12
// Likewise.
// expect: sort, argsort, top_k, nth_largest, nth_smallest: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::argsort<pixel>(z); }
#else
auto f() { return dm::argsort<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__top_k
// lines: 12
// The greatest few.
// expect: sort, argsort, top_k, nth_largest, nth_smallest: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::top_k<pixel, best>(z); }
#else
auto f() { return dm::top_k<pixel, best>(dm::real(z)); }
#endif

// mistake: element_is_complex__nth_largest
// lines: 12
// Likewise.
// expect: sort, argsort, top_k, nth_largest, nth_smallest: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::nth_largest<pixel>(z, 0); }
#else
auto f() { return dm::nth_largest<pixel>(dm::real(z), 0); }
#endif

// mistake: element_is_complex__sort_all_to_all
// lines: 11
// Likewise.
// expect: sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::sort_all_to_all<pixel>(z); }
#else
auto f() { return dm::sort_all_to_all<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__argsort_all_to_all
// lines: 11
// Likewise.
// expect: sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::argsort_all_to_all<pixel>(z); }
#else
auto f() { return dm::argsort_all_to_all<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__top_k_all_gather
// lines: 11
// Likewise.
// expect: sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::top_k_all_gather<pixel, best>(z); }
#else
auto f() { return dm::top_k_all_gather<pixel, best>(dm::real(z)); }
#endif

// mistake: element_is_complex__nth_largest_all_gather
// lines: 11
// Likewise.
// expect: sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::nth_largest_all_gather<pixel>(z, 0); }
#else
auto f() { return dm::nth_largest_all_gather<pixel>(dm::real(z), 0); }
#endif

// mistake: element_is_complex__cummax
// The greatest so far.
// expect: cummax, cummin: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::cummax<pixel>(z); }
#else
auto f() { return dm::cummax<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__cummin_exscan
// Likewise.
// expect: cummax, cummin: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::cummin_exscan<pixel>(z); }
#else
auto f() { return dm::cummin_exscan<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__max_pool
// lines: 11
// The greatest of a window.
// expect: max_pool: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::max_pool(z, window); }
#else
auto f() { return dm::max_pool(dm::real(z), window); }
#endif

// mistake: element_is_complex__max_pool_exchange
// lines: 11
// Likewise.
// expect: max_pool: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::max_pool_exchange(z, window); }
#else
auto f() { return dm::max_pool_exchange(dm::real(z), window); }
#endif

// mistake: element_is_complex__cross_entropy
// Losses of logits.
// expect: softmax_cross_entropy: logits are real, and these are complex; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::softmax_cross_entropy<pixel>(z, target); }
#else
auto f() { return dm::softmax_cross_entropy<pixel>(dm::real(z), target); }
#endif

// mistake: element_is_complex__masked_mean
// A mean, in double.
// expect: masked_mean: the elements are complex, and real ones are wanted; take means of real(x) and imag(x)
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::masked_mean(z, counts); }
#else
auto f() { return dm::masked_mean(dm::real(z), counts); }
#endif

// mistake: element_is_complex__categorical
// Chances.
// expect: categorical: logits are real, and these are complex; take real(x) or norm2(x)
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::categorical<pixel>(dm::random_key{1}, z); }
#else
auto f() { return dm::categorical<pixel>(dm::random_key{1}, dm::real(z)); }
#endif

// mistake: element_is_complex__clamp
// Bounds.
// expect: clamp: the operand is a sum yet to be made, or complex; complete it, or take its real part
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::clamp(z, 0, 1); }
#else
auto f() { return dm::clamp(dm::real(z), 0, 1); }
#endif

// mistake: element_is_complex__var
// lines: 11
// Deviations.
// expect: var, stddev, l1_norm, l2_norm, max_norm: the elements are complex, and real ones are wanted; take magnitudes, sqrt(norm2(x)), or the real part
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::var<pixel>(z); }
#else
auto f() { return dm::var<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__max_norm
// lines: 11
// Magnitudes.
// expect: var, stddev, l1_norm, l2_norm, max_norm: the elements are complex, and real ones are wanted; take magnitudes, sqrt(norm2(x)), or the real part
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::max_norm<pixel>(z); }
#else
auto f() { return dm::max_norm<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__batch_norm
// Moments.
// expect: batch_norm, group_norm: the elements are complex, and real ones are wanted; norm real(x) and imag(x)
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::batch_norm<pixel>(z); }
#else
auto f() { return dm::batch_norm<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__max_all_reduce
// lines: 12
// The greatest on all ranks.
// expect: max_all_reduce, min_all_reduce: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::max_all_reduce<pixel>(z); }
#else
auto f() { return dm::max_all_reduce<pixel>(dm::real(z)); }
#endif
