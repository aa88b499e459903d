// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When are two layouts the same? When they say the same of a tensor's dims: each tensor keeps only
// the rules that concern it, in mesh order. And what is wrong with a layout that cannot be?
//
//   using hybrid = layout<pod, split<hidden, cols>, split<batch, rows>>;
//   canonical<hybrid, batch, hidden>  -> layout<pod, split<batch, rows>, split<hidden, cols>>
//   canonical<hybrid, batch, label>   -> layout<pod, split<batch, rows>>
//   layout_fault<hybrid, batch, batch>  -> dim_repeated<batch>
#pragma once

#include "dimesh/layout/draft.hpp"
#include "dimesh/layout/layout_types.hpp"

namespace dimesh::detail {

template <class L, class Dims> struct draft_table {
  static constexpr table result = drafted<L, Dims>::result.t;
};

/// The first axis of a rule that the mesh lacks, or void.
template <class M, class... A> struct foreign_axis {
  using type = void;
};
template <class M, class A, class... Rest> struct foreign_axis<M, A, Rest...> {
  using type =
      typename std::conditional_t<(axis_index<M, A> < 0), tag<A>, foreign_axis<M, Rest...>>::type;
};
template <class M, class Rule> struct foreign_in_rule {
  using type = void;
};
template <class M, class D, class... A>
struct foreign_in_rule<M, split<D, A...>> : foreign_axis<M, A...> {};
template <class M, class D, class... A>
struct foreign_in_rule<M, split_if_free<D, A...>> : foreign_axis<M, A...> {};
template <class M, class A> struct foreign_in_rule<M, spread<A>> : foreign_axis<M, A> {};
template <class M, class A> struct foreign_in_rule<M, partial<A>> : foreign_axis<M, A> {};
template <class M, class A, index_t K>
struct foreign_in_rule<M, placed<A, K>> : foreign_axis<M, A> {};
template <class M, class A> struct foreign_in_rule<M, partial_max<A>> : foreign_axis<M, A> {};
template <class M, class A> struct foreign_in_rule<M, partial_min<A>> : foreign_axis<M, A> {};

template <class M, class... Rule> struct foreign_in_rules {
  using type = void;
};
template <class M, class Rule, class... Rest> struct foreign_in_rules<M, Rule, Rest...> {
  using here = typename foreign_in_rule<M, Rule>::type;
  using type = typename std::conditional_t<std::is_void_v<here>, foreign_in_rules<M, Rest...>,
                                           tag<here>>::type;
};

template <class Foreign, class M> struct foreign_fault {
  using type = axis_not_in_mesh<Foreign, M>;
};
template <class M> struct foreign_fault<void, M> {
  using type = no_fault;
};

template <class Drafted, class M, class Dims, fault_code> struct draft_fault {
  using type = no_fault;
};
template <class R, class M, class Dims>
struct draft_fault<R, M, Dims, fault_code::axis_used_twice> {
  using type = axis_used_twice<type_at<R::result.axis, typename M::axes>>;
};
template <class R, class M, class Dims>
struct draft_fault<R, M, Dims, fault_code::dim_has_two_rules> {
  using type = dim_has_two_rules<type_at<R::result.first, Dims>>;
};
template <class R, class M, class Dims>
struct draft_fault<R, M, Dims, fault_code::dims_share_mesh_axis> {
  using type = dims_share_mesh_axis<type_at<R::result.first, Dims>, type_at<R::result.second, Dims>,
                                    type_at<R::result.axis, typename M::axes>>;
};
template <class R, class M, class Dims>
struct draft_fault<R, M, Dims, fault_code::extent_not_divisible> {
  using culprit = type_at<R::result.first, Dims>;
  using type = extent_not_divisible<culprit, static_extent<culprit>,
                                    type_at<R::result.axis, typename M::axes>, R::result.size>;
};

template <class R, class M, class Dims>
struct draft_fault<R, M, Dims, fault_code::place_not_on_axis> {
  using type = place_not_on_axis<type_at<R::result.axis, typename M::axes>>;
};

template <class D> struct repeated_fault {
  using type = dim_repeated<D>;
};
template <> struct repeated_fault<void> {
  using type = no_fault;
};

template <class Dims> struct repeated_fault_of;
template <class... D>
struct repeated_fault_of<list<D...>> : repeated_fault<typename first_repeated<D...>::type> {};

// ---- names of a kind that does not fit its place ------------------------------------------------

template <class D> using dim_fault = std::conditional_t<Dim<D>, no_fault, not_a_dim<D>>;
template <class A> using axis_fault = std::conditional_t<Axis<A>, no_fault, not_an_axis<A>>;

template <class R> struct rule_fault {
  using type = not_a_rule<R>;
};
/// Over no axis a split can only say that there is a halo.
template <class D, class... A> struct split_fault {
  using dim = typename bare_dim<D>::type;
  static constexpr bool says_something = sizeof...(A) > 0 || bare_dim<D>::halo.any();
  using type = typename first_of<
      dim_fault<dim>, axis_fault<A>...,
      std::conditional_t<says_something, no_fault, split_without_axis<dim>>>::type;
};
template <class D, class... A> struct rule_fault<split<D, A...>> : split_fault<D, A...> {};
template <class D, class... A> struct rule_fault<split_if_free<D, A...>> : split_fault<D, A...> {};
template <class... D> struct rule_fault<at_run_time_beside<D...>> {
  using type = no_fault;
};
template <class A> struct rule_fault<spread<A>> : first_of<axis_fault<A>> {};
template <class A> struct rule_fault<partial<A>> : first_of<axis_fault<A>> {};
template <class A, index_t K> struct rule_fault<placed<A, K>> : first_of<axis_fault<A>> {};
template <class A> struct rule_fault<partial_max<A>> : first_of<axis_fault<A>> {};
template <class A> struct rule_fault<partial_min<A>> : first_of<axis_fault<A>> {};

/// What stands in the wrong place of a layout, whatever the tensor.
template <class L> struct kind_fault {
  using type = not_a_layout<L>;
};
template <class M, class... Rule> struct kind_fault<layout<M, Rule...>> {
  using type = typename first_of<std::conditional_t<Mesh<M>, no_fault, not_a_mesh<M>>,
                                 typename rule_fault<Rule>::type...>::type;
};

/// Of no layout, or one whose rules are not rules: that.
template <class L, class Dims, class Kind = typename kind_fault<L>::type> struct formation {
  using fault = Kind;
};
template <class M, class... Rule, class... D>
struct formation<layout<M, Rule...>, list<D...>, no_fault> {
  using drafts = drafted<layout<M, Rule...>, list<D...>>;
  using fault = typename first_of<
      typename repeated_fault_of<list<D...>>::type,
      typename foreign_fault<typename foreign_in_rules<M, Rule...>::type, M>::type,
      typename draft_fault<drafts, M, list<D...>, drafts::result.found>::type>::type;
};

template <bool Ok, class L, class Dims> struct canonical_impl {
  using type = L;  // faulty: kept as it stands, the tensor says what is wrong with it
};
template <class L, class Dims> struct canonical_impl<true, L, Dims> {
  using type = layout_type<typename L::mesh, Dims, draft_table<L, Dims>>;
};

/// A layout of which only the run knows what it says of these dims.
template <class M, class... E, class... D>
struct formation<layout<M, at_run_time_beside<E...>>, list<D...>, no_fault> {
  using fault = typename repeated_fault_of<list<D...>>::type;
};
template <class M, class... D> struct canonical_impl<true, layout<M, at_run_time>, list<D...>> {
  using type = layout<M, at_run_time_beside<D...>>;
};
template <class M, class First, class... E, class... D>
struct canonical_impl<true, layout<M, at_run_time_beside<First, E...>>, list<D...>> {
  using type = layout<M, at_run_time_beside<First, E...>>;
};

}  // namespace dimesh::detail

namespace dimesh {

/// What is wrong with a tensor of dims D... under layout L; no_fault if nothing.
template <class L, class... D>
using layout_fault = typename detail::formation<L, detail::list<D...>>::fault;

/// The rules of L that concern D..., in mesh order.
template <class L, Dim... D>
using canonical =
    typename detail::canonical_impl<ok<layout_fault<L, D...>>, L, detail::list<D...>>::type;

}  // namespace dimesh
