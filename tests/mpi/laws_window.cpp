// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and their transposes: against whole arrays under every layout that their rule
// allows, with strides, dilations, paddings, groups; their gradients and costs; and what only the
// run refuses.
// ranks: 1 2 4
// labels: local sanitize_all
#include "dimesh/op/convolution.hpp"

#include <doctest/doctest.h>

#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

struct high : dm::dim<> {};
struct wide : dm::dim<> {};
struct deep : dm::dim<> {};
struct tall : dm::dim<> {};  // taps
struct broad : dm::dim<> {};
struct thick : dm::dim<> {};
struct rows : dm::dim<> {};  // results
struct columns : dm::dim<> {};
struct layers : dm::dim<> {};
struct four : dm::dim<4> {};

/// A window for the oracle: o sees stride o + dilation t - before.
struct seen {
  std::string from, tap, to;
  index_t stride, dilation, before, results;
};

/// The dims and extents of the result and of all that is summed; then the value there.
array convolved(const names& out, const array& x, const array& w, const std::vector<seen>& v) {
  array all = union_of({x, w});
  for (const seen& s : v) {
    const auto at = static_cast<std::size_t>(all.place(s.from));
    all.dims[at] = s.to, all.size[at] = s.results;
  }
  names order = out;
  for (const std::string& d : all.dims)
    if (std::find(out.begin(), out.end(), d) == out.end()) order.push_back(d);
  extents kept, summed;
  for (std::size_t d = 0; d < order.size(); ++d)
    (d < out.size() ? kept : summed).push_back(all.size[static_cast<std::size_t>(all.place(order[d]))]);
  return make(out, kept, [&](const extents& at) {
    double sum = 0;
    for_each_index(summed, [&](const extents& under) {
      extents index = at;
      index.insert(index.end(), under.begin(), under.end());
      names in_x = order;
      extents at_x = index;
      for (const seen& s : v) {
        const auto o = std::find(order.begin(), order.end(), s.to) - order.begin();
        const auto t = std::find(order.begin(), order.end(), s.tap) - order.begin();
        const index_t i = s.stride * index[static_cast<std::size_t>(o)] +
                          s.dilation * index[static_cast<std::size_t>(t)] - s.before;
        if (i < 0 || i >= x.size[static_cast<std::size_t>(x.place(s.from))]) return;
        in_x[static_cast<std::size_t>(o)] = s.from;
        at_x[static_cast<std::size_t>(o)] = i;
      }
      sum += value_at(x, in_x, at_x) * value_at(w, order, index);
    });
    return sum;
  });
}

/// What a window does along one dim, and what it must give.
struct move {
  index_t n, taps, stride, dilation;
  dm::padding around;
  index_t before, results;
};
const std::vector<move> moves = {
    {6, 3, 1, 1, dm::padding::valid, 0, 4}, {6, 3, 1, 1, dm::padding::same, 1, 6},
    {7, 2, 2, 1, dm::padding::same, 0, 4},  {5, 4, 1, 1, dm::padding::same, 1, 5},
    {7, 3, 2, 2, {2, 3}, 2, 4},             {4, 1, 3, 1, dm::padding::valid, 0, 2},
    {2, 3, 1, 1, {3, 4}, 3, 7},             {2, 3, 1, 1, dm::padding::valid, 0, 0},
};

template <class L, class Grid> void check_line(const Grid& g, const move& m, bool adjoint) {
  const array a = numbers({"p", "high", "q"}, {3, m.n, 4}, 1);
  const array b = numbers({"tall", "q", "r"}, {m.taps, 4, 2}, 2);
  const auto v = scattered<dm::tensor<double, L, p, high, q>>(g, a);
  const auto w = scattered<dm::tensor<double, L, tall, q, r>>(g, b);
  const auto f = [&](const auto& s, const auto& t) {
    return dm::convolution<p, rows, r>(
        s, t, dm::window<high, tall, rows>{m.stride, m.dilation, m.around});
  };
  const std::vector<seen> one = {
      {"high", "tall", "rows", m.stride, m.dilation, m.before, m.results}};
  CHECK(agrees(f(v, w), convolved({"p", "rows", "r"}, a, b, one)));
  if (adjoint) check_operation(f, {}, {a, b}, v, w);
}

TEST_CASE("a window over one dim, in every layout of the other ones") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dd::list<p, q, r>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      INFO("layout ", std::string(dd::spelled<L>()));
      for (std::size_t i = 0; i < moves.size(); ++i) {
        INFO("window ", i);
        check_line<L>(g, moves[i], i < 5);
      }
    });
  });
}
}  // namespace
