// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small convolution net that labels images cut into bands: batch x height on a 2-D mesh of ranks.
// What filters and pooling see across a cut comes from the neighbours, in halos only as wide as
// their windows need; filters' gradients are sums over bands, completed once. One text for every
// way to cut: the losses are those of one rank that has the whole images. Ends with the bytes that
// types predict beside those that MPI saw. Fashion-MNIST where it is installed, else drawn stripes.
//
//   image_classifier [STEPS [FOLDER [DATA]]]     writes a picture, FOLDER/layout.svg
//
// ranks: 1 2 4
// args: 6 image_classifier_test
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/convolution_exchange.hpp>
#include <dimesh/op/pooling_exchange.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/show/draw.hpp>
#include <dimesh/train/run.hpp>
#include <filesystem>
#include <iostream>

#include "census.hpp"
#include "common/image_source.hpp"
#include "common/number.hpp"

namespace dm = dimesh;

struct batch : dm::dim<64> {};
struct height : dm::dim<28> {};  // of images, after pooling, after the second convolution
struct half : dm::dim<14> {};
struct low : dm::dim<7> {};
struct width : dm::dim<28> {};
struct half_width : dm::dim<14> {};
struct narrow : dm::dim<7> {};
struct tall : dm::dim<3> {};  // taps
struct wide : dm::dim<3> {};
struct edges : dm::dim<8> {};  // channels
struct shapes : dm::dim<16> {};
struct label : dm::dim<10> {};
struct groups : dm::axis<> {};
struct bands : dm::axis<> {};
struct pod : dm::mesh<groups, bands> {};

using cut = dm::layout<pod, dm::split<batch, groups>, dm::split<dm::uneven<height>, bands>,
                       dm::split<dm::uneven<half>, bands>, dm::split<dm::uneven<low>, bands>>;
using image_batch = dm::tensor<double, cut, batch, height, width>;
using targets = dm::tensor<double, cut, batch, label>;

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, tall, wide, edges>, w1),
                           (dm::tensor<double, L, tall, wide, edges, shapes>, w2),
                           (dm::tensor<double, L, low, narrow, shapes, label>, w3));
};

/// Mean cross-entropy; target[batch, label] is 1 at the right label.
struct loss {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    constexpr auto same = dm::padding::same;
    auto e = dm::max_pool_exchange(dm::relu(dm::convolution_exchange<batch, height, width, edges>(
                                       x, p.w1, dm::window<height, tall>{.around = same},
                                       dm::window<width, wide>{.around = same})),
                                   dm::pool_window<height, half>{},
                                   dm::pool_window<width, half_width>{});
    auto s = dm::relu(dm::convolution_exchange<batch, low, narrow, shapes>(
        e, p.w2, dm::window<half, tall, low>{.stride = 2, .around = same},
        dm::window<half_width, wide, narrow>{.stride = 2, .around = same}));
    auto y = dm::complete(dm::einsum<batch, label>(s, p.w3));
    return dm::mean<batch>(dm::log_sum_exp<label>(y) - dm::einsum<batch>(y, target));
  }
};
struct run_report {
  std::vector<double> losses = {};
  dm::index_t predicted = 0, counted = 0;  // bytes of a step that the rank at the origin sends
};
run_report train(const dm::grid<pod>& g, const image_source& from, int steps) {
  auto p = dm::zeros<network<cut>>(g);
  dm::fill_normal(p.w1, dm::random_key{1}, 0, std::sqrt(2. / 9));
  dm::fill_normal(p.w2, dm::random_key{2}, 0, std::sqrt(2. / 72));
  dm::fill_normal(p.w3, dm::random_key{3}, 0, std::sqrt(1. / 784));
  const auto training_step = [](const auto& q, const auto& x, const auto& t) {
    return dm::complete(dm::value_and_grad(loss{}, q)(x, t));
  };
  run_report r;
  dm::training_run run(g, {.steps = steps}, {});
  run.loop.step = [&](dm::index_t n) -> dm::metrics {
    const dm::index_t first = n * batch::extent;
    const auto x = dm::generate<image_batch>(
        g, [&](auto b, auto h, auto w) { return from.at(first + b, h, w); });
    const auto target = dm::generate<targets>(
        g, [&](auto b, auto l) { return from.right(first + b) == l ? 1. : 0.; });
    r.predicted = dm::count(training_step, p, x, target).bytes();
    census::reset();
    const auto [value, gradient] = training_step(p, x, target);
    r.counted = static_cast<dm::index_t>(census::snapshot().bytes());
    dm::sgd{.rate = 0.05}(p, gradient);
    return {{"loss", dm::value(value)}};
  };
  run.go();
  r.losses = run.losses();
  return r;
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const int steps = argc > 1 ? report::number("image_classifier", argv[1], 1, 1 << 20) : 200;
    const std::string out = argc > 2 ? argv[2] : "demo-out";
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const dm::index_t across = ranks % 2 == 0 ? 2 : 1;  // as many bands; the batch has the rest
    const dm::grid<pod> g(groups{ranks / across}, bands{across});
    const image_source from{argc > 3 ? argv[3] : "/usr/share/datasets/fashion-mnist/train-"};
    const run_report all = train(g, from, steps);
    if (g.rank() != 0) return;
    const dm::grid<pod> alone(MPI_COMM_SELF, groups{1}, bands{1});
    const run_report one = train(alone, from, steps);
    double apart = 0;
    for (std::size_t i = 0; i < one.losses.size(); ++i)
      apart = std::max(apart, std::abs(all.losses[i] - one.losses[i]));
    std::cout << (from.there ? from.images.path() : "stripes") << " on " << dm::describe_mesh(g)
              << ": loss " << one.losses.front() << " -> " << all.losses.back() << " in " << steps
              << " steps; furthest from one rank: " << apart << "\nbytes a step, predicted "
              << all.predicted << ", counted " << all.counted << "\n";
    std::filesystem::create_directories(out);
    std::ofstream(out + "/layout.svg") << dm::draw_svg<image_batch>(g);
    if (!(apart < 1e-7) || all.predicted != all.counted)
      throw dm::error("image_classifier: bands disagree with one rank, or with what types predict");
  });
}
