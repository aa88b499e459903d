// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is trained? A small U-Net (Ronneberger et al. 2015) over images of any size: strided,
// dilated and transposed convolutions, pooling, and a skip from the fine to the fine. Every window
// may move over dims that are split: what it sees beyond a cut comes from neighbours.
//
//   unet::forward{}(p, v[image, high, across, bright])   -> [image, high, across, bright]
#pragma once

#include <dimesh/dimesh.hpp>
#include <dimesh/op/convolution_exchange.hpp>
#include <dimesh/op/pooling_exchange.hpp>

namespace unet {

namespace dm = dimesh;

struct image : dm::dim<> {};
struct high : dm::dim<> {};
struct across : dm::dim<> {};
struct half : dm::dim<> {};  // of them, after a stride
struct half_across : dm::dim<> {};
struct bright : dm::dim<> {};  // channels
struct fine : dm::dim<> {};
struct coarse : dm::dim<> {};
struct tall : dm::dim<3> {};  // taps
struct wide : dm::dim<3> {};

/// Images cut in height over axis A, in width over axis B, in blocks as they come out.
template <dm::Mesh M, dm::Axis A, dm::Axis B>
using cut = dm::layout<M, dm::split<dm::uneven<high>, A>, dm::split<dm::uneven<across>, B>,
                       dm::split<dm::uneven<half>, A>, dm::split<dm::uneven<half_across>, B>>;
template <class T, class L> using images = dm::tensor<T, L, image, high, across, bright>;

template <class L, class T> struct weights {
  BOOST_HANA_DEFINE_STRUCT(weights, (dm::tensor<T, L, tall, wide, bright, fine>, in),
                           (dm::tensor<T, L, tall, wide, fine, coarse>, down),
                           (dm::tensor<T, L, tall, wide, coarse>, far),
                           (dm::tensor<T, L, tall, wide, coarse, fine>, up),
                           (dm::tensor<T, L, tall, wide, fine, bright>, out),
                           (dm::tensor<T, L, tall, wide, fine, bright>, skip));
};

struct forward {
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
    const auto n = v.template extent<high>(), m = v.template extent<across>();
    const auto d = dm::transposed_convolution_exchange<image, high, across, fine>(
        c, p.up, dm::window<half, tall, high>{.stride = 2, .around = same, .extent = n},
        dm::window<half_across, wide, across>{.stride = 2, .around = same, .extent = m});
    const auto near =
        dm::max_pool_exchange(a, dm::pool_window<high>{.size = 3, .stride = 1, .around = same},
                              dm::pool_window<across>{.size = 3, .stride = 1, .around = same});
    return dm::convolution_exchange<image, high, across, bright>(d, p.out, h{.around = same},
                                                                 w{.around = same}) +
           dm::convolution_exchange<image, high, across, bright>(near, p.skip, h{.around = same},
                                                                 w{.around = same});
  }
};

}  // namespace unet
