// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Right programs that are written in other ways than the tutorial's compile, and give the right
// numbers: parameters in whatever structs, and losses in whatever functions.
// ranks: 1 2 4
// labels: device
#include <doctest/doctest.h>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/grad/vjp.hpp>

#include <array>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace {
namespace dm = dimesh;

struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct label : dm::dim<2> {};
struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
using by_batch = dm::layout<line, dm::split<batch, rows>>;
using L = by_batch;
using activations = dm::tensor<float, L, batch, hidden>;
using bias = dm::tensor<float, L, hidden>;
using matrix = dm::tensor<float, L, hidden, label>;

template <class X> auto total(const X& x) { return dm::value(dm::complete(dm::sum(x))); }
activations ones(const dm::grid<line>& g) { return dm::constant<activations>(g, 1); }
bias twos(const dm::grid<line>& g) { return dm::constant<bias>(g, 2); }

/// The gradient of sum(x p) with respect to p is 8 for each of its 4 elements.
template <class L> struct one {
  BOOST_HANA_DEFINE_STRUCT(one, (dm::tensor<float, L, hidden>, b));
};
template <class L> struct nested {
  BOOST_HANA_DEFINE_STRUCT(nested, (one<L>, first), (std::vector<one<L>>, more),
                           (dm::tensor<float, L, hidden, label>, w));
};
template <class L> struct nothing {
  BOOST_HANA_DEFINE_STRUCT(nothing);
};
template <class L> struct beside_nothing {
  BOOST_HANA_DEFINE_STRUCT(beside_nothing, (nothing<L>, none), (one<L>, some));
};
/// With a constructor, a static member and functions.
template <class L> struct with_members {
  static constexpr float rate = 0.5f;
  with_members() = default;
  explicit with_members(const dm::grid<line>& g)
      : b(dm::constant<dm::tensor<float, L, hidden>>(g, 2)) {}
  template <class X> auto loss(const X& x) const { return dm::sum(x * b * rate); }
  BOOST_HANA_DEFINE_STRUCT(with_members, (dm::tensor<float, L, hidden>, b));
};

TEST_CASE("parameters: a tensor, array, pair, tuple, vector, structs within structs, none at all") {
  const dm::grid<line> g;
  const auto x = ones(g);
  const auto single = dm::complete(dm::value_and_grad(
      [](const auto& p, const auto& v) { return dm::sum(v * p); }, twos(g) + 0)(x));
  CHECK(dm::value(single.value) == 64);
  CHECK(total(single.gradient) == 32);

  const auto all_of = [](const auto&... p) { return (dm::sum(p * p) + ...); };
  const std::array<bias, 2> array{twos(g), twos(g)};
  const std::pair pair{twos(g), dm::constant<matrix>(g, 1)};
  const std::tuple tuple(twos(g), dm::constant<matrix>(g, 1), twos(g));
  const std::vector<bias> vector(3, twos(g));
  const auto by_apply = [&](const auto& p) { return std::apply(all_of, p); };
  CHECK(total(dm::value_and_grad(by_apply, array)().gradient[1]) == 16);
  CHECK(total(dm::value_and_grad(by_apply, pair)().gradient.second) == 16);
  CHECK(total(std::get<1>(dm::value_and_grad(by_apply, tuple)().gradient)) == 16);
  const auto of_vector = [](const auto& p) {
    auto s = dm::sum(p[0] * p[0]);
    for (std::size_t i = 1; i < p.size(); ++i) s = s + dm::sum(p[i] * p[i]);
    return s;
  };
  const auto [value, gradient] = dm::value_and_grad(of_vector, vector)();
  CHECK(dm::value(value) == 48);
  CHECK(total(gradient.at(2)) == 16);

  auto p = dm::make<nested<L>>(g, {{"more", 2}});
  dm::for_each_tensor([](const auto&, auto& t) { dm::fill(t, 1); }, p);
  const auto deep = dm::complete(dm::value_and_grad(
      [](const auto& q, const auto& v) {
        auto h = v + q.first.b;
        for (const auto& layer : q.more) h = h + layer.b;
        return dm::sum(dm::einsum<batch, label>(h, q.w));
      },
      p)(x));
  CHECK(dm::value(deep.value) == 8 * 4 * 4 * 2);
  CHECK(total(deep.gradient.more[1].b) == 64);

  const beside_nothing<L> little{{}, {twos(g)}};
  CHECK(total(dm::complete(dm::value_and_grad(
                               [](const auto& q, const auto& v) { return dm::sum(v * q.some.b); },
                               little)(x))
                  .gradient.some.b) == 32);
  const with_members<L> members(g);
  CHECK(total(dm::complete(dm::value_and_grad(
                               [](const auto& q, const auto& v) { return q.loss(v); }, members)(x))
                  .gradient.b) == 16);
}

// Losses as function objects of every kind.
template <class Derived> struct model {
  template <class P, class X> auto operator()(const P& p, const X& x) const {
    return dm::sum(static_cast<const Derived&>(*this).forward(p, x));
  }
};
struct scaled : model<scaled> {
  float by = 1;
  explicit scaled(float b) : by(b) {}
  template <class P, class X> auto forward(const P& p, const X& x) const { return x * p * by; }
};
struct inherits : scaled {
  inherits() : scaled(2) {}
  using scaled::operator();
};
template <class... Layer> struct sequence {
  std::tuple<Layer...> layers;
  explicit sequence(Layer... l) : layers(std::move(l)...) {}
  template <class P, class X> auto operator()(const P& p, const X& x) const {
    return dm::sum(apply<0>(p, x));
  }

 private:
  template <std::size_t I, class P, class X> auto apply(const P& p, const X& x) const {
    if constexpr (I == sizeof...(Layer))
      return x;
    else
      return apply<I + 1>(p, std::get<I>(layers)(p, x));
  }
};
template <class... Layer> sequence(Layer...) -> sequence<Layer...>;
template <class P, class X> auto plain_function(const P& p, const X& x) { return dm::sum(x * p); }
constexpr auto variable = [](const auto& p, const auto&... x) { return (dm::sum(x * p) + ...); };

TEST_CASE("losses: CRTP, inherited, variadic, recursive, captured, wrapped, of explicit types") {
  const dm::grid<line> g;
  const auto x = ones(g);
  const auto p = twos(g);
  const auto value = [&](const auto& f, const auto&... in) {
    return dm::value(dm::complete(dm::value_and_grad(f, p)(in...)).value);
  };
  CHECK(value(scaled(3), x) == 192);
  CHECK(value(inherits(), x) == 128);
  const auto layer = [](const auto& q, const auto& v) { return v * q; };
  CHECK(value(sequence(layer, layer, std::ref(layer)), x) == 256);
  CHECK(value([](const auto& q, const auto& v) { return plain_function(q, v); }, x) == 64);
  CHECK(value(variable, x, x, x) == 192);
  CHECK(value([x](const auto& q) { return dm::sum(x * q); }) == 64);
  CHECK(value([&x](const auto& q) { return dm::sum(x * q); }) == 64);
  CHECK(value([]<class P, class X>(const P& q, const X& v) { return dm::sum(v * q); }, x) == 64);
  CHECK(value(std::bind_front(
                  [](float by, const auto& q, const auto& v) { return dm::sum(v * q) * by; }, 0.5f),
              x) == 32);
  CHECK(value([](auto q, auto v) { return dm::sum(v * q); }, x) == 64);
  const auto power = [](const auto& self, const auto& q, const auto& v, int n) -> decltype(v * q) {
    return n == 0 ? v * q : self(self, q, v * q, n - 1);
  };
  CHECK(value([&](const auto& q, const auto& v) { return dm::sum(power(power, q, v * q, 1)); },
              x) == 32 * 8);
}

TEST_CASE("losses: early returns, loops that carry tensors, optional parts, several statements") {
  const dm::grid<line> g;
  const auto x = ones(g);
  const auto p = twos(g);
  for (const bool squared : {false, true}) {
    const auto r = dm::complete(dm::value_and_grad(
        [&](const auto& q, const auto& v) {
          if (!squared) return dm::sum(v * q);
          const auto z = v * q;
          return dm::sum(z * z);
        },
        p)(x));
    CHECK(total(r.gradient) == (squared ? 128 : 32));
  }
  // A sum begins with recorded zeros, and a loop of layers with the first layer's value.
  const auto loop = dm::complete(dm::value_and_grad(
      [](const auto& q, const auto& v) {
        auto sum = dm::zeros_like(v * q);
        for (int i = 0; i < 3; ++i) sum = sum + v * q;
        return dm::sum(sum);
      },
      p)(x));
  CHECK(total(loop.gradient) == 96);
  const auto layers = dm::complete(dm::value_and_grad(
      [](const auto& q, const auto& v) {
        auto h = v * q;
        for (int i = 0; i < 1; ++i) h = h * q;
        return dm::sum(h);
      },
      p)(x));
  CHECK(total(layers.gradient) == 2 * 2 * 32);
  const std::optional<activations> mask = ones(g);
  const auto with_mask = dm::complete(dm::value_and_grad(
      [&](const auto& q, const auto& v) {
        auto y = v * q;
        if (mask) y = y * *mask;
        y += v;
        y *= 2;
        return dm::mean(y);
      },
      p)(x));
  CHECK(dm::value(with_mask.value) == 6);
  CHECK(total(with_mask.gradient) == 2);
}

TEST_CASE(
    "gradients: named steps, const steps, tuples of steps, inside classes, second derivatives") {
  const dm::grid<line> g;
  const auto x = ones(g);
  auto p = twos(g);
  const auto loss = [](const auto& q, const auto& v) { return dm::sum(v * q * q); };
  const auto gradient_of = dm::value_and_grad(loss, p);
  const auto step = gradient_of(x);
  const auto summed = dm::complete(step);
  CHECK(total(summed.gradient) == 128);
  CHECK(dm::value(dm::complete(step.value)) == 128);
  auto moved = gradient_of(x);
  CHECK(total(dm::complete(std::move(moved)).gradient) == 128);
  const auto [a, b] = dm::complete(std::pair(gradient_of(x).gradient, gradient_of(x).value));
  CHECK(total(a) == dm::value(b));
  for (int i = 0; i < 2; ++i) {
    auto [v, d] = dm::complete(dm::value_and_grad(loss, p)(x));
    dm::sgd{.rate = 1.0 / 16}(p, d);
  }
  CHECK(total(p) == 0);
  struct trainer {
    bias weights;
    dm::momentum rule{.rate = 0.5};
    dm::momentum_state<bias> state = rule.start(weights);
    void operator()(const bias& d) { rule(weights, d, state); }
  };
  trainer t{.weights = twos(g)};
  t(twos(g));
  CHECK(total(t.weights) == 4);

  const auto slope = [](const auto& q) {
    auto d = dm::value_and_grad([](const auto& w) { return dm::sum(w * w * w); }, q)().gradient;
    return dm::sum(d);
  };
  CHECK(total(dm::complete(dm::value_and_grad(slope, twos(g) + 0)()).gradient) == 6 * 2 * 4);
  auto [y, back] = dm::vjp([](const auto& w) { return w * w; }, x);
  CHECK(total(std::get<0>(std::tuple(back(ones(g))))) == 64);
}
}  // namespace
