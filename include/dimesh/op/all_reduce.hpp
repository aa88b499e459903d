// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a partial tensor become whole everywhere? The addends that the ranks along some axes
// hold are summed, in one call over all these axes together; every rank ends with the same bits.
//
//   all_reduce<cols>(tensor<T, layout<pod, split<batch, rows>, partial<cols>>, batch>)
//     -> tensor<T, layout<pod, split<batch, rows>>, batch>      2(n-1)/n of its bytes a rank (ring)
#pragma once

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/op/transition.hpp"

namespace dimesh {

namespace detail {

/// Reduces what is partial (in the way Kind) over the axes in the mask.
template <use Kind, unsigned Axes> struct all_reduce_op {
  template <class S> using result = relaid_spec<S, without_axes<Axes>>;

  template <class Y, class X> void fill(const Y& y, const X& x) const {
    const unsigned axes = talking(Axes & ~x.once(), sizes_of(x));
    if (axes == 0) return collective::copy(x.data(), y.data(), x.local_size());
    constexpr auto how = Kind == use::partial_max   ? collective::reduction::max
                         : Kind == use::partial_min ? collective::reduction::min
                                                    : collective::reduction::sum;
    collective::all_reduce(x.grid().state().along(axes), x.data(), y.data(), x.local_size(), how);
  }
  template <class Y, class X> constexpr void cost(tally& t, const Y& y, const X& x) const {
    const unsigned axes = talking(Axes & ~x.once(), sizes_of(x));
    if (axes == 0 || y.local_bytes() == 0) return;
    const index_t n = group_size(axes, sizes_of(x));
    t.collective(axes, y.local_bytes(), 2 * (n - 1) * y.local_bytes() / n);
  }
  static constexpr bool needs(int, unsigned)
    requires(Kind == use::partial)
  {
    return false;
  }
  template <bool, class B, class Y, class X>
    requires(Kind == use::partial)
  constexpr auto transpose(const slots<1>& to, const B& ybar, const Y&, const X&) const {
    return bundle(run(to, ybar));
  }
  /// Where there is nobody to talk to, the result shares the memory of x.
  template <std::size_t N, class X> static constexpr auto run(const slots<N>& to, const X& x) {
    unsigned axes = Axes;
    if constexpr (!is_tracked<X>) axes &= ~x.once();
    return apply_or_share(all_reduce_op{}, to, x, talking(axes, sizes_of(x)) == 0);
  }
};

template <class X, class... A> struct all_reduce_fault {
  using S = spec_of<X>;
  template <class Axis> static constexpr auto one() {
    constexpr int a = axis_index<typename S::mesh, Axis>;
    if constexpr (a < 0)
      return tag<axis_not_in_mesh<Axis, typename S::mesh>>{};
    else if constexpr (S::table.axis[a].what != use::partial)
      return tag<axis_not_partial<Axis>>{};
    else if constexpr (!element_traits<value_of<X>>::is_summable)
      return tag<element_not_summable<value_of<X>>>{};
    else
      return tag<no_fault>{};
  }
  template <class Found, class... Rest> static constexpr auto first(Found, Rest... rest) {
    if constexpr (!ok<typename Found::type> || sizeof...(Rest) == 0)
      return Found{};
    else
      return first(rest...);
  }
  using type = typename decltype(first(one<A>()...))::type;
};
template <class X, class... A>
  requires is_poison<X>
struct all_reduce_fault<X, A...> {
  using type = no_fault;
};

}  // namespace detail

/// The sum over the addends along axes A... Shapes stay. Partial over A... -> replicated over A...
template <Axis... A, Operand X>
  requires(sizeof...(A) > 0)
constexpr auto all_reduce(const X& x) {
  using fault = typename detail::all_reduce_fault<X, A...>::type;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "all_reduce: the tensor's mesh lacks this axis; name one that the tensor is partial along");
  static_assert(
      ok<only<fault, axis_not_partial>>,
      "all_reduce: the tensor holds no addends along this axis; name one that it is partial "
      "along, or use complete, which sums whatever is partial");
  static_assert(ok<only<fault, element_not_summable>>,
                "all_reduce: ranks cannot add up elements of this type; cast the tensor first");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    constexpr unsigned axes = (0u | ... | (1u << axis_index<typename spec_of<X>::mesh, A>));
    return detail::all_reduce_op<use::partial, axes>::run(detail::no_slots(), x);
  }
}

}  // namespace dimesh
