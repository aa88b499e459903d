// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: heavy
// An encoder and a decoder: the gradient against a difference of losses, the same loss and gradient
// with heads, hidden units, vocabulary and lengths split, and with the batch split and layers
// computed anew; sentences of several lengths, filled up to one.
#include "dimesh/nn/padding.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "dimesh/grad/complete.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/op/value.hpp"
#include "support/host.hpp"
#include "support/worst.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::index_t;

struct batch : dm::dim<4> {};
struct source : dm::dim<12> {};
struct length : dm::dim<8> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<2> {};
struct hidden : dm::dim<16> {};
struct vocab : dm::dim<12> {};

struct form : nn::transformer {
  using element = double;
  using batch = ::batch;
  using source = ::source;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 2, encoder_layers = 1;
  using deviation = std::ratio<3, 10>;
  static constexpr auto act = nn::activation::geglu;
  static constexpr auto positions = nn::position_kind::sinusoidal;
};
struct again : form {
  static constexpr bool recompute = true;
};

struct x : dm::axis<> {};
struct line : dm::mesh<x> {};
using none = dm::layout<line>;
using data = dm::layout<line, dm::split<batch, x>>;
using parts = dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>,
                         dm::split_if_free<length, x>, dm::split_if_free<source, x>>;

using arrays = std::map<std::string, std::vector<double>>;
struct outcome {
  double loss = 0, ahead = 0, behind = 0;
  arrays gradient;
};

/// Loss and gradient under C; the losses a small step ahead and behind along `way`.
template <class C, class M> outcome run(const dm::grid<line>& g) {
  using net = nn::encoder_decoder<C, M>;
  const net model({.dropout = 0.1, .key = dm::random_key{9}});
  auto p = dm::make<typename net::parameters>(g);
  nn::initialize(p, dm::random_key{3});
  const auto from = dm::generate<typename net::source_tokens>(
      g, [](index_t b, index_t t) { return (b * 5 + t * 7) % 12; });
  const auto ids = dm::generate<typename net::tokens>(
      g, [](index_t b, index_t t) { return (b * 3 + t * 5 + 1) % 12; });
  const auto next = dm::generate<typename net::tokens>(
      g, [](index_t b, index_t t) { return t == 7 ? -1 : (b * 3 + t * 5 + 6) % 12; });
  const auto loss = [&model](const auto& q, const auto& s, const auto& i, const auto& n) {
    return model.loss(q, s, i, n);
  };
  const auto step = dm::complete(dm::value_and_grad(loss, p)(from, ids, next));
  outcome out;
  out.loss = dm::value(step.value);
  dm::for_each_tensor(
      [&](const dm::member_path& path, const auto& v) {
        const auto whole = dm::relayout<dm::layout<line>>(v);
        out.gradient[path.text()].assign(test_support::on_host(whole).data(),
                                         test_support::on_host(whole).data() + whole.local_size());
      },
      step.gradient);
  for (const double h : {1e-5, -1e-5}) {
    auto moved = p;
    dm::for_each_tensor([&](const auto&, auto& m, const auto& w) { m = w + 0.0; }, moved, p);
    dm::for_each_tensor(
        [&](const dm::member_path&, auto& w) {
          for (index_t i = 0; i < w.local_size(); ++i)
            test_support::on_host(w)[i] += h * (i % 5 - 2);
        },
        moved);
    (h > 0 ? out.ahead : out.behind) = dm::value(dm::complete(loss(moved, from, ids, next)));
  }
  return out;
}

/// Row b has so many tokens.
constexpr index_t words(index_t b) { return 3 + b * 2; }
/// The same sentences in a source of 20 places.
struct wide : dm::dim<20> {};
struct wide_form : form {
  using source = wide;
};

/// Sentences of words(b) tokens, filled up with `filler`: the loss, and the gradient's slope beside
/// the slope of the losses a small step apart.
struct padded_outcome {
  double loss = 0, slope = 0, difference = 0;
};
template <class C, class M>
padded_outcome run_padded(const dm::grid<line>& g, int filler, index_t fewer = 0,
                          double dropout = 0.1) {
  using net = nn::encoder_decoder<C, M>;
  const net model({.dropout = dropout, .key = dm::random_key{9}});
  auto p = dm::make<typename net::parameters>(g);
  nn::initialize(p, dm::random_key{3});
  const auto size = [=](index_t b) { return words(b) - fewer; };
  const auto from = dm::generate<typename net::source_tokens>(
      g, [=](index_t b, index_t t) { return t < size(b) ? (b * 5 + t * 7) % 12 : filler; });
  const auto valid = dm::cast<double>(dm::generate<typename net::source_tokens>(
      g, [=](index_t b, index_t t) { return t < size(b) ? 1 : 0; }));
  const auto ids = dm::generate<typename net::tokens>(
      g, [](index_t b, index_t t) { return (b * 3 + t * 5 + 1) % 12; });
  const auto next = dm::generate<typename net::tokens>(
      g, [](index_t b, index_t t) { return t > b + 3 ? -1 : (b * 3 + t * 5 + 6) % 12; });
  const auto loss = [&](const auto& q) { return nn::loss(model, q, from, valid, ids, next); };
  const auto step = dm::complete(dm::value_and_grad(loss, p)());
  padded_outcome out{.loss = dm::value(step.value)};
  const auto moved = [&](double h) {
    auto q = p;
    dm::for_each_tensor(
        [&](const auto&, auto& to, const auto& w, const auto& d) { to = w + h * d; }, q, p,
        step.gradient);
    return dm::value(dm::complete(loss(q)));
  };
  dm::for_each_tensor(
      [&](const auto&, const auto& d) {
        out.slope += dm::value(dm::complete(dm::sum(dm::square(d))));
      },
      step.gradient);
  out.difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
  return out;
}

void check_same(const outcome& a, const outcome& b) {
  CHECK(a.loss == doctest::Approx(b.loss).epsilon(1e-12));
  for (const auto& [name, values] : b.gradient) {
    INFO("gradient of ", name);
    const auto& mine = a.gradient.at(name);
    REQUIRE(mine.size() == values.size());
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      worst = test_support::worst(worst, std::abs(mine[i] - values[i]));
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("an encoder and a decoder") {
  const dm::grid<line> g;
  const outcome one = run<none, form>(g);
  SUBCASE("the gradient is the slope of the loss") {
    double slope = 0;
    for (const auto& [name, values] : one.gradient)
      for (std::size_t i = 0; i < values.size(); ++i)
        slope += values[i] * static_cast<double>(static_cast<int>(i % 5) - 2);
    CHECK(slope == doctest::Approx((one.ahead - one.behind) / 2e-5).scale(0).epsilon(1e-6));
  }
  SUBCASE("heads, hidden, vocabulary, lengths") { check_same(run<parts, form>(g), one); }
  SUBCASE("batch, layers computed anew") { check_same(run<data, again>(g), one); }
}

TEST_CASE("sentences of several lengths") {
  const dm::grid<line> g;
  const padded_outcome one = run_padded<none, form>(g, 0);
  const auto near = [](double x) { return doctest::Approx(x).scale(0).epsilon(1e-11); };
  SUBCASE("the gradient is the slope of the loss") {
    CHECK(one.slope == doctest::Approx(one.difference).scale(0).epsilon(1e-6));
    CHECK(one.slope > 1e-3);
  }
  SUBCASE("nobody sees what fills them up, nor how much of it there is") {
    CHECK(run_padded<none, form>(g, 7).loss == one.loss);
    // Without dropout, whose numbers go by the places of a row.
    CHECK(run_padded<none, wide_form>(g, 0, 0, 0).loss ==
          near(run_padded<none, form>(g, 0, 0, 0).loss));
    CHECK(std::abs(run_padded<none, form>(g, 0, 1).loss - one.loss) > 1e-5);  // words are seen
  }
  SUBCASE("under other layouts") {
    for (const padded_outcome& o : {run_padded<parts, form>(g, 0), run_padded<data, again>(g, 0)}) {
      CHECK(o.loss == near(one.loss));
      CHECK(o.slope == near(one.slope));
    }
  }
}

}  // namespace
