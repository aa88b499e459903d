// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where are cotangents summed on the way back? The two-layer network hands to MPI what a
// hand-written twin does that sums a cotangent where it is made, under every layout; nothing is
// summed earlier where that would cost more; and gradients are those of one rank.
//
// ranks: 1 2 4
#include "dimesh/core/early_sum.hpp"

#include <doctest/doctest.h>

#include <array>
#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/grad/recompute.hpp>

#include "support/worst.hpp"

namespace dm = dimesh;

namespace {

// All blocks are whole cache lines: no padding travels.
struct batch : dm::dim<8> {};
struct pixel : dm::dim<16> {};
struct hidden : dm::dim<32> {};
struct label : dm::dim<64> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct pod : dm::mesh<one, two> {};

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, pixel, hidden>, w1),
                           (dm::tensor<double, L, hidden>, b1),
                           (dm::tensor<double, L, hidden, label>, w2),
                           (dm::tensor<double, L, label>, b2));
};

struct added {
  template <class Z, class B> constexpr auto operator()(const Z& z, const B& b) const {
    return dm::tanh(z + b);
  }
};
/// Half the square of tanh(x.w1 + b1).w2 + b2; the bias is added by +, or inside a map.
template <bool Fused> struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto z = dm::complete(dm::einsum<batch, hidden>(x, p.w1));
    if constexpr (Fused)
      return rest(p, dm::map(added{}, z, p.b1));
    else
      return rest(p, dm::tanh(z + p.b1));
  }
  template <class P, class H> static constexpr auto rest(const P& p, const H& h) {
    const auto y = dm::complete(dm::einsum<batch, label>(h, p.w2)) + p.b2;
    return dm::complete(dm::einsum<>(y, y)) * 0.5;
  }
};
template <class F> struct step {
  F f{};
  template <class P, class... X> constexpr auto operator()(const P& p, const X&... x) const {
    return dm::complete(dm::value_and_grad(f, p)(x...));
  }
};

/// Of tensors, together.
template <class F> struct pass {
  template <class... X> constexpr auto operator()(const X&... x) const {
    const std::tuple all{x...};
    return dm::complete(dm::value_and_grad(F{}, all)());
  }
};

template <class X> X waves(const dm::grid<pod>& g, double f) {
  const auto value = [f](auto... i) {
    double at = 1;
    ((at = 7 * at + static_cast<double>(i)), ...);
    return 0.2 * std::sin(f * at);
  };
  return dm::generate<X>(g, value);
}
template <class L> network<L> filled(const dm::grid<pod>& g) {
  return {waves<dm::tensor<double, L, pixel, hidden>>(g, 0.3),
          waves<dm::tensor<double, L, hidden>>(g, 0.6),
          waves<dm::tensor<double, L, hidden, label>>(g, 0.9),
          waves<dm::tensor<double, L, label>>(g, 1.2)};
}
/// All grids of two axes for the ranks there are.
template <class F> void on_grids(const F& f) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n <= ranks; n *= 2) {
    CAPTURE(n);
    f(dm::grid<pod>(one{n}, two{ranks / n}));
  }
}
/// Elements handed to MPI by a call of f; shapes foresee as many on each set of axes.
template <class F, class... X> long elements_of(const F& f, const X&... x) {
  const auto foreseen = dm::count(f, dm::shapes_of(x)...);
  census::reset();
  { [[maybe_unused]] const auto result = f(x...); }
  const auto counted = census::snapshot();
  for (unsigned mask = 1; mask < 4; ++mask) {
    CAPTURE(mask);
    CHECK(foreseen.counts.over[mask].bytes == counted.bytes_on(mask));
    CHECK(foreseen.counts.over[mask].calls == counted.calls_on(mask));
  }
  return counted.bytes() / static_cast<long>(sizeof(double));
}

/// Over how many ranks each dim is cut.
struct cuts {
  long batch = 1, pixel = 1, hidden = 1, label = 1;
};
/// What the twin sends: the sums that the products leave, forward and back, those of the
/// gradients over the batch, and the loss.
long by_hand(const cuts& c) {
  const long b = 8 / c.batch, p = 16 / c.pixel, h = 32 / c.hidden, l = 64 / c.label;
  long n = 0;
  if (c.pixel > 1) n += b * h;   // x.w1
  if (c.hidden > 1) n += b * l;  // h.w2
  // The cotangent of h, where it is made, if x.w1 was a sum. If not, nothing but gradients has to
  // be summed, and these are left to whoever completes them (or adds up several first).
  if (c.label > 1) n += c.pixel > 1 ? b * h : p * h + h;
  if (c.batch > 1) n += p * h + h + h * l + l;
  if (c.batch * c.label > 1) n += 1;
  return n;
}

template <bool Fused, class... Rule> void check_network(const dm::grid<pod>& g, const cuts& c) {
  using L = dm::layout<pod, Rule...>;
  using W = dm::layout<pod>;
  const auto x = waves<dm::tensor<double, L, batch, pixel>>(g, 0.7);
  const auto p = filled<L>(g);
  CHECK(elements_of(step<loss<Fused>>{}, p, x) == by_hand(c));

  const auto mine = step<loss<Fused>>{}(p, x);
  const auto whole =
      step<loss<Fused>>{}(filled<W>(g), waves<dm::tensor<double, W, batch, pixel>>(g, 0.7));
  CHECK(dm::value(mine.value) == doctest::Approx(dm::value(whole.value)).epsilon(1e-13));
  dm::for_each_tensor(
      [](const auto& name, const auto& a, const auto& b) {
        CAPTURE(name);
        const auto found = dm::to_rank(a), wanted = dm::to_rank(b);
        double worst = 0;
        for (std::size_t i = 0; i < found.size(); ++i)
          worst = test_support::worst(worst, std::abs(found[i] - wanted[i]));
        CHECK(worst < 1e-13);
      },
      mine.gradient, whole.gradient);
}
template <class... Rule, class C> void check_everywhere(const C& cuts_of) {
  on_grids([&](const dm::grid<pod>& g) {
    const cuts c = cuts_of(static_cast<long>(g.size<one>()), static_cast<long>(g.size<two>()));
    check_network<false, Rule...>(g, c);
    check_network<true, Rule...>(g, c);
  });
}

using dm::split;

TEST_CASE("the two-layer network sends what its twin sends") {
  check_everywhere<>([](long, long) { return cuts{}; });
  check_everywhere<split<batch, one>>([](long n, long) { return cuts{.batch = n}; });
  check_everywhere<split<hidden, one>>([](long n, long) { return cuts{.hidden = n}; });
  check_everywhere<split<pixel, one>>([](long n, long) { return cuts{.pixel = n}; });
  check_everywhere<split<label, one>>([](long n, long) { return cuts{.label = n}; });
  check_everywhere<split<batch, one>, split<hidden, two>>(
      [](long n, long m) { return cuts{.batch = n, .hidden = m}; });
  check_everywhere<split<batch, one>, split<pixel, two>>(
      [](long n, long m) { return cuts{.batch = n, .pixel = m}; });
  check_everywhere<split<pixel, one>, split<hidden, two>>(
      [](long n, long m) { return cuts{.pixel = n, .hidden = m}; });
}
// In the paper's layouts one axis splits what goes in and what comes out.
TEST_CASE("the same, pixels and labels on one axis") {
  check_everywhere<split<pixel, one>, split<label, one>>(
      [](long n, long) { return cuts{.pixel = n, .label = n}; });
  check_everywhere<split<pixel, one>, split<label, one>, split<hidden, two>>(
      [](long n, long m) { return cuts{.pixel = n, .hidden = m, .label = n}; });
  check_everywhere<split<pixel, one>, split<label, one>, split<batch, two>>(
      [](long n, long m) { return cuts{.batch = m, .pixel = n, .label = n}; });
}

// ---- where a sum is made early, and where it is not ---------------------------------------------

using L = dm::layout<pod, split<label, one>>;
using row = dm::tensor<double, L, hidden>;
using table = dm::tensor<double, L, hidden, label>;

/// From h[hidden] a loss whose gradient by h holds addends along the axis that splits labels.
template <class H, class W> constexpr auto tail(const H& h, const W& w) {
  const auto y = dm::einsum<label>(h, w);
  return dm::complete(dm::einsum<>(y, y));
}
/// The parameters' sum over labels, made whole inside.
template <class W> constexpr auto head(const W& w) { return dm::complete(dm::sum<label>(w)); }
struct three_biases {
  template <class P> constexpr auto operator()(const P& p) const {
    const auto& [w, a, b, c] = p;
    return tail(dm::tanh(((head(w) + a) + b) * c), w);
  }
};
/// The sum is used twice: its cotangent has to wait for both.
struct used_twice {
  template <class P> constexpr auto operator()(const P& p) const {
    const auto& [w, a, b, c] = p;
    const auto z = head(w);
    return tail(dm::tanh(z + a) + z * b + c, w);
  }
};

/// The sum is a matrix; its cotangent comes from that of a vector, which is smaller.
struct smaller_before {
  template <class P> constexpr auto operator()(const P& p) const {
    const auto& [w, t] = p;
    return tail(dm::sum<batch>(dm::complete(dm::sum<label>(t))), w);
  }
};
/// The sum is a vector, which goes into a matrix.
struct larger_before {
  template <class P> constexpr auto operator()(const P& p) const {
    const auto& [w, b, m] = p;
    return tail(dm::sum<batch>(dm::tanh(head(w) * dm::stop_gradient(m) + b)), w);
  }
};

TEST_CASE("a sum is made where several cotangents fan out, or where it is smaller") {
  on_grids([](const dm::grid<pod>& g) {
    const bool cut = g.size<one>() > 1;
    const auto w = waves<table>(g, 0.3);
    const auto a = waves<row>(g, 0.5), b = waves<row>(g, 0.7), c = waves<row>(g, 0.9);
    // Forward 32 and the loss; back 32 for all of them.
    CHECK(elements_of(pass<three_biases>{}, w, a, b, c) == (cut ? 32 + 1 + 32 : 0));
    CHECK(elements_of(pass<used_twice>{}, w, a, b, c) == (cut ? 32 + 1 + 32 + 3 * 32 : 0));
    const auto deep = waves<dm::tensor<double, L, hidden, batch, label>>(g, 0.5);
    CHECK(elements_of(pass<smaller_before>{}, w, deep) == (cut ? 256 + 1 + 32 : 0));
    const auto m = waves<dm::tensor<double, L, batch, hidden>>(g, 0.4);
    CHECK(elements_of(pass<larger_before>{}, w, a, m) == (cut ? 32 + 1 + 32 + 32 : 0));
  });
}

struct biases_again {
  template <class P> constexpr auto operator()(const P& p) const {
    return dm::recompute(three_biases{})(p);
  }
};

TEST_CASE("a block that is computed again sums where it would have been summed, to the bit") {
  on_grids([](const dm::grid<pod>& g) {
    const bool cut = g.size<one>() > 1;
    const auto w = waves<table>(g, 0.3);
    const auto a = waves<row>(g, 0.5), b = waves<row>(g, 0.7), c = waves<row>(g, 0.9);
    CHECK(elements_of(pass<biases_again>{}, w, a, b, c) == (cut ? 2 * (32 + 1) + 32 : 0));
    const auto plain = pass<three_biases>{}(w, a, b, c).gradient;
    const auto again = pass<biases_again>{}(w, a, b, c).gradient;
    CHECK(dm::to_rank(std::get<0>(plain)) == dm::to_rank(std::get<0>(again)));
    CHECK(dm::to_rank(std::get<1>(plain)) == dm::to_rank(std::get<1>(again)));
    CHECK(dm::to_rank(std::get<3>(plain)) == dm::to_rank(std::get<3>(again)));
  });
}

}  // namespace
