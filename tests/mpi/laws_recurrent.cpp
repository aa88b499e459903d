// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent cells under every compute layout of a plane, batches and hidden dims split evenly or
// not, in blocks of any lengths, at one place: against plain loops from either end, gradients
// against differences of these, transposes and costs, and the same bits where steps are recomputed;
// and the layouts in which no step can be computed. Layouts are values, so that each cell is
// compiled once.
// ranks: 1 2 4
// checks: 4530 9320 14130
// compiler: clang
#include <doctest/doctest.h>

#include <cstring>

#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/nn/recurrent.hpp"
#include "support/cells.hpp"
#include "support/host.hpp"
#include "support/odd_layouts.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;
namespace nn = dm::nn;
using odd::here;

struct in : dm::dim<> {};
struct hidden : dm::dim<> {};
struct from : dm::dim<> {};
constexpr index_t steps = 3;
constexpr precision fine{2e-5, 1e-6};

/// What one cell is given, and what comes of it from either end.
struct example {
  index_t gates;
  array x, h, c, y;
  std::vector<array> w;
  array all[2], slopes[2][4];

  example(index_t k, const std::string& gate, index_t ps, index_t hs, index_t ins)
      : gates(k),
        x(reals({"p", "q", "in"}, {ps, steps, ins}, 1)),
        h(reals({"p", "hidden"}, {ps, hs}, 2)),
        c(gates == 4 ? reals({"p", "hidden"}, {ps, hs}, 3) : h),
        y(reals({"q", "p", "hidden"}, {steps, ps, hs}, 4)),
        w{reals({"in", gate, "hidden"}, {ins, gates, hs}, 5),
          reals({"from", gate, "hidden"}, {hs, gates, hs}, 6),
          reals({gate, "hidden"}, {gates, hs}, 7), reals({gate, "hidden"}, {gates, hs}, 8)} {
    for (const bool reverse : {false, true}) {
      all[reverse] = cell_array(gates, w, x, h, c, reverse);
      for (std::size_t i = 0; i < 4; ++i)
        slopes[reverse][i] = cell_slope(gates, w, x, h, c, y, i, reverse);
    }
  }
};
/// Extents that no axis of two ranks or more divides, and such that all divide.
template <class Gate> const example& example_of(bool even) {
  static const std::string gate(dd::name_of<Gate>());
  static const example odd_one(Gate::extent, gate, 5, 3, 2), even_one(Gate::extent, gate, 4, 4, 4);
  return even ? even_one : odd_one;
}

template <class Gate, class P, class H, class X>
auto run(const P& p, const H& h, const H& c, const X& x, const dm::recur_options& how) {
  const nn::model<here> m;
  if constexpr (std::is_same_v<Gate, nn::lstm_gate>)
    return std::get<1>(nn::lstm<q, hidden, from>(m, p, {h, c}, x, how));
  else
    return std::get<1>(nn::gru<q, hidden, from>(m, p, h, x, how));
}

template <class X> bool same_bits(const X& a, const X& b) {
  return std::memcmp(test_support::on_host(a).data(), test_support::on_host(b).data(),
                     static_cast<std::size_t>(a.local_bytes())) == 0;
}

/// The example's tensors under the layout of now.
template <class T, class Gate> struct laid_out {
  using parameters = nn::recurrent_parameters<here, T, Gate, in, hidden, from>;
  template <class... D> using X = dm::tensor<T, here, D...>;
  const example& e;
  X<p, q, in> x;
  X<p, hidden> h, c;
  parameters w;

  template <class... Cuts>
  laid_out(const dm::grid<plane>& g, const example& of, const Cuts&... cuts)
      : e(of),
        x(scattered<X<p, q, in>>(g, e.x, cuts...)),
        h(scattered<X<p, hidden>>(g, e.h, cuts...)),
        c(scattered<X<p, hidden>>(g, e.c, cuts...)),
        w{scattered<X<in, Gate, hidden>>(g, e.w[0]), scattered<X<from, Gate, hidden>>(g, e.w[1]),
          scattered<X<Gate, hidden>>(g, e.w[2]), scattered<X<Gate, hidden>>(g, e.w[3])} {}

  void check_values(double tolerance) const {
    for (const bool reverse : {false, true})
      for (const index_t segment : {0, 2})
        CHECK(agrees(run<Gate>(w, h, c, x, {.segment = segment, .reverse = reverse}),
                     e.all[reverse], tolerance));
  }

  /// Gradients of the parameters: those of plain loops, and to the bit those of recomputed steps.
  template <class... Cuts>
  void check_gradients(const dm::grid<plane>& g, double tolerance, const Cuts&... cuts) const {
    const auto weigh = scattered<X<q, p, hidden>>(g, e.y, cuts...);
    for (const bool reverse : {false, true}) {
      const auto slope = [&](index_t segment) {
        const dm::recur_options how{.segment = segment, .reverse = reverse};
        const auto loss = [&](const auto& weights, const auto& inputs) {
          return dm::complete(dm::sum(run<Gate>(weights, h, c, inputs, how) * weigh));
        };
        return dm::complete(dm::value_and_grad(loss, w)(x)).gradient;
      };
      const auto kept = slope(0), again = slope(2);
      CHECK(agrees(kept.in, e.slopes[reverse][0], tolerance));
      CHECK(agrees(kept.state, e.slopes[reverse][1], tolerance));
      CHECK(agrees(kept.bias, e.slopes[reverse][2], tolerance));
      CHECK(agrees(kept.state_bias, e.slopes[reverse][3], tolerance));
      CHECK(same_bits(kept.in, again.in));
      CHECK(same_bits(kept.state, again.state));
      CHECK(same_bits(kept.bias, again.bias));
      CHECK(same_bits(kept.state_bias, again.state_bias));
    }
  }

  /// The transpose and the costs, of inputs and of the start as well.
  void check_transpose(bool is_odd) const {
    for (const bool reverse : {false, true}) {
      const auto f = [=](const auto& wi, const auto& ws, const auto& bias, const auto& first,
                         const auto& cell, const auto& inputs) {
        using L = typename modified<std::remove_cvref_t<decltype(inputs)>, here>::type;
        const nn::recurrent_parameters<L, T, Gate, in, hidden, from> all{wi, ws, bias, bias};
        return run<Gate>(all, first, cell, inputs, {.reverse = reverse});
      };
      const std::vector<array> arrays{e.w[0], e.w[1], e.w[2], e.h, e.c, e.x};
      if (is_odd)
        odd::transposes(f, fine, arrays, w.in, w.state, w.bias, h, c, x);
      else
        check_operation(f, fine, arrays, w.in, w.state, w.bias, h, c, x);
    }
  }
};

using dims = dd::list<p, hidden, from, in>;

/// Can the example be cut so on this grid, and is it at one place?
struct fitting {
  bool all, placed;
  fitting(const dm::grid<plane>& g, const example& e) {
    using S = dm::spec_of<dm::tensor<double, here, p, hidden, from, in>>;
    const index_t hs = e.h.size[1];
    all = comes_out_even<S>(g, {e.x.size[0], hs, hs, e.x.size[2]});
    placed = table_now<S>().mask(dm::use::placed) != 0;
  }
};

template <class Gate> void check_double(const dm::grid<plane>& g, bool even) {
  const example& e = example_of<Gate>(even);
  const fitting fits(g, e);
  if (!fits.all) return;
  const laid_out<double, Gate> cell(g, e);
  cell.check_values(1e-12);
  cell.check_transpose(fits.placed);
  if (!fits.placed) cell.check_gradients(g, 1e-8);
}

TEST_CASE("cells under all layouts of batch, hidden dims and inputs, uneven or at places") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout_value<plane, dims>({.uneven = true, .places = 2}, [&](auto) {
      check_double<nn::lstm_gate>(g, false);
      check_double<nn::gru_gate>(g, false);
    });
  });
}

TEST_CASE("cells under all layouts that come out even") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout_value<plane, dims>({.orders = false}, [&](auto) {
      check_double<nn::lstm_gate>(g, true);
      check_double<nn::gru_gate>(g, true);
    });
  });
}

TEST_CASE("cells in single precision") {
  const auto check = [](const auto& cell, const dm::grid<plane>& g) {
    cell.check_values(2e-6);
    cell.check_gradients(g, 2e-5);
  };
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for_each_layout_value<plane, dims>({.uneven = true, .orders = false, .stride = 2}, [&](auto) {
      check(laid_out<float, nn::lstm_gate>(g, example_of<nn::lstm_gate>(false)), g);
      check(laid_out<float, nn::gru_gate>(g, example_of<nn::gru_gate>(false)), g);
    });
  });
}

/// Calls f() under each of the layouts.
template <class... Rule, class F> void under(dm::layout<plane, Rule...> said, const F& f) {
  const dm::layout_value<plane> rules(said);
  const note text("the layout as a value: ", rules.text());
  const dm::under_layout<plane> now(rules);
  f();
}

template <class Gate> void check_ragged(const dm::grid<plane>& g, const dm::cuts<p>& cuts) {
  const example& e = example_of<Gate>(false);
  const fitting fits(g, e);
  if (!fits.all) return;
  const laid_out<double, Gate> cell(g, e, cuts);
  cell.check_values(1e-12);
  cell.check_transpose(true);
  if (!fits.placed) cell.check_gradients(g, 1e-8, cuts);
}

TEST_CASE("cells of batches in blocks of any lengths, beside what another axis does") {
  using dm::split;
  using dm::uneven;
  using batch = split<dm::ragged<p>, x>;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    std::vector<double> speeds;  // the first rank has nothing
    for (index_t i = 0; i < g.size<x>(); ++i) speeds.push_back(g.size<x>() == 1 ? 1.0 : i);
    const auto cuts = dm::cuts_by_speed<p>(example_of<nn::gru_gate>(false).x.size[0], speeds);
    const auto check = [&] {
      check_ragged<nn::lstm_gate>(g, cuts);
      check_ragged<nn::gru_gate>(g, cuts);
    };
    under(dm::layout<plane, batch>{}, check);
    under(dm::layout<plane, batch, split<uneven<hidden>, y>>{}, check);
    under(dm::layout<plane, batch, split<uneven<from>, y>>{}, check);
    under(dm::layout<plane, batch, split<uneven<in>, y>>{}, check);
    under(dm::layout<plane, batch, dm::placed<y, 1>>{}, check);
  });
}

template <class Gate> void check_refused(const dm::grid<plane>& g, const char* why) {
  const laid_out<double, Gate> cell(g, example_of<Gate>(false));
  CHECK_THROWS_WITH_AS((void)run<Gate>(cell.w, cell.h, cell.c, cell.x, {}), doctest::Contains(why),
                       dm::error);
}

TEST_CASE("layouts in which no step can be computed") {
  using dm::split;
  using dm::uneven;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    under(dm::layout<plane, dm::partial<x>>{}, [&] {
      check_refused<nn::lstm_gate>(g, "partial");
      check_refused<nn::gru_gate>(g, "partial");
    });
    under(dm::layout<plane, split<uneven<q>, y>>{}, [&] {
      check_refused<nn::lstm_gate>(g, "dim_is_split");
      check_refused<nn::gru_gate>(g, "dim_is_split");
    });
    under(dm::layout<plane, split<uneven<nn::lstm_gate>, y>, split<uneven<nn::gru_gate>, x>>{},
          [&] {
            check_refused<nn::lstm_gate>(g, "dim_is_split");
            check_refused<nn::gru_gate>(g, "dim_is_split");
          });
  });
}

}  // namespace
