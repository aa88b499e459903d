// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A weight of the first and the last stage: it lives on one of them, and has the gradient of both.
//
// ranks: 1 2 3 4
#include <doctest/doctest.h>

#include <census.hpp>
#include <cmath>
#include <cstring>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>
#include <dimesh/op/send.hpp>
#include <dimesh/optim/adam.hpp>

#include "dimesh/pipeline/pipeline.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/weights_through.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"
#include "support/distance.hpp"
#include "support/host.hpp"

namespace dm = dimesh;

namespace {

using test_support::distance;

struct batch : dm::dim<8> {};
struct vocab : dm::dim<12> {};
struct model : dm::dim<6> {};
struct inner : dm::dim<6> {};
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<stage, rows> {};
using everywhere = dm::layout<pod>;
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
template <class L> using inputs = dm::tensor<double, L, batch, vocab>;
using split_over_rows = dm::layout<pod, dm::split<batch, rows>>;

template <class First, class Last> struct weights {
  BOOST_HANA_DEFINE_STRUCT(weights, (dm::tensor<double, First, vocab, model>, embedding),
                           (dm::tensor<double, First, model, inner>, first),
                           (dm::tensor<double, Last, model, inner>, last));
};

constexpr auto middle = [](const auto& w, const auto& x) {
  return dm::rename<inner, model>(dm::tanh(dm::einsum<batch, inner>(x, w)));
};
constexpr auto begins = [](const auto& w, const auto& x) {
  return middle(std::get<1>(w), dm::einsum<batch, model>(x, std::get<0>(w)));
};
constexpr auto ends = [](const auto& w, const auto& h) {
  return dm::einsum<batch, vocab>(middle(std::get<0>(w), h), std::get<1>(w));
};
/// The last one of the cells at 0 and K uses the embedding, which lives at 0.
template <int K>
constexpr auto to_cells = [](const auto& w) {
  return std::make_tuple(std::make_tuple(w.embedding, w.first),
                         std::make_tuple(w.last, dm::send<stage, K>(w.embedding)));
};

template <int K, class L> void check() {
  constexpr int micros = 3;
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{K + 1});
  auto whole = dm::make<weights<everywhere, everywhere>>(g);
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 0.5); },
      whole);
  auto placed = dm::make<weights<there<0>, there<K>>>(g);
  placed.embedding = dm::clone(dm::place<stage, 0>(whole.embedding));
  placed.first = dm::clone(dm::place<stage, 0>(whole.first));
  placed.last = dm::clone(dm::place<stage, K>(whole.last));
  std::vector<inputs<L>> x;
  for (int i = 0; i < micros; ++i)
    x.push_back(dm::normal<inputs<L>>(g, dm::random_key{seed++}, 0, 1));
  const auto loss = [](const auto& y, int) { return dm::sum(y * y); };
  const auto net = dm::pipeline<stage>(dm::cell<0>(begins), dm::cell<K>(ends));
  const auto input = [&x](int i) { return x[static_cast<std::size_t>(i)]; };
  const auto by = [&](const auto& s) {
    return dm::complete(dm::value_and_grad_through(to_cells<K>, placed, [&](const auto& cells) {
      return net.value_and_grad(s, cells, input, loss);
    }));
  };
  const auto f = [&](const auto& w, const auto& v) {
    const auto h = begins(std::make_tuple(w.embedding, w.first), v);
    return loss(ends(std::make_tuple(w.last, w.embedding), h), 0);
  };
  const auto reference = [&] {
    return dm::complete(dm::accumulate(micros, [&](dm::index_t i) {
      return dm::value_and_grad(f, whole)(x[static_cast<std::size_t>(i)]);
    }));
  };
  auto state = dm::adam{.rate = 0.01}.start(placed);
  auto other = dm::adam{.rate = 0.01}.start(whole);
  for (int step = 0; step < 3; ++step) {
    const auto one = by(dm::one_f_one_b{K + 1, micros});
    const auto again = by(dm::gpipe{K + 1, micros}), late = by(dm::zb_h1{K + 1, micros});
    const auto want = reference();
    CHECK(distance(one.value, want.value) < 1e-12);
    CHECK(distance(one.gradient.embedding, want.gradient.embedding) < 1e-12);
    CHECK(distance(one.gradient.first, want.gradient.first) < 1e-12);
    CHECK(distance(one.gradient.last, want.gradient.last) < 1e-12);
    const auto bits = dm::to_rank(one.gradient.embedding);
    CHECK(dm::to_rank(again.gradient.embedding) == bits);
    CHECK(dm::to_rank(late.gradient.embedding) == bits);
    dm::adam{.rate = 0.01}(placed, one.gradient, state);
    dm::adam{.rate = 0.01}(whole, want.gradient, other);
    CHECK(distance(placed.embedding, whole.embedding) < 1e-10);
  }
  // Weight, gradient and the optimizer's state live on the first stage alone.
  const bool first = g.template coord<stage>() == 0;
  CHECK((placed.embedding.data() != nullptr) == first);
  CHECK((state.first.embedding.data() != nullptr) == first);
}

/// With layers in between, each in a cell at one of M.
template <int Last, int... M, class... S> void check_between(int stages, const S&... schedules) {
  constexpr int micros = 4;
  const dm::grid<pod> g(MPI_COMM_WORLD, stage{stages});
  using square = dm::tensor<double, everywhere, model, inner>;
  auto whole = std::make_tuple(dm::make<weights<everywhere, everywhere>>(g),
                               std::array<square, sizeof...(M)>{((void)M, dm::make<square>(g))...});
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 0.5); },
      whole);
  auto ends_at = dm::make<weights<there<0>, there<Last>>>(g);
  ends_at.embedding = dm::clone(dm::place<stage, 0>(std::get<0>(whole).embedding));
  ends_at.first = dm::clone(dm::place<stage, 0>(std::get<0>(whole).first));
  ends_at.last = dm::clone(dm::place<stage, Last>(std::get<0>(whole).last));
  const auto placed = std::apply(
      [&](const auto&... w) {
        return std::make_tuple(ends_at, dm::clone(dm::place<stage, M>(w))...);
      },
      std::get<1>(whole));
  const auto cells_of = [](const auto& all) {
    return std::apply(
        [](const auto& w, const auto&... between) {
          const auto tied = [&w] {
            if constexpr (Last == 0)
              return w.embedding;  // the schedule comes back to where it is
            else
              return dm::send<stage, Last>(w.embedding);
          }();
          return std::make_tuple(std::make_tuple(w.embedding, w.first), between...,
                                 std::make_tuple(w.last, tied));
        },
        all);
  };
  const auto x = [&g](int i) {
    return dm::normal<inputs<split_over_rows>>(g, dm::random_key{90u + static_cast<unsigned>(i)}, 0,
                                               1);
  };
  const auto loss = [](const auto& y, int) { return dm::sum(y * y); };
  const auto net =
      dm::pipeline<stage>(dm::cell<0>(begins), dm::cell<M>(middle)..., dm::cell<Last>(ends));
  const auto f = [&](const auto& w, const auto& v) {
    auto h = begins(std::make_tuple(std::get<0>(w).embedding, std::get<0>(w).first), v);
    for (std::size_t i = 0; i < sizeof...(M); ++i) h = middle(std::get<1>(w)[i], h);
    return loss(ends(std::make_tuple(std::get<0>(w).last, std::get<0>(w).embedding), h), 0);
  };
  const auto want = dm::complete(dm::accumulate(
      micros, [&](dm::index_t i) { return dm::value_and_grad(f, whole)(x(static_cast<int>(i))); }));
  const auto& other = std::get<0>(want.gradient);
  const auto check_by = [&](const auto& s) {
    const auto one = dm::complete(dm::value_and_grad_through(
        cells_of, placed, [&](const auto& c) { return net.value_and_grad(s, c, x, loss); }));
    const auto& made = std::get<0>(one.gradient);
    CHECK(distance(one.value, want.value) < 1e-12);
    CHECK(distance(made.embedding, other.embedding) < 1e-12);
    CHECK(distance(made.first, other.first) < 1e-12);
    CHECK(distance(made.last, other.last) < 1e-12);
    CHECK(distance(std::get<1>(one.gradient), std::get<1>(want.gradient)[0]) < 1e-12);
    CHECK(distance(std::get<sizeof...(M)>(one.gradient), std::get<1>(want.gradient).back()) <
          1e-12);
  };
  (check_by(schedules), ...);
}
TEST_CASE("a tied weight passes the stages between, and the way there and back of ZB-V") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (n == 3) check_between<2, 1>(3, dm::one_f_one_b{3, 4}, dm::zb_h1{3, 4});
  if (n % 2 == 0) check_between<0, 1, 1>(2, dm::zb_v{2, 4});
}

TEST_CASE("a weight of the first and the last stage lives on one, and has the gradient of both") {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (n % 2 == 0) check<1, split_over_rows>();
  if (n % 2 == 0) check<1, everywhere>();  // whose loss all rows hold whole
  // On one rank there is nothing to send, and the sum is the same.
  const dm::grid<pod> g(MPI_COMM_SELF, stage{1});
  const auto w = dm::generate<dm::tensor<double, there<0>, model>>(
      g, [](dm::index_t i) { return 1.0 + static_cast<double>(i); });
  const auto x = dm::generate<dm::tensor<double, there<0>, batch, model>>(
      g, [](const auto&...) { return 1.0; });
  const auto scale = [](const auto& v, const auto& h) { return h * v; };
  const auto net = dm::pipeline<stage>(dm::cell<0>(scale), dm::cell<0>(scale));
  const auto twice = [](const auto& v) { return std::make_tuple(v, v); };
  const auto r = dm::value_and_grad_through(twice, w, [&](const auto& cells) {
    return net.value_and_grad(
        dm::interleaved{1, 2, 2}, cells, [&](int) { return x; },
        [](const auto& y, int) { return dm::sum(y); });
  });
  for (dm::index_t i = 0; i < 6; ++i)
    CHECK(test_support::on_host(r.gradient)[i] == 8.0 * 2.0 * (1.0 + static_cast<double>(i)));
}

}  // namespace
