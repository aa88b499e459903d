// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation of one's own: rows brought to length 1. A rule with its sentence, a loop, a cost,
// and a transpose that reads the lengths which the forward run has found anyway.
//
// ranks: 1 2
#include <cmath>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/plan/probe.hpp>
#include <dimesh/show/events.hpp>
#include <iostream>
#include <numeric>
#include <string>

namespace dm = dimesh;

/// Calls f(number of the row, its begin) for the rows of x, which are `length` elements long.
void each_row(const dm::tensor_core& x, dm::index_t length, const auto& f) {
  for (dm::index_t at = 0; at < x.elements(); at += length) f(at / length, at);
}

/// The cotangent of x: (ybar - y <y, ybar>) / length, from ybar, y and the lengths.
template <class T> struct unit_transpose_op {
  void fill(dm::results xbar, dm::operands in) const {
    const T *ybar = in[0].data<T>(), *y = in[1].data<T>(), *length = in[2].data<T>();
    const dm::index_t n = in[1].local(in[1].rank() - 1);
    each_row(in[1], n, [=, to = xbar[0].data<T>()](dm::index_t row, dm::index_t at) {
      const T dot = std::inner_product(y + at, y + at + n, ybar + at, T{0});
      for (dm::index_t i = at; i < at + n; ++i) to[i] = (ybar[i] - y[i] * dot) / length[row];
    });
  }
  constexpr void cost(dm::cost_counter& c, dm::results xbar, dm::operands in) const {
    c.compute(5 * xbar[0].elements(), xbar.bytes() + bytes_of(in));
  }
};
/// x[rows.., D] -> x / |x|, and the lengths [rows..] for the transpose.
template <class T> struct unit_op {
  void fill(dm::results y, dm::operands x) const {
    const dm::index_t n = x[0].local(x[0].rank() - 1);
    each_row(x[0], n,
             [=, to = y[0].data<T>(), length = y[1].data<T>(), from = x[0].data<T>()](
                 dm::index_t row, dm::index_t at) {
               length[row] =
                   std::sqrt(std::inner_product(from + at, from + at + n, from + at, T{0}));
               for (dm::index_t i = at; i < at + n; ++i) to[i] = from[i] / length[row];
             });
  }
  constexpr void cost(dm::cost_counter& c, dm::results y, dm::operands x) const {
    c.compute(3 * y[0].elements(), y.bytes() + bytes_of(x));
  }
  static constexpr bool needs(int k, unsigned) { return k < 0; }  // reads the result, not x
  constexpr void transpose(const auto& to) const {
    to.give(0, unit_transpose_op<T>{}, to.ybar, to.y(0), to.y(1));
  }
};
/// Lengths are of whole rows, along the last dim: asked of types while compiling, of layouts that
/// are values when the program runs.
template <class D> struct unit_rule : dm::keeps_dims {
  using named = dm::dim_types<D>;
  static constexpr dm::outcome of(dm::rule_operands x, dm::dim_list) {
    const auto& dim = dm::facts_of_dim<D>;
    const int d = x[0].place_of(&dim);
    if (d < 0) return dm::blamed(dm::fault_code::dim_not_in_tensor, &dim);
    if (d != x[0].rank - 1) return dm::blamed(dm::fault_code::dim_not_in_order, &dim);
    if (const int axis = x[0].layout.axis_at(d, 0); axis >= 0)
      return dm::blamed(dm::fault_code::dim_is_split, &dim, axis);
    if (const int axis = x[0].layout.first_partial(); axis >= 0)
      return dm::blamed_axis(dm::fault_code::partial_operand, axis);
    return dm::allowed(x[0].layout);
  }
};
template <class D, dm::Operand X> constexpr auto unit(const X& x) {
  using rule = unit_rule<D>;
  using fault = dm::fault_of<rule, X>;
  static_assert(dm::ok<fault>, "unit: needs whole rows in the last dim; permute, gather, complete");
  if constexpr (!dm::ok<fault> || dm::is_poison<X>)
    return dm::poison{};
  else
    return dm::apply_rules<dm::value_of<X>, rule, dm::sum_rule<D>>(unit_op<dm::value_of<X>>{}, x);
}

struct word : dm::dim<6> {};
struct head : dm::dim<4> {};
struct feature : dm::dim<6> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
template <class L> using heads = dm::tensor<double, L, word, head, feature>;

struct loss {  // <unit(x), c>
  constexpr auto operator()(const auto& x, const auto& c) const {
    return dm::complete(dm::einsum<>(unit<feature>(x), c));
  }
};
template <class L> void check(const dm::grid<line>& g, const char* name) {
  const auto wave = [&](double f) {
    return dm::generate<heads<L>>(g, [f](dm::index_t i, dm::index_t j, dm::index_t k) {
      return std::sin(f * static_cast<double>(24 * i + 6 * j + k + 1));
    });
  };
  const auto x = wave(0.7), c = wave(1.3), step = wave(2.1) * 1e-5;
  const auto [value, gradient] = dm::value_and_grad(loss{}, x)(c);
  const double slope = dm::value(dm::complete(dm::einsum<>(gradient, step)));
  const double rise = dm::value(loss{}(x + step, c)) - dm::value(loss{}(x - step, c));
  const auto cost = dm::count(loss{}, dm::shapes_of(x), dm::shapes_of(c));
  const auto events = dm::events_of(loss{}, dm::shapes_of(x), dm::shapes_of(c));
  if (g.rank() == 0)
    std::cout << name << ": <unit(x), c> = " << dm::value(value) << ", "
              << "rises by " << rise << " (by the gradient: " << 2 * slope << "); " << cost.flops()
              << " flops and " << cost.bytes() << " bytes sent per rank\n"
              << dm::events_table(events);
  if (!(std::abs(rise - 2 * slope) < 1e-7 * std::abs(rise)))
    throw dm::error("custom_operation: the gradient is wrong");
}
/// What a rank computes under each layout of the mesh, or what the rule has against it. The text is
/// compiled once.
void try_all(const dm::grid<line>& g) {
  using any = dm::layout<line, dm::at_run_time>;
  const dm::mesh_sizes<line> sizes(ranks{g.size<ranks>()});
  for (const dm::layout_value<line>& l : dm::all_layouts<line, word, head, feature>()) {
    std::string says;
    try {
      const auto x = dm::probe_of<heads<any>>(l, sizes);
      says = std::to_string(dm::count(loss{}, x, x).flops()) + " flops";
    } catch (const dm::error& e) {
      says = e.what();
    }
    if (g.rank() == 0) std::cout << "under <" << l.text() << ">: " << says << "\n";
    const bool is_whole = l.text().find("feature") == std::string::npos;
    if (is_whole != (says.find("unit: dim_is_split: dim 'feature'") == std::string::npos))
      throw dm::error("custom_operation: the rule is wrong");
  }
}
int main(int argc, char** argv) {
  return dm::run(argc, argv, [] {
    dm::grid<line> g;
    check<dm::layout<line, dm::split<word, ranks>>>(g, "words split");
    check<dm::layout<line, dm::split<head, ranks>>>(g, "heads split");
    try_all(g);
  });
}
