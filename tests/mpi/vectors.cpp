// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: device
// Networks whose number of layers only the run knows: with 1 to 3 layers in a vector, everything
// that walks parameters gives the bits that it gives with an array; structs whose vectors differ in
// length are refused, and the error names the call.
#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <string>
#include <vector>

#include "dimesh/grad/accumulate.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/grad/overlap.hpp"
#include "dimesh/grad/recompute.hpp"
#include "dimesh/grad/vjp.hpp"
#include "dimesh/nn/dense.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/op/value.hpp"
#include "dimesh/optim/adafactor.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/sgd.hpp"
#include "dimesh/optim/sharded.hpp"
#include "dimesh/reflect/clone.hpp"
#include "support/host.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::index_t;

struct batch : dm::dim<8> {};
struct width : dm::dim<8> {};
struct hidden : dm::dim<16> {};
struct a : dm::axis<> {};
struct line : dm::mesh<a> {};
template <class... R> using on_line = dm::layout<line, R...>;
using whole = on_line<>;
using by_batch = on_line<dm::split<batch, a>>;
using by_hidden = on_line<dm::split<hidden, a>>;
using spread = on_line<dm::spread<a>>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer,
                           (nn::parameter<nn::he_normal<width>, double, L, width, hidden>, up),
                           (nn::parameter<nn::zeros, double, L, hidden>, bias),
                           (nn::parameter<nn::normal_by_fan_in<hidden>, double, L, hidden, width>,
                            down));
};
template <class L> struct grown {
  using layers_type = std::vector<layer<L>>;
  BOOST_HANA_DEFINE_STRUCT(grown,
                           (nn::parameter<nn::normal_by_fan_in<width>, double, L, width>, first),
                           (layers_type, layers), (nn::parameter<nn::ones, double, L>, scale));
};
template <class L, int N> struct fixed {
  using layers_type = std::array<layer<L>, N>;
  BOOST_HANA_DEFINE_STRUCT(fixed,
                           (nn::parameter<nn::normal_by_fan_in<width>, double, L, width>, first),
                           (layers_type, layers), (nn::parameter<nn::ones, double, L>, scale));
};

/// The parameters of a network of n layers.
template <class S> S made(const dm::grid<line>& g, [[maybe_unused]] index_t n) {
  S s = [&] {
    if constexpr (dm::detail::has_vectors<S>)
      return dm::make<S>(g, {{"layers", n}});
    else
      return dm::make<S>(g);
  }();
  nn::initialize(s, dm::random_key{3});
  return s;
}

template <class C> struct one_layer {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    constexpr nn::model<C> m;
    return x + nn::project(m, nn::dense(m, nn::gelu_activation{}, x, p.up, p.bias), p.down);
  }
};
template <class C> struct loss {
  template <class P, class X> auto operator()(const P& p, const X& x) const {
    constexpr nn::model<C> m;
    auto h = nn::add_bias(m, x, p.first);
    for (std::size_t i = 0; i < p.layers.size(); ++i)
      h = i % 2 == 0 ? dm::recompute(one_layer<C>{})(p.layers[i], h)
                     : one_layer<C>{}(p.layers[i], h);
    return dm::mean(dm::square(h)) * p.scale;
  }
};

/// The same of nothing computed anew.
template <class C> struct plain_loss {
  template <class P, class X> auto operator()(const P& p, const X& x) const {
    auto h = nn::add_bias(nn::model<C>(), x, p.first);
    for (const auto& l : p.layers) h = one_layer<C>{}(l, h);
    return dm::mean(dm::square(h)) * p.scale;
  }
};

/// All elements of all tensors, whole, by path.
using contents = std::vector<std::pair<std::string, std::vector<double>>>;
template <class S> contents contents_of(const S& s) {
  contents all;
  dm::for_each_tensor(
      [&](const dm::member_path& path, const auto& x) {
        const auto y = dm::relayout<whole>(x);
        all.emplace_back(path.text(),
                         std::vector<double>(test_support::on_host(y).data(),
                                             test_support::on_host(y).data() + y.local_size()));
      },
      s);
  return all;
}

/// Everything that a training does with its parameters, in turn.
template <class P, class C> contents trained(const dm::grid<line>& g, index_t n) {
  P p = made<P>(g, n);
  contents seen = contents_of(p);
  const auto add = [&seen](const auto& s) {
    for (auto& one : contents_of(s)) seen.push_back(std::move(one));
  };
  using input = dm::tensor<double, C, batch, width>;
  const auto x = dm::uniform<input>(g, dm::random_key{5}, -1, 1);
  const auto f = dm::value_and_grad(loss<C>{}, p);
  const auto partial = f(x);
  const auto step = dm::complete(f(x));
  add(step.gradient);
  seen.emplace_back("loss", std::vector<double>{dm::value(step.value)});
  add(dm::complete(dm::accumulate(2, [&](index_t) { return f(x); })).gradient);
  add(dm::value_and_grad_all_reduce(loss<C>{}, p, {.bucket = 256})(x).gradient);
  {
    auto [y, back] = dm::vjp(loss<C>{}, p, x);
    dm::detail::bar_of_type<std::remove_cvref_t<decltype(y)>> ybar(g);
    dm::fill(ybar, 2);
    const auto [pbar, xbar] = back(ybar);
    add(dm::complete(pbar));
    add(std::tuple(xbar));
  }
  const auto anew = [](const auto& q, const auto& in) {
    return dm::recompute(plain_loss<C>{})(q, in);
  };
  add(dm::complete(dm::value_and_grad(anew, p)(x)).gradient);
  const auto before = dm::clone(p);
  auto g1 = step.gradient;
  seen.emplace_back("norm", std::vector<double>{dm::clip_by_global_norm(g1, 0.1)});
  const dm::adam adam{.rate = 0.01, .weight_decay = 0.1, .decays = dm::decay_matrices};
  auto adam_state = adam.start(p);
  const dm::adafactor adafactor{.rate = 0.01};
  auto adafactor_state = adafactor.start(p);
  const dm::momentum momentum{.rate = 0.01};
  auto momentum_state = momentum.start(p);
  for (int i = 0; i < 2; ++i) {
    adam(p, g1, adam_state);
    adafactor(p, g1, adafactor_state);
    momentum(p, g1, momentum_state);
    dm::sgd{}(p, g1);
  }
  add(p);
  add(before);
  add(adam_state.second);
  const auto sharded = dm::sharded<spread>(dm::adam{.rate = 0.01});
  auto shards = sharded.start(p);
  sharded(p, partial.gradient, shards);
  add(p);
  add(dm::zeros_like(p));
  const auto cost =
      dm::count([](const auto& q,
                   const auto& in) { return dm::complete(dm::value_and_grad(loss<C>{}, q)(in)); },
                dm::shapes_of(p), dm::shapes_of(x));
  seen.emplace_back("cost", std::vector<double>{static_cast<double>(cost.template bytes<>()),
                                                static_cast<double>(cost.flops()),
                                                static_cast<double>(cost.moved())});
  return seen;
}

void check_equal(const contents& one, const contents& other) {
  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    INFO("tensor ", i, ", ", one[i].first);
    CHECK(one[i].first == other[i].first);
    CHECK(one[i].second == other[i].second);
  }
}

template <class C, class S> void check_layouts(const dm::grid<line>& g) {
  check_equal(trained<grown<S>, C>(g, 1), trained<fixed<S, 1>, C>(g, 1));
  check_equal(trained<grown<S>, C>(g, 3), trained<fixed<S, 3>, C>(g, 3));
}

TEST_CASE("a vector of layers: the bits of an array") {
  const dm::grid<line> g;
  SUBCASE("whole") {
    check_equal(trained<grown<whole>, whole>(g, 2), trained<fixed<whole, 2>, whole>(g, 2));
  }
  SUBCASE("batch") { check_layouts<by_batch, by_batch>(g); }
  SUBCASE("hidden") { check_layouts<by_hidden, by_hidden>(g); }
}

/// The gradient of the squared length of another gradient.
template <class P> contents gradient_of_norm(const dm::grid<line>& g, index_t n) {
  const auto squares = [](const auto& q) {
    auto s = dm::sum(dm::square(q.first) * q.first);
    for (const auto& l : q.layers) s = s + dm::sum(dm::square(l.up) * l.up);
    return s;
  };
  const auto norm = [&squares](const auto& q) {
    const auto inner = dm::complete(dm::value_and_grad(squares, q)());
    auto s = dm::sum(dm::square(inner.gradient.first));
    for (const auto& l : inner.gradient.layers) s = s + dm::sum(dm::square(l.up));
    return s;
  };
  const P p = made<P>(g, n);
  return contents_of(dm::complete(dm::value_and_grad(norm, p)()).gradient);
}

TEST_CASE("a gradient of a gradient, and recomputed results in a vector") {
  const dm::grid<line> g;
  const contents nested = gradient_of_norm<grown<whole>>(g, 3);
  check_equal(nested, gradient_of_norm<fixed<whole, 3>>(g, 3));
  // |3 w^2|^2 has the gradient 36 w^3.
  const auto p = made<grown<whole>>(g, 3);
  const double w = test_support::on_host(p.layers[2].up)[5];
  CHECK(nested[7].first == "layers[2].up");
  CHECK(nested[7].second[5] == doctest::Approx(36 * w * w * w));

  const auto twice = [](const auto& q) {
    std::vector<std::remove_cvref_t<decltype(q.first + q.first)>> all;
    for (const auto& l : q.layers) all.push_back(q.first * dm::sum(l.up));
    return all;
  };
  const auto total = [&twice](const auto& q) {
    auto s = dm::sum(q.first);
    for (const auto& x : dm::recompute(twice)(q)) s = s + dm::sum(x);
    return s;
  };
  const auto direct = [&twice](const auto& q) {
    auto s = dm::sum(q.first);
    for (const auto& x : twice(q)) s = s + dm::sum(x);
    return s;
  };
  check_equal(contents_of(dm::value_and_grad(total, p)().gradient),
              contents_of(dm::value_and_grad(direct, p)().gradient));
}

TEST_CASE("count: arguments without tensors come along, vectors of numbers too") {
  const dm::grid<line> g;
  const auto f = [](const auto& q, const std::vector<int>& n) {
    return dm::sum(q.first * static_cast<double>(n.at(1)));
  };
  const auto shapes = dm::shapes_of(made<grown<whole>>(g, 1));
  CHECK(dm::count(f, shapes, std::vector<int>{1, 2}).flops() ==
        dm::count(f, shapes, std::vector<int>{1, 2, 3}).flops());
}

TEST_CASE("initialize: the same numbers under every layout, others for each parameter") {
  const dm::grid<line> g;
  const contents one = contents_of(made<grown<whole>>(g, 3));
  check_equal(contents_of(made<grown<by_hidden>>(g, 3)), one);
  check_equal(contents_of(made<grown<spread>>(g, 3)), one);
  for (std::size_t i = 0; i < one.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (one[i].first.find("bias") == std::string::npos && one[i].second.size() > 1)
        CHECK(one[i].second != one[j].second);
}

TEST_CASE("vectors of different lengths: an error that names the call") {
  const dm::grid<line> g;
  using P = grown<whole>;
  auto p = made<P>(g, 3);
  const auto q = made<P>(g, 2);
  const std::string rest =
      ": the vectors 'layers' of two structs side by side have 3 and 2 elements; make one in the "
      "form of the other (empty_like, zeros_like, start)";
  const auto text = [](const auto& call) {
    try {
      call();
    } catch (const dm::error& e) {
      return std::string(e.what());
    }
    return std::string("nothing was thrown");
  };
  CHECK(text([&] { dm::for_each_tensor([](auto&&...) {}, p, q); }) == "for_each_tensor" + rest);
  CHECK(text([&] { dm::sgd{}(p, q); }) == "sgd" + rest);
  auto state = dm::adam{}.start(q);
  CHECK(text([&] { dm::adam{}(p, p, state); }) == "adam" + rest);
  auto means = dm::adafactor{}.start(q);
  CHECK(text([&] { dm::adafactor{}(p, p, means); }) == "adafactor" + rest);
  auto slow = dm::momentum{}.start(q);
  CHECK(text([&] { dm::momentum{}(p, p, slow); }) == "momentum" + rest);
  CHECK(
      text([&] { (void)dm::make<P>(g, {{"layer", 3}}); }) ==
      "make: how many elements has the vector 'layers'? pass {{\"layers\", n}} behind the grid, n "
      ">= 0");
}

}  // namespace
