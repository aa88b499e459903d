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
#include <dimesh/op/cross_entropy.hpp>
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
using labels = dm::tensor<std::int32_t, cut, batch>;

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, tall, wide, edges>, w1),
                           (dm::tensor<double, L, tall, wide, edges, shapes>, w2),
                           (dm::tensor<double, L, low, narrow, shapes, label>, w3));
};

struct loss {
  constexpr auto operator()(const auto& p, const auto& x, const auto& right) const {
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
    return dm::mean<batch>(dm::softmax_cross_entropy<label>(y, right));
  }
};
/// The losses, and the bytes of a step that the rank at the origin sends.
auto train(const dm::grid<pod>& g, const image_source& from, int steps, dm::index_t& bytes) {
  auto p = dm::zeros<network<cut>>(g);
  dm::fill_normal(p.w1, dm::random_key{1}, 0, std::sqrt(2. / 9));
  dm::fill_normal(p.w2, dm::random_key{2}, 0, std::sqrt(2. / 72));
  dm::fill_normal(p.w3, dm::random_key{3}, 0, std::sqrt(1. / 784));
  const auto training_step = [](const auto& q, const auto& x, const auto& t) {
    return dm::complete(dm::value_and_grad(loss{}, q)(x, t));
  };
  dm::training_run run(g, {.steps = steps}, {});
  run.loop.step = [&](dm::index_t n) -> dm::metrics {
    const dm::index_t first = n * batch::extent;
    const auto x = dm::generate<image_batch>(
        g, [&](auto b, auto h, auto w) { return from.at(first + b, h, w); });
    const auto right = dm::generate<labels>(g, [&](auto b) { return int(from.right(first + b)); });
    census::reset();
    const auto [value, gradient] = training_step(p, x, right);
    bytes = census::snapshot().bytes();
    if (g.rank() == 0 && bytes != dm::count(training_step, p, x, right).bytes())
      throw dm::error("image_classifier: other bytes than types predict");
    dm::sgd{.rate = 0.05}(p, gradient);
    return {{"loss", dm::value(value)}};
  };
  run.go();
  return run.losses();
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const int steps = argc > 1 ? report::number("image_classifier", argv[1], 1, 1 << 20) : 200;
    const std::string out = argc > 2 ? argv[2] : "demo-out";
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const dm::grid<pod> g(bands{ranks % 2 == 0 ? 2 : 1});  // the batch is over the rest
    const image_source from{argc > 3 ? argv[3] : "/usr/share/datasets/fashion-mnist/train-"};
    dm::index_t bytes = 0, none = 0;
    const auto all = train(g, from, steps, bytes);
    if (g.rank() != 0) return;
    const auto one = train(dm::grid<pod>(MPI_COMM_SELF, bands{1}), from, steps, none);
    double apart = 0;
    for (std::size_t i = 0; i < one.size(); ++i) apart = std::hypot(apart, all[i] - one[i]);
    std::cout << (from.there ? from.images.path() : "stripes") << " on " << dm::describe_mesh(g)
              << ": loss " << one.front() << " -> " << all.back() << " in " << steps
              << " steps; off those of one rank by " << apart << "; " << bytes
              << " bytes a step as predicted\n";
    std::filesystem::create_directories(out);
    std::ofstream(out + "/layout.svg") << dm::draw_svg<image_batch>(g);
    if (!(apart < 1e-7)) throw dm::error("image_classifier: bands disagree with one rank");
  });
}
