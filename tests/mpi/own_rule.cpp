// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation of one's own with a rule, in public names alone: it runs on types, on layouts that
// are values, with elements and without, and under annotations, as the library's operations do; it
// gives their numbers, costs and refusals.
//
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/operation.hpp>
#include <dimesh/plan/annotate.hpp>
#include <dimesh/plan/runtime_tensor.hpp>
#include <string>
#include <vector>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct width : dm::dim<8> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
using dm::split;
template <class... Rule> using L = dm::layout<pod, Rule...>;
template <class L> using matrix = dm::tensor<double, L, batch, width>;

void each_row(const dm::tensor_core& x, const auto& f) {
  const dm::index_t n = x.local(x.rank() - 1);
  for (dm::index_t at = 0; at < x.elements(); at += n) f(at / n, at, at + n);
}

/// xbar = ybar s + <ybar, x>, row by row.
template <class T> struct times_sum_transpose_op {
  static constexpr bool on_host = true;
  void fill(dm::results xbar, dm::operands in) const {
    const T *ybar = in[0].data<T>(), *x = in[1].data<T>(), *s = in[2].data<T>();
    T* const to = xbar[0].data<T>();
    each_row(in[1], [=](dm::index_t row, dm::index_t from, dm::index_t end) {
      T dot = 0;
      for (dm::index_t i = from; i < end; ++i) dot += ybar[i] * x[i];
      for (dm::index_t i = from; i < end; ++i) to[i] = ybar[i] * s[row] + dot;
    });
  }
  constexpr void cost(dm::cost_counter& c, dm::results xbar, dm::operands in) const {
    c.compute(4 * xbar[0].elements(), xbar.bytes() + bytes_of(in));
  }
};
/// x times the sum s of its row, and s for the transpose.
template <class T> struct times_sum_op {
  static constexpr bool on_host = true;
  void fill(dm::results y, dm::operands in) const {
    const T* const x = in[0].data<T>();
    T *const to = y[0].data<T>(), *const s = y[1].data<T>();
    each_row(in[0], [=](dm::index_t row, dm::index_t from, dm::index_t end) {
      s[row] = 0;
      for (dm::index_t i = from; i < end; ++i) s[row] += x[i];
      for (dm::index_t i = from; i < end; ++i) to[i] = x[i] * s[row];
    });
  }
  constexpr void cost(dm::cost_counter& c, dm::results y, dm::operands x) const {
    c.compute(2 * y[0].elements(), y.bytes() + bytes_of(x));
  }
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    to.give(0, times_sum_transpose_op<T>{}, to.ybar, to.x(0), to.y(1));
  }
};

/// D is the last dim, and whole.
template <class D> struct whole_rows : dm::keeps_dims {
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
template <class D, dm::Operand X> constexpr auto times_sum(const X& x) {
  using rule = whole_rows<D>;
  using fault = dm::fault_of<rule, X>;
  static_assert(dm::ok<fault>, "times_sum: needs whole rows in the last dim");
  if constexpr (!dm::ok<fault> || dm::is_poison<X>)
    return dm::poison{};
  else
    return dm::apply_rules<dm::value_of<X>, rule, dm::sum_rule<D>>(times_sum_op<dm::value_of<X>>{},
                                                                   x);
}

/// Of x and numbers for some of its dims, to which the result belongs.
struct meet_rule {
  template <class X, class C> struct dims {
    using type = C;
  };
  static constexpr dm::outcome of(dm::rule_operands x, dm::dim_list out) {
    const dm::outcome both = dm::join_rule(dm::join_kind::nonlinear, x, x[0].dims());
    return both.ok() ? dm::allowed(dm::table_over_dims(both.layout, x[0].dims(), out)) : both;
  }
};

// ---- types --------------------------------------------------------------------------------------

using by_batch = L<split<batch, rows>>;
template <class L> using fault = dm::fault_of<whole_rows<width>, matrix<L>>;
static_assert(std::is_same_v<fault<by_batch>, dm::no_fault>);
static_assert(std::is_same_v<fault<L<split<width, cols>>>, dm::dim_is_split<width, cols>>);
static_assert(std::is_same_v<fault<L<dm::partial<rows>>>, dm::partial_operand<rows>>);
static_assert(
    std::is_same_v<dm::fault_of<whole_rows<batch>, matrix<by_batch>>, dm::dim_not_in_order<batch>>);
static_assert(std::is_same_v<dm::fault_of<whole_rows<width>, dm::tensor<double, by_batch, batch>>,
                             dm::dim_not_in_tensor<width>>);
static_assert(std::is_same_v<dm::fault_of<whole_rows<width>, dm::poison>, dm::no_fault>);
static_assert(dm::is_poison<decltype(times_sum<width>(dm::poison{}))>);
static_assert(
    std::is_same_v<decltype(times_sum<width>(matrix<dm::shaped<L<split<batch, rows, cols>>>>{})),
                   matrix<dm::shaped<L<split<batch, rows, cols>>>>>);
static_assert(
    std::is_same_v<dm::fault_of<meet_rule, matrix<by_batch>, dm::tensor<double, L<>, batch>>,
                   dm::dim_split_in_one_operand_only<batch, rows>>);
static_assert(std::is_same_v<dm::fault_of<dm::elementwise_rule<dm::join_kind::sum>,
                                          matrix<L<dm::partial<cols>>>, matrix<L<>>>,
                             dm::partial_meets_replicated<cols>>);

// ---- annotations --------------------------------------------------------------------------------

/// What is said of the result holds of the operand, through the rule; the rows stay whole.
struct annotated {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::shard<split<batch, cols>>(times_sum<width>(x));
  }
};
using found = dm::inferred<annotated, dm::probe<double, pod, batch, width>>;
static_assert(std::is_same_v<found::layout, L<split<batch, cols>>>);
static_assert(std::is_same_v<found::moves, dm::inserted<>>);

// ---- values, gradients, costs -------------------------------------------------------------------

struct own {
  constexpr auto operator()(const auto& x, const auto& c) const {
    return dm::complete(dm::sum(times_sum<width>(x) * c));
  }
};
struct composed {
  constexpr auto operator()(const auto& x, const auto& c) const {
    return dm::complete(dm::sum(x * dm::sum<width>(x) * c));
  }
};
template <class F> struct step {
  constexpr auto operator()(const auto& x, const auto& c) const {
    return dm::complete(dm::value_and_grad(F{}, x)(c));
  }
};

constexpr auto number = [](dm::index_t i, dm::index_t j) {
  return static_cast<double>((3 * i + 5 * j) % 7);
};
constexpr auto weight = [](dm::index_t i, dm::index_t j) {
  return static_cast<double>((i + 2 * j) % 5 - 2);
};

/// The loss, then the gradient's elements on the first rank.
template <class X, class F>
std::vector<double> loss_and_gradient(const dm::grid<pod>& g, const F& f) {
  const auto [loss, gradient] = f(dm::generate<X>(g, number), dm::generate<X>(g, weight));
  std::vector<double> all{dm::value(loss)};
  const auto elements = dm::to_rank(gradient);
  all.insert(all.end(), elements.begin(), elements.end());
  return all;
}
std::string what_of(const auto& f) {
  try {
    (void)f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return "";
}
bool begins(const std::string& text, std::string_view how) { return text.starts_with(how); }

template <class F> void on_planes(const F& f) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n <= ranks; ++n)
    if (ranks % n == 0) {
      const dm::grid<pod> g(rows{n});
      f(g);
    }
}

}  // namespace

TEST_CASE("an operation of one's own under every layout of a plane, which is a value") {
  on_planes([](const dm::grid<pod>& g) {
    const std::vector<double> expected = loss_and_gradient<matrix<L<>>>(g, step<composed>{});
    CHECK(loss_and_gradient<matrix<by_batch>>(g, step<own>{}) == expected);
    int refused = 0, ran = 0;
    for (const dm::layout_value<pod>& l : dm::all_layouts<pod, batch, width>()) {
      const std::string text = l.text();
      CAPTURE(text);
      const dm::under_layout here(l);
      const auto at_run_time = [&] {
        return loss_and_gradient<dm::runtime_tensor<double, pod, batch, width>>(g, step<own>{});
      };
      if (text.find("width") == std::string::npos) {
        CHECK(at_run_time() == expected);
        ++ran;
      } else {
        CHECK(begins(what_of(at_run_time), "times_sum: dim_is_split: dim 'width' is split over "));
        ++refused;
      }
    }
    CHECK(ran == 5);
    CHECK(refused == 6);
  });
}

TEST_CASE("an operation of one's own on probes costs what it costs on types") {
  on_planes([](const dm::grid<pod>& g) {
    const dm::mesh_sizes<pod> sizes(rows{g.size<rows>()}, cols{g.size<cols>()});
    const auto probe = [&](const dm::layout_value<pod>& l) {
      return dm::probe_of<dm::probe<double, pod, batch, width>>(l, sizes);
    };
    const matrix<dm::shaped<by_batch>> shape(sizes);
    const auto typed = dm::count(step<own>{}, shape, shape);
    const auto x = probe(dm::layout_value<pod>(by_batch{}));
    const auto probed = dm::count(step<own>{}, x, x);
    CHECK(probed.flops() == typed.flops());
    CHECK(probed.moved() == typed.moved());
    CHECK(probed.bytes<>() == typed.bytes<>());
    CHECK(probed.peak() == typed.peak());
    CHECK(what_of([&] { return times_sum<batch>(x); }) ==
          "times_sum: dim_not_in_order: dim 'batch' has no place in the order of dims, or another "
          "one");
    CHECK(what_of([&] { return times_sum<width>(dm::sum<batch>(x)); }) ==
          "times_sum: partial_operand: an operand is a sum yet to be made along axis 'rows'");
  });
}
