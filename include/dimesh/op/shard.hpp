// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program say of a few tensors how they lie, and leave the others to the compiler? By
// annotations (GShard: Lepikhin et al. 2020, section 3.2). A tensor in its place stays where it is,
// another one is moved.
//
//   shard<split<hidden, cols>>(h[batch/rows, hidden])     -> h[batch/rows, hidden/cols]
//   replicate<hidden>(h[batch/rows, hidden/cols])         -> h[batch/rows, hidden]
//   replicate(h)                                          -> h[batch, hidden]
//
// One dim split and all others whole: op/shard_along.hpp. What annotations imply for parameters and
// inputs: plan/annotate.hpp.
#pragma once

#include "dimesh/op/relayout.hpp"

namespace dimesh {

namespace detail {
template <class... Rule> std::string shard_text();
template <class... D> std::string replicate_text();
}  // namespace detail

// Annotations in errors and lists. In classes: of variables alone clang prints no arguments.

/// shard<Rule...>(x).
template <class... Rule> struct shard_of {
  static constexpr annotation_note said{&detail::shard_text<Rule...>};
};
/// replicate<D...>(x).
template <class... D> struct replicate_of {
  static constexpr annotation_note said{&detail::replicate_text<D...>};
};

/// What moves a tensor, or sums it.
enum class movement : signed char { all_reduce, reduce_scatter, all_gather, all_to_all, exchange };

namespace detail {

/// In the place of a rule: the dim is whole.
template <class D> struct kept_whole {};
template <class M, class D> struct rule_value<M, kept_whole<D>> {
  static constexpr layout_rule make() {
    layout_rule r;
    r.kind = rule_kind::split;
    r.dim = &facts_of_dim<D>;
    return r;
  }
};

template <class Rule> struct annotated_dim;
template <class D, class... A> struct annotated_dim<split<D, A...>> {
  using type = typename bare_dim<D>::type;
};
template <class D, class... A> struct annotated_dim<split_if_free<D, A...>> {
  using type = typename bare_dim<D>::type;
};
template <class D> struct annotated_dim<kept_whole<D>> {
  using type = D;
};
template <class Rule>
inline constexpr bool is_annotation = requires { typename annotated_dim<Rule>::type; };

/// Rules as they are written.
template <class D, class... A> std::string rule_text(std::string_view call) {
  using bare = bare_dim<D>;
  const std::string name(name_of<typename bare::type>());
  std::string all(call);
  all += bare::ragged   ? "<ragged<" + name + ">"
         : bare::uneven ? "<uneven<" + name + ">"
                        : "<" + name;
  ((all += ", " + std::string(name_of<A>())), ...);
  return all + ">";
}
template <class D, class... A> std::string text_of_rule(split<D, A...>) {
  return rule_text<D, A...>("split");
}
template <class D, class... A> std::string text_of_rule(split_if_free<D, A...>) {
  return rule_text<D, A...>("split_if_free");
}
template <class... Rule> std::string shard_text() {
  std::string all;
  ((all += (all.empty() ? "" : ", ") + text_of_rule(Rule{})), ...);
  return "shard<" + all + ">";
}
template <class... D> std::string replicate_text() {
  std::string all;
  ((all += (all.empty() ? "" : ", ") + std::string(name_of<D>())), ...);
  return all.empty() ? "replicate" : "replicate<" + all + ">";
}

/// What is wrong with the rules themselves.
template <class M, class Rule> struct annotation_fault_of {
  using type =
      typename first_of<typename rule_fault<Rule>::type,
                        std::conditional_t<is_annotation<Rule>, no_fault, not_a_rule<Rule>>>::type;
};
template <class M, class D> struct annotation_fault_of<M, kept_whole<D>> {
  using type = dim_fault<D>;
};
template <class Dims, class Rule> struct absent_dim_fault {
  using dim = typename annotated_dim<Rule>::type;
  using type = std::conditional_t<(index_of<dim, Dims> < 0), dim_not_in_tensor<dim>, no_fault>;
};
/// Of rules that are none: nothing.
template <class Kinds, class X, class... Rule> struct annotation_place_fault {
  using type = Kinds;
};
template <class X, class... Rule> struct annotation_place_fault<no_fault, X, Rule...> {
  using mesh = typename spec_of<X>::mesh;
  using type = typename first_of<
      typename foreign_fault<typename foreign_in_rules<mesh, Rule...>::type, mesh>::type,
      typename absent_dim_fault<typename spec_of<X>::dims, Rule>::type...>::type;
};
template <class X, class... Rule>
struct annotation_faults
    : annotation_place_fault<typename first_of<typename annotation_fault_of<
                                 typename spec_of<X>::mesh, Rule>::type...>::type,
                             X, Rule...> {};
template <class X, class... Rule>
using annotation_fault = unless_poison<X, annotation_faults<X, Rule...>>;

/// Dims that are named get their rules, sums are made, other dims stay.
template <class M, class... Rule> struct shard_rule : keeps_dims {
  using named = list<typename annotated_dim<Rule>::type...>;
  static constexpr layout_rule at[sizeof...(Rule) + 1] = {rule_value<M, Rule>::make()...,
                                                          layout_rule{}};
  static constexpr rule_list_view rules{at, sizeof...(Rule), M::rank, M::static_sizes.data()};

  static constexpr outcome of(rule_operands x, dim_list out) {
    draft d;
    d.t = without_axes(x[0].layout, all_partial(x[0].layout));
    for (int i = 0; i < rules.size; ++i) {
      const int dim = out.place_of(at[i].dim);
      if (dim < 0) return blamed(fault_code::dim_not_in_tensor, at[i].dim);
      for (int k = 0; k < i; ++k)
        if (same_dim(at[k].dim, at[i].dim)) return blamed(fault_code::dim_repeated, at[i].dim);
      d.t = without_axes(d.t, d.t.axes_of(dim));
    }
    for (int i = 0; i < rules.size; ++i)
      if (at[i].kind == rule_kind::split) draft_split(d, at[i], out);
    for (int i = 0; i < rules.size; ++i)
      if (at[i].kind == rule_kind::split_if_free) draft_yielding(d, at[i], out);
    settle(d, out, x[0].axis_sizes());
    const outcome o = formed(d, out);
    return o.ok() ? goal_rule_of(x[0], o.layout, true) : o;
  }
};

template <class Rule, class X> constexpr auto sharded_as(const annotation_note& note, const X& x) {
  if constexpr (is_probe<X>) {
    if (sketch_value* const s = core_of(x).facts->sketched; s != nullptr) {
      sketch_value& said = s->in->annotate(*s, Rule::rules, &note);
      said.is_recorded = is_tracked<X>;
      X y(x);
      core_of(y).facts = &said.facts;
      return y;
    }
    return walk_probe<Rule>(x);
  } else {
    return relayout<typename result_spec<Rule, value_of<X>, spec_of<X>>::layout>(x);
  }
}
template <class X, class Dims> struct whole_rules;
template <class X, class... D> struct whole_rules<X, list<D...>> {
  using type = shard_rule<typename spec_of<X>::mesh, kept_whole<D>...>;
};

}  // namespace detail

/// x with dims split as rules say (split, split_if_free); the dims that they do not name stay as
/// they are, sums yet to be made are made. Shapes stay. Communicates as relayout does, where x is
/// not in its place.
template <class... Rule, Operand X> constexpr auto shard(const X& x) {
  using kinds = detail::annotation_fault<X, Rule...>;
  static_assert(ok<only<kinds, not_a_rule, not_a_dim, not_an_axis, split_without_axis>>,
                "shard: an annotation is a list of split<dim, axis> or split_if_free<dim, axis>; "
                "to make a dim whole, say replicate<dim>(x)");
  static_assert(ok<only<kinds, axis_not_in_mesh>>,
                "shard: a rule names an axis that the tensor's mesh lacks; name one of its axes");
  static_assert(ok<only<kinds, dim_not_in_tensor>>,
                "shard: the tensor lacks a dim that the annotation splits; name one of its dims");
  if constexpr (!ok<kinds> || is_poison<X>) {
    return poison{};
  } else {
    using rule = detail::shard_rule<typename spec_of<X>::mesh, Rule...>;
    using fault = detail::fault_of<rule, X>;
    static_assert(ok<only<fault, dim_repeated>>,
                  "shard: the annotation has two rules for one dim; name it once, with all of its "
                  "axes");
    static_assert(ok<only<fault, dims_share_mesh_axis, axis_used_twice>>,
                  "shard: the annotation splits a dim over an axis that another dim or place has; "
                  "replicate<dim> that one first");
    static_assert(ok<only_not_divisible<fault>>,
                  "shard: the extent of a split dim is not a multiple of its mesh axes; change "
                  "one, or split uneven<dim>");
    static_assert(ok<only<fault, element_not_summable>>,
                  "shard: ranks cannot add up elements of this type; cast the tensor first");
    static_assert(ok<only<fault, partial_operand, dim_has_halo>>,
                  "shard: the tensor holds halos, or maxima or minima of parts; complete it, or "
                  "annotate it before");
    if constexpr (!ok<fault>)
      return poison{};
    else
      return detail::sharded_as<rule>(shard_of<Rule...>::said, x);
  }
}

/// x with dims D... whole on every rank (none named: all of them); other dims stay, sums yet to be
/// made are made. Shapes stay. Communicates as relayout does, where x is not whole.
template <class... D, Operand X> constexpr auto replicate(const X& x) {
  using kinds = detail::annotation_fault<X, detail::kept_whole<D>...>;
  static_assert(ok<only<kinds, not_a_dim>>,
                "replicate: something that is no dim is to be whole; name dims of the tensor");
  static_assert(ok<only<kinds, dim_not_in_tensor>>,
                "replicate: the tensor lacks a dim that is to be whole; name dims of the tensor");
  if constexpr (!ok<kinds> || is_poison<X>) {
    return poison{};
  } else {
    using dims =
        std::conditional_t<sizeof...(D) == 0, typename spec_of<X>::dims, detail::list<D...>>;
    using rule = typename detail::whole_rules<X, dims>::type;
    using fault = detail::fault_of<rule, X>;
    static_assert(ok<only<fault, dim_repeated>>,
                  "replicate: a dim that is to be whole is named twice; name it once");
    static_assert(ok<only<fault, element_not_summable>>,
                  "replicate: ranks cannot add up elements of this type; cast the tensor first");
    static_assert(ok<only<fault, partial_operand, dim_has_halo>>,
                  "replicate: the tensor holds halos, or maxima or minima of parts; complete it, "
                  "or annotate it before");
    if constexpr (!ok<fault>)
      return poison{};
    else
      return detail::sharded_as<rule>(replicate_of<D...>::said, x);
  }
}

}  // namespace dimesh
