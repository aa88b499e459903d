// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which ways can a program be wrong? Each way is a fault: a template whose name is a clause and
// whose arguments are the culprits. Rules compute faults; entry points assert them. Every fault
// has a page in docs/errors/ and a test in tests/compile_fail/.
//
//   ok<no_fault>                                     -> true
//   ok<dims_share_mesh_axis<batch, hidden, rows>>    -> false, and the compiler prints the culprits
#pragma once

#include <type_traits>

#include "dimesh/layout/poison.hpp"

namespace dimesh {

struct no_fault {};

namespace detail {
/// Of::type, which asks about an operand X; Else of poison, whose mistake has been told.
template <class X, class Of, class Else = no_fault>
using unless_poison = typename std::conditional_t<is_poison<X>, std::type_identity<Else>, Of>::type;
}  // namespace detail

/// Headers that dimesh.hpp does not include, although it knows names of theirs.
enum class op_header {
  slice,
  sort,
  scan,
  concat,
  gather,
  expand,
  split_into,
  reductions,
  masked_mean,
  attention,
  cost,
  vjp,
  jvp,
  recompute
};
template <op_header H> struct header_missing;
template <class... Names> struct named_otherwise;  // a name that other libraries have for it

// Something else stands where a name of this kind is wanted.
template <class X> struct not_a_dim;
template <class X> struct not_an_axis;
template <class X> struct not_a_mesh;
template <class X> struct not_a_space;
template <class X> struct not_a_layout;
template <class X> struct not_a_rule;
template <class X> struct not_an_element;
template <class X> struct not_a_tensor;
template <class X> struct not_a_schedule;

// The formation of layouts and tensors.
template <class Dim> struct split_without_axis;
template <class Axis> struct axis_repeated;  // in a mesh
template <class Axis, class Mesh> struct axis_not_in_mesh;
template <class Axis> struct axis_used_twice;
template <class Dim> struct dim_has_two_rules;
template <class Dim> struct dim_repeated;
template <class Dim1, class Dim2, class Axis> struct dims_share_mesh_axis;
template <class Dim, long Extent, class Axis, long Size> struct extent_not_divisible;
template <class Axis> struct place_not_on_axis;  // placed<axis, k>: it has no coordinate k
template <class Mesh1, class Mesh2> struct meshes_differ;
template <class Mesh> struct mesh_without_grid;

// What annotations imply (plan/annotate.hpp).
template <class Annotation1, class Annotation2, class... Repair> struct annotations_differ;
template <class Annotation1, class Annotation2, class... Repair> struct annotations_share_axis;
template <class Text> struct text_takes_no_layout;
template <class Mesh, class Ranks> struct no_axes_of_size;  // shard_along<dim, ranks>

// Operations on tensors.
template <class Axis> struct partial_operand;  // sum first: only linear operations keep it
template <class Axis> struct both_operands_partial;  // a product of sums is not a sum of products
template <class Axis>
struct partial_meets_replicated;  // a sum would count the replicated one often
template <class Axis> struct partial_meets_scalar;  // likewise
template <class Axis, class Dim> struct partial_meets_split;
template <class Dim, class Axis> struct dim_split_in_one_operand_only;
template <class Dim> struct dim_split_differently;
template <class Axis, long Place1, long Place2>
struct placed_elsewhere;  // the operands live on different ranks
template <class Axis, long Place>
struct placed_in_one_operand_only;  // the other one lives on all ranks of the axis
template <class Axis> struct tensor_is_placed;  // and ranks without it have no value
template <class Dim> struct output_dim_not_in_any_input;
template <class Dim> struct dim_in_one_input_only;  // and not in the output: `sum` it first
template <class Dim, class Axis> struct dim_is_split;
template <class Dim1, class Dim2>
struct no_operand_has_all_dims;  // the first and second lack these
template <class Dim> struct dim_not_in_tensor;
template <class Dim> struct dim_not_in_order;
template <class Dim> struct dim_already_in_tensor;
template <class Dim> struct extent_is_static;  // and would be another one
template <class... Dim> struct dim_has_no_halo;
template <class Dim> struct dim_has_halo;
template <class Dim1, class Dim2> struct extents_differ;
template <class... Elements> struct elements_differ;
template <class Axis> struct axis_not_partial;
template <class Axis> struct axis_not_replicated;
template <class Axis> struct axis_not_placed;
template <class Axis> struct axis_splits_nothing;
template <class Dim, class Axis> struct axis_not_innermost_of_dim;
template <class Layout1, class Layout2> struct layouts_differ;
template <class Dims1, class Dims2> struct dims_differ;  // or their order
template <class View, class Dims> struct ranks_differ;  // a View has another number of them
template <class Type1, class Type2> struct not_the_same_kind;  // plain, recorded, a shape
template <long Needed, long Memory> struct operands_exceed_memory;  // by::best<layout, Memory>
template <class X> struct not_by_element;
template <class Dim> struct dim_without_index;  // of those that say where an element is
template <class X> struct move_not_awaited;  // a tensor that is on its way
template <class X> struct move_not_given_up;  // await uses a handle up
template <class X> struct persistent_needs_data;  // and what it moves is not recorded
template <class... Arguments> struct wrong_arguments;  // of these types, in this order
template <class Element> struct element_not_differentiable;
template <class Element> struct element_not_summable;  // ranks cannot add it up
template <class Element> struct element_is_complex;  // where real numbers are wanted, or an order
template <class Axis> struct gradient_not_complete;
template <class Axis> struct gradient_is_complete;  // where it is to be summed
template <class Parameters, class Gradients> struct structs_differ;
template <class Parameters> struct parameters_are_const;
template <class... Dims> struct value_not_scalar;
template <class Element> struct value_is_recorded;  // and would be a constant to the gradient
template <class Function> struct result_not_recorded;  // no parameter reaches the value
template <class Element> struct parameter_is_rounded;
template <class Element> struct parameter_is_complex;
template <class X> struct not_a_shape;  // it has data
template <class Axis> struct axis_without_size;  // the type gives none
template <class Dim> struct dim_without_extent;  // likewise
template <class Struct> struct vector_without_length;  // of tensors, in a struct
template <class Struct> struct member_not_described;
template <class Member> struct member_not_walked;
template <class Struct> struct layout_not_first_argument;  // of the template that the struct is
template <class First, class Second> struct lengths_differ;  // two arrays of structs side by side
template <class Member> struct distribution_not_stated;  // a parameter of which nothing is said
template <class Result> struct recorded_tensor_not_passed;  // it is captured by the function

// Schedules of a pipeline: which rank, and how many of its operations come before the faulty one.
template <int Ranks, int Micros> struct schedule_does_not_fit;  // as many micro-batches
template <int Rank, int Place> struct operation_not_of_rank;  // none of its stages, or done before
template <int Rank, int Stage, int Micro> struct operation_never_done;
template <int Rank, int Place> struct operation_waits_for_ever;
template <int Rank, int Place> struct messages_out_of_order;  // here they are received
template <int Rank, int Place> struct backward_not_ascending;  // this one comes too late
template <class Schedule> struct updates_not_made;  // which the schedule has on its way
template <class Dim, long Extent, long Micros> struct micro_batches_do_not_divide;
template <int Cells, int Layers> struct fewer_layers_than_cells;
template <class Bounds, int Layers> struct bounds_not_of_layers;
template <int... Bound> struct cell_bounds {};  // culprits of those
template <class Place, class Weights> struct weight_not_on_stage;
template <class Place, class Input> struct input_not_on_stage;
template <class Name> struct name_not_carried;  // and a layer recalls it
template <class Name> struct name_carried_already;
template <class Name> struct name_not_recalled;  // by any layer
template <class Cell, class... Given> struct cell_not_callable_with;
template <class Given, class Taken> struct stages_do_not_meet;  // what two cells say
template <class Given, class Taken> struct layers_do_not_meet;  // what two layers of one say
template <class... Dims> struct tensor_of {};  // where there are several tensors
template <int Cell, class... Dims> struct cell_gives {};  // culprits of those; -1: the input
template <int Cell, class... Dims> struct cell_takes {};
template <class Layer, class... Dims> struct layer_gives {};
template <class Layer, class... Dims> struct layer_takes {};
template <class Cell> struct slice_hands_on_other_type;  // than its next slice takes

// Functions of the user's.
template <class... Arguments> struct function_not_callable_with;
template <class Function> struct function_not_const;
template <class Function> struct function_not_constexpr;
template <class Function> struct function_not_an_object;
template <class Function> struct parameter_not_const;  // of the function
template <class Function> struct function_takes_plain_only;  // where what is recorded is passed
template <class Result> struct function_gives_no_number;
template <class Result> struct function_gives_no_tensor;
template <class Number> struct derivative_lost;  // where a dual number becomes a plain one
template <class Number> struct derivative_not_known;
template <class From, class To> struct fraction_cut;
template <class Comparison> struct branch_on_element;
template <class... Elements> struct element_not_named;  // of what a stencil's function is given

/// The same ways as values, for rules that compute; core/rule.hpp makes types of them.
enum class fault_code : signed char {
  none,
  axis_not_in_mesh,
  axis_used_twice,
  dim_has_two_rules,
  dim_repeated,
  dims_share_mesh_axis,
  extent_not_divisible,
  place_not_on_axis,
  meshes_differ,
  partial_operand,
  both_operands_partial,
  partial_meets_replicated,
  partial_meets_scalar,
  partial_meets_split,
  dim_split_in_one_operand_only,
  dim_split_differently,
  placed_elsewhere,
  placed_in_one_operand_only,
  tensor_is_placed,
  output_dim_not_in_any_input,
  dim_in_one_input_only,
  dim_is_split,
  dim_not_in_tensor,
  dim_not_in_order,
  dim_already_in_tensor,
  dim_has_halo,
  extents_differ,
  elements_differ,
  axis_not_partial,
  axis_not_replicated,
  axis_not_placed,
  axis_splits_nothing,
  axis_not_innermost_of_dim,
  element_not_differentiable,
  element_not_summable,
  value_not_scalar,
  no_operand_has_all_dims
};

/// True for the absence of a fault. A variable, not a concept: compilers then name the culprits
/// in one line.
template <class Fault> inline constexpr bool ok = std::is_same_v<Fault, no_fault>;

namespace detail {
template <class Fault, template <class...> class Kind> inline constexpr bool is_kind = false;
template <template <class...> class Kind, class... Culprits>
inline constexpr bool is_kind<Kind<Culprits...>, Kind> = true;
template <class Fault, template <class...> class... Kind> struct only_impl {
  using type = std::conditional_t<(is_kind<Fault, Kind> || ...), Fault, no_fault>;
};
/// The first of several faults, or no_fault.
template <class... Fault> struct first_of {
  using type = no_fault;
};
template <class Fault, class... Rest> struct first_of<Fault, Rest...> {
  using type = Fault;
};
template <class... Rest> struct first_of<no_fault, Rest...> : first_of<Rest...> {};
template <class Fault> struct only_placed_impl {
  using type = no_fault;
};
template <class A, long J, long K> struct only_placed_impl<placed_elsewhere<A, J, K>> {
  using type = placed_elsewhere<A, J, K>;
};
template <class A, long K> struct only_placed_impl<placed_in_one_operand_only<A, K>> {
  using type = placed_in_one_operand_only<A, K>;
};
template <class Fault> struct only_not_divisible_impl {
  using type = no_fault;
};
template <class D, long N, class A, long S>
struct only_not_divisible_impl<extent_not_divisible<D, N, A, S>> {
  using type = extent_not_divisible<D, N, A, S>;
};
}  // namespace detail

/// The fault itself if it is of one of these kinds, else no_fault: lets an assertion speak of them.
template <class Fault, template <class...> class... Kind>
using only = typename detail::only_impl<Fault, Kind...>::type;

/// The same for all that can be wrong with a list of rules, whatever the tensor.
template <class Fault>
using only_of_rules = only<Fault, axis_not_in_mesh, axis_used_twice, dim_has_two_rules,
                           dims_share_mesh_axis, place_not_on_axis, not_a_dim, not_an_axis,
                           not_a_mesh, not_a_layout, not_a_rule, split_without_axis>;

/// The same for the one kind whose culprits include numbers.
template <class Fault>
using only_not_divisible = typename detail::only_not_divisible_impl<Fault>::type;

/// The same for operands that live on different ranks.
template <class Fault> using only_placed = typename detail::only_placed_impl<Fault>::type;

}  // namespace dimesh
