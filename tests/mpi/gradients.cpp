// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two-layer network under every layout of the Mesh-TensorFlow paper's table (and some more):
// loss and gradients equal a serial reference written out by hand, which equals central
// differences; the messages of a step are those that the types predict.
//
// ranks: 1 2 4 8
#include <doctest/doctest.h>
#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/sgd.hpp>

#include "support/worst.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<16> {};
struct pixel : dm::dim<24> {};
struct hidden : dm::dim<> {};
struct label : dm::dim<8> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct three : dm::axis<> {};
struct cube : dm::mesh<one, two, three> {};

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, pixel, hidden>, w1),
                           (dm::tensor<double, L, hidden>, b1),
                           (dm::tensor<double, L, hidden, label>, w2),
                           (dm::tensor<double, L, label>, b2));
};

/// Half the squared distance of tanh(x.w1 + b1).w2 + b2 from the target, summed.
struct loss {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    auto h = dm::map([](auto z, auto b) { return dm::tanh(z + b); },
                     dm::complete(dm::einsum<batch, hidden>(x, p.w1)), p.b1);
    auto d = dm::complete(dm::einsum<batch, label>(h, p.w2)) + p.b2 - target;
    return dm::einsum<>(d, d) * 0.5;
  }
};
/// The same, the loss completed inside the model.
struct whole_loss {
  template <class... A> constexpr auto operator()(const A&... a) const {
    return dm::complete(loss{}(a...));
  }
};
template <class Loss> struct step {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    return dm::complete(dm::value_and_grad(Loss{}, p)(x, target));
  }
};

constexpr dm::index_t H = 16;
constexpr std::size_t B = batch::extent, P = pixel::extent, L = label::extent, h16 = H;

double number(dm::index_t i, dm::index_t j, int which) {
  return std::sin(static_cast<double>(3 * i + 7 * j + 11 * which)) * 0.4;
}

/// The serial reference: loss, and gradients of w1, b1, w2, b2 one behind the other.
struct reference {
  std::vector<double> w1 = filled(P, h16, 1), b1 = filled(h16, 1, 2), w2 = filled(h16, L, 3),
                      b2 = filled(L, 1, 4);
  std::vector<double> x = filled(B, P, 5), target = filled(B, L, 6);

  static std::vector<double> filled(std::size_t n, std::size_t m, int which) {
    std::vector<double> v(n * m);
    for (std::size_t i = 0; i < n * m; ++i)
      v[i] = number(static_cast<dm::index_t>(i / m), m == 1 ? 0 : static_cast<dm::index_t>(i % m),
                    which);
    return v;
  }
  double value(std::vector<double>* g1 = nullptr, std::vector<double>* gb1 = nullptr,
               std::vector<double>* g2 = nullptr, std::vector<double>* gb2 = nullptr) const {
    double sum = 0;
    if (g1)
      *g1 = std::vector<double>(P * h16), *gb1 = std::vector<double>(h16),
      *g2 = std::vector<double>(h16 * L), *gb2 = std::vector<double>(L);
    for (std::size_t b = 0; b < B; ++b) {
      std::vector<double> a(h16), abar(h16);
      for (std::size_t j = 0; j < h16; ++j) {
        double z = b1[j];
        for (std::size_t p = 0; p < P; ++p) z += x[b * P + p] * w1[p * h16 + j];
        a[j] = std::tanh(z);
      }
      for (std::size_t l = 0; l < L; ++l) {
        double d = b2[l] - target[b * L + l];
        for (std::size_t j = 0; j < h16; ++j) d += a[j] * w2[j * L + l];
        sum += d * d / 2;
        if (!g1) continue;
        (*gb2)[l] += d;
        for (std::size_t j = 0; j < h16; ++j)
          (*g2)[j * L + l] += a[j] * d, abar[j] += w2[j * L + l] * d;
      }
      for (std::size_t j = 0; g1 && j < h16; ++j) {
        const double zbar = abar[j] * (1 - a[j] * a[j]);
        (*gb1)[j] += zbar;
        for (std::size_t p = 0; p < P; ++p) (*g1)[p * h16 + j] += x[b * P + p] * zbar;
      }
    }
    return sum;
  }
};

template <class X> double farthest(const X& x, const std::vector<double>& wanted) {
  double most = 0;
  const auto found = dm::to_rank(x);
  if (x.grid().rank() == 0) {
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      most = test_support::worst(most, std::abs(found[i] - wanted[i]));
  }
  return most;
}

template <class Layout> network<Layout> parameters(const dm::grid<cube>& g) {
  auto p = dm::make<network<Layout>>(g, hidden{H});
  dm::fill_by(p.w1, [](dm::index_t i, dm::index_t j) { return number(i, j, 1); });
  dm::fill_by(p.b1, [](dm::index_t i) { return number(i, 0, 2); });
  dm::fill_by(p.w2, [](dm::index_t i, dm::index_t j) { return number(i, j, 3); });
  dm::fill_by(p.b2, [](dm::index_t i) { return number(i, 0, 4); });
  return p;
}

template <class Loss, class Layout> void check_layout(const dm::grid<cube>& g) {
  const reference r;
  std::vector<double> g1, gb1, g2, gb2;
  const double wanted = r.value(&g1, &gb1, &g2, &gb2);

  const auto p = parameters<Layout>(g);
  const auto x = dm::generate<dm::tensor<double, Layout, batch, pixel>>(
      g, [](dm::index_t i, dm::index_t j) { return number(i, j, 5); });
  const auto t = dm::generate<dm::tensor<double, Layout, batch, label>>(
      g, [](dm::index_t i, dm::index_t j) { return number(i, j, 6); });

  const auto predicted =
      dm::count(step<Loss>{}, dm::shapes_of(p), dm::shapes_of(x), dm::shapes_of(t));
  census::reset();
  const auto [value, gradient] = step<Loss>{}(p, x, t);
  const auto counted = census::snapshot();
  for (unsigned mask = 1; mask < 8; ++mask) {
    CAPTURE(mask);
    CHECK(predicted.counts.over[mask].bytes == counted.bytes_on(mask));
    CHECK(predicted.counts.over[mask].calls == counted.calls_on(mask));
  }
  CHECK(dm::value(value) == doctest::Approx(wanted).epsilon(1e-12));
  CHECK(farthest(gradient.w1, g1) < 1e-11);
  CHECK(farthest(gradient.b1, gb1) < 1e-11);
  CHECK(farthest(gradient.w2, g2) < 1e-11);
  CHECK(farthest(gradient.b2, gb2) < 1e-11);

  // The value alone: what the function gives of plain parameters, and sends.
  census::reset();
  const auto by_hand = Loss{}(p, x, t);
  const auto sent = census::snapshot();
  census::reset();
  const auto alone = dm::value_and_grad(Loss{}, p).value(x, t);
  const auto sent_alone = census::snapshot();
  static_assert(std::is_same_v<decltype(alone), decltype(by_hand)>);
  CHECK(dm::value(dm::complete(alone)) == doctest::Approx(wanted).epsilon(1e-12));
  CHECK(alone.once() == by_hand.once());
  for (unsigned mask = 1; mask < 8; ++mask) CHECK(sent_alone.bytes_on(mask) == sent.bytes_on(mask));

  // Completing a copy gives the same and leaves the gradients alone.
  const auto partial = dm::value_and_grad(Loss{}, p)(x, t);
  const auto whole = dm::complete(partial.gradient);
  CHECK(farthest(whole.w1, g1) < 1e-11);
  CHECK(farthest(dm::complete(partial.gradient.w1), g1) < 1e-11);
  CHECK(farthest(dm::complete(partial.gradient.b2), gb2) < 1e-11);
}

template <class... Rule> void check_rules(const dm::grid<cube>& g) {
  check_layout<loss, dm::layout<cube, Rule...>>(g);
  check_layout<whole_loss, dm::layout<cube, Rule...>>(g);
}

/// Sizes of three axes for the ranks there are.
std::vector<std::array<dm::index_t, 3>> shapes(int ranks) {
  if (ranks == 1) return {{1, 1, 1}};
  if (ranks == 2) return {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}};
  if (ranks == 4) return {{2, 2, 1}, {1, 2, 2}, {4, 1, 1}};
  return {{2, 2, 2}};
}

template <class... Rule> void check_everywhere() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const auto& s : shapes(ranks)) {
    CAPTURE(s[0]);
    CAPTURE(s[1]);
    dm::grid<cube> g(one{s[0]}, two{s[1]}, three{s[2]});
    check_rules<Rule...>(g);
  }
}

}  // namespace

TEST_CASE("reference: its gradients are central differences") {
  reference r;
  std::vector<double> g1, gb1, g2, gb2;
  r.value(&g1, &gb1, &g2, &gb2);
  const auto slope = [&](std::vector<double>& v, std::size_t i) {
    const double keep = v[i], e = 1e-5;
    v[i] = keep + e;
    const double up = r.value();
    v[i] = keep - e;
    const double down = r.value();
    v[i] = keep;
    return (up - down) / (2 * e);
  };
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(slope(r.w1, 37 * i) == doctest::Approx(g1[37 * i]).scale(0).epsilon(1e-6));
    CHECK(slope(r.b1, i) == doctest::Approx(gb1[i]).scale(0).epsilon(1e-6));
    CHECK(slope(r.w2, 11 * i) == doctest::Approx(g2[11 * i]).scale(0).epsilon(1e-6));
    CHECK(slope(r.b2, i) == doctest::Approx(gb2[i]).scale(0).epsilon(1e-6));
  }
}

TEST_CASE("value_and_grad: nothing split") { check_everywhere<>(); }
TEST_CASE("value_and_grad: batch") { check_everywhere<dm::split<batch, one>>(); }
TEST_CASE("value_and_grad: hidden") { check_everywhere<dm::split<hidden, two>>(); }
TEST_CASE("value_and_grad: pixel") { check_everywhere<dm::split<pixel, two>>(); }
TEST_CASE("value_and_grad: label") { check_everywhere<dm::split<label, one>>(); }
TEST_CASE("value_and_grad: batch x hidden") {
  check_everywhere<dm::split<batch, one>, dm::split<hidden, two>>();
}
TEST_CASE("value_and_grad: batch x pixel") {
  check_everywhere<dm::split<batch, one>, dm::split<pixel, two>>();
}
TEST_CASE("value_and_grad: pixel x hidden") {
  check_everywhere<dm::split<pixel, one>, dm::split<hidden, two>>();
}
TEST_CASE("value_and_grad: batch x pixel x hidden") {
  check_everywhere<dm::split<batch, one>, dm::split<pixel, two>, dm::split<hidden, three>>();
}
TEST_CASE("value_and_grad: batch over two axes") {
  check_everywhere<dm::split<batch, two, one>, dm::split<hidden, three>>();
}
TEST_CASE("value_and_grad: uneven hidden") {
  check_everywhere<dm::split<dm::uneven<hidden>, one>>();
}

TEST_CASE("value_and_grad: fan-out, unused parameters, sums of noted and unnoted addends") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dm::grid<cube> g(one{ranks}, two{1}, three{1});
  using rules = dm::layout<cube, dm::split<batch, one>>;
  const auto w = dm::generate<dm::tensor<double, rules, label>>(
      g, [](dm::index_t i) { return 1.0 + static_cast<double>(i); });
  const auto unused = dm::zeros<dm::tensor<double, rules, pixel>>(g);
  const auto x = dm::generate<dm::tensor<double, rules, batch, label>>(
      g, [](dm::index_t b, dm::index_t l) { return number(b, l, 1); });
  // w meets the split x, and is also used where everything is replicated: w' = sum_b x + 2 w + 1.
  const auto f = [&](const auto& p) {
    const auto& v = std::get<0>(p);
    auto split_use = dm::complete(dm::einsum<>(dm::sum<batch>(x), v));
    auto replicated_use = dm::einsum<>(v, v) + dm::complete(dm::sum<label>(v));
    return split_use + replicated_use;
  };
  const std::tuple p{w, unused};
  const auto [value, gradient] = dm::complete(dm::value_and_grad(f, p)());
  std::vector<double> wanted(L);
  for (std::size_t l = 0; l < L; ++l) {
    wanted[l] = 2 * (1.0 + static_cast<double>(l)) + 1;
    for (std::size_t b = 0; b < B; ++b)
      wanted[l] += number(static_cast<dm::index_t>(b), static_cast<dm::index_t>(l), 1);
  }
  CHECK(farthest(std::get<0>(gradient), wanted) < 1e-12);
  CHECK(farthest(std::get<1>(gradient), std::vector<double>(P)) == 0);
}

TEST_CASE("value_and_grad: the value alone, of parameters that move on, of a temporary, counted") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dm::grid<cube> g(one{ranks}, two{1}, three{1});
  using rules = dm::layout<cube, dm::split<label, one>>;
  using X = dm::tensor<double, rules, label>;
  auto w = dm::constant<X>(g, 2);
  const auto square = [](const auto& v) { return dm::complete(dm::einsum<>(v, v)); };
  const auto rows = [](const auto& v, const auto& x) { return v * x; };  // no loss
  const auto step = dm::value_and_grad(square, w);
  CHECK(dm::value(step.value()) == 4.0 * static_cast<double>(L));
  w = dm::constant<X>(g, 3);
  CHECK(dm::value(step.value()) == 9.0 * static_cast<double>(L));
  CHECK(dm::value(dm::value_and_grad(square, dm::constant<X>(g, 5)).value()) ==
        25.0 * static_cast<double>(L));
  CHECK(farthest(dm::value_and_grad(rows, w).value(w), std::vector<double>(L, 9)) == 0);
  auto given_up = dm::value_and_grad(square, w)();
  const auto whole = dm::complete(std::move(given_up));
  CHECK(dm::value(whole.value) == 9.0 * static_cast<double>(L));
  CHECK(!given_up.gradient.defined());  // nor is its memory shared with what is whole
  CHECK(!given_up.value.defined());
  const auto cost =
      dm::count([&](const auto& v) { return dm::value_and_grad(square, v).value(); }, w);
  CHECK(cost.flops() == dm::count(square, w).flops());
}

TEST_CASE("optimizers: a step under a layout is the step of the whole") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dm::grid<cube> g(one{ranks}, two{1}, three{1});
  using rules = dm::layout<cube, dm::split<label, one>>;
  using X = dm::tensor<double, rules, label>;
  const auto start = [&] {
    return dm::generate<X>(g, [](dm::index_t i) { return 0.1 * static_cast<double>(i) - 0.3; });
  };
  const auto slope =
      dm::generate<X>(g, [](dm::index_t i) { return 1.0 - 0.2 * static_cast<double>(i); });

  std::vector<double> descended(L), rolled(L), adapted(L);
  for (std::size_t i = 0; i < L; ++i) {
    const double p = 0.1 * static_cast<double>(i) - 0.3, d = 1.0 - 0.2 * static_cast<double>(i);
    descended[i] = p - 0.5 * d;
    const double m1 = d, m2 = 0.9 * m1 + d;
    rolled[i] = p - 0.5 * m1 - 0.5 * m2;
    double q = p, m = 0, v = 0;
    for (int t = 1; t <= 3; ++t) {
      m = 0.9 * m + 0.1 * d;
      v = 0.999 * v + 0.001 * d * d;
      q -= 0.01 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    }
    adapted[i] = q;
  }
  auto a = start();
  dm::sgd{.rate = 0.5}(a, slope);
  CHECK(farthest(a, descended) < 1e-14);
  auto b = start();
  const dm::momentum roll{.rate = 0.5, .decay = 0.9};
  auto rolling = roll.start(b);
  roll(b, slope, rolling);
  roll(b, slope, rolling);
  CHECK(farthest(b, rolled) < 1e-14);
  auto c = start();
  const dm::adam adapt{.rate = 0.01};
  auto adapting = adapt.start(c);
  for (int t = 0; t < 3; ++t) adapt(c, slope, adapting);
  CHECK(farthest(c, adapted) < 1e-12);
}
