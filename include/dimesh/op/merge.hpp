// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do several dims become one, and one several? Without moving an element: neighbours in storage
// are read as one dim, and the other way round. The first of them may be split, and stays so.
//
//   merge<token, batch, length>(x[batch/rows, length, hidden])  -> [token/rows, hidden]
//   cut<hidden, head, feature>(x[batch, hidden/cols])           -> [batch, head/cols, feature]
//   cut<token, row, col>(x, col{8})                             dims whose extents the run says
#pragma once

#include "dimesh/op/parts/transition.hpp"
#include "dimesh/op/refusals/misuse_of_merge.hpp"

namespace dimesh {

namespace detail {

/// Dims and how many elements each has.
struct named_extents {
  const dim_facts* dim[max_dims]{};
  index_t n[max_dims]{};
  int count = 0;

  constexpr void add(const dim_facts* d, index_t elements) {
    dim[count] = d;
    n[count++] = elements;
  }
};

/// The same elements, in order, over other dims.
struct reshape_op {
  named_extents to;  // those that the operand lacks
  std::string_view call = "merge";

  static constexpr bool takes_complex = true;
  static constexpr int aliases = 0;
  constexpr index_t extent_of(const dim_facts* d) const {
    for (int i = 0; i < to.count; ++i)
      if (same_dim(d, to.dim[i])) return to.n[i];
    return dynamic;
  }
  constexpr void cost(tally&, results, operands) const {}
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& back) const {
    named_extents its;
    const tensor_core& x = back.x(0);
    for (int d = 0; d < x.rank(); ++d) its.add(x.facts->dim[d], x.extent(d));
    back.give(0, reshape_op{its, call}, back.ybar);
  }
};

/// Dims with To where First is, and without Rest...
template <class To, class First, class Rest, class Dims> struct merged_dims;
template <class To, class First, class... Rest, class... D>
struct merged_dims<To, First, list<Rest...>, list<D...>> {
  template <class E>
  using one =
      std::conditional_t<std::is_same_v<E, First>, list<To>,
                         std::conditional_t<(index_of<E, list<Rest...>> >= 0), list<>, list<E>>>;
  using type = typename concat_impl<list<>, one<D>...>::type;
};
/// Dims with To... where From is.
template <class From, class To, class Dims> struct cut_dims;
template <class From, class... To, class... D> struct cut_dims<From, list<To...>, list<D...>> {
  template <class E> using one = std::conditional_t<std::is_same_v<E, From>, list<To...>, list<E>>;
  using type = typename concat_impl<list<>, one<D>...>::type;
};

/// The layout over `out` where what split `from` splits `to`, and every other dim what it did.
constexpr table with_dim_called(const tensor_facts& x, const dim_facts* from, const dim_facts* to,
                                dim_list out) {
  facts_of_own_dims named = x;
  named.set_dim(x.place_of(from), to);
  return table_over_dims(named.layout, named.dims(), out);
}

/// A layout over `out`, whose splits come out even as far as types say.
constexpr outcome formed(const table& t, dim_list out, const tensor_facts& x) {
  draft d;
  d.t = t;
  settle(d, out, x.axis_sizes());
  if (d.found == fault_code::none) return allowed(tidied(t, out, x.axis_sizes()));
  outcome o = blamed(d.found, out[d.first], d.axis);
  o.size = d.size;
  return o;
}

/// Rule of dims First, Rest..., which stand side by side, as one.
template <class To, class First, class... Rest> struct merge_rule {
  using named = list<To, First, Rest...>;
  template <class Dims> struct dims : merged_dims<To, First, list<Rest...>, Dims> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    const tensor_facts& v = x[0];
    constexpr const dim_facts *to = &facts_of_dim<To>, *first = &facts_of_dim<First>;
    constexpr const dim_facts* all[] = {first, &facts_of_dim<Rest>...};
    constexpr int count = 1 + sizeof...(Rest);
    if (v.place_of(to) >= 0) return blamed(fault_code::dim_already_in_tensor, to);
    for (const dim_facts* d : all)
      if (v.place_of(d) < 0) return blamed(fault_code::dim_not_in_tensor, d);
    const int begin = v.place_of(first);
    for (int i = 0; i < count; ++i) {
      if (begin + i >= v.rank || !same_dim(v.dim[begin + i], all[i]))
        return blamed(fault_code::dim_not_in_order, all[i]);
      if (v.layout.halo[begin + i].any()) return blamed(fault_code::dim_has_halo, all[i]);
      const int a = v.layout.axis_at(begin + i, 0);
      if (a >= 0 && (i > 0 || v.layout.uneven[begin]))
        return blamed(fault_code::dim_is_split, all[i], a);
    }
    constexpr bool is_static =
        is_static_dim<To> && (is_static_dim<First> && ... && is_static_dim<Rest>);
    if (is_static && static_extent<To> != (static_extent<First> * ... * static_extent<Rest>))
      return blamed(fault_code::extents_differ, to, first);
    return formed(with_dim_called(v, first, to, out), out, v);
  }
};

/// Rule of dim From as First, Rest...
template <class From, class First, class... Rest> struct cut_rule {
  using named = list<From, First, Rest...>;
  template <class Dims> struct dims : cut_dims<From, list<First, Rest...>, Dims> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    const tensor_facts& v = x[0];
    constexpr const dim_facts *from = &facts_of_dim<From>, *first = &facts_of_dim<First>;
    const int d = v.place_of(from);
    if (d < 0) return blamed(fault_code::dim_not_in_tensor, from);
    if (const int i = out.repeated(); i >= 0)
      return blamed(fault_code::dim_already_in_tensor, out[i]);
    if (v.layout.halo[d].any()) return blamed(fault_code::dim_has_halo, from);
    if (const int a = v.layout.axis_at(d, 0); a >= 0 && v.layout.uneven[d])
      return blamed(fault_code::dim_is_split, from, a);
    constexpr index_t parts = (is_static_dim<First> && ... && is_static_dim<Rest>)
                                  ? (static_extent<First> * ... * static_extent<Rest>)
                                  : dynamic;
    if (parts != dynamic && is_static_dim<From> && parts != static_extent<From>)
      return blamed(fault_code::extents_differ, from, first);
    return formed(with_dim_called(v, from, first, out), out, v);
  }
};

[[noreturn]] inline void refuse_parts(std::string_view call, std::string_view dim, index_t n,
                                      const named_extents& parts) {
  words w;
  w << call << ": dim '" << dim << "' has " << n << " elements, not the product of";
  for (int i = 0; i < parts.count; ++i) {
    w << (i > 0 ? " x " : " ") << parts.dim[i]->name << "=";
    if (parts.n[i] == dynamic)
      w << "?";
    else
      w << parts.n[i];
  }
  w << "; give all open extents but one";
  w.raise();
}
/// The extents of To... that make up that of From, of which one at most is open.
template <class From, class X, class... To, class... E>
constexpr named_extents cut_extents(std::string_view call, const X& x, list<To...>,
                                    const E&... given) {
  named_extents all;
  if (has_assumed_extents(x)) return all;
  const index_t n = x.template extent<From>();
  const shape<To...> said(shape<To...>{}, given...);
  const std::array<index_t, sizeof...(To)> extent = said.extents();
  (all.add(&facts_of_dim<To>, 0), ...);
  index_t known = 1;
  int open = -1, opens = 0;
  for (int i = 0; i < all.count; ++i) {
    all.n[i] = extent[static_cast<std::size_t>(i)];
    if (all.n[i] == dynamic)
      open = i, ++opens;
    else
      known *= all.n[i];
  }
  if (opens == 1 && known > 0 && n % known == 0) known *= all.n[open] = n / known;
  if (opens > 1 || known != n || (opens == 1 && all.n[open] == dynamic))
    refuse_parts(call, name_of<From>(), n, all);
  return all;
}

}  // namespace detail

/// Dims First, Rest..., neighbours in storage in this order, as one dim To. Shapes:
/// [.., First, Rest.., ..] -> [.., To, ..]; no cost. Throws dimesh::error where a static extent of
/// To is not their product.
template <Dim To, Dim First, Dim... Rest, Operand X> constexpr auto merge(const X& x) {
  using rule = detail::merge_rule<To, First, Rest...>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "merge: the tensor lacks a dim to be merged; name dims of its own");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "merge: the tensor has a dim of the new name already; choose another name");
  static_assert(ok<only<fault, dim_not_in_order>>,
                "merge: the dims do not lie side by side in this order; permute them first");
  static_assert(ok<only<fault, dim_is_split>>,
                "merge: only the first dim may be split, and evenly; whole<dim> the others");
  static_assert(ok<only<fault, extents_differ>>,
                "merge: the extents of the dims do not multiply to that of the new one");
  static_assert(ok<only_not_divisible<fault>>,
                "merge: the extent of the new dim is not a multiple of the axes that split it; "
                "whole<dim> the first dim, or change extents");
  static_assert(ok<only<fault, dim_has_halo>>,
                "merge: the blocks of a dim carry halos; merge before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = (x.template extent<First>() * ... * x.template extent<Rest>());
    if (is_static_dim<To> && static_extent<To> != n && !detail::has_assumed_extents(x))
      (detail::words() << "merge: the dims have " << n << " elements together, and dim '"
                       << detail::name_of<To>() << "' has " << static_extent<To>)
          .raise();
    detail::named_extents to;
    to.add(&detail::facts_of_dim<To>, n);
    return detail::apply_rule<rule, value_of<X>>(detail::reshape_op{to, "merge"}, x);
  }
}

/// Dim From as dims First, Rest..., row-major; open extents are given as dims with a value, all but
/// one. Shapes: [.., From, ..] -> [.., First, Rest.., ..]; no cost. Throws dimesh::error where
/// extents do not multiply to that of From, or blocks of First do not come out even.
template <Dim From, Dim First, Dim... Rest, Operand X, Extents... E>
constexpr auto cut(const X& x, const E&... extents) {
  using rule = detail::cut_rule<From, First, Rest...>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "cut: the tensor lacks the dim to be cut; name one of its dims");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "cut: the tensor has a dim of a new name already; choose another name");
  static_assert(
      ok<only<fault, dim_is_split>>,
      "cut: the dim is split unevenly, so that parts would lie on two ranks; whole<dim> it");
  static_assert(ok<only<fault, dim_has_halo>>,
                "cut: the blocks of the dim carry halos; cut before halo_exchange");
  static_assert(ok<only_not_divisible<fault>>,
                "cut: the extent of the first part is not a multiple of the axes that split the "
                "dim; whole<dim> it, or cut it into others");
  static_assert(ok<only<fault, extents_differ>>,
                "cut: the extents of the parts do not multiply to that of the dim");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const auto to = detail::cut_extents<From>("cut", x, detail::list<First, Rest...>{}, extents...);
    return detail::apply_rule<rule, value_of<X>>(detail::reshape_op{to, "cut"}, x);
  }
}

}  // namespace dimesh
