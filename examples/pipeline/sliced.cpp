// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences in two slices, which follow each other through the pipeline as micro-batches do: each
// looks at the keys and values that those before it left at the stage (TeraPipe).

#include <dimesh/op/concat.hpp>
#include <dimesh/op/slice.hpp>
#include <dimesh/pipeline/slices.hpp>

#include "train.hpp"

namespace {

constexpr int slices = 2;  // of a sequence
struct piece : dm::dim<length::extent / slices> {};
struct key : dm::dim<> {
  using dim<>::dim;
};
struct form_of_pieces : form {
  using length = ::piece;
};
template <int K> using piece_network = nn::model<rows_at<K>, nn::form_of<form_of_pieces>>;
using pieces = dm::tensor<std::int32_t, by_rows, batch, piece>;
/// Keys, or values, of all positions up to now; of a layer, and of a cell.
template <int K> using seen = dm::tensor<float, rows_at<K>, batch, key, heads, head>;
template <int K, std::size_t N> using seen_by = std::array<std::array<seen<K>, 2>, N>;

/// One layer, given what those before it have seen: what it gives, and what it has seen now.
template <int K, class W, class X, class P>
constexpr auto layer_of_pieces(const W& w, const X& x, const P& past) {
  const piece_network<K> m;
  const auto in = nn::norm(m, w.norm1, x);
  const auto to = [&](const auto& by, const auto& bias) {
    return nn::add_bias(m, nn::project(m, in, by), bias);
  };
  const auto& a = w.attention;
  const P now{dm::concat<key>(past[0], dm::rename<piece, key>(to(a.key, a.key_bias))),
              dm::concat<key>(past[1], dm::rename<piece, key>(to(a.value, a.value_bias)))};
  const auto mixed =
      dm::attention<piece, key, head>(to(a.query, a.query_bias), now[0], now[1],
                                      {.causal = true, .offset = past[0].template extent<key>()});
  const auto y = nn::residual(m, x, nn::project(m, mixed, a.output), a.output_bias);
  return std::pair(nn::residual(m, y, nn::feed_forward(m, w.feed_forward, nn::norm(m, w.norm2, y)),
                                w.feed_forward.down_bias),
                   now);
}

/// Cell I of N, at K.
template <int K, std::size_t I, std::size_t N> struct cell_of_pieces {
  template <class W, class X, class P>
  constexpr auto operator()(const W& w, const X& x, const P& past) const {
    const piece_network<K> m;
    const auto begin = [&] {
      if constexpr (I == 0) {
        const auto& b = std::get<0>(w);
        const dm::index_t at = past[0][0].template extent<key>();
        return nn::embed(m, b.embedding, x) + dm::slice<length, piece>(b.positions, at);
      } else {
        return x;
      }
    };
    const auto& own = std::get < I == 0 ? 1 : 0 > (w);
    auto now = past;
    auto y = begin();
    for (std::size_t i = 0; i < own.size(); ++i)
      std::tie(y, now[i]) = layer_of_pieces<K>(own[i], y, past[i]);
    if constexpr (I + 1 == N) {
      const auto& e = std::get<std::tuple_size_v<W> - 1>(w);
      return std::pair(nn::project<float>(m, nn::norm(m, e.last, y), e.head), now);
    } else {
      return std::pair(y, now);
    }
  }
};

template <int K, std::size_t I, std::size_t N> auto cell_at(const dm::grid<pod>& g) {
  const auto nothing = [&g](int) {
    seen_by<K, depth / N> none;
    for (auto& layer : none) layer = {dm::zeros<seen<K>>(g, key{0}), dm::zeros<seen<K>>(g, key{0})};
    return none;
  };
  return dm::cell<K>(dm::carrying(cell_of_pieces<K, I, N>{}, nothing));
}

/// Slices of each sequence in order.
struct cut_in_slices {
  using type = pieces;
  std::vector<pieces> operator()(const std::vector<tokens>& all) const {
    std::vector<pieces> made;
    for (const tokens& t : all)
      for (int i = 0; i < slices; ++i)
        made.push_back(dm::slice<length, piece>(t, i * piece::extent));
    return made;
  }
};

template <int... K>
void train_at(const dm::grid<pod>& g, const settings& how, const text::book& c,
              std::vector<outcome>& all) {
  const dm::sliced schedule{sizeof...(K), slices * how.micros, slices};
  const auto net = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return dm::pipeline<stage>(cell_at<K, I, sizeof...(K)>(g)...);
  }(std::make_index_sequence<sizeof...(K)>());
  all.push_back(trainer<K...>(g, how).run("sliced", schedule, c, net, cut_in_slices{}));
}

}  // namespace

void train_sliced(const dm::grid<pod>& g, const settings& s, const text::book& c,
                  std::vector<outcome>& all) {
  if (s.schedule != "all" && s.schedule != "sliced") return;
  const auto stages = g.size<stage>();
  if (stages == 1) train_at<0>(g, s, c, all);
  if (stages == 2) train_at<0, 1>(g, s, c, all);
  if (stages == 4) train_at<0, 1, 2, 3>(g, s, c, all);
}
