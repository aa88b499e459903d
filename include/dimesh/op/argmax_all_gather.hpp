// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where along a dim that ranks split is the greatest element, or the smallest? Every rank finds its
// own, and one small gather finds that of all. Where the dim is whole nothing is said.
//
//   argmax_all_gather<label>(x[batch, label/cols])  -> [batch] of std::int32_t, on all ranks of
//     cols: places among all; of equals the first, a NaN before any number
#pragma once

#include "dimesh/op/argmax.hpp"
#include "dimesh/op/parts/told_elements.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

/// Places among all of the extremes along dim d of elements T.
template <class T, bool Greatest> struct far_extreme_op {
  static constexpr bool on_host = true;
  int d;
  std::string_view call;

  static constexpr index_t told(index_t length) { return length > 0 ? 1 : 0; }

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), x[0].bytes() + y[0].bytes());
    told_elements<T>::cost(t, x[0], d, told);
  }
  void fill(results y, operands in) const {
    const writes_memory kernel;
    const tensor_core& x = in[0];
    const index_t lines = lines_of(x, d), inner = x.stride(d),
                  outer = inner > 0 ? lines / inner : 0;
    std::int32_t* const at = y[0].data<std::int32_t>();
    if constexpr (Greatest)
      local::argmax(outer, x.local(d), inner, x.data<const T>(), at);
    else
      local::argmin(outer, x.local(d), inner, x.data<const T>(), at);
    told_elements<T> few(x, d, told);
    if (!few.is_split()) return;
    for (index_t l = 0; l < lines * few.own(); ++l) {
      const index_t line = l / inner * x.local(d) * inner + l % inner;
      few.tell(l, 0,
               {x.data<const T>()[line + at[l] * inner],
                static_cast<std::int32_t>(x.own(d).offset + at[l])});
    }
    few.exchange(x);
    choose(few, at);
  }

 private:
  static constexpr bool is_before(T a, T b) {
    if (a != a || b != b) return a != a && b == b;
    return Greatest ? a > b : a < b;
  }
  /// Of each line the first of the extremes that ranks tell; -1 where none does.
  static void choose(const told_elements<T>& few, std::int32_t* at) {
    const writes_memory kernel;
    for (index_t l = 0; l < few.lines(); ++l) {
      typename told_elements<T>::element best{T{}, -1};
      few.for_each(l, [&best](const auto& e) {
        if (best.at < 0 || is_before(e.value, best.value) ||
            (!is_before(best.value, e.value) && e.at < best.at))
          best = e;
      });
      at[l] = best.at;
    }
  }
};

/// x without D, on all ranks along the axes that split it.
template <class D> struct far_extreme_rule {
  using named = list<D>;
  static constexpr bool of_reals = true;
  template <class First> struct dims : remaining<First, named> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    outcome o = reduce_rule_of(x[0], dims_in<named>, out, use::partial, false);
    if (o.ok())
      o.layout = without_axes(o.layout, x[0].layout.axes_of(x[0].place_of(&facts_of_dim<D>)));
    return o;
  }
};
template <class Fault> constexpr void assert_far_extreme() {
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "argmax_all_gather, argmin_all_gather, categorical_all_gather: the tensor lacks "
                "this dim; name one of its own");
  static_assert(ok<only<Fault, partial_operand>>,
                "argmax_all_gather, argmin_all_gather, categorical_all_gather: the operand is a "
                "sum yet to be made; complete it first");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "argmax_all_gather, argmin_all_gather, categorical_all_gather: the blocks carry "
                "halos, which would count twice; take the tensor without them");
  static_assert(ok<only<Fault, element_is_complex>>,
                "argmax_all_gather, argmin_all_gather, categorical_all_gather: complex numbers "
                "have no order; take real(x) or norm2(x) first");
}

template <class D, bool Greatest, class X>
constexpr auto far_extreme_of(std::string_view call, const X& x) {
  if constexpr (is_storage_only<value_of<X>>) {
    return far_extreme_of<D, Greatest>(call, cast<computed<value_of<X>>>(x));
  } else {
    require_few_places<D>(call, x.template extent<D>());
    if constexpr (is_whole_by_type<X, D>)
      return arg_extreme<D, Greatest>(x);
    else
      return apply_rule<far_extreme_rule<D>, std::int32_t>(
          far_extreme_op<value_of<X>, Greatest>{index_of<D, typename spec_of<X>::dims>, call}, x);
  }
}
}  // namespace detail

/// The place along D, over all ranks, of the greatest element: the first of equals, the first NaN
/// if there is one, -1 if D is empty. Shapes: x without D, int32, on all ranks along the axes that
/// split D. Where they do, one all-gather: of a rank its greatest element and the place of it, for
/// each line along D. On the host. Throws dimesh::error where D has more elements than int32 can
/// number.
template <Dim D, Operand X> constexpr auto argmax_all_gather(const X& x) {
  using fault = detail::fault_of<detail::far_extreme_rule<D>, X>;
  detail::assert_far_extreme<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::far_extreme_of<D, true>("argmax_all_gather", x);
}

/// The place along D of the smallest element likewise.
template <Dim D, Operand X> constexpr auto argmin_all_gather(const X& x) {
  using fault = detail::fault_of<detail::far_extreme_rule<D>, X>;
  detail::assert_far_extreme<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::far_extreme_of<D, false>("argmin_all_gather", x);
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using far_extreme_call = call_taking<one_dim, 1, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::far_extreme_call, detail::list<N...>, A...>
constexpr poison argmax_all_gather(const A&...) {
  static_assert(ok<detail::misuse<detail::far_extreme_call, detail::list<N...>, A...>>,
                "argmax_all_gather: a dim stands in the angle brackets, a tensor in the "
                "parentheses: argmax_all_gather<label>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison argmax_all_gather(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "argmax_all_gather: a dim stands in the angle brackets, a tensor in the "
                "parentheses: argmax_all_gather<label>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::far_extreme_call, detail::list<N...>, A...>
constexpr poison argmin_all_gather(const A&...) {
  static_assert(ok<detail::misuse<detail::far_extreme_call, detail::list<N...>, A...>>,
                "argmin_all_gather: a dim stands in the angle brackets, a tensor in the "
                "parentheses: argmin_all_gather<label>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison argmin_all_gather(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "argmin_all_gather: a dim stands in the angle brackets, a tensor in the "
                "parentheses: argmin_all_gather<label>(x)");
  return {};
}

}  // namespace dimesh
