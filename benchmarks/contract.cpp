// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast is a distributed matrix product beside ScaLAPACK's, and beside the local products on the
// same blocks, for which nothing travels? Bars: 1.2 of ScaLAPACK's speed, 0.95 of the local
// products'. Square matrices of 4096 rows in blocks of a plane of ranks.
// ranks: 2 4
//
//   mpirun -n 2 benchmarks/contract [--quick]     1024 rows
#include <dimesh/dimesh.hpp>
#include <dimesh/op/contract.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "support/race.hpp"

#ifdef DIMESH_WITH_SCALAPACK
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* nb, const int* place, const int* first, const int* count);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* row,
               const int* col, const int* context, const int* ld, int* info);
void pdgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
void psgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
             const float* alpha, const float* a, const int* ia, const int* ja, const int* desca,
             const float* b, const int* ib, const int* jb, const int* descb, const float* beta,
             float* c, const int* ic, const int* jc, const int* descc);
}
#endif

namespace {

namespace dm = dimesh;
namespace by = dm::by;

struct height : dm::dim<> {};
struct width : dm::dim<> {};
struct depth : dm::dim<> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct plane : dm::mesh<rows, cols> {};
template <class... R> using on = dm::layout<plane, R...>;

/// Small numbers, whose products add up without rounding.
template <class T> T left(dm::index_t i, dm::index_t j) { return static_cast<T>((i + 2 * j) % 3); }
template <class T> T right(dm::index_t i, dm::index_t j) { return static_cast<T>((3 * i + j) % 5); }

#ifdef DIMESH_WITH_SCALAPACK
/// A square matrix in square blocks, dealt out in turns along both axes (column-major).
template <class T> class dealt {
 public:
  dealt(int context, int size, int block) : size_(size) {
    const int zero = 0;
    int info = 0;
    Cblacs_gridinfo(context, &rows_, &cols_, &row_, &col_);
    high_ = numroc_(&size, &block, &row_, &zero, &rows_);
    wide_ = numroc_(&size, &block, &col_, &zero, &cols_);
    descinit_(desc, &size, &size, &block, &block, &zero, &zero, &context, &high_, &info);
    data.resize(static_cast<std::size_t>(high_) * static_cast<std::size_t>(wide_));
    block_ = block;
  }
  template <class F> void fill(const F& f) {
    for (int j = 0; j < wide_; ++j)
      for (int i = 0; i < high_; ++i)
        data[static_cast<std::size_t>(j) * static_cast<std::size_t>(high_) +
             static_cast<std::size_t>(i)] = f(whole(i, row_, rows_), whole(j, col_, cols_));
  }
  std::vector<T> data;
  int desc[9]{};

 private:
  dm::index_t whole(int at, int place, int count) const {
    return dm::index_t{at / block_ * count + place} * block_ + at % block_;
  }
  int size_, block_ = 1, rows_ = 1, cols_ = 1, row_ = 0, col_ = 0, high_ = 0, wide_ = 0;
};
template <class T> class scalapack {
 public:
  scalapack(int down, int across, int size, int block)
      : context_(context_of(down, across)),
        a_(context_, size, block),
        b_(context_, size, block),
        c_(context_, size, block),
        size_(size) {
    a_.fill(left<T>);
    b_.fill(right<T>);
  }
  scalapack(const scalapack&) = delete;
  scalapack& operator=(const scalapack&) = delete;
  ~scalapack() { Cblacs_gridexit(context_); }
  int operator()() const {
    const int one = 1;
    const T alpha = 1, beta = 0;
    const auto call = [&](auto gemm) {
      gemm("N", "N", &size_, &size_, &size_, &alpha, a_.data.data(), &one, &one, a_.desc,
           b_.data.data(), &one, &one, b_.desc, &beta, c_.data.data(), &one, &one, c_.desc);
    };
    if constexpr (std::is_same_v<T, double>)
      call(pdgemm_);
    else
      call(psgemm_);
    return 0;
  }
  double sum() const {
    double s = 0;
    for (const T x : c_.data) s += static_cast<double>(x);
    MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return s;
  }

 private:
  static int context_of(int down, int across) {
    int context = 0;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", down, across);
    return context;
  }
  int context_;
  dealt<T> a_, b_;
  mutable dealt<T> c_;
  int size_;
};
#endif

template <class T> double sum_of(const auto& c) {
  return dm::value(dm::complete(dm::sum(dm::cast<double>(c))));
}

template <class T> void compare(const dm::grid<plane>& g, int down, dm::index_t size) {
  using a_type = dm::tensor<T, on<dm::split<height, rows>, dm::split<depth, cols>>, height, depth>;
  using b_type = dm::tensor<T, on<dm::split<depth, rows>, dm::split<width, cols>>, depth, width>;
  const auto a = dm::generate<a_type>(
      g, [](dm::index_t i, dm::index_t j) { return left<T>(i, j); }, height{size}, depth{size});
  const auto b = dm::generate<b_type>(
      g, [](dm::index_t i, dm::index_t j) { return right<T>(i, j); }, depth{size}, width{size});
  const auto whole_a = dm::relayout<on<dm::split<height, rows>>>(a);
  const auto whole_b = dm::relayout<on<dm::split<width, cols>>>(b);
  const auto best = [&] { return dm::contract<by::best<>, height, width>(a, b); };
  const auto summa = [&] { return dm::contract<by::summa<rows, cols, 512>, height, width>(a, b); };
  const auto local = [&] { return dm::einsum<height, width>(whole_a, whole_b); };
  const double expected = sum_of<T>(local());
  // All wait for the last one: where ranks take turns on a core, none is done before the others.
  const auto all = [](const auto& f) {
    return [&f] {
      (void)f();
      PMPI_Barrier(MPI_COMM_WORLD);
    };
  };
  const bench::race race(MPI_COMM_WORLD, 1.0, 3);
  const std::string head = std::string(sizeof(T) == 8 ? "double " : "float ") +
                           std::to_string(size) + ", " + std::to_string(down) + " x " +
                           std::to_string(g.ranks() / down) + ": ";
  const bool speaks = g.rank() == 0;
  const double work = 2e-9 * std::pow(static_cast<double>(size), 3);
  const auto speed = [&](const char* what, const bench::sample& s) {
    if (speaks) std::printf("  %-12s %8.1f Gflop/s\n", what, work / s.counts());
  };
  if (sum_of<T>(best()) != expected || sum_of<T>(summa()) != expected)
    throw dm::error("contract: a wrong product");
#ifdef DIMESH_WITH_SCALAPACK
  const scalapack<T> peer(down, g.ranks() / down, static_cast<int>(size), 128);
  peer();
  if (peer.sum() != expected) throw dm::error("contract: ScaLAPACK's product is another one");
  const auto [s, p, l, z] = race(all(best), all(summa), all(local), all(peer));
  bench::report(head + "best, ScaLAPACK", s, {z}, 1.2, false, !speaks);
  bench::report(head + "summa, ScaLAPACK", p, {z}, 1.2, false, !speaks);
  speed("ScaLAPACK", z);
#else
  const auto [s, p, l] = race(all(best), all(summa), all(local));
#endif
  bench::report(head + "best, local", s, {l}, 0.95, false, !speaks);
  bench::report(head + "summa, local", p, {l}, 0.95, false, !speaks);
  speed("best", s), speed("summa", p), speed("local", l);
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int down = ranks % 2 == 0 && ranks > 2 ? 2 : 1;
    const dm::grid<plane> g(rows{down}, cols{ranks / down});
#ifndef DIMESH_WITH_SCALAPACK
    if (g.rank() == 0) std::printf("ScaLAPACK was not found: its products are left out\n");
#endif
    if (g.rank() == 0) bench::headline("distributed product");
    compare<double>(g, down, quick ? 1024 : 4096);
    compare<float>(g, down, quick ? 1024 : 4096);
  });
}
