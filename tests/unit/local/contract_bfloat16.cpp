// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/contract_bfloat16.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using dimesh::bfloat16;
using dimesh::index_t;
using dimesh::local::contract_bfloat16;
using dimesh::local::contraction;

/// Eighths from -1 to 1: products are 64ths, so that every sum here is exact in float.
bfloat16 eighth(index_t i, index_t salt) {
  return bfloat16(static_cast<float>((i * 37 + salt * 11) % 17 - 8) / 8.0f);
}

/// What an element of c must be, given its exact value.
template <class C> C rounded(double exact) { return static_cast<C>(static_cast<float>(exact)); }

/// Strides of a matrix: in rows, in columns, with gaps, or with no unit stride.
enum class order { rows, columns, padded, spaced };
constexpr order all_orders[] = {order::rows, order::columns, order::padded, order::spaced};
void lay(order how, index_t rows, index_t columns, index_t& row, index_t& column) {
  row = how == order::columns ? 1 : how == order::padded ? columns + 3 : columns;
  column = how == order::columns ? rows : 1;
  if (how == order::spaced) row = 2 * columns + 1, column = 2;
}

contraction matrices(index_t m, index_t n, index_t k, order a, order b, order c) {
  contraction x;
  x.m = m, x.n = n, x.k = k;
  lay(a, m, k, x.a_m, x.a_k);
  lay(b, k, n, x.b_k, x.b_n);
  lay(c, m, n, x.c_m, x.c_n);
  return x;
}

/// Runs a contraction both ways, overwriting and adding, through `call`, and compares every element
/// of c with the exact sum, and the gaps with what they held.
template <class C, class Call> void check_with(const contraction& x, const Call& call) {
  using dimesh::local::detail::span_of;
  const auto span = [&x](const index_t* outer, index_t r, index_t row, index_t c, index_t column) {
    return r * c == 0 ? 1 : span_of(x, outer, r, row, c, column);
  };
  const auto na = static_cast<std::size_t>(span(x.a_outer, x.m, x.a_m, x.k, x.a_k));
  const auto nb = static_cast<std::size_t>(span(x.b_outer, x.k, x.b_k, x.n, x.b_n));
  const auto nc = static_cast<std::size_t>(span(x.c_outer, x.m, x.c_m, x.n, x.c_n));
  std::vector<bfloat16> a(na), b(nb);
  for (std::size_t i = 0; i < na; ++i) a[i] = eighth(static_cast<index_t>(i), 1);
  for (std::size_t i = 0; i < nb; ++i) b[i] = eighth(static_cast<index_t>(i), 2);
  std::vector<double> sum(nc, 0);
  std::vector<bool> held(nc, false);
  dimesh::local::for_each_product(x, a.data(), b.data(), sum.data(), false,
                                  [&](const bfloat16* pa, const bfloat16* pb, double* pc, bool) {
                                    for (index_t i = 0; i < x.m; ++i)
                                      for (index_t j = 0; j < x.n; ++j) {
                                        double& to = pc[i * x.c_m + j * x.c_n];
                                        held[static_cast<std::size_t>(&to - sum.data())] = true;
                                        for (index_t p = 0; p < x.k; ++p)
                                          to += double(pa[i * x.a_m + p * x.a_k]) *
                                                double(pb[p * x.b_k + j * x.b_n]);
                                      }
                                  });
  for (const bool add : {false, true}) {
    std::vector<C> c(nc, C(std::numeric_limits<float>::quiet_NaN()));
    if (add)
      for (std::size_t i = 0; i < nc; ++i) c[i] = C(static_cast<float>(i % 5));
    call(x, a.data(), b.data(), c.data(), add);
    long wrong = 0;
    for (std::size_t i = 0; i < nc; ++i) {
      const double before = static_cast<double>(i % 5);
      if (held[i])
        wrong += c[i] != rounded<C>(sum[i] + (add ? before : 0));
      else
        wrong += add ? c[i] != C(static_cast<float>(before)) : !std::isnan(float(c[i]));
    }
    CAPTURE(x.m);
    CAPTURE(x.n);
    CAPTURE(x.k);
    CAPTURE(x.outer);
    CAPTURE(add);
    CHECK(wrong == 0);
  }
}
template <class C> void check(const contraction& x) {
  check_with<C>(x, [](const contraction& y, const bfloat16* a, const bfloat16* b, C* c, bool add) {
    contract_bfloat16(y, a, b, c, add);
  });
}

TEST_CASE_TEMPLATE("bfloat16 products: every order of the matrices, small and large", C, bfloat16,
                   float) {
  for (const order a : all_orders)
    for (const order b : all_orders)
      for (const order c : all_orders) {
        check<C>(matrices(5, 4, 3, a, b, c));
        check<C>(matrices(40, 33, 50, a, b, c));
      }
}

TEST_CASE_TEMPLATE("bfloat16 products: extents of 0, 1 and more against each other", C, bfloat16,
                   float) {
  for (const index_t m : {0, 1, 2, 17, 64})
    for (const index_t n : {0, 1, 3, 32, 65})
      for (const index_t k : {0, 1, 2, 31, 130})
        check<C>(matrices(m, n, k, order::rows, order::rows, order::rows));
}

TEST_CASE_TEMPLATE("bfloat16 products: batches, and loops that an array lacks", C, bfloat16,
                   float) {
  contraction x = matrices(24, 20, 18, order::rows, order::columns, order::rows);
  x.outer = 2;
  x.extent[0] = 3, x.a_outer[0] = 2 * 24 * 18, x.b_outer[0] = 0, x.c_outer[0] = 2 * 24 * 20;
  x.extent[1] = 2, x.a_outer[1] = 24 * 18, x.b_outer[1] = 18 * 20, x.c_outer[1] = 24 * 20;
  check<C>(x);
  x.c_outer[1] = 0, x.c_outer[0] = 24 * 20;  // summed over the second loop
  check<C>(x);
  x.m = 3, x.n = 2, x.k = 4;  // likewise, of products that are too small for a library
  check<C>(x);
}

TEST_CASE_TEMPLATE("bfloat16 products: the kernel for devices, run on the host", C, bfloat16,
                   float) {
  contraction x = matrices(5, 7, 6, order::rows, order::spaced, order::padded);
  x.outer = 2;
  x.extent[0] = 3, x.a_outer[0] = 30, x.b_outer[0] = 0, x.c_outer[0] = 60;
  x.extent[1] = 2, x.a_outer[1] = 90, x.b_outer[1] = 100, x.c_outer[1] = 0;
  check_with<C>(x, [](const contraction& y, const bfloat16* a, const bfloat16* b, C* c, bool add) {
    const dimesh::local::detail::element_contraction<bfloat16, C> one{y, a, b, c, add};
    for (index_t i = 0; i < dimesh::local::detail::elements_of_c(y); ++i) one(i);
  });
}

}  // namespace
