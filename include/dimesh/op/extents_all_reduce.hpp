// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do all ranks give a dim the same extent? Extents that are given at run time are each rank's own
// word until they are compared: where a size that follows from them enters a collective, a rank
// with another one would leave the others waiting. Compared first, it is an error on all of them.
//
//   extents_all_reduce(x[batch/rows, length])   -> x; throws where a rank has another length
#pragma once

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/op/parts/apply_rule.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh {

namespace detail {

/// A number without dims for all ranks that hold the operand.
struct extents_rule {
  template <class> struct dims {
    using type = list<>;
  };
  static constexpr outcome of(rule_operands x, dim_list) {
    table t;
    t.axes = x[0].layout.axes;
    for (int a = 0; a < t.axes; ++a)
      if (x[0].layout.axis[a].what == use::placed) t.axis[a] = x[0].layout.axis[a];
    return allowed(t);
  }
};

struct extents_op {
  static constexpr std::string_view call = "extents_all_reduce";

  static constexpr unsigned talk(const tensor_core& x) {
    return talking(((1u << x.layout().axes) - 1) & ~x.facts->placed, x.sizes());
  }
  static constexpr bool is_given(const tensor_core& x, int d) {
    return x.facts->dim[d]->extent == dynamic;
  }
  /// The greatest extent and the least, negated, of each dim whose extent no type says.
  void fill(results y, operands x) const {
    set_element(y[0].data<std::int32_t>(), std::int32_t{1});
    const tensor_core& t = x[0];
    const unsigned over = talk(t);
    index_t both[2 * max_dims], n = 0;
    for (int d = 0; d < t.rank(); ++d)
      if (is_given(t, d)) both[n++] = t.extent(d), both[n++] = -t.extent(d);
    if (over == 0 || n == 0) return;
    const of_host numbers;
    collective::all_reduce(t.grid->along(over), both, both, n, collective::reduction::max);
    for (int d = 0, i = 0; d < t.rank(); ++d) {
      if (!is_given(t, d)) continue;
      const index_t most = both[i], least = -both[i + 1];
      i += 2;
      if (most != least)
        (words() << call << ": dim '" << t.facts->dim[d]->name << "' has " << least
                 << " elements on one rank and " << most
                 << " on another; all ranks give a dim one extent")
            .raise();
    }
  }
  constexpr void cost(tally& t, results, operands x) const {
    const unsigned over = talk(x[0]);
    index_t bytes = 0;
    for (int d = 0; d < x[0].rank(); ++d)
      if (is_given(x[0], d)) bytes += 2 * index_t{sizeof(index_t)};
    if (over == 0 || bytes == 0) return;
    const index_t n = group_size(over, x[0].sizes());
    t.collective(event_kind::all_reduce, over, bytes, ring_bytes(event_kind::all_reduce, bytes, n));
  }
};

}  // namespace detail

/// x itself, when all ranks of its mesh have agreed on its run-time extents: one all-reduce of two
/// numbers for each, none where types say all. Throws dimesh::error on all ranks, naming the dim,
/// where they disagree. (In checked builds the comparison of operands says it first.)
template <Operand X> constexpr auto extents_all_reduce(const X& x) {
  if constexpr (!is_poison<X>)
    if constexpr (!detail::spec_facts<spec_of<X>>.is_static)
      if (detail::core_of(x).facts->sketched == nullptr)
        (void)detail::apply_rule<detail::extents_rule, std::int32_t>(detail::extents_op{},
                                                                     stop_gradient(x));
  return x;
}

}  // namespace dimesh
