// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do sort and top-k cost over two ranks that have half of each row, beside std and MPI by
// hand? Bar: 1.1 of their time. The twin of sort is written for two: each sends its half, in order,
// and keeps what is its own of both; the operation finds first what has to travel, about a half.
// ranks: 2
//
//   mpirun -n 2 benchmarks/orders_over_ranks [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/top_k_all_gather.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include "support/orders.hpp"

namespace {

namespace dm = dimesh;
using bench::at, dm::index_t;

struct line : dm::axis<2> {};
struct ranks : dm::mesh<line> {};
struct row : dm::dim<> {};
struct col : dm::dim<> {};
struct few : dm::dim<8> {};
using matrix = dm::tensor<float, dm::layout<ranks, dm::split<col, line>>, row, col>;

bench::comparison compare;

void orders(const dm::grid<ranks>& g, index_t rows, index_t columns) {
  matrix x(g, row{rows}, col{columns});
  bench::mix(x.data(), x.local_size(), 12345 + static_cast<unsigned>(g.rank()));
  const index_t n = columns / 2, me = g.rank();
  std::vector<float> mine(at(rows * n)), other(mine), out(mine);
  const auto exchange = [&] {
    MPI_Sendrecv(mine.data(), static_cast<int>(rows * n), MPI_FLOAT, static_cast<int>(1 - me), 0,
                 other.data(), static_cast<int>(rows * n), MPI_FLOAT, static_cast<int>(1 - me), 0,
                 compare.comm, MPI_STATUS_IGNORE);
  };
  compare(
      "sort over ranks", rows, columns, [&] { auto y = dm::sort_all_to_all<col>(x); },
      [&] {
        std::copy_n(x.data(), rows * n, mine.data());
        for (index_t i = 0; i < rows; ++i)
          std::sort(mine.data() + i * n, mine.data() + (i + 1) * n);
        exchange();
        for (index_t i = 0; i < rows; ++i) {
          const float *const a = mine.data() + i * n, *const b = other.data() + i * n;
          float* const to = out.data() + i * n;
          if (me == 0) {
            for (index_t k = 0, p = 0, q = 0; k < n; ++k) to[k] = b[q] < a[p] ? b[q++] : a[p++];
          } else {
            for (index_t k = n, p = n, q = n; k > 0; --k)
              to[k - 1] = a[p - 1] < b[q - 1] ? b[--q] : a[--p];
          }
        }
      });
  struct told {
    float value;
    std::int32_t place;
  };
  std::vector<std::int32_t> places(at(n)), best(at(rows * 8));
  std::vector<told> own(at(rows * 8)), all(at(rows * 16));
  compare(
      "top 8 over ranks", rows, columns, [&] { auto y = dm::top_k_all_gather<col, few>(x); },
      [&] {
        for (index_t i = 0; i < rows; ++i) {
          bench::first_eight(x.data() + i * n, places);
          for (index_t k = 0; k < 8; ++k)
            own[at(i * 8 + k)] = {x.data()[i * n + places[at(k)]],
                                  places[at(k)] + static_cast<std::int32_t>(me * n)};
        }
        const int bytes = static_cast<int>(own.size() * sizeof(told));
        MPI_Allgather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, compare.comm);
        for (index_t i = 0; i < rows; ++i) {
          told row[16];
          std::copy_n(all.data() + i * 8, 8, row);
          std::copy_n(all.data() + (rows + i) * 8, 8, row + 8);
          std::partial_sort(row, row + 8, row + 16, [](const told& a, const told& b) {
            return a.value > b.value || (a.value == b.value && a.place < b.place);
          });
          for (index_t k = 0; k < 8; ++k) {
            out[at(i * 8 + k)] = row[k].value;
            best[at(i * 8 + k)] = row[k].place;
          }
        }
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) compare.budget = 0.1;
  return dm::run(argc, argv, [&] {
    const dm::grid<ranks> g;
    compare.comm = MPI_COMM_WORLD;
    compare.tells = g.rank() == 0;
    if (compare.tells) bench::headline("float, rows in halves; twin: std and MPI");
    for (const auto& [rows, columns] :
         {std::pair<index_t, index_t>{64, 512}, {256, 8192}, {1, 1 << 20}})
      orders(g, rows, columns);
    compare.say();
  });
}
