// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do all ranks give a dim the same extent? Extents that are given at run time are each rank's own
// word until they are compared: where a size that follows from them enters a collective, a rank
// with another one would leave the others waiting. Compared first, it is an error on all of them.
//
//   extents_all_reduce(x[batch/rows, length])      -> x; throws where a rank has another length
//   extents_all_reduce(x, w, b)                    -> x; the same of all three, in one message
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

/// What a rank says of a dim whose extent no type says.
struct extent_claim {
  const dim_facts* dim;
  index_t extent;
};
/// What it says of several tensors. These are no operands of one operation, which would compare
/// them on this rank alone, and leave the others waiting.
struct extent_claims {
  static constexpr int most = max_operands * max_dims;
  extent_claim at[most] = {};
  int count = 0;

  constexpr void add(const dim_facts* dim, index_t extent) { at[count++] = {dim, extent}; }
  constexpr void add(const tensor_core& x) {
    for (int d = 0; d < x.rank(); ++d)
      if (x.facts->dim[d]->extent == dynamic) add(x.facts->dim[d], x.extent(d));
  }
};

struct extents_op {
  static constexpr std::string_view call = "extents_all_reduce";
  extent_claims own;

  static constexpr unsigned talk(const tensor_core& x) {
    return talking(((1u << x.layout().axes) - 1) & ~x.facts->placed, x.sizes());
  }
  /// The greatest extent and the least, negated, of each claim.
  void fill(results y, operands x) const {
    set_element(y[0].data<std::int32_t>(), std::int32_t{1});
    const unsigned over = talk(x[0]);
    if (over == 0 || own.count == 0) return;
    index_t both[2 * extent_claims::most];
    for (int i = 0; i < own.count; ++i)
      both[2 * i] = own.at[i].extent, both[2 * i + 1] = -own.at[i].extent;
    const of_host numbers;
    collective::all_reduce(x[0].grid->along(over), both, both, 2 * own.count,
                           collective::reduction::max);
    for (int i = 0; i < own.count; ++i) {
      const index_t greatest = both[2 * i], least = -both[2 * i + 1];
      if (greatest != least)
        (words() << call << ": dim '" << own.at[i].dim->name << "' has " << least
                 << " elements on one rank and " << greatest
                 << " on another; all ranks give a dim one extent")
            .raise();
    }
  }
  constexpr void cost(tally& t, results, operands x) const {
    const unsigned over = talk(x[0]);
    const index_t bytes = 2 * index_t{sizeof(index_t)} * own.count;
    if (over == 0 || bytes == 0) return;
    const index_t n = group_size(over, x[0].sizes());
    t.collective(event_kind::all_reduce, over, bytes, ring_bytes(event_kind::all_reduce, bytes, n));
  }
};

/// Does the type say all extents?
template <class X> inline constexpr bool says_extents = spec_facts<spec_of<X>>.is_static;
template <> inline constexpr bool says_extents<poison> = true;

/// Of tensors that have a shape, which sketches have not.
template <class X, class... More>
constexpr void compare_extents(extent_claims own, const X& x, const More&... more) {
  if constexpr (!(is_poison<X> || ... || is_poison<More>))
    if (core_of(x).facts->sketched == nullptr) {
      own.add(core_of(x));
      (own.add(core_of(more)), ...);
      (void)apply_rule<extents_rule, std::int32_t>(extents_op{own}, stop_gradient(x));
    }
}
/// Compares an extent that D is to have, and those of x.
template <class D, class X> constexpr void compare_extent(index_t extent, const X& x) {
  extent_claims own;
  own.add(&facts_of_dim<D>, extent);
  compare_extents(own, x);
}

}  // namespace detail

/// x itself, when all ranks of its mesh have agreed on its run-time extents, and on those of other
/// tensors: one all-reduce of two numbers for each, none where types say all. Throws
/// dimesh::error on all ranks, naming the dim, where they disagree. (In checked builds the
/// comparison of operands says it first.)
template <Operand X, Operand... More>
constexpr auto extents_all_reduce(const X& x, const More&... more) {
  static_assert(sizeof...(More) < detail::max_operands, "dimesh: operations take fewer operands");
  if constexpr (!(detail::says_extents<X> && ... && detail::says_extents<More>))
    detail::compare_extents({}, x, more...);
  return x;
}

}  // namespace dimesh
