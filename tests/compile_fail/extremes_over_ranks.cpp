// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has no greatest element over ranks, and calls that ask for it wrongly.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/categorical_all_gather.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, hybrid, batch, hidden>;
extern const matrix x;
inline constexpr dm::random_key key{1};

// mistake: extremes_over_ranks__lacking
// A dim that the tensor lacks.
// expect: argmax_all_gather, argmin_all_gather, categorical_all_gather: the tensor lacks this dim; name one of its own
// expect: dim_not_in_tensor<label>
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::argmax_all_gather<label>(x); }
#else
auto f() { return dm::argmax_all_gather<hidden>(x); }
#endif

// mistake: extremes_over_ranks__addends
// A sum yet to be made.
// expect: argmax_all_gather, argmin_all_gather, categorical_all_gather: the operand is a sum yet to be made; complete it first
// expect: partial_operand<rows>
// lines: 11
using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& s) { return dm::argmin_all_gather<hidden>(s); }
#else
auto f(const addends& s) { return dm::argmin_all_gather<hidden>(dm::complete(s)); }
#endif

// mistake: extremes_over_ranks__halo
// Blocks with elements of their neighbours.
// expect: argmax_all_gather, argmin_all_gather, categorical_all_gather: the blocks carry halos, which would count twice; take the tensor without them
// expect: dim_has_halo<batch>
// lines: 11
using wide = dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch>;
#ifdef COMPILE_FAIL
auto f(const wide& w) { return dm::categorical_all_gather<batch>(key, w); }
#else
auto f(const dm::tensor<float, by_batch, batch>& w) {
  return dm::categorical_all_gather<batch>(key, w);
}
#endif

// mistake: extremes_over_ranks__complex
// Elements without an order.
// expect: argmax_all_gather, argmin_all_gather, categorical_all_gather: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
// lines: 11
using waves = dm::tensor<std::complex<float>, hybrid, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const waves& z) { return dm::argmax_all_gather<hidden>(z); }
#else
auto f(const waves& z) { return dm::argmax_all_gather<hidden>(dm::norm2(z)); }
#endif

// mistake: extremes_over_ranks__argmax
// expect: argmax_all_gather: a dim stands in the angle brackets, a tensor in the parentheses: argmax_all_gather<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::argmax_all_gather<cols>(x); }
#else
auto f() { return dm::argmax_all_gather<hidden>(x); }
#endif

// mistake: extremes_over_ranks__argmin
// expect: argmin_all_gather: a dim stands in the angle brackets, a tensor in the parentheses: argmin_all_gather<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::argmin_all_gather<1>(x); }
#else
auto f() { return dm::argmin_all_gather<hidden>(x); }
#endif

// mistake: extremes_over_ranks__categorical
// expect: categorical_all_gather: a dim stands in the angle brackets, a key and then logits in the parentheses: categorical_all_gather<label>(key, x)
#ifdef COMPILE_FAIL
auto f() { return dm::categorical_all_gather<hidden>(x, key); }
#else
auto f() { return dm::categorical_all_gather<hidden>(key, x); }
#endif
