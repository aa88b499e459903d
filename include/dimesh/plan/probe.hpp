// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program run under layouts that nobody compiled it for? On probes: shapes whose element
// and dims are types, and whose layout is a value. The same text runs as on tensors, once compiled
// for all layouts; what a type says elsewhere, and what it forbids, the run says here.
//
//   template <class L> struct network { ... };                        // of tensor<float, L, ...>
//   using any = layout<pod, at_run_time>;
//   for (const layout_value<pod>& l : all_layouts<pod, batch, hidden>())
//     count(step{}, probe_of<network<any>>(l, sizes), probe_of<probe<float, pod, batch>>(l, sizes))
//       -> a ledger, or dimesh::error: "einsum: dim_split_in_one_operand_only: ..."
#pragma once

#include <string>
#include <vector>

#include "dimesh/op/parts/goal.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

/// A tensor without data of elements T, dims D..., and a layout of mesh M that the run knows.
template <class T, Mesh M, Dim... D> using probe = tensor<T, layout<M, at_run_time>, D...>;

/// The rules of a layout, as a value.
template <Mesh M> class layout_value {
 public:
  /// Everything is replicated.
  layout_value() = default;
  /// Those that a type says.
  template <class... Rule> explicit layout_value(layout<M, Rule...> said) { add(said); }

  /// One rule (or several) more: add(layout<M, split<batch, rows>>{}).
  template <class... Rule> layout_value& add(layout<M, Rule...>) {
    (rules_.push_back(checked<Rule>()), ...);
    return *this;
  }
  /// Dim d is split over axes, which are places in the mesh, the major one first. Throws
  /// dimesh::error if the mesh has no such axis.
  layout_value& split(const detail::dim_facts& d, const std::vector<int>& axes) {
    detail::layout_rule r;
    r.kind = detail::rule_kind::split;
    r.dim = &d;
    for (const int a : axes) {
      if (a < 0 || a >= M::rank || r.axes == max_axes)
        (detail::words() << "layout_value: mesh '" << detail::name_of<M>() << "' has no axis " << a
                         << "; its axes are 0.." << M::rank - 1)
            .raise();
      r.axis[static_cast<int>(r.axes++)] = static_cast<signed char>(a);
    }
    rules_.push_back(r);
    return *this;
  }

  /// "split<batch, rows>, split<hidden, cols>", as the type would be written.
  std::string text() const {
    std::string all;
    for (const detail::layout_rule& r : rules_) all += (all.empty() ? "" : ", ") + said(r);
    return all;
  }
  /// What detail functions read. Refers to this object.
  detail::rule_list_view rules() const {
    return {rules_.data(), static_cast<int>(rules_.size()), M::rank, M::static_sizes.data()};
  }

 private:
  template <class Rule> static detail::layout_rule checked() {
    using foreign = typename detail::foreign_in_rule<M, Rule>::type;
    static_assert(ok<only<typename detail::foreign_fault<foreign, M>::type, axis_not_in_mesh>>,
                  "layout_value: a rule names an axis that the mesh lacks; name one of its axes");
    return detail::rule_value<M, Rule>::make();
  }
  static std::string said(const detail::layout_rule& r) {
    using detail::rule_kind;
    std::string out = r.kind == rule_kind::split           ? "split<"
                      : r.kind == rule_kind::split_if_free ? "split_if_free<"
                      : r.kind == rule_kind::spread        ? "spread<"
                      : r.what == use::partial             ? "partial<"
                      : r.what == use::placed              ? "placed<"
                      : r.what == use::partial_max         ? "partial_max<"
                                                           : "partial_min<";
    std::string first;
    if (r.dim != nullptr) first = std::string(r.dim->name);
    if (r.uneven) first = (r.ragged ? "ragged<" : "uneven<") + first + ">";
    if (r.halo.any())
      first = "halo<" + first + ", " + std::to_string(r.halo.before) +
              (r.halo.is_even() ? "" : ", " + std::to_string(r.halo.after)) + ">";
    out += first;
    for (int i = 0; i < r.axes; ++i)
      out += (i > 0 || r.dim != nullptr ? ", " : "") +
             std::string(detail::names<typename M::axes>::at[static_cast<int>(r.axis[i])]);
    if (r.what == use::placed) out += ", " + std::to_string(r.place);
    return out + ">";
  }
  std::vector<detail::layout_rule> rules_;
};

namespace detail {

/// One probe under rules; Beside: dims that share the layout with its own.
template <class X, Mesh M, class... Beside, class... E>
X one_probe(list<Beside...>, const layout_value<M>& rules, const mesh_sizes<M>& sizes,
            const E&... extents) {
  using S = spec_of<X>;
  constexpr dim_list own = dims_in<typename S::dims>;
  constexpr dim_list all = dims_in<united<typename S::dims, list<Beside...>>>;
  const outcome o = formed(draft_of(rules.rules(), all), all);
  if (!o.ok()) refuse_layout("tensor", o, o.axis < 0 ? "" : names<typename M::axes>::at[o.axis]);
  const auto shape = [&] {
    if constexpr (sizeof...(E) == 0)
      return typename X::shape_type{};
    else
      return typename X::shape_type(extents...);
  }();
  return X(sizes, shape, nullptr, &facts_under(spec_facts<S>, table_over_dims(o.layout, all, own)));
}

/// How many of the axes go to each of `dims` dims (or to none: dims), in every order.
template <class F>
void for_each_assignment(int axes, int dims, std::vector<std::vector<int>>& to, int axis,
                         const F& f) {
  if (axis == axes) return f(to);
  for_each_assignment(axes, dims, to, axis + 1, f);  // it replicates
  for (auto& chosen : to)
    for (std::size_t at = 0; at <= chosen.size(); ++at) {
      chosen.insert(chosen.begin() + static_cast<std::ptrdiff_t>(at), axis);
      for_each_assignment(axes, dims, to, axis + 1, f);
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

template <class Leaves> inline constexpr bool probes_only = false;
template <class... X> inline constexpr bool probes_only<list<X...>> = (is_probe<X> && ...);

}  // namespace detail

/// A probe, or a struct of probes (their layout is layout<M, at_run_time>), under rules. Sizes: of
/// the axes that have no static one. Extents: of the dims that have none. Beside: dims of other
/// tensors that must fit beside its own under the rules (split_if_free gives way to them). Throws
/// dimesh::error where a tensor cannot have the layout.
template <class X, Dim... Beside, Mesh M, Extents... E>
X probe_of(const layout_value<M>& rules, const mesh_sizes<M>& sizes, const E&... extents) {
  if constexpr (Tensor<X>) {
    static_assert(detail::is_probe<X>, "probe_of: this tensor's layout is a type; ask for a probe");
    if constexpr (detail::is_probe<X>)
      return detail::one_probe<X>(detail::list<Beside...>{}, rules, sizes, extents...);
    else
      return X();
  } else {
    static_assert(detail::probes_only<typename detail::leaves<X>::type>,
                  "probe_of: a tensor's layout is a type; make it one of probes");
    return build_tensors<X>([&](const auto&, auto made) {
      using type = typename decltype(made)::type;
      if constexpr (detail::is_probe<type>)
        return detail::one_probe<type>(detail::list<Beside...>{}, rules, sizes, extents...);
      else
        return type();
    });
  }
}

/// While it lives, layout<M, at_run_time> means these rules where a program names it as a goal:
/// relayout<layout<M, at_run_time>>(x), the compute layout of a model. In this thread; the
/// innermost counts.
template <Mesh M> class under_layout {
 public:
  explicit under_layout(const layout_value<M>& rules)
      : rules_(rules), here_(detail::type_number<M>, rules_.rules()) {}

 private:
  layout_value<M> rules_;
  detail::under_rules here_;
};

/// Every way to split dims D... over the axes of M, each axis splitting one of them or none.
template <Mesh M, Dim... D> std::vector<layout_value<M>> all_layouts() {
  constexpr detail::dim_list dims = detail::dims_in<detail::list<D...>>;
  std::vector<layout_value<M>> all;
  std::vector<std::vector<int>> to(sizeof...(D));
  detail::for_each_assignment(M::rank, dims.size, to, 0, [&](const auto& chosen) {
    layout_value<M> l;
    for (int d = 0; d < dims.size; ++d)
      if (const auto& axes = chosen[static_cast<std::size_t>(d)]; !axes.empty())
        l.split(*dims[d], axes);
    all.push_back(l);
  });
  return all;
}

}  // namespace dimesh
