// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get from one memory to another, say from the host to a device and back? Each
// memory has a mesh of its own, of the same axes over the same ranks: each rank copies its block.
//
//   struct pod : mesh<rows, cols> {};                               // where kernels run by default
//   struct near : mesh<rows, cols> { using space = host_space; };   // on the host
//   const auto y = to_space(x, near_grid);   // x under the same rules of layout, on that grid
//
// Where both are one memory nothing is copied: the result shares that of x. Between meshes of other
// axes there is relayout<layout>(x, grid).
#pragma once

#include "dimesh/create.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/op/parts/across.hpp"
#include "dimesh/op/parts/apply.hpp"
#include "dimesh/op/parts/far_grid.hpp"

namespace dimesh {

namespace detail {

/// Shares: both are one memory.
template <bool Shares> struct to_space_op {
  static constexpr std::string_view call = "to_space";
  static constexpr bool takes_complex = true;
  static constexpr int aliases = Shares ? 0 : -1;
  far_grid to_where;
  unsigned once = 0;
  cut_list cuts;

  /// To where `like` stands, of a tensor with these cuts.
  static constexpr to_space_op back(const tensor_core& like, const tensor_core& x) {
    return {far_grid::of(like), x.once, x.cuts};
  }
  constexpr void land(tensor_core& y) const {
    to_where.take(y);
    y.once = once;
    y.cuts = cuts;
  }
  void fill([[maybe_unused]] results y, [[maybe_unused]] operands x) const {
    if constexpr (!Shares)
      copy_between(y[0].memory.data(), y[0].facts->space, x[0].memory.data(), x[0].facts->space,
                   x[0].bytes());
  }
  constexpr void cost([[maybe_unused]] tally& t, results, [[maybe_unused]] operands x) const {
    if constexpr (!Shares) t.compute(0, 2 * x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, back(to.x(0), to.ybar), to.ybar); }
};

/// The same rules on another mesh of the same axes.
template <class L, class M> struct layout_on;
template <class M, class... Rules, class Other> struct layout_on<layout<M, Rules...>, Other> {
  using type = layout<Other, Rules...>;
};

/// What is no grid; one of a mesh of other axes; or sizes without ranks for data.
template <class X, class Where> struct space_fault {
  static constexpr auto find() {
    if constexpr (is_poison<X>) {
      return tag<no_fault>{};
    } else if constexpr (requires { typename mesh_of_where<Where>::type; }) {
      using from = typename X::mesh_type;
      using to = typename mesh_of_where<Where>::type;
      if constexpr (!std::is_same_v<typename from::axes, typename to::axes>)
        return tag<meshes_differ<from, to>>{};
      else if constexpr (!is_shaped<X> && std::is_same_v<Where, mesh_sizes<to>>)
        return tag<wrong_arguments<Where>>{};
      else
        return tag<no_fault>{};
    } else {
      return tag<wrong_arguments<Where>>{};
    }
  }
  using type = typename decltype(find())::type;
};

/// Throws dimesh::error, on every rank, unless both grids have their ranks at the same coordinates.
void require_same_ranks(const tensor_core& x, const far_grid& to);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void require_same_ranks(const tensor_core& x, const far_grid& to) {
  if (!x.is_shape) require_grid("to_space", x);
  const index_t* const sizes = x.is_shape ? to.sizes.data() : to.grid->sizes();
  bool same = x.is_shape || ranks_between(*x.grid, *to.grid, "to_space") == nullptr;
  for (int a = 0; a < x.layout().axes; ++a) same = same && sizes[a] == x.sizes()[a];
  if (!same)
    throw error(
        "to_space: the two grids have their ranks at other coordinates; make both of the same "
        "sizes over one communicator, or relayout<layout>(x, grid)");
}
#endif

template <class X, class Where> constexpr auto moved_to_space(const X& x, const Where& where) {
  using S = spec_of<X>;
  using to = typename mesh_of_where<Where>::type;
  using made = typename spec_of_list<typename S::value_type, typename S::dims,
                                     typename layout_on<typename S::layout, to>::type>::type;
  constexpr bool shares =
      facts_of_space(space_of<typename S::mesh>).memory == facts_of_space(space_of<to>).memory;
  const tensor_core& c = core_of(x);
  const to_space_op<shares> op{far_grid::of(where, c.is_shape), c.once, c.cuts};
  if (!std::is_constant_evaluated()) require_same_ranks(c, op.to_where);
  if constexpr (is_probe<X>) {
    const tensor_facts* const facts[] = {&facts_under(spec_facts<made>, c.layout())};
    return apply_on_cores(list<made>{}, facts, op, nullptr, x);
  } else {
    return apply_as<made>(op, x);
  }
}

}  // namespace detail

/// x on another grid, whose mesh has the same axes and may name another space: under the same
/// rules, addends, places and halos as they are. Local: each rank copies its block; nothing is
/// sent. Where both spaces are one memory the result shares that of x. Shapes: on a grid, or the
/// sizes, of such a mesh. Throws dimesh::error, on every rank, unless both grids have the same
/// sizes over the same ranks in one order.
template <Operand X, class Where> constexpr auto to_space(const X& x, const Where& where) {
  using fault = typename detail::space_fault<X, Where>::type;
  static_assert(ok<only<fault, meshes_differ>>,
                "to_space: the grid's mesh has other axes than the tensor's; list the same ones in "
                "both, or relayout<layout>(x, grid)");
  static_assert(ok<only<fault, wrong_arguments>>,
                "to_space: the second argument is the grid of a mesh in the other space; its sizes "
                "without ranks will do for shapes alone");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::moved_to_space(x, where);
}

}  // namespace dimesh
