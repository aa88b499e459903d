// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are elements along a dim joined one after another? In one pass, side by side along the dims
// stored behind it, or several rows at once where there are none: a single chain of operations
// would wait for itself. Linear in the elements.
//
//   scan(fold_step<plus, float>{}, lines{256, 10, 64}, in, nullptr, 0, y)
//     x (256, 10, 64) -> y (256, 10, 64), summed along 10
//   scan_totals(step, lines, in, totals)     what a block does to the carry, for the blocks behind
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/local/scan_steps.hpp"
#include "dimesh/local/scan_totals.hpp"

namespace dimesh::local {

/// Arrays (outer, n, inner), scanned along n, or along it from its end.
struct lines {
  index_t outer, n, inner;
  bool reverse = false;
  constexpr index_t count() const { return outer * inner; }
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
  /// Where the first carry of piece p begins, and how far apart its elements lie.
  KOKKOS_FUNCTION index_t begin(index_t p) const {
    const index_t place = l.reverse ? l.n - 1 : 0;
    if (l.inner == 1) return p * scan_rows * l.n + place;
    return (p / per_line(l) * l.n + place) * l.inner + p % per_line(l) * scan_columns;
  }
  KOKKOS_FUNCTION index_t along() const { return l.reverse ? -l.inner : l.inner; }
};

/// A chain of steps, by value: compilers keep its parts in registers.
template <class Step, class T> struct scan_chain {
  Step step;
  scan_inputs<T> x;
  T* y;
  index_t behind;  // from an element to the result that has the carry after it

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T before, index_t i) const {
    const T after = next_of(step, before, x, i);
    if constexpr (Step::gives_carry)
      y[i + behind] = after;
    else
      y[i] = given_of(step, before, after, x, i);
    return after;
  }
};

template <class Step, class T> struct scan_work : scan_piece<T> {
  Step step;
  const T* start;  // null: step.first()
  index_t start_step;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t p) const {
    const dimesh::detail::writes_memory kernel;
    if (this->l.n == 0) return;
    const index_t count = this->width(p), first = this->first(p);
    if (this->l.inner != 1) {
      if constexpr (Step::gives_carry)
        columns(count, first, this->begin(p));
      else
        pulled_columns(count, first, this->begin(p));
      return;
    }
    const index_t last = first + count;
    index_t row = first;
    if (Step::inputs == 1 || !share_sets())
      for (; row + 4 <= last; row += 4) rows<4>(row);
    for (; row + 2 <= last; row += 2) rows<2>(row);
    if (row < last) rows<1>(row);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T carry_of(index_t i) const {
    return start != nullptr ? start[i * start_step] : step.first();
  }
  /// How many steps results stand behind: those of exclusive scans begin with the first carry.
  KOKKOS_FORCEINLINE_FUNCTION index_t steps_behind() const {
    if constexpr (Step::gives_carry)
      return step.exclusive ? 1 : 0;
    else
      return 0;
  }
  /// Do rows lie pages apart? Then what is read and written side by side falls into one set of a
  /// first-level cache, which has room for 8 lines or a few more: four rows of two arrays, or two
  /// rows of more arrays.
  KOKKOS_FORCEINLINE_FUNCTION bool share_sets() const {
    constexpr index_t page = 4096, line = 64;
    return (this->l.n * static_cast<index_t>(sizeof(T)) + line) % page <= 2 * line;
  }

  template <int Rows> KOKKOS_FORCEINLINE_FUNCTION void rows(index_t row) const {
    const index_t n = this->l.n, by = this->along(), behind = steps_behind();
    const scan_chain<Step, T> next{step, this->in, y, behind * by};
    index_t i = row * n + (this->l.reverse ? n - 1 : 0);
    T carry[Rows];
    for (int r = 0; r < Rows; ++r) carry[r] = carry_of(row + r);
    for (int r = 0; r < Rows && behind != 0; ++r) y[i + r * n] = carry[r];
    for (index_t k = behind; k < n; ++k, i += by)
      for (int r = 0; r < Rows; ++r) carry[r] = next(carry[r], i + r * n);
  }

  /// The carries are the row of results before.
  KOKKOS_FORCEINLINE_FUNCTION void columns(index_t count, index_t first, index_t at) const {
    const index_t down = this->along(), behind = steps_behind();
    for (index_t j = 0; j < count; ++j) y[at + j] = carry_of(first + j);
    if (behind == 0) row(count, at, at, at);
    for (index_t k = 1; k < this->l.n; ++k, at += down)
      row(count, at, at + (1 - behind) * down, at + down);
  }
  /// y (count) at before, in (count) at from -> y (count) at to
  KOKKOS_FORCEINLINE_FUNCTION void row(index_t count, index_t before, index_t from,
                                       index_t to) const {
    const scan_inputs<T> x = this->in;
    const T* const carry = y + before;
    T* const result = y + to;
    const Step s = step;
#pragma omp simd
    for (index_t j = 0; j < count; ++j) result[j] = next_of(s, carry[j], x, from + j);
  }

  KOKKOS_FORCEINLINE_FUNCTION void pulled_columns(index_t count, index_t first, index_t at) const {
    T carry[scan_columns];
    for (index_t j = 0; j < count; ++j) carry[j] = carry_of(first + j);
    const index_t down = this->along();
    const scan_chain<Step, T> next{step, this->in, y, 0};
    for (index_t k = 0; k < this->l.n; ++k, at += down) {
#pragma omp simd
      for (index_t j = 0; j < count; ++j) carry[j] = next(carry[j], at + j);
    }
  }
};

template <class Step, class T> struct totals_work : scan_piece<T> {
  Step step;
  scan_total<Step, T>* total;

  KOKKOS_FUNCTION void operator()(index_t p) const {
    const dimesh::detail::writes_memory kernel;
    T carry[scan_columns];
    [[maybe_unused]] T slope[scan_columns];
    [[maybe_unused]] decltype(real_part(T())) scale[scan_columns];
    const index_t count = this->width(p), first = this->first(p);
    const index_t apart = this->l.inner == 1 ? this->l.n : 1;
    const scan_inputs<T> x = this->in;
    const Step s = step;
    for (index_t j = 0; j < count; ++j) carry[j] = s.first(), slope[j] = T(1), scale[j] = 0;
    const index_t down = this->along();
    for (index_t k = 0, at = this->begin(p); k < this->l.n; ++k, at += down) {
#pragma omp simd
      for (index_t j = 0; j < count; ++j) {
        carry[j] = next_of(s, carry[j], x, at + j * apart);
        if constexpr (Step::affine && Scalable<T>) {
          const auto all = scaled<T>::product(slope[j], scale[j], slope_of(s, x, at + j * apart));
          slope[j] = all.x, scale[j] = all.scale;
        } else if constexpr (Step::affine) {
          slope[j] *= slope_of(s, x, at + j * apart);
        }
      }
    }
    for (index_t j = 0; j < count; ++j) {
      if constexpr (Step::affine && Scalable<T>)
        total[first + j] = {slope[j], carry[j], T(scale[j])};
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
