// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structs of tensors with numbers beside them, and vectors of numbers: a function whose gradient is
// taken, a recomputed block, a loop and a pipeline's cell see those that were given.
//
// ranks: 1 2
#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/grad/jvp.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/grad/recur.hpp>
#include <dimesh/grad/vjp.hpp>
#include <dimesh/op/value.hpp>
#include <dimesh/optim/sharded.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>
#include <dimesh/pipeline/weights_through.hpp>
#include <tuple>
#include <vector>

namespace dm = dimesh;

namespace {

struct width : dm::dim<6> {};
struct steps : dm::dim<5> {};
struct stage : dm::axis<> {};
struct rows : dm::axis<> {};
struct line : dm::mesh<stage, rows> {};
using whole = dm::layout<line>;
using weight = dm::tensor<double, whole, width>;

/// Under no layout of its own: numbers alone.
template <class L> struct numbers {
  using mesh_type = typename L::mesh;
  BOOST_HANA_DEFINE_STRUCT(numbers, (double, half));
};
template <class L> struct inner {
  BOOST_HANA_DEFINE_STRUCT(inner, (dm::tensor<double, L, width>, w), (double, factor));
};
template <class L> struct net {
  using inners = std::vector<inner<L>>;
  using lists = std::vector<numbers<L>>;
  BOOST_HANA_DEFINE_STRUCT(net, (dm::tensor<double, L, width>, w), (double, scale), (int, times),
                           (std::vector<float>, rates), (numbers<L>, more), (lists, each),
                           (inners, layers));
};

template <class L> net<L> made(const dm::grid<line>& g) {
  auto p = dm::make<net<L>>(g, {{"layers", 2}});
  dm::for_each_tensor([](const auto&, auto& w) { dm::fill(w, 1); }, p);
  p.scale = 3, p.times = 2, p.rates = {7, 5}, p.more.half = 0.5;
  p.each.resize(2), p.each[0].half = 4, p.each[1].half = 8;
  p.layers[0].factor = 10, p.layers[1].factor = 20;
  return p;
}

constexpr auto weighted = [](const auto& p) {
  auto y = p.w * p.scale;
  for (int i = 0; i < p.times; ++i) y = y * p.more.half;
  y = y * static_cast<double>(p.rates.at(1));  // 3.75
  y = y * (p.each.at(1).half / p.each.at(0).half / 2);
  for (const auto& l : p.layers) y = y + l.w * l.factor;
  return dm::sum(y);
};
constexpr double wanted = 6 * (3.75 + 10 + 20);

template <class X> double sum_of(const X& x) { return dm::value(dm::sum(dm::complete(x))); }
template <class G> void check_gradient(const G& g) {
  CHECK(sum_of(g.w) == 6 * 3.75);
  CHECK(sum_of(g.layers[0].w) == 60);
  CHECK(sum_of(g.layers[1].w) == 120);
}

TEST_CASE("a function sees them in whatever takes its gradient") {
  const dm::grid<line> g(MPI_COMM_WORLD, stage{1});
  const auto p = made<whole>(g);
  CHECK(dm::value(weighted(p)) == wanted);

  const auto step = dm::value_and_grad(weighted, p)();
  CHECK(dm::value(dm::complete(step.value)) == wanted);
  check_gradient(step.gradient);

  auto run = dm::vjp(weighted, p);
  CHECK(dm::value(run.value) == wanted);
  dm::detail::bar_of_type<std::remove_cvref_t<decltype(run.value)>> ybar(g);
  dm::fill(ybar, 1);
  check_gradient(run.pullback(ybar));

  const auto [y, dy] = dm::jvp(weighted, p, p);
  CHECK(dm::value(y) == wanted);
  CHECK(dm::value(dy) == wanted);
}

TEST_CASE("they come along where structs become others") {
  const dm::grid<line> g(MPI_COMM_WORLD, stage{1});
  const auto p = made<whole>(g);
  CHECK(dm::count(weighted, p).flops() == dm::count(weighted, dm::shapes_of(p)).flops());
  const auto same = dm::complete(p);
  CHECK(same.rates == p.rates);
  const auto own = dm::shards_of<dm::layout<line, dm::spread<rows>>>(p);
  CHECK(own.layers[1].factor == 20);
  CHECK(own.more.half == 0.5);
  CHECK(own.each.at(1).half == 8);
}

TEST_CASE("a recomputed block sees them both times, and gives them") {
  const dm::grid<line> g(MPI_COMM_WORLD, stage{1});
  const auto p = made<whole>(g);
  const auto loss = [](const auto& q) {
    const auto block = [](const auto& all, const auto& w) {
      const auto& [x, by] = all;
      return std::tuple{x * w * by, 2 * by};
    };
    const auto [y, twice] = dm::recompute(block)(std::tuple{q.w, 1.5}, q.w);
    // Numbers alone, in a struct that names the layout: of the type that the block gives.
    const auto alone = [](const auto& all) { return all.more; };
    const auto more = dm::recompute(alone)(q);
    static_assert(std::is_same_v<decltype(more), decltype(alone(q)) const>);
    return dm::sum(y * twice) * (2 * more.half) + dm::recompute(weighted)(q);
  };
  const auto step = dm::value_and_grad(loss, p)();
  CHECK(dm::value(dm::complete(step.value)) == 6 * 4.5 + wanted);
  CHECK(sum_of(step.gradient.w) == 6 * (9 + 3.75));
}

TEST_CASE("the carry of a loop has them, recorded or not, recomputed or not") {
  const dm::grid<line> g(MPI_COMM_WORLD, stage{1});
  weight w(g), start(g);
  dm::fill(w, 2), dm::fill(start, 1);
  dm::tensor<double, whole, steps> x(g);
  dm::fill(x, 1);
  const auto step = [](const auto& by, const auto& carry, const auto& one) {
    const auto& [h, n] = carry;  // n: the number of the step, from 3 on
    const auto next = h + by * one * static_cast<double>(n);
    return std::tuple{std::tuple{next, n + 1}, next};
  };
  const auto last = [&](const dm::recur_options& how, const auto& by) {
    const auto [carry, all] = dm::recur<steps>(how, step, by, std::tuple{start, 3}, x);
    return dm::sum(std::get<0>(carry) * static_cast<double>(std::get<1>(carry)));
  };
  for (const dm::index_t segment : {0, 2, 5}) {
    CAPTURE(segment);
    const dm::recur_options how{.segment = segment};
    CHECK(dm::value(last(how, w)) == 6 * (1 + 2 * (3 + 4 + 5 + 6 + 7)) * 8);
    const auto r = dm::value_and_grad([&](const auto& by) { return last(how, by); }, w)();
    CHECK(dm::value(dm::complete(r.value)) == 6 * (1 + 2 * (3 + 4 + 5 + 6 + 7)) * 8);
    CHECK(sum_of(r.gradient) == 6 * (3 + 4 + 5 + 6 + 7) * 8);
  }
}

TEST_CASE("so do the weights of a pipeline's cells") {
  const dm::grid<line> g(MPI_COMM_WORLD, stage{1});
  using there = dm::layout<line, dm::placed<stage, 0>>;
  const std::tuple weights{made<there>(g)};
  dm::tensor<double, there> x(g);
  dm::fill(x, 2);
  const auto net = dm::pipeline<stage>(
      dm::cell<0>([](const auto& p, const auto& in) { return weighted(p) * in; }));
  const auto step = net.value_and_grad(
      dm::gpipe{1, 1}, weights, [&](int) { return x; }, [](const auto& y) { return y; });
  const auto at_all = [](const auto& y) { return dm::value(dm::broadcast<stage>(y)); };
  const auto sum_there = [&](const auto& y) { return at_all(dm::sum(dm::complete(y))); };
  CHECK(at_all(dm::complete(step.value)) == 2 * wanted);
  CHECK(sum_there(std::get<0>(step.gradient).layers[1].w) == 2 * 120);

  const auto through = dm::value_and_grad_through(
      [](const auto& p) { return std::tuple{p}; }, std::get<0>(weights),
      [&](const auto& cells) {
        return net.value_and_grad(
            dm::gpipe{1, 1}, cells, [&](int) { return x; }, [](const auto& y) { return y; });
      });
  CHECK(sum_there(through.gradient.layers[1].w) == 2 * 120);
}

}  // namespace
