// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast are distributed Fourier transforms beside FFTW's own over MPI? Bar: 1.1 of its time.
// Both plan by FFTW's heuristic; with --measured the peer has plans that were found by trying. Of
// two dims and more in slabs:
//
//   moved            where the transform leaves it: the second dim is split (FFTW_MPI_TRANSPOSED)
//   brought back     the first dim is split again: one all-to-all more
//   there and back   moved, and the inverse from there, divided by the number of elements
//
// Of one dim it stays as it lies. Real numbers: FFTW has no such transform of one dim. Results are
// compared first. Bytes are those that a rank gives to others by MPI's calls, as rank 0 counts.
// ranks: 1 2 4
//
//   mpirun -n 2 benchmarks/fft [--quick] [--measured] [1-D] [2-D] [3-D]
#include <census.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/host_block.hpp>
#include <dimesh/op/fft_exchange.hpp>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#ifdef DIMESH_WITH_FFTW_MPI
#include <fftw3-mpi.h>
#endif

#include "support/race.hpp"

namespace {

namespace dm = dimesh;
using dm::index_t;
using number = dm::complex_of<double>;
using extents = std::vector<std::ptrdiff_t>;

struct x : dm::dim<> {};
struct y : dm::dim<> {};
struct z : dm::dim<> {};
struct half : dm::dim<> {};
struct ring : dm::axis<> {};
struct around : dm::mesh<ring> {};
using slabs = dm::layout<around, dm::split<x, ring>>;
template <class T, class... D> using field = dm::tensor<T, slabs, D...>;

bool measured = false, quick = false;
std::string dims;  // of which transforms; empty: all
double apart = 0;

/// What is transformed: no symmetry, all frequencies.
double wave(index_t i, index_t j = 0, index_t k = 0) {
  return std::sin(static_cast<double>((i * 7919 + j * 104729 + k * 1299709) % 10007));
}

#ifdef DIMESH_WITH_FFTW_MPI
/// FFTW's transform of n numbers, real or complex, and its inverse, in arrays of its own.
class peer {
 public:
  peer(extents n, bool real, bool moved) : n_(std::move(n)), real_(real) {
    const unsigned how = measured ? FFTW_MEASURE : FFTW_ESTIMATE;
    const auto dims = static_cast<int>(n_.size());
    extents last = n_;
    if (real_) last.back() = n_.back() / 2 + 1;
    std::ptrdiff_t first = 0, second = 0, at_second = 0;
    std::ptrdiff_t room = 0;
    if (dims == 1)
      room = fftw_mpi_local_size_1d(n_[0], MPI_COMM_WORLD, FFTW_FORWARD, how, &first, &at_, &second,
                                    &at_second);
    else
      room = fftw_mpi_local_size_transposed(dims, last.data(), MPI_COMM_WORLD, &first, &at_,
                                            &second, &at_second);
    rows_ = first;
    for (const std::ptrdiff_t d : n_) points_ *= static_cast<double>(d);
    here_ = fftw_alloc_complex(static_cast<std::size_t>(room));
    there_ = fftw_alloc_complex(static_cast<std::size_t>(room));
    const unsigned out = how | (moved ? FFTW_MPI_TRANSPOSED_OUT : 0u);
    const unsigned in = how | (moved ? FFTW_MPI_TRANSPOSED_IN : 0u);
    auto* const numbers = reinterpret_cast<double*>(here_);
    if (real_) {
      forward_ = fftw_mpi_plan_dft_r2c(dims, n_.data(), numbers, there_, MPI_COMM_WORLD, out);
      backward_ = fftw_mpi_plan_dft_c2r(dims, n_.data(), there_, numbers, MPI_COMM_WORLD, in);
    } else {
      forward_ =
          fftw_mpi_plan_dft(dims, n_.data(), here_, there_, MPI_COMM_WORLD, FFTW_FORWARD, out);
      backward_ =
          fftw_mpi_plan_dft(dims, n_.data(), there_, here_, MPI_COMM_WORLD, FFTW_BACKWARD, in);
    }
    if (forward_ == nullptr || backward_ == nullptr) throw dm::error("fft: FFTW has no plan");
    values_ = rows_;
    for (std::size_t d = 1; d < n_.size(); ++d)
      values_ *= d + 1 == n_.size() && real_ ? 2 * last[d] : n_[d];
  }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  ~peer() {
    fftw_destroy_plan(forward_), fftw_destroy_plan(backward_);
    fftw_free(here_), fftw_free(there_);
  }
  /// f(i, j, k) everywhere.
  template <class F> void fill(const F& f) {
    const index_t m = n_.size() > 1 ? n_[1] : 1, l = n_.size() > 2 ? n_[2] : 1;
    const index_t end = n_.size() == 1 ? 1 : real_ ? n_.back() / 2 * 2 + 2 : n_.back();
    const index_t rows = n_.size() > 2 ? m : 1, length = n_.size() > 2 ? l : m;
    for (index_t i = 0; i < rows_; ++i)
      for (index_t j = 0; j < rows; ++j)
        for (index_t k = 0; k < length; ++k) {
          const index_t to = (i * rows + j) * end + k;
          const double v = n_.size() > 2 ? f(at_ + i, j, k) : f(at_ + i, k, index_t{0});
          if (real_)
            reinterpret_cast<double*>(here_)[to] = v;
          else
            here_[to][0] = v, here_[to][1] = 0;
        }
  }
  void forward() { fftw_execute(forward_); }
  void there_and_back() {
    fftw_execute(forward_);
    fftw_execute(backward_);
    auto* const v = reinterpret_cast<double*>(here_);
    const double by = 1 / points_;
    const index_t n = real_ ? values_ : 2 * values_;
#pragma omp simd
    for (index_t i = 0; i < n; ++i) v[i] *= by;
  }
  std::complex<double> result(index_t i) const { return {there_[i][0], there_[i][1]}; }

 private:
  extents n_;
  bool real_;
  std::ptrdiff_t at_ = 0, rows_ = 0, values_ = 0;
  double points_ = 1;
  fftw_complex *here_ = nullptr, *there_ = nullptr;
  fftw_plan forward_ = nullptr, backward_ = nullptr;
};
#endif

/// The largest distance of the blocks of all ranks, by the largest element. Ours is [first, split,
/// rest], FFTW's, where it is moved, [split, first, rest].
template <class Y, class P>
void check(const Y& ours, const P& theirs, index_t first, index_t split) {
  const dm::host_block a(ours);
  const index_t rest = first * split > 0 ? a.size() / (first * split) : 0;
  double worst[2] = {0, 0};
  for (index_t i = 0; i < first; ++i)
    for (index_t j = 0; j < split; ++j)
      for (index_t k = 0; k < rest; ++k) {
        const auto v = a[(i * split + j) * rest + k];
        const std::complex<double> got(v.real(), v.imag());
        worst[0] = std::max(worst[0], std::abs(got - theirs((i * split + j) * rest + k,
                                                            (j * first + i) * rest + k)));
        worst[1] = std::max(worst[1], std::abs(got));
      }
  PMPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  apart = std::max(apart, worst[0] / worst[1]);
  if (!(worst[0] <= 1e-12 * worst[1])) throw dm::error("fft: FFTW's result is another one");
}

template <class F> long long bytes_of(const F& f) {
  census::reset();
  f();
  return static_cast<long long>(census::snapshot().bytes());
}
/// All wait for the last one: where ranks take turns on a core, none is done before the others.
template <class F> auto together(const F& f) {
  return [&f] {
    f();
    PMPI_Barrier(MPI_COMM_WORLD);
  };
}
template <class F, class P> void race(const std::string& what, const F& ours, const P& theirs) {
  const long long mine = bytes_of(ours), its = bytes_of(theirs);
  const auto [typed, fftw] = bench::race(MPI_COMM_WORLD, quick ? 0.3 : 1.0, quick ? 9 : 25)(
      together(ours), together(theirs));
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bench::report(what, typed, {fftw}, 1.1, true, rank != 0);
  if (rank == 0) std::printf("    bytes a rank: typed %lld, FFTW %lld\n", mine, its);
}
template <class F> void alone(const std::string& what, const F& ours) {
  const long long mine = bytes_of(ours);
  const auto [typed] =
      bench::race(MPI_COMM_WORLD, quick ? 0.3 : 1.0, quick ? 9 : 25)(together(ours));
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf("%-44s %11.2f us, bytes a rank: %lld\n", what.c_str(), typed.counts() * 1e6, mine);
}

/// One dim, complex, as it lies.
void compare(const dm::grid<around>& g, index_t n) {
  const auto u =
      dm::as_complex(dm::generate<field<double, x>>(g, [](index_t i) { return wave(i); }, x{n}));
  const auto there = [&] { return dm::fft_exchange<x>(u); };
  const auto back = [&] { return dm::ifft_exchange<x>(there()); };
  const std::string name = "1-D " + std::to_string(n) + ", complex, ";
#ifdef DIMESH_WITH_FFTW_MPI
  peer p({n}, false, false);
  p.fill(wave);
  p.forward();
  const auto v = there();
  check(v, [&](index_t i, index_t) { return p.result(i); }, 1, v.template block<x>().length);
  race(name + "as it lies", [&] { (void)there(); }, [&] { p.forward(); });
  race(name + "there and back", [&] { (void)back(); }, [&] { p.there_and_back(); });
#else
  alone(name + "as it lies", [&] { (void)there(); });
  alone(name + "there and back", [&] { (void)back(); });
#endif
}

/// Slabs u of n elements, by two functions of it; Split: what is split after the first.
template <class Split, class U, class There, class Back>
void compare_slabs(const std::string& name, const extents& n, bool real, const U& u,
                   const There& transform, const Back& inverse) {
  const auto moved = [&] { return transform(u); };
  const auto brought = [&] { return dm::relayout<slabs>(transform(u)); };
  const auto there_and_back = [&] { return inverse(transform(u)); };
#ifdef DIMESH_WITH_FFTW_MPI
  {
    peer p(n, real, true);
    p.fill(wave);
    p.forward();
    const auto v = moved();
    check(
        v, [&](index_t, index_t i) { return p.result(i); }, n[0], v.template block<Split>().length);
    race(name + "moved", [&] { (void)moved(); }, [&] { p.forward(); });
    race(name + "there and back", [&] { (void)there_and_back(); }, [&] { p.there_and_back(); });
  }
  peer p(n, real, false);
  p.fill(wave);
  p.forward();
  const auto v = brought();
  check(v, [&](index_t i, index_t) { return p.result(i); }, v.template block<x>().length, 1);
  race(name + "brought back", [&] { (void)brought(); }, [&] { p.forward(); });
#else
  (void)n, (void)real;
  alone(name + "moved", [&] { (void)moved(); });
  alone(name + "there and back", [&] { (void)there_and_back(); });
  alone(name + "brought back", [&] { (void)brought(); });
#endif
}

void compare_2d(const dm::grid<around>& g, index_t n) {
  const std::string name = "2-D " + std::to_string(n) + "^2, ";
  const auto u = dm::generate<field<double, x, y>>(
      g, [](index_t i, index_t j) { return wave(i, j); }, x{n}, y{n});
  compare_slabs<y>(
      name + "complex, ", {n, n}, false, dm::as_complex(u),
      [](const auto& v) { return dm::fft_all_to_all<x, y>(v); },
      [](const auto& v) { return dm::ifft_all_to_all<x, y>(v); });
  compare_slabs<half>(
      name + "real, ", {n, n}, true, u,
      [](const auto& v) { return dm::rfft_all_to_all<y, half, x>(v); },
      [n](const auto& v) { return dm::irfft_all_to_all<half, y, x>(v, y{n}); });
}
void compare_3d(const dm::grid<around>& g, index_t n) {
  const std::string name = "3-D " + std::to_string(n) + "^3, ";
  const auto u = dm::generate<field<double, x, y, z>>(
      g, [](index_t i, index_t j, index_t k) { return wave(i, j, k); }, x{n}, y{n}, z{n});
  compare_slabs<y>(
      name + "complex, ", {n, n, n}, false, dm::as_complex(u),
      [](const auto& v) { return dm::fft_all_to_all<x, y, z>(v); },
      [](const auto& v) { return dm::ifft_all_to_all<x, y, z>(v); });
  compare_slabs<y>(
      name + "real, ", {n, n, n}, true, u,
      [](const auto& v) { return dm::rfft_all_to_all<z, half, x, y>(v); },
      [n](const auto& v) { return dm::irfft_all_to_all<half, z, x, y>(v, z{n}); });
}

void compare_all() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<around> g(ring{ranks});
#ifdef DIMESH_WITH_FFTW_MPI
  fftw_mpi_init();
#else
  if (g.rank() == 0) std::printf("FFTW's MPI transforms were not found: they are left out\n");
#endif
  if (g.rank() == 0)
    bench::headline(measured ? "transforms, the peer's plans measured" : "transforms");
  const auto asked = [](const char* of) {
    return dims.empty() || dims.find(of) != std::string::npos;
  };
  for (const index_t n : {4096, 65536, 1048576})
    if (asked("1-D") && (!quick || n <= 65536)) compare(g, n);
  for (const index_t n : {64, 256, 1000, 1024, 2048})
    if (asked("2-D") && (!quick || n <= 256)) compare_2d(g, n);
  for (const index_t n : {16, 32, 100, 128})
    if (asked("3-D") && (!quick || n <= 32)) compare_3d(g, n);
  if (g.rank() == 0)
    std::printf("results are %.1e apart at most, by their largest element\n", apart);
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    for (int i = 1; i < argc; ++i) {
      quick = quick || std::strcmp(argv[i], "--quick") == 0;
      measured = measured || std::strcmp(argv[i], "--measured") == 0;
      if (argv[i][0] != '-') dims += argv[i];
    }
    if (dm::local::has_fftw)
      compare_all();
    else
      std::printf("fft: FFTW was not found, there is nothing to compare\n");
  });
}
