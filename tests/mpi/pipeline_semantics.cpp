// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pipeline computes depends on nothing but the batch: not on the number of stages, nor on
// that of micro-batches, nor on the schedule. Random masks are drawn again where layers run again;
// what layers remember is there for those that recall it.
//
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/op/dropout.hpp>
#include <dimesh/op/slice.hpp>

#include "dimesh/pipeline/pipeline.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"
#include "support/host.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<> {};
struct width : dm::dim<6> {};
struct inner : dm::dim<6> {};
struct stage : dm::axis<> {};
struct pod : dm::mesh<stage> {};
using everywhere = dm::layout<pod>;
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
template <int K> using weight = dm::tensor<double, there<K>, width, inner>;
using rows_of_all = dm::tensor<double, everywhere, batch, width>;
using values = std::vector<double>;

/// Cells at K..., `rate` of what each gives left out: other elements in each micro-batch and cell.
template <int... K> struct problem {
  dm::grid<pod> g;
  double rate;
  std::tuple<weight<K>...> weights;
  rows_of_all x, target;

  problem(int stages, double left_out, MPI_Comm comm = MPI_COMM_WORLD)
      : g(comm, stage{stages}), rate(left_out), weights(dm::make<weight<K>>(g)...) {
    std::uint64_t seed = 1;
    dm::for_each_tensor(
        [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.7, 0.7); },
        weights);
    x = dm::normal<rows_of_all>(g, dm::random_key{71}, 0, 1, batch{16});
    target = dm::normal<rows_of_all>(g, dm::random_key{72}, 0, 1, batch{16});
  }
  /// Cell number I, whatever its place.
  template <std::size_t I> auto layer() const {
    return [thinned = rate](const auto& w, const auto& v, int micro) {
      const auto h = dm::tanh(dm::rename<inner, width>(dm::einsum<batch, inner>(v, w)));
      return v +
             dm::dropout(thinned, dm::random_key{100 * I + static_cast<std::uint64_t>(micro)}, h);
    };
  }
  /// Loss and gradients of all cells on rank 0, in the order of the cells.
  template <class S, class Wrap> values run(const S& s, const Wrap& wrap) const {
    constexpr int last = std::array{K...}.back();
    const dm::index_t n = 16 / s.micros;
    const auto net = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return dm::pipeline<stage>(dm::cell<K>(wrap(layer<I>()))...);
    }(std::make_index_sequence<sizeof...(K)>());
    const auto part = [n](const auto& all, int i) {
      return dm::slice<batch>(all, i * n, (i + 1) * n);
    };
    const auto loss = [&](const auto& y, int i) {
      const auto d = y - dm::place<stage, last>(part(target, i));
      return dm::mean<batch>(dm::sum<width>(d * d));
    };
    const auto r =
        dm::complete(net.value_and_grad(s, weights, [&](int i) { return part(x, i); }, loss));
    values all = dm::to_rank(r.value);
    dm::for_each_tensor(
        [&all](const auto&, const auto& t) {
          const values one = dm::to_rank(t);
          all.insert(all.end(), one.begin(), one.end());
        },
        r.gradient);
    return all;
  }
};
constexpr auto as_it_is = [](const auto& f) { return f; };
constexpr auto run_again = [](const auto& f) { return dm::recompute(f); };
/// A function that is called without a number, too.
constexpr auto with_default = [](const auto& f) {
  return [f](const auto& w, const auto& x, int micro = 0) { return f(w, x, micro); };
};

double distance(const values& a, const values& b) {
  REQUIRE(a.size() == b.size());
  double far = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    far = std::max(far, std::abs(a[i] - b[i]) / (1 + std::abs(b[i])));
  return far;
}
int ranks() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

/// All schedules of K stages give the same bits; gives those.
template <int... K> values check(const problem<K...>& p, int micros) {
  constexpr int stages = sizeof...(K);
  const values bits = p.run(dm::gpipe{stages, micros}, as_it_is);
  CHECK(p.run(dm::one_f_one_b{stages, micros}, as_it_is) == bits);
  CHECK(p.run(dm::zb_h1{stages, micros}, as_it_is) == bits);
  CHECK(p.run(dm::zb_h2{stages, micros}, as_it_is) == bits);
  CHECK(p.run(dm::gpipe{stages, micros}, run_again) == bits);
  CHECK(p.run(dm::one_f_one_b{stages, micros}, run_again) == bits);
  CHECK(p.run(dm::zb_h1{stages, micros}, run_again) == bits);
  return bits;
}

TEST_CASE("the number of micro-batches, of stages, and the schedule do not matter") {
  const problem<0, 0, 0, 0> alone(1, 0, MPI_COMM_SELF);
  const values one = alone.run(dm::interleaved{1, 1, 4}, as_it_is);  // the batch as a whole
  CHECK(one.size() == 1 + 4 * 36);
  for (const int micros : {1, 2, 4, 8, 16}) {
    CAPTURE(micros);
    CHECK(distance(alone.run(dm::interleaved{1, micros, 4}, as_it_is), one) < 1e-13);
    const auto as_one = [&](const values& all) {
      if (!all.empty()) CHECK(distance(all, one) < 1e-13);
    };
    if (ranks() == 2) as_one(problem<0, 1, 1, 0>(2, 0).run(dm::zb_v{2, micros}, as_it_is));
    if (ranks() == 2 && micros > 1)
      as_one(problem<0, 1, 0, 1>(2, 0).run(dm::interleaved{2, micros, 2}, as_it_is));
    if (ranks() == 4) as_one(check(problem<0, 1, 2, 3>(4, 0), micros));
  }
}

TEST_CASE("masks of dropout are drawn again, to the bit") {
  const problem<0, 0, 0, 0> alone(1, 0.3, MPI_COMM_SELF), whole(1, 0, MPI_COMM_SELF);
  const dm::interleaved s{1, 4, 4};
  const values thinned = alone.run(s, as_it_is);
  CHECK(alone.run(s, run_again) == thinned);
  CHECK(alone.run(s, with_default) == thinned);
  CHECK(distance(thinned, whole.run(s, as_it_is)) > 1e-3);
  if (ranks() == 1) check(problem<0>(1, 0.3), 4);
  if (ranks() == 2) check(problem<0, 1>(2, 0.3), 4);
  if (ranks() != 4) return;
  const values four = check(problem<0, 1, 2, 3>(4, 0.3), 4);
  if (!four.empty()) CHECK(distance(four, thinned) < 1e-13);
}

// ---- skips by name ------------------------------------------------------------------------------

struct skip {};
constexpr auto bends = [](const auto& w, const auto& v) {
  return dm::tanh(dm::rename<inner, width>(dm::einsum<batch, inner>(v, w)));
};
constexpr auto joins = [](const auto& w, const auto& v, const auto& kept) {
  return bends(w, v) * kept;
};
constexpr auto hands_on = [](const auto& w, const auto& v) {
  return std::make_tuple(bends(std::get<0>(w), std::get<0>(v)), std::get<1>(v));
};

TEST_CASE("what a layer remembers is recalled some stages on; no layer between knows of it") {
  const auto check = [](const dm::grid<pod>& g, const auto& schedule, auto... k) {
    auto weights = std::make_tuple(std::make_tuple(dm::make<weight<decltype(k)::value>>(g))...);
    std::uint64_t seed = 1;
    dm::for_each_tensor(
        [&seed](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.7, 0.7); },
        weights);
    const auto x = dm::normal<rows_of_all>(g, dm::random_key{71}, 0, 1, batch{4});
    const auto input = [&x](int i) { return x * (1.0 + i); };
    const auto loss = [](const auto& y, int) { return dm::sum(y * y); };
    const auto by = [&](const auto& first, const auto& between, const auto& end) {
      const auto net = [&]<std::size_t... I>(std::index_sequence<I...>) {
        const auto at = [&](auto i) {
          if constexpr (i == 0)
            return first;
          else if constexpr (i + 1 == sizeof...(k))
            return end;
          else
            return between;
        };
        return dm::pipeline<stage>(
            dm::cell<decltype(k)::value>(at(std::integral_constant<std::size_t, I>{}))...);
      }(std::make_index_sequence<sizeof...(k)>());
      const auto r = dm::complete(net.value_and_grad(schedule, weights, input, loss));
      values all = dm::to_rank(r.value);
      dm::for_each_tensor(
          [&all](const auto&, const auto& t) {
            const values one = dm::to_rank(t);
            all.insert(all.end(), one.begin(), one.end());
          },
          r.gradient);
      return all;
    };
    const values named = by(dm::in_turn(dm::remember<skip>(bends)), dm::in_turn(bends),
                            dm::in_turn(dm::recall<skip>(joins)));
    const values handed = by(
        [](const auto& w, const auto& v) {
          const auto y = bends(std::get<0>(w), v);
          return std::make_tuple(y, y);
        },
        hands_on,
        [](const auto& w, const auto& v) {
          return joins(std::get<0>(w), std::get<0>(v), std::get<1>(v));
        });
    CHECK(named == handed);
    CHECK((named.size() == 1 + 36 * sizeof...(k) || g.rank() != 0));
  };
  using zero = std::integral_constant<int, 0>;
  using one = std::integral_constant<int, 1>;
  const dm::grid<pod> alone(MPI_COMM_SELF, stage{1});
  check(alone, dm::interleaved{1, 3, 3}, zero{}, zero{}, zero{});
  if (ranks() == 2)
    check(dm::grid<pod>(MPI_COMM_WORLD, stage{2}), dm::interleaved{2, 4, 2}, zero{}, one{}, zero{},
          one{});
  if (ranks() == 4)
    check(dm::grid<pod>(MPI_COMM_WORLD, stage{4}), dm::one_f_one_b{4, 3}, zero{}, one{},
          std::integral_constant<int, 2>{}, std::integral_constant<int, 3>{});
}

}  // namespace
