// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1
// labels: local heavy
// A language model's loss and every gradient in double precision, against the same model written
// down in scalars: in the form of GPT-2, and in another with the other choices.
#include "dimesh/nn/language_model.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/op/value.hpp"
#include "support/host.hpp"
#include "support/transformer_reference.hpp"
#include "support/worst.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace nn = dimesh::nn;

struct batch : dm::dim<2> {};
struct length : dm::dim<5> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<2> {};
struct group : dm::dim<2> {};
struct head : dm::dim<4> {};
struct hidden : dm::dim<12> {};
struct vocab : dm::dim<11> {};

struct gpt : nn::transformer {
  using element = double;
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 2;
  using deviation = std::ratio<3, 10>;
};
struct llama : gpt {
  using heads = dm::shape<::heads, group>;
  using key_heads = dm::shape<::heads>;
  static constexpr auto norm = nn::norm_kind::rms;
  static constexpr auto act = nn::activation::swiglu;
  static constexpr auto positions = nn::position_kind::rotary;
  static constexpr bool biases = false, tied = false;
};
struct waves : gpt {
  static constexpr auto act = nn::activation::relu;
  static constexpr auto positions = nn::position_kind::sinusoidal;
  static constexpr bool causal = false;
};

struct lone : dm::axis<1> {};
struct single : dm::mesh<lone> {};
using L = dm::layout<single>;

int id_at(int i) { return (i * 7 + 3) % 11; }

template <class S> named_arrays arrays_of(const S& s) {
  named_arrays all;
  dm::for_each_tensor(
      [&](const dm::member_path& path, const auto& t) {
        all[path.text()].assign(test_support::on_host(t).data(),
                                test_support::on_host(t).data() + t.local_size());
      },
      s);
  return all;
}

template <class M> void check_against_reference(int query_heads) {
  const dm::grid<single> g;
  auto p = dm::make<nn::language_model_parameters<L, M>>(g);
  nn::initialize(p, dm::random_key{3});
  dm::for_each_tensor(
      [&](const dm::member_path& path, auto& t) {  // nothing may hide behind ones and zeros
        const std::string name = path.name();
        if (name == "gain" || name.ends_with("bias"))
          dm::fill_uniform(t, dm::random_key{4}.fold(static_cast<std::uint64_t>(t.local_size())),
                           0.5, 1.5);
      },
      p);
  using ids = nn::tokens<L, M>;
  const auto x = dm::generate<ids>(
      g, [](dm::index_t b, dm::index_t t) { return id_at(static_cast<int>(b * 5 + t)); });
  const auto y = dm::generate<ids>(
      g, [](dm::index_t b, dm::index_t t) { return id_at(static_cast<int>(b * 5 + t + 1)); });
  const auto step =
      dm::value_and_grad([](const auto& q, const auto& a,
                            const auto& b) { return nn::language_model<L, M>().loss(q, a, b); },
                         p)(x, y);

  reference_model<M> reference({2, 5, 8, query_heads, 2, 4, 12, 11, 2}, arrays_of(p));
  std::vector<int> in, next;
  for (int i = 0; i < 10; ++i) in.push_back(id_at(i)), next.push_back(id_at(i + 1));
  CHECK(dm::value(dm::complete(step.value)) ==
        doctest::Approx(reference.loss(in, next)).epsilon(1e-12));
  const named_arrays want = reference.slopes(), got = arrays_of(step.gradient);
  CHECK(got.size() == want.size());
  for (const auto& [name, values] : want) {
    INFO("gradient of ", name);
    const auto& mine = got.at(name);
    REQUIRE(mine.size() == values.size());
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      worst = test_support::worst(worst, std::abs(mine[i] - values[i]));
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("in the form of GPT-2") { check_against_reference<gpt>(2); }
TEST_CASE("with grouped queries, rotary positions, gated units, RMS norms, a head of its own") {
  check_against_reference<llama>(4);
}
TEST_CASE("with waves for positions, rectifiers, every position seen") {
  check_against_reference<waves>(2);
}

}  // namespace
