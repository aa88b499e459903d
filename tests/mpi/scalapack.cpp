// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors of blocks: does ScaLAPACK's own arithmetic find each element where the tensor has it,
// under every layout of a matrix? And does ScaLAPACK, where the build has it?
// ranks: 1 2 4
// checks: 450 870 1290
// labels: device
#include "dimesh/interop/scalapack.hpp"

#include <doctest/doctest.h>

#include "support/host.hpp"
#include "support/laws.hpp"
#include "support/scalapack.hpp"
#include "support/scratch.hpp"

#ifdef DIMESH_TEST_SCALAPACK
extern "C" {
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
             const double*, const int*, const int*, const int*, const double*, const int*,
             const int*, const int*, const double*, double*, const int*, const int*, const int*);
}
#endif

namespace {
using namespace test_support;
namespace dm = dimesh;

using tiles = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<q>, y>>;
using matrix = dm::tensor<double, tiles, p, q>;
template <class L, class... D>
inline constexpr bool fits = dm::is_scalapack_matrix<dm::tensor<double, L, D...>>;
static_assert(fits<tiles, p, q> && fits<tiles, q, p> && fits<dm::layout<plane>, p, q>);
static_assert(!fits<tiles, p> && !fits<tiles, p, q, r>);
static_assert(!fits<dm::layout<plane, dm::split<p, x, y>>, p, q>);
static_assert(!fits<dm::layout<plane, dm::split<p, x>, dm::partial<y>>, p, q>);
static_assert(!fits<dm::layout<plane, dm::split<p, x>, dm::placed<y, 0>>, p, q>);
static_assert(!fits<dm::layout<plane, dm::split<dm::ragged<p>, x>>, p, q>);
static_assert(!fits<dm::layout<plane, dm::split<dm::halo<p, 0, 1>, x>>, p, q>);

TEST_CASE("extents beyond ScaLAPACK's integers") {
  CHECK(dm::detail::scalapack_int(7) == 7);
  CHECK(thrown([] { (void)dm::detail::scalapack_int(dm::index_t{1} << 40); }) ==
        "scalapack_descriptor: 1099511627776 is more than ScaLAPACK's integers hold");
}

/// Is each element of v, which holds a, where the descriptor says?
template <class X> void check_places(const X& v, const array& a) {
  const dm::array_descriptor d = dm::scalapack_descriptor(v, 17);
  const dm::process_grid g = dm::scalapack_grid(v);
  CHECK(d[0] == 1);
  CHECK(d[1] == 17);
  CHECK(d[2] == a.size[1]);
  CHECK(d[3] == a.size[0]);
  const entry me = seat_in(g);
  REQUIRE(me.process >= 0);
  index_t mine = 0, wrong = 0;
  for (index_t j = 0; j < a.size[0]; ++j)  // columns of the transpose
    for (index_t i = 0; i < a.size[1]; ++i) {
      const entry r = place_of(i, d[4], g.rows), c = place_of(j, d[5], g.columns);
      if (r.process != me.process || c.process != me.local) continue;
      ++mine;
      wrong += on_host(v)[c.local * d[8] + r.local] != value_at(a, a.dims, {j, i});
    }
  CHECK(mine == v.local_size());
  CHECK(wrong == 0);
  // And back: the same memory, as a routine's array.
  dm::require_scalapack(v, d);
  const X back = dm::borrow<X>(v.grid(), v.data(), d);
  CHECK(back.data() == v.data());
  CHECK(back.local_size() == v.local_size());
  CHECK(agrees(back, a));
  dm::array_descriptor other = d;
  other[5] += 1;
  CHECK(thrown([&] { dm::require_scalapack(v, other); }).find("require_scalapack: NB_ is ") == 0);
  other = d;
  other[8] += 1;
  CHECK(thrown([&] {
          (void)dm::borrow<X>(v.grid(), v.data(), other);
        }).find("require_scalapack: LLD_ is ") == 0);
}

TEST_CASE("each element of the transpose is where the descriptor says, under every layout") {
  for_each_case<plane, unevenly, p, q>(
      {{4, 6}, {5, 3}, {1, 7}, {0, 3}, {9, 2}}, [](const auto& v, const array& a) {
        if constexpr (dm::is_scalapack_matrix<std::remove_cvref_t<decltype(v)>>) check_places(v, a);
      });
  for_each_case<line, evenly, p, q>({{4, 8}}, [](const auto& v, const array& a) {
    if constexpr (dm::is_scalapack_matrix<std::remove_cvref_t<decltype(v)>>) check_places(v, a);
  });
}

#ifdef DIMESH_TEST_SCALAPACK
/// c = a b, all in one process grid.
template <class A, class B, class C> void multiply(const A& a, const B& b, C& c) {
  const context with(dm::scalapack_grid(c));
  const dm::array_descriptor da = dm::scalapack_descriptor(a, with.handle()),
                             db = dm::scalapack_descriptor(b, with.handle()),
                             dc = dm::scalapack_descriptor(c, with.handle());
  const int m = dc[2], n = dc[3], k = db[3], first = 1;
  const double one = 1, zero = 0;
  const auto in_a = on_host(a), in_b = on_host(b);
  const auto in_c = on_host(c);
  pdgemm_("N", "N", &m, &n, &k, &one, in_b.data(), &first, &first, db.data(), in_a.data(), &first,
          &first, da.data(), &zero, in_c.data(), &first, &first, dc.data());
}

template <class L, class D, class A> struct cut_over {
  using type = dm::layout_with<L, dm::split<dm::uneven<D>, A>>;
};
template <class L, class D> struct cut_over<L, D, void> {
  using type = L;
};
/// Of matrices whose first dim is split over First, and the second over Second; void: whole.
template <class First, class Second, class M> void check_product(const dm::grid<M>& g) {
  const auto of = []<class D, class E>(D, E) {
    using L = typename cut_over<dm::layout<M>, D, First>::type;
    return dm::detail::tag<dm::tensor<double, typename cut_over<L, E, Second>::type, D, E>>{};
  };
  using A = typename decltype(of(p{}, q{}))::type;
  using B = typename decltype(of(q{}, r{}))::type;
  using C = typename decltype(of(p{}, r{}))::type;
  for (const extents& size : {extents{4, 6, 8}, {7, 5, 3}, {9, 2, 11}}) {
    const array a = numbers({"p", "q"}, {size[0], size[1]}, 1),
                b = numbers({"q", "r"}, {size[1], size[2]}, 2);
    C c(g, p{size[0]}, r{size[2]});
    multiply(scattered<A>(g, a), scattered<B>(g, b), c);
    CHECK(agrees(c, make({"p", "r"}, {size[0], size[2]}, [&](const extents& i) {
                   double sum = 0;
                   for (index_t k = 0; k < size[1]; ++k)
                     sum += value_at(a, a.dims, {i[0], k}) * value_at(b, b.dims, {k, i[1]});
                   return sum;
                 })));
  }
}

TEST_CASE("pdgemm of tensors, in their memory") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    check_product<x, y>(g);
    check_product<y, x>(g);
    check_product<y, void>(g);  // along x, ranks do the same
  });
  for_each_grid<line>([](const dm::grid<line>& g) {
    check_product<x, void>(g);
    check_product<void, x>(g);
  });
}
#endif
}  // namespace
