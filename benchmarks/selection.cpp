// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do sort, top-k, scans, gathers, scatters and counts cost beside std and loops by hand, along
// rows and down columns? Bar: 1.1 of their time. Twins give the same results: sorts are of all of a
// row, ties as std::stable_sort has them. (Over ranks: orders_over_ranks.cpp.)
//
//   benchmarks/selection [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/argmax.hpp>
#include <dimesh/op/gather.hpp>
#include <dimesh/op/scan.hpp>
#include <dimesh/op/sort.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "support/orders.hpp"

namespace {

namespace dm = dimesh;
using bench::at, bench::first_eight, dm::index_t;

struct one : dm::axis<1> {};
struct alone : dm::mesh<one> {};
using plain = dm::layout<alone>;
struct row : dm::dim<> {};
struct col : dm::dim<> {};
struct few : dm::dim<8> {};
struct token : dm::dim<> {};
struct bin : dm::dim<> {};
using matrix = dm::tensor<float, plain, row, col>;

bench::comparison compare;

/// Rows and columns of numbers of no order.
matrix numbers(const dm::grid<alone>& g, index_t rows, index_t columns) {
  matrix x(g, row{rows}, col{columns});
  bench::mix(x.data(), x.local_size(), 12345);
  return x;
}

void orders(const dm::grid<alone>& g, index_t rows, index_t columns) {
  const matrix x = numbers(g, rows, columns);
  std::vector<float> out(at(rows * columns));
  std::vector<std::int32_t> places(at(columns)), best(at(rows * 8));
  compare(
      "sort of rows", rows, columns, [&] { auto y = dm::sort<col>(x); },
      [&] {
        std::copy_n(x.data(), rows * columns, out.data());
        for (index_t i = 0; i < rows; ++i)
          std::sort(out.data() + i * columns, out.data() + (i + 1) * columns);
      });
  compare(
      "argsort of rows", rows, columns, [&] { auto y = dm::argsort<col>(x); },
      [&] {
        for (index_t i = 0; i < rows; ++i) {
          const float* const line = x.data() + i * columns;
          std::iota(places.begin(), places.end(), 0);
          std::sort(places.begin(), places.end(), [line](std::int32_t a, std::int32_t b) {
            return line[a] < line[b] || (line[a] == line[b] && a < b);
          });
        }
      });
  compare(
      "top 8 of rows", rows, columns, [&] { auto y = dm::top_k<col, few>(x); },
      [&] {
        for (index_t i = 0; i < rows; ++i) {
          const float* const line = x.data() + i * columns;
          first_eight(line, places);
          std::copy_n(places.begin(), 8, best.begin() + i * 8);
          for (int k = 0; k < 8; ++k) out[at(i * 8 + k)] = line[places[at(k)]];
        }
      });
}

/// Of a twin, each column is copied, and what comes of it copied back.
void orders_down(const dm::grid<alone>& g, index_t rows, index_t columns) {
  const matrix x = numbers(g, rows, columns);
  std::vector<float> out(at(rows * columns)), one(at(rows));
  std::vector<std::int32_t> places(at(rows)), best(at(8 * columns));
  const auto take = [&](index_t j) {
    for (index_t i = 0; i < rows; ++i) one[at(i)] = x.data()[i * columns + j];
  };
  compare(
      "sort of columns", rows, columns, [&] { auto y = dm::sort<row>(x); },
      [&] {
        for (index_t j = 0; j < columns; ++j) {
          take(j);
          std::sort(one.begin(), one.end());
          for (index_t i = 0; i < rows; ++i) out[at(i * columns + j)] = one[at(i)];
        }
      });
  compare(
      "top 8 of columns", rows, columns, [&] { auto y = dm::top_k<row, few>(x); },
      [&] {
        for (index_t j = 0; j < columns; ++j) {
          take(j);
          first_eight(one.data(), places);
          for (index_t k = 0; k < 8; ++k) {
            best[at(k * columns + j)] = places[at(k)];
            out[at(k * columns + j)] = one[at(places[at(k)])];
          }
        }
      });
}

void extremes(const dm::grid<alone>& g, index_t rows, index_t columns) {
  const matrix x = numbers(g, rows, columns);
  std::vector<std::int32_t> of_rows(at(rows)), of_columns(at(columns));
  std::vector<float> best(at(columns));
  compare(
      "argmax of rows", rows, columns, [&] { auto y = dm::argmax<col>(x); },
      [&] {
        for (index_t i = 0; i < rows; ++i) {
          const float* const v = x.data() + i * columns;
          of_rows[at(i)] = static_cast<std::int32_t>(std::max_element(v, v + columns) - v);
        }
      });
  compare(
      "argmax of columns", rows, columns, [&] { auto y = dm::argmax<row>(x); },
      [&] {
        std::copy_n(x.data(), columns, best.data());
        std::fill(of_columns.begin(), of_columns.end(), 0);
        for (index_t i = 1; i < rows; ++i) {
          const float* const v = x.data() + i * columns;
#pragma omp simd
          for (index_t j = 0; j < columns; ++j) {
            const bool more = v[j] > best[at(j)];
            best[at(j)] = more ? v[j] : best[at(j)];
            of_columns[at(j)] = more ? static_cast<std::int32_t>(i) : of_columns[at(j)];
          }
        }
      });
}

void scans(const dm::grid<alone>& g, index_t rows, index_t columns) {
  const matrix x = numbers(g, rows, columns);
  std::vector<float> out(at(rows * columns));
  compare(
      "cumsum of rows", rows, columns, [&] { auto y = dm::cumsum<col>(x); },
      [&] {
        for (index_t i = 0; i < rows; ++i)
          std::partial_sum(x.data() + i * columns, x.data() + (i + 1) * columns,
                           out.data() + i * columns);
      });
  compare(
      "cumsum of columns", rows, columns, [&] { auto y = dm::cumsum<row>(x); },
      [&] {
        std::copy_n(x.data(), columns, out.data());
        for (index_t i = 1; i < rows; ++i) {
          const float *const v = x.data() + i * columns, *const before =
                                                             v - x.data() + out.data() - columns;
          float* const to = out.data() + i * columns;
#pragma omp simd
          for (index_t j = 0; j < columns; ++j) to[j] = before[j] + v[j];
        }
      });
}

void rows_by_number(const dm::grid<alone>& g, index_t tokens, index_t rows, index_t columns) {
  const matrix table = numbers(g, rows, columns);
  dm::tensor<std::int32_t, plain, token> ids(g, token{tokens});
  unsigned state = 1;
  for (index_t t = 0; t < tokens; ++t) {
    state = state * 1664525u + 1013904223u;
    ids.data()[t] = static_cast<std::int32_t>((state >> 8) % static_cast<unsigned>(rows));
  }
  const std::string of = " of " + std::to_string(tokens) + " rows";
  std::vector<float> out(at(tokens * columns));
  compare(
      "take" + of, rows, columns, [&] { auto y = dm::take<row>(table, ids); },
      [&] {
        for (index_t t = 0; t < tokens; ++t)
          std::copy_n(table.data() + ids.data()[t] * columns, columns, out.data() + t * columns);
      });
  const matrix x = numbers(g, tokens, columns);
  dm::tensor<std::int32_t, plain, row, col> at_place(g, row{tokens}, col{columns});
  for (index_t i = 0; i < at_place.local_size(); ++i)
    at_place.data()[i] = static_cast<std::int32_t>((i * 7919) % tokens);
  compare(
      "gather down columns", tokens, columns, [&] { auto y = dm::gather<row, row>(x, at_place); },
      [&] {
        for (index_t i = 0; i < tokens; ++i)
          for (index_t j = 0; j < columns; ++j)
            out[at(i * columns + j)] = x.data()[at_place.data()[i * columns + j] * columns + j];
      });
  compare(
      "scatter-add down columns", tokens, columns,
      [&] { auto y = dm::scatter_add<row, row>(x, at_place, row{tokens}); },
      [&] {
        std::fill_n(out.data(), tokens * columns, 0.0f);
        for (index_t i = 0; i < tokens; ++i)
          for (index_t j = 0; j < columns; ++j)
            out[at(at_place.data()[i * columns + j] * columns + j)] += x.data()[i * columns + j];
      });
}

void counts(const dm::grid<alone>& g, index_t tokens, index_t bins) {
  dm::tensor<std::int32_t, plain, token> ids(g, token{tokens});
  unsigned state = 1;
  for (index_t t = 0; t < tokens; ++t) {
    state = state * 1664525u + 1013904223u;
    ids.data()[t] = static_cast<std::int32_t>((state >> 8) % static_cast<unsigned>(bins));
  }
  std::vector<index_t> out(at(bins));
  compare(
      "bincount", tokens, bins, [&] { auto y = dm::bincount<token>(ids, bin{bins}); },
      [&] {
        std::fill(out.begin(), out.end(), 0);
        for (index_t t = 0; t < tokens; ++t) ++out[at(ids.data()[t])];
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) compare.budget = 0.1;
  return dm::run(argc, argv, [&] {
    const dm::grid<alone> g;
    bench::headline("float; twin: std, or a loop by hand");
    for (const auto& [rows, columns] : {std::pair<index_t, index_t>{64, 256}, {256, 4096}}) {
      orders(g, rows, columns);
      scans(g, rows, columns);
      extremes(g, rows, columns);
    }
    for (const auto& [rows, columns] : {std::pair<index_t, index_t>{256, 64}, {4096, 256}})
      orders_down(g, rows, columns);
    rows_by_number(g, 512, 1000, 64);
    rows_by_number(g, 4096, 32000, 512);
    counts(g, 65536, 256);
    counts(g, 1 << 20, 32000);
    compare.say();
  });
}
