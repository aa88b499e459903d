// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a partial tensor become whole everywhere? The addends that the ranks along some axes
// hold are summed, in one call over all these axes together; every rank ends with the same bits.
//
//   all_reduce<cols>(tensor<T, layout<pod, split<batch, rows>, partial<cols>>, batch>)
//     -> tensor<T, layout<pod, split<batch, rows>>, batch>      2(n-1)/n of its bytes a rank (ring)
#pragma once

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh {

namespace detail {

/// Elements T; reduces what is partial over the axes in the mask.
template <class T> struct all_reduce_cost {
  unsigned axes;
  static constexpr event_kind kind = event_kind::all_reduce;
  static constexpr bool takes_complex = true;

  constexpr unsigned talk(const tensor_core& x) const { return talking(axes & ~x.once, x.sizes()); }
  /// Over whom and how much is all the plan there is.
  void reduce(results y, operands x, collective::reduction how, flight* f = nullptr) const {
    const unsigned over = talk(x[0]);
    if (over == 0) return collective::copy(x[0].data<T>(), y[0].data<T>(), x[0].elements());
    if (f != nullptr) f->axes = over;
    collective::all_reduce_elements(x[0].grid->along(over), collective::wire_of<T>,
                                    collective::bytes_of(x[0].data<T>()),
                                    collective::bytes_of(y[0].data<T>()), x[0].elements(), how,
                                    f != nullptr ? &f->under_way : nullptr);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const unsigned over = talk(x[0]);
    const index_t bytes = y[0].bytes();
    if (over == 0 || bytes == 0) return;
    const index_t n = group_size(over, x[0].sizes());
    t.collective(event_kind::all_reduce, over, bytes, 2 * (n - 1) * bytes / n);
  }
};
/// Addends are summed.
template <class T> struct all_reduce_op : all_reduce_cost<T> {
  void fill(results y, operands x) const { this->reduce(y, x, collective::reduction::sum); }
  void start(results y, operands x, flight& f) const {
    this->reduce(y, x, collective::reduction::sum, &f);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  /// Of replicated cotangents of addends every rank has a sum to make likewise.
  constexpr void transpose(const auto& to) const { to.give(0, *this, to.ybar); }
};
/// Of maxima (or minima) the greatest (or least) is found.
template <class T> struct all_reduce_extreme_op : all_reduce_cost<T> {
  static constexpr std::string_view call = "all_reduce";
  bool greatest;
  void fill(results y, operands x) const { this->reduce(y, x, how()); }
  void start(results y, operands x, flight& f) const { this->reduce(y, x, how(), &f); }
  collective::reduction how() const {
    return greatest ? collective::reduction::max : collective::reduction::min;
  }
};

/// x reduced over the axes in the mask, where it is partial in the way Kind; Rule says what comes
/// of that. Where there is nobody to talk to, the result shares the memory of x.
template <class Rule, use Kind, class X> constexpr auto all_reduced(const X& x, unsigned axes) {
  using T = value_of<X>;
  const bool nothing = talking(axes & ~x.once(), sizes_of(x)) == 0;
  if constexpr (Kind == use::partial)
    return apply_or_share_by<Rule>(all_reduce_op<T>{{axes}}, x, nothing);
  else
    return apply_or_share_by<Rule>(all_reduce_extreme_op<T>{{axes}, Kind == use::partial_max}, x,
                                   nothing);
}

/// The addends along the axes with these numbers are summed.
constexpr outcome all_reduce_rule_of(const tensor_facts& x, const std::uint64_t* axes, int count) {
  unsigned mask = 0;
  for (int i = 0; i < count; ++i) {
    const int a = x.axis_of(axes[i]);
    if (a < 0) return blamed_place(fault_code::axis_not_in_mesh, i);
    if (x.layout.axis[a].what != use::partial) return blamed_axis(fault_code::axis_not_partial, a);
    if (!is_summable(x.kind)) return blamed_place(fault_code::element_not_summable, 0);
    mask |= 1u << a;
  }
  return allowed(tidied(x, without_axes(x.layout, mask)));
}
template <class... A> struct all_reduce_rule : keeps_dims {
  using axes = list<A...>;
  static constexpr outcome of(rule_operands x, dim_list) {
    return all_reduce_rule_of(x[0], numbers<axes>::at, sizeof...(A));
  }
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(all_reduce_op<float>, 0);
DIMESH_INSTANCE(all_reduce_op<float>, 1);
DIMESH_INSTANCE(all_reduce_op<double>, 0);
DIMESH_INSTANCE(all_reduce_op<double>, 1);
DIMESH_INSTANCE(all_reduce_extreme_op<float>, 0);
DIMESH_INSTANCE(all_reduce_extreme_op<double>, 0);
DIMESH_INSTANCE(all_reduce_op<bfloat16>, 0);
DIMESH_INSTANCE(all_reduce_op<int>, 0);
DIMESH_INSTANCE(all_reduce_op<index_t>, 0);

}  // namespace detail

/// The sum over the addends along axes A... Shapes stay. Partial over A... -> replicated over A...
template <Axis... A, Operand X>
  requires(sizeof...(A) > 0)
constexpr auto all_reduce(const X& x) {
  using rule = detail::all_reduce_rule<A...>;
  using fault = detail::fault_of<rule, X>;
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
    detail::check<rule>("all_reduce", x);
    constexpr unsigned axes = (0u | ... | axis_mask<typename spec_of<X>::mesh, A>);
    return detail::all_reduced<rule, use::partial>(x, axes);
  }
}

}  // namespace dimesh
