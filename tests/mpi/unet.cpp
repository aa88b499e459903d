// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small U-Net on images that are cut in height and width: strided, dilated and transposed
// convolutions, pooling, skips; loss and gradients are, to the bit (whole numbers), those of a rank
// that has all of the images, and its bytes are foreseen.
// ranks: 1 2 3 4
// labels: sanitize
#include <doctest/doctest.h>

#include <census.hpp>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/op/convolution_exchange.hpp"
#include "dimesh/op/pooling_exchange.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

struct image : dm::dim<2> {};
struct tall : dm::dim<3> {};
struct wide : dm::dim<3> {};
struct bright : dm::dim<2> {};  // channels
struct fine : dm::dim<3> {};
struct coarse : dm::dim<4> {};
struct high : dm::dim<> {};
struct across : dm::dim<> {};
struct half : dm::dim<> {};
struct half_across : dm::dim<> {};

using cut = dm::layout<plane, dm::split<dm::uneven<high>, x>, dm::split<dm::uneven<across>, y>,
                       dm::split<dm::uneven<half>, x>, dm::split<dm::uneven<half_across>, y>>;
using images = dm::tensor<double, cut, image, high, across, bright>;

template <class L> struct unet {
  BOOST_HANA_DEFINE_STRUCT(unet, (dm::tensor<double, L, tall, wide, bright, fine>, in),
                           (dm::tensor<double, L, tall, wide, fine, coarse>, down),
                           (dm::tensor<double, L, tall, wide, coarse>, far),
                           (dm::tensor<double, L, tall, wide, coarse, fine>, up),
                           (dm::tensor<double, L, tall, wide, fine, bright>, out),
                           (dm::tensor<double, L, tall, wide, fine, bright>, skip));
};

/// The sum of what the net makes of x, each number times that of the image itself.
struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& v) const {
    constexpr auto same = dm::padding::same;
    using h = dm::window<high, tall>;
    using w = dm::window<across, wide>;
    const auto a = dm::relu(dm::convolution_exchange<image, high, across, fine>(
        v, p.in, h{.around = same}, w{.around = same}));
    const auto b = dm::relu(dm::convolution_exchange<image, half, half_across, coarse>(
        a, p.down, dm::window<high, tall, half>{.stride = 2, .around = same},
        dm::window<across, wide, half_across>{.stride = 2, .around = same}));
    const auto c = b + dm::convolution_exchange<image, half, half_across, coarse>(
                           b, p.far, dm::window<half, tall>{.dilation = 2, .around = same},
                           dm::window<half_across, wide>{.dilation = 3, .around = same});
    const index_t n = v.template extent<high>(), m = v.template extent<across>();
    const auto d = dm::transposed_convolution_exchange<image, high, across, fine>(
        c, p.up, dm::window<half, tall, high>{.stride = 2, .around = same, .extent = n},
        dm::window<half_across, wide, across>{.stride = 2, .around = same, .extent = m});
    const auto near =
        dm::max_pool_exchange(a, dm::pool_window<high>{.size = 3, .stride = 1, .around = same},
                              dm::pool_window<across>{.size = 3, .stride = 1, .around = same});
    const auto e = dm::convolution_exchange<image, high, across, bright>(
                       d, p.out, h{.around = same}, w{.around = same}) +
                   dm::convolution_exchange<image, high, across, bright>(
                       near, p.skip, h{.around = same}, w{.around = same});
    return dm::einsum<>(e, v);
  }
};
struct training_step {
  template <class P, class X> constexpr auto operator()(const P& p, const X& v) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(v));
  }
};

/// Whole numbers, the same on every grid.
unet<cut> parameters(const dm::grid<plane>& g) {
  auto p = dm::zeros<unet<cut>>(g);
  index_t seed = 3;
  dm::for_each_tensor(
      [&](const auto&, auto& t) {
        scatter(numbers_like(t, static_cast<std::uint64_t>(seed++)), t);
      },
      p);
  return p;
}
std::vector<double> numbers_of(double value, const unet<cut>& gradient) {
  std::vector<double> all{value};
  dm::for_each_tensor(
      [&](const auto&, const auto& t) {
        all.insert(all.end(), test_support::on_host(t).data(),
                   test_support::on_host(t).data() + t.local_size());
      },
      gradient);
  return all;
}

TEST_CASE("a U-Net on images in tiles is that of one rank") {
  for (const extents& size : {extents{2, 11, 9, 2}, extents{2, 16, 8, 2}, extents{2, 5, 4, 2}}) {
    const array a = numbers({"image", "high", "across", "bright"}, size, 1);
    const dm::grid<plane> alone(MPI_COMM_SELF, x{1}, y{1});
    const auto [want, slope] = training_step{}(parameters(alone), scattered<images>(alone, a));
    const std::vector<double> expected = numbers_of(dm::value(want), slope);
    CHECK(4 * std::count(expected.begin(), expected.end(), 0.0) < std::ssize(expected));
    for_each_grid<plane>([&](const dm::grid<plane>& g) {
      const auto p = parameters(g);
      const auto v = scattered<images>(g, a);
      const auto foreseen = dm::count(training_step{}, p, v);
      census::reset();
      const auto [value, gradient] = training_step{}(p, v);
      const auto sent = census::snapshot();
      CHECK(numbers_of(dm::value(value), gradient) == expected);
      if (g.rank() == 0) CHECK(sent.bytes() == foreseen.bytes());
    });
  }
}

}  // namespace
