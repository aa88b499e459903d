// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
// What a Transformer costs under a layout, as constants: parameters of a rank, bytes that a layer's
// forward and backward hand to MPI, and bytes kept between the two, against closed formulas (of the
// Mesh-TensorFlow paper, section 5, and as Korthikanti et al. 2022, section 4, count them).
#include "dimesh/nn/language_model.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/cost.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::index_t;

struct batch : dm::dim<8> {};
struct length : dm::dim<32> {};
struct model : dm::dim<64> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<16> {};
struct hidden : dm::dim<256> {};
struct vocab : dm::dim<128> {};

template <int Layers> struct form : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = Layers;
};

constexpr index_t r = 2, t = 4;
struct rows : dm::axis<r> {};
struct cols : dm::axis<t> {};
struct pod : dm::mesh<rows, cols> {};
using none = dm::layout<pod>;
using parts =
    dm::layout<pod, dm::split<heads, cols>, dm::split<hidden, cols>, dm::split<vocab, cols>>;
using hybrid = dm::layout<pod, dm::split<batch, rows>, dm::split<heads, cols>,
                          dm::split<hidden, cols>, dm::split<vocab, cols>>;
using sequence = dm::layout<pod, dm::split<heads, cols>, dm::split<hidden, cols>,
                            dm::split<vocab, cols>, dm::split_if_free<length, cols>>;

constexpr index_t d = model::extent, L = 2, V = vocab::extent, T = length::extent;

// ---- parameters of a rank -----------------------------------------------------------------------
template <class C> constexpr index_t parameters() {
  nn::language_model_parameters<dm::shaped<C>, form<L>> p{};
  index_t n = 0;
  dm::for_each_tensor([&n](const auto&, const auto& w) { n += w.local_size(); }, p);
  return n;
}
constexpr index_t whole = L * (12 * d * d + 13 * d) + V * d + T * d + 2 * d;
static_assert(parameters<none>() == whole);
static_assert(parameters<parts>() ==
              L * (12 * d * d / t + 7 * d / t + 6 * d) + V * d / t + T * d + 2 * d);
static_assert(parameters<dm::layout<pod, dm::spread<cols>>>() == whole / t);
static_assert(parameters<dm::layout<pod, dm::spread<rows>, dm::spread<cols>>>() == whole / (r * t));

// ---- a layer's traffic and what it keeps: one layer more, less ---------------------------------
template <class S, class M> struct layers_and_input {
  using layers_type = std::array<nn::block_parameters<S, M>, static_cast<std::size_t>(M::layers)>;
  using input_type = dm::tensor<float, S, typename M::batch, typename M::length, typename M::model>;
  BOOST_HANA_DEFINE_STRUCT(layers_and_input, (layers_type, layers), (input_type, x));
};
template <class C, class M> struct loss {
  template <class P> constexpr auto operator()(const P& p) const {
    return dm::sum(nn::stack(nn::model<C, M>(), p.layers, p.x));
  }
};
template <class C, class M> struct step {
  template <class P> constexpr auto operator()(const P& p) const {
    return dm::value_and_grad(loss<C, M>{}, p)();
  }
};
template <class C, int N>
constexpr auto cost = dm::cost_of<step<C, form<N>>, layers_and_input<dm::shaped<C>, form<N>>>.value;
template <class C>
constexpr index_t payload = cost<C, 2>.template bytes<>() - cost<C, 1>.template bytes<>();
template <class C>
constexpr index_t ring = cost<C, 2>.template ring_bytes<>() - cost<C, 1>.template ring_bytes<>();

/// Bytes of one activation of the stream.
constexpr index_t stream = batch::extent * T * d * index_t{sizeof(float)};

static_assert(payload<none> == 0);
// Two all-reduces of the stream forward, two backward; over half the batch.
static_assert(payload<parts> == 4 * stream && ring<parts> == 8 * stream * (t - 1) / t);
static_assert(payload<hybrid> == payload<parts> / r && ring<hybrid> == ring<parts> / r);
// Each all-reduce is a reduce-scatter here and an all-gather there: the ring sends the same bytes.
static_assert(ring<sequence> == ring<parts>);

/// Live bytes between forward and backward, of a stack of N layers.
template <class C, int N> constexpr index_t kept() {
  using M = form<N>;
  using P = layers_and_input<dm::shaped<C>, M>;
  dm::detail::tally tally;
  dm::detail::tape tape;
  dm::rebind_layout<P, dm::tracked> vars{};
  const P p{};
  dm::for_each_tensor(
      [&](const auto&, auto& v, const auto& s) {
        using X = std::remove_cvref_t<decltype(s)>;
        v = dm::detail::recorded_on(tape, X(s.counted_by(&tally).pin()));
      },
      vars, p);
  const index_t before = tally.live;
  const auto y = nn::stack(nn::model<C, M>(), vars.layers, vars.x);
  return tally.live - before;
}
template <class C> constexpr index_t layer_keeps = kept<C, 2>() - kept<C, 1>();
// The stream and its norm, twice; queries, keys, values and their mixture; the hidden layer before
// and after its activation; a log-sum-exp for each query of each head.
constexpr index_t log_sums = stream * heads::extent / d;
static_assert(layer_keeps<none> == 4 * stream + 12 * stream + log_sums);
static_assert(layer_keeps<parts> == 4 * stream + (12 * stream + log_sums) / t);
static_assert(layer_keeps<hybrid> == layer_keeps<parts> / r);
// The stream is split, too; its norms are kept whole, as the products read them.
static_assert(layer_keeps<sequence> == 2 * stream + (2 * stream + 12 * stream + log_sums) / t);

}  // namespace

TEST_CASE("a Transformer's costs are constants") { CHECK(parameters<none>() == whole); }
