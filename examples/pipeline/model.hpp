// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What goes through the pipeline? A byte-level Transformer of eight layers: tokens become vectors
// in the first cell, layers are dealt out evenly, the last cell's vectors become scores of all
// bytes. A cell's weights are a tuple, in the order in which a micro-batch meets them.
#pragma once

#include <dimesh/dimesh.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/nn/language_model.hpp>
#include <dimesh/pipeline/pipeline.hpp>

namespace dm = dimesh;
namespace nn = dimesh::nn;

struct batch : dm::dim<4> {};  // rows of a micro-batch
struct length : dm::dim<64> {};
struct model : dm::dim<64> {};
struct heads : dm::dim<2> {};
struct head : dm::dim<32> {};
struct hidden : dm::dim<256> {};
struct vocab : dm::dim<256> {};  // all bytes
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};

constexpr std::size_t depth = 8;

struct form : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = static_cast<int>(depth);
  static constexpr bool tied = false;
};

using everywhere = dm::layout<pod>;
using by_rows = dm::layout<pod, dm::split<batch, rows>>;
/// At coordinate K: weights whole, activations cut by rows.
template <int K> using at = dm::layout<pod, dm::placed<stage, K>>;
template <int K> using rows_at = dm::layout<pod, dm::placed<stage, K>, dm::split<batch, rows>>;

using tokens = dm::tensor<std::int32_t, by_rows, batch, length>;
/// All weights on all ranks: what every division into cells begins with.
using whole = nn::language_model_parameters<everywhere, form>;

template <class L> struct beginning {
  using config = nn::form_of<form>;
  using embedding_type = nn::weight<L, config, vocab, model>;
  using positions_type = nn::weight<L, config, length, model>;
  BOOST_HANA_DEFINE_STRUCT(beginning, (embedding_type, embedding), (positions_type, positions));
};
template <class L> struct ending {
  using config = nn::form_of<form>;
  using norm_type = nn::norm_parameters<L, config>;
  using head_type = nn::weight<L, config, model, vocab>;
  BOOST_HANA_DEFINE_STRUCT(ending, (norm_type, last), (head_type, head));
};
template <class L, std::size_t N>
using layers = std::array<nn::block_parameters<L, nn::form_of<form>>, N>;

// ---- functions of the cells, at coordinate K ----------------------------------------------------

template <int K> using network = nn::model<rows_at<K>, nn::form_of<form>>;
template <int K> struct to_vectors {
  template <class W, class X> constexpr auto operator()(const W& w, const X& ids) const {
    const network<K> m;
    return nn::add_positions(m, w.positions, nn::embed(m, w.embedding, ids));
  }
};
template <int K> struct one_layer {
  template <class W, class X> constexpr auto operator()(const W& w, const X& x) const {
    return nn::block(network<K>{}, w, x);
  }
};
template <int K> struct to_scores {
  template <class W, class X> constexpr auto operator()(const W& w, const X& x) const {
    const network<K> m;
    return nn::project<float>(m, nn::norm(m, w.last, x), w.head);
  }
};

// ---- cells at the places K... -------------------------------------------------------------------

/// Cell I of n, at K.
template <int K, std::size_t I, std::size_t N> constexpr auto cell_function() {
  if constexpr (N == 1)
    return dm::in_turn(to_vectors<K>{}, dm::each_of(one_layer<K>{}), to_scores<K>{});
  else if constexpr (I == 0)
    return dm::in_turn(to_vectors<K>{}, dm::each_of(one_layer<K>{}));
  else if constexpr (I + 1 == N)
    return dm::in_turn(dm::each_of(one_layer<K>{}), to_scores<K>{});
  else
    return dm::in_turn(dm::each_of(one_layer<K>{}));
}

/// The same tensors at coordinate K.
template <int K, class To, class From> To placed(const dm::grid<pod>& g, const From& from) {
  To to = dm::make<To>(g);
  dm::for_each_tensor(
      [](const auto&, auto& t, const auto& f) { t = dm::clone(dm::place<stage, K>(f)); }, to, from);
  return to;
}
template <int K, std::size_t I, std::size_t N>
auto cell_weights(const dm::grid<pod>& g, const whole& all) {
  layers<at<K>, depth / N> own;
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i] = placed<K, typename decltype(own)::value_type>(g, all.layers[I * own.size() + i]);
  const auto begins = [&] {
    beginning<at<K>> b;
    b.embedding = dm::clone(dm::place<stage, K>(all.embedding));
    b.positions = dm::clone(dm::place<stage, K>(all.positions));
    return b;
  };
  const auto ends = [&] {
    return ending<at<K>>{placed<K, typename ending<at<K>>::norm_type>(g, all.last),
                         dm::clone(dm::place<stage, K>(all.head))};
  };
  if constexpr (N == 1)
    return std::make_tuple(begins(), own, ends());
  else if constexpr (I == 0)
    return std::make_tuple(begins(), own);
  else if constexpr (I + 1 == N)
    return std::make_tuple(own, ends());
  else
    return std::make_tuple(own);
}

/// The pipeline whose cells live at K..., and its weights.
template <int... K> constexpr auto pipeline_at() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return dm::pipeline<stage>(dm::cell<K>(cell_function<K, I, sizeof...(K)>())...);
  }(std::make_index_sequence<sizeof...(K)>());
}
template <int... K> auto weights_at(const dm::grid<pod>& g, const whole& all) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::make_tuple(cell_weights<K, I, sizeof...(K)>(g, all)...);
  }(std::make_index_sequence<sizeof...(K)>());
}
