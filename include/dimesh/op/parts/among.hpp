// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands at places of a dim that ranks split, where all ranks know the places? Whoever has an
// element tells it, as an addend to nothing; sums of these are the elements, to the bit.
//
//   apply_rule<told_rule<D, To>, T>(pick_among_op<T>{d, call}, x[.., D/rows], places[.., To])
//     -> [.., To], partial over rows
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/op/parts/strided.hpp"

namespace dimesh::detail {

/// What adds nothing, not even a sign.
template <class T> constexpr T no_addend() {
  if constexpr (std::is_floating_point_v<T>)
    return T(-0.0);
  else
    return T(0);
}

/// x[.., D, ..] with To in its place; what splits D holds one addend each there.
template <class D, class To> struct told_rule {
  using named = list<D, To>;
  template <class First, class...> struct dims : replaced_dims<D, To, First> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    constexpr auto &d = facts_of_dim<D>, &to = facts_of_dim<To>;
    if (x[0].place_of(&d) < 0) return blamed(fault_code::dim_not_in_tensor, &d);
    if (!std::is_same_v<D, To> && x[0].place_of(&to) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &to);
    if (const int a = x[0].layout.first_partial(); a >= 0)
      return blamed_axis(fault_code::partial_operand, a);
    if (const dim_facts* const h = haloed_dim(x[0]); h != nullptr)
      return blamed(fault_code::dim_has_halo, h);
    table t = x[0].layout;
    const unsigned axes = t.axes_of(x[0].place_of(&d));
    for (int a = 0; a < t.axes; ++a)
      if (axes >> a & 1u) t.axis[a] = {use::partial};
    return allowed(table_over_dims(t, x[0].dims(), out));
  }
};
/// The same where every rank has all that is in it.
template <class D, class To> struct known_rule : told_rule<D, To> {
  static constexpr outcome of(rule_operands x, dim_list out) {
    outcome o = told_rule<D, To>::of(x, out);
    if (o.ok())
      o.layout = without_axes(o.layout, x[0].layout.axes_of(x[0].place_of(&facts_of_dim<D>)));
    return o;
  }
};

template <class T> struct put_among_op;

/// x[.., d, ..] at places among all, which all ranks know: from whoever has them.
template <class T> struct pick_among_op {
  static constexpr bool on_host = true;
  int d;
  std::string_view call;
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, 2 * y[0].bytes() + x[1].bytes());
  }
  void fill(results y, operands in) const {
    const writes_memory kernel;
    const tensor_core &x = in[0], &ids = in[1];
    const index_t inner = x.stride(d), n = x.local(d), k = ids.local(d), all = ids.elements();
    const block own = x.own(d);
    const T* const from = x.data<const T>();
    const std::int32_t* const at = ids.data<const std::int32_t>();
    T* const to = y[0].data<T>();
    for (index_t i = 0; i < all; ++i) {
      const index_t place = at[i] - own.offset;
      to[i] = place < 0 || place >= own.length
                  ? no_addend<T>()
                  : from[(i / inner / k * n + place) * inner + i % inner];
    }
  }
  static constexpr bool needs(int k, unsigned) { return k == 1; }
  constexpr void transpose(const auto& to) const {
    to.give(0, put_among_op<T>{d, to.x(0).facts->dim[d], to.x(0).extent(d), call}, to.ybar,
            to.x(1));
  }
};
/// Its transpose: what others have is left to them.
template <class T> struct put_among_op {
  static constexpr bool on_host = true;
  int d;
  const dim_facts* dim;
  index_t extent;
  std::string_view call;
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* e) const {
    return same_dim(e, dim) ? extent : dynamic;
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, 2 * x[0].bytes() + x[1].bytes() + y[0].bytes());
  }
  void fill(results y, operands in) const {
    const writes_memory kernel;
    const tensor_core& ids = in[1];
    const index_t inner = y[0].stride(d), n = y[0].local(d), k = ids.local(d);
    const block own = y[0].own(d);
    const T* const from = in[0].data<const T>();
    const std::int32_t* const at = ids.data<const std::int32_t>();
    T* const to = y[0].data<T>();
    std::fill_n(to, y[0].elements(), T(0));
    for (index_t i = 0, all = ids.elements(); i < all; ++i) {
      const index_t place = at[i] - own.offset;
      if (place >= 0 && place < own.length)
        to[(i / inner / k * n + place) * inner + i % inner] += from[i];
    }
  }
  static constexpr bool needs(int k, unsigned) { return k == 1; }
  constexpr void transpose(const auto& to) const {
    to.give(0, pick_among_op<T>{d, call}, to.ybar, to.x(1));
  }
};

}  // namespace dimesh::detail
