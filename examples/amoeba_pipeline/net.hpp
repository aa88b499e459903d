// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is trained? A stem, then cells as AmoebaNet-D's (Real et al. 2019, arXiv 1802.01548, figure
// 2): each takes what the two before it give, brings both to its own channels, and joins five pairs
// of operations. Reduction cells halve the images and double the channels.
//
//   28 x 28 pixels: stem        4 channels
//   14 x 14:        reduction   8    normal   normal
//    7 x 7:         reduction  16    normal
//   scores of ten labels
#pragma once

#include "parts.hpp"

namespace amoeba {

using large = level<28, 4>;
using middle = level<14, 8>;
using small = level<7, 16>;
struct label : dm::dim<10> {};

/// What a layer of the net has: where it is, its weights, and what its norms have seen.
template <class P, class V> struct layer {
  using memory_type = memory<P, V>;
  memory_type* seen = nullptr;
};

template <class L, class V> struct stem_weights {
  using c = typename V::channel;
  using filter_type = nn::parameter<nn::he_normal<tall, wide>, double, L, tall, wide, c>;
  using norm_type = wide_norm<L, V>;
  BOOST_HANA_DEFINE_STRUCT(stem_weights, (filter_type, filter), (norm_type, norm));
};
/// The first cell takes what it gives twice.
template <class P, class V> struct stem : layer<P, V> {
  using weights = stem_weights<typename P::held, V>;
  template <class W, class X> constexpr auto operator()(const W& w, const X& x) const {
    using h = typename V::height;
    using v = typename V::width;
    using c = typename V::channel;
    const auto y =
        layer_run<P, V>(this->seen)
            .template normed<c>(w.norm, dm::convolution<batch, h, v, c>(
                                            x, w.filter, dm::window<h, tall>{.around = same},
                                            dm::window<v, wide>{.around = same}));
    return std::make_tuple(y, y);
  }
};

/// Of level V. `Older`: what the cell before the last one gave, of images of level O.
template <class L, class V, class O, class Older, class Newer> struct normal_weights {
  using newer_type = product_weights<L, V, Newer>;
  using older_type = std::conditional_t<std::is_same_v<O, V>, product_weights<L, V, Older>,
                                        halving_weights<L, V, Older>>;
  using product_type = product_weights<L, V, typename V::channel>;
  using cross_type = cross_weights<L, V>;
  BOOST_HANA_DEFINE_STRUCT(normal_weights, (newer_type, newer), (older_type, older),
                           (product_type, second), (cross_type, third), (product_type, fourth),
                           (cross_type, far), (product_type, sixth));
};
template <class P, class V, class O, class Older, class Newer> struct normal : layer<P, V> {
  using weights = normal_weights<typename P::held, V, O, Older, Newer>;
  template <class W, class X> constexpr auto operator()(const W& w, const X& two) const {
    using h = typename V::height;
    using v = typename V::width;
    using c = typename V::channel;
    using pool = pools<h, v>;
    layer_run<P, V> run(this->seen);
    const auto s0 = run.template product<h, v, Newer>(w.newer, std::get<1>(two));
    const auto s1 = [&] {
      if constexpr (std::is_same_v<O, V>)
        return run.template product<h, v, Older>(w.older, std::get<0>(two));
      else
        return run.template halving<O>(w.older, std::get<0>(two));
    }();
    const auto s2 = run.template product<h, v, c>(w.second, s1) + pool::max(s1);
    const auto s3 = s1 + run.template cross<h, v>(w.third, s0);
    const auto p0 = run.template product<h, v, c>(w.fourth, s0);
    const auto s4 = p0 + run.template cross<h, v>(w.far, s0);
    const auto s5 = pool::max(s2) + s2;
    const auto s6 = pool::mean(s1) + run.template product<h, v, c>(w.sixth, s5);
    return std::make_tuple(std::get<1>(two),
                           dm::concat<typename V::of_normal, c, c, c, c>(s0, s3, s4, s6));
  }
};

/// From images of level F to those of level V.
template <class L, class V, class Older, class Newer> struct reduction_weights {
  using newer_type = product_weights<L, V, Newer>;
  using older_type = product_weights<L, V, Older>;
  using square_type = square_weights<L, V>;
  using cross_type = cross_weights<L, V>;
  using product_type = product_weights<L, V, typename V::channel>;
  BOOST_HANA_DEFINE_STRUCT(reduction_weights, (newer_type, newer), (older_type, older),
                           (square_type, third), (cross_type, fourth), (product_type, sixth));
};
template <class P, class V, class F, class Older, class Newer> struct reduction : layer<P, V> {
  using weights = reduction_weights<typename P::held, V, Older, Newer>;
  template <class W, class X> constexpr auto operator()(const W& w, const X& two) const {
    using fh = typename F::height;
    using fv = typename F::width;
    using h = typename V::height;
    using v = typename V::width;
    using c = typename V::channel;
    using halves = pools<fh, fv, h, v, 2>;
    using pool = pools<h, v>;
    layer_run<P, V> run(this->seen);
    const auto s0 = run.template product<fh, fv, Newer>(w.newer, std::get<1>(two));
    const auto s1 = run.template product<fh, fv, Older>(w.older, std::get<0>(two));
    const auto s2 = halves::max(s0, 2) + halves::max(s0);
    const auto s3 = s2 + run.template square<fh, fv, h, v, 2>(w.third, s1);
    const auto s4 = run.template cross<h, v>(w.fourth, s2) + pool::max(s2);
    const auto s5 = s3 + halves::max(s1, 2);
    const auto s6 = pool::mean(s2) + run.template product<h, v, c>(w.sixth, s3);
    return std::make_tuple(std::get<1>(two),
                           dm::concat<typename V::of_reduction, c, c, c>(s4, s5, s6));
  }
};

template <class L, class V> struct scores_weights {
  using c = typename V::of_normal;
  using product_type = nn::parameter<nn::he_normal<c>, double, L, c, label>;
  BOOST_HANA_DEFINE_STRUCT(scores_weights, (product_type, product));
};
/// Of the mean over all pixels.
template <class P, class V> struct scores : layer<P, V> {
  using weights = scores_weights<typename P::held, V>;
  template <class W, class X> constexpr auto operator()(const W& w, const X& two) const {
    return dm::einsum<batch, label>(
        dm::mean<typename V::height, typename V::width>(std::get<1>(two)), w.product);
  }
};

/// The layers, all at one place.
template <class P>
using layers =
    std::tuple<stem<P, large>, reduction<P, middle, large, large::channel, large::channel>,
               normal<P, middle, large, large::channel, middle::of_reduction>,
               normal<P, middle, middle, middle::of_reduction, middle::of_normal>,
               reduction<P, small, middle, middle::of_normal, middle::of_normal>,
               normal<P, small, middle, middle::of_normal, small::of_reduction>, scores<P, small>>;
constexpr std::size_t layer_count = std::tuple_size_v<layers<anywhere>>;
template <class P, std::size_t I> using layer_at = std::tuple_element_t<I, layers<P>>;

using images = dm::tensor<double, anywhere::computed, batch, large::height, large::width>;
using targets = dm::tensor<double, anywhere::computed, batch, label>;

}  // namespace amoeba
