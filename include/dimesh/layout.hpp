// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which dim is split over which axis? A layout is a list of rules for one mesh; axes that no rule
// names replicate. One list can serve a whole program: a tensor keeps only the rules that concern
// its dims, and says what is wrong with them (canonical.hpp).
//
//   using hybrid = layout<pod, split<batch, rows>, split<hidden, cols>>;
#pragma once

#include "dimesh/layout/shape.hpp"
#include "dimesh/mesh.hpp"

namespace dimesh {

/// Dim D is cut into blocks over axes A..., the first being the major one.
template <class D, class... A> struct split {};
/// In split<uneven<D>, A>: blocks of ceil(n/p), the last ones shorter or empty.
template <class D> struct uneven {};
/// In split<ragged<D>, A>: blocks of the lengths that a table of cuts says (op/cuts.hpp), which may
/// be any, 0 too.
template <class D> struct ragged {};
namespace detail {
/// Said once, where the type is named; what follows takes them for 0.
template <index_t Before, index_t After> constexpr bool are_halo_widths() {
  constexpr index_t least = Before < After ? Before : After, most = Before < After ? After : Before;
  constexpr bool is_width = least >= 0 && most <= max_halo;
  static_assert(is_width, "halo: the width is a number from 0 to max_halo; choose one");
  return is_width;
}
}  // namespace detail
/// In split<halo<D, Before, After>, A>: each block also holds so many elements of its neighbours,
/// before it and after it along D; halo<D, W> has W of either. (Widths are checked where the type
/// is named.)
template <class D, index_t Before, index_t After = Before,
          bool = detail::are_halo_widths<Before, After>()>
struct halo {};
/// As split<D, A...>, but only in tensors where no other rule uses one of these axes: sequence
/// parallelism splits the length wherever heads, or the hidden layer, are not split.
template <class D, class... A> struct split_if_free {};
/// Axis A splits the first dim that it divides evenly: optimizer state and parameters under ZeRO.
template <class A> struct spread {};
/// Only the ranks at coordinate K of axis A hold the tensor; the others hold nothing of it and
/// compute nothing with it: a stage of a pipeline, a server.
template <class A, index_t K> struct placed {};
/// Every rank along A holds an addend of the full shape; the value is their sum.
template <class A> struct partial {};
/// Likewise with the maximum (minimum) in place of the sum; only `complete` accepts these.
template <class A> struct partial_max {};
template <class A> struct partial_min {};

/// In layout<M, at_run_time>: tensors of this layout are probes, shapes whose layout is a value
/// that only the run knows (plan/probe.hpp). Dims: those beside which a tensor is laid out.
template <class... Dims> struct at_run_time_beside {};
using at_run_time = at_run_time_beside<>;
/// In layout<M, held_at_run_time>: likewise, of tensors with elements (plan/runtime_tensor.hpp).
struct held_at_run_time {};

/// For mesh M: what each axis does.
template <class M, class... Rule> struct layout {
  using mesh = M;
};

namespace detail {
template <class L> inline constexpr bool is_layout = false;
template <class M, class... Rule> inline constexpr bool is_layout<layout<M, Rule...>> = true;
/// Its tensors are probes.
template <class L> inline constexpr bool is_at_run_time = false;
template <class M, class... D>
inline constexpr bool is_at_run_time<layout<M, at_run_time_beside<D...>>> = true;

template <class L, class... Rule> struct layout_with_impl;
template <class M, class... Has, class... Rule>
struct layout_with_impl<layout<M, Has...>, Rule...> {
  using type = layout<M, Has..., Rule...>;
};
template <template <class> class Modifier, class L, class... Rule>
  requires(!is_layout<Modifier<L>>)
struct layout_with_impl<Modifier<L>, Rule...> {
  using type = Modifier<typename layout_with_impl<L, Rule...>::type>;
};
}  // namespace detail

/// A layout<M, Rule...>.
template <class L> concept Layout = detail::is_layout<L>;

/// L and further rules; of a modified layout, as gradient<L>, the same inside. So a struct with one
/// layout can have members that live on different stages: layout_with<L, placed<stage, 1>>.
template <class L, class... Rule>
using layout_with = typename detail::layout_with_impl<L, Rule...>::type;

}  // namespace dimesh
