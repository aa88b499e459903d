// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a model that writes keep of what it has read? The keys and values of all positions so
// far, layer by layer: a new token then costs the products of one token, and a look at these.
// Typed as the model computes them: where C splits the length, each rank keeps its positions.
//
//   text_cache<C, form> kept(g);        // a layer_cache a layer, and how many positions they hold
//   kept.layers[0].key                  // [batch, length, key heads..., head], as is .value
#pragma once

#include <algorithm>
#include <vector>

#include "dimesh/fill.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/local/copy.hpp"
#include "dimesh/nn/form.hpp"
#include "dimesh/nn/multi_head.hpp"
#include "dimesh/op/whole.hpp"
#include "dimesh/reflect/clone.hpp"

namespace dimesh::nn {

/// The tokens that a model is given next: one, or the beginning of a text.
struct next_tokens : dim<> {
  using dim<>::dim;
};
/// A form as of models that are given those.
template <class M> struct form_of_next : M {
  using length = next_tokens;
};
/// A form of another batch: of one text, say. Its parameters are those of M.
template <class M, Dim Batch> struct with_batch : M {
  using batch = Batch;
};

namespace detail {

/// May what is kept be split along its second dim? Where the axes that do so split nothing of the
/// next tokens' rows, nor of their queries, and the other dims lie as in these rows.
template <class Kept, class Rows, class Queries> constexpr bool splits_apart() {
  constexpr auto kept = spec_of<Kept>::table, rows = spec_of<Rows>::table,
                 queries = spec_of<Queries>::table;
  for (int a = 0; a < kept.axes; ++a) {
    const bool along = kept.axis[a].what == use::split && static_cast<int>(kept.axis[a].dim) == 1;
    if (along ? rows.axis[a].what == use::split || queries.axis[a].what == use::split
              : !(kept.axis[a] == rows.axis[a]))
      return false;
  }
  return true;
}
/// What C makes of the next tokens' queries, or of their keys.
template <class C, class M, class Heads> struct next_rows;
template <class C, class M, class... H> struct next_rows<C, M, shape<H...>> {
  using layout_type = layout_over<C, list<typename M::batch, next_tokens, H..., typename M::head>>;
  using type = tensor<typename M::element, layout_type, typename M::batch, next_tokens, H...,
                      typename M::head>;
};

template <class C, class M, class Length, class Heads> struct kept_type;
template <class C, class M, class Length, class... H> struct kept_type<C, M, Length, shape<H...>> {
  using next_type = next_rows<C, M, shape<H...>>;
  using layout_type = typename next_type::layout_type;
  template <class L>
  using rows = tensor<typename M::element, L, typename M::batch, Length, H..., typename M::head>;
  using split_type = rows<layout_over<C, list<typename M::batch, Length, H..., typename M::head>>>;
  using whole_type = rows<layout_type>;
  static constexpr bool splits = splits_apart<split_type, typename next_type::type,
                                              typename next_rows<C, M, typename M::heads>::type>();
  using type = std::conditional_t<splits, split_type, whole_type>;
};
template <class C, class M, class Length = typename M::length>
using kept_along = kept_type<C, M, Length, typename key_heads_of<M>::type>;

}  // namespace detail

/// The keys of a layer as they are kept, or its values.
template <Layout C, class Form>
using kept_rows = typename detail::kept_along<C, form_of<Form>>::type;

namespace detail {
/// y's rows along its length become, from row `at` on, those of x along next_tokens. Shapes: y
/// [batch, length, ..], x [batch, next_tokens, ..], layouts alike but for the length: a rank keeps
/// the rows of its block. Local, in place.
template <Tensor Y, Tensor X> void store_rows(Y& y, index_t at, const X& x) {
  index_t inner = 1;
  for (int d = 2; d < X::rank; ++d) inner *= x.local(d);
  const auto mine = y.block(1);
  const index_t first = std::max(at, mine.offset);
  const index_t end = std::min(at + x.local(1), mine.offset + mine.length);
  if (first >= end) return;
  dimesh::detail::own_memory(y, true);
  const index_t extent[] = {x.local(0), (end - first) * inner};
  const index_t from[] = {x.local(1) * inner, 1}, to[] = {mine.length * inner, 1};
  const dimesh::detail::in_space there(dimesh::detail::core_of(y).facts->space);
  local::copy_box(2, extent, x.data() + (first - at) * inner, from,
                  y.data() + (first - mine.offset) * inner, to);
}
}  // namespace detail

/// What a layer keeps. Zeros at first: attention may read ahead, with weights of 0.
template <Layout C, class Form> struct layer_cache {
  kept_rows<C, Form> key{}, value{};

  layer_cache() = default;
  template <class G> explicit layer_cache(const G& g) : key(g), value(g) {
    fill(key, 0);
    fill(value, 0);
  }
};

namespace detail {
template <Tensor X> void reorder_rows(X& x, const std::vector<index_t>& from) {
  using batch = dimesh::detail::type_at<0, typename spec_of<X>::dims>;
  const auto all = dimesh::clone(whole<batch>(x));  // of this rank's rows' sources
  dimesh::detail::own_memory(x, true);
  index_t row = 1;
  for (int d = 1; d < x.rank; ++d) row *= x.local(d);
  const index_t bytes = row * static_cast<index_t>(sizeof(value_of<X>));
  const dimesh::detail::in_space there(dimesh::detail::core_of(x).facts->space);
  const index_t first = dimesh::detail::core_of(x).own(0).offset;
  for (index_t b = 0; b < x.local(0); ++b) {
    const auto to = static_cast<std::size_t>(first + b);
    if (to < from.size())
      dimesh::detail::copy_bytes(x.data() + b * row, all.data() + from[to] * row, bytes);
  }
}
}  // namespace detail

/// What all layers keep, and how many positions that are.
template <Layout C, class Form> struct text_cache {
  std::vector<layer_cache<C, Form>> layers{};
  index_t filled = 0;

  text_cache() = default;
  template <class G> explicit text_cache(const G& g) {
    for (int i = 0; i < form_of<Form>::layers; ++i) layers.emplace_back(g);
  }
};

/// Row b of the batch becomes what row from[b] was; rows from the end of `from` on stay. In place.
/// Communicates where the batch is split.
template <Layout C, class Form>
void reorder(text_cache<C, Form>& kept, const std::vector<index_t>& from) {
  for (auto& layer : kept.layers)
    for (auto* const x : {&layer.key, &layer.value}) detail::reorder_rows(*x, from);
}

}  // namespace dimesh::nn
