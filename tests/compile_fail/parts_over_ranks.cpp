// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parts of dims are not moved over ranks, and which dims are not made others there.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat_exchange.hpp>
#include <dimesh/op/merge_exchange.hpp>
#include <dimesh/op/shuffle_exchange.hpp>
#include <dimesh/op/split_into_exchange.hpp>

#include "names.hpp"

struct part : dm::dim<4> {};
struct odd : dm::dim<3> {};
struct rest : dm::dim<5> {};
struct length : dm::dim<> {};
struct flat : dm::dim<48> {};
struct other_mesh : dm::mesh<cols, rows> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using text = dm::tensor<float, dm::layout<pod, dm::split<length, rows>>, length, hidden>;
using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, length, hidden>;
extern const matrix x;
extern const text t;
extern const addends s;
extern const decltype(dm::halo_exchange<1, batch>(x)) wide;

// mistake: parts_over_ranks__static
// A part of a dim under its own name.
// expect: slice_exchange, pad_exchange, split_into_exchange: the dim's extent is part of its type; name the dim of the result: slice_exchange<dim, part>(x, begin)
// expect: extent_is_static<batch>
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::slice_exchange<batch>(x, 0, 4); }
#else
auto f() { return dm::slice_exchange<batch, part>(x, 0); }
#endif

// mistake: parts_over_ranks__lacking
// A dim that the tensor lacks.
// expect: slice_exchange, pad_exchange, flip_exchange, split_into_exchange: the tensor lacks this dim; name one of its own
// expect: dim_not_in_tensor<label>
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::flip_exchange<label>(x); }
#else
auto f() { return dm::flip_exchange<batch>(x); }
#endif

// mistake: parts_over_ranks__there_already
// A name that the tensor has.
// expect: slice_exchange, pad_exchange, split_into_exchange: the tensor has a dim of the new name already; choose another name
// expect: dim_already_in_tensor<hidden>
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::slice_exchange<batch, hidden>(x, 0); }
#else
auto f() { return dm::slice_exchange<batch, part>(x, 0); }
#endif

// mistake: parts_over_ranks__odd
// Three elements on two ranks.
// expect: slice_exchange, pad_exchange, split_into_exchange: the axes that split the dim do not divide the new extent; write the new dim as uneven<dim>
// expect: extent_not_divisible<odd, 3, rows, 2>
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::slice_exchange<batch, odd>(x, 0); }
#else
auto f() { return dm::slice_exchange<batch, dm::uneven<odd>>(x, 0); }
#endif

// mistake: parts_over_ranks__split_into_odd
// Three elements and five on two ranks.
// expect: slice_exchange, pad_exchange, split_into_exchange: the axes that split the dim do not divide the new extent; write the new dim as uneven<dim>
// expect: extent_not_divisible<odd, 3, rows, 2>
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::split_into_exchange<batch, odd, rest>(x); }
#else
auto f() { return dm::split_into_exchange<batch, dm::uneven<odd>, dm::uneven<rest>>(x); }
#endif

// mistake: parts_over_ranks__shuffled_lacking
// An order for a dim that the tensor lacks.
// expect: shuffle_exchange: the tensor lacks the dim to be shuffled; name one of its dims
// expect: dim_not_in_tensor<label>
#ifdef COMPILE_FAIL
auto f() { return dm::shuffle_exchange<label>(dm::random_key{1}, x); }
#else
auto f() { return dm::shuffle_exchange<batch>(dm::random_key{1}, x); }
#endif

// mistake: parts_over_ranks__shuffled_halo
// An order for blocks with elements of their neighbours.
// expect: shuffle_exchange: the blocks carry halos; shuffle before halo_exchange
// expect: dim_has_halo<batch>
#ifdef COMPILE_FAIL
auto f() { return dm::shuffle_exchange<batch>(dm::random_key{1}, wide); }
#else
auto f() { return dm::halo_exchange<1, batch>(dm::shuffle_exchange<batch>(dm::random_key{1}, x)); }
#endif

// mistake: parts_over_ranks__halo
// Blocks with elements of their neighbours.
// expect: slice_exchange, pad_exchange, flip_exchange, split_into_exchange: the blocks carry halos; do it before halo_exchange
// expect: dim_has_halo<batch>
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::flip_exchange<batch>(wide); }
#else
auto f() { return dm::halo_exchange<1, batch>(dm::flip_exchange<batch>(x)); }
#endif

// mistake: parts_over_ranks__value
// A number beside addends.
// expect: pad_exchange: every rank would add the value to a sum yet to be made; complete it first, or pad with zeros
// expect: partial_meets_scalar<rows>
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::pad_exchange<length>(s, 1, 1, 7); }
#else
auto f() { return dm::pad_exchange<length>(s, 1, 1); }
#endif

// mistake: parts_over_ranks__joined_static
// Joined under a name that has another extent.
// expect: concat_exchange: the dim's extent is part of its type; name the dims of result and operands: concat_exchange<both, left, right>(x, y)
// expect: extent_is_static<batch>
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<batch>(x, x); }
#else
auto f() { return dm::concat_exchange<length, batch, batch>(x, x); }
#endif

// mistake: parts_over_ranks__joined_elements
// Two types of elements.
// expect: concat_exchange: the operands have elements of several types; cast some
// expect: elements_differ<float, double>
extern const dm::tensor<double, dm::layout<pod, dm::split<length, rows>>, length, hidden> d;
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<length>(t, d); }
#else
auto f() { return dm::concat_exchange<length>(t, dm::cast<float>(d)); }
#endif

// mistake: parts_over_ranks__joined_lacking
// One lacks a dim.
// expect: concat_exchange: an operand lacks a dim that another has; all have the same dims but for the one that is joined
// expect: dim_not_in_tensor<hidden>
extern const dm::tensor<float, dm::layout<pod, dm::split<length, rows>>, length> d;
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<length>(t, d); }
#else
auto f() { return dm::concat_exchange<length>(d, d); }
#endif

// mistake: parts_over_ranks__joined_there_already
// A name that both have.
// expect: concat_exchange: an operand has the new dim already; choose another name
// expect: dim_already_in_tensor<hidden>
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<hidden, length, length>(t, t); }
#else
auto f() { return dm::concat_exchange<length, length, length>(t, t); }
#endif

// mistake: parts_over_ranks__joined_halo
// Blocks with elements of their neighbours.
// expect: concat_exchange: the blocks carry halos; join before halo_exchange
// expect: dim_has_halo<length>
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<length, batch, batch>(wide, wide); }
#else
auto f() { return dm::concat_exchange<length, batch, batch>(x, x); }
#endif

// mistake: parts_over_ranks__joined_addends
// Addends beside values.
// expect: concat_exchange: an operand is a sum yet to be made, and not all are along the same axis; complete it
// expect: partial_meets_split<rows, length>
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<length>(t, s); }
#else
auto f() { return dm::concat_exchange<length>(s, s); }
#endif

// mistake: parts_over_ranks__joined_elsewhere
// One is split, the other is not.
// expect: concat_exchange: the operands are split over different axes; relayout one of them
// expect: dim_split_in_one_operand_only<length, rows>
extern const dm::tensor<float, whole, length, hidden> d;
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<length>(t, d); }
#else
auto f() { return dm::concat_exchange<length>(t, dm::own<length, rows>(d)); }
#endif

// mistake: parts_over_ranks__joined_placed
// At two places of an axis.
// expect: concat_exchange: the operands live on different ranks of this axis; place<axis, k> what all ranks hold, or send<axis, k> what lives elsewhere
// expect: placed_elsewhere<cols, 0, 1>
template <int K>
using at = dm::tensor<float, dm::layout<pod, dm::split<length, rows>, dm::placed<cols, K>>, length>;
extern const at<0> a;
extern const at<1> b;
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<length>(a, b); }
#else
auto f() { return dm::concat_exchange<length>(a, dm::send<cols, 0>(b)); }
#endif

// mistake: parts_over_ranks__joined_odd
// Seven elements on two ranks.
// expect: concat_exchange: the axes that split the dim do not divide the extent of the result; write it as uneven<dim>
// expect: extent_not_divisible<seven, 7, rows, 2>
struct seven : dm::dim<7> {};
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<seven, length, length>(t, t); }
#else
auto f() { return dm::concat_exchange<dm::uneven<seven>, length, length>(t, t); }
#endif

// mistake: parts_over_ranks__joined_meshes
// On two meshes.
// expect: concat_exchange: the operands live on different meshes; put them on one
// expect: meshes_differ<
extern const dm::tensor<float, dm::layout<other_mesh, dm::split<length, rows>>, length, hidden> d;
#ifdef COMPILE_FAIL
auto f() { return dm::concat_exchange<length>(t, d); }
#else
auto f() { return dm::concat_exchange<length>(t, t); }
#endif

// mistake: parts_over_ranks__recut_rules
// One axis for two dims.
// expect: merge_exchange, cut_exchange: the rules of the new dims do not agree: axes must be in the mesh and do one thing each, dims have one rule; mend them
// expect: dims_share_mesh_axis<part, label, rows>
struct sixteen : dm::dim<16> {};
extern const dm::tensor<float, dm::layout<pod, dm::split<sixteen, rows>>, sixteen> d;
#ifdef COMPILE_FAIL
auto f() { return dm::cut_exchange<sixteen, dm::split<part, rows>, dm::split<label, rows>>(d); }
#else
auto f() { return dm::cut_exchange<sixteen, part, dm::split<label, rows>>(d); }
#endif

// mistake: parts_over_ranks__recut_lacking
// A dim that the tensor lacks.
// expect: merge_exchange, cut_exchange: the tensor lacks a dim that is to be another; name dims of its own
// expect: dim_not_in_tensor<label>
#ifdef COMPILE_FAIL
auto f() { return dm::merge_exchange<dm::split<flat, rows>, batch, label>(x); }
#else
auto f() { return dm::merge_exchange<dm::split<flat, rows>, batch, hidden>(x); }
#endif

// mistake: parts_over_ranks__recut_there_already
// A name that the tensor has.
// expect: merge_exchange, cut_exchange: the tensor has a dim of a new name already; choose another name
// expect: dim_already_in_tensor<hidden>
#ifdef COMPILE_FAIL
auto f() { return dm::cut_exchange<batch, hidden, dm::split<part, rows>>(x); }
#else
auto f() { return dm::cut_exchange<batch, length, dm::split<part, rows>>(x); }
#endif

// mistake: parts_over_ranks__recut_order
// Dims in another order.
// expect: merge_exchange: the dims do not lie side by side in this order; permute them first
// expect: dim_not_in_order<batch>
#ifdef COMPILE_FAIL
auto f() { return dm::merge_exchange<dm::split<flat, rows>, hidden, batch>(x); }
#else
auto f() { return dm::merge_exchange<dm::split<flat, rows>, batch, hidden>(x); }
#endif

// mistake: parts_over_ranks__recut_lost
// Nothing is said of an axis.
// expect: merge_exchange, cut_exchange: an axis splits the dims and none of the new ones; say split<dim, axis> of one, or gather with whole<dim> first
// expect: dim_is_split<batch, rows>
#ifdef COMPILE_FAIL
auto f() { return dm::merge_exchange<flat, batch, hidden>(x); }
#else
auto f() { return dm::merge_exchange<dm::split<flat, rows>, batch, hidden>(x); }
#endif

// mistake: parts_over_ranks__recut_more
// An axis that splits none of the dims.
// expect: merge_exchange, cut_exchange: an axis is to split a new dim and splits none of the old ones; name those that do, and relayout afterwards
// expect: axis_splits_nothing<cols>
#ifdef COMPILE_FAIL
auto f() { return dm::merge_exchange<dm::split<flat, rows, cols>, batch, hidden>(x); }
#else
auto f() { return dm::merge_exchange<dm::split<flat, rows>, batch, hidden>(x); }
#endif

// mistake: parts_over_ranks__recut_extents
// Other numbers of elements.
// expect: merge_exchange, cut_exchange: the extents of the dims do not multiply to those of the new ones
// expect: extents_differ<pixel, batch>
#ifdef COMPILE_FAIL
auto f() { return dm::merge_exchange<dm::split<pixel, rows>, batch, hidden>(x); }
#else
auto f() { return dm::merge_exchange<dm::split<flat, rows>, batch, hidden>(x); }
#endif

// mistake: parts_over_ranks__recut_odd
// Three elements on two ranks.
// expect: merge_exchange, cut_exchange: the axes that split a new dim do not divide its extent; say split<uneven<dim>, axis>
// expect: extent_not_divisible<odd, 3, rows, 2>
#ifdef COMPILE_FAIL
auto f() { return dm::cut_exchange<length, part, dm::split<odd, rows>>(t); }
#else
auto f() { return dm::cut_exchange<length, part, dm::split<dm::uneven<odd>, rows>>(t); }
#endif

// mistake: parts_over_ranks__recut_halo
// Blocks with elements of their neighbours.
// expect: merge_exchange, cut_exchange: the blocks carry halos; do it before halo_exchange
// expect: dim_has_halo<batch>
#ifdef COMPILE_FAIL
auto f() { return dm::merge_exchange<dm::split<flat, rows>, batch, hidden>(wide); }
#else
auto f() { return dm::merge_exchange<dm::split<flat, rows>, batch, hidden>(x); }
#endif

// mistake: parts_over_ranks__recut_ragged
// Blocks of lengths that nothing says.
// expect: merge_exchange, cut_exchange: a new dim is to be ragged, and nothing says where it is cut; say split<uneven<dim>, axis>
// expect: dim_split_differently<flat>
#ifdef COMPILE_FAIL
auto f() { return dm::merge_exchange<dm::split<dm::ragged<flat>, rows>, batch, hidden>(x); }
#else
auto f() { return dm::merge_exchange<dm::split<dm::uneven<flat>, rows>, batch, hidden>(x); }
#endif
