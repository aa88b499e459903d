// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution net of cells like AmoebaNet's (Real et al. 2019, arXiv 1802.01548) over the stages
// of a pipeline: every cell takes what the two before it give, so that a skip connection crosses
// each boundary; reduction cells halve the images. The first cells cost most: the compiler counts
// what each computes and cuts the chain where the most expensive stage is cheapest. One, two and
// four stages learn the same: their predictions are equal, image by image.
//
//   amoeba_pipeline [STEPS [DATA]]
// ranks: 1 2 4
// args: 3
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/convolution.hpp>
#include <dimesh/op/pooling.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/pipeline/cut_layers.hpp>
#include <dimesh/pipeline/layer_costs.hpp>
#include <dimesh/pipeline/partition.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>
#include <iostream>

#include "common/image_source.hpp"

namespace dm = dimesh;

struct batch : dm::dim<16> {};  // images of a micro-batch
struct height : dm::dim<28> {};  // of images, after one reduction cell, after two
struct half : dm::dim<14> {};
struct low : dm::dim<7> {};
struct width : dm::dim<28> {};
struct half_width : dm::dim<14> {};
struct narrow : dm::dim<7> {};
struct tall : dm::dim<3> {};  // taps
struct wide : dm::dim<3> {};
struct channel : dm::dim<8> {};
struct other : dm::dim<8> {};
struct joined : dm::dim<16> {};  // both, side by side: what a cell gives
struct label : dm::dim<10> {};
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};
constexpr auto same = dm::padding::same;

using by_rows = dm::layout<pod, dm::split<batch, rows>>;
using images = dm::tensor<double, by_rows, batch, height, width>;
using targets = dm::tensor<double, by_rows, batch, label>;

template <class L> struct cell_weights {
  BOOST_HANA_DEFINE_STRUCT(cell_weights, (dm::tensor<double, L, joined, channel>, older),
                           (dm::tensor<double, L, joined, channel>, newer),
                           (dm::tensor<double, L, tall, wide, channel, other>, filter));
};
template <class L>
using weights = std::tuple<dm::tensor<double, L, tall, wide, joined>, cell_weights<L>,
                           cell_weights<L>, cell_weights<L>, cell_weights<L>, cell_weights<L>,
                           dm::tensor<double, L, joined, label>>;

struct stem {
  template <class W, class X> constexpr auto operator()(const W& w, const X& x) const {
    const auto y = dm::relu(dm::convolution<batch, height, width, joined>(
        x, w, dm::window<height, tall>{.around = same}, dm::window<width, wide>{.around = same}));
    return std::make_tuple(y, y);
  }
};
/// From images H x V to the same, or to others half as high and wide, by windows in steps of Step.
template <class H, class V, class H2, class V2, int Step> struct cell_of {
  template <class W, class X> constexpr auto operator()(const W& w, const X& two) const {
    const auto& [older, newer] = two;
    const auto p = dm::relu(dm::einsum<batch, H, V, channel>(older, w.older));
    const auto q = dm::relu(dm::einsum<batch, H, V, channel>(newer, w.newer));
    const auto left = mean(p) + max(q);
    const auto right = dm::rename<channel, other>(max(p)) +
                       dm::convolution<batch, H2, V2, other>(
                           q, w.filter, dm::window<H, tall, H2>{.stride = Step, .around = same},
                           dm::window<V, wide, V2>{.stride = Step, .around = same});
    const auto y = dm::concat<joined, channel, other>(left, right);
    if constexpr (Step == 1)
      return std::make_tuple(newer, y);
    else
      return std::make_tuple(max(newer), y);
  }
  static constexpr dm::pool_window<H, H2> rows_seen{.size = 3, .stride = Step, .around = same};
  static constexpr dm::pool_window<V, V2> columns_seen{.size = 3, .stride = Step, .around = same};
  static constexpr auto max(const auto& x) { return dm::max_pool(x, rows_seen, columns_seen); }
  static constexpr auto mean(const auto& x) { return dm::mean_pool(x, rows_seen, columns_seen); }
};
struct scores {
  template <class W, class X> constexpr auto operator()(const W& w, const X& two) const {
    return dm::einsum<batch, label>(dm::mean<low, narrow>(std::get<1>(two)), w);
  }
};
using large = cell_of<height, width, height, width, 1>;
using reduce_large = cell_of<height, width, half, half_width, 2>;
using middle = cell_of<half, half_width, half, half_width, 1>;
using reduce_middle = cell_of<half, half_width, low, narrow, 2>;
using small = cell_of<low, narrow, low, narrow, 1>;

constexpr auto costs =
    dm::layer_costs(dm::rebind_layout<images, dm::shaped>{},
                    dm::rebind_layout<weights<dm::layout<pod>>, dm::shaped>{}, stem{}, large{},
                    reduce_large{}, middle{}, reduce_middle{}, small{}, scores{});
template <int K> constexpr auto bounds = dm::partition<K>(costs);

template <int K> struct to_place {
  template <class> using of = dm::layout<pod, dm::placed<stage, K>>;
};
/// Layers From, From + 1, ... at coordinate K.
template <int K, int From, std::size_t... I>
auto cell_weights_at(const dm::grid<pod>& g, const weights<dm::layout<pod>>& all,
                     std::index_sequence<I...>) {
  const auto from = std::make_tuple(std::get<From + I>(all)...);
  using To = dm::rebind_layout<std::remove_const_t<decltype(from)>, to_place<K>::template of>;
  To to = dm::make<To>(g);
  dm::for_each_tensor(
      [](const auto&, auto& t, const auto& f) { t = dm::clone(dm::place<stage, K>(f)); }, to, from);
  return to;
}

constexpr dm::index_t micros = 4, images_of_step = micros * batch::extent;
struct outcome {
  double first_loss = 0, last_loss = 0;
  std::vector<int> labels = {};  // what the net says of images that it has not seen
};
template <int... K> outcome train(const image_source& from, int steps, int ranks) {
  constexpr int stages = sizeof...(K);
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{stages}, rows{ranks / stages});
  auto all = dm::make<weights<dm::layout<pod>>>(g);
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&](const auto&, auto& t) { dm::fill_normal(t, dm::random_key{seed++}, 0, 0.25); }, all);
  constexpr auto cuts = bounds<stages>;
  auto w = std::make_tuple(cell_weights_at<K, cuts[K]>(
      g, all, std::make_index_sequence<static_cast<std::size_t>(cuts[K + 1] - cuts[K])>{})...);
  const dm::adam optimizer{.rate = 3e-3};
  auto states = std::make_tuple(optimizer.start(std::get<K>(w))...);
  const auto net = dm::pipeline_of_layers<stage, cuts>(stem{}, large{}, reduce_large{}, middle{},
                                                       reduce_middle{}, small{}, scores{});
  dm::index_t first = 0;
  const auto input = [&](int micro) {
    const dm::index_t at = first + micro * batch::extent;
    return dm::generate<images>(g, [&](auto b, auto h, auto v) { return from.at(at + b, h, v); });
  };
  const auto loss = [&](const auto& y, int micro) {
    const dm::index_t at = first + micro * batch::extent;
    const auto right =
        dm::generate<targets>(g, [&](auto b, auto l) { return from.right(at + b) == l ? 1. : 0.; });
    return dm::mean<batch>(dm::log_sum_exp<label>(y) -
                           dm::einsum<batch>(y, dm::place<stage, stages - 1>(right)));
  };
  outcome o;
  for (int step = 0; step < steps; ++step, first += images_of_step) {
    const auto value = dm::to_rank(dm::complete(net.value_and_update(
        dm::one_f_one_b{stages, int{micros}}, w, input, loss, [&](auto k, auto& mine, auto& bar) {
          optimizer(mine, dm::complete(bar), std::get<k>(states));
        })));
    if (!value.empty()) (step == 0 ? o.first_loss : o.last_loss) = value[0];
  }
  o.labels.assign(static_cast<std::size_t>(images_of_step), 0);
  std::size_t at = 0;
  for (const auto& y : net.forward(dm::forward_only{stages, int{micros}}, w, input)) {
    const auto best = dm::argmax<label>(y);  // of the images that this rank has
    const dm::index_t n = best.local_size(), mine = g.coord<rows>() * n;
    for (dm::index_t i = 0; i < n; ++i)
      o.labels[at + static_cast<std::size_t>(mine + i)] = static_cast<int>(best.data()[i]);
    at += batch::extent;
  }
  MPI_Allreduce(MPI_IN_PLACE, o.labels.data(), static_cast<int>(o.labels.size()), MPI_INT, MPI_SUM,
                MPI_COMM_WORLD);
  return o;
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const int steps = argc > 1 ? std::min(std::stoi(argv[1]), 900) : 200;
    const image_source from{argc > 2 ? argv[2] : "/usr/share/datasets/fashion-mnist/train-"};
    int ranks = 1, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<outcome> all;
    const auto tell = [&](const auto& cuts, const outcome& o) {
      all.push_back(o);
      if (o.labels != all[0].labels)
        throw dm::error("amoeba_pipeline: pipelines of other lengths learn other things");
      if (rank != 0) return;
      std::size_t right = 0;
      for (std::size_t i = 0; i < o.labels.size(); ++i)
        right += o.labels[i] == from.right(steps * images_of_step + static_cast<dm::index_t>(i));
      std::cout << (from.there ? "Fashion-MNIST, " : "stripes, ") << steps << " steps: stages of";
      for (std::size_t i = 1; i < cuts.size(); ++i) std::cout << " " << cuts[i] - cuts[i - 1];
      std::cout << " layers, of " << static_cast<double>(dm::largest_cell(costs, cuts)) / 1e6
                << " million operations at most; loss " << o.first_loss << " -> " << o.last_loss
                << ", " << 100 * right / o.labels.size() << " % right\n";
    };
    tell(bounds<1>, train<0>(from, steps, ranks));
    if (ranks % 2 == 0) tell(bounds<2>, train<0, 1>(from, steps, ranks));
    if (ranks % 4 == 0) tell(bounds<4>, train<0, 1, 2, 3>(from, steps, ranks));
  });
}
