// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2
// Numbers that no call can work with are refused by name, on every rank, before anything is sent.
#include "dimesh/detail/number_given.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "dimesh/create.hpp"
#include "dimesh/interop/borrow.hpp"
#include "dimesh/nn/batch_norm.hpp"
#include "dimesh/nn/generate/sampling.hpp"
#include "dimesh/op/batch_norm.hpp"
#include "dimesh/op/cross_entropy.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/logic.hpp"
#include "dimesh/op/norm.hpp"
#include "dimesh/op/rotary.hpp"
#include "dimesh/optim/adafactor.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/clip.hpp"
#include "dimesh/optim/loss_scale.hpp"
#include "dimesh/optim/sgd.hpp"
#include "dimesh/random/fill.hpp"

#include "support/host.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;
struct row : dm::dim<> {};
struct column : dm::dim<4> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using by_row = dm::layout<line, dm::split<dm::uneven<row>, ranks>>;
using matrix = dm::tensor<float, by_row, row, column>;
using ids = dm::tensor<int, by_row, row>;

const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
const dm::random_key key{1};

/// What f() throws, which must begin with this.
void check_says(const auto& f, const std::string& text) {
  std::string said = "nothing";
  try {
    f();
  } catch (const dm::error& e) {
    said = e.what();
  }
  CHECK_MESSAGE(said.substr(0, text.size()) == text, said);
}

TEST_CASE("random numbers") {
  const dm::grid<line> g;
  matrix x(g, row{5});
  check_says([&] { dm::fill_uniform(x, key, 2, 1); },
             "fill_uniform: the ends are 2 and 1; the first must be a number that is not greater");
  check_says([&] { (void)dm::uniform<matrix>(g, key, 2, 1, row{3}); },
             "fill_uniform: the ends are");
  check_says([&] { (void)dm::uniform<matrix>(g, key, nan, 1, row{3}); },
             "fill_uniform: the first end is nan; it must be finite");
  check_says([&] { (void)dm::uniform<matrix>(g, key, 0, inf, row{3}); },
             "fill_uniform: the second end is inf");
  check_says([&] { dm::fill_normal(x, key, 0, -1); },
             "fill_normal: the standard deviation is -1; it must be at least 0, and finite");
  check_says([&] { (void)dm::normal<matrix>(g, key, nan, 1, row{3}); },
             "fill_normal: the mean is nan");
  check_says([&] { dm::fill_exponential(x, key, inf); }, "fill_exponential: the mean is inf");
  check_says([&] { dm::fill_truncated_normal(x, key, nan, 1); },
             "fill_truncated_normal: the mean is nan");
  check_says([&] { dm::fill_gamma(x, key, inf, 1); }, "fill_gamma: the shape is inf; it must be");
  dm::fill_uniform(x, key, 1, 1);  // one number
  dm::fill_normal(x, key, 0, 0);
  dm::fill_truncated_normal(x, key, 0, 1, inf);
}

TEST_CASE("optimizers") {
  const dm::grid<line> g;
  auto p = dm::constant<matrix>(g, 1, row{5});
  const auto d = dm::constant<matrix>(g, 1, row{5});
  const auto sgd = [&](dm::sgd o) { return [&p, &d, o] { o(p, d); }; };
  check_says(sgd({.rate = -1}), "sgd: the rate is -1; it must be at least 0, and finite");
  check_says(sgd({.rate = nan}), "sgd: the rate is nan");
  check_says(sgd({.rate = inf}), "sgd: the rate is inf");
  check_says(sgd({.weight_decay = -1e-3}), "sgd: the weight decay is -0.001");
  const auto momentum = [&](dm::momentum o) {
    return [&p, &d, o] {
      auto state = o.start(p);
      o(p, d, state);
    };
  };
  check_says(momentum({.rate = nan}), "momentum: the rate is nan");
  check_says(momentum({.decay = 1.5}), "momentum: the decay is 1.5; it must be from 0 to 1");
  const auto adam = [&](dm::adam o) {
    return [&p, &d, o] {
      auto state = o.start(p);
      o(p, d, state);
    };
  };
  check_says(adam({.rate = -1e-9}), "adam: the rate is -1e-09");
  check_says(adam({.beta1 = 1}), "adam: the beta1 is 1; it must be at least 0, and less than 1");
  check_says(adam({.beta2 = -0.1}), "adam: the beta2 is -0.1");
  check_says(adam({.epsilon = nan}), "adam: the epsilon is nan");
  check_says(adam({.weight_decay = -1}), "adam: the weight decay is -1");
  const auto adafactor = [&](dm::adafactor o) {
    return [&p, &d, o] {
      auto state = o.start(p);
      o(p, d, state);
    };
  };
  check_says(adafactor({.rate = nan}), "adafactor: the rate is nan");
  check_says(adafactor({.decay_power = -1}), "adafactor: the power of decay is -1");
  check_says(adafactor({.clip = -1}), "adafactor: the clip is -1");
  check_says(adafactor({.beta1 = 1}), "adafactor: the beta1 is 1");
  check_says(adafactor({.epsilon1 = -1}), "adafactor: the epsilon1 is -1");
  check_says(adafactor({.epsilon2 = nan}), "adafactor: the epsilon2 is nan");
  for (dm::index_t i = 0; i < p.local_size(); ++i)
    CHECK(test_support::on_host(p)[i] == 1);  // nothing was done
  adam({.epsilon = 0})();
  adafactor({.clip = inf})();  // never
  momentum({.rate = 0, .decay = 1})();
}

TEST_CASE("gradients and losses that are scaled") {
  const dm::grid<line> g;
  auto p = dm::constant<matrix>(g, 1, row{5});
  check_says([&] { dm::clip_by_global_norm(p, -1); },
             "clip_by_global_norm: the limit is -1; it must be at least 0");
  check_says([&] { dm::clip_by_global_norm(p, nan); }, "clip_by_global_norm: the limit is nan");
  CHECK(dm::clip_by_global_norm(p, inf) == doctest::Approx(std::sqrt(20.0)));
  const auto f = [](const auto& x) { return dm::sum(x); };
  check_says([&] { (void)dm::loss_scale{0}.scaled(f); },
             "loss_scale: the factor is 0; it must be above 0");
  check_says([&] { (void)dm::loss_scale{inf}.unscaled(p); },
             "loss_scale: the factor is inf; it must be finite");
  check_says([&] { (void)dm::dynamic_loss_scale{-2}.scaled(f); }, "loss_scale: the factor is -2");
}

TEST_CASE("operations") {
  const dm::grid<line> g;
  const auto x = dm::constant<matrix>(g, 1, row{6});
  const auto no_target = dm::constant<ids>(g, 0, row{6});
  check_says([&] { (void)dm::clamp(x, 1, 0); },
             "clamp: the bounds are 1 and 0; the first must be a number that is not greater");
  check_says([&] { (void)dm::clamp(x, nan, 1.0); }, "clamp: the bounds are nan and 1");
  (void)dm::clamp(x, -inf, inf);
  (void)dm::clamp(x, 0.1f, 0.1);  // one element
  check_says([&] { (void)dm::layer_norm<column>(-1e-5, x); },
             "layer_norm: the epsilon is -1e-05; it must be at least 0");
  check_says([&] { (void)dm::rms_norm<column>(nan, x); }, "rms_norm: the epsilon is nan");
  check_says([&] { (void)dm::batch_norm_all_reduce<column>(-1, x); },
             "batch_norm_all_reduce: the epsilon is -1");
  check_says(
      [&] { (void)dm::softmax_cross_entropy<column>(x, no_target, {.label_smoothing = 1.5}); },
      "softmax_cross_entropy: the label smoothing is 1.5; it must be from 0 to 1");
  check_says([&] { (void)dm::softmax_cross_entropy<column>(x, no_target, {.z_loss = -1}); },
             "softmax_cross_entropy: the weight of z_loss is -1");
  check_says([&] { (void)dm::rotary<row, column>(x, 0); },
             "rotary: the base is 0; it must be above 0");
  check_says([&] { (void)dm::cuts_by_ceil<row>(4, 0); },
             "cuts_by_ceil: the number of blocks is 0; it must be above 0");
  check_says([&] { (void)dm::cuts_by_ceil<row>(-4, 1); },
             "cuts_by_ceil: the number of elements is -4");
  const auto seen = dm::batch_norm_all_reduce<column>(1e-5, x);
  auto running = dm::make<nn::running_moments<dm::layout<line>, float, column>>(g);
  check_says([&] { nn::keep_moments(running, seen, 2); }, "nn::keep_moments: the part is 2");
}

TEST_CASE("the next symbol") {
  const std::vector<float> logits{1, 2};
  const auto draw = [&](nn::sampling how) {
    return [&logits, how] { (void)nn::draw_symbol(logits, key, how); };
  };
  check_says(draw({.temperature = -1}), "draw_symbol: the temperature is -1; it must be at least");
  check_says(draw({.temperature = nan}), "draw_symbol: the temperature is nan");
  check_says(draw({.top_k = -1}), "draw_symbol: the top_k is -1");
  check_says(draw({.top_p = 1.01}), "draw_symbol: the top_p is 1.01; it must be from 0 to 1");
  CHECK(nn::draw_symbol(logits, key, {.top_p = 0}) == 1);
}

TEST_CASE("extents and sizes that are given twice") {
  const dm::grid<line> g;
  check_says([&] { (void)dm::zeros<matrix>(g, row{3}, row{4}); },
             "shape: two extents are given for dim 'row', 3 and 4; give one");
  const auto x = dm::zeros<matrix>(g, row{3}, row{3}, row{});
  CHECK(x.extent<row>() == 3);
  // What comes after a shape stands for what that says.
  CHECK(dm::zeros<matrix>(g, x.shape(), row{4}).extent<row>() == 4);
  CHECK(dm::zeros<matrix>(g, row{2}, dm::shape<row>{}).extent<row>() == 2);
  check_says([&] { (void)dm::mesh_sizes<line>(ranks{1}, ranks{2}); },
             "mesh: two sizes are given for axis 'ranks', 1 and 2; give one");
  check_says([&] { (void)dm::grid<line>(ranks{1}, ranks{2}); },
             "mesh: two sizes are given for axis 'ranks', 1 and 2");
}

TEST_CASE("memory that is not there") {
  const dm::grid<line> g;
  float* const none = nullptr;
  const dm::index_t n = matrix(g, row{8}).local_size();
  check_says([&] { (void)dm::borrow<matrix>(g, none, n, row{8}); },
             "borrow: the address of " + std::to_string(n) + " elements is null");
  CHECK(dm::borrow<matrix>(g, none, 0, row{0}).local_size() == 0);
}

}  // namespace
