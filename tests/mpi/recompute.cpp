// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stack of layers, each recomputed in the backward pass: the same bits, fewer bytes held, and
// every forward collective twice.
//
// ranks: 1 2 4
#include "dimesh/grad/recompute.hpp"
#include "support/host.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <cstring>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<96> {};
struct width : dm::dim<> {};
struct hidden : dm::dim<24> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct pod : dm::mesh<one, two> {};

constexpr std::size_t depth = 8;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<float, L, width, hidden>, in),
                           (dm::tensor<float, L, hidden>, bias),
                           (dm::tensor<float, L, hidden, width>, out));
};
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (std::array<layer<L>, depth>, layers),
                           (dm::tensor<float, L, width>, scale));
};

constexpr auto squash = [](auto z, auto b) { return dm::tanh(z + b); };

/// x + tanh(x.in + bias).out * scale; uses x and scale twice.
constexpr auto block = [](const auto& p, const auto& x, const auto& scale) {
  auto h = dm::map(squash, dm::complete(dm::einsum<batch, hidden>(x, p.in)), p.bias);
  return x * scale + dm::complete(dm::einsum<batch, width>(h, p.out)) * scale;
};
constexpr auto plainly = [](const auto& f) { return f; };
constexpr auto again = [](const auto& f) { return dm::recompute(f); };
/// A block of two blocks, each recomputed within the recomputation of the whole.
constexpr auto nested = [](const auto& f) {
  return dm::recompute([f](const auto& p, const auto& x, const auto& scale) {
    return dm::recompute(f)(p, x, scale) + dm::stop_gradient(x);
  });
};
constexpr auto not_nested = [](const auto& f) {
  return [f](const auto& p, const auto& x, const auto& scale) {
    return f(p, x, scale) + dm::stop_gradient(x);
  };
};

template <const auto& Wrap> struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& in) const {
    auto x = Wrap(block)(p.layers[0], in, p.scale);
    for (std::size_t i = 1; i < p.layers.size(); ++i) x = Wrap(block)(p.layers[i], x, p.scale);
    return dm::complete(dm::einsum<>(x, x));
  }
};
template <const auto& Wrap> struct step {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::value_and_grad(loss<Wrap>{}, p)(x);
  }
};

template <class X> bool same_bits(const X& a, const X& b) {
  return a.once() == b.once() &&
         std::memcmp(test_support::on_host(a).data(), test_support::on_host(b).data(),
                     static_cast<std::size_t>(a.local_bytes())) == 0;
}
template <class S> bool all_same_bits(const S& a, const S& b) {
  bool same = true;
  dm::for_each_tensor([&](const auto&, const auto& x, const auto& y) { same &= same_bits(x, y); },
                      a, b);
  return same;
}

template <class S> void fill_all(S& s, std::uint64_t seed) {
  dm::for_each_tensor(
      [&](const auto&, auto& x) { dm::fill_uniform(x, dm::random_key{seed++}, -0.3f, 0.3f); }, s);
}

template <const auto& Wrap, const auto& Plain, class L> void compare(const dm::grid<pod>& g) {
  auto p = dm::make<network<L>>(g, width{16});
  fill_all(p, 1);
  auto x = dm::make<dm::tensor<float, L, batch, width>>(g, width{16});
  dm::fill_uniform(x, dm::random_key{77}, -1.0f, 1.0f);

  census::reset();
  const auto plain = step<Plain>{}(p, x);
  const auto seen_plain = census::snapshot();
  census::reset();
  const auto re = step<Wrap>{}(p, x);
  const auto seen = census::snapshot();
  CHECK(same_bits(plain.value, re.value));
  CHECK(all_same_bits(plain.gradient, re.gradient));
  CHECK(std::isfinite(dm::value(re.value)));
  CHECK(same_bits(re.value, dm::value_and_grad(loss<Wrap>{}, p).value(x)));

  census::reset();
  { [[maybe_unused]] const auto y = loss<Plain>{}(p, x); }
  const auto forward = census::snapshot();
  const auto predicted = dm::count(step<Wrap>{}, dm::shapes_of(p), dm::shapes_of(x));
  const auto before = dm::count(step<Plain>{}, dm::shapes_of(p), dm::shapes_of(x));
  for (unsigned mask = 1; mask < 4; ++mask) {
    CAPTURE(mask);
    CHECK(predicted.counts.over[mask].bytes == seen.bytes_on(mask));
    CHECK(predicted.counts.over[mask].calls == seen.calls_on(mask));
    if (&Wrap != static_cast<const void*>(&again)) continue;
    // All but the sum of the loss, which is outside the blocks, happens once more.
    const bool loss_too = forward.calls_on(mask) % static_cast<int>(depth) != 0;
    CHECK(seen.calls_on(mask) ==
          seen_plain.calls_on(mask) + forward.calls_on(mask) - int{loss_too});
  }
  CHECK(predicted.flops() > before.flops());
  CHECK(predicted.peak() < before.peak());
}

template <class L> void check(const dm::grid<pod>& g) {
  compare<again, plainly, L>(g);
  compare<nested, not_nested, L>(g);
}

template <class F> void on_grids(F&& f) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks % 2 == 0) f(dm::grid<pod>(one{2}, two{ranks / 2}));
  f(dm::grid<pod>(one{ranks}, two{1}));
}

using by_batch = dm::layout<pod, dm::split<batch, one>>;
using by_both = dm::layout<pod, dm::split<batch, two>, dm::split<hidden, one>>;

}  // namespace

TEST_CASE("recompute: batch split") {
  on_grids([](const auto& g) { check<by_batch>(g); });
}
TEST_CASE("recompute: batch and hidden split, collectives inside") {
  on_grids([](const auto& g) { check<by_both>(g); });
}

TEST_CASE("recompute: random masks by key, arguments not recorded, several results") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(one{ranks}, two{1});
  using X = dm::tensor<float, by_batch, batch, hidden>;
  const X x = dm::uniform<X>(g, dm::random_key{3}, -1.0f, 1.0f);
  const auto w =
      dm::uniform<dm::tensor<float, by_batch, hidden>>(g, dm::random_key{4}, -1.0f, 1.0f);
  const auto noisy = [](const auto& w, const auto& x, dm::random_key key) {
    const auto keep = dm::map([](float u) { return u < 0.7f ? 1.0f : 0.0f; },
                              dm::uniform<X>(x.grid(), key, 0.0f, 1.0f));
    const auto y = dm::tanh(x * w) * keep;
    return std::tuple(y * w, dm::stop_gradient(y), y);
  };
  const auto with = [&](const auto& wrap) {
    return dm::value_and_grad(
        [&](const auto& w) {
          const auto [a, b, c] = wrap(noisy)(w, x, dm::random_key{9}.fold(2));
          const auto [d, e, unused] = wrap(noisy)(w, a, dm::random_key{9}.fold(3));
          return dm::einsum<>(dm::sum<batch>(d * b), w) + dm::sum<batch, hidden>(c * e);
        },
        w)();
  };
  const auto plain = with(plainly), re = with(again);
  CHECK(same_bits(plain.value, re.value));
  CHECK(same_bits(plain.gradient, re.gradient));
  const auto nothing_recorded = dm::recompute(noisy)(w, x, dm::random_key{1});
  CHECK(same_bits(std::get<0>(nothing_recorded), std::get<0>(noisy(w, x, dm::random_key{1}))));
}
