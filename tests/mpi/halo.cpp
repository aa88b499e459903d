// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6
// checks: 3360 5200 5040 6870 8420
// labels: sanitize device
#include "dimesh/create.hpp"
#include "dimesh/element/bfloat16.hpp"
#include "dimesh/element/half.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/start.hpp"
#include "dimesh/train/find_not_finite.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "support/host.hpp"
#include "support/movement.hpp"

namespace {
using namespace test_support;
using dimesh::boundary;
using dimesh::spec_of;

/// The value of a whole array at an index that may lie outside it.
double beyond(const array& a, extents index, boundary ends) {
  for (std::size_t d = 0; d < index.size(); ++d) {
    const index_t n = a.size[d];
    if (index[d] >= 0 && index[d] < n) continue;
    if (ends == boundary::zero || n == 0) return 0;
    index[d] = ((index[d] % n) + n) % n;
  }
  return value_at(a, a.dims, index);
}

/// Are all stored elements, halos included, what the array has there?
template <class X> verdict stores(const X& x, const array& a, boundary ends) {
  extents begin, size;
  for (int d = 0; d < X::rank; ++d) {
    begin.push_back(x.block(d).offset - spec_of<X>::table.halo[d].before);
    size.push_back(x.local(d));
  }
  std::ostringstream what;
  std::size_t at = 0;
  for_each_index(size, [&](const extents& index) {
    extents global = index;
    for (std::size_t d = 0; d < global.size(); ++d) global[d] += begin[d];
    const double got = test_support::on_host(x)[at++], want = beyond(a, global, ends);
    if (got != want && what.str().empty())
      what << "at (" << global[0] << ", " << global.back() << ") stands " << got << ", not "
           << want;
  });
  return {what.str()};
}

/// Of a linear f: is <f(x), ybar> the same as <x, its transpose of ybar>, where ybar gives every
/// stored element a number of its own, in halos too? And does the rank at the origin send what it
/// should?
template <class F, class X> void check_halo_adjoint(const F& f, const X& v) {
  namespace dd = dimesh::detail;
  dd::tape t;
  const test_support::detail::leaf<X> leaf(t, v);
  dd::node_base* const until = t.last();
  census::reset();
  const auto y = f(leaf.tracked);
  const auto forward = census::snapshot();
  typename dd::gradient_type<std::remove_cvref_t<decltype(y.value())>>::type ybar(
      v.grid(), y.shape(), dd::storage{});
  for (index_t k = 0; k < ybar.local_size(); ++k)
    test_support::on_host(ybar)[k] = static_cast<double>((k * 7 + v.grid().rank()) % 5 - 2);
  using test_support::detail::holding_of, test_support::detail::inner;
  const double there = inner(holding_of(y.value()), holding_of(ybar));
  y.cell()->add(ybar);
  census::reset();
  t.backward(until);
  index_t sent[2] = {forward.bytes(), census::snapshot().bytes()};
  MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sent[0] == sent[1]);  // what came goes back
  CHECK(inner(holding_of(v), holding_of(leaf.bar())) == there);
  if (v.grid().rank() != 0) return;
  dd::tally foreseen;
  (void)f(test_support::detail::shape_of(v, &foreseen));
  CHECK(test_support::detail::misjudged(forward, foreseen, true) == "");
}

const std::vector<extents> sizes = {{8, 6}, {1, 5}, {0, 2}};

TEST_CASE("halo_exchange: edges of the neighbours, near and far") {
  for (const boundary ends : {boundary::zero, boundary::periodic}) {
    CAPTURE(ends == boundary::periodic);
    for_each_case<plane, unevenly, p, q>(sizes, [ends](auto v, const array& a) {
      CHECK(stores(dimesh::halo_exchange<1, p>(v, ends), a, ends));
      CHECK(stores(dimesh::halo_exchange<3, q>(v, ends), a, ends));
      CHECK(
          stores(dimesh::halo_exchange<2, q>(dimesh::halo_exchange<1, p>(v, ends), ends), a, ends));
      CHECK(stores(dimesh::halo_exchange<2, q, p>(v, ends), a, ends));
      check_halo_adjoint([=](const auto& u) { return dimesh::halo_exchange<2, p>(u, ends); }, v);
    });
  }
}

TEST_CASE("halo_exchange of two dims: adjoint and cost") {
  for (const boundary ends : {boundary::zero, boundary::periodic})
    for_each_case<plane, evenly, p, q>({{8, 12}, {2, 3}}, [ends](auto v, const array&) {
      check_halo_adjoint([=](const auto& u) { return dimesh::halo_exchange<2, p, q>(u, ends); }, v);
    });
}

/// Halos of widths of their own, as what follows names them.
template <class... H> constexpr auto exchanged(boundary ends) {
  return [ends](const auto& u) { return dimesh::halo_exchange<H...>(u, ends); };
}
using dimesh::halo;

TEST_CASE("halo_exchange: widths of its own before and after blocks") {
  for (const boundary ends : {boundary::zero, boundary::periodic}) {
    CAPTURE(ends == boundary::periodic);
    for_each_case<plane, unevenly, p, q>(sizes, [ends](auto v, const array& a) {
      CHECK(stores(exchanged<halo<p, 1, 0>>(ends)(v), a, ends));
      CHECK(stores(exchanged<halo<q, 0, 3>>(ends)(v), a, ends));
      CHECK(stores(exchanged<halo<q, 2, 1>, halo<p, 0, 2>>(ends)(v), a, ends));
      const auto wide = exchanged<halo<p, 0, 2>>(ends)(exchanged<halo<q, 3, 1>>(ends)(v));
      CHECK(stores(wide, a, ends));
      check_halo_adjoint(exchanged<halo<p, 2, 0>>(ends), v);
      check_halo_adjoint(exchanged<halo<p, 0, 1>>(ends), v);
    });
    for_each_case<plane, evenly, p, q>({{8, 12}, {2, 3}}, [ends](auto v, const array&) {
      check_halo_adjoint(exchanged<halo<p, 2, 1>, halo<q, 0, 3>>(ends), v);
      const auto f = exchanged<halo<q, 1, 0>, halo<p, 0, 2>>(ends);
      const auto await = [ends](const auto& u) {
        return dimesh::await(dimesh::start_halo_exchange<halo<q, 1, 0>, halo<p, 0, 2>>(u, ends));
      };
      const auto y = f(v), z = await(v);
      static_assert(std::is_same_v<decltype(y), decltype(z)>);
      CHECK(std::equal(on_host(y).data(), on_host(y).data() + y.local_size(), on_host(z).data()));
      check_halo_adjoint(await, v);
    });
  }
}

TEST_CASE("halo_exchange: only the side that is asked for travels") {
  const dimesh::grid<line> g;
  using L = dimesh::layout<line, dimesh::split<p, x>>;
  const dimesh::tensor<double, L, p, q> v(g, p{4 * g.ranks()}, q{5});
  const auto sent = [&](const auto& f) {
    const auto before = census::snapshot();
    (void)f(v);
    return (census::snapshot() - before).bytes();
  };
  const index_t row = 5 * 8, last = g.ranks() - 1;
  CHECK(sent(exchanged<halo<p, 2, 0>>(boundary::zero)) == (g.rank() < last ? 2 * row : 0));
  CHECK(sent(exchanged<halo<p, 0, 3>>(boundary::zero)) == (g.rank() > 0 ? 3 * row : 0));
  CHECK(sent(exchanged<halo<p, 0, 3>>(boundary::periodic)) == (last > 0 ? 3 * row : 0));
  CHECK(sent(exchanged<halo<p, 1, 3>>(boundary::periodic)) == (last > 0 ? 4 * row : 0));
}

TEST_CASE("halo_exchange: the type carries the halo") {
  using X = dimesh::tensor<double, dimesh::layout<plane, dimesh::split<p, x>>, p, q>;
  using L = dimesh::layout<plane, dimesh::split<dimesh::halo<p, 2>, x>>;
  static_assert(std::is_same_v<decltype(dimesh::halo_exchange<2, p>(std::declval<X>())),
                               dimesh::tensor<double, L, p, q>>);
  using R = dimesh::tensor<double, dimesh::layout<plane>, p, q>;
  using H = dimesh::layout<plane, dimesh::split<dimesh::halo<q, 1>>>;
  static_assert(std::is_same_v<decltype(dimesh::halo_exchange<1, q>(std::declval<R>())),
                               dimesh::tensor<double, H, p, q>>);
  using B = dimesh::layout<plane, dimesh::split<dimesh::halo<p, 2, 0>, x>>;
  static_assert(std::is_same_v<decltype(exchanged<halo<p, 2, 0>>({})(std::declval<X>())),
                               dimesh::tensor<double, B, p, q>>);
  CHECK(true);
}

array shifted(const array& a, std::size_t dim, index_t k, boundary ends) {
  return make(a.dims, a.size, [&](extents index) {
    index[dim] -= k;
    return beyond(a, index, ends);
  });
}

// A sample of all layouts: every value that is compared costs a few messages.
constexpr layout_choice shift_layouts{.partial = true, .uneven = true, .stride = 2, .first = 1};

TEST_CASE("shift: by less and by more than a block, either way") {
  for (const boundary ends : {boundary::zero, boundary::periodic})
    for (const index_t k : {3, -7, 25}) {
      CAPTURE(k);
      for_each_case<plane, shift_layouts, p, q>({{8, 6}, {1, 5}}, [=](auto v, const array& a) {
        CHECK(agrees(dimesh::shift<p>(v, k, ends), shifted(a, 0, k, ends)));
        CHECK(agrees(dimesh::shift<q>(v, k, ends), shifted(a, 1, k, ends)));
        if (k == 3)
          check_movement([=](const auto& u) { return dimesh::shift<p>(u, k, ends); }, a, v);
      });
    }
}

/// Bytes of the elements of this rank that another one gets: element i of p goes to i + k.
template <class X> index_t leaving(const X& x, index_t k, boundary ends) {
  const detail::unobserved quietly;
  const index_t n = x.template extent<p>();
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const index_t mine[] = {x.block(0).offset, x.block(0).length};
  std::vector<index_t> all(2 * static_cast<std::size_t>(ranks));
  MPI_Allgather(mine, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, MPI_COMM_WORLD);
  index_t elements = 0;
  for (index_t i = mine[0]; i < mine[0] + mine[1]; ++i) {
    const index_t to = ends == boundary::zero ? i + k : ((i + k) % n + n) % n;
    if (to >= 0 && to < n && (to < mine[0] || to >= mine[0] + mine[1])) ++elements;
  }
  return elements * x.local(1) * static_cast<index_t>(sizeof(double));
}

TEST_CASE("shift: any distance; what stays on its rank does not travel") {
  constexpr index_t most = std::numeric_limits<index_t>::max();
  for (const boundary ends : {boundary::zero, boundary::periodic})
    for (const index_t k : {index_t{0}, index_t{1}, index_t{5}, index_t{-8}, index_t{13},
                            index_t{-1000003}, most, -most - 1}) {
      CAPTURE(k);
      for_each_case<line, unevenly, p, q>({{8, 2}, {13, 1}, {0, 2}}, [=](auto v, const array& a) {
        const index_t n = a.size[0];
        const index_t near = ends == boundary::zero ? std::clamp(k, -n, n) : n == 0 ? 0 : k % n;
        const auto before = census::snapshot();
        const auto y = dimesh::shift<p>(v, k, ends);
        const auto seen = census::snapshot() - before;
        CHECK(agrees(y, shifted(a, 0, near, ends)));
        if constexpr (dimesh::is_split<spec_of<decltype(v)>, p>)
          CHECK(seen.bytes() == leaving(v, near, ends));
        else
          CHECK(seen.calls() == 0);
        check_movement([=](const auto& u) { return dimesh::shift<p>(u, k, ends); }, a, v);
      });
    }
}

/// Bytes that the pool hands out in f, at most at once.
template <class F> index_t taken_in(const F& f) {
  auto& memory = dimesh::detail::pool::instance();
  memory.restart_peak();
  const index_t before = memory.figures().live;
  const auto y = f();
  return memory.figures().peak - before;
}

TEST_CASE("shift, halo_exchange: rows come from where they lie and go to where they belong") {
  const dimesh::grid<line> g;
  using L = dimesh::layout<line, dimesh::split<p, x>>;
  const dimesh::tensor<double, L, p, q> v(g, p{2 * g.ranks()}, q{100});
  const index_t bytes = v.local_bytes();
  CHECK(taken_in([&] { return dimesh::shift<p>(v, 2); }) == bytes);
  CHECK(taken_in([&] { return dimesh::await(dimesh::start_shift<p>(v, -1)); }) == bytes);
  CHECK(taken_in([&] { return dimesh::halo_exchange<1, p>(v); }) == 2 * bytes);
}

/// Functions with names, as kernels of devices want them.
struct one_and_more {
  KOKKOS_FUNCTION double operator()(index_t i, index_t j) const { return 1 + double(i + j); }
};
template <class T> struct with_bad {
  index_t at;
  float bad;
  KOKKOS_FUNCTION T operator()(index_t i) const {
    return T(at >= 0 && (i == at || i == at + 7) ? bad : float(i % 7));
  }
};

TEST_CASE("find_not_finite: by a tensor's own elements, since halos may hold anything") {
  const dimesh::grid<line> g;
  using X = dimesh::tensor<double, dimesh::layout<line, dimesh::split<p, x>>, p, q>;
  // 1 and more, with zeros beyond the ends.
  const auto v = dimesh::halo_exchange<1, q>(
      dimesh::generate<X>(g, one_and_more{}, p{2 * g.ranks()}, q{3}), boundary::zero);
  const auto why = [&](const auto& f) { return dimesh::find_not_finite(g, f, v); };
  CHECK(why([&] { (void)dimesh::log(v); }).empty());
  CHECK(why([&] { (void)dimesh::log(dimesh::log(v)); }) ==
        "log gave a number that is not finite at p 0, q 0, from operands that are finite, but for "
        "what halos hold, on rank 0 (operation 2)");
  const auto w = dimesh::log(dimesh::log(v));
  CHECK(why([&] { (void)(w + 1.0); }).find("from operand 1, which has one at p 0, q 0 already") !=
        std::string::npos);
}

#ifdef __CUDACC__
using widest = double;
#else
using widest = long double;
#endif
TEST_CASE_TEMPLATE("first_bad: the first element of any kind that is not finite, wherever it is", T,
                   float, double, widest, dimesh::complex_of<float>, dimesh::complex_of<double>,
                   dimesh::half, dimesh::bfloat16) {
  const dimesh::grid<line> g;
  using X = dimesh::tensor<T, dimesh::layout<line>, p>;
  const auto inf = std::numeric_limits<float>::infinity();
  for (const index_t at : {-1, 0, 4095, 4096, 9000})
    for (const float bad : {inf, -inf, std::numeric_limits<float>::quiet_NaN()}) {
      const auto v = dimesh::generate<X>(g, with_bad<T>{at, bad}, p{9001});
      CHECK(dimesh::detail::first_bad(dimesh::detail::core_of(v)) == at);
      CHECK(dimesh::detail::first_own_bad(dimesh::detail::core_of(v)) == at);
    }
}

}  // namespace
