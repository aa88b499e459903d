// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do windows give, computed on whole arrays element by element? Oracles for convolutions and
// pooling, and the moves that tests make.
//
//   convolved({"p", "rows", "r"}, a, b, {{"high", "tall", "rows", 1, 1, 0, 4}})
#pragma once

#include <algorithm>
#include <limits>

#include "dimesh/op/parts/window.hpp"
#include "support/oracle.hpp"

namespace test_support {

struct high : dimesh::dim<> {};
struct wide : dimesh::dim<> {};
struct deep : dimesh::dim<> {};
struct tall : dimesh::dim<> {};  // taps
struct broad : dimesh::dim<> {};
struct thick : dimesh::dim<> {};
struct rows : dimesh::dim<> {};  // results
struct columns : dimesh::dim<> {};
struct layers : dimesh::dim<> {};

/// A window for the oracle: o sees stride o + dilation t - before.
struct seen {
  std::string from, tap, to;
  index_t stride, dilation, before, results;
};

/// The dims and extents of the result and of all that is summed; then the value there.
inline array convolved(const names& out, const array& x, const array& w,
                       const std::vector<seen>& v) {
  array all = union_of({x, w});
  for (const seen& s : v) {
    const auto at = static_cast<std::size_t>(all.place(s.from));
    all.dims[at] = s.to, all.size[at] = s.results;
  }
  names order = out;
  for (const std::string& d : all.dims)
    if (std::find(out.begin(), out.end(), d) == out.end()) order.push_back(d);
  extents kept, summed;
  for (std::size_t d = 0; d < order.size(); ++d)
    (d < out.size() ? kept : summed)
        .push_back(all.size[static_cast<std::size_t>(all.place(order[d]))]);
  return make(out, kept, [&](const extents& at) {
    double sum = 0;
    for_each_index(summed, [&](const extents& under) {
      extents index = at;
      index.insert(index.end(), under.begin(), under.end());
      names in_x = order;
      extents at_x = index;
      for (const seen& s : v) {
        const auto o = std::find(order.begin(), order.end(), s.to) - order.begin();
        const auto t = std::find(order.begin(), order.end(), s.tap) - order.begin();
        const index_t i = s.stride * index[static_cast<std::size_t>(o)] +
                          s.dilation * index[static_cast<std::size_t>(t)] - s.before;
        if (i < 0 || i >= x.size[static_cast<std::size_t>(x.place(s.from))]) return;
        in_x[static_cast<std::size_t>(o)] = s.from;
        at_x[static_cast<std::size_t>(o)] = i;
      }
      sum += value_at(x, in_x, at_x) * value_at(w, order, index);
    });
    return sum;
  });
}

/// What a window does along one dim, and what it must give.
struct window_case {
  index_t n, taps, stride, dilation;
  dimesh::padding around;
  index_t before, results;
};
inline const std::vector<window_case> window_cases = {
    {6, 3, 1, 1, dimesh::padding::valid, 0, 4},
    {6, 3, 1, 1, dimesh::padding::same, 1, 6},
    {7, 2, 2, 1, dimesh::padding::same, 0, 4},
    {5, 4, 1, 1, dimesh::padding::same, 1, 5},
    {7, 3, 2, 2, {2, 3}, 2, 4},
    {4, 1, 3, 1, dimesh::padding::valid, 0, 2},
    {2, 3, 1, 1, {3, 4}, 3, 7},
    {2, 3, 1, 1, dimesh::padding::valid, 0, 0},
};

/// The greatest element (mean: false) or the mean of the windows along high, in wide if there is a
/// second one; those of no elements give -inf or 0.
inline array pooled_whole(const array& a, bool mean, const seen& v, index_t size) {
  return make({"p", "rows", "q"}, {a.size[0], v.results, a.size[2]}, [&](const extents& at) {
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    index_t n = 0;
    for (index_t t = 0; t < size; ++t) {
      const index_t i = v.stride * at[1] + v.dilation * t - v.before;
      if (i < 0 || i >= a.size[1]) continue;
      const double one = value_at(a, a.dims, {at[0], i, at[2]});
      sum += one, most = std::max(most, one), ++n;
    }
    return mean ? (n == 0 ? 0 : sum / static_cast<double>(n)) : most;
  });
}

/// x[p, i, q]: the sum of y[p, o, r] w[t, q, r] with i = stride o + dilation t - before.
inline array transposed_whole(const array& y, const array& w, const window_case& m) {
  return make({"p", "high", "q"}, {y.size[0], m.n, w.size[1]}, [&](const extents& at) {
    double sum = 0;
    for_each_index({m.results, m.taps, y.size[2]}, [&](const extents& k) {
      if (m.stride * k[0] + m.dilation * k[1] - m.before == at[1])
        sum += value_at(y, y.dims, {at[0], k[0], k[2]}) * value_at(w, w.dims, {k[1], at[2], k[2]});
    });
    return sum;
  });
}

/// The same over several windows, whatever other dims there are: each product of an element and a
/// tap is added where it belongs. Shapes: y, w -> the dims named, so long.
inline array transposed_over(const names& out, const extents& size, const array& y, const array& w,
                             const std::vector<seen>& v) {
  const array all = union_of({y, w});
  array x{out, size, {}};
  x.values.assign(static_cast<std::size_t>(x.count()), 0);
  for_each_index(all.size, [&](const extents& at) {
    const auto along = [&](const std::string& dim) {
      return at[static_cast<std::size_t>(all.place(dim))];
    };
    index_t place = 0;
    for (std::size_t d = 0; d < out.size(); ++d) {
      const auto s =
          std::find_if(v.begin(), v.end(), [&](const seen& o) { return o.from == out[d]; });
      const index_t i = s == v.end()
                            ? along(out[d])
                            : s->stride * along(s->to) + s->dilation * along(s->tap) - s->before;
      if (i < 0 || i >= size[d]) return;
      place = place * size[d] + i;
    }
    x.values[static_cast<std::size_t>(place)] +=
        value_at(y, all.dims, at) * value_at(w, all.dims, at);
  });
  return x;
}

}  // namespace test_support
