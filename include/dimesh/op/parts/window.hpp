// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elements does a window see, and what may the tensors be that it joins? What is common to
// convolutions and pooling: windows by the names of dims, what the run says of them, and their
// rules.
//
//   window<height, tall, high>{.stride = 2, .around = padding::same}
//     -> result o of `high` sees elements 2 o - before + t of height, for t in `tall`
#pragma once

#include "dimesh/op/parts/einsum_op.hpp"
#include "dimesh/op/parts/strided.hpp"
#include "dimesh/op/parts/window_exchange.hpp"
#include "dimesh/op/window.hpp"

namespace dimesh {

namespace detail {

/// A call, and whether the interior is computed while others' elements are on their way.
struct window_call {
  std::string_view name;
  bool beside = false;
};

template <class V>
inline constexpr window_dims dims_of_window{{&facts_of_dim<typename V::from>,
                                             &facts_of_dim<typename V::tap>,
                                             &facts_of_dim<typename V::to>}};

/// How many results a window has over n elements; what `same` puts before them goes to `before`.
/// Throws dimesh::error where the numbers make no sense.
constexpr index_t results_over(std::string_view call, index_t n, index_t taps, index_t stride,
                               index_t dilation, const padding& p, index_t& before) {
  if (stride < 1 || dilation < 1 || taps < 1 || p.before < 0 || p.after < 0)
    (words() << call << ": a window has taps, and its stride and dilation are at least 1, paddings "
             << "at least 0; these are " << taps << ", " << stride << ", " << dilation << ", "
             << p.before << ", " << p.after)
        .raise();
  const index_t reach = dilation * (taps - 1) + 1;
  if (p.is_same) {
    const index_t results = (n + stride - 1) / stride;
    const index_t around = (results - 1) * stride + reach - n;
    before = around > 0 ? around / 2 : 0;
    return results;
  }
  before = p.before;
  const index_t room = n + p.before + p.after - reach;
  return room < 0 ? 0 : room / stride + 1;
}
/// The extent that dim D of a result has where it must have n. Throws dimesh::error where it has
/// another one: of its type, or as a dim of the operand that stays.
template <class From, class To>
constexpr void require_results(std::string_view call, index_t n, index_t has) {
  const index_t fixed = is_static_dim<To> ? static_extent<To> : std::is_same_v<From, To> ? has : n;
  if (fixed != n)
    (words() << call << ": there are " << n << " results along dim '" << name_of<To>()
             << "', which has " << fixed << " elements; name a dim for the result, or pad")
        .raise();
}

/// The facts of x with dim `to` in the place of `from`. Blocks stay of one kind; where they are cut
/// is known of the old dim only.
constexpr facts_of_own_dims facts_renamed(facts_of_own_dims x, const dim_facts* from,
                                          const dim_facts* to) {
  const int at = x.place_of(from);
  x.set_dim(at, to);
  x.layout.ragged[at] = x.layout.ragged[at] && same_dim(from, to);
  return x;
}
/// Is this dim of an operand there, and whole, or may it be split?
constexpr outcome windowed_dim(const tensor_facts& x, const dim_facts* d, bool may_split) {
  const int at = x.place_of(d);
  if (at < 0) return blamed(fault_code::dim_not_in_tensor, d);
  const int axis = first_axis(x.layout.axes_of(at));
  return axis < 0 || may_split ? allowed(x.layout) : blamed(fault_code::dim_is_split, d, axis);
}
/// A layout of `dims` on the mesh of x, which static extents must allow.
constexpr outcome laid_out(tensor_facts x, dim_list dims, const table& t) {
  x.dim = dims.at, x.rank = dims.size;
  return relaid(x, t);
}

/// Arrays and filters: windows aside, a product. Views of what windows see are boxes without halos,
/// of other dims neither.
constexpr outcome convolution_rule_of(rule_operands x, const window_dims* w, int windows,
                                      dim_list out, bool may_split) {
  if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
  for (int k = 0; k < 2; ++k)
    if (const dim_facts* const h = haloed_dim(x[k])) return blamed(fault_code::dim_has_halo, h);
  facts_of_own_dims array = x[0], filter = x[1];
  for (int i = 0; i < windows; ++i) {
    const auto [from, tap, to] = w[i].dim;
    for (int k = 0; k < i; ++k)
      for (int j = 0; j < 3; ++j)
        if (same_dim(w[i].dim[j], w[k].dim[j]))
          return blamed(fault_code::dim_repeated, w[i].dim[j]);
    for (const auto& o : {windowed_dim(x[0], from, may_split), windowed_dim(array, from, may_split),
                          windowed_dim(filter, tap, false)})
      if (!o.ok()) return o;
    if (!same_dim(from, to) && array.place_of(to) >= 0)
      return blamed(fault_code::dim_already_in_tensor, to);
    for (const dim_facts* d : {from, to})
      if (filter.place_of(d) >= 0) return blamed(fault_code::dim_already_in_tensor, d);
    if (array.place_of(tap) >= 0 || out.has(tap))
      return blamed(fault_code::dim_already_in_tensor, tap);
    array = facts_renamed(array, from, to);
    filter = facts_without_dim(filter, tap);
  }
  const tensor_facts* const both[] = {&array, &filter};
  const outcome o = einsum_rule_of({both, 2}, out);
  return o.ok() && may_split ? laid_out(x[0], out, o.layout) : o;
}
/// Split: the dims of windows may be.
template <bool Split, class Out, class... V> struct convolution_rule {
  using named =
      typename concat_impl<list<>, Out,
                           list<typename V::from, typename V::tap, typename V::to>...>::type;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    constexpr window_dims w[] = {dims_of_window<V>...};
    return convolution_rule_of(x, w, sizeof...(V), out, Split);
  }
};

}  // namespace detail
}  // namespace dimesh
