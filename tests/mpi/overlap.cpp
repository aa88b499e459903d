// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums started during the backward pass: the same gradients and the same bytes as sums made after
// it, whatever the size of the buckets.
//
// ranks: 1 2 4
// labels: device
#include "dimesh/grad/overlap.hpp"

#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>

#include "dimesh/collective/start_all_reduce.hpp"
#include "dimesh/grad/recompute.hpp"
#include "support/host.hpp"
#include "support/worst.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct width : dm::dim<12> {};
struct hidden : dm::dim<20> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct pod : dm::mesh<one, two> {};

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<float, L, width, hidden>, in),
                           (dm::tensor<float, L, hidden>, bias),
                           (dm::tensor<float, L, hidden, width>, out));
};
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (std::array<layer<L>, 3>, layers),
                           (dm::tensor<float, L, width>, unused),
                           (dm::tensor<double, L, width>, wide),
                           (dm::tensor<float, L, width>, scale));
};

constexpr auto block = [](const auto& p, const auto& x, const auto& scale) {
  auto h = dm::tanh(dm::complete(dm::einsum<batch, hidden>(x, p.in)) + p.bias);
  return x * scale + dm::complete(dm::einsum<batch, width>(h, p.out));
};
template <bool Again> struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& in) const {
    auto x = in * p.scale;
    for (const auto& layer : p.layers)
      if constexpr (Again)
        x = dm::recompute(block)(layer, x, p.scale);
      else
        x = block(layer, x, p.scale);
    // The penalties are replicated: their gradients are held whole, and meet others in `scale`.
    return dm::complete(dm::einsum<>(x, x)) + dm::complete(dm::einsum<>(p.scale, p.scale)) +
           dm::cast<float>(dm::complete(dm::einsum<>(p.wide, p.wide)));
  }
};

template <class A, class B> double farthest(const A& a, const B& b) {
  double most = 0;
  dm::for_each_tensor(
      [&](const auto&, const auto& x, const auto& y) {
        for (dm::index_t i = 0; i < x.local_size(); ++i)
          most = test_support::worst(most, std::abs(double(test_support::on_host(x)[i]) -
                                                    double(test_support::on_host(y)[i])));
      },
      a, b);
  return most;
}

template <class L, bool Again> void check(const dm::grid<pod>& g) {
  auto p = dm::make<network<L>>(g);
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&](const auto&, auto& x) { dm::fill_uniform(x, dm::random_key{seed++}, -0.3f, 0.3f); }, p);
  const auto x = dm::uniform<dm::tensor<float, L, batch, width>>(g, dm::random_key{9}, -1, 1);
  census::reset();
  const auto plain = dm::complete(dm::value_and_grad(loss<Again>{}, p)(x));
  const auto before = census::snapshot();
  for (const dm::index_t bucket : {1, 200, 1200, 1 << 20}) {
    CAPTURE(bucket);
    const auto step = dm::value_and_grad_all_reduce(loss<Again>{}, p, {.bucket = bucket});
    census::reset();
    const auto whole = step(x);
    const auto seen = census::snapshot();
    // But for the gaps between gradients, which travel where neighbours travel together.
    CHECK(std::abs(seen.bytes() - before.bytes()) <= 64 * 12);
    CHECK(std::abs(dm::value(whole.value) - dm::value(plain.value)) <=
          1e-6 * std::abs(dm::value(plain.value)));
    CHECK(farthest(whole.gradient, plain.gradient) <= (g.ranks() <= 2 ? 0 : 1e-5));
    CHECK(farthest(step(x).gradient, whole.gradient) <= (g.ranks() <= 2 ? 0 : 1e-5));
  }
  const auto off = dm::value_and_grad_all_reduce(loss<Again>{}, p, {.overlap = false})(x);
  CHECK(farthest(off.gradient, plain.gradient) == 0);
}

template <class F> void on_grids(F&& f) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks % 2 == 0) f(dm::grid<pod>(one{2}, two{ranks / 2}));
  f(dm::grid<pod>(one{ranks}, two{1}));
}

struct some : dm::dim<1> {};
template <class L, class T> struct vectors {
  BOOST_HANA_DEFINE_STRUCT(vectors, (dm::tensor<T, L, batch>, a), (dm::tensor<T, L, some>, b),
                           (dm::tensor<T, L, width>, c), (dm::tensor<T, L, hidden>, d));
};

/// Buckets of few bytes, which hold more tensors where blocks are empty.
template <class T, class L> void check_vectors(const dm::grid<pod>& g) {
  auto p = dm::make<vectors<L, T>>(g);
  dm::for_each_tensor([](const auto&, auto& x) { dm::fill(x, 0.5f); }, p);
  using rows = dm::layout<pod, dm::split<dm::uneven<batch>, one, two>>;
  const auto x = dm::constant<dm::tensor<float, rows, batch>>(g, 0.25f);
  const auto f = [](const auto& q, const auto& y) {
    const auto square = [](const auto& v) {
      return dm::complete(dm::sum<float>(dm::square(dm::cast<float>(v))));
    };
    return (square(q.a) + square(q.b) + square(q.c) + square(q.d)) * dm::sum(y);
  };
  const auto want = dm::complete(dm::value_and_grad(f, p)(x));
  for (const dm::index_t bucket : {64, 128, 192, 1 << 20}) {
    CAPTURE(bucket);
    const auto got = dm::value_and_grad_all_reduce(f, p, {.bucket = bucket})(x);
    dm::for_each_tensor(
        [](const auto&, const auto& u, const auto& v) {
          for (dm::index_t i = 0; i < u.local_size(); ++i)
            CHECK(static_cast<float>(test_support::on_host(u)[i]) ==
                  static_cast<float>(test_support::on_host(v)[i]));
        },
        got.gradient, want.gradient);
  }
}

}  // namespace

TEST_CASE("overlap: blocks of different sizes, some empty; gradients in bfloat16") {
  on_grids([](const auto& g) {
    using L = dm::layout<pod, dm::split<dm::uneven<some>, two>>;
    check_vectors<float, L>(g);
    check_vectors<dm::bfloat16, L>(g);
  });
}
TEST_CASE("overlap: batch split") {
  on_grids([](const auto& g) { check<dm::layout<pod, dm::split<batch, one>>, false>(g); });
}
TEST_CASE("overlap: batch and hidden split, blocks recomputed") {
  on_grids([](const auto& g) {
    check<dm::layout<pod, dm::split<batch, one>, dm::split<hidden, two>>, true>(g);
  });
}
