// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a matrix get to ScaLAPACK, and back, where its layout is none of ScaLAPACK's, or blocks
// are small, so that factorisations keep all ranks busy? It moves: into a block-cyclic array over
// any process grid, with blocks of any size, from any layout, and from there to any layout.
//
//   process_grid ranks = scalapack_grid(MPI_COMM_WORLD, 2, 2);    // that of Cblacs_gridinit, "Row"
//   array_descriptor a = {1, context, columns, rows, 64, 64, 0, 0, local_rows};   // or descinit_
//   to_scalapack_exchange(x[row, column], data, a, ranks);        // data: this rank's local array
//   pdgetrf_(...);
//   X y = from_scalapack_exchange<X>(grid, data, a, ranks);
//
// As where nothing moves (scalapack.hpp), the array is the tensor's transpose: its M_ rows are the
// second dim, its N_ columns the first. The array as it is has a tensor whose dims are in the
// other order. Elements travel if they change rank, each once, in one all-to-all; nothing is
// gathered. The array is the program's, on the host. No gradient.
#pragma once

#include <string>
#include <type_traits>

#include "dimesh/core/any_argument.hpp"
#include "dimesh/core/cuts_like.hpp"
#include "dimesh/core/tracked.hpp"
#include "dimesh/fill.hpp"
#include "dimesh/interop/host_block.hpp"
#include "dimesh/interop/scalapack_agree.hpp"
#include "dimesh/ledger/event.hpp"

namespace dimesh {

namespace detail {

/// A matrix whose blocks are its elements: no sums yet to be made, no neighbours' elements, and all
/// ranks have a part.
struct dealt_rule : keeps_dims {
  static constexpr outcome of(rule_operands x, dim_list) {
    if (const int a = x[0].layout.first_partial(); a >= 0)
      return blamed_axis(fault_code::partial_operand, a);
    if (x[0].placed != 0) return blamed_axis(fault_code::tensor_is_placed, first_axis(x[0].placed));
    if (const dim_facts* const d = haloed_dim(x[0]); d != nullptr)
      return blamed(fault_code::dim_has_halo, d);
    return allowed(x[0].layout);
  }
};
template <class X> struct dealt_fault {
  using type = wrong_arguments<X>;
};
template <class X>
  requires(spec_of<X>::rank == 2)
struct dealt_fault<X> {
  using type = spec_fault<dealt_rule, spec_of<X>>;
};

/// Of a layout that only the run knows. Throws where the type would be refused.
inline void require_dealt(const std::string& call, const tensor_core& x) {
  const tensor_facts& facts = *x.facts;
  if (x.layout().any_partial())
    throw error(call + ": partial_operand: ranks hold addends, and no elements; complete it first");
  if (facts.placed != 0)
    throw error(call +
                ": tensor_is_placed: the tensor lives at one place of an axis; broadcast it");
  if (const dim_facts* const d = haloed_dim(facts); d != nullptr)
    throw error(call + ": dim_has_halo: blocks of dim '" + std::string(d->name) + "' carry a halo");
}

}  // namespace detail

/// Writes x [a, b] to the block-cyclic array, of b x a, that its descriptor states, over a process
/// grid of ranks of x's grid: any of them, in any order, in a communicator over all. `data` is this
/// rank's local array, column by column, LLD_ apart, on the host; ranks without a process give
/// anything. What lies between columns stays. x may be cut in any way, and have copies.
/// Collective over the grid of x. Communicates: an all-reduce of 152 bytes, by which ranks agree on
/// the array, and one all-to-all, where any rank lacks anything; received bytes a rank: the
/// elements of its local array that are not in its block. Throws dimesh::error, on every rank,
/// where the descriptor is not one of x's transpose, differs between ranks, has too short an LLD_,
/// or the process grid is not of these ranks.
template <Tensor X>
void to_scalapack_exchange(const X& x, value_of<X>* data, const array_descriptor& given,
                           const process_grid& ranks) {
  using fault = typename detail::dealt_fault<X>::type;
  static_assert(ok<only<fault, wrong_arguments>>,
                "to_scalapack_exchange: an array of ScaLAPACK's is a matrix; give a tensor of two "
                "dims: merge others");
  static_assert(ok<only<fault, partial_operand>>,
                "to_scalapack_exchange: the tensor is a sum yet to be made; complete it first");
  static_assert(ok<only<fault, tensor_is_placed>>,
                "to_scalapack_exchange: the tensor lives at one place of this axis; broadcast it "
                "first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "to_scalapack_exchange: blocks of this dim carry a halo, which the array has not; "
                "give a tensor without it");
  if constexpr (ok<fault>) {
    const std::string call = "to_scalapack_exchange";
    const auto& plain = detail::untracked(x);
    const detail::tensor_core& c = detail::core_of(plain);
    detail::require_grid(call, c);
    detail::require_dealt(call, c);
    const running now(detail::watcher, "to_scalapack_exchange");
    const detail::communicator& everyone = c.grid->everyone();
    const detail::dealt_matrix m(
        detail::agreed_array(call, c, everyone, ranks, given, data != nullptr), c);
    const host_block block(plain);
    detail::move_dealt<false, value_of<X>>(everyone, m, block.data(), data);
  }
}

/// A tensor of type X on the grid: the transpose of a block-cyclic array, whose extents are the
/// descriptor's; those of the type, where it states them. The arguments are those of
/// to_scalapack_exchange; where ragged dims are cut say `cuts`. Under a layout with copies each
/// rank gets its own. Collective over the grid. Communicates as that does; received bytes a rank:
/// the elements of its block that are not in its local array. Throws dimesh::error, on every rank,
/// as that does, and where an extent cannot be cut evenly.
template <Tensor X, detail::HoldsCuts... Cuts>
X from_scalapack_exchange(const grid<typename X::mesh_type>& g, const value_of<X>* data,
                          const array_descriptor& given, const process_grid& ranks,
                          const Cuts&... cuts) {
  using fault = typename detail::dealt_fault<X>::type;
  static_assert(ok<only<fault, wrong_arguments>>,
                "from_scalapack_exchange: an array of ScaLAPACK's is a matrix; name a tensor of "
                "two dims");
  static_assert(ok<only<fault, partial_operand>>,
                "from_scalapack_exchange: the tensor would be a sum yet to be made; name a whole "
                "one");
  static_assert(ok<only<fault, tensor_is_placed>>,
                "from_scalapack_exchange: the tensor would live at one place of this axis; name "
                "one without a place, and `place` it");
  static_assert(ok<only<fault, dim_has_halo>>,
                "from_scalapack_exchange: blocks of this dim would carry a halo; name a tensor "
                "without it, then halo_exchange");
  if constexpr (ok<fault>) {
    using dims = typename spec_of<X>::dims;
    const std::string call = "from_scalapack_exchange";
    const running now(detail::watcher, "from_scalapack_exchange");
    const detail::communicator& everyone = g.everyone();
    const detail::tensor_core unmade(&detail::spec_facts<spec_of<X>>);
    detail::dealt_array array =
        detail::agreed_array(call, unmade, everyone, ranks, given, data != nullptr);
    const auto extent = [&array](int d) { return static_cast<int>(array.extent[d]); };
    X x(g, cuts..., detail::scalapack_extent<detail::type_at<0, dims>>(extent(0)),
        detail::scalapack_extent<detail::type_at<1, dims>>(extent(1)));
    detail::require_dealt(call, detail::core_of(x));
    detail::begin_to_fill(detail::core_of(x));
    const detail::dealt_matrix m(std::move(array), detail::core_of(x));
    const detail::opened memory;  // of a host: there the mirror is the block
    detail::is_settled(detail::host_reaches<detail::memory_of<typename X::mesh_type>>);
    const auto host = Kokkos::create_mirror_view(x.view());
    detail::move_dealt<true, value_of<X>>(everyone, m, host.data(), data);
    Kokkos::deep_copy(x.view(), host);
    return x;
  } else {
    return X{};
  }
}

/// Of poison there is nothing to move.
template <Operand X, class... A>
  requires is_poison<X>
void to_scalapack_exchange(const X&, const A&...) {}

namespace detail {
/// Why these arguments are none of from_scalapack_exchange<X>: an address of other elements, say.
template <class X, class... A> struct dealt_arguments_fault {
  using type = wrong_arguments<A...>;
};
template <Tensor X, class G, class T, class... A>
  requires(!std::is_same_v<std::remove_const_t<T>, value_of<X>> && !std::is_void_v<T>)
struct dealt_arguments_fault<X, G, T*, A...> {
  using type = elements_differ<value_of<X>, std::remove_const_t<T>>;
};
template <class X, class... A> inline constexpr bool takes_dealt = false;
template <Tensor X, class G, class T, class... Cuts>
inline constexpr bool takes_dealt<X, G, T, array_descriptor, process_grid, Cuts...> =
    std::is_same_v<G, grid<typename X::mesh_type>> &&
    std::is_convertible_v<T, const value_of<X>*> && (HoldsCuts<Cuts> && ...);
}  // namespace detail

/// An address of other elements.
template <Tensor X, class T>
  requires(!is_poison<X> && !std::is_same_v<std::remove_const_t<T>, value_of<X>>)
void to_scalapack_exchange(const X&, T*, const array_descriptor&, const process_grid&) {
  static_assert(ok<elements_differ<value_of<X>, T>>,
                "to_scalapack_exchange: the tensor's elements are of another type than the "
                "array's; cast<T>(x) first");
}
/// Arguments of other kinds, or in another order. (Functions of the user's that have these names
/// fit better: core/any_argument.hpp.)
template <class... No>
  requires(sizeof...(No) == 0)
void to_scalapack_exchange(detail::any_argument, detail::any_argument = {},
                           detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "to_scalapack_exchange: a tensor comes first, then the local array, its descriptor "
                "and a process grid: to_scalapack_exchange(x, data, desc, ranks)");
}
template <class X, class... A>
  requires(!detail::takes_dealt<X, std::decay_t<const A>...>)
auto from_scalapack_exchange(const A&...) {
  using fault = typename detail::dealt_arguments_fault<X, std::decay_t<const A>...>::type;
  static_assert(ok<std::conditional_t<Tensor<X>, only<fault, elements_differ>, no_fault>>,
                "from_scalapack_exchange: the tensor's elements are of another type than the "
                "array's; name a tensor of these, and cast it");
  static_assert(
      ok<std::conditional_t<Tensor<X>, only<fault, wrong_arguments>, not_a_tensor<X>>>,
      "from_scalapack_exchange: the tensor's type stands in the angle brackets, then come these: "
      "from_scalapack_exchange<X>(grid, data, desc, ranks)");
  if constexpr (Tensor<X>)
    return X{};
  else
    return poison{};
}
template <class... No>
  requires(sizeof...(No) == 0)
poison from_scalapack_exchange(detail::any_argument, detail::any_argument = {},
                               detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "from_scalapack_exchange: the tensor's type stands in the angle brackets, then "
                "come these: from_scalapack_exchange<X>(grid, data, desc, ranks)");
  return {};
}

}  // namespace dimesh
