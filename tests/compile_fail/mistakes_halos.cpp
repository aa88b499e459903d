// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is not done with blocks that carry halos, with dims or axes that a tensor lacks?
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/merge.hpp>
#include <dimesh/op/slice.hpp>

#include "mistakes.hpp"

extern const decltype(dm::halo_exchange<1, batch>(x)) xo;
extern const decltype(dm::halo_exchange<1, hidden>(x)) ho;
inline auto one_sided() { return dm::halo_exchange<dm::halo<hidden, 1, 0>>(x); }
struct one_part : dm::dim<2> {};
struct in_part : dm::dim<3> {};
struct flat : dm::dim<48> {};

// mistake: halo__widths
// Widths before and after, and then the dim.
// expect: halo_exchange: widths of its own stand with a dim: halo_exchange<halo<north, 1, 0>>(x)
// expect: wrong_arguments<dimesh::basic_tensor<
#ifdef COMPILE_FAIL
auto f() { return dm::halo_exchange<1, 0, hidden>(x); }
#else
auto f() { return dm::halo_exchange<dm::halo<hidden, 1, 0>>(x); }
#endif

// mistake: halo__no_width
// A halo of no elements.
// expect: halo_exchange: a halo is 1 to max_halo elements wide; give such a width
#ifdef COMPILE_FAIL
auto f() { return dm::halo_exchange<dm::halo<hidden, 0>>(x); }
#else
auto f() { return dm::halo_exchange<dm::halo<hidden, 0, 1>>(x); }
#endif

// mistake: halo__too_wide
// A halo wider on one side than a layout can note: said once, where it is named.
// expect: halo: the width is a number from 0 to max_halo; choose one
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::halo_exchange<dm::halo<hidden, 1, 200>>(x); }
#else
auto f() { return dm::halo_exchange<dm::halo<hidden, 1, 127>>(x); }
#endif

// mistake: halo__of_no_dim
// Halos along an axis.
// expect: halo_exchange: the width stands in the angle brackets, and then dims; the tensor in the parentheses: halo_exchange<1, north>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::halo_exchange<dm::halo<rows, 1, 0>>(x); }
#else
auto f() { return dm::halo_exchange<dm::halo<batch, 1, 0>>(x); }
#endif

// mistake: halo__of_other_dim
// A dim that the tensor lacks.
// expect: halo_exchange: the tensor lacks the dim; name one of its dims
// expect: dim_not_in_tensor<in_part>
#ifdef COMPILE_FAIL
auto f() { return dm::halo_exchange<dm::halo<in_part, 1, 0>>(x); }
#else
auto f() { return dm::halo_exchange<dm::halo<batch, 1, 0>>(x); }
#endif

// mistake: halo__other_side
// One side is there already.
// expect: halo_exchange: the blocks carry a halo along this dim already; exchange once, as wide as needed
// expect: dim_has_halo<hidden>
#ifdef COMPILE_FAIL
auto f() { return dm::halo_exchange<dm::halo<hidden, 0, 1>>(one_sided()); }
#else
auto f() { return dm::halo_exchange<dm::halo<batch, 0, 1>>(one_sided()); }
#endif

// mistake: halo__sides_meet
// Halos before and halos behind.
// expect: dim_split_differently<hidden>
#ifdef COMPILE_FAIL
auto f() { return one_sided() + dm::halo_exchange<dm::halo<hidden, 0, 1>>(x); }
#else
auto f() { return one_sided() + one_sided(); }
#endif

// mistake: halo__mean
// Elements of neighbours would count twice.
// expect: mean: blocks of this dim carry a halo, which would count twice; take the tensor without it
#ifdef COMPILE_FAIL
auto f() { return dm::mean<hidden>(ho); }
#else
auto f() { return dm::mean<hidden>(x); }
#endif

// mistake: halo__max
// Elements of neighbours would count twice.
// expect: max: blocks of this dim carry a halo, which would count twice; take the tensor without it
#ifdef COMPILE_FAIL
auto f() { return dm::max<hidden>(ho); }
#else
auto f() { return dm::max<hidden>(x); }
#endif

// mistake: halo__min
// Elements of neighbours would count twice.
// expect: min: blocks of this dim carry a halo, which would count twice; take the tensor without it
#ifdef COMPILE_FAIL
auto f() { return dm::min<hidden>(ho); }
#else
auto f() { return dm::min<hidden>(x); }
#endif

// mistake: halo__argmax
// Elements of neighbours would count twice.
// expect: argmax: blocks of this dim carry a halo, which would count twice; take the tensor without it
#ifdef COMPILE_FAIL
auto f() { return dm::argmax<hidden>(ho); }
#else
auto f() { return dm::argmax<hidden>(x); }
#endif

// mistake: halo__argmin
// Elements of neighbours would count twice.
// expect: argmin: blocks of this dim carry a halo, which would count twice; take the tensor without it
#ifdef COMPILE_FAIL
auto f() { return dm::argmin<hidden>(ho); }
#else
auto f() { return dm::argmin<hidden>(x); }
#endif

// mistake: halo__softmax
// Elements of neighbours would count twice.
// expect: softmax: blocks of this dim carry a halo, which would count twice; take the tensor without it
#ifdef COMPILE_FAIL
auto f() { return dm::softmax<hidden>(ho); }
#else
auto f() { return dm::softmax<hidden>(x); }
#endif

// mistake: halo__log_softmax
// Elements of neighbours would count twice.
// expect: log_softmax: blocks of this dim carry a halo, which would count twice; take the tensor without it
#ifdef COMPILE_FAIL
auto f() { return dm::log_softmax<hidden>(ho); }
#else
auto f() { return dm::log_softmax<hidden>(x); }
#endif

// mistake: halo__log_sum_exp
// Elements of neighbours would count twice.
// expect: log_sum_exp: blocks of this dim carry a halo, which would count twice; take the tensor without it
#ifdef COMPILE_FAIL
auto f() { return dm::log_sum_exp<hidden>(ho); }
#else
auto f() { return dm::log_sum_exp<hidden>(x); }
#endif

// mistake: halo__layer_norm
// Elements of neighbours would count twice.
// expect: layer_norm: blocks of this dim carry a halo, which would count twice; take the tensor without it
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::layer_norm<hidden>(ho); }
#else
auto f() { return dm::layer_norm<hidden>(x); }
#endif

// mistake: halo__rms_norm
// Elements of neighbours would count twice.
// expect: rms_norm: blocks of this dim carry a halo, which would count twice; take the tensor without it
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::rms_norm<hidden>(ho); }
#else
auto f() { return dm::rms_norm<hidden>(x); }
#endif

// mistake: halo__dropout
// Neighbours would leave out others.
// expect: dropout: the blocks carry halos; take the tensor without them
#ifdef COMPILE_FAIL
auto f() { return dm::dropout(0.1, key, ho); }
#else
auto f() { return dm::dropout(0.1, key, x); }
#endif

// mistake: halo__all_gather
// A dim is gathered with what stands beside its blocks.
// expect: all_gather: the blocks carry halos; gather the tensor before halo_exchange instead
#ifdef COMPILE_FAIL
auto f() { return dm::all_gather<rows>(xo); }
#else
auto f() { return dm::all_gather<rows>(x); }
#endif

// mistake: halo__own
// A block of a dim with halos.
// expect: own: the blocks carry halos; take own<dim, axis> before halo_exchange instead
#ifdef COMPILE_FAIL
auto f() { return dm::own<hidden, cols>(ho); }
#else
auto f() { return dm::own<hidden, cols>(x); }
#endif

// mistake: halo__permute_along
// Blocks move without what stands beside them.
// expect: permute_along: the blocks carry halos; exchange blocks before halo_exchange
#ifdef COMPILE_FAIL
auto f() {
  return dm::permute_along<rows>(xo, [](int i) { return 1 - i; });
}
#else
auto f() {
  return dm::permute_along<rows>(x, [](int i) { return 1 - i; });
}
#endif

// mistake: halo__shift
// Elements move without what stands beside their block.
// expect: shift: the blocks carry halos along this dim; shift before halo_exchange instead
#ifdef COMPILE_FAIL
auto f() { return dm::shift<hidden>(ho, 1); }
#else
auto f() { return dm::shift<hidden>(x, 1); }
#endif

// mistake: halo__slice
// A part of a dim with halos.
// expect: slice: the blocks of the dim carry halos; slice it before halo_exchange
#ifdef COMPILE_FAIL
auto f() { return dm::slice<hidden, in_part>(ho, 0); }
#else
auto f() { return dm::slice<hidden, in_part>(x, 0); }
#endif

// mistake: halo__flip
// The other way round, with halos.
// expect: flip: the blocks of the dim carry halos; flip it before halo_exchange
#ifdef COMPILE_FAIL
auto f() { return dm::flip<hidden>(ho); }
#else
auto f() { return dm::flip<hidden>(x); }
#endif

// mistake: halo__pick
// One place of a dim with halos.
// expect: pick: the blocks of the dim carry halos; pick before halo_exchange
#ifdef COMPILE_FAIL
auto f() { return dm::pick<hidden>(ho, 1); }
#else
auto f() { return dm::pick<hidden>(x, 1); }
#endif

// mistake: halo__merge
// Two dims as one, with halos.
// expect: merge: the blocks of a dim carry halos; merge before halo_exchange
#ifdef COMPILE_FAIL
auto f() { return dm::merge<flat, batch, hidden>(ho); }
#else
auto f() { return dm::merge<flat, batch, hidden>(x); }
#endif

// mistake: halo__cut
// A dim as two, with halos.
// expect: cut: the blocks of the dim carry halos; cut before halo_exchange
#ifdef COMPILE_FAIL
auto f() { return dm::cut<hidden, one_part, in_part>(ho); }
#else
auto f() { return dm::cut<hidden, one_part, in_part>(x); }
#endif

// mistake: halo__take
// Places of a dim with halos.
// expect: take: blocks of the dim whose places are taken carry halos; take the table without them
#ifdef COMPILE_FAIL
auto f() { return dm::take<hidden>(dm::halo_exchange<1, hidden>(w), ids); }
#else
auto f() { return dm::take<hidden>(w, ids); }
#endif

// mistake: lacking__halo_exchange
// A dim that the tensor lacks.
// expect: halo_exchange: the tensor lacks the dim; name one of its dims
#ifdef COMPILE_FAIL
auto f() { return dm::halo_exchange<1, label>(x); }
#else
auto f() { return dm::halo_exchange<1, batch>(x); }
#endif

// mistake: lacking__all_gather
// An axis of another mesh.
// expect: all_gather: the tensor's mesh lacks this axis; name one that splits a dim of the tensor
#ifdef COMPILE_FAIL
auto f() { return dm::all_gather<depth>(x); }
#else
auto f() { return dm::all_gather<rows>(x); }
#endif

// mistake: lacking__all_to_all_axis
// An axis of another mesh.
// expect: all_to_all: the tensor's mesh lacks this axis; name one that splits a dim of the tensor
#ifdef COMPILE_FAIL
auto f() { return dm::all_to_all<batch, hidden, depth>(x); }
#else
auto f() { return dm::all_to_all<batch, hidden, rows>(x); }
#endif

// mistake: lacking__all_to_all_dim
// A dim that the tensor lacks.
// expect: all_to_all: the tensor lacks one of the two dims; name dims of the tensor
#ifdef COMPILE_FAIL
auto f() { return dm::all_to_all<batch, label, rows>(x); }
#else
auto f() { return dm::all_to_all<batch, hidden, rows>(x); }
#endif

// mistake: lacking__broadcast
// An axis of another mesh.
// expect: broadcast: the tensor's mesh lacks this axis; name one along which it has a place, or is replicated
#ifdef COMPILE_FAIL
auto f() { return dm::broadcast<depth>(xw); }
#else
auto f() { return dm::broadcast<rows>(xw); }
#endif

// mistake: lacking__own
// A dim that the tensor lacks.
// expect: own: the tensor lacks the dim to be split; name one of its dims
#ifdef COMPILE_FAIL
auto f() { return dm::own<label, cols>(x); }
#else
auto f() { return dm::own<hidden, cols>(x); }
#endif

// mistake: lacking__reduce_scatter_axis
// An axis of another mesh.
// expect: reduce_scatter: the tensor's mesh lacks this axis; name one that the tensor is partial along
#ifdef COMPILE_FAIL
auto f() { return dm::reduce_scatter<hidden, depth>(dm::sum<batch>(x)); }
#else
auto f() { return dm::reduce_scatter<hidden, rows>(dm::sum<batch>(x)); }
#endif

// mistake: lacking__reduce_scatter_dim
// A dim that the tensor lacks.
// expect: reduce_scatter: the tensor lacks the dim to be split; name one of its dims
#ifdef COMPILE_FAIL
auto f() { return dm::reduce_scatter<label, rows>(dm::sum<batch>(x)); }
#else
auto f() { return dm::reduce_scatter<hidden, rows>(dm::sum<batch>(x)); }
#endif

// mistake: lacking__shift
// A dim that the tensor lacks.
// expect: shift: the tensor lacks the dim to move along; name one of its dims
#ifdef COMPILE_FAIL
auto f() { return dm::shift<label>(x, 1); }
#else
auto f() { return dm::shift<hidden>(x, 1); }
#endif

// mistake: lacking__take
// A dim that the table lacks.
// expect: take: the table lacks the dim whose places are taken; name one of its dims
#ifdef COMPILE_FAIL
auto f() { return dm::take<pixel>(w, ids); }
#else
auto f() { return dm::take<hidden>(w, ids); }
#endif

// mistake: numbers__take
// Places that are no whole numbers.
// expect: take: places are whole numbers; cast the tensor to an integer type first
#ifdef COMPILE_FAIL
auto f() { return dm::take<hidden>(w, dm::cast<float>(ids)); }
#else
auto f() { return dm::take<hidden>(w, ids); }
#endif

// mistake: numbers__cross_entropy
// Targets that are no whole numbers.
// expect: softmax_cross_entropy: targets are whole numbers; cast them to an integer type
#ifdef COMPILE_FAIL
auto f() { return dm::softmax_cross_entropy<label>(logits, dm::cast<float>(ids)); }
#else
auto f() { return dm::softmax_cross_entropy<label>(logits, ids); }
#endif

// mistake: outer__partial
// A product of two sums yet to be made.
// expect: outer: both operands are sums yet to be made; complete one of them first
#ifdef COMPILE_FAIL
auto f() { return dm::outer(dm::sum<batch>(x), dm::sum<batch>(y)); }
#else
auto f() { return dm::outer(dm::complete(dm::sum<batch>(x)), dm::sum<batch>(y)); }
#endif
