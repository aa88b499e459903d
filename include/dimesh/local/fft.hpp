// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a discrete Fourier transform of one block computed? By FFTW, on the host: its planner is
// asked once for each form (extents, strides, direction, precision), by its heuristic, which
// chooses by the form alone, so that all ranks and all runs round alike; plans are kept.
//
//   fft_loops l;  l.along(64, 1, 1);  l.over(8, 64, 64);     // 8 rows of 64
//   fft(l, true, x, y)        y[k] = sum over n of x[n] exp(-2 pi i k n / 64); y may be x
//   fft_to_half(l, x, y)      x real; y[k] for k <= 32 alone
//   fft_from_half(l, x, y)    the other way, exp(+..), not divided; destroys x
//
// FFTW: M. Frigo and S. G. Johnson, Proc. IEEE 93 (2005). Without it (its header is not found, or
// DIMESH_WITH_FFTW is 0: the target dimesh::fftw says so) everything compiles, and a transform
// throws dimesh::error.
#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/error.hpp"

#if defined(DIMESH_WITH_FFTW) ? DIMESH_WITH_FFTW : __has_include(<fftw3.h>)
#include <fftw3.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#endif

namespace dimesh::local {

/// Which dims are transformed and which are only gone through; strides in elements.
struct fft_loops {
  struct loop {
    index_t extent, from, to;
    bool operator==(const loop&) const = default;
  };
  int ranks = 0, others = 0;
  loop transformed[max_dims]{}, repeated[max_dims]{};

  constexpr void along(index_t n, index_t from, index_t to) {
    transformed[ranks++] = {n, from, to};
  }
  constexpr void over(index_t n, index_t from, index_t to) { repeated[others++] = {n, from, to}; }
};

/// The elements of a block that are transformed together.
constexpr index_t fft_points(const fft_loops& l) {
  index_t n = 1;
  for (int i = 0; i < l.ranks; ++i) n *= l.transformed[i].extent;
  return n;
}
/// Has the block any elements?
constexpr bool fft_is_empty(const fft_loops& l) {
  index_t n = fft_points(l);
  for (int i = 0; i < l.others; ++i) n *= l.repeated[i].extent;
  return n == 0;
}

/// x (n) *= by
template <class T> void fft_scale(index_t n, T by, std::complex<T>* x) {
  const dimesh::detail::writes_memory kernel;
  for (index_t i = 0; i < n; ++i) x[i] *= by;
}
template <class T> void fft_scale(index_t n, T by, T* x) {
  const dimesh::detail::writes_memory kernel;
  for (index_t i = 0; i < n; ++i) x[i] *= by;
}

/// Where the first half of the transform of n real numbers lies in a block: (outer, half, inner).
struct half_lines {
  index_t outer, half, inner, n;
  /// Does the other half have no conjugate of element h?
  constexpr bool is_end(index_t h) const { return h == 0 || 2 * h == n; }
};
/// y (outer, half, inner) = x times `ends`, where is_end, or `middle`. y may be x.
template <class T>
void fft_weigh_half(const half_lines& l, T ends, T middle, const std::complex<T>* x,
                    std::complex<T>* y) {
  const dimesh::detail::writes_memory kernel;
  for (index_t o = 0; o < l.outer; ++o)
    for (index_t h = 0; h < l.half; ++h, x += l.inner, y += l.inner) {
      const T by = l.is_end(h) ? ends : middle;
      for (index_t i = 0; i < l.inner; ++i) y[i] = x[i] * by;
    }
}
/// Forgets imaginary parts of y (outer, half, inner) that stand for no real numbers.
template <class T> void fft_real_ends(const half_lines& l, std::complex<T>* y) {
  const dimesh::detail::writes_memory kernel;
  for (index_t o = 0; o < l.outer; ++o)
    for (index_t h = 0; h < l.half; ++h)
      for (index_t i = 0; i < l.inner && l.is_end(h); ++i)
        y[(o * l.half + h) * l.inner + i].imag(0);
}

#if defined(FFTW_FORWARD)  // its header was included
inline constexpr bool has_fftw = true;

namespace detail {

/// The two precisions of FFTW's C interface.
template <class T> struct fftw;
template <> struct fftw<double> {
  using plan = fftw_plan;
  using loop = fftw_iodim64;
  static auto* as_complex(std::complex<double>* x) { return reinterpret_cast<fftw_complex*>(x); }
  static int misaligned(const void* x) {
    return fftw_alignment_of(static_cast<double*>(const_cast<void*>(x)));
  }
  static constexpr auto& make = fftw_plan_guru64_dft;
  static constexpr auto& make_to_half = fftw_plan_guru64_dft_r2c;
  static constexpr auto& make_from_half = fftw_plan_guru64_dft_c2r;
  static constexpr auto& run = fftw_execute_dft;
  static constexpr auto& run_to_half = fftw_execute_dft_r2c;
  static constexpr auto& run_from_half = fftw_execute_dft_c2r;
  static constexpr auto& destroy = fftw_destroy_plan;
};
template <> struct fftw<float> {
  using plan = fftwf_plan;
  using loop = fftwf_iodim64;
  static auto* as_complex(std::complex<float>* x) { return reinterpret_cast<fftwf_complex*>(x); }
  static int misaligned(const void* x) {
    return fftwf_alignment_of(static_cast<float*>(const_cast<void*>(x)));
  }
  static constexpr auto& make = fftwf_plan_guru64_dft;
  static constexpr auto& make_to_half = fftwf_plan_guru64_dft_r2c;
  static constexpr auto& make_from_half = fftwf_plan_guru64_dft_c2r;
  static constexpr auto& run = fftwf_execute_dft;
  static constexpr auto& run_to_half = fftwf_execute_dft_r2c;
  static constexpr auto& run_from_half = fftwf_execute_dft_c2r;
  static constexpr auto& destroy = fftwf_destroy_plan;
};

enum class fft_kind : signed char { forward, backward, to_half, from_half };

/// Everything that a plan depends on but the precision: whether it works in place, and whether both
/// arrays lie as vector instructions want them.
class fft_form {
 public:
  fft_form(const fft_loops& l, fft_kind kind, bool in_place, bool aligned) {
    add(static_cast<index_t>(kind) * 4 + (in_place ? 2 : 0) + (aligned ? 1 : 0));
    add(l.ranks * (max_dims + 1) + l.others);
    for (int i = 0; i < l.ranks; ++i) add(l.transformed[i]);
    for (int i = 0; i < l.others; ++i) add(l.repeated[i]);
  }
  auto operator<=>(const fft_form&) const = default;

 private:
  void add(index_t n) { value_[count_++] = n; }
  void add(const fft_loops::loop& l) { add(l.extent), add(l.from), add(l.to); }
  std::size_t count_ = 0;
  std::array<index_t, 2 + 6 * max_dims> value_{};
};

/// The plans of one precision. One thread at a time may make or destroy them; they run in any.
template <class T> class fft_plans {
  using library = fftw<T>;
  using plan = std::remove_pointer_t<typename library::plan>;

 public:
  static fft_plans& all() {
    static fft_plans plans;
    return plans;
  }
  /// May: they are aligned wherever the plan is to run, if they are here.
  std::shared_ptr<plan> find(const fft_loops& l, fft_kind kind, void* x, void* y, bool may = true) {
    const bool aligned = may && library::misaligned(x) == 0 && library::misaligned(y) == 0;
    const fft_form wanted(l, kind, x == y, aligned);
    const std::lock_guard alone(mutex_);
    if (const auto known = known_.find(wanted); known != known_.end()) return known->second;
    // Those that run are held by who runs them, and would be destroyed there, without the lock.
    if (known_.size() >= most)
      std::erase_if(known_, [](const auto& one) { return one.second.use_count() == 1; });
    const unsigned how = FFTW_ESTIMATE | (aligned ? 0u : FFTW_UNALIGNED) |
                         (kind == fft_kind::from_half ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT);
    std::shared_ptr<plan> made(make(l, kind, x, y, how), [](plan* p) {
      if (p != nullptr) library::destroy(p);
    });
    if (made == nullptr) throw error("fft: FFTW finds no plan for these extents");
    return known_.emplace(wanted, std::move(made)).first->second;
  }
  std::size_t size() {
    const std::lock_guard alone(mutex_);
    return known_.size();
  }

 private:
  static plan* make(const fft_loops& l, fft_kind kind, void* x, void* y, unsigned how) {
    typename library::loop at[max_dims], over[max_dims];
    for (int i = 0; i < l.ranks; ++i) at[i] = as_loop(l.transformed[i]);
    for (int i = 0; i < l.others; ++i) over[i] = as_loop(l.repeated[i]);
    auto* const from = library::as_complex(static_cast<std::complex<T>*>(x));
    auto* const to = library::as_complex(static_cast<std::complex<T>*>(y));
    if (kind == fft_kind::to_half)
      return library::make_to_half(l.ranks, at, l.others, over, static_cast<T*>(x), to, how);
    if (kind == fft_kind::from_half)
      return library::make_from_half(l.ranks, at, l.others, over, from, static_cast<T*>(y), how);
    return library::make(l.ranks, at, l.others, over, from, to,
                         kind == fft_kind::forward ? FFTW_FORWARD : FFTW_BACKWARD, how);
  }
  static typename library::loop as_loop(const fft_loops::loop& l) {
    return {static_cast<std::ptrdiff_t>(l.extent), static_cast<std::ptrdiff_t>(l.from),
            static_cast<std::ptrdiff_t>(l.to)};
  }

  static constexpr std::size_t most = 512;
  std::mutex mutex_;
  std::map<fft_form, std::shared_ptr<plan>> known_;
};

}  // namespace detail

/// Does memory lie as the instructions of transforms want it?
template <class T> bool fft_is_aligned(const void* x) {
  return detail::fftw<T>::misaligned(x) == 0;
}
/// How many plans are kept for elements of this precision.
template <class T> std::size_t fft_plan_count() { return detail::fft_plans<T>::all().size(); }

/// y[k] = sum over n of x[n] exp(-+2 pi i k n / N), not divided by N. x is kept unless it is y.
template <class T>
void fft(const fft_loops& l, bool forward, const std::complex<T>* x, std::complex<T>* y) {
  const dimesh::detail::writes_memory kernel;
  using library = detail::fftw<T>;
  if (fft_is_empty(l)) return;
  auto* const from = const_cast<std::complex<T>*>(x);
  const auto kind = forward ? detail::fft_kind::forward : detail::fft_kind::backward;
  library::run(detail::fft_plans<T>::all().find(l, kind, from, y).get(), library::as_complex(from),
               library::as_complex(y));
}
/// The first half of the forward transform of real numbers: N / 2 + 1 elements. The extents of the
/// loops are those of x.
template <class T> void fft_to_half(const fft_loops& l, const T* x, std::complex<T>* y) {
  const dimesh::detail::writes_memory kernel;
  using library = detail::fftw<T>;
  if (fft_is_empty(l)) return;
  auto* const from = const_cast<T*>(x);
  library::run_to_half(
      detail::fft_plans<T>::all().find(l, detail::fft_kind::to_half, from, y).get(), from,
      library::as_complex(y));
}
/// The backward transform of what a half stands for: the other half are its conjugates. The extents
/// of the loops are those of y. x is destroyed.
template <class T> void fft_from_half(const fft_loops& l, std::complex<T>* x, T* y) {
  const dimesh::detail::writes_memory kernel;
  using library = detail::fftw<T>;
  if (fft_is_empty(l)) return;
  library::run_from_half(
      detail::fft_plans<T>::all().find(l, detail::fft_kind::from_half, x, y).get(),
      library::as_complex(x), y);
}

#else
inline constexpr bool has_fftw = false;

namespace detail {
[[noreturn]] inline void refuse_without_fftw() {
  throw error("fft: this program was compiled without FFTW (Debian: libfftw3-dev)");
}
}  // namespace detail
template <class T> bool fft_is_aligned(const void*) { return true; }
template <class T> std::size_t fft_plan_count() { return 0; }
template <class T> void fft(const fft_loops&, bool, const std::complex<T>*, std::complex<T>*) {
  detail::refuse_without_fftw();
}
template <class T> void fft_to_half(const fft_loops&, const T*, std::complex<T>*) {
  detail::refuse_without_fftw();
}
template <class T> void fft_from_half(const fft_loops&, std::complex<T>*, T*) {
  detail::refuse_without_fftw();
}
#endif

}  // namespace dimesh::local
