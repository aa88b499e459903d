// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do sort, top-k, scans, gathers and scatters cost beside std and loops by hand? Bar: 1.1 of
// their time. Twins give the same results: sorts are of all of a row, ties as std::stable_sort has
// them.
//
//   benchmarks/selection [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>
#include <dimesh/op/scan.hpp>
#include <dimesh/op/sort.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;
using dm::index_t;

struct one : dm::axis<1> {};
struct alone : dm::mesh<one> {};
using plain = dm::layout<alone>;
struct row : dm::dim<> {};
struct col : dm::dim<> {};
struct few : dm::dim<8> {};
struct token : dm::dim<> {};
using matrix = dm::tensor<float, plain, row, col>;

double budget = 1.0;
int bars = 0, met = 0;

template <class F, class Twin>
void compare(const std::string& what, index_t rows, index_t columns, F&& f, Twin&& twin) {
  auto [typed, hand] = bench::race(MPI_COMM_NULL, budget)(f, twin);
  ++bars;
  met += bench::report(what + ", " + std::to_string(rows) + "x" + std::to_string(columns), typed,
                       {hand}, 1.1, true);
}
std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

matrix numbers(const dm::grid<alone>& g, index_t rows, index_t columns) {
  matrix x(g, row{rows}, col{columns});
  unsigned state = 12345;
  for (index_t i = 0; i < x.local_size(); ++i) {
    state = state * 1664525u + 1013904223u;
    x.data()[i] = static_cast<float>(state >> 8) * 0x1p-24f;
  }
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
          std::iota(places.begin(), places.end(), 0);
          std::partial_sort(places.begin(), places.begin() + 8, places.end(),
                            [line](std::int32_t a, std::int32_t b) {
                              return line[a] > line[b] || (line[a] == line[b] && a < b);
                            });
          std::copy_n(places.begin(), 8, best.begin() + i * 8);
          for (int k = 0; k < 8; ++k) out[at(i * 8 + k)] = line[places[at(k)]];
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

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.1;
  return dm::run(argc, argv, [&] {
    const dm::grid<alone> g;
    bench::headline("float; twin: std, or a loop by hand");
    for (const auto& [rows, columns] : {std::pair<index_t, index_t>{64, 256}, {256, 4096}}) {
      orders(g, rows, columns);
      scans(g, rows, columns);
    }
    rows_by_number(g, 512, 1000, 64);
    rows_by_number(g, 4096, 32000, 512);
    std::printf("%d of %d bars met\n", met, bars);
  });
}
