// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a small language model train alike under every layout? Twenty steps with dropout, in double:
// losses, and the last step's gradients gathered whole; and the bytes that MPI carried beside those
// that the types predict.
//
//   const training a = train<small, plan>(g), b = train<small, other>(g);   same_training(a, b)
#pragma once

#include <doctest/doctest.h>

#include <census.hpp>
#include <map>
#include <string>
#include <vector>

#include "dimesh/grad/cost.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/nn/language_model.hpp"
#include "dimesh/op/value.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/reflect/describe.hpp"
#include "support/host.hpp"

namespace test_support {
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dimesh::index_t;

struct batch : dm::dim<8> {};
struct length : dm::dim<8> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<8> {};
struct head : dm::dim<2> {};
struct hidden : dm::dim<16> {};
struct vocab : dm::dim<24> {};

struct small : nn::transformer {
  using element = double;
  using batch = test_support::batch;
  using length = test_support::length;
  using model = test_support::model;
  using heads = dm::shape<test_support::heads>;
  using head = test_support::head;
  using hidden = test_support::hidden;
  using vocab = test_support::vocab;
  static constexpr int layers = 2;
  using deviation = std::ratio<2, 10>;
};

/// The same with the other choices.
struct group : dm::dim<1> {};
struct other : small {
  using heads = dm::shape<test_support::heads, group>;
  using key_heads = dm::shape<test_support::heads>;
  static constexpr auto norm = nn::norm_kind::rms;
  static constexpr auto act = nn::activation::swiglu;
  static constexpr auto positions = nn::position_kind::rotary;
  static constexpr bool biases = false, tied = false, recompute = true;
};

struct training {
  std::vector<double> losses;
  std::map<std::string, std::vector<double>> gradient;  // of the last step, whole
  std::string bytes;  // what the census found wrong
};

/// What stands at a place of a text, or `ahead` of it.
struct symbols {
  int step;
  index_t ahead;
  KOKKOS_FUNCTION index_t operator()(index_t b, index_t i) const {
    return (b * 5 + (i + ahead) * 3 + step * 7) % 24;
  }
};

template <class C, class M> struct training_step {
  nn::language_model<C, M> model;
  template <class P, class I> constexpr auto operator()(const P& p, const I& x, const I& y) const {
    const auto loss = [this](const auto& q, const auto& a, const auto& b) {
      return model.loss(q, a, b);
    };
    return dm::complete(dm::value_and_grad(loss, p)(x, y));
  }
};

/// Under compute layout C, parameters under S.
template <class M, class C, class S = C, class Grid> training train(const Grid& g) {
  using mesh = typename C::mesh;
  auto p = dm::make<nn::language_model_parameters<S, M>>(g);
  nn::initialize(p, dm::random_key{5});
  using ids = nn::tokens<C, M>;
  dm::adam optimizer{.rate = 1e-2, .weight_decay = 0.01};
  auto state = optimizer.start(p);
  training t;
  for (int step = 0; step < 20; ++step) {
    const auto x = dm::generate<ids>(g, symbols{step, 0});
    const auto y = dm::generate<ids>(g, symbols{step, 1});
    const training_step<C, M> one{nn::run_options{
        .dropout = 0.1, .key = dm::random_key(7).fold(static_cast<std::uint64_t>(step))}};
    census::reset();
    const auto [loss, gradient] = one(p, x, y);
    const auto seen = census::snapshot();
    t.losses.push_back(dm::value(loss));
    if (step == 19) {
      const auto cost = dm::count(one, dm::shapes_of(p), dm::shapes_of(x), dm::shapes_of(y));
      for (unsigned axes = 1; axes < (1u << mesh::rank); ++axes)
        if (g.rank() == 0 && seen.bytes_on(axes) != cost.counts.over[axes].bytes)
          t.bytes += "over axes " + std::to_string(axes) + " " +
                     std::to_string(seen.bytes_on(axes)) + " instead of " +
                     std::to_string(cost.counts.over[axes].bytes) + "; ";
      dm::for_each_tensor(
          [&](const dm::member_path& path, const auto& v) {
            const auto whole = dm::relayout<dm::layout<mesh>>(v);
            t.gradient[path.text()].assign(on_host(whole).data(),
                                           on_host(whole).data() + whole.local_size());
          },
          gradient);
    }
    optimizer(p, gradient, state);
  }
  return t;
}

inline void check_same(const training& a, const training& b) {
  CHECK(a.bytes == "");
  for (std::size_t i = 0; i < a.losses.size(); ++i)
    CHECK(a.losses[i] == doctest::Approx(b.losses[i]).epsilon(1e-10));
  CHECK(a.losses.back() < a.losses.front());
  for (const auto& [name, values] : b.gradient) {
    INFO("gradient of ", name);
    const auto& mine = a.gradient.at(name);
    REQUIRE(mine.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!(std::abs(mine[i] - values[i]) < 1e-9)) {
        CHECK(mine[i] == values[i]);
        break;
      }
  }
}

}  // namespace test_support
