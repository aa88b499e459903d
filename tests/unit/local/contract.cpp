// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// least: -O1
#include "dimesh/local/contract.hpp"

#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "dimesh/local/backend_device_blas.hpp"
#include "dimesh/local/contract_plain.hpp"
#include "dimesh/local/contraction.hpp"
#include "dimesh/local/gemm.hpp"
#include "dimesh/local/gemm_tile.hpp"
#include "dimesh/local/gemv.hpp"
#ifdef DIMESH_WITH_ONEDNN
#include "dimesh/local/backend_onednn.hpp"
#endif
#ifdef DIMESH_WITH_CBLAS
#include "dimesh/local/backend_cblas.hpp"
#endif

// Counts what the program allocates.
static long allocations = 0;
// (Not inlined: g++ would see memory of malloc given to delete.)
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const std::size_t step = std::size_t(alignment);
  if (void* p = std::aligned_alloc(step, (bytes + step - 1) / step * step)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace {

using dimesh::index_t;
using dimesh::local::contract;
using dimesh::local::contraction;
using dimesh::local::contraction_of_length;
using dimesh::local::folded;
using dimesh::local::transposed;
using dimesh::local::detail::element_contraction;
using dimesh::local::detail::elements_of_c;

template <class T> struct wide {
  using type = double;
};
template <class T> struct wide<std::complex<T>> {
  using type = std::complex<double>;
};
template <class T> struct wide<Kokkos::complex<T>> {
  using type = std::complex<double>;
};

template <class T> using wide_t = typename wide<T>::type;

template <class T> T value(index_t i, int salt) {
  const int x = int((i * 37 + salt * 11) % 17) - 8, y = int((i * 23 + salt * 5) % 13) - 6;
  if constexpr (std::is_same_v<wide_t<T>, double>) {
    return std::is_integral_v<T> ? T(x) : T(x / 8.0);
  } else {
    return T(x / 8.0, y / 8.0);
  }
}

template <class T> wide_t<T> widen(const T& x) {
  if constexpr (std::is_same_v<wide_t<T>, double>) {
    return double(x);
  } else {
    return {double(x.real()), double(x.imag())};
  }
}

/// What a cell of c holds before an overwriting call, and what the gaps must still hold after it.
template <class T> T poison() {
  if constexpr (std::is_integral_v<T>) {
    return T(-77777);
  } else {
    return T(std::numeric_limits<double>::quiet_NaN());
  }
}

/// How the two loops of a matrix lie: in rows, in columns, with gaps, or with no unit stride.
enum class order { rows, columns, padded_rows, padded_columns, spaced };
constexpr order all_orders[] = {order::rows, order::columns, order::padded_rows,
                                order::padded_columns, order::spaced};

/// Sets the two strides; returns how many elements the matrix spans.
index_t lay(order how, index_t rows, index_t columns, index_t& row, index_t& column) {
  switch (how) {
    case order::rows:
      row = columns, column = 1;
      break;
    case order::columns:
      row = 1, column = rows;
      break;
    case order::padded_rows:
      row = columns + 3, column = 1;
      break;
    case order::padded_columns:
      row = 1, column = rows + 5;
      break;
    case order::spaced:
      row = 2 * columns + 1, column = 2;
      break;
  }
  return std::max<index_t>(1, rows) * std::max<index_t>(1, columns) * 3 + 16 * (rows + columns);
}

contraction matrices(index_t m, index_t n, index_t k, order a, order b, order c) {
  contraction x;
  x.m = m, x.n = n, x.k = k;
  lay(a, m, k, x.a_m, x.a_k);
  lay(b, k, n, x.b_k, x.b_n);
  lay(c, m, n, x.c_m, x.c_n);
  return x;
}

index_t span(const contraction& x, const index_t* outer, index_t rows, index_t row, index_t columns,
             index_t column) {
  index_t last = std::max<index_t>(rows - 1, 0) * row + std::max<index_t>(columns - 1, 0) * column;
  for (int i = 0; i < x.outer; ++i) last += std::max<index_t>(x.extent[i] - 1, 0) * outer[i];
  return last + 1;
}

/// Calls f(offset in a, in b, in c) for all (o.., m, n, k); the oracle's only loop.
template <class F> void for_all(const contraction& x, const F& f) {
  index_t outer = 1;
  for (int o = 0; o < x.outer; ++o) outer *= x.extent[o];
  for (index_t t = 0; t < outer; ++t) {
    index_t rest = t, a = 0, b = 0, c = 0;
    for (int o = 0; o < x.outer; ++o) {
      const index_t at = rest % x.extent[o];
      rest /= x.extent[o];
      a += at * x.a_outer[o], b += at * x.b_outer[o], c += at * x.c_outer[o];
    }
    for (index_t i = 0; i < x.m; ++i)
      for (index_t j = 0; j < x.n; ++j)
        for (index_t p = 0; p < x.k; ++p)
          f(a + i * x.a_m + p * x.a_k, b + p * x.b_k + j * x.b_n, c + i * x.c_m + j * x.c_n);
  }
}

/// Compares `call(a, b, c)` with sums in double; the elements between those of c must survive.
template <class T, class Call>
void check_call(const contraction& x, bool add, const std::string& name, const Call& call) {
  std::vector<T> a(std::size_t(span(x, x.a_outer, x.m, x.a_m, x.k, x.a_k)));
  std::vector<T> b(std::size_t(span(x, x.b_outer, x.k, x.b_k, x.n, x.b_n)));
  std::vector<T> c(std::size_t(span(x, x.c_outer, x.m, x.c_m, x.n, x.c_n)), poison<T>());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = value<T>(index_t(i), 1);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = value<T>(index_t(i), 2);
  std::vector<wide_t<T>> want(c.size(), wide_t<T>(0));
  std::vector<char> wanted(c.size(), 0);
  contraction cells = x;
  cells.k = 1;
  for (int o = 0; o < x.outer; ++o)
    if (x.c_outer[o] == 0) cells.extent[o] = 1;
  for_all(cells, [&](index_t, index_t, index_t at) {
    wanted[std::size_t(at)] = 1;
    if (!add) return;
    c[std::size_t(at)] = value<T>(at, 3);
    want[std::size_t(at)] = widen(c[std::size_t(at)]);
  });
  for_all(x, [&](index_t ia, index_t ib, index_t ic) {
    want[std::size_t(ic)] += widen(a[std::size_t(ia)]) * widen(b[std::size_t(ib)]);
  });
  call(a.data(), b.data(), c.data());
  index_t wrong = 0, touched = 0;
  // Elements are small multiples of a power of two: every sum is exact, in whatever order.
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (wanted[i]) {
      wrong += !(widen(c[i]) == want[i]);
    } else {  // NaN, or the sentinel of integers
      touched += !(c[i] != c[i] || c[i] == poison<T>());
    }
  }
  CHECK_MESSAGE(wrong == 0, name, ": m ", x.m, " n ", x.n, " k ", x.k, " outer ", x.outer, " add ",
                add, " a ", x.a_m, ",", x.a_k, " b ", x.b_k, ",", x.b_n, " c ", x.c_m, ",", x.c_n);
  CHECK_MESSAGE(touched == 0, name, ": wrote between the elements of c");
}

template <class T> void check(const contraction& x) {
  for (bool add : {false, true}) {
    check_call<T>(x, add, "contract",
                  [&](const T* a, const T* b, T* c) { contract<T>(x, a, b, c, add); });
  }
}

/// Lays outer loops around the matrices of x: every array has all of them, outermost first.
contraction batched(contraction x, std::initializer_list<index_t> extents) {
  index_t a = span(x, x.a_outer, x.m, x.a_m, x.k, x.a_k);
  index_t b = span(x, x.b_outer, x.k, x.b_k, x.n, x.b_n);
  index_t c = span(x, x.c_outer, x.m, x.c_m, x.n, x.c_n);
  for (index_t e : extents) {
    x.extent[x.outer] = e;
    x.a_outer[x.outer] = a, x.b_outer[x.outer] = b, x.c_outer[x.outer++] = c;
    a *= std::max<index_t>(e, 1), b *= std::max<index_t>(e, 1), c *= std::max<index_t>(e, 1);
  }
  return x;
}

template <class T> void check_orders(index_t m, index_t n, index_t k) {
  for (order a : all_orders)
    for (order b : all_orders)
      for (order c : all_orders) check<T>(matrices(m, n, k, a, b, c));
}

}  // namespace

TEST_CASE("contraction_of_length: a loop whose turns differ from call to call") {
  struct loop {
    index_t extent, a, b, c;
  };
  const auto of_loops = [](const std::vector<loop>& all) {
    contraction x;
    for (const loop& l : all) {
      x.extent[x.outer] = l.extent;
      x.a_outer[x.outer] = l.a, x.b_outer[x.outer] = l.b, x.c_outer[x.outer++] = l.c;
    }
    return x;
  };
  const loop n{4, 0, 1, 1}, k{5, 1, 4, 0}, m{3, 5, 0, 4};
  struct {
    std::vector<loop> loops;
    int changes;
  } const cases[] = {
      {{{0, 5, 0, 4}, n, k}, 0},                       // rows of a and c
      {{{0, 15, 0, 12}, m, n, k}, 0},  // with a loop within, that is one with them
      {{{2, 100, 0, 80}, {0, 5, 0, 4}, n, k}, 1},  // within another one
      {{{2, 30, 0, 24}, {0, 5, 0, 4}, n, k}, 1},  // of which it is a part if it has six turns
      {{{3, 1, 0, 4}, n, {0, 3, 4, 0}}, 2},  // summed
      {{{3, 1, 0, 4}, n, {0, 6, 8, 0}, {2, 3, 4, 0}}, 2},
      {{{0, 15, 20, 12}, m, n, k}, 0},  // products one after another
      {{{0, 5, 0, 1}, {4, 0, 1, 40}, k}, 0},  // columns of c
  };
  for (const auto& [loops, changes] : cases) {
    contraction x = of_loops(loops);
    contraction_of_length any(x, changes);
    for (const index_t length : {2, 6, 1, 5, 6, 3}) {
      x.extent[changes] = length;
      const contraction& now = any.of(length);
      check_call<double>(x, false, "contract of a length",
                         [&](const double* a, const double* b, double* c) {
                           contract<double>(now, a, b, c, false);
                         });
    }
  }
  // Folded once for all: no loop is left.
  contraction_of_length rows(of_loops({{0, 5, 0, 4}, n, k}), 0);
  CHECK(rows.of(7).m == 7);
  CHECK(rows.of(9).m == 9);
  CHECK(rows.of(9).outer == 0);
}

TEST_CASE("folded: outer loops go into the product where strides permit") {
  // x[b,t,d] . w[d,f]: one matrix product of b*t rows
  contraction x = matrices(4, 5, 6, order::rows, order::rows, order::rows);
  x.outer = 1, x.extent[0] = 3, x.a_outer[0] = 24, x.b_outer[0] = 0, x.c_outer[0] = 20;
  contraction y = folded(x);
  CHECK(y.outer == 0);
  CHECK(y.m == 12);
  CHECK(y.a_m == 6);
  CHECK(y.c_m == 5);

  x.a_outer[0] = 25;  // a gap after every matrix: stays a batch
  CHECK(folded(x).outer == 1);

  // sum over b and t of x[b,t,m] * y[b,t,n]: c lacks the outer loop, which lengthens k
  contraction s = matrices(4, 5, 6, order::columns, order::rows, order::rows);
  s.outer = 1, s.extent[0] = 3, s.a_outer[0] = 24, s.b_outer[0] = 30;
  y = folded(s);
  CHECK(y.outer == 0);
  CHECK(y.k == 18);

  // two batch loops that lie behind each other become one; loops of one turn vanish
  y = folded(batched(matrices(4, 5, 6, order::rows, order::columns, order::rows), {2, 1, 3}));
  CHECK(y.outer == 1);
  CHECK(y.extent[0] == 6);
  static_assert(transposed(transposed(contraction{.m = 2, .n = 3})).n == 3);
}

TEST_CASE("folded: m, n and k are the longest loops of their kind where all are outer ones") {
  // x[b3, t4, h5, d6] . w[h5, d6, f7] -> [b3, t4, f7]: loops b, t, f, h, d
  contraction x;
  for (const auto& [n, a, b, c] : {std::array<index_t, 4>{3, 120, 0, 28},
                                   {4, 30, 0, 7},
                                   {7, 0, 1, 1},
                                   {5, 6, 42, 0},
                                   {6, 1, 7, 0}}) {
    x.extent[x.outer] = n, x.a_outer[x.outer] = a, x.b_outer[x.outer] = b;
    x.c_outer[x.outer++] = c;
  }
  contraction y = folded(x);
  CHECK(y.outer == 0);
  CHECK(y.m == 12);
  CHECK(y.a_m == 30);
  CHECK(y.n == 7);
  CHECK(y.k == 30);
  CHECK(y.b_k == 7);
  check<double>(x);

  x.a_outer[0] = 1000;  // rows of x lie apart: t is longer than b
  y = folded(x);
  CHECK(y.outer == 1);
  CHECK(y.extent[0] == 3);
  CHECK(y.m == 4);
  check<double>(x);
}

TEST_CASE_TEMPLATE("contract: all orders of the three matrices", T, float, double) {
  for (index_t e : {1, 2, 3, 5, 17, 33}) check_orders<T>(e, e, e);
  check_orders<T>(64, 64, 64);
  check_orders<T>(1, 33, 17);
  check_orders<T>(33, 1, 17);
  check_orders<T>(17, 33, 1);
  check_orders<T>(8, 100, 64);
  check_orders<T>(100, 10, 64);
  check_orders<T>(7, 50, 3);
  check_orders<T>(1, 1, 100);
}

TEST_CASE_TEMPLATE("contract: blocks that exceed the caches' blocks", T, float, double) {
  for (order a : {order::rows, order::columns})
    for (order b : {order::rows, order::columns})
      for (order c : {order::rows, order::columns}) check<T>(matrices(301, 201, 615, a, b, c));
  // a tall turned a, and a turned b with many rows and columns: another library's turn
  check<T>(matrices(300, 100, 260, order::columns, order::rows, order::rows));
  check<T>(matrices(530, 520, 70, order::rows, order::columns, order::rows));
  check<T>(matrices(9, 1603, 130, order::rows, order::rows, order::rows));
  check<T>(matrices(20, 3201, 5, order::rows, order::columns, order::spaced));
  check<T>(matrices(1, 4500, 19, order::rows, order::rows, order::rows));
  check<T>(matrices(4500, 1, 19, order::columns, order::rows, order::rows));
}

TEST_CASE_TEMPLATE("contract: every extent against every other", T, float, double) {
  const auto extents = {0, 1, 2, 3, 5, 17, 33};
  for (index_t m : extents)
    for (index_t n : extents)
      for (index_t k : extents) {
        check<T>(matrices(m, n, k, order::rows, order::rows, order::rows));
        check<T>(matrices(m, n, k, order::columns, order::columns, order::rows));
      }
}

TEST_CASE_TEMPLATE("contract: batches", T, float, double, std::complex<double>) {
  for (order a : all_orders)
    for (order b : all_orders)
      for (order c : {order::rows, order::padded_columns, order::spaced}) {
        const contraction x = matrices(33, 17, 5, a, b, c);
        check<T>(batched(x, {3}));
        check<T>(batched(x, {2, 3}));
        check<T>(batched(x, {2, 1, 3}));
      }
  check<T>(batched(matrices(64, 100, 64, order::rows, order::columns, order::rows), {8}));
  check<T>(batched(matrices(4, 3, 2, order::rows, order::rows, order::rows), {3, 0}));
}

TEST_CASE_TEMPLATE("contract: outer loops that an array lacks, or that lie inside", T, float,
                   double, int) {
  // heads inside: q[b,t,h,d] . k[b,s,h,d] -> c[b,h,t,s]
  const index_t B = 2, H = 3, t = 40, s = 50, d = 32;
  contraction x;
  x.m = t, x.n = s, x.k = d;
  x.a_m = H * d, x.a_k = 1, x.b_k = 1, x.b_n = H * d, x.c_m = s, x.c_n = 1;
  x.outer = 2;
  x.extent[0] = H, x.a_outer[0] = d, x.b_outer[0] = d, x.c_outer[0] = t * s;
  x.extent[1] = B, x.a_outer[1] = t * H * d, x.b_outer[1] = s * H * d, x.c_outer[1] = H * t * s;
  check<T>(x);
  x.b_outer[1] = 0;  // the same keys for every b
  check<T>(x);
  x.c_outer[0] = 0;  // the sum over heads
  x.c_outer[1] = t * s;
  check<T>(x);
  x.extent[0] = 0;  // an empty sum
  check<T>(x);
}

TEST_CASE_TEMPLATE("contract: sums of nothing, in c's of every order and with gaps", T, float, int,
                   Kokkos::complex<double>) {
  const index_t e[] = {2, 3, 4, 5}, orders[][4] = {{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}};
  for (const auto& order : orders)
    for (const index_t gap : {0, 1, 3})
      for (const index_t unit : {1, 2}) {
        index_t step[4], next = unit;
        for (int i = 4; i-- > 0; next *= e[order[i]] + (i == 3 ? gap : 0)) step[order[i]] = next;
        contraction x;
        x.outer = 3, x.k = 7;
        x.extent[0] = e[0], x.c_outer[0] = step[0];
        x.extent[1] = 0, x.c_outer[1] = 0;
        x.extent[2] = e[1], x.c_outer[2] = step[1];
        x.m = e[2], x.c_m = step[2], x.n = e[3], x.c_n = step[3];
        std::vector<T> c(static_cast<std::size_t>(next), T(7));
        contract(x, static_cast<const T*>(nullptr), static_cast<const T*>(nullptr), c.data());
        index_t zeros = 0;
        for (const T& value : c) zeros += value == T(0);
        CHECK(zeros == 2 * 3 * 4 * 5);
        for (index_t i = 0; i < 2 * 3 * 4 * 5; ++i)
          CHECK(c[static_cast<std::size_t>(i / 60 * step[0] + i / 20 % 3 * step[1] +
                                           i / 5 % 4 * step[2] + i % 5 * step[3])] == T(0));
      }
}

TEST_CASE_TEMPLATE("contract: repeated rows and columns", T, float, double) {
  contraction x = matrices(20, 30, 10, order::rows, order::rows, order::rows);
  x.a_m = 0;
  check<T>(x);
  x.b_n = 0;
  check<T>(x);
}

TEST_CASE_TEMPLATE("contract: other element types", T, int, std::complex<float>,
                   std::complex<double>, Kokkos::complex<float>, Kokkos::complex<double>) {
  for (index_t e : {1, 3, 17}) check_orders<T>(e, e + 1, e + 2);
  check_orders<T>(33, 1, 17);
  check_orders<T>(1, 70, 17);
  check<T>(matrices(0, 3, 4, order::rows, order::rows, order::rows));
  check<T>(matrices(3, 4, 0, order::rows, order::rows, order::rows));
}

TEST_CASE("contract: the kernel for devices, run on the host") {
  contraction x = batched(matrices(5, 7, 3, order::rows, order::columns, order::spaced), {2, 3, 2});
  for (bool summed : {false, true}) {
    if (summed) x.c_outer[1] = 0;
    for (bool add : {false, true}) {
      check_call<double>(x, add, "element_contraction", [&](const auto* a, const auto* b, auto* c) {
        const element_contraction<double> element{x, a, b, c, add};
        for (index_t i = 0; i < elements_of_c(x); ++i) element(i);
      });
    }
  }
}

/// BLAS' definition, by columns.
struct by_columns {
  int* calls;
  template <class T, class C>
  void operator()(const dimesh::local::device_blas::gemm_call& x, const T* first, const T* second,
                  C* c, bool add) const {
    ++*calls;
    CHECK(x.ld_first >= (x.turn_first ? x.k : x.m));
    CHECK(x.ld_second >= (x.turn_second ? x.n : x.k));
    CHECK(x.ld_c >= x.m);
    for (long long t = 0; t < x.batch; ++t)
      for (long long j = 0; j < x.n; ++j)
        for (long long i = 0; i < x.m; ++i) {
          dimesh::computed<T> sum = 0;
          for (long long p = 0; p < x.k; ++p)
            sum +=
                first[t * x.first_step + (x.turn_first ? p + i * x.ld_first : i + p * x.ld_first)] *
                second[t * x.second_step +
                       (x.turn_second ? j + p * x.ld_second : p + j * x.ld_second)];
          C& to = c[t * x.c_step + i + j * x.ld_c];
          to = static_cast<C>(add ? sum + to : sum);
        }
  }
};
TEST_CASE("contract: what a device's BLAS is told") {
  int calls = 0, refused = 0;
  const auto check_blas = [&](const contraction& x) {
    for (bool add : {false, true}) {
      bool done = true;
      check_call<double>(x, add, "device_blas", [&](const auto* a, const auto* b, auto* c) {
        done = dimesh::local::device_blas::contract(x, a, b, c, add, by_columns{&calls});
        if (!done) dimesh::local::contract<double>(x, a, b, c, add);
      });
      refused += !done;
    }
  };
  for (order a : all_orders)
    for (order b : all_orders)
      for (order c : all_orders) {
        check_blas(matrices(5, 7, 3, a, b, c));
        check_blas(matrices(1, 7, 3, a, b, c));
        check_blas(matrices(5, 1, 3, a, b, c));
        check_blas(matrices(5, 7, 1, a, b, c));
        contraction x = batched(matrices(5, 4, 3, a, b, c), {2, 3, 2});
        check_blas(x);
        x.c_outer[1] = 0;  // a sum around the products
        check_blas(x);
      }
  CHECK(calls > 0);
  CHECK(refused > 0);  // no stride of 1
  const int before = calls;
  check_blas(batched(matrices(5, 4, 3, order::rows, order::rows, order::padded_rows), {6}));
  CHECK(calls == before + 2);  // one batch, overwriting and adding
}
TEST_CASE("contract: a device's BLAS is told of short factors, in whichever order") {
  for (order c : {order::rows, order::columns}) {
    contraction x = batched(matrices(5, 4, 3, order::rows, order::rows, c), {2, 3});
    const auto said = [&] {
      std::vector<bool> all;
      const std::vector<float> a(500, 1), b(500, 1);
      std::vector<float> to(500);
      const auto library = [&](const auto& call, const float*, const float*, float*, bool) {
        all.push_back(call.short_factors);
      };
      CHECK(dimesh::local::device_blas::contract(x, a.data(), b.data(), to.data(), false, library));
      return all;
    };
    CHECK(said() == std::vector<bool>(said().size(), false));
    x.short_factors = true;
    CHECK(said() == std::vector<bool>(said().size(), true));
    CHECK(!said().empty());
  }
}
TEST_CASE("contract: a device's BLAS rounds a sum once") {
  using dimesh::bfloat16;
  contraction x = batched(matrices(2, 2, 2, order::rows, order::rows, order::rows), {3});
  x.c_outer[0] = 0;  // a sum around the products that no order of them makes one product of
  x.a_outer[0] = 5;
  const std::vector<bfloat16> a(14, bfloat16(1)), b(12, bfloat16(1));
  std::vector<bfloat16> rounded(4);
  std::vector<float> sums(4);
  int calls = 0;
  CHECK(!dimesh::local::device_blas::contract(x, a.data(), b.data(), rounded.data(), false,
                                              by_columns{&calls}));
  CHECK(calls == 0);
  CHECK(dimesh::local::device_blas::contract(x, a.data(), b.data(), sums.data(), false,
                                             by_columns{&calls}));
  CHECK(sums == std::vector<float>(4, 6));
  x.outer = 0;
  CHECK(dimesh::local::device_blas::contract(x, a.data(), b.data(), rounded.data(), false,
                                             by_columns{&calls}));
  CHECK(rounded == std::vector<bfloat16>(4, bfloat16(2)));
}

#ifndef KOKKOS_ENABLE_THREADS  // newer ones take memory for the names of their own launches
TEST_CASE_TEMPLATE("contract: a repeated call allocates nothing", T, float, double) {
  // A library may allocate inside; what the own product and the choice do is counted here.
  for (order a : all_orders) {
    contraction x = matrices(301, 201, 70, a, order::spaced, order::spaced);
    x.outer = 1, x.extent[0] = 2;
    x.c_outer[0] = span(x, x.c_outer, x.m, x.c_m, x.n, x.c_n);
    const std::vector<T> va(std::size_t(span(x, x.a_outer, x.m, x.a_m, x.k, x.a_k)));
    const std::vector<T> vb(std::size_t(span(x, x.b_outer, x.k, x.b_k, x.n, x.b_n)));
    std::vector<T> vc(std::size_t(span(x, x.c_outer, x.m, x.c_m, x.n, x.c_n)));
    contract(x, va.data(), vb.data(), vc.data());
    const long before = allocations;
    contract(x, va.data(), vb.data(), vc.data());
    CHECK(allocations == before);
  }
  CHECK(allocations > 0);
}
#endif

TEST_CASE_TEMPLATE("own product: all orders, whatever library the build has", T, float, double) {
  const auto own = [](const contraction& x, bool add) {
    check_call<T>(x, add, "own_product", [&](const T* a, const T* b, T* c) {
      dimesh::local::detail::own_product(x, a, b, c, add);
    });
  };
  for (order a : all_orders)
    for (order b : all_orders)
      for (order c : all_orders) {
        own(matrices(21, 55, 70, a, b, c), false);
        own(matrices(65, 66, 67, a, b, c), true);
        own(matrices(12, 100, 40, a, b, c), true);
        own(matrices(90, 11, 40, a, b, c), false);
      }
  const auto in_pieces = [](const contraction& x, bool add) {
    check_call<T>(x, add, "own_product in pieces", [&](const T* a, const T* b, T* c) {
      dimesh::local::detail::own_product<T, dimesh_test::reversed>(x, a, b, c, add);
    });
  };
  for (order a : {order::rows, order::columns})
    for (order b : {order::rows, order::columns}) {
      own(matrices(301, 401, 615, a, b, order::rows), true);
      in_pieces(matrices(301, 401, 65, a, b, order::rows), true);  // of the columns
      in_pieces(matrices(401, 301, 65, a, b, order::spaced), false);  // of the rows
    }
}
