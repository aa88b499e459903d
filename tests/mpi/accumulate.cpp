// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Micro-batches summed in their partial form: one reduction per step, the gradient of the whole
// batch, no memory beyond that of two gradients.
//
// ranks: 1 2 4
// labels: device
#include "dimesh/grad/accumulate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <census.hpp>
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "support/host.hpp"
#include "support/worst.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct width : dm::dim<> {};
struct hidden : dm::dim<12> {};
struct one : dm::axis<> {};
struct two : dm::axis<> {};
struct pod : dm::mesh<one, two> {};

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, width, hidden>, w),
                           (dm::tensor<double, L, hidden>, b),
                           (std::array<dm::tensor<double, L, hidden>, 2>, unused));
};

/// A mean over the batch; the penalty is replicated, so its gradient is held whole (decision 2).
struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    auto h = dm::tanh(dm::complete(dm::einsum<batch, hidden>(x, p.w)) + p.b);
    return dm::complete(dm::mean<batch>(dm::einsum<batch>(h, h))) +
           dm::complete(dm::einsum<>(p.w, p.w));
  }
};

struct step {
  dm::index_t n;
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::complete(
        dm::accumulate(n, [&](dm::index_t) { return dm::value_and_grad(loss{}, p)(x); }));
  }
};

template <class X, class Y> double farthest(const X& a, const Y& b, double factor) {
  double most = 0;
  for (dm::index_t i = 0; i < a.local_size(); ++i)
    most = test_support::worst(
        most, std::abs(test_support::on_host(a)[i] - factor * test_support::on_host(b)[i]));
  return most;
}

template <class L> void check(const dm::grid<pod>& g) {
  auto p = dm::make<network<L>>(g, width{9});
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&](const auto&, auto& x) { dm::fill_uniform(x, dm::random_key{seed++}, -0.5, 0.5); }, p);
  using X = dm::tensor<double, L, batch, width>;
  std::vector<X> x;
  for (std::uint64_t i = 0; i < 4; ++i)
    x.push_back(dm::uniform<X>(g, dm::random_key{50 + i}, -1.0, 1.0, width{9}));

  // The sum of the completed parts, by hand.
  auto wanted = dm::zeros_like(p);
  double wanted_loss = 0;
  std::int64_t calls_of_one = 0, bytes_of_one = 0, inside = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    census::reset();
    auto part = dm::value_and_grad(loss{}, p)(x[i]);
    inside = census::snapshot().calls();
    const auto before = census::snapshot();
    auto whole = dm::complete(std::move(part));
    calls_of_one = (census::snapshot() - before).calls();
    bytes_of_one = (census::snapshot() - before).bytes();
    wanted_loss += dm::value(whole.value) / 4;
    dm::for_each_tensor(
        [](const auto&, auto& s, const auto& v) {
          for (dm::index_t k = 0; k < s.local_size(); ++k)
            test_support::on_host(s)[k] += test_support::on_host(v)[k] / 4;
        },
        wanted, whole.gradient);
  }

  const auto run = [&] {
    return dm::accumulate(4, [&](dm::index_t i) {
      return dm::value_and_grad(loss{}, p)(x[static_cast<std::size_t>(i)]);
    });
  };
  census::reset();
  auto sum = run();
  CHECK(census::snapshot().calls() == 4 * inside);
  const auto before = census::snapshot();
  const auto whole = dm::complete(std::move(sum));
  CHECK((census::snapshot() - before).calls() == calls_of_one);
  CHECK((census::snapshot() - before).bytes() == bytes_of_one);
  CHECK(dm::value(whole.value) == doctest::Approx(wanted_loss).epsilon(1e-13));
  dm::for_each_tensor(
      [](const auto& path, const auto& a, const auto& b) {
        INFO(path.text());
        CHECK(farthest(a, b, 1) < 1e-14);
      },
      whole.gradient, wanted);

  // Weighted: as of a batch that holds the micro-batches so many times.
  const auto two = [&](dm::index_t i) {
    return dm::value_and_grad(loss{}, p)(x[static_cast<std::size_t>(i)]);
  };
  const auto repeated = dm::complete(dm::accumulate(
      4, [&](dm::index_t i) { return dm::value_and_grad(loss{}, p)(x[i == 3 ? 1 : 0]); }));
  const auto weighted = dm::complete(dm::accumulate({3, 1}, two));
  CHECK(farthest(weighted.gradient.w, repeated.gradient.w, 1) < 1e-14);
  CHECK(dm::value(weighted.value) == doctest::Approx(dm::value(repeated.value)).epsilon(1e-13));
  const auto three = dm::complete(dm::accumulate(std::vector<int>{9, 3, 0}, two));
  CHECK(farthest(three.gradient.w, repeated.gradient.w, 1) < 1e-14);
  const auto of_one = dm::complete(dm::accumulate(std::vector{0.5f}, two));
  CHECK(farthest(of_one.gradient.w, dm::complete(two(0)).gradient.w, 1) == 0);
  for (const std::vector<double>& none : {std::vector<double>{}, {0, 0}, {2, -1}, {1, 0.0 / 0.0}})
    CHECK_THROWS_WITH_AS((void)dm::accumulate(none, two),
                         doctest::Contains("accumulate: the weights"), dm::error);

  // One micro-batch is the step itself.
  const auto once = dm::complete(
      dm::accumulate(1, [&](dm::index_t) { return dm::value_and_grad(loss{}, p)(x[0]); }));
  const auto direct = dm::complete(dm::value_and_grad(loss{}, p)(x[0]));
  CHECK(farthest(once.gradient.w, direct.gradient.w, 1) == 0);
  CHECK(dm::value(once.value) == dm::value(direct.value));

  // Nothing is asked of the system once a step has run.
  (void)dm::complete(run());
  const auto allocations = dm::detail::pool::instance().figures().allocations;
  (void)dm::complete(run());
  CHECK(dm::detail::pool::instance().figures().allocations == allocations);

  const auto predicted = dm::count(step{3}, dm::shapes_of(p), dm::shapes_of(x[0]));
  census::reset();
  (void)step{3}(p, x[0]);
  for (unsigned mask = 1; mask < 4; ++mask) {
    CHECK(predicted.counts.over[mask].bytes == census::snapshot().bytes_on(mask));
    CHECK(predicted.counts.over[mask].calls == census::snapshot().calls_on(mask));
  }
}

template <class F> void on_grids(F&& f) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks % 2 == 0) f(dm::grid<pod>(one{2}, two{ranks / 2}));
  f(dm::grid<pod>(one{ranks}, two{1}));
}

}  // namespace

TEST_CASE("accumulate: batch split") {
  on_grids([](const auto& g) { check<dm::layout<pod, dm::split<batch, one>>>(g); });
}
TEST_CASE("accumulate: batch and hidden split") {
  on_grids([](const auto& g) {
    check<dm::layout<pod, dm::split<batch, one>, dm::split<hidden, two>>>(g);
  });
}
TEST_CASE("accumulate: width split, unevenly") {
  on_grids([](const auto& g) { check<dm::layout<pod, dm::split<dm::uneven<width>, one>>>(g); });
}

TEST_CASE("accumulate: notes that differ from batch to batch become addends") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(one{ranks}, two{1});
  using G = dm::tensor<double, dm::layout<pod, dm::partial<one>>, hidden>;
  using V = dm::tensor<double, dm::layout<pod, dm::partial<one>>>;
  const auto batch_of = [&](dm::index_t i) {
    dm::value_and_gradient<V, G> r{V(g), G(g)};
    *test_support::on_host(r.value) = 1;
    std::fill_n(test_support::on_host(r.gradient).data(), r.gradient.local_size(), 2.0);
    r.gradient.set_once(i == 1 ? 1 : 0);
    r.value.set_once(i == 1 ? 1 : 0);
    return r;
  };
  // Twice addends of all ranks, once a whole value.
  const auto mean = dm::complete(dm::accumulate(3, batch_of));
  CHECK(dm::value(mean.value) == doctest::Approx((2.0 * ranks + 1) / 3).scale(0));
  CHECK(test_support::on_host(mean.gradient)[5] == doctest::Approx((4.0 * ranks + 2) / 3).scale(0));
  CHECK_THROWS_WITH_AS((void)dm::accumulate(0, batch_of),
                       doctest::Contains("accumulate: 0 micro-batches"), dm::error);
}

TEST_CASE("accumulate: what has weight 0 is not there") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(one{ranks}, two{1});
  const auto w = dm::constant<dm::tensor<float, dm::layout<pod>, hidden>>(g, 2);
  const auto batch = [&](dm::index_t i) {  // those with even numbers are no numbers
    const auto x = dm::constant<dm::tensor<float, dm::layout<pod>, hidden>>(
        g, i % 2 == 0 ? std::nanf("") : 1.0f);
    return dm::value_and_grad([&](const auto& v) { return dm::einsum<>(v * v, x); }, w)();
  };
  const auto mean = dm::complete(dm::accumulate({0, 1, 0, 3, 0}, batch));
  CHECK(dm::value(mean.value) == 48);
  CHECK(test_support::on_host(mean.gradient)[7] == 4);
  const auto none = dm::complete(dm::accumulate({0, 1, 2}, batch));
  CHECK(std::isnan(dm::value(none.value)));
}
