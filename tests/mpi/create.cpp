// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// checks: 829 1377 1267 1859
#include "dimesh/create.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "support/host.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

namespace dm = dimesh;
namespace ts = test_support;
using dm::index_t;
using ts::cube;
using ts::p;
using ts::plane;
using ts::q;
using ts::r;

int ranks() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

/// Is this rank's element of a partial tensor the one that counts?
template <class X> bool counts(const X& x) {
  for (int a = 0; a < X::mesh_type::rank; ++a)
    if (dm::spec_of<X>::table.is_partial(a) && x.grid().state().coords()[a] != 0) return false;
  return true;
}

template <class X, class Want> void check_elements(const X& x, const Want& want) {
  index_t wrong = 0;
  ts::detail::for_each_element(
      ts::detail::holding_of(x), [&](std::size_t at, const ts::extents& i) {
        const auto value = counts(x) ? static_cast<dm::value_of<X>>(want(i)) : dm::value_of<X>{};
        wrong += test_support::on_host(x)[at] != value;
      });
  CHECK(wrong == 0);
}

struct three {
  KOKKOS_FUNCTION double operator()(index_t i, index_t j, index_t k) const {
    return 10000.0 * i + 100.0 * j + k;
  }
};
double sum_of(index_t i, index_t j) { return static_cast<double>(10 * i + j); }
double at3(const ts::extents& i) { return 10000.0 * i[0] + 100.0 * i[1] + i[2]; }

}  // namespace

TEST_CASE("generate: every layout holds f of the global indices") {
  ts::for_each_layout<plane, dm::detail::list<p, q, r>, ts::unevenly_with_partial>([](auto t) {
    using L = typename decltype(t)::type;
    using X = dm::tensor<double, L, p, q, r>;
    ts::for_each_sizes<plane>(ranks(), [](const auto& sizes) {
      const dm::grid<plane> g(ts::x{sizes[0]}, ts::y{sizes[1]});
      for (index_t n : {0, 1, 5}) {
        const auto x = dm::generate<X>(g, three{}, r{3}, p{n}, q{4});
        REQUIRE(x.template extent<p>() == n);
        check_elements(x, at3);
      }
      check_elements(dm::zeros<X>(g, p{5}, q{4}, r{3}), [](const auto&) { return 0.0; });
      check_elements(dm::constant<X>(g, 2.5, p{5}, q{4}, r{3}), [](const auto&) { return 2.5; });
    });
  });
}

TEST_CASE("generate: by a function that is no object, given by its name or its address") {
  using X = dm::tensor<double, dm::layout<plane, dm::split<dm::uneven<p>, ts::x>>, p, q>;
  const dm::grid<plane> g(ts::x{ranks()}, ts::y{1});
  const auto at2 = [](const ts::extents& i) { return 10.0 * i[0] + i[1]; };
  check_elements(dm::generate<X>(g, sum_of, p{5}, q{4}), at2);
  check_elements(dm::generate<X>(g, &sum_of, p{5}, q{4}), at2);
}

TEST_CASE("from_array, from_blocks: every rank takes its part") {
  ts::for_each_layout<plane, dm::detail::list<p, q>, ts::unevenly_with_partial>([](auto t) {
    using L = typename decltype(t)::type;
    using X = dm::tensor<int, L, q, p>;
    ts::for_each_sizes<plane>(ranks(), [](const auto& sizes) {
      const dm::grid<plane> g(ts::x{sizes[0]}, ts::y{sizes[1]});
      std::vector<int> whole;
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 5; ++j) whole.push_back(10 * i + j + 1);
      const auto x = dm::from_array<X>(g, whole, p{5}, q{6});
      check_elements(x, [](const ts::extents& i) { return 10 * i[0] + i[1] + 1; });
      std::vector<int> block(static_cast<std::size_t>(x.local_size()), 7);
      const auto y = dm::from_blocks<X>(g, block, x.shape());
      for (index_t k = 0; k < y.local_size(); ++k) CHECK(test_support::on_host(y)[k] == 7);
      CHECK_THROWS_AS((void)dm::from_array<X>(g, whole, p{5}, q{7}), dm::error);
      block.push_back(1);
      CHECK_THROWS_AS((void)dm::from_blocks<X>(g, block, x.shape()), dm::error);
    });
  });
}

TEST_CASE("scalars: creation works without dims") {
  const dm::grid<ts::line> g;
  using L = dm::layout<ts::line>;
  struct five {
    KOKKOS_FUNCTION float operator()() const { return 5; }
  };
  CHECK(test_support::on_host(dm::generate<dm::tensor<float, L>>(g, five{}))[0] == 5);
  CHECK(test_support::on_host(dm::constant<dm::tensor<float, L>>(g, 4))[0] == 4);
  const std::vector<float> one{3};
  CHECK(test_support::on_host(dm::from_array<dm::tensor<float, L>>(g, one))[0] == 3);
  const float drawn =
      test_support::on_host(dm::uniform<dm::tensor<float, L>>(g, dm::random_key{1}, 2, 3))[0];
  CHECK(drawn == 2 + dm::uniform_at<float>(dm::random_key{1}, 0));
}

namespace {
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, p, q>, w),
                           (std::array<dm::tensor<double, L, q>, 2>, b));
};
}  // namespace

TEST_CASE("structs: made, cleared and copied in form as a whole") {
  const dm::grid<ts::line> g;
  using L = dm::layout<ts::line, dm::split<dm::uneven<p>, ts::x>>;
  auto n = dm::constant<network<L>>(g, 3, p{7}, q{2});
  CHECK(n.b[1].local_size() == 2);
  CHECK(test_support::on_host(n.b[1])[1] == 3);
  const auto z = dm::zeros_like(n);
  CHECK(test_support::on_host(z.b[1])[1] == 0);
  CHECK(z.b[1].data() != n.b[1].data());
  CHECK(test_support::on_host(n.b[1])[1] == 3);
  CHECK(dm::empty_like(n).w.data() != n.w.data());
  CHECK(dm::make<network<dm::gradient<L>>>(g, p{7}, q{2}).b[0].local_size() == 2);
}

namespace {
struct tall : dm::dim<12> {};
struct odd : dm::dim<5> {};
template <class L> struct fixed {
  BOOST_HANA_DEFINE_STRUCT(fixed, (dm::tensor<float, L, tall, odd>, w),
                           (std::array<dm::tensor<double, L, odd>, 2>, b), (int, many));
};
template <class L> struct indivisible {
  BOOST_HANA_DEFINE_STRUCT(indivisible, (dm::tensor<float, L, tall>, a),
                           (dm::tensor<float, L, odd>, b));
};
template <class F> std::string said_by(const F& f) {
  try {
    f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return {};
}
}  // namespace

TEST_CASE(
    "structs whose types say all extents: blocks and errors are those of tensors made alone") {
  const dm::grid<ts::line> g;
  using L = dm::layout<ts::line, dm::split<tall, ts::x>>;
  static_assert(dm::detail::is_made_at_once<fixed<L>, dm::grid<ts::line>>());
  static_assert(!dm::detail::is_made_at_once<fixed<dm::shaped<L>>, dm::grid<ts::line>>());
  const auto n = dm::make<fixed<L>>(g);
  const dm::tensor<float, L, tall, odd> alone(g);
  CHECK(n.w.block<tall>() == alone.block<tall>());
  CHECK(n.w.extent<odd>() == 5);
  CHECK(&n.b[1].grid() == &g);
  CHECK(n.b[1].local_size() == 5);
  CHECK(n.b[0].data() != n.b[1].data());
  CHECK(n.many == 0);
  CHECK(said_by([&] { (void)dm::make<network<L>>(g); }) ==
        said_by([&] { (void)dm::make<dm::tensor<float, L, p, q>>(g); }));
  using K = dm::layout<ts::line, dm::split<odd, ts::x>>;
  CHECK(said_by([&] { (void)dm::make<indivisible<K>>(g); }) ==
        said_by([&] { (void)dm::make<dm::tensor<float, K, odd>>(g); }));
  CHECK(said_by([&] { (void)dm::make<indivisible<K>>(g); }).empty() == (ranks() == 1));
}
