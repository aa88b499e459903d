// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules that do not fit the operands' layouts.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/contract.hpp>

#include "names.hpp"

namespace by = dm::by;
struct other_mesh : dm::mesh<cols, rows> {};
struct spare : dm::axis<2> {};
template <class... R> using on = dm::layout<pod, R...>;
using inputs = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, on<dm::split<hidden, rows>>, pixel, hidden>;
using blocks = dm::tensor<float, on<dm::split<batch, rows>, dm::split<pixel, cols>>, batch, pixel>;
using turned =
    dm::tensor<float, on<dm::split<pixel, rows>, dm::split<hidden, cols>>, pixel, hidden>;

// mistake: contract__meshes
// Operands on two meshes.
// expect: contract: the operands, or the layout of the result, are of different meshes; put them on one
// expect: meshes_differ<
using elsewhere = dm::tensor<float, dm::layout<other_mesh>, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const inputs& x, const elsewhere& w) {
  return dm::contract<by::ring<rows>, batch, hidden>(x, w);
}
#else
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::ring<rows>, batch, hidden>(x, w);
}
#endif

// mistake: contract__goal
// The layout that the result is to have is of another mesh.
// expect: contract: the operands, or the layout of the result, are of different meshes; put them on one
// expect: meshes_differ<
#ifdef COMPILE_FAIL
using goal = dm::layout<other_mesh>;
#else
using goal = dm::layout<pod>;
#endif
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::best<goal>, batch, hidden>(x, w);
}

// mistake: contract__placed
// At two places of an axis.
// expect: contract: the operands live on different ranks of this axis; place<axis, k> the one that all of them hold (free), or send<axis, k> the one that lives elsewhere
// expect: placed_elsewhere<cols, 0, 1>
using first = dm::tensor<float, on<dm::placed<cols, 0>, dm::split<batch, rows>>, batch, pixel>;
using second = dm::tensor<float, on<dm::placed<cols, 1>>, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const first& x, const second& w) { return dm::contract<by::gather, batch, hidden>(x, w); }
#else
auto f(const first& x, const second& w) {
  return dm::contract<by::gather, batch, hidden>(x, dm::send<cols, 0>(w));
}
#endif

// mistake: contract__no_product
// A dim of the result that no operand has.
// expect: contract: whatever their layouts, the operands make no such product: every dim stands in two of the three tensors, once in each, and elements are of one type
// expect: output_dim_not_in_any_input<label>
#ifdef COMPILE_FAIL
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::ring<rows>, batch, label>(x, w);
}
#else
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::ring<rows>, batch, hidden>(x, w);
}
#endif

// mistake: contract__halo
// Blocks with halos go nowhere.
// expect: contract: blocks of an operand carry halos; take the tensor without them
// expect: dim_has_halo<batch>
using rimmed = dm::tensor<float, on<dm::split<dm::halo<batch, 1>, rows>>, batch, pixel>;
#ifdef COMPILE_FAIL
auto f(const rimmed& x, const weights& w) {
#else
auto f(const inputs& x, const weights& w) {
#endif
  return dm::contract<by::ring<rows>, batch, hidden>(x, w);
}

// mistake: contract__no_axis
// An axis of another mesh.
// expect: contract: the operands' mesh lacks an axis of the schedule, or of the layout; name its own
// expect: axis_not_in_mesh<spare, pod>
#ifdef COMPILE_FAIL
auto f(const blocks& x, const turned& w) {
  return dm::contract<by::summa<rows, spare>, batch, hidden>(x, w);
}
#else
auto f(const blocks& x, const turned& w) {
  return dm::contract<by::summa<rows, cols>, batch, hidden>(x, w);
}
#endif

// mistake: contract__ring_stands
// A ring along an axis that cuts nothing.
// expect: contract: an axis of the schedule cuts no blocks: a ring's axis cuts an operand and the result, innermost; summa's a summed dim in each operand
// expect: axis_splits_nothing<cols>
#ifdef COMPILE_FAIL
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::ring<cols>, batch, hidden>(x, w);
}
#else
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::ring<rows>, batch, hidden>(x, w);
}
#endif

// mistake: contract__summa_of_rows
// The summed dim is whole.
// expect: contract: an axis of the schedule cuts no blocks: a ring's axis cuts an operand and the result, innermost; summa's a summed dim in each operand
// expect: axis_splits_nothing<rows>
#ifdef COMPILE_FAIL
auto f(const inputs& x, const turned& w) {
#else
auto f(const blocks& x, const turned& w) {
#endif
  return dm::contract<by::summa<rows, cols>, batch, hidden>(x, w);
}

// mistake: contract__still_apart
// A ring along one axis, and the operands do not fit along the other one either.
// expect: contract: two dims want one axis, or the operands split a dim differently, even after the schedule; relayout one, or take by::gather or by::best
// expect: dim_split_in_one_operand_only<pixel, cols>
#ifdef COMPILE_FAIL
auto f(const blocks& x, const weights& w) {
  return dm::contract<by::ring<rows>, batch, hidden>(x, w);
}
#else
auto f(const blocks& x, const weights& w) { return dm::contract<by::gather, batch, hidden>(x, w); }
#endif

// mistake: contract__addends
// Addends meet blocks.
// expect: contract: an operand is yet to be summed where the other one is, or is split; complete it first
// expect: partial_meets_split<cols, hidden>
using addends = dm::tensor<float, on<dm::split<batch, rows>, dm::partial<cols>>, batch, pixel>;
using columns =
    dm::tensor<float, on<dm::split<pixel, rows>, dm::split<hidden, cols>>, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x, const columns& w) {
  return dm::contract<by::ring<rows>, batch, hidden>(x, w);
}
#else
auto f(const addends& x, const columns& w) {
  return dm::contract<by::ring<rows>, batch, hidden>(dm::complete(x), w);
}
#endif

// mistake: contract__nothing_to_sum
// No addends along the axis.
// expect: contract: reduce_scatter wants an axis that splits a summed dim and a dim of the result; summa a spare axis that both operands replicate
// expect: axis_not_partial<rows>
using deep = dm::tensor<float, on<dm::split<pixel, cols>>, batch, pixel>;
using plain = dm::tensor<float, whole, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const deep& x, const plain& w) {
  return dm::contract<by::reduce_scatter<batch, rows>, batch, hidden>(x, w);
}
#else
auto f(const deep& x, const plain& w) {
  return dm::contract<by::reduce_scatter<batch, cols>, batch, hidden>(x, w);
}
#endif

// mistake: contract__truth_values
// Truth values that are to be added up.
// expect: contract: ranks cannot add up elements of this type; cast the operands first
// expect: element_not_summable<bool>
#ifdef COMPILE_FAIL
using element = bool;
#else
using element = int;
#endif
auto f(const dm::tensor<element, on<dm::split<pixel, cols>>, batch, pixel>& x,
       const dm::tensor<element, whole, pixel, hidden>& w) {
  return dm::contract<by::reduce_scatter<batch, cols>, batch, hidden>(x, w);
}

// mistake: contract__not_divisible
// A result that cannot be cut evenly.
// expect: contract: the extent of a split dim of the result is not a multiple of its mesh axes; change one, or split uneven<dim>
// expect: extent_not_divisible<odd, 5, cols, 2>
struct odd : dm::dim<5> {};
using few = dm::tensor<float, on<dm::split<pixel, cols>>, odd, pixel>;
#ifdef COMPILE_FAIL
using cut = odd;
#else
using cut = dm::uneven<odd>;
#endif
auto f(const few& x, const dm::tensor<float, whole, pixel, hidden>& w) {
  return dm::contract<by::reduce_scatter<cut, cols>, odd, hidden>(x, w);
}

// mistake: contract__no_layout
// Rules that do not agree.
// expect: contract: the rules of the result's layout do not agree; mend the layout
// expect: axis_used_twice<rows>
#ifdef COMPILE_FAIL
using twice = on<dm::split<batch, rows>, dm::partial<rows>>;
#else
using twice = on<dm::split<batch, rows>, dm::split<hidden, cols>>;
#endif
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::best<twice>, batch, hidden>(x, w);
}

// mistake: contract__goal_shares_axis
// A layout for the result that no tensor has.
// expect: contract: the layout for by::best splits two dims of the result over one axis; leave one whole
// expect: dims_share_mesh_axis<batch, hidden, rows>
#ifdef COMPILE_FAIL
using both = on<dm::split<batch, rows>, dm::split<hidden, rows>>;
#else
using both = on<dm::split<batch, rows>, dm::split<hidden, cols>>;
#endif
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::best<both>, batch, hidden>(x, w);
}

// mistake: contract__goal_is_rule
// A rule where the layout of the result stands.
// expect: contract: by::best takes the layout of the result: by::best<layout<mesh, rules...>>
// expect: not_a_layout<
#ifdef COMPILE_FAIL
using wanted = dm::split<batch, rows>;
#else
using wanted = on<dm::split<batch, rows>>;
#endif
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::best<wanted>, batch, hidden>(x, w);
}

// mistake: contract__goal_of_addends
// A result that is to be addends where the operands have none, and give none.
// expect: contract: the layout for by::best holds addends along an axis that has none: no operand holds any, nor can it split a summed dim of both; leave partial out
// expect: axis_not_partial<cols>
#ifdef COMPILE_FAIL
using goal = on<dm::partial<cols>>;
#else
using goal = on<dm::partial<rows>>;
#endif
auto f(const dm::tensor<float, on<dm::split<pixel, rows>>, batch, pixel>& x,
       const dm::tensor<float, on<>, pixel, hidden>& w) {
  return dm::contract<by::best<goal>, batch, hidden>(x, w);
}

// mistake: contract__addends_along_both
// A result that is to be addends along two axes; each splits the summed dim in one operand alone.
// expect: contract: the layout for by::best holds addends along an axis that has none: no operand holds any, nor can it split a summed dim of both; leave partial out
// expect: axis_not_partial<cols>
#ifdef COMPILE_FAIL
using goal = on<dm::partial<rows>, dm::partial<cols>>;
#else
using goal = on<dm::partial<rows>>;
#endif
auto f(const dm::tensor<float, on<dm::split<pixel, rows>>, batch, pixel>& x,
       const dm::tensor<float, on<dm::split<pixel, cols>>, pixel, hidden>& w) {
  return dm::contract<by::best<goal>, batch, hidden>(x, w);
}

// mistake: contract__addends_of_ragged
// A summed dim with cuts that one operand does not know: it is gathered, and leaves no addends.
// expect: contract: the layout for by::best holds addends along an axis that has none: no operand holds any, nor can it split a summed dim of both; leave partial out
// expect: axis_not_partial<rows>
using cut_up = on<dm::split<dm::ragged<pixel>, rows>>;
#ifdef COMPILE_FAIL
using other = dm::tensor<float, on<>, pixel, hidden>;
#else
using other = dm::tensor<float, cut_up, pixel, hidden>;
#endif
auto f(const dm::tensor<float, cut_up, batch, pixel>& x, const other& w) {
  return dm::contract<by::best<on<dm::partial<rows>>>, batch, hidden>(x, w);
}

// mistake: contract__chain_along_both
// The same of three operands.
// expect: contract: the layout for by::best holds addends along an axis that has none: no operand holds any, nor can it split a summed dim of both; leave partial out
// expect: axis_not_partial<cols>
#ifdef COMPILE_FAIL
using goal = on<dm::partial<rows>, dm::partial<cols>>;
#else
using goal = on<dm::partial<rows>>;
#endif
auto f(const dm::tensor<float, on<dm::split<pixel, rows>>, batch, pixel>& x,
       const dm::tensor<float, on<dm::split<pixel, cols>>, pixel, hidden>& w,
       const dm::tensor<float, on<>, hidden, label>& v) {
  return dm::contract<by::best<goal>, batch, label>(x, w, v);
}

// mistake: contract__ring_of_dim
// A dim where the axis belongs along which blocks go round.
// expect: contract: a schedule goes along axes of the mesh, and names something else: by::ring<rows>, by::summa<rows, cols>
// expect: not_an_axis<batch>
#ifdef COMPILE_FAIL
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::ring<batch>, batch, hidden>(x, w);
}
#else
auto f(const inputs& x, const weights& w) {
  return dm::contract<by::ring<rows>, batch, hidden>(x, w);
}
#endif

// mistake: contract__chain
// Three operands by a schedule that says nothing of pairs.
// expect: contract: three operands and more are multiplied by::best, which chooses the pairs: contract<by::best<>, m, n>(x, y, z)
// expect: not_a_schedule<
using last = dm::tensor<float, on<>, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const inputs& x, const weights& w, const last& v) {
  return dm::contract<by::ring<rows>, batch, label>(x, w, v);
}
#else
auto f(const inputs& x, const weights& w, const last& v) {
  return dm::contract<by::best<>, batch, label>(x, w, v);
}
#endif

// mistake: contract__chain_of_addends
// A result that is to be addends along an axis that the last operand needs.
// expect: contract: the layout for by::best holds addends along an axis that has none: no operand holds any, nor can it split a summed dim of both; leave partial out
// expect: axis_not_partial<rows>
struct deep_pixel : dm::dim<1000> {};
struct few : dm::dim<2> {};
using sums = on<dm::partial<rows>>;
#ifdef COMPILE_FAIL
using third = dm::tensor<float, on<dm::split<label, rows>>, few, label>;
#else
using third = dm::tensor<float, on<dm::split<label, cols>>, few, label>;
#endif
auto f(const dm::tensor<float, on<dm::split<deep_pixel, rows>>, batch, deep_pixel>& x,
       const dm::tensor<float, on<dm::split<deep_pixel, rows>>, deep_pixel, few>& w,
       const third& v) {
  return dm::contract<by::best<sums>, batch, label>(x, w, v);
}

// mistake: contract__many_dims
// More dims than loops.
// expect: contract: the operands have more than 16 dims between them; multiply fewer at a time, or merge dims that stay side by side
template <int I> struct numbered : dm::dim<2> {};
template <int... I>
auto small_tensor(std::integer_sequence<int, I...>) -> dm::tensor<float, on<>, numbered<I>...>;
using nine = decltype(small_tensor(std::make_integer_sequence<int, 9>{}));
template <int I> struct other : dm::dim<2> {};
using further = dm::tensor<float, on<>, other<1>, other<2>, other<3>, other<4>, other<5>, other<6>,
                           other<7>, other<8>>;
using few = dm::tensor<float, on<>, other<1>, other<2>>;
#ifdef COMPILE_FAIL
auto f(const nine& x, const further& y) { return dm::contract<by::best<>, other<1>>(x, y); }
#else
auto f(const nine& x, const few& y) {
  return dm::contract<by::best<>, numbered<0>, numbered<1>, numbered<2>, numbered<3>, numbered<4>,
                      numbered<5>, numbered<6>, numbered<7>, numbered<8>, other<1>, other<2>>(x, y);
}
#endif

// mistake: einsum__many_dims
// More dims than loops.
// expect: einsum: the operands have more than 16 dims between them; multiply fewer at a time, or merge dims that stay side by side
template <int I> struct numbered : dm::dim<2> {};
using nine = dm::tensor<float, on<>, numbered<1>, numbered<2>, numbered<3>, numbered<4>,
                        numbered<5>, numbered<6>, numbered<7>, numbered<8>, numbered<9>>;
using eight = dm::tensor<float, on<>, numbered<11>, numbered<12>, numbered<13>, numbered<14>,
                         numbered<15>, numbered<16>, numbered<17>, numbered<18>>;
#ifdef COMPILE_FAIL
auto f(const nine& x, const eight& y) { return dm::einsum<numbered<1>>(x, y); }
#else
auto f(const nine& x) { return dm::einsum<>(x, x); }
#endif
