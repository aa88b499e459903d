// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are vectors turned by their positions? Elements h and h + half are the parts of a complex
// number, which is multiplied by exp(i position base^(-h / half)): Su et al. 2021, RoFormer,
// section 3.2.2, with the pairs of GPT-NeoX and Llama (halves, not neighbours).
//
//   rotate({.positions = 2, .half = 1, .row = 2}, x, y, scratch)
//     y[0..2) = x[0..2),   y[2] = cos(1) x[2] - sin(1) x[3],   y[3] = sin(1) x[2] + cos(1) x[3]
#pragma once

#include <cmath>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"

namespace dimesh::local {

/// Vectors of 2 * half contiguous elements, in a nest of loops around that over positions.
struct rotation {
  index_t positions = 0, half = 0;
  index_t row = 0;    ///< elements from one position to the next
  index_t first = 0;  ///< the first position
  double base = 10000;
  bool back = false;  ///< turn the other way
  int outer = 0;
  index_t extent[max_dims]{}, stride[max_dims]{};
};

namespace detail {

/// The angles of one position after the other: found anew at every 32nd, between them by
/// multiplication. What a position gets depends on it alone, not on where a block begins.
template <class T> class rotation_angles {
  static constexpr index_t run = 32;

 public:
  static constexpr index_t bytes_each = 5 * sizeof(double) + 2 * sizeof(T);

  rotation_angles(const rotation& x, void* scratch)
      : half_(x.half), back_(x.back), rate_(static_cast<double*>(scratch)) {
    const dimesh::detail::writes_memory kernel;
    step_re_ = rate_ + half_, step_im_ = step_re_ + half_, re_ = step_im_ + half_,
    im_ = re_ + half_;
    cosine = reinterpret_cast<T*>(im_ + half_), sine = cosine + half_;
    for (index_t h = 0; h < half_; ++h) {
      rate_[h] = std::pow(x.base, -static_cast<double>(h) / static_cast<double>(half_));
      step_re_[h] = std::cos(rate_[h]), step_im_[h] = std::sin(rate_[h]);
    }
    at_ = x.first - 1;
    if (x.first % run != 0) {
      restart(x.first - ((x.first % run) + run) % run);
      while (at_ < x.first - 1) turn();
    }
  }
  /// To the next position.
  void advance() {
    const dimesh::detail::writes_memory kernel;
    if ((at_ + 1) % run == 0)
      restart(at_ + 1);
    else
      turn();
    const double sign = back_ ? -1 : 1;
#pragma omp simd
    for (index_t h = 0; h < half_; ++h) {
      cosine[h] = static_cast<T>(re_[h]);
      sine[h] = static_cast<T>(sign * im_[h]);
    }
  }
  T *cosine, *sine;

 private:
  void restart(index_t position) {
    const dimesh::detail::writes_memory kernel;
    at_ = position;
    for (index_t h = 0; h < half_; ++h) {
      const double angle = static_cast<double>(position) * rate_[h];
      re_[h] = std::cos(angle), im_[h] = std::sin(angle);
    }
  }
  void turn() {
    const dimesh::detail::writes_memory kernel;
    ++at_;
#pragma omp simd
    for (index_t h = 0; h < half_; ++h) {
      const double re = re_[h] * step_re_[h] - im_[h] * step_im_[h];
      im_[h] = re_[h] * step_im_[h] + im_[h] * step_re_[h];
      re_[h] = re;
    }
  }
  index_t half_, at_ = 0;
  bool back_;
  double *rate_, *step_re_, *step_im_, *re_, *im_;
};

/// One pair of elements at one position, for all turns of the outer loops: what a device does. The
/// angle comes about as above, from that of the 32nd position before.
template <class T> struct rotated_pair {
  rotation what;
  index_t turns;
  const T* x;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const index_t h = e % what.half, p = e / what.half;
    const index_t place = what.first + p, after = ((place % 32) + 32) % 32;
    const double rate =
        std::pow(what.base, -static_cast<double>(h) / static_cast<double>(what.half));
    const double step_re = std::cos(rate), step_im = std::sin(rate);
    const double angle = static_cast<double>(place - after) * rate;
    double re = std::cos(angle), im = std::sin(angle);
    for (index_t i = 0; i < after; ++i) {
      const double next = re * step_re - im * step_im;
      im = re * step_im + im * step_re;
      re = next;
    }
    const T cosine = static_cast<T>(re), sine = static_cast<T>(what.back ? -im : im);
    for (index_t t = 0; t < turns; ++t) {
      index_t at = p * what.row + h, rest = t;
      for (int i = what.outer - 1; i >= 0; --i) {
        at += rest % what.extent[i] * what.stride[i];
        rest /= what.extent[i];
      }
      const T a = x[at], b = x[at + what.half];
      y[at] = a * cosine - b * sine;
      y[at + what.half] = b * cosine + a * sine;
    }
  }
};

}  // namespace detail

/// Bytes of scratch that `rotate` needs.
template <class T> index_t rotation_scratch(const rotation& x) {
  return x.half * detail::rotation_angles<T>::bytes_each;
}

/// y = x turned. Shapes: both as `what` says. Scratch aligned for double.
template <class T, class Space = default_space>
void rotate(const rotation& what, const T* x, T* y, void* scratch) {
  const dimesh::detail::writes_memory kernel;
  index_t turns = 1;
  for (int i = 0; i < what.outer; ++i) turns *= what.extent[i];
  if (turns == 0 || what.half == 0 || what.positions == 0) return;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(what.positions * what.half,
                                            detail::rotated_pair<T>{what, turns, x, y});
  detail::rotation_angles<T> angles(what, scratch);
  for (index_t p = 0; p < what.positions; ++p) {
    angles.advance();
    const T *cosine = angles.cosine, *sine = angles.sine;
    index_t at[max_dims] = {}, offset = p * what.row;
    for (index_t t = 0; t < turns; ++t) {
      const T *a = x + offset, *b = a + what.half;
      T *u = y + offset, *v = u + what.half;
#pragma omp simd
      for (index_t h = 0; h < what.half; ++h) {
        u[h] = a[h] * cosine[h] - b[h] * sine[h];
        v[h] = b[h] * cosine[h] + a[h] * sine[h];
      }
      for (int i = what.outer - 1; i >= 0; --i) {
        offset += what.stride[i];
        if (++at[i] < what.extent[i]) break;
        offset -= what.stride[i] * what.extent[i];
        at[i] = 0;
      }
    }
  }
}

}  // namespace dimesh::local
