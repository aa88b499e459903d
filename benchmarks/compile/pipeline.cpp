// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the compiler pay for a step of a pipeline of two stages, for its number of layers, and
// for every further schedule? LAYERS: of both stages together, all of one form; SCHEDULES: how many
// the step is compiled for, up to three.
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>
#include <dimesh/pipeline/zero_bubble.hpp>

#ifndef LAYERS
#define LAYERS 4
#endif
#ifndef SCHEDULES
#define SCHEDULES 1
#endif

namespace dm = dimesh;

struct batch : dm::dim<32> {};
struct width : dm::dim<64> {};
struct hidden : dm::dim<256> {};
struct stage : dm::axis<2> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
using inputs = dm::tensor<float, dm::layout<pod, dm::split<batch, rows>>, batch, width>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<float, L, width, hidden>, in),
                           (dm::tensor<float, L, hidden>, bias),
                           (dm::tensor<float, L, hidden, width>, out));
};
template <int K> using cell_weights = std::array<layer<there<K>>, LAYERS / 2>;
using weights = std::tuple<cell_weights<0>, cell_weights<1>>;

struct block {
  template <class W, class X> constexpr auto operator()(const W& w, const X& x) const {
    return x +
           dm::einsum<batch, width>(dm::tanh(dm::einsum<batch, hidden>(x, w.in) + w.bias), w.out);
  }
};
struct squares {
  template <class Y> constexpr auto operator()(const Y& y, int) const { return dm::sum(y * y); }
};

template <class S> auto step(const S& s, const weights& w, const inputs& x) {
  const auto net =
      dm::pipeline<stage>(dm::cell<0>(dm::each_of(block{})), dm::cell<1>(dm::each_of(block{})));
  return net.value_and_grad(s, w, [&x](int) { return x; }, squares{});
}
auto one(const weights& w, const inputs& x) { return step(dm::one_f_one_b{2, 8}, w, x); }
#if SCHEDULES > 1
auto two(const weights& w, const inputs& x) { return step(dm::gpipe{2, 8}, w, x); }
#endif
#if SCHEDULES > 2
auto three(const weights& w, const inputs& x) { return step(dm::zb_h1{2, 8}, w, x); }
#endif
