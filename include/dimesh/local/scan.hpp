// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are elements along a dim joined one after another? In one pass, side by side along the dims
// stored behind it, or several rows at once where there are none: a single chain of operations
// would wait for itself. Linear in the elements.
//
//   scan(fold_step<plus, float>{}, lines{256, 10, 64}, in, nullptr, 0, y)
//     x (256, 10, 64) -> y (256, 10, 64), summed along 10
//   scan_totals(step, lines, in, totals)     what a block does to the carry, for the blocks behind
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/local/scan_steps.hpp"

namespace dimesh::local {

/// Arrays (outer, n, inner), scanned along n, or along it from its end.
struct lines {
  index_t outer, n, inner;
  bool reverse = false;
  constexpr index_t count() const { return outer * inner; }
};

/// What a block of an affine step does to its carry: slope * carry + value.
template <class T> struct affine_total {
  T slope, value;
};
/// Of floating-point numbers the slope is slope * 2^(unit * scale): a long product may leave what T
/// can hold before it meets its carry, or a zero.
template <std::floating_point T> struct affine_total<T> {
  T slope, value, scale;
};
/// What a block does to its carry.
template <class Step, class T>
using scan_total = std::conditional_t<Step::affine, affine_total<T>, T>;

namespace detail {

template <class T> constexpr T power_of_two(int n) {
  T x = 1;
  for (; n > 0; --n) x *= T(2);
  for (; n < 0; ++n) x /= T(2);
  return x;
}
/// x * 2^(unit * scale) in three parts: x, the scale, and a unit that makes products of two scaled
/// numbers neither overflow nor vanish, from whatever numbers of T they come.
template <std::floating_point T> struct scaled {
  static constexpr int unit = std::numeric_limits<T>::max_exponent * 5 / 8;
  static constexpr T up = power_of_two<T>(unit), down = power_of_two<T>(-unit),
                     most = power_of_two<T>(unit / 2), least = power_of_two<T>(-unit / 2);
  T x, scale;

  /// The same number with x nearer to 1; exact.
  KOKKOS_FORCEINLINE_FUNCTION static scaled of(T x, T scale = 0) {
    const T size = x < T(0) ? -x : x;
    const T by = size > most ? down : size < least ? up : T(1);
    const T more = size > most ? T(1) : size < least ? T(-1) : T(0);
    return {x * by, scale + more};
  }
  KOKKOS_FORCEINLINE_FUNCTION static scaled product(T x, T scale, T by, T by_scale = 0) {
    const scaled b = of(by, by_scale);
    return of(x * b.x, scale + b.scale);
  }
};

/// slope * 2^(unit * scale) * carry + value. Where nothing is scaled that is slope * carry + value.
template <std::floating_point T> T affine_at(const affine_total<T>& a, T carry) {
  using number = scaled<T>;
  const number c = number::of(carry);
  const T scale = a.scale + c.scale;
  const T by = scale == T(0)    ? T(1)
               : scale == T(1)  ? number::most
               : scale == T(-1) ? number::least
               : scale > T(0)   ? number::up
                                : number::down;
  if (std::abs(scale) <= T(2)) return (a.slope * by) * (c.x * by) + a.value;
  // Beyond what T holds, but for zeros, infinities and NaN: they stay.
  return (a.slope * by) * (c.x * by) * by * by + a.value;
}

}  // namespace detail

/// What two blocks do, one after the other.
template <class Step, class T> struct join_totals {
  Step step;
  scan_total<Step, T> operator()(const scan_total<Step, T>& a, const scan_total<Step, T>& b) const {
    if constexpr (Step::affine && std::floating_point<T>) {
      const auto slope = detail::scaled<T>::product(a.slope, a.scale, b.slope, b.scale);
      return {slope.x, detail::affine_at(b, a.value), slope.scale};
    } else if constexpr (Step::affine) {
      return {a.slope * b.slope, b.slope * a.value + b.value};
    } else {
      return step.join(a, b);
    }
  }
};

namespace detail {

/// The arrays that a step reads.
template <class T> struct scan_inputs {
  const T* at[3];
};
template <class Step, class T>
KOKKOS_FORCEINLINE_FUNCTION T next_of(const Step& s, T c, const scan_inputs<T>& x, index_t i) {
  if constexpr (Step::inputs == 1)
    return s.next(c, x.at[0][i]);
  else if constexpr (Step::inputs == 2)
    return s.next(c, x.at[0][i], x.at[1][i]);
  else
    return s.next(c, x.at[0][i], x.at[1][i], x.at[2][i]);
}
template <class Step, class T>
KOKKOS_FORCEINLINE_FUNCTION T given_of(const Step& s, T before, T after, const scan_inputs<T>& x,
                                       index_t i) {
  if constexpr (Step::inputs == 1)
    return s.given(before, after, x.at[0][i]);
  else if constexpr (Step::inputs == 2)
    return s.given(before, after, x.at[0][i], x.at[1][i]);
  else
    return s.given(before, after, x.at[0][i], x.at[1][i], x.at[2][i]);
}
template <class Step, class T>
KOKKOS_FORCEINLINE_FUNCTION T slope_of(const Step& s, const scan_inputs<T>& x, index_t i) {
  if constexpr (Step::inputs == 1)
    return s.slope(x.at[0][i]);
  else if constexpr (Step::inputs == 2)
    return s.slope(x.at[0][i], x.at[1][i]);
  else
    return s.slope(x.at[0][i], x.at[1][i], x.at[2][i]);
}

/// Carries side by side: so many columns, or so many rows where columns are single.
inline constexpr index_t scan_columns = 256, scan_rows = 8;

/// One call does a piece: some columns of one outer index, or some rows.
template <class T> struct scan_piece {
  lines l;
  scan_inputs<T> in;

  KOKKOS_FUNCTION static index_t per_line(const lines& l) {
    return (l.inner + scan_columns - 1) / scan_columns;
  }
  KOKKOS_FUNCTION static index_t pieces(const lines& l) {
    return l.inner == 1 ? (l.outer + scan_rows - 1) / scan_rows : l.outer * per_line(l);
  }
  /// The first carry of piece p, and how many there are.
  KOKKOS_FUNCTION index_t first(index_t p) const {
    if (l.inner == 1) return p * scan_rows;
    return p / per_line(l) * l.inner + p % per_line(l) * scan_columns;
  }
  KOKKOS_FUNCTION index_t width(index_t p) const {
    const index_t most = l.inner == 1 ? scan_rows : scan_columns;
    const index_t left =
        l.inner == 1 ? l.outer - p * scan_rows : l.inner - p % per_line(l) * scan_columns;
    return left < most ? left : most;
  }
  /// Where element k of the first carry of piece p lies.
  KOKKOS_FUNCTION index_t at(index_t p, index_t k) const {
    const index_t place = l.reverse ? l.n - 1 - k : k;
    if (l.inner == 1) return p * scan_rows * l.n + place;
    return (p / per_line(l) * l.n + place) * l.inner + p % per_line(l) * scan_columns;
  }
};

template <class Step, class T> struct scan_work : scan_piece<T> {
  Step step;
  const T* start;  // null: step.first()
  index_t start_step;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t p) const {
    const dimesh::detail::writes_memory kernel;
    T carry[scan_columns];
    const index_t count = this->width(p), first = this->first(p);
    for (index_t j = 0; j < count; ++j)
      carry[j] = start != nullptr ? start[(first + j) * start_step] : step.first();
    if (this->l.inner != 1) {
      for (index_t k = 0; k < this->l.n; ++k) row(count, 1, this->at(p, k), carry);
    } else if (count == scan_rows) {
      for (index_t k = 0; k < this->l.n; ++k) rows(this->at(p, k), carry);
    } else {
      for (index_t k = 0; k < this->l.n; ++k) row(count, this->l.n, this->at(p, k), carry);
    }
  }

 private:
  /// in (count), step apart -> y (count), carry (count)
  KOKKOS_FORCEINLINE_FUNCTION void row(index_t count, index_t apart, index_t at, T* carry) const {
    const scan_inputs<T> x = this->in;
    T* const to = y;
    const Step s = step;
    if (apart == 1) {
#pragma omp simd
      for (index_t j = 0; j < count; ++j) {
        const T before = carry[j], after = next_of(s, before, x, at + j);
        to[at + j] = given_of(s, before, after, x, at + j);
        carry[j] = after;
      }
    } else {
      for (index_t j = 0; j < count; ++j) {
        const index_t i = at + j * apart;
        const T before = carry[j], after = next_of(s, before, x, i);
        to[i] = given_of(s, before, after, x, i);
        carry[j] = after;
      }
    }
  }
  /// One element of each of scan_rows rows.
  KOKKOS_FORCEINLINE_FUNCTION void rows(index_t at, T* carry) const {
    for (index_t j = 0; j < scan_rows; ++j) {
      const index_t i = at + j * this->l.n;
      const T before = carry[j], after = next_of(step, before, this->in, i);
      y[i] = given_of(step, before, after, this->in, i);
      carry[j] = after;
    }
  }
};

template <class Step, class T> struct totals_work : scan_piece<T> {
  Step step;
  scan_total<Step, T>* total;

  KOKKOS_FUNCTION void operator()(index_t p) const {
    const dimesh::detail::writes_memory kernel;
    T carry[scan_columns];
    [[maybe_unused]] T slope[scan_columns], scale[scan_columns];
    const index_t count = this->width(p), first = this->first(p);
    const index_t apart = this->l.inner == 1 ? this->l.n : 1;
    const scan_inputs<T> x = this->in;
    const Step s = step;
    for (index_t j = 0; j < count; ++j) carry[j] = s.first(), slope[j] = T(1), scale[j] = T(0);
    for (index_t k = 0; k < this->l.n; ++k) {
      const index_t at = this->at(p, k);
#pragma omp simd
      for (index_t j = 0; j < count; ++j) {
        carry[j] = next_of(s, carry[j], x, at + j * apart);
        if constexpr (Step::affine && std::floating_point<T>) {
          const auto all = scaled<T>::product(slope[j], scale[j], slope_of(s, x, at + j * apart));
          slope[j] = all.x, scale[j] = all.scale;
        } else if constexpr (Step::affine) {
          slope[j] *= slope_of(s, x, at + j * apart);
        }
      }
    }
    for (index_t j = 0; j < count; ++j) {
      if constexpr (Step::affine && std::floating_point<T>)
        total[first + j] = {slope[j], carry[j], scale[j]};
      else if constexpr (Step::affine)
        total[first + j] = {slope[j], carry[j]};
      else
        total[first + j] = carry[j];
    }
  }
};

}  // namespace detail

/// in (outer, n, inner) each -> y (outer, n, inner). The carries begin as start (outer, inner), its
/// elements start_step apart, or where it is null as the step's first().
template <class Space = default_space, class Step, class T>
void scan(const Step& step, const lines& l, const detail::scan_inputs<T>& in, const T* start,
          index_t start_step, T* y) {
  for_each_index<Space>(detail::scan_piece<T>::pieces(l),
                        detail::scan_work<Step, T>{{l, in}, step, start, start_step, y});
}

/// in (outer, n, inner) each -> total (outer, inner): what they do to the carries.
template <class Space = default_space, class Step, class T>
void scan_totals(const Step& step, const lines& l, const detail::scan_inputs<T>& in,
                 scan_total<Step, T>* total) {
  for_each_index<Space>(detail::scan_piece<T>::pieces(l),
                        detail::totals_work<Step, T>{{l, in}, step, total});
}

}  // namespace dimesh::local
