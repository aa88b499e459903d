// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do all elements move by some places along a dim? Element i of the result is element i - k of
// the operand; whole blocks and remainders travel to the ranks that hold the new places.
//
//   shift<time>(x, 1, boundary::zero)   -> x delayed by one; its first element is 0
//   shift<ring>(x, -2)                  -> element i is element i + 2, around the end
#pragma once

#include "dimesh/op/along.hpp"

namespace dimesh {

namespace detail {

template <int D> struct shift_op {
  index_t by = 0;
  boundary ends = boundary::periodic;

  template <class S> using result = S;

  template <class X> constexpr cut_dim dim_of(const X& x) const {
    return cut_dim(placement_of(x), spec_of<X>::table, D, ends);
  }
  /// Around a ring only the remainder counts.
  constexpr window window_in(index_t extent) const {
    return {ends == boundary::periodic && extent > 0 ? by % extent : by, 0};
  }
  template <class Y, class X> void fill(const Y& y, const X& x) const {
    using T = value_of<X>;
    const cut_dim dim = dim_of(x);
    if (ends == boundary::zero) zero_bytes(y.data(), y.local_bytes());
    move_windows<false, T>(x.grid().state(), dim, window_in(dim.extent()),
                           stored_region<const T>(x), stored_region<T>(y), "shift");
  }
  template <class Y, class X> constexpr void cost(tally& t, const Y& y, const X& x) const {
    const index_t rows = x.local(D) > 0 ? x.local_bytes() / x.local(D) : 0;
    const cut_dim dim = dim_of(x);
    count_windows(t, dim, window_in(dim.extent()), rows, false);
    t.compute(0, 2 * y.local_bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  template <bool, class B, class Y, class X>
  constexpr auto transpose(const slots<1>& to, const B& ybar, const Y&, const X&) const {
    return bundle(apply_into(shift_op{-by, ends}, to, ybar));
  }
};

template <class D, class X> struct shift_fault {
  using S = spec_of<X>;
  static constexpr auto find() {
    constexpr int d = index_of<D, typename S::dims>;
    if constexpr (d < 0)
      return tag<dim_not_in_tensor<D>>{};
    else if constexpr (S::table.halo[d] > 0)
      return tag<dim_has_halo<D>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};
template <class D, class X>
  requires is_poison<X>
struct shift_fault<D, X> {
  using type = no_fault;
};

}  // namespace detail

/// Element i of the result is element i - k of x along D, around the end or from zeros. Shapes and
/// layouts stay.
template <Dim D, Operand X>
constexpr auto shift(const X& x, index_t k, boundary ends = boundary::periodic) {
  using fault = typename detail::shift_fault<D, X>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "shift: the tensor lacks the dim to move along; name one of its dims");
  static_assert(ok<only<fault, dim_has_halo>>,
                "shift: the blocks carry halos along this dim; shift before halo_exchange instead");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return apply(detail::shift_op<detail::index_of<D, typename spec_of<X>::dims>>{k, ends}, x);
}

}  // namespace dimesh
