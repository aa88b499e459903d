// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do users who compile with many warnings, and with -Werror, see none of ours? A small program of
// each kind: a network with its gradients, a Transformer, a stencil, movement. It is compiled, and
// never run. (headers/self_contained compiles every header so, without instantiating much.)
#include <dimesh/create.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/nn/encoder_decoder.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/nn/language_model.hpp>
#include <dimesh/op/stencil_exchange.hpp>
#include <dimesh/optim/adafactor.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/clip.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/optim/sharded.hpp>
#include <dimesh/show/trace.hpp>

namespace dm = dimesh;
namespace nn = dimesh::nn;

namespace {

/// Elements beside whole numbers, where the derivative of a derivative is wanted.
using twice = dm::dual<dm::dual<float, 1>, 1>;
[[maybe_unused]] twice kinks(const twice& x) {
  return dm::select(x > 0, dm::abs(x), dm::select(x <= -3, x, x + x));
}

struct batch : dm::dim<> {
  using dm::dim<>::dim;
};
struct pixel : dm::dim<16> {};
struct label : dm::dim<10> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using hybrid = dm::layout<pod, dm::split<batch, rows>, dm::split<pixel, cols>>;

template <class L> struct linear {
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, pixel, label>, w),
                           (dm::tensor<float, L, label>, b));
};

struct loss {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    const auto y = dm::tanh(dm::complete(dm::einsum<batch, label>(x, p.w)) + p.b);
    return dm::mean<batch>(dm::log_sum_exp<label>(y) - dm::einsum<batch>(y, target));
  }
};

void train_network(const dm::grid<pod>& g) {
  linear<hybrid> p{dm::tensor<float, hybrid, pixel, label>(g), dm::tensor<float, hybrid, label>(g)};
  dm::fill_normal(p.w, dm::random_key{1}, 0, 0.5F);
  const dm::tensor<float, hybrid, batch, pixel> x(g, batch{8});
  const dm::tensor<float, hybrid, batch, label> target(g, batch{8});
  const dm::momentum optimizer{.rate = 0.1, .decay = 0.9};
  auto state = optimizer.start(p);
  auto [value, gradient] = dm::complete(dm::value_and_grad(loss{}, p)(x, target));
  dm::clip_by_global_norm(gradient, 1.0);
  optimizer(p, gradient, state);
}

struct sequences : dm::dim<8> {};
struct length : dm::dim<32> {};
struct model : dm::dim<64> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<16> {};
struct hidden : dm::dim<256> {};
struct vocab : dm::dim<128> {};
struct gpt : nn::transformer {
  using batch = ::sequences;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 2;
};
using sequence =
    dm::layout<pod, dm::split<sequences, rows>, dm::split<heads, cols>, dm::split<hidden, cols>,
               dm::split<vocab, cols>, dm::split_if_free<length, cols>>;

void train_transformer(const dm::grid<pod>& g) {
  const nn::language_model<sequence, gpt> model({.dropout = 0.1, .key = dm::random_key{2}});
  auto p = dm::make<nn::language_model_parameters<sequence, gpt>>(g);
  nn::initialize(p, dm::random_key{1});
  const dm::adam optimizer{.rate = 1e-3, .weight_decay = 0.01, .decays = dm::decay_matrices};
  auto state = optimizer.start(p);
  nn::tokens<sequence, gpt> ids(g), next(g);
  dm::fill_by(ids, [](auto row, auto at) { return (row + at) % 128; });
  dm::fill_by(next, [](auto row, auto at) { return (row + at + 1) % 128; });
  const auto f = [&model](const auto& q, const auto& a, const auto& b) {
    return model.loss(q, a, b);
  };
  auto [value, gradient] = dm::complete(dm::value_and_grad(f, p)(ids, next));
  optimizer(p, gradient, state);
}

struct diffuse {
  template <class U> constexpr auto operator()(const U& u) const {
    return dm::at<>(u) + 0.2 * (dm::at<pixel>(u, -1) + dm::at<pixel>(u, 1) - 2 * dm::at<>(u));
  }
};

double move_around(const dm::grid<pod>& g) {
  using plate = dm::tensor<double, hybrid, batch, pixel>;
  const auto wave = [](dm::index_t i, dm::index_t j) { return static_cast<double>(i - j); };
  const auto first = dm::generate<plate>(g, wave, batch{8});
  auto u = dm::halo_exchange<1, pixel>(first);
  u = dm::stencil_exchange(diffuse{}, dm::boundary::zero, u);
  using turned = dm::layout<pod, dm::split<pixel, rows>, dm::split<batch, cols>>;
  const auto elsewhere = dm::relayout<turned>(first);
  const auto total = dm::sum<batch, pixel>(dm::relayout<hybrid>(elsewhere) * 2.0);
  const auto largest = dm::complete(dm::max(dm::abs(first)));
  const auto place = dm::argmax<batch>(dm::whole<batch>(first));
  return dm::value(dm::complete(total)) + dm::value(largest) + static_cast<double>(place.rank);
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [] {
    const dm::grid<pod> g(cols{2});
    train_network(g);
    train_transformer(g);
    return move_around(g) > 0 ? 0 : 1;
  });
}
