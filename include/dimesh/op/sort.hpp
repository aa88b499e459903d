// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order do the elements along a dim stand, and which are the greatest few? Local: a rank
// must hold all of the dim. Of equals the first stays first; NaN is greater than any number.
//
//   sort<token>(x[batch/rows, token])                    -> like x, ascending
//   argsort<token>(x, order::descending)                 -> places of token, int32
//   top_k<token, best>(x)      best : dim<4>             -> {values, places} [batch/rows, best]
//   nth_largest<token>(x, 0)                             -> [batch/rows]: the greatest
//   nth_smallest<token>(x, 0)                            -> [batch/rows]: the smallest
//
// Over ranks that split the dim: sort_all_to_all.hpp, top_k_all_gather.hpp.
#pragma once

#include <cstdint>

#include "dimesh/core/any_argument.hpp"
#include "dimesh/local/order.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/gather.hpp"
#include "dimesh/op/parts/element_operators.hpp"
#include "dimesh/op/parts/few_places.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse_of_sort.hpp"
#include "dimesh/op/slice.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh {

/// Smallest first, or greatest first.
enum class order : unsigned char { ascending, descending };

/// The greatest elements, greatest first, and where they stood.
template <class V, class P> struct [[nodiscard]] top_elements {
  V values;
  P places;
};

namespace detail {

template <class V, class P> inline constexpr bool has_several<top_elements<V, P>> = true;

template <class... A> inline constexpr bool is_included<op_header::sort, A...> = true;

/// The first places of dim d in order, as many as the result has along it. Elements T.
template <class T> struct order_op {
  static constexpr bool on_host = true;
  int d;
  bool descending;
  const dim_facts* dim;
  index_t extent;
  std::string_view call;

  constexpr index_t extent_of(const dim_facts* e) const {
    return same_dim(e, dim) ? extent : dynamic;
  }
  constexpr void cost(tally& t, results y, operands x) const {
    index_t steps = 1;
    for (index_t n = x[0].local(d); n > 2; n /= 2) ++steps;
    t.compute(x[0].elements() * steps, x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
    local::order_along(lines_along(x[0], d, x[0].local(d), y[0].local(d)), x[0].data<const T>(),
                       descending, y[0].data<std::int32_t>());
  }
};

/// The one place of an n-th element.
struct nth_place : dim<1> {};

/// The place along dim d of the element T that n others come before.
template <class T> struct nth_op {
  static constexpr bool on_host = true;
  int d;
  index_t n;
  bool descending;
  std::string_view call;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(2 * x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands x) const {
    local::nth_along(lines_along(x[0], d, x[0].local(d), 1), x[0].data<const T>(), n, descending,
                     y[0].data<std::int32_t>());
  }
};
/// Throws dimesh::error where there is no n-th of so many elements.
template <class D> constexpr void require_nth(std::string_view call, index_t n, index_t all) {
  if (n < 0 || n >= all)
    (words() << call << ": element " << n << " in the order of dim '" << name_of<D>()
             << "', which has 0.." << all - 1)
        .raise();
}

/// D is whole, and called To in the result. Picks: a gather of the elements follows, which takes no
/// halos of other dims either.
template <class D, class To, bool Picks = true> struct sorted_rule {
  using named = list<D, To>;
  static constexpr bool of_reals = true;
  template <class First> struct dims : replaced_dims<D, To, First> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = strided_rule<D, To>::of(x, out);
    if (!o.ok()) return o;
    if (const dim_facts* const h = haloed_dim(x[0]); Picks && h != nullptr)
      return blamed(fault_code::dim_has_halo, h);
    const int a = x[0].layout.first_partial();
    return a < 0 ? o : blamed_axis(fault_code::partial_operand, a);
  }
};

template <class D, class To, bool Picks = true, class X>
constexpr auto ordered(std::string_view call, const X& x, bool descending, index_t n) {
  require_few_places<D>(call, x.template extent<D>());
  if constexpr (is_storage_only<value_of<X>>)
    return ordered<D, To, Picks>(call, cast<computed<value_of<X>>>(x), descending, n);
  else
    return apply_rule<sorted_rule<D, To, Picks>, std::int32_t>(
        order_op<value_of<X>>{index_of<D, typename spec_of<X>::dims>, descending, &facts_of_dim<To>,
                              n, call},
        x);
}

template <class D> using nth_rule = sorted_rule<D, nth_place>;

template <class D, class X>
constexpr auto nth_in_order(std::string_view call, const X& x, index_t n, bool descending) {
  using T = value_of<X>;
  if constexpr (is_storage_only<T>) {
    return cast<T>(nth_in_order<D>(call, cast<computed<T>>(x), n, descending));
  } else {
    require_nth<D>(call, n, x.template extent<D>());
    require_few_places<D>(call, x.template extent<D>());
    const nth_op<T> op{index_of<D, typename spec_of<X>::dims>, n, descending, call};
    const auto at = apply_rule<nth_rule<D>, std::int32_t>(op, stop_gradient(x));
    return dimesh::pick<nth_place>(dimesh::gather<D, nth_place>(x, at), 0);
  }
}

/// Are there no faults, and does X have an order as it is used?
template <class Fault, class X, element_use Use = element_use::known_order>
inline constexpr bool can_be_sorted = ok<Fault> && !is_poison<X> && ok<lack_of<Use, X>>;

template <class Fault, class X, element_use Use = element_use::known_order>
constexpr void assert_ordered() {
  using lacking = std::conditional_t<ok<Fault>, lack_of<Use, X>, no_fault>;
  static_assert(ok<lacking>,
                "sort, argsort, top_k: elements of this type have no order that is known "
                "(nth_largest, nth_smallest: no > or ==); map them to numbers first");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "sort, argsort, top_k, nth_largest, nth_smallest: the tensor lacks this dim; name "
                "one of its own");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "top_k: the tensor has the new dim already; choose another for the greatest");
  static_assert(ok<only<Fault, dim_is_split>>,
                "sort, argsort, top_k, nth_largest, nth_smallest: the dim is split; go over the "
                "ranks with sort_all_to_all, top_k_all_gather ..., or gather it with whole<dim>");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "sort, argsort, top_k, nth_largest, nth_smallest: blocks of this dim carry a "
                "halo; take the tensor without it");
  static_assert(ok<only<Fault, partial_operand>>,
                "sort, argsort, top_k, nth_largest, nth_smallest: the operand is a sum yet to be "
                "made; complete it first");
  static_assert(ok<only<Fault, element_is_complex>>,
                "sort, argsort, top_k, nth_largest, nth_smallest: complex numbers have no order; "
                "take real(x) or norm2(x) first");
}

}  // namespace detail

/// The places along D of the elements in their order: of the first, the second, ... Shapes and
/// layout stay, int32. Takes no gradient. Local; D is whole. On the host. Throws dimesh::error, as
/// sort, top_k, nth_largest and nth_smallest do, where D has more elements than int32 can number.
template <Dim D, Operand X> constexpr auto argsort(const X& x, order o = order::ascending) {
  using fault = detail::fault_of<detail::sorted_rule<D, D, false>, X>;
  detail::assert_ordered<fault, X>();
  if constexpr (!detail::can_be_sorted<fault, X>)
    return poison{};
  else
    return detail::ordered<D, D, false>("argsort", x, o == order::descending,
                                        x.template extent<D>());
}

/// The elements along D in their order. The cotangent of an element goes to where it stood. Shapes
/// and layout stay. Local; D is whole.
template <Dim D, Operand X> constexpr auto sort(const X& x, order o = order::ascending) {
  using fault = detail::fault_of<detail::sorted_rule<D, D>, X>;
  detail::assert_ordered<fault, X>();
  if constexpr (!detail::can_be_sorted<fault, X>)
    return poison{};
  else
    return dimesh::gather<D, D>(
        x, detail::ordered<D, D>("sort", stop_gradient(x), o == order::descending,
                                 x.template extent<D>()));
}

/// The K greatest elements along D, greatest first, and their places. Shapes: [.., D, ..] ->
/// .values [.., K, ..] and .places, int32; K carries its extent where that is given at run time.
/// The cotangent of a value goes to where it stood. Local; D is whole. Throws dimesh::error where D
/// has fewer elements.
template <Dim D, Dim K, Operand X> constexpr auto top_k(const X& x, K k = {}) {
  using fault = detail::fault_of<detail::sorted_rule<D, K>, X>;
  detail::assert_ordered<fault, X>();
  if constexpr (!detail::can_be_sorted<fault, X>) {
    return top_elements<poison, poison>{};
  } else {
    const index_t n = shape<K>(k).template extent<K>(), all = x.template extent<D>();
    if (n > all)
      (detail::words() << "top_k: " << n << " greatest of dim '" << detail::name_of<D>()
                       << "', which has " << all << " elements")
          .raise();
    const auto places = detail::ordered<D, K>("top_k", stop_gradient(x), true, n);
    auto values = dimesh::gather<D, K>(x, places);
    return top_elements<decltype(values), std::remove_const_t<decltype(places)>>{values, places};
  }
}

/// The element along D that n others come before, counting from the greatest: 0 is the greatest,
/// half of the extent the median. Shapes: x without D. The cotangent goes to where it stood. Local;
/// D is whole. Throws dimesh::error where D has no such element. On the host.
template <Dim D, Operand X> constexpr auto nth_largest(const X& x, index_t n) {
  using fault = detail::fault_of<detail::nth_rule<D>, X>;
  detail::assert_ordered<fault, X, detail::element_use::order>();
  if constexpr (!detail::can_be_sorted<fault, X, detail::element_use::order>)
    return poison{};
  else
    return detail::nth_in_order<D>("nth_largest", x, n, true);
}
/// The same, counting from the smallest: 0 is the smallest. Over ranks that split D its value is
/// nth_largest_all_gather<D>(x, x.extent<D>() - 1 - n).
template <Dim D, Operand X> constexpr auto nth_smallest(const X& x, index_t n) {
  using fault = detail::fault_of<detail::nth_rule<D>, X>;
  detail::assert_ordered<fault, X, detail::element_use::order>();
  if constexpr (!detail::can_be_sorted<fault, X, detail::element_use::order>)
    return poison{};
  else
    return detail::nth_in_order<D>("nth_smallest", x, n, false);
}

}  // namespace dimesh
