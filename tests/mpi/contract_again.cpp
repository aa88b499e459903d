// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of products whose operands go by in blocks or panels: they take no more memory than
// the product does, not that of an operand gathered whole; and they can be differentiated again, to
// what the gradient of the same product with gathered operands gives.
//
// ranks: 1 2 3 4
// checks: 80 132 132 196
// labels: device
#include <doctest/doctest.h>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/vjp.hpp"
#include "dimesh/memory/pool.hpp"
#include "dimesh/op/complex.hpp"
#include "dimesh/op/contract.hpp"
#include "dimesh/op/parts/panels_pull.hpp"
#include "dimesh/op/parts/panels_sent.hpp"
#include "dimesh/op/to_rank.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace by = dm::by;

template <class D, class A> using cut = dm::split<dm::uneven<D>, A>;
template <class M, class... R> using L = dm::layout<M, R...>;
using rows_of_q = L<line, cut<q, x>>;
using blocks_of_p = L<plane, cut<p, x>, cut<q, y>>;
using blocks_of_r = L<plane, cut<q, x>, cut<r, y>>;

// ---- memory -------------------------------------------------------------------------------------

/// The most bytes that a call takes beside what is alive when it begins: scratch, as a tape has
/// room for cotangents already.
template <class F> dm::index_t taken_by(const F& f) {
  dm::detail::pool& memory = dm::detail::pool::instance();
  memory.restart_peak();
  const dm::index_t before = memory.figures().live;
  [[maybe_unused]] const auto kept = f();
  return memory.figures().peak - before;
}
/// q is long. Most, for each operand: how many of its elements may be in memory while its cotangent
/// is made, eight of the other dim each; of an operand gathered along both axes there are 480.
template <class Schedule, class LX, class LY, class M>
void check_memory(const dm::grid<M>& g, dm::index_t most_v, dm::index_t most_w) {
  const index_t n = 8, deep = 480;
  const auto v = scattered<dm::tensor<double, LX, p, q>>(g, numbers({"p", "q"}, {n, deep}, 1));
  const auto w = scattered<dm::tensor<double, LY, q, r>>(g, numbers({"q", "r"}, {deep, n}, 2));
  const auto f = [](const auto& i, const auto& j) { return dm::contract<Schedule, p, r>(i, j); };
  using L = typename decltype(f(v, w))::layout_type;
  const auto ybar =
      scattered<dm::tensor<double, dm::gradient<L>, p, r>>(g, numbers({"p", "r"}, {n, n}, 3));
  const auto check = [&](auto&& run, dm::index_t most) {
    const dm::index_t taken = taken_by([&] { return run.pullback(ybar); });
    CHECK(taken <= most * n * 8);
    CHECK((g.everyone().size() == 1 || taken > 0));
  };
  check(dm::vjp([&](const auto& i) { return f(i, w); }, v), most_v);
  check(dm::vjp([&](const auto& j) { return f(v, j); }, w), most_w);
}
TEST_CASE("a gradient gathers no operand: panels of both, and sums of them") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    const index_t most = 6 * 8;  // two panels, two addends, two sums
    check_memory<by::summa<x, y, 8>, blocks_of_p, blocks_of_r>(g, most, most);
  });
}
TEST_CASE("a gradient gathers no operand: blocks that go round, and sums for each") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const index_t block = 480 / g.everyone().size();  // of w, which goes round
    check_memory<by::ring<x>, L<line, cut<p, x>>, rows_of_q>(g, 2 * block, 3 * block);
  });
}

// ---- gradients of gradients ---------------------------------------------------------------------

template <class LX, class LY> struct factors {
  BOOST_HANA_DEFINE_STRUCT(factors, (dm::tensor<double, LX, p, q>, v),
                           (dm::tensor<double, LY, q, r>, w));
};
template <class Schedule> struct product {
  static constexpr auto of(const auto& v, const auto& w) {
    return dm::contract<Schedule, p, r>(v, w);
  }
};
template <class Schedule> struct complex_product {
  static constexpr auto of(const auto& v, const auto& w) {
    const auto y = dm::contract<Schedule, p, r>(dm::as_complex(v, v * 2.0), dm::as_complex(w, -w));
    return dm::real(y) - dm::imag(y) * 2.0;
  }
};
/// The squared norm of the gradient of a product's squared norm, by both factors.
template <class Product> struct norm_of_gradient {
  static constexpr auto squared(const auto& a) { return dm::complete(dm::einsum<>(a, a)); }
  template <class F> constexpr auto operator()(const F& factors) const {
    const auto loss = [](const auto& f) { return squared(dm::complete(Product::of(f.v, f.w))); };
    const auto [value, g] = dm::complete(dm::value_and_grad(loss, factors)());
    return squared(g.v) + squared(g.w) * 2.0;
  }
};
/// Numbers are whole, and sums of them exact.
template <template <class> class Product, class Schedule, class LX, class LY, class M>
void check_again(const dm::grid<M>& g) {
  for (const extents& n : {extents{4, 6, 2}, extents{3, 5, 4}, extents{1, 2, 3}}) {
    const factors<LX, LY> f{
        scattered<dm::tensor<double, LX, p, q>>(g, numbers({"p", "q"}, {n[0], n[1]}, 1)),
        scattered<dm::tensor<double, LY, q, r>>(g, numbers({"q", "r"}, {n[1], n[2]}, 2))};
    const auto gradient = [&f](auto product) {
      return dm::complete(dm::value_and_grad(norm_of_gradient<decltype(product)>{}, f)());
    };
    const auto here = gradient(Product<Schedule>{}), right = gradient(Product<by::gather>{});
    CHECK(dm::value(right.value) > 0);
    CHECK(dm::value(here.value) == dm::value(right.value));
    CHECK(dm::to_rank(here.gradient.v) == dm::to_rank(right.gradient.v));
    CHECK(dm::to_rank(here.gradient.w) == dm::to_rank(right.gradient.w));
  }
}
TEST_CASE("differentiated again: a ring, of which either operand goes round") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    check_again<product, by::ring<x>, L<line, cut<p, x>>, L<line, cut<r, x>>>(g);
    check_again<product, by::ring<x>, L<line, cut<q, x>>, L<line, cut<r, x>>>(g);
    check_again<complex_product, by::ring<x>, L<line, cut<p, x>>, L<line, cut<r, x>>>(g);
  });
}
TEST_CASE("differentiated again: panels, on a plane and with a spare axis") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    check_again<product, by::summa<x, y, 2>, blocks_of_p, blocks_of_r>(g);
    check_again<complex_product, by::summa<x, y, 2>, blocks_of_p, blocks_of_r>(g);
  });
  for_each_grid<cube>([](const dm::grid<cube>& g) {
    using LX = L<cube, cut<p, x>, cut<q, y>>;
    check_again<product, by::summa<x, y, 2, z>, LX, L<cube, cut<q, x>, cut<r, y>>>(g);
  });
}

}  // namespace
