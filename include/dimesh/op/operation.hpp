// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one add an operation of one's own? As the library does it: a typing rule, and a struct
// with what is below the types, where a tensor is a core: element type, extents and blocks as
// values. It then runs, is recorded for gradients, has its cost counted, and takes probes, runtime
// tensors and annotations as all others do. docs/tutorial/8_own_operations.md walks through one.
//
//   struct halve_rule : keeps_dims {                        // the result has the dims of x
//     static constexpr outcome of(rule_operands x, dim_list out);   // its layout, or the fault
//   };
//   template <class T> struct halve_op {                    // elements T; the call is "halve"
//     void fill(results y, operands x) const;               // the local call: y[0] from x[0]
//     constexpr void cost(cost_counter& c, results y, operands x) const;
//     static constexpr bool needs(int k, unsigned wanted);  // does the transpose read operand k
//                                                           // (-1: the result)?
//     constexpr void transpose(const auto& to) const;       // to.give(0, halve_op{}, to.ybar)
//   };
//   template <Operand X> constexpr auto halve(const X& x) {
//     using fault = fault_of<halve_rule, X>;                // poison, and probes, have none
//     static_assert(ok<fault>, ...);                        // the sentence says what to do
//     if constexpr (!ok<fault> || is_poison<X>)
//       return poison{};
//     else
//       return apply_rule<halve_rule, value_of<X>>(halve_op<value_of<X>>{}, x);
//   }
//
// Before `fill` and `cost` run, this holds, or dimesh::error says otherwise and names the call:
// operands are defined, on one grid (or all are shapes), and agree on extents that only the run
// knows; of several partial operands, all hold real addends along an axis or all the whole value
// (to be counted once); results have their extents and blocks, and in `fill` memory with undefined
// elements. Where no operand and no result lives on this rank (placed<axis, k>), neither runs.
//
// Optional members:
//   constexpr index_t extent_of(const dim_facts* d) const   extents that only the run knows, of
//                                                           dims that no operand has; else dynamic
//   static constexpr int aliases = k         the result is the memory of operand k; no `fill`
//   std::string_view call                    what errors and events call it, in place of the
//                                            struct's own name; may be static constexpr
//   static constexpr bool on_host = true     `fill` is code of the host: tensors of a device are
//                                            copied there, and results back
//   needs and transpose                      left out: results are not recorded, as if the operand
//                                            had gone through stop_gradient (transpose without
//                                            needs is refused where something is recorded)
#pragma once

#include "dimesh/op/reduce.hpp"

namespace dimesh {

// ---- what an operation sees ---------------------------------------------------------------------

/// A tensor without its type: rank(), extent(d), own(d) (this rank's block of dim d: offset,
/// length), local(d), stride(d), elements(), bytes(), data<T>(), layout(), facts, grid. Elements
/// are row-major, in the memory space of the mesh.
using detail::tensor_core;
/// The operands by number: x[k] is a tensor_core, x.count() says how many there are (at most 16).
using detail::operands;
/// The results by number: y[i] is a tensor_core. Of cotangents (give_all), unwanted ones are
/// missing: y.has(k), or y.data<T>(k), which is null there.
using detail::results;
/// The bytes that all operands have on this rank.
using detail::bytes_of;
/// What a tensor's type says, as a value: element size, dims, layout; place_of(&facts_of_dim<D>).
using detail::tensor_facts;
/// The facts of tensors of spec S; .dual points to those of their gradients.
using detail::spec_facts;
/// What a dim's type says; its address stands for the dim.
using detail::dim_facts;
/// The facts of dim D.
using detail::facts_of_dim;
/// Where `cost` enters what one rank does, in its order: compute(flops, bytes through memory), and
/// for every collective collective(event_kind, mask of axes, bytes handed to MPI, bytes that a ring
/// sends); without the kind it is one of a kind that nobody knows. Each entry is an event of the
/// operation (ledger/event.hpp). Where data are watched, `cost` is asked on cores with data, too:
/// it then says what this rank computes.
using cost_counter = detail::tally;

/// What `transpose(const auto& to)` is given. Cores: to.ybar, the result's cotangent; to.x(k) and
/// to.y(i), operands and results, with elements where needs(k, ..), needs(-1, ..) said so (of
/// results but the first: always). To say what the cotangent of operand k is, if anybody wants it
/// (to.wants(k)): to.give(k, op, cores...), another operation of these; to.give_all(op), the
/// results of op are all wanted ones, from ybar and all operands; to.pass(k, core), this core,
/// which has the right form (to.is_like(k, core)). to.made(facts, op, cores...) is a core that
/// stands between. The layout of a cotangent follows from the operand's: dual_of(replicated) =
/// partial. Where gradients of gradients are wanted, what is given is recorded in turn; an
/// operation without a transpose, or a result but the first, that is read there is an error that
/// names the call.
using detail::pullback;

// ---- the rule -----------------------------------------------------------------------------------
//
//   template <class D> struct scale_rule {                 // of two operands, say
//     template <class X, class Y> struct dims {            // of the result: a list of dims, made
//       using type = X;                                    // of those of the operands
//     };
//     static constexpr outcome of(rule_operands x, dim_list out);   // out: these dims as values
//     using named = dim_types<D>;                          // optional: dims that the caller names
//   };                                                     // and faults may blame
//
// `of` is asked with what the types say while compiling, and of probes and runtime tensors when the
// program runs; where it then finds a fault, dimesh::error says the call, the fault and its
// culprits. Annotations ask it which dims belong together.

/// What a rule is asked about: x[k] is the tensor_facts of operand k, x.count says how many.
using detail::rule_operands;
/// Dims as values: out[i], out.size, out.place_of(d), out.has(d).
using detail::dim_list;
/// What a rule says: a layout over the result's dims, or a fault_code and its culprits; .ok().
using detail::outcome;
/// allowed(layout): the result has it. That of an operand is x[k].layout: axis_at(d, 0) is the axis
/// that splits the dim at place d, first_partial() one along which there are addends (or maxima),
/// halo[d].before and .after the widths of halos; -1 and 0 where there is none.
using detail::allowed;
/// blamed(fault_code, dim, axis), blamed(fault_code, dim, other dim, axis): the fault. Dims are of
/// operands or `named`, axes are places in the mesh.
using detail::blamed;
/// The fault of an axis alone.
using detail::blamed_axis;
/// The fault of operand k: meshes_differ, or one of its elements.
using detail::blamed_place;
/// table_over_dims(x[k].layout, x[k].dims(), out): a layout of some dims as one of others. What
/// split a dim that these lack splits nothing.
using detail::table_over_dims;
/// Types of dims as a list.
template <class... D> using dim_types = detail::list<D...>;
/// The base of rules whose results have the dims of their first operand.
using detail::keeps_dims;
/// The base of a rule that takes no complex elements: of_real_elements<my_rule>.
using detail::of_real_elements;
/// The result is like the first operand, whatever its layout.
using detail::like_rule;
/// The result is as of a sum over dims D: partial along the axes that split them.
template <Dim... D> using sum_rule = detail::reduce_rule<use::partial, true, D...>;
/// What addends may do where operands meet: of a nonlinear operation nothing; stay, of one operand
/// (linear); add up (sum); be multiplied (product) or divided (quotient) by one that has none.
using detail::join_kind;
/// Operands meet element by element, as in map: the result has all their dims, split alike.
using detail::elementwise_rule;
/// The same as a function, to be a part of a rule: join_rule(kind, x, out) over the dims `out`,
/// which hold all of the operands'.
using detail::join_rule;

// ---- the entry point ----------------------------------------------------------------------------

/// What a rule finds wrong with operands X..., as a type: no_fault, dim_is_split<hidden, cols>, ...
/// no_fault of poison, whose mistake has been told, and of probes, which are asked when they run.
using detail::fault_of;
/// apply_rule<Rule, T>(op, x...) runs an operation whose result has elements T and the layout that
/// the rule says: plainly, recorded where an operand is, or counted on shapes. The caller has
/// asserted that there is no fault; of probes and runtime tensors it is asked here, and throws
/// dimesh::error.
using detail::apply_rule;
/// apply_rules<T, Rule, More...>(op, x...): the same of several results, of elements T, by a rule
/// each. The caller gets the first one; the others serve the transpose.
using detail::apply_rules;

/// Without a rule: apply_as<S>(op, x...) has a result of spec S, or (S a list, `specs`) several, of
/// which the caller gets the first. It asks nothing about types, and does not take probes.
using detail::apply_as;
/// Specs of several results.
template <class... S> using specs = detail::list<S...>;
/// The same spec with elements T.
template <class S, class T> using with_element = detail::with_value<S, T>;
/// The spec without some dims, partial along the axes that split them: as of a sum over them.
template <class S, Dim... D>
using without_dims =
    detail::reduced_spec<use::partial, typename S::value_type, S, detail::list<D...>>;
/// The place of dim D in S, -1 if it has none.
template <class S, Dim D> inline constexpr int place_of = detail::index_of<D, typename S::dims>;
/// Is a tensor of spec S a sum (or maximum) yet to be made along some axis?
template <class S> inline constexpr bool is_partial = S::table.first_partial(true) >= 0;

}  // namespace dimesh
