// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program say of a tensor that one dim is split, and nothing else? By the annotation
// that GShard calls split(t, dim, n) (Lepikhin et al. 2020, section 3.2). The axes are named; or so
// many ranks are, and the mesh has an axis with as many.
//
//   shard_along<expert, rows>(h[expert, batch/rows])   -> h[expert/rows, batch], by an all-to-all
//   shard_along<expert, 4>(h[expert, batch/rows])      -> the same, where rows has 4 ranks
#pragma once

#include "dimesh/op/shard.hpp"

namespace dimesh {

namespace detail {
template <class D, class... A> std::string shard_along_text();
}

/// So many, in faults.
template <long N> struct ranks_in_all;

/// shard_along<D, A...>(x).
template <class D, class... A> struct shard_along_of {
  static constexpr annotation_note said{&detail::shard_along_text<D, A...>};
};

namespace detail {

template <class D, class... A> std::string shard_along_text() {
  return rule_text<D, A...>("shard_along");
}
/// One dim by a rule, the others whole.
template <class X, class Rule, class Others> struct along_rules;
template <class X, class Rule, class... D> struct along_rules<X, Rule, list<D...>> {
  using type = shard_rule<typename spec_of<X>::mesh, kept_whole<D>..., Rule>;
};

/// The first axis of M with n ranks, else the first neighbours with so many in all: [begin, end).
struct axis_range {
  int begin = 0, end = 0;
};
template <class M> constexpr axis_range axes_of_size(index_t n) {
  for (int many = 1; many <= M::rank; ++many)
    for (int a = 0; a + many <= M::rank; ++a) {
      index_t ranks = 1;
      for (int i = a; i < a + many; ++i) {
        const index_t size = M::static_sizes[static_cast<std::size_t>(i)];
        ranks = size == dynamic ? 0 : ranks * size;
      }
      if (ranks == n) return {a, a + many};
    }
  return {};
}
template <class X, index_t N> struct axes_of_size_fault {
  using mesh = typename spec_of<X>::mesh;
  using type = std::conditional_t<(axes_of_size<mesh>(N).end > 0), no_fault,
                                  no_axes_of_size<mesh, ranks_in_all<static_cast<long>(N)>>>;
};

}  // namespace detail

/// x with dim D split over axes A..., and all others whole; sums yet to be made are made. Shapes
/// stay. Communicates as relayout does, where x is not in its place: an all-to-all where A... split
/// another dim.
template <class D, class... A, Operand X> constexpr auto shard_along(const X& x) {
  using kinds = detail::annotation_fault<X, split<D, A...>>;
  static_assert(ok<only<kinds, not_a_dim, not_an_axis, split_without_axis>>,
                "shard_along: wanted are a dim and the axes that split it, or a number of ranks: "
                "shard_along<dim, axis>(x), shard_along<dim, 4>(x)");
  static_assert(ok<only<kinds, axis_not_in_mesh>>,
                "shard_along: the tensor's mesh lacks an axis; name one of its axes");
  static_assert(ok<only<kinds, dim_not_in_tensor>>,
                "shard_along: the tensor lacks the dim to be split; name one of its dims");
  if constexpr (!ok<kinds> || is_poison<X>) {
    return poison{};
  } else {
    using others =
        typename detail::remaining<typename spec_of<X>::dims,
                                   detail::list<typename detail::bare_dim<D>::type>>::type;
    using rule = typename detail::along_rules<X, split<D, A...>, others>::type;
    using fault = detail::fault_of<rule, X>;
    static_assert(ok<only<fault, axis_used_twice>>,
                  "shard_along: an axis is named twice, or the tensor lives at one place of it; "
                  "name other axes");
    static_assert(ok<only_not_divisible<fault>>,
                  "shard_along: the extent of the dim is not a multiple of its mesh axes; change "
                  "one, or split uneven<dim>");
    static_assert(ok<only<fault, element_not_summable>>,
                  "shard_along: ranks cannot add up elements of this type; cast the tensor first");
    static_assert(ok<only<fault, partial_operand, dim_has_halo>>,
                  "shard_along: the tensor holds halos, or maxima or minima of parts; complete it, "
                  "or annotate it before");
    if constexpr (!ok<fault>)
      return poison{};
    else
      return detail::sharded_as<rule>(shard_along_of<D, A...>::said, x);
  }
}
/// The same over the axis of the mesh that has N ranks, or the first neighbours that have so many
/// in all. Their sizes are static.
template <class D, index_t N, Operand X> constexpr auto shard_along(const X& x) {
  using fault = detail::unless_poison<X, detail::axes_of_size_fault<X, N>>;
  static_assert(ok<only<fault, no_axes_of_size>>,
                "shard_along: no axis of the mesh, and no neighbours, have so many ranks by their "
                "types; name the axes: shard_along<dim, axis>(x)");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    using axes = typename spec_of<X>::mesh::axes;
    constexpr detail::axis_range at = detail::axes_of_size<typename spec_of<X>::mesh>(N);
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return shard_along<D, detail::type_at<at.begin + I, axes>...>(x);
    }(std::make_integer_sequence<int, at.end - at.begin>{});
  }
}

}  // namespace dimesh
