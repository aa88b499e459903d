// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the operations that change a layout have in common? Each turns the layout of its operand
// into another one for the same dims. Here: from a rule on tables to the spec of the result, which
// axes take part, and what is wrong with the dims and axes a caller names.
//
//   relaid_spec<spec<float, layout<pod, split<batch, rows>>, batch>, without_axis<0>>
//     -> spec<float, layout<pod>, batch>
#pragma once

#include "dimesh/layout/box.hpp"
#include "dimesh/layout/route.hpp"
#include "dimesh/op/parts/apply.hpp"

namespace dimesh::detail {

/// The table as canonical layouts have it: `uneven` stays only where blocks may differ.
template <class M, class... D> constexpr table tidied(table t, list<D...>) {
  constexpr index_t extent[] = {D::extent..., 0};
  for (int d = 0; d < static_cast<int>(sizeof...(D)); ++d) {
    index_t ranks = 1;
    bool known = extent[d] != dynamic;
    for (int a = 0; a < t.axes; ++a)
      if (t.axis[a].what == use::split && t.axis[a].dim == d) {
        known = known && M::static_sizes[static_cast<std::size_t>(a)] != dynamic;
        ranks *= M::static_sizes[static_cast<std::size_t>(a)];
      }
    if (t.split_count(d) == 0 || (known && extent[d] % ranks == 0)) t.uneven[d] = false;
  }
  return t;
}

/// Rule::of(table) -> table is what an operation does to layouts.
template <class S, class Rule> struct relaid_table {
  static constexpr table result = tidied<typename S::mesh>(Rule::of(S::table), typename S::dims{});
};
/// The spec with the layout that a rule makes of its own.
template <class S, class Rule>
using relaid_spec = spec_of_table<typename S::value_type, typename S::mesh, typename S::dims,
                                  relaid_table<S, Rule>>;

/// The same elements and dims under layout L (canonical for them).
template <class S, class L>
using under = typename spec_of_list<typename S::value_type, typename S::dims, L>::type;

/// Rules: axes no longer split anything (or are no longer partial); axis A splits dim D at its
/// minor end.
template <unsigned Axes> struct without_axes {
  static constexpr table of(table t) {
    for (int a = 0; a < t.axes; ++a)
      if (Axes >> a & 1u) {
        if (t.axis[a].what == use::split)
          t.unsplit(a);
        else
          t.axis[a] = {};
      }
    return t;
  }
};
template <int A, int D, bool Uneven> struct with_split {
  static constexpr table of(table t) {
    if (t.axis[A].what == use::split) t.unsplit(A);
    t.set_split(A, D);
    t.uneven[D] = t.uneven[D] || Uneven;
    return t;
  }
};

/// The dim of uneven<D>, or D itself.
template <class D> using plain_dim = typename bare_dim<D>::type;

/// The sizes of the mesh axes, of a tensor with data or without.
template <class X> constexpr const index_t* sizes_of(const X& x) { return core_of(x).sizes(); }

/// Extents, mesh and coordinates of a tensor, with data or without.
constexpr placement placement_of(const tensor_core& x) {
  placement p;
  p.rank = x.rank();
  for (int d = 0; d < p.rank; ++d) p.extent[d] = x.extent(d);
  p.sizes = x.sizes();
  if (!x.is_shape) p.coords = x.grid->coords();
  return p;
}
template <Tensor X> constexpr placement placement_of(const X& x) {
  return placement_of(core_of(x));
}

/// The first dim whose blocks carry halos, and the fault that there is one.
template <class S> struct any_halo {
  static constexpr int find() {
    for (int d = 0; d < S::rank; ++d)
      if (S::table.halo[d] > 0) return d;
    return -1;
  }
};
template <class S, int D = any_halo<S>::find()> struct any_halo_fault {
  using type = dim_has_halo<type_at<D, typename S::dims>>;
};
template <class S> struct any_halo_fault<S, -1> {
  using type = no_fault;
};

/// The layout after gathering over these axes.
template <class X, unsigned Axes>
using gathered_layout = typename relaid_spec<spec_of<X>, without_axes<Axes>>::layout;

/// The layout with A splitting D (or uneven<D>) at its minor end.
template <class X, class D, class A>
using scattered_layout =
    typename relaid_spec<spec_of<X>, with_split<axis_index<typename spec_of<X>::mesh, A>,
                                                index_of<plain_dim<D>, typename spec_of<X>::dims>,
                                                bare_dim<D>::uneven>>::layout;

/// What is wrong when A, a From axis of x, is to split D (or uneven<D>) at its minor end.
template <class D, class A, class X, use From> struct scatter_fault {
  using S = spec_of<X>;
  using mesh = typename S::mesh;
  static constexpr auto find() {
    constexpr int a = axis_index<mesh, A>;
    if constexpr (a < 0)
      return tag<axis_not_in_mesh<A, mesh>>{};
    else if constexpr (index_of<plain_dim<D>, typename S::dims> < 0)
      return tag<dim_not_in_tensor<plain_dim<D>>>{};
    else if constexpr (S::table.axis[a].what != From && From == use::partial)
      return tag<axis_not_partial<A>>{};
    else if constexpr (S::table.axis[a].what != From)
      return tag<axis_not_replicated<A>>{};
    else if constexpr (any_halo<S>::find() >= 0)
      return tag<typename any_halo_fault<S>::type>{};
    else
      return tag<typename under<S, scattered_layout<X, D, A>>::fault>{};
  }
  using type = typename decltype(find())::type;
};
template <class D, class A, class X, use From>
  requires is_poison<X>
struct scatter_fault<D, A, X, From> {
  using type = no_fault;
};

}  // namespace dimesh::detail
