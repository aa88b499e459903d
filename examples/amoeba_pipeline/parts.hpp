// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What are AmoebaNet's cells made of? ReLU, a convolution and a batch norm in turn: products at
// each pixel, and wider windows over a quarter of the channels between two such products; pools;
// and for an input that is still twice as high and wide, products of every other pixel.
#pragma once

#include <dimesh/dimesh.hpp>
#include <dimesh/nn/batch_norm.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/convolution.hpp>
#include <dimesh/op/pooling.hpp>
#include <dimesh/op/slice.hpp>

namespace amoeba {

namespace dm = dimesh;
namespace nn = dimesh::nn;

struct batch : dm::dim<16> {};  // images of a micro-batch
struct tall : dm::dim<3> {};  // taps
struct wide : dm::dim<3> {};
struct seven : dm::dim<7> {};
/// Images of N x N pixels, and channels inside a cell.
template <dm::index_t N, dm::index_t C> struct level {
  struct height : dm::dim<N> {};
  struct width : dm::dim<N> {};
  struct channel : dm::dim<C> {};
  struct next : dm::dim<C> {};
  struct quarter : dm::dim<C / 4> {};
  struct next_quarter : dm::dim<C / 4> {};
  struct upper : dm::dim<C / 2> {};  // half of the channels, the other half
  struct lower : dm::dim<C / 2> {};
  struct of_normal : dm::dim<4 * C> {};  // what cells give: four states side by side, or three
  struct of_reduction : dm::dim<3 * C> {};
};

struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};
/// Where a layer's weights are, and under which layout it computes.
template <int K> struct place {
  using held = dm::layout<pod, dm::placed<stage, K>>;
  using computed = dm::layout<pod, dm::placed<stage, K>, dm::split<batch, rows>>;
};
struct anywhere {
  using held = dm::layout<pod>;
  using computed = dm::layout<pod, dm::split<batch, rows>>;
};

// ---- weights ------------------------------------------------------------------------------------

template <class L, class V> using wide_norm = nn::scale_and_shift<L, double, typename V::channel>;
template <class L, class V> using narrow_norm = nn::scale_and_shift<L, double, typename V::quarter>;

/// From channels In to the level's own, at each pixel.
template <class L, class V, class In> struct product_weights {
  using own = typename V::channel;
  using to = std::conditional_t<std::is_same_v<In, own>, typename V::next, own>;
  using weight_type = nn::parameter<nn::he_normal<In>, double, L, In, to>;
  using norm_type = wide_norm<L, V>;
  BOOST_HANA_DEFINE_STRUCT(product_weights, (weight_type, weight), (norm_type, norm));
};
/// From channels In to the level's, of every other pixel: half of them from even, half from odd.
template <class L, class V, class In> struct halving_weights {
  using even_type = nn::parameter<nn::he_normal<In>, double, L, In, typename V::upper>;
  using odd_type = nn::parameter<nn::he_normal<In>, double, L, In, typename V::lower>;
  using norm_type = wide_norm<L, V>;
  BOOST_HANA_DEFINE_STRUCT(halving_weights, (even_type, even), (odd_type, odd), (norm_type, norm));
};
/// Between products to a quarter of the channels and back: 3 x 3.
template <class L, class V> struct square_weights {
  using q = typename V::quarter;
  using c = typename V::channel;
  using in_type = nn::parameter<nn::he_normal<c>, double, L, c, q>;
  using filter_type = nn::parameter<nn::he_normal<tall, wide, q>, double, L, tall, wide, q,
                                    typename V::next_quarter>;
  using out_type = nn::parameter<nn::he_normal<q>, double, L, q, c>;
  using narrow_type = std::array<narrow_norm<L, V>, 2>;
  using wide_type = wide_norm<L, V>;
  BOOST_HANA_DEFINE_STRUCT(square_weights, (in_type, in), (filter_type, filter), (out_type, out),
                           (narrow_type, narrow), (wide_type, norm));
};
/// The same of 1 x 7 and 7 x 1.
template <class L, class V> struct cross_weights {
  using q = typename V::quarter;
  using c = typename V::channel;
  using in_type = nn::parameter<nn::he_normal<c>, double, L, c, q>;
  using filter_type =
      nn::parameter<nn::he_normal<seven, q>, double, L, seven, q, typename V::next_quarter>;
  using out_type = nn::parameter<nn::he_normal<q>, double, L, q, c>;
  using narrow_type = std::array<narrow_norm<L, V>, 3>;
  using wide_type = wide_norm<L, V>;
  BOOST_HANA_DEFINE_STRUCT(cross_weights, (in_type, in), (filter_type, across), (filter_type, down),
                           (out_type, out), (narrow_type, narrow), (wide_type, norm));
};

// ---- what norms have seen -----------------------------------------------------------------------

/// Of one norm: `kept` for use after training, of whole mini-batches.
template <class P, class D> struct norm_memory {
  using moments = nn::running_moments<typename P::held, double, D>;
  moments kept;
  nn::deferred_moments<moments> mini;
};
/// Of a layer's norms, in the order in which it runs them.
template <class P, class V> struct memory {
  bool training = true;
  std::array<norm_memory<P, typename V::channel>, 7> wide;
  std::array<norm_memory<P, typename V::quarter>, 6> narrow;

  void each(const auto& f) {
    for (auto& one : wide) f(one);
    for (auto& one : narrow) f(one);
  }
  void start(const dm::grid<pod>& g) {
    each([&](auto& one) {
      one.kept = dm::make<std::remove_cvref_t<decltype(one.kept)>>(g);
      nn::initialize(one.kept, dm::random_key{1});
    });
  }
  /// After a mini-batch.
  void keep() {
    each([](auto& one) { nn::keep_moments(one.kept, one.mini, 0.1); });
  }
};

// ---- operations ---------------------------------------------------------------------------------

constexpr auto same = dm::padding::same;
template <class H, class V, class H2 = H, class V2 = V, int Step = 1> struct pools {
  static constexpr auto max(const auto& x, int size = 3) {
    return dm::max_pool(x, dm::pool_window<H, H2>{.size = size, .stride = Step, .around = same},
                        dm::pool_window<V, V2>{.size = size, .stride = Step, .around = same});
  }
  static constexpr auto mean(const auto& x) {
    return dm::mean_pool(x, dm::pool_window<H, H2>{.size = 3, .stride = Step, .around = same},
                         dm::pool_window<V, V2>{.size = 3, .stride = Step, .around = same});
  }
};

/// A layer while it runs: its norms come one after the other. Where it has no place costs are
/// counted, and nothing is seen.
template <class P, class V> class layer_run {
 public:
  constexpr explicit layer_run(memory<P, V>* seen) : seen_(seen) {}

  using channel = typename V::channel;
  using quarter = typename V::quarter;
  using next_quarter = typename V::next_quarter;

  template <class D> constexpr auto normed(const auto& norm, const auto& x) {
    const nn::model<typename P::computed> m;
    if constexpr (std::is_same_v<P, anywhere>) {
      return nn::batch_norm<D>(m, norm, x).y;
    } else {
      norm_memory<P, D>& mine = next<D>();
      if (!seen_->training) return nn::batch_norm_by(m, mine.kept, norm, x);
      const auto made = nn::batch_norm<D>(m, norm, x);
      nn::keep_moments(mine.mini, made);
      return made.y;
    }
  }
  /// ReLU, product, norm. H and W: of the images.
  template <class H, class W, class In> constexpr auto product(const auto& w, const auto& x) {
    using to = std::conditional_t<std::is_same_v<In, channel>, typename V::next, channel>;
    const auto y = dm::einsum<batch, H, W, to>(dm::relu(x), w.weight);
    if constexpr (std::is_same_v<to, channel>)
      return normed<channel>(w.norm, y);
    else
      return normed<channel>(w.norm, dm::rename<to, channel>(y));
  }
  /// From images of level From, twice as high and wide.
  template <class From> constexpr auto halving(const auto& w, const auto& x) {
    using H = typename V::height;
    using W = typename V::width;
    const auto z = dm::relu(x);
    const auto every_other = [&z](dm::index_t first) {
      return dm::slice<typename From::width, W>(
          dm::slice<typename From::height, H>(z, first, 2, H{}), first, 2, W{});
    };
    const auto even = dm::einsum<batch, H, W, typename V::upper>(every_other(0), w.even);
    const auto odd = dm::einsum<batch, H, W, typename V::lower>(every_other(1), w.odd);
    return normed<channel>(w.norm,
                           dm::concat<channel, typename V::upper, typename V::lower>(even, odd));
  }
  /// 3 x 3 on a quarter of the channels, in steps of Step from H x W to H2 x W2.
  template <class H, class W, class H2, class W2, int Step>
  constexpr auto square(const auto& w, const auto& x) {
    const auto q =
        normed<quarter>(w.narrow[0], dm::einsum<batch, H, W, quarter>(dm::relu(x), w.in));
    const auto r = dm::convolution<batch, H2, W2, next_quarter>(
        dm::relu(q), w.filter, dm::window<H, tall, H2>{.stride = Step, .around = same},
        dm::window<W, wide, W2>{.stride = Step, .around = same});
    return widened<H2, W2>(w, normed<quarter>(w.narrow[1], dm::rename<next_quarter, quarter>(r)));
  }
  /// 1 x 7, then 7 x 1, on a quarter of the channels.
  template <class H, class W> constexpr auto cross(const auto& w, const auto& x) {
    const auto q =
        normed<quarter>(w.narrow[0], dm::einsum<batch, H, W, quarter>(dm::relu(x), w.in));
    const auto r = dm::convolution<batch, H, W, next_quarter>(dm::relu(q), w.across,
                                                              dm::window<W, seven>{.around = same});
    const auto s = normed<quarter>(w.narrow[1], dm::rename<next_quarter, quarter>(r));
    const auto t = dm::convolution<batch, H, W, next_quarter>(dm::relu(s), w.down,
                                                              dm::window<H, seven>{.around = same});
    return widened<H, W>(w, normed<quarter>(w.narrow[2], dm::rename<next_quarter, quarter>(t)));
  }

 private:
  template <class H, class W> constexpr auto widened(const auto& w, const auto& q) {
    return normed<channel>(w.norm, dm::einsum<batch, H, W, channel>(dm::relu(q), w.out));
  }
  template <class D> constexpr auto& next() {
    if constexpr (std::is_same_v<D, channel>)
      return seen_->wide[wide_++];
    else
      return seen_->narrow[narrow_++];
  }

  memory<P, V>* seen_;
  std::size_t wide_ = 0, narrow_ = 0;
};

}  // namespace amoeba
