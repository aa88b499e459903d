// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All at once, each one line of a layout: the stages of a pipeline, rows of the batch, heads and
// hidden units within a layer, positions of sequences between layers, experts over the rows' ranks,
// and Adam's state over them, too. Losses and weights are those of one rank.
//
// ranks: 2 4 8
// labels: device
#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>
#include <dimesh/nn/block.hpp>
#include <dimesh/nn/moe/experts.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/sharded.hpp>

#include "dimesh/pipeline/pipeline.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"
#include "support/host.hpp"

namespace dm = dimesh;
namespace nn = dimesh::nn;

namespace {

struct batch : dm::dim<4> {};
struct length : dm::dim<6> {};
struct channel : dm::dim<8> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<4> {};
struct hidden : dm::dim<8> {};
struct expert : dm::dim<4> {};
struct choice : dm::dim<2> {};
struct slot : dm::dim<> {};
struct vocab : dm::dim<3> {};
struct form : nn::transformer {
  using element = double;
  using batch = ::batch;
  using length = ::length;
  using model = channel;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  using expert = ::expert;
  using choice = ::choice;
  using slot = ::slot;
  static constexpr int layers = 1;
  static constexpr nn::gating gate{.capacity_factor = 2};  // room for all
};

struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<stage, rows, cols> {};
using everywhere = dm::layout<pod>;
using stream =
    dm::layout<pod, dm::split<batch, rows>, dm::split_if_free<length, cols>>;  // between layers

template <int K>
using wide_at = dm::layout<pod, dm::placed<stage, K>, dm::split<heads, cols>,
                           dm::split<hidden, cols>>;  // weights of a block
template <int K>
using rows_at =
    dm::layout<pod, dm::placed<stage, K>, dm::split<batch, rows>, dm::split<heads, cols>,
               dm::split<hidden, cols>, dm::split_if_free<length, cols>>;  // what goes through it
template <int K>
using experts_at =
    dm::layout<pod, dm::placed<stage, K>, dm::split<expert, rows>, dm::split<hidden, cols>>;
using zero = dm::layout<pod, dm::spread<rows>>;

using dense = nn::block_parameters<everywhere, form>;
using sparse = nn::mixture_parameters<everywhere, form>;
using tokens = dm::tensor<double, stream, batch, length, channel>;

/// L: of what goes through, E: of the experts.
template <class L> struct dense_cell {
  template <class W, class X> constexpr auto operator()(const W& w, const X& x) const {
    return nn::block(nn::model<L, form>{}, w, x);
  }
};
template <class L, class E> struct sparse_cell {
  template <class W, class X> constexpr auto operator()(const W& w, const X& x) const {
    const auto sequences = dm::whole<length>(x);  // tokens of one stand in line together
    return x + dm::own<length, cols>(nn::mixture<E>(nn::model<L, form>{}, w, sequences).y);
  }
};

template <class S> void draw(S& weights, std::uint64_t seed) {
  dm::for_each_tensor(
      [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.4, 0.4); },
      weights);
}
template <class W> auto begun(const dm::grid<pod>& g) {
  auto w = dm::make<W>(g);
  draw(std::get<0>(w), 1);
  draw(std::get<1>(w), 50);
  return w;
}
tokens some(const dm::grid<pod>& g, unsigned seed) {
  return dm::normal<tokens>(g, dm::random_key{seed}, 0, 1);
}

// Between layers a rank has its part of each sequence, by type.
static_assert(dm::is_split<dm::spec_of<tokens>, length>);

constexpr int micros = 4, steps = 3;
constexpr dm::adam adapt{.rate = 0.01};
constexpr auto squares = [](const auto& y) { return dm::mean(y * y); };

/// Losses, and what the weights come to.
template <class W> struct outcome {
  W weights;
  std::vector<double> losses = {};
};
using alone = std::tuple<dense, sparse>;

outcome<alone> on_one_rank(const dm::grid<pod>& g) {
  outcome<alone> o{begun<alone>(g)};
  auto state = adapt.start(o.weights);
  const auto f = [](const auto& w, const auto& x) {
    const auto h = dense_cell<stream>{}(std::get<0>(w), x);
    return squares(sparse_cell<stream, everywhere>{}(std::get<1>(w), h));
  };
  for (unsigned t = 0; t < steps; ++t) {
    const auto one = dm::complete(dm::accumulate(micros, [&](dm::index_t i) {
      return dm::value_and_grad(f, o.weights)(some(g, 100 * t + static_cast<unsigned>(i)));
    }));
    o.losses.push_back(dm::value(one.value));
    adapt(o.weights, one.gradient, state);
  }
  return o;
}

using split_up =
    std::tuple<nn::block_parameters<wide_at<0>, form>, nn::mixture_parameters<experts_at<1>, form>>;
template <class S> outcome<split_up> on_all_ranks(const dm::grid<pod>& g, const S& schedule) {
  outcome<split_up> o{begun<split_up>(g)};
  const auto optimizer = dm::sharded<zero>(adapt);
  auto state = optimizer.start(o.weights);
  const auto net = dm::pipeline<stage>(dm::cell<0>(dense_cell<rows_at<0>>{}),
                                       dm::cell<1>(sparse_cell<rows_at<1>, experts_at<1>>{}));
  const auto loss = [](const auto& y, int) { return squares(y); };
  for (unsigned t = 0; t < steps; ++t) {
    const auto input = [&](int i) { return some(g, 100 * t + static_cast<unsigned>(i)); };
    const auto one = net.value_and_grad(schedule, o.weights, input, loss);
    const auto value = dm::to_rank(dm::complete(one.value));
    if (g.rank() == 0) o.losses.push_back(value[0]);
    optimizer(o.weights, one.gradient, state);
  }
  return o;
}

template <class S> void check(const dm::grid<pod>& g, const S& schedule) {
  const auto found = on_all_ranks(g, schedule);
  const auto want = on_one_rank(dm::grid<pod>(MPI_COMM_SELF, stage{1}, rows{1}, cols{1}));
  for (std::size_t t = 0; t < found.losses.size(); ++t)
    CHECK(std::abs(found.losses[t] - want.losses[t]) < 1e-10);
  dm::for_each_tensor(
      [&](const auto&, const auto& u, const auto& v) {
        const auto one = dm::to_rank(u);
        if (g.rank() != 0) return;
        const auto two = test_support::on_host(v);
        REQUIRE(one.size() == static_cast<std::size_t>(v.local_size()));
        double far = 0;
        for (std::size_t i = 0; i < one.size(); ++i)
          far = std::max(far, std::abs(one[i] - two[static_cast<dm::index_t>(i)]));
        CHECK(far < 1e-9);
      },
      found.weights, want.weights);
}

TEST_CASE("a pipeline of split layers and experts, with a sharded optimizer") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (const int across : {1, 2})
    for (const int down : {1, 2})
      if (2 * across * down == n) {
        const dm::grid<pod> g(MPI_COMM_WORLD, stage{2}, rows{down}, cols{across});
        check(g, dm::one_f_one_b{2, micros});
        if (n < 8) check(g, dm::zb_h1{2, micros});
      }
}

}  // namespace
