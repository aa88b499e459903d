// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// Orders along a dim that ranks split: beside std::stable_sort of whole arrays under every layout,
// few elements and many, skewed and all equal; the greatest few and the n-th; what travels;
// transposes and costs; and what only the run refuses.
#include "dimesh/op/top_k_all_gather.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "dimesh/create.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/parts/sorted_lines.hpp"
#include "dimesh/op/reduce.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

struct three : dm::dim<3> {};
constexpr auto down = dm::order::descending;

/// The places of a line in order, NaN the greatest.
std::vector<index_t> order_of(const std::vector<double>& line, bool descending) {
  std::vector<index_t> at(line.size());
  std::iota(at.begin(), at.end(), index_t{0});
  const auto less = [](double a, double b) { return a < b || (!std::isnan(a) && std::isnan(b)); };
  std::stable_sort(at.begin(), at.end(), [&](index_t i, index_t k) {
    const double a = line[static_cast<std::size_t>(i)], b = line[static_cast<std::size_t>(k)];
    return descending ? less(b, a) : less(a, b);
  });
  return at;
}
/// a[p, q]: the first n along q in order, or their places, called `name`.
array in_order(const array& a, index_t n, bool descending, bool of_places,
               const std::string& name) {
  array y{{"p", name}, {a.size[0], n}, {}};
  for (index_t i = 0; i < a.size[0]; ++i) {
    const auto from = a.values.begin() + i * a.size[1];
    const std::vector<double> line(from, from + a.size[1]);
    const std::vector<index_t> order = order_of(line, descending);
    for (index_t k = 0; k < n; ++k) {
      const index_t at = order[static_cast<std::size_t>(k)];
      y.values.push_back(of_places ? static_cast<double>(at) : line[static_cast<std::size_t>(at)]);
    }
  }
  return y;
}
/// The n-th of every line.
array nth_of(const array& a, index_t n) {
  const array all = in_order(a, n + 1, true, false, "q");
  return make({"p"}, {a.size[0]},
              [&](const extents& at) { return value_at(all, all.dims, {at[0], n}); });
}

template <class X> void check_orders(const X& v, const array& a) {
  const index_t n = a.size[1];
  CHECK(agrees(dm::sort_all_to_all<q>(v), in_order(a, n, false, false, "q")));
  CHECK(agrees(dm::sort_all_to_all<q>(v, down), in_order(a, n, true, false, "q")));
  CHECK(agrees(dm::argsort_all_to_all<q>(v), in_order(a, n, false, true, "q")));
  CHECK(agrees(dm::argsort_all_to_all<q>(v, down), in_order(a, n, true, true, "q")));
  if (n >= 3) {
    const auto best = dm::top_k_all_gather<q, three>(v);
    CHECK(agrees(best.values, in_order(a, 3, true, false, "three")));
    CHECK(agrees(best.places, in_order(a, 3, true, true, "three")));
  }
  for (const index_t k : {index_t{0}, n / 2, n - 1})
    if (k >= 0 && k < n) CHECK(agrees(dm::nth_largest_all_gather<q>(v, k), nth_of(a, k)));
}

TEST_CASE("orders over ranks: of equals the first, under every layout") {
  for_each_case<plane, unevenly, p, q>({{4, 6}, {5, 3}, {3, 11}, {0, 4}, {3, 0}},
                                       [](auto v, const array& a) { check_orders(v, a); });
}

/// Lines that samples tell badly.
using filling = double (*)(index_t line, index_t i, index_t n);
constexpr filling fillings[] = {
    [](index_t, index_t, index_t) { return 3.0; },                            // all equal
    [](index_t l, index_t i, index_t n) { return double((n - i) * (l + 1)); },  // backwards
    [](index_t, index_t i, index_t n) { return i < n / 2 ? 0.0 : double(i); },
    [](index_t, index_t i, index_t) { return double(i % 7 == 3 ? -i : 1); },
    [](index_t l, index_t i, index_t) { return double((i * 7919 + l) % 104729 % 1009); },
    [](index_t, index_t i, index_t n) { return std::exp(double(i * 31 % n) / 20); },
    [](index_t, index_t i, index_t) { return i % 5 == 0 ? std::nan("") : double(-(i % 9)); },
};

TEST_CASE("orders over ranks: many elements, skewed, equal, with NaN") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for (const index_t n : {index_t{257}, index_t{1200}})
      for (const filling f : fillings) {
        const array a =
            make({"p", "q"}, {2, n}, [&](const extents& at) { return f(at[0], at[1], n); });
        using split = dm::layout<plane, dm::split<dm::uneven<q>, y, x>>;
        check_orders(scattered<dm::tensor<double, split, p, q>>(g, a), a);
      }
  });
}

TEST_CASE("orders over ranks: other types, other places of the dim") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = numbers({"p", "q"}, {2, 13}, 3);
    using split = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    check_orders(scattered<dm::tensor<float, split, p, q>>(g, a), a);
    check_orders(scattered<dm::tensor<std::int32_t, split, p, q>>(g, a), a);
    check_orders(scattered<dm::tensor<dm::bfloat16, split, p, q>>(g, a), a);
    const auto turned = scattered<dm::tensor<double, split, q, p>>(g, transpose({"q", "p"}, a));
    CHECK(agrees(dm::sort_all_to_all<q>(turned),
                 transpose({"q", "p"}, in_order(a, 13, false, false, "q"))));
    CHECK(agrees(dm::argsort_all_to_all<q>(turned),
                 transpose({"q", "p"}, in_order(a, 13, false, true, "q"))));
    const auto best = dm::top_k_all_gather<q, r>(turned, r{4});
    CHECK(agrees(best.values, transpose({"r", "p"}, in_order(a, 4, true, false, "r"))));
    CHECK(agrees(best.places, transpose({"r", "p"}, in_order(a, 4, true, true, "r"))));
    CHECK(agrees(dm::nth_largest_all_gather<q>(turned, 5), nth_of(a, 5)));
  });
}

TEST_CASE("orders over ranks: bits stay, also those of a zero's sign") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    const array a = make({"q"}, {5}, [](const extents&) { return -0.0; });
    const auto v = scattered<dm::tensor<double, L, q>>(g, a);
    const auto best = dm::top_k_all_gather<q, r>(v, r{2}).values;
    CHECK(std::signbit(test_support::on_host(best)[0]));
    CHECK(std::signbit(test_support::on_host(dm::nth_largest_all_gather<q>(v, 4))[0]));
  });
}

/// Values such that each rank has as many elements for each other one.
array shuffled_evenly(index_t lines, index_t ranks, index_t each) {
  const index_t n = ranks * each;
  return make({"p", "q"}, {lines, n}, [&](const extents& at) {
    return static_cast<double>(at[1] % each * ranks + at[1] / each + n * at[0]);
  });
}

TEST_CASE("orders over ranks: transposes, and costs as foreseen") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const index_t ranks = g.state().sizes()[0];
    using L = dm::layout<line, dm::split<q, x>>;
    const array a = shuffled_evenly(3, ranks, 2 * ranks);
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
    check_operation([](const auto& t) { return dm::sort_all_to_all<q>(t); }, smooth, {a}, v);
    check_operation([](const auto& t) { return dm::sort_all_to_all<q>(t, down); }, smooth, {a}, v);
    check_operation([](const auto& t) { return dm::top_k_all_gather<q, q>(t, q{2}).values; },
                    smooth, {a}, v);
    check_operation([](const auto& t) { return dm::top_k_all_gather<q, r>(t, r{2}).values; },
                    smooth, {a}, v);
    check_operation([](const auto& t) { return dm::nth_largest_all_gather<q>(t, 1); }, smooth, {a},
                    v);
    CHECK(costs_as_foreseen([](const auto& t) { return dm::argsort_all_to_all<q>(t); }, v));
  });
}

TEST_CASE("orders over ranks: calls are foreseen where the first rank has no elements") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    std::vector<index_t> lengths(static_cast<std::size_t>(g.state().sizes()[0]), 0);
    lengths.back() = 5;
    using L = dm::layout<line, dm::split<dm::ragged<q>, x>>;
    const auto v =
        scattered<dm::tensor<double, L, q>>(g, numbers({"q"}, {5}, 3), dm::cuts<q>(lengths));
    const auto as_many_calls = [&](const auto& f) {
      census::reset();
      [[maybe_unused]] const auto y = f(v);
      const auto seen = census::snapshot();
      CHECK(seen.calls() == dm::count(f, v).template calls<>());
    };
    as_many_calls([](const auto& t) { return dm::sort_all_to_all<q>(t); });
    as_many_calls([](const auto& t) { return dm::argsort_all_to_all<q>(t); });
    as_many_calls([](const auto& t) {
      const auto loss = [](const auto& u) { return dm::sum(dm::sort_all_to_all<q>(u)); };
      return dm::value_and_grad(loss, t)();
    });
  });
}

TEST_CASE("orders over ranks: gradients under every layout") {
  for_each_case<plane, unevenly, p, q>({{3, 11}}, [](auto v, const array&) {
    const array b = reals({"p", "q"}, {3, 11}, 3);
    const auto t = scattered<decltype(v)>(v.grid(), b);
    const auto check = [&](const auto& f) {
      for (const unsigned once : {0u, ~0u}) {
        const operation_report report = run_adjoint(f, once, 1e-4, {b}, t);
        CHECK(std::abs(report.tangent - report.cotangent) <=
              1e-6 * std::max(1.0, std::abs(report.tangent)));
      }
    };
    check([](const auto& u) { return dm::sort_all_to_all<q>(u); });
    check([](const auto& u) { return dm::top_k_all_gather<q, r>(u, r{4}).values; });
    check([](const auto& u) { return dm::nth_largest_all_gather<q>(u, 5); });
  });
}

struct much : dm::dim<4096> {};
struct four : dm::axis<4> {};
struct ring : dm::mesh<four> {};
struct sorting {
  template <class V> constexpr auto operator()(const V& v) const {
    return dm::sort_all_to_all<much>(v);
  }
};
struct finding {
  template <class V> constexpr auto operator()(const V& v) const {
    return dm::top_k_all_gather<much, three>(v).values;
  }
};
using much_of_it = dm::tensor<float, dm::shaped<dm::layout<ring, dm::split<much, four>>>, much>;
// Three quarters of a block of 1024 travel, and 64 samples at least are told to three others.
static_assert(dm::cost_of<sorting, much_of_it>.template ring_bytes<four> >= 768 * 4 + 3 * 64 * 4);
// Three values and places to each of three others; and an all-reduce of three values.
static_assert(dm::cost_of<finding, much_of_it>.template ring_bytes<four> ==
              3 * 3 * (4 + 4) + 2 * 3 * 12 / 4);

/// Bytes that this rank handed to MPI in one kind of collective.
template <class F> index_t bytes_sent(census::operation what, const F& f) {
  census::reset();
  f();
  index_t bytes = 0;
  for (const auto& [key, t] : census::snapshot().entries)
    if (key.first == what) bytes += static_cast<index_t>(t.bytes);
  return bytes;
}

TEST_CASE("sort_all_to_all: an element travels if it changes rank, and few are told") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const index_t ranks = g.state().sizes()[0], n = 9001, block = (n + ranks - 1) / ranks;
    using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    for (const filling f : fillings) {
      const array a = make({"q"}, {n}, [&](const extents& at) { return f(0, at[0], n); });
      const auto v = scattered<dm::tensor<double, L, q>>(g, a);
      const std::vector<index_t> order = order_of(a.values, false);
      index_t leaving = 0;
      for (index_t k = 0; k < n; ++k) {
        const index_t from = order[static_cast<std::size_t>(k)] / block;
        leaving += from == g.rank() && from != k / block;
      }
      const auto sort = [&] { [[maybe_unused]] const auto y = dm::sort_all_to_all<q>(v); };
      CHECK(bytes_sent(census::operation::all_to_all, sort) == leaving * 8);
      // Samples, and what lies between two for each of ranks - 1 cuts.
      const index_t told = bytes_sent(census::operation::all_gather, sort) / 8;
      CHECK(told <= (ranks == 1 ? 0 : 64 * ranks * ranks));
      const auto top = [&] { [[maybe_unused]] const auto y = dm::top_k_all_gather<q, three>(v); };
      CHECK(bytes_sent(census::operation::all_gather, top) == (ranks == 1 ? 0 : 3 * (8 + 4)));
    }
  });
}

TEST_CASE("orders over ranks: what there is not") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto said = [](const auto& f) -> std::string {
      try {
        f();
      } catch (const dm::error& e) {
        return e.what();
      }
      return "nothing";
    };
    using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    const auto v = dm::zeros<dm::tensor<double, L, q>>(g, q{2});
    CHECK(said([&] { (void)dm::top_k_all_gather<q, three>(v); }) ==
          "top_k_all_gather: 3 greatest of dim 'q', which has 2 elements");
    CHECK(said([&] { (void)dm::nth_largest_all_gather<q>(v, 2); }) ==
          "nth_largest_all_gather: element 2 in the order of dim 'q', which has 0..1");
    const dm::shaped_tensor<double, L, q> much(dm::mesh_sizes<line>{x{g.state().sizes()[0]}},
                                               q{index_t{1} << 40});
    CHECK(said([&] { (void)dm::argsort_all_to_all<q>(much); }) ==
          "argsort_all_to_all: dim 'q' has 1099511627776 elements, more than places in int32 can "
          "tell");
    const index_t ranks = g.state().sizes()[0], block = ((index_t{1} << 40) + ranks - 1) / ranks;
    CHECK(said([&] { (void)dm::sort_all_to_all<q>(much); }) ==
          "sort_all_to_all: dim 'q' has " + std::to_string(block) +
              " elements on a rank, more than places in int32 can tell");
    const dm::shaped_tensor<double, dm::layout<line>, q> whole(dm::mesh_sizes<line>{x{ranks}},
                                                               q{index_t{1} << 31});
    const std::string says =
        ": dim 'q' has 2147483648 elements, more than places in int32 can tell";
    CHECK(said([&] { (void)dm::sort<q>(whole); }) == "sort" + says);
    CHECK(said([&] { (void)dm::argsort<q>(whole); }) == "argsort" + says);
    CHECK(said([&] { (void)dm::top_k<q, three>(whole); }) == "top_k" + says);
    CHECK(said([&] { (void)dm::nth_largest<q>(whole, 0); }) == "nth_largest" + says);
  });
}

}  // namespace
