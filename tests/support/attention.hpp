// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is attention, written naively on whole arrays? Dims by name: batch, heads, group (of queries
// alone), length (of queries), key, head.
//
//   attended(q, k, v, {.causal = true})   -> an array as q
#pragma once

#include <functional>

#include "dimesh/op/attention.hpp"
#include "support/laws.hpp"
#include "support/places.hpp"

namespace test_support {

struct batch : dimesh::dim<> {};
struct heads : dimesh::dim<> {};
struct group : dimesh::dim<> {};
struct length : dimesh::dim<> {};
struct key : dimesh::dim<> {};
struct head : dimesh::dim<> {};

/// Does a query see a key?
inline bool sees(const dimesh::attention_options& o, index_t query, index_t at) {
  query += o.offset;
  if (o.causal && at > query) return false;
  return o.window == 0 || std::abs(query - at) < o.window;
}

/// 0 for a dropped weight, else what it grows by. `row`: the query's index among all.
inline double kept(const dimesh::attention_options& o, index_t row, index_t at, index_t keys) {
  if (o.dropout == 0) return 1;
  const double limit = std::floor(o.dropout * 0x1p16);
  const auto word = o.key.at((row * ((keys + 63) / 64) + at / 64) * 8 + at % 8).word[at % 64 / 16];
  return (at / 8 % 2 == 0 ? word & 0xffffu : word >> 16) < limit ? 0 : 1 / (1 - limit * 0x1p-16);
}

/// Does data let the query at these places of all dims see the key there? The last place is the
/// key's, and the names of all dims are given.
using seen_function = std::function<bool(const names&, const extents&)>;

inline array attended(const array& q, const array& k, const array& v,
                      const dimesh::attention_options& o, const seen_function& seen = {}) {
  const auto extent = [](const array& a, const char* dim) {
    return a.size[static_cast<std::size_t>(a.place(dim))];
  };
  const index_t keys = extent(k, "key"), width = extent(q, "head");
  const double scale = o.scale != 0 ? o.scale : 1 / std::sqrt(static_cast<double>(width));
  names all = q.dims;
  all.push_back("key");
  const auto at_head = static_cast<std::size_t>(q.place("head"));
  return make(q.dims, q.size, [&](const extents& index) {
    extents i = index;
    i.push_back(0);
    index_t row = 0;
    for (std::size_t d = 0; d < q.dims.size(); ++d)
      if (d != at_head) row = row * q.size[d] + index[d];
    double sum = 0, mixed = 0;
    for (index_t j = 0; j < keys; ++j) {
      if (!sees(o, index[static_cast<std::size_t>(q.place("length"))], j)) continue;
      i.back() = j;
      if (seen && !seen(all, i)) continue;
      double score = 0;
      for (index_t h = 0; h < width; ++h) {
        i[at_head] = h;
        score += value_at(q, all, i) * value_at(k, all, i);
      }
      i[at_head] = index[at_head];
      const double weight = std::exp(scale * score);
      sum += weight;
      mixed += weight * kept(o, row, j, keys) * value_at(v, all, i);
    }
    return sum > 0 ? mixed / sum : 0;
  });
}

/// Queries, keys and values of reals.
struct attention_arrays {
  array q, k, v;
  attention_arrays(index_t b, index_t h, index_t g, index_t n, index_t m, index_t width)
      : q(reals({"batch", "length", "heads", "group", "head"}, {b, n, h, g, width}, 1)),
        k(reals({"batch", "key", "heads", "head"}, {b, m, h, width}, 2)),
        v(reals({"batch", "key", "heads", "head"}, {b, m, h, width}, 3)) {}
};
template <class T, class L>
using queries_of = dimesh::tensor<T, L, batch, length, heads, group, head>;
template <class T, class L> using keys_of = dimesh::tensor<T, L, batch, key, heads, head>;

}  // namespace test_support
