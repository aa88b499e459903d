// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps along a dim in every layout of the others: values, transposes and costs, whether they are
// recomputed or not; LSTM and GRU beside plain loops, with the batch or what is remembered split.
// ranks: 1 2 4
// checks: 109 212 315
// labels: local device
#include "dimesh/nn/recurrent.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/nn/initialize.hpp"
#include "support/adjoint.hpp"
#include "support/cells.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace nn = dm::nn;
/// Third derivatives of products over all steps are large.
constexpr precision fine{2e-5, 1e-6};

/// A carry of two: one that sums, one that bends.
struct bent {
  template <class W, class C, class X>
  constexpr auto operator()(const W& w, const C& carry, const X& x) const {
    const auto sum = std::get<0>(carry) + x;
    const auto next = dm::tanh(std::get<1>(carry) * w + x);
    return std::tuple{std::tuple{sum, next}, next * sum};
  }
};
/// Both results of steps along q in one.
template <class W, class S, class X>
constexpr auto bent_along(const dm::recur_options& how, const W& w, const S& start, const X& x) {
  const auto [last, all] = dm::recur<q>(how, bent{}, w, std::tuple{start, start}, x);
  return all * std::get<0>(last) + std::get<1>(last);
}
/// By the definition: of w [r], start [p, r], x [p, q, r] -> [q, p, r].
array bent_array(bool reverse, const array& w, const array& start, const array& x) {
  const index_t ps = x.size[0], qs = x.size[1], rs = x.size[2];
  return make({"q", "p", "r"}, {qs, ps, rs}, [&](const extents& i) {
    double sum = start.values[static_cast<std::size_t>(i[1] * rs + i[2])], h = sum, out = 0;
    for (index_t k = 0; k < qs; ++k) {
      const index_t t = reverse ? qs - 1 - k : k;
      const double v = x.values[static_cast<std::size_t>((i[1] * qs + t) * rs + i[2])];
      sum += v;
      h = std::tanh(h * w.values[static_cast<std::size_t>(i[2])] + v);
      if (t == i[0]) out = h * sum;
    }
    return out * sum + h;
  });
}

template <class X> bool same_bits(const X& a, const X& b) {
  return std::memcmp(test_support::on_host(a).data(), test_support::on_host(b).data(),
                     static_cast<std::size_t>(a.local_bytes())) == 0;
}

TEST_CASE("steps along a dim, in layouts of the others, recomputed or not, from either end") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    constexpr layout_choice sample{.uneven = true, .orders = false, .stride = 2};
    for_each_layout<plane, dm::detail::list<p, r>, sample>([&](auto t) {
      using L = typename decltype(t)::type;
      const index_t steps = 5;
      const array a = reals({"p", "q", "r"}, {3, steps, 4}, 1), from = reals({"p", "r"}, {3, 4}, 2),
                  by = reals({"r"}, {4}, 3);
      const auto v = scattered<dm::tensor<double, L, p, q, r>>(g, a);
      const auto start = scattered<dm::tensor<double, L, p, r>>(g, from);
      const auto w = scattered<dm::tensor<double, L, r>>(g, by);
      CHECK(agrees(bent_along({}, w, start, v), bent_array(false, by, from, a), 1e-12));
      CHECK(agrees(bent_along({.segment = 2, .reverse = true}, w, start, v),
                   bent_array(true, by, from, a), 1e-12));
      check_operation([=](const auto&... s) { return bent_along({}, s...); }, fine, {by, from, a},
                      w, start, v);
    });
  });
}

// The harness takes what is computed again on the way back for the way there, so that recomputed
// steps are compared by their bits.
TEST_CASE("one step; inputs that are not recorded; the same bits where steps are recomputed") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const array from = reals({"p", "r"}, {3, 4}, 2), by = reals({"r"}, {4}, 3);
    const auto start = scattered<dm::tensor<double, L, p, r>>(g, from);
    const auto w = scattered<dm::tensor<double, L, r>>(g, by);
    for (const index_t n : {1, 7}) {
      const array a = reals({"p", "q", "r"}, {3, n, 4}, 1);
      const auto v = scattered<dm::tensor<double, L, p, q, r>>(g, a);
      const auto gradient = [&](const dm::recur_options& how) {
        return dm::value_and_grad(
                   [&](const auto& weight) { return dm::sum(bent_along(how, weight, start, v)); },
                   w)()
            .gradient;
      };
      CHECK(agrees(bent_along({}, w, start, v), bent_array(false, by, from, a), 1e-12));
      CHECK(same_bits(gradient({}), gradient({.segment = 2})));
    }
    const auto none =
        scattered<dm::tensor<double, L, p, q, r>>(g, array{{"p", "q", "r"}, {3, 0, 4}, {}});
    CHECK_THROWS_WITH_AS((void)bent_along({}, w, start, none),
                         "recur: dim 'q' has no elements, so that no step runs", dm::error);
    const auto two =
        scattered<dm::tensor<double, L, p, q, r>>(g, reals({"p", "q", "r"}, {3, 2, 4}, 1));
    const auto three =
        scattered<dm::tensor<double, L, p, q, r>>(g, reals({"p", "q", "r"}, {3, 3, 4}, 1));
    const auto add = [](const auto&, const auto& c, const auto& s, const auto& t) {
      return std::tuple{c, s + t};
    };
    CHECK_THROWS_WITH_AS((void)dm::recur<q>(add, w, start, two, three),
                         "recur: one input has 2 elements along dim 'q', and another has 3",
                         dm::error);
  });
}

// ---- cells --------------------------------------------------------------------------------------

struct in : dm::dim<3> {};
struct hidden : dm::dim<4> {};
struct from : dm::dim<4> {};

/// A cell under a compute layout C; x is p over x, or whole.
template <class C, class Gate, int Gates, class Grid> void check_cell(const Grid& g) {
  const std::string gate(dm::detail::name_of<Gate>());
  const array a = reals({"p", "q", "in"}, {4, 5, 3}, 1);
  const std::vector<array> w{reals({"in", gate, "hidden"}, {3, Gates, 4}, 2),
                             reals({"from", gate, "hidden"}, {4, Gates, 4}, 3),
                             reals({gate, "hidden"}, {Gates, 4}, 4),
                             reals({gate, "hidden"}, {Gates, 4}, 5)};
  const auto v = scattered<dm::tensor<double, C, p, q, in>>(g, a);
  const auto w0 = scattered<dm::tensor<double, C, in, Gate, hidden>>(g, w[0]);
  const auto w1 = scattered<dm::tensor<double, C, from, Gate, hidden>>(g, w[1]);
  const auto w2 = scattered<dm::tensor<double, C, Gate, hidden>>(g, w[2]);
  const auto w3 = scattered<dm::tensor<double, C, Gate, hidden>>(g, w[3]);
  const array zero = make({"p", "hidden"}, {4, 4}, [](const extents&) { return 0.0; });
  const auto start = scattered<dm::tensor<double, C, p, hidden>>(g, zero);
  const nn::model<C> m;
  using parameters = nn::recurrent_parameters<C, double, Gate, in, hidden, from>;
  const parameters params{w0, w1, w2, w3};
  const auto along = [&m](const auto& weights, const auto& first, const auto& inputs, index_t n) {
    if constexpr (Gates == 4)
      return std::get<1>(
          nn::lstm<q, hidden, from>(m, weights, {first, first}, inputs, {.segment = n}));
    else
      return std::get<1>(nn::gru<q, hidden, from>(m, weights, first, inputs, {.segment = n}));
  };
  const array right = cell_array(Gates, w, a, zero, zero);
  CHECK(agrees(along(params, start, v, 0), right, 1e-12));
  const auto of_all = [&](const auto& wi, const auto& ws, const auto& bias, const auto& first,
                          const auto& inputs) {
    using L = typename modified<std::remove_cvref_t<decltype(inputs)>, C>::type;
    const nn::recurrent_parameters<L, double, Gate, in, hidden, from> all{wi, ws, bias, bias};
    return along(all, first, inputs, 0);
  };
  check_operation(of_all, fine, {w[0], w[1], w[2], zero, a}, w0, w1, w2, start, v);

  // Gradients of the parameters beside differences of the plain loops.
  const array weigh = reals({"q", "p", "hidden"}, {5, 4, 4}, 6);
  const auto y = scattered<dm::tensor<double, C, q, p, hidden>>(g, weigh);
  const auto loss = [&](const auto& weights, const auto& inputs) {
    return dm::complete(dm::sum(along(weights, start, inputs, 3) * y));
  };
  const auto slope = dm::complete(dm::value_and_grad(loss, params)(v)).gradient;
  const auto difference = [&](std::size_t k) {
    return cell_slope(Gates, w, a, zero, zero, weigh, k);
  };
  CHECK(agrees(slope.in, difference(0), 1e-8));
  CHECK(agrees(slope.state, difference(1), 1e-8));
  CHECK(agrees(slope.bias, difference(2), 1e-8));
  CHECK(agrees(slope.state_bias, difference(3), 1e-8));
}

template <class Gate, int Gates> void check_cells() {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using dm::split;
    check_cell<dm::layout<plane>, Gate, Gates>(g);
    if (4 % g.state().sizes()[1] != 0 || 4 % g.state().sizes()[0] != 0) return;
    // Each step gathers what it remembers; or sums what its product leaves.
    check_cell<dm::layout<plane, split<p, x>, split<hidden, y>>, Gate, Gates>(g);
    check_cell<dm::layout<plane, split<p, x>, split<from, y>>, Gate, Gates>(g);
  });
}
TEST_CASE("long short-term memory") { check_cells<nn::lstm_gate, 4>(); }
TEST_CASE("gated recurrent units") { check_cells<nn::gru_gate, 3>(); }

}  // namespace
