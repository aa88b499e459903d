// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who has the greatest element where ranks split what it is the greatest of? Every rank tells the
// place of its first element that is equal to it, and the least of these places is whose gradient
// it is: of equals the first, in the order of the elements of the whole.
//
//   first_place_op<T>{call}        x, its extremes -> places, partial_min where x is split
//   at_place_op<T, false>{call}    x, places, extremes -> the elements there, addends where split
#pragma once

#include <algorithm>
#include <limits>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/moments.hpp"
#include "dimesh/op/parts/among.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh::detail {

inline constexpr index_t nowhere_among = std::numeric_limits<index_t>::max();

/// f(result, element, place) for the elements of x: the place is counted in row-major order over
/// the dims that the results lack, whole.
template <class F>
void for_each_place(const tensor_core& x, const tensor_core& result, const F& f) {
  local::loops<2> l;
  index_t step = 1, origin = 0;
  l.groups = x.rank();
  for (int d = x.rank() - 1; d >= 0; --d) {
    const int at = result.facts->place_of(x.facts->dim[d]);
    l.extent[d] = x.local(d);
    l.stride[0][d] = at < 0 ? 0 : result.stride(at);
    l.stride[1][d] = at < 0 ? step : 0;
    if (at >= 0) continue;
    origin += x.own(d).offset * step;
    step *= x.extent(d);
  }
  if (x.elements() == 0) return;
  const index_t dr = local::detail::inner_step(l, 0), dp = local::detail::inner_step(l, 1);
  local::detail::for_rows(l, [&](const index_t* at, index_t element, index_t n) {
    const writes_memory loop;
    for (index_t i = 0; i < n; ++i) f(at[0] + i * dr, element + i, origin + at[1] + i * dp);
  });
}

/// x, its extremes over all ranks -> the places of the first elements here that equal them.
template <class T> struct first_place_op {
  static constexpr bool on_host = true;
  std::string_view call;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), y[0].bytes() + bytes_of(x));
  }
  void fill(results y, operands in) const {
    const T *const v = in[0].data<const T>(), *const best = in[1].data<const T>();
    index_t* const to = y[0].data<index_t>();
    const writes_memory kernel;
    std::fill_n(to, y[0].elements(), nowhere_among);
    for_each_place(in[0], y[0], [=](index_t o, index_t e, index_t place) {
      const bool is_it = v[e] == best[o] || (v[e] != v[e] && best[o] != best[o]);
      if (is_it) to[o] = std::min(to[o], place);
    });
  }
};

/// From x and places to the elements there, of whoever has them; where nobody has, the extreme from
/// the first rank. Back: from these and places to what lies as x, zero elsewhere.
template <class T, bool Back> struct at_place_op {
  static constexpr bool on_host = true;
  std::string_view call;
  const tensor_facts* like = nullptr;  // Back: the facts of x
  index_t extent[max_dims]{};  // and its extents

  constexpr index_t extent_of(const dim_facts* d) const {
    const int at = like == nullptr ? -1 : like->place_of(d);
    return at < 0 ? dynamic : extent[at];
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(Back ? y[0].elements() : x[0].elements(), y[0].bytes() + bytes_of(x));
  }
  void fill(results y, operands in) const {
    const index_t* const at = in[1].data<const index_t>();
    const T* const from = in[0].data<const T>();
    T* const to = y[0].data<T>();
    const writes_memory kernel;
    if constexpr (Back) {
      for_each_place(y[0], in[0], [=](index_t o, index_t e, index_t place) {
        to[e] = at[o] == place ? from[o] : T(0);
      });
    } else {
      const bool speaks = in.count() > 2 && is_first(in[0], y[0]);
      const T* const best = speaks ? in[2].data<const T>() : nullptr;
      for (index_t o = 0, n = y[0].elements(); o < n; ++o)
        to[o] = speaks && at[o] == nowhere_among ? best[o] : no_addend<T>();
      for_each_place(in[0], y[0], [=](index_t o, index_t e, index_t place) {
        if (at[o] == place) to[o] = from[e];
      });
    }
  }
  static constexpr bool needs(int k, unsigned) { return k == 1; }
  constexpr void transpose(const auto& to) const {
    if constexpr (Back) {
      to.give(0, at_place_op<T, false>{call}, to.ybar, to.x(1));
    } else {
      at_place_op<T, true> back{call, to.x(0).facts};
      for (int d = 0; d < to.x(0).rank(); ++d) back.extent[d] = to.x(0).extent(d);
      to.give(0, back, to.ybar, to.x(1));
    }
  }

 private:
  /// Is this rank the first along the axes that split what is joined?
  static bool is_first(const tensor_core& x, const tensor_core& y) {
    for (int d = 0; d < x.rank(); ++d)
      if (y.facts->place_of(x.facts->dim[d]) < 0)
        for (int a = 0; a < x.layout().axes; ++a)
          if ((x.layout().axes_of(d) >> a & 1u) && x.grid->coords()[a] != 0) return false;
    return true;
  }
};

}  // namespace dimesh::detail
