// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do whole blocks change places along an axis? Every rank gives its block to the rank that a
// permutation of the coordinates names: one message each. The backward pass sends them back.
//
//   permute_along<rows>(x, [](index_t i) { return (i + 1) % 4; })    // the next one gets it
//   permute_along<rows>(x, std::array{1, 0, 3, 2})                   // pairs swap
//     -> like x; the block at coordinate perm(i) is the one that stood at i
//
// Blocks are equal, or ragged: then each takes its length along (op/parts/permute_ragged.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dimesh/collective/neighbors.hpp"
#include "dimesh/collective/point.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/detail/names.hpp"
#include "dimesh/op/parts/permute_ragged.hpp"
#include "dimesh/op/parts/transition.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

/// Elements T, along axis a. Of the permutation a rank knows where its block goes, whose it gets,
/// and whether any block moves, on which all ranks agree; shapes, whether that of the first does.
template <class T> struct permute_along_op {
  int a = 0, to = 0, from = 0;
  bool sends = false;
  static constexpr std::string_view call = "permute_along";
  static constexpr event_kind kind = event_kind::message;
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const {
    const communicator& c = x[0].grid->along(1u << a);
    const T* const in = x[0].data<T>();
    const index_t n = x[0].elements();
    if (to == c.rank()) collective::copy(in, y[0].data<T>(), n);
    if (c.size() == 1) return;
    collective::prepare(c, "permute_along", n, collective::wire_of<T>);
    if (to == c.rank() || n == 0) return;
    const collective::told here(kind, c, n * collective::wire_of<T>.size);
    collective::exchange(c, in, n, to, y[0].data<T>(), n, from, "permute_along");
  }
  void start(results y, operands x, flight& f) const {
    const communicator& c = x[0].grid->along(1u << a);
    const T* const in = x[0].data<T>();
    const index_t n = x[0].elements();
    if (to == c.rank()) collective::copy(in, y[0].data<T>(), n);
    if (c.size() == 1) return;
    f.axes = c.axes();
    collective::prepare(c, "permute_along", n, collective::wire_of<T>);
    const int tag = f.tag_of(c, 0);
    if (to == c.rank() || n == 0) return;
    thread_local std::vector<collective::message> out(1), in_from(1);
    out[0] = {to, {0, n}};
    in_from[0] = {from, {0, n}};
    collective::start_exchange_some(c, collective::wire_of<T>, collective::bytes_of(in), out,
                                    collective::bytes_of(y[0].data<T>()), in_from, "permute_along",
                                    tag, collective::most_per_call<T>, f.under_way);
  }
  bool only_messages(results, operands x) const { return to != x[0].grid->along(1u << a).rank(); }
  constexpr void cost(tally& t, results, operands x) const {
    const index_t bytes = x[0].bytes();
    if (sends && bytes > 0) t.collective(event_kind::message, 1u << a, bytes, bytes);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& way) const {
    way.give(0, permute_along_op{a, from, to, sends}, way.ybar);
  }
};

/// A splits a dim; blocks without halos.
template <class A> struct permute_along_rule : keeps_dims {
  using axes = list<A>;
  static constexpr outcome of(rule_operands x, dim_list) {
    const int a = x[0].axis_of(type_number<A>);
    if (a < 0) return blamed_place(fault_code::axis_not_in_mesh, 0);
    if (x[0].layout.axis[a].what != use::split)
      return blamed_axis(fault_code::axis_splits_nothing, a);
    return without_halos_only(x[0], allowed(x[0].layout));
  }
};

/// Where the block at coordinate i goes, as a function or a table says it.
template <class Perm> constexpr index_t sent_to(const Perm& perm, index_t i) {
  if constexpr (requires { perm(i); })
    return static_cast<index_t>(perm(i));
  else
    return static_cast<index_t>(perm[static_cast<std::size_t>(i)]);
}
template <class A> [[noreturn]] void refuse_permutation(const std::string& what, index_t size) {
  throw error("permute_along: along axis " + quoted<A>() + " " + what +
              "; each of the coordinates 0.." + std::to_string(size - 1) + " must be named once");
}
/// Where the block at a coordinate goes, whose comes, and does any block move at all?
struct seat_in_permutation {
  index_t to = 0, from = 0;
  bool any_moves = false;
};
/// Of coordinate `me`. Throws where the permutation is none.
template <class A, class Perm>
constexpr seat_in_permutation checked_permutation(const Perm& perm, index_t size, index_t me) {
  if constexpr (requires { perm.size(); })
    if (static_cast<index_t>(perm.size()) != size)
      refuse_permutation<A>("lie " + std::to_string(size) + " ranks, and the table has " +
                                std::to_string(perm.size()) + " entries",
                            size);
  // A bit for each coordinate that gets a block; few of them need no memory.
  std::uint64_t few = 0;
  std::vector<std::uint64_t> many(size > 64 ? static_cast<std::size_t>(size + 63) / 64 : 0);
  seat_in_permutation seat;
  for (index_t i = 0; i < size; ++i) {
    const index_t to = sent_to(perm, i);
    if (to < 0 || to >= size)
      refuse_permutation<A>(
          "the block at " + std::to_string(i) + " is sent to " + std::to_string(to), size);
    std::uint64_t& gets = many.empty() ? few : many[static_cast<std::size_t>(to) / 64];
    if (gets >> (to & 63) & 1u) {
      index_t before = 0;
      while (sent_to(perm, before) != to) ++before;
      refuse_permutation<A>("the blocks at " + std::to_string(before) + " and " +
                                std::to_string(i) + " are both sent to " + std::to_string(to),
                            size);
    }
    gets |= std::uint64_t{1} << (to & 63);
    if (i == me) seat.to = to;
    if (to == me) seat.from = i;
    seat.any_moves = seat.any_moves || to != i;
  }
  return seat;
}
/// Blocks that no table of cuts describes have one length, to change places: all ranks see alike
/// whether they have.
template <class A> constexpr void require_equal_blocks(const tensor_core& x, int a) {
  const auto d = static_cast<int>(x.layout().axis[a].dim);
  const index_t ranks = ranks_over(x.layout(), d, x.sizes());
  if (x.extent(d) % ranks == 0) return;
  throw error("permute_along: the " + std::to_string(x.extent(d)) + " elements of dim '" +
              std::string(x.facts->dim[d]->name) +
              "' are cut into blocks of different lengths by " + std::to_string(ranks) +
              " ranks along axis " + quoted<A>() +
              "; blocks that change places must be equal, or ragged");
}
/// The blocks that axis A splits may be ragged, for all that the type says.
template <class A, class X> constexpr bool may_be_ragged() {
  if constexpr (is_probe<X>)
    return true;
  else
    return spec_of<X>::table
        .ragged[spec_of<X>::table.axis[axis_index<typename spec_of<X>::mesh, A>].dim];
}
/// The permutation as a table.
template <class Perm> std::vector<index_t> permutation_table(const Perm& perm, index_t size) {
  std::vector<index_t> to;
  for (index_t i = 0; i < size; ++i) to.push_back(sent_to(perm, i));
  return to;
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(permute_along_op<float>, 0);
DIMESH_INSTANCE(permute_along_op<float>, 1);
DIMESH_INSTANCE(permute_along_op<double>, 0);
DIMESH_INSTANCE(permute_along_op<double>, 1);

}  // namespace detail

/// x with its blocks along A exchanged: the one at coordinate i goes to coordinate perm(i) (a
/// function), or perm[i] (a table with an entry for each). Shapes and layouts stay; ragged blocks
/// take their lengths along, so that the result has other cuts. Throws dimesh::error on all ranks
/// if perm is no permutation, or if blocks that are not ragged differ in length.
template <Axis A, Operand X, class Perm>
constexpr auto permute_along(const X& x, const Perm& perm) {
  using rule = detail::permute_along_rule<A>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "permute_along: the tensor's mesh lacks this axis; name one that splits a dim of the tensor");
  static_assert(ok<only<fault, axis_splits_nothing>>,
                "permute_along: the axis splits no dim of the tensor, so that there are no blocks "
                "to exchange along it; name one that does");
  static_assert(ok<only<fault, dim_has_halo>>,
                "permute_along: the blocks carry halos; exchange blocks before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("permute_along", x);
    constexpr int a = axis_index<typename spec_of<X>::mesh, A>;
    const detail::tensor_core& core = detail::core_of(x);
    if constexpr (detail::is_probe<X>)
      if (core.facts->sketched != nullptr)  // the rule refuses it: it has no blocks to look at
        return detail::apply_rule<rule, value_of<X>>(
            detail::permute_along_op<value_of<X>>{a, 0, 0, false}, x);
    if (!core.is_shape) detail::require_grid("permute_along", core);
    const index_t me = core.is_shape ? 0 : core.grid->coords()[a];
    const index_t size = core.sizes()[a];
    const auto seat = detail::checked_permutation<A>(perm, size, me);
    const bool sends = core.is_shape ? seat.to != me : seat.any_moves;
    if constexpr (detail::may_be_ragged<A, X>())
      if (const int d = core.layout().axis[a].dim; d >= 0 && core.layout().ragged[d])
        return detail::apply_rule<rule, value_of<X>>(
            detail::permute_ragged_op<value_of<X>>{
                a, static_cast<int>(seat.to), static_cast<int>(seat.from), sends,
                detail::far_grid::of(core),
                detail::permuted_cuts(core, a, detail::permutation_table(perm, size)), x.once()},
            x);
    detail::require_equal_blocks<A>(core, a);
    return detail::apply_rule<rule, value_of<X>>(
        detail::permute_along_op<value_of<X>>{a, static_cast<int>(seat.to),
                                              static_cast<int>(seat.from), sends},
        x);
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using permute_along_call = call_taking<one_axis, 2, a_tensor, no_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::permute_along_call, detail::list<N...>, A...>
constexpr poison permute_along(const A&...) {
  static_assert(ok<detail::misuse<detail::permute_along_call, detail::list<N...>, A...>>,
                "permute_along: an axis stands in the angle brackets, a tensor and who sends to "
                "whom in the parentheses: permute_along<rows>(x, f)");
  return {};
}
// A number says of one block where it goes.
template <Axis A, Operand X, class N>
  requires std::is_arithmetic_v<N>
constexpr poison permute_along(const X&, const N&) {
  static_assert(ok<wrong_arguments<X, N>>,
                "permute_along: each block has a place to go to, so write a function or a table: "
                "permute_along<rows>(x, [](index_t i) { return 1 - i; })");
  return {};
}

}  // namespace dimesh
