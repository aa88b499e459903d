// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a pool of windows become loops over a rank's arrays? By what its windows see, be it all
// at once or part by part.
//
//   pooled_windows w;  w.add("max_pool", 8, pool_window<height, high>{.size = 2})
//   w.join(x, y, lowest, {"max_pool"}, join)   -> join has been called for all windows of y
#pragma once

#include <algorithm>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pooling.hpp"
#include "dimesh/op/parts/window.hpp"
#include "dimesh/op/parts/window_interior.hpp"

namespace dimesh::detail {

/// What windows join: loops over arrays as a view shows them, and results that lie as y.
struct pooled_windows : window_set {
  /// V: a pool_window, over n elements.
  template <class V> constexpr void add(std::string_view call, index_t n, const V& v) {
    local::window_loop m;
    m.stride = v.stride == 0 ? v.size : v.stride, m.dilation = v.dilation;
    m.extent[0] = n, m.extent[1] = v.size;
    m.extent[2] = results_over(call, n, v.size, m.stride, m.dilation, v.around, m.before);
    require_results<typename V::from, typename V::to>(call, m.extent[2], n);
    window_set::add({{&facts_of_dim<typename V::from>, nullptr, &facts_of_dim<typename V::to>}}, m);
  }
  constexpr windowed_view view(const tensor_core& x, const tensor_core& y) const {
    return {*this, local::window_role::array, x, y};
  }
  constexpr bool is_windowed(const dim_facts* array_dim) const {
    return extent_of(array_dim, local::window_role::array) != dynamic;
  }
  /// How many pairs of a result and an element of its window there are in x.
  constexpr index_t meetings(const tensor_core& x, const windowed_view& v) const {
    index_t n = 1;
    for (int d = 0; d < x.rank(); ++d)
      if (!is_windowed(x.facts->dim[d])) n *= x.local(d);
    for (int i = 0; i < count; ++i) n *= local::pairs_of(v.local_moves(i));
    return n;
  }
  /// Over a part; what its windows see of x is in an array that holds box `lies`. Dims of y stand
  /// in the order of those of x.
  local::pooling over(const tensor_core& x, const windowed_view& v, const tensor_core& y,
                      const box& lies, const window_part& part) const {
    const strides in_view(lies);
    local::pooling p;
    for (int d = 0; d < x.rank(); ++d) {
      if (is_windowed(x.facts->dim[d])) continue;
      p.extent[p.rest] = x.local(d);
      p.x_step[p.rest] = in_view.at[d], p.y_step[p.rest++] = y.stride(d);
    }
    p.windows = count;
    for (int i = 0; i < count; ++i) {
      local::window_loop& w = p.window[i] = v.local_moves(i, part);
      const int d = x.facts->place_of(dims[i].dim[0]);
      w.step[0] = in_view.at[d], w.step[2] = y.stride(d);
    }
    return p;
  }
  /// Over all of the block.
  local::pooling over(const tensor_core& x, const windowed_view& v, const tensor_core& y) const {
    return over(x, v, y, v.here(), v.whole());
  }
  /// join(loops, what they see of x, results, how many of these it has to set first): of the block
  /// of y, or part by part, where all results are set to `none`.
  template <class T, class F>
  void join(const tensor_core& x, tensor_core& y, T none, const window_call& call,
            const F& join) const {
    const windowed_view v = view(x, y);
    const T* const from = x.data<const T>();
    T* const to = y.data<T>();
    if (!call.beside || !v.travels()) {
      storage room;
      return join(over(x, v, y), v.fetch(from, call.name.data(), room), to, y.elements());
    }
    set_all(to, y.elements(), none);
    const box block = v.whole().of;
    beside_messages(v, from, y, call.name.data(),
                    [&](const T* seen, const box& lies, const window_part& part) {
                      join(over(x, v, y, lies, part), seen + first_in(lies, part.seen),
                           to + first_in(block, part.of), index_t{0});
                    });
  }

 private:
  template <class T> static void set_all(T* y, index_t n, T value) {
    const writes_memory kernel;
    std::fill_n(y, n, value);
  }
};

}  // namespace dimesh::detail
