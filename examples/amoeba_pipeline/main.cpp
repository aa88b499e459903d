// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution net of AmoebaNet's cells (net.hpp) over the stages of a pipeline: every cell takes
// what the two before it give, so that a skip connection crosses each boundary. Cells differ in
// cost: the compiler counts what each computes and cuts the chain where the most expensive stage is
// cheapest. Norms train by the moments of each micro-batch and are used by those of whole
// mini-batches. One, two and four stages learn the same: what they say of a thousand images that
// none has seen is equal, image by image, and far more often right than by chance.
//
//   amoeba_pipeline [STEPS [FOLDER]]
// ranks: 1 2 4
// args: 24
#include <dimesh/optim/adam.hpp>
#include <dimesh/pipeline/cut_layers.hpp>
#include <dimesh/pipeline/layer_costs.hpp>
#include <dimesh/pipeline/partition.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>
#include <dimesh/train/run.hpp>
#include <iostream>

#include "../common/image_source.hpp"
#include "../common/number.hpp"
#include "net.hpp"

using namespace amoeba;

using all_layers = std::make_index_sequence<layer_count>;
template <class S> struct weights_of_layers;
template <std::size_t... I> struct weights_of_layers<std::index_sequence<I...>> {
  using type = std::tuple<typename layer_at<anywhere, I>::weights...>;
};
using weights = weights_of_layers<all_layers>::type;

constexpr auto costs = std::apply(
    [](const auto&... f) {
      return dm::layer_costs(dm::rebind_layout<images, dm::shaped>{},
                             dm::rebind_layout<weights, dm::shaped>{}, f...);
    },
    layers<anywhere>{});
template <int K> constexpr auto bounds = dm::partition<K>(costs);

/// The stage of layer I, of K.
template <int K, std::size_t I>
constexpr int stage_of = [] {
  int k = 0;
  while (bounds<K>[static_cast<std::size_t>(k) + 1] <= static_cast<int>(I)) ++k;
  return k;
}();
template <int K, std::size_t I> using placed_layer = layer_at<place<stage_of<K, I>>, I>;

/// A layer's weights at its stage.
template <int K, std::size_t I> auto placed_weights(const dm::grid<pod>& g, const weights& all) {
  auto to = dm::make<typename placed_layer<K, I>::weights>(g);
  dm::for_each_tensor(
      [](const auto&, auto& t, const auto& from) {
        t = dm::clone(dm::place<stage, stage_of<K, I>>(from));
      },
      to, std::get<I>(all));
  return to;
}
template <int K, int Stage, std::size_t... I>
auto weights_of_stage(const dm::grid<pod>& g, const weights& all, std::index_sequence<I...>) {
  constexpr auto first = static_cast<std::size_t>(bounds<K>[Stage]);
  return std::make_tuple(placed_weights<K, first + I>(g, all)...);
}
template <int K, int... Stage>
auto weights_of_stages(const dm::grid<pod>& g, const weights& all,
                       std::integer_sequence<int, Stage...>) {
  return std::make_tuple(weights_of_stage<K, Stage>(
      g, all,
      std::make_index_sequence<static_cast<std::size_t>(bounds<K>[Stage + 1] -
                                                        bounds<K>[Stage])>{})...);
}

constexpr dm::index_t micros = 4, images_of_step = micros * batch::extent;
constexpr dm::index_t unseen = 64 * batch::extent;  // images of the held-out set
constexpr double chance = 1. / label::extent;
constexpr int learnt_after = 20;  // steps
struct outcome {
  double first_loss = 0, last_loss = 0;
  std::vector<int> labels = {};  // what the net says of images that it has not seen
};

/// A layer at its stage, with what its norms have seen.
template <int K, std::size_t I> struct one_layer {
  typename placed_layer<K, I>::memory_type seen;
  placed_layer<K, I> function{{&seen}};
};
/// Those of a pipeline of K stages.
template <int K, std::size_t... I> class net_of {
  std::tuple<one_layer<K, I>...> all_;

 public:
  explicit net_of(const dm::grid<pod>& g) {
    each([&](auto& seen) { seen.start(g); });
  }
  net_of(const net_of&) = delete;  // its layers know where it is

  void each(const auto& f) { (f(std::get<I>(all_).seen), ...); }
  auto pipeline() const {
    return dm::pipeline_of_layers<stage, bounds<K>>(std::get<I>(all_).function...);
  }
};
template <int K, std::size_t... I> auto net_at(const dm::grid<pod>& g, std::index_sequence<I...>) {
  return net_of<K, I...>(g);
}

/// Micro-batches of images, the first of which is number `first`, and their labels.
struct batches {
  const image_source& from;
  const dm::grid<pod>& g;
  dm::index_t first = 0;

  images operator()(int micro) const {
    return dm::generate<images>(
        g, [&](auto b, auto h, auto v) { return from.at(at(micro) + b, h, v); });
  }
  targets right(int micro) const {
    return dm::generate<targets>(
        g, [&](auto b, auto l) { return from.right(at(micro) + b) == l ? 1. : 0.; });
  }
  dm::index_t at(int micro) const { return first + micro * batch::extent; }
};

/// Labels that the net gives images of the held-out set, on every rank.
template <int K>
std::vector<int> labels_of(const auto& net, const auto& w, const batches& held_out) {
  constexpr int count = int{unseen / batch::extent};
  std::vector<int> labels(static_cast<std::size_t>(unseen), 0);
  std::size_t at = 0;
  for (const auto& y : net.forward(dm::forward_only{K, count}, w, held_out)) {
    const auto best = dm::argmax<label>(y);  // of the images that this rank has
    const dm::index_t n = best.local_size(), mine = held_out.g.template coord<rows>() * n;
    for (dm::index_t i = 0; i < n; ++i)
      labels[at + static_cast<std::size_t>(mine + i)] = static_cast<int>(best.data()[i]);
    at += batch::extent;
  }
  MPI_Allreduce(MPI_IN_PLACE, labels.data(), static_cast<int>(labels.size()), MPI_INT, MPI_SUM,
                MPI_COMM_WORLD);
  return labels;
}

struct data {
  image_source train, held_out;
  int steps = 0;

  /// Where there are no files, images are drawn, and those that come later are the held-out ones.
  dm::index_t first_held_out() const { return held_out.there ? 0 : steps * images_of_step; }
};
template <int K> outcome train(const data& d, int ranks) {
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{K}, rows{ranks / K});
  auto all = dm::make<weights>(g);
  nn::initialize(all, dm::random_key{1});
  auto w = weights_of_stages<K>(g, all, std::make_integer_sequence<int, K>{});
  const dm::adam optimizer{.rate = 1e-2};
  auto states =
      std::apply([&](const auto&... part) { return std::make_tuple(optimizer.start(part)...); }, w);
  auto made = net_at<K>(g, all_layers{});
  const auto net = made.pipeline();
  batches input{d.train, g};
  const auto loss = [&](const auto& y, int micro) {
    return dm::mean<batch>(dm::log_sum_exp<label>(y) -
                           dm::einsum<batch>(y, dm::place<stage, K - 1>(input.right(micro))));
  };
  dm::training_run run(g, {.steps = d.steps}, {});
  run.loop.step = [&](dm::index_t step) -> dm::metrics {
    input.first = step * images_of_step;
    const auto value = dm::complete(net.value_and_update(
        dm::one_f_one_b{K, int{micros}}, w, input, loss, [&](auto k, auto& mine, auto& bar) {
          optimizer(mine, dm::complete(bar), std::get<k>(states));
        }));
    made.each([](auto& m) { m.keep(); });
    return {{"loss", dm::value(dm::broadcast<stage>(value))}};  // the last stage has it
  };
  run.go();
  outcome o;
  if (!run.losses().empty()) o.first_loss = run.losses().front(), o.last_loss = run.losses().back();
  made.each([](auto& m) { m.training = false; });
  o.labels = labels_of<K>(net, w, {d.held_out, g, d.first_held_out()});
  return o;
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const int steps = argc > 1 ? report::number("amoeba_pipeline", argv[1], 0, 1 << 20) : 200;
    const std::string folder = argc > 2 ? argv[2] : "/usr/share/datasets/fashion-mnist";
    const data d{{folder + "/train-"}, {folder + "/t10k-"}, steps};
    int ranks = 1, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<outcome> all;
    const auto tell = [&](const auto& cuts, const outcome& o) {
      all.push_back(o);
      if (o.labels != all[0].labels)
        throw dm::error("amoeba_pipeline: pipelines of other lengths learn other things");
      std::size_t right = 0;
      for (std::size_t i = 0; i < o.labels.size(); ++i)
        right += o.labels[i] == d.held_out.right(d.first_held_out() + static_cast<dm::index_t>(i));
      const double part = static_cast<double>(right) / static_cast<double>(o.labels.size());
      if (rank == 0) {
        std::cout << (d.train.there ? d.train.images.path() : "stripes") << ", " << steps
                  << " steps: stages of";
        for (std::size_t i = 1; i < cuts.size(); ++i) std::cout << " " << cuts[i] - cuts[i - 1];
        std::cout << " layers, of " << static_cast<double>(dm::largest_cell(costs, cuts)) / 1e6
                  << " million operations at most; loss " << o.first_loss << " -> " << o.last_loss
                  << "; of " << o.labels.size() << " images that it has not seen, " << 100 * part
                  << " % right" << std::endl;
      }
      if (steps >= learnt_after && part < 3 * chance)
        throw dm::error("amoeba_pipeline: the net has learnt next to nothing");
    };
    tell(bounds<1>, train<1>(d, ranks));
    if (ranks % 2 == 0) tell(bounds<2>, train<2>(d, ranks));
    if (ranks % 4 == 0) tell(bounds<4>, train<4>(d, ranks));
  });
}
