// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the frequencies of real numbers get from rows and columns to the dim that has the first
// half of them, and back? Of N = rows x columns, frequency k is in row k % rows, and rows 0 .. rows
// / 2 are there: what is in another is the conjugate of frequency N - k, which is in one of these.
//
//   half_rows of{d, true, 64, 8, &facts_of_dim<half>};   // [8 columns, 5 rows] -> half, 33
//   half_rows_op<T>{of, "rfft_exchange"}                 each from where it is: one exchange
//   mirrored_op<T>{of.turned(), 1, ..}                   what was in the place of N - k: conjugated
#pragma once

#include "dimesh/local/half_frequencies.hpp"
#include "dimesh/op/parts/complex_parts.hpp"
#include "dimesh/op/parts/line_moves.hpp"
#include "dimesh/op/parts/six_steps.hpp"

namespace dimesh::detail {

/// The first half of the rows' frequencies.
struct fft_half_row : dim<> {};

/// Which transform of real numbers: n of them, in rows of which a half is there, or as the half.
struct half_rows {
  int first;  // where the half stands, or columns and rows
  bool are_rows;  // of the operand
  index_t n, rows;
  const dim_facts* half;

  constexpr half_rows turned() const { return {first, !are_rows, n, rows, half}; }
};

/// Elements T, complex, conjugated where mirrored, and `middle` times those between the ends. Its
/// own transpose: <conj(a), b> is <a, conj(b)>.
template <class T> struct mirrored_op {
  static constexpr bool on_host = true;
  half_rows of;
  double middle;
  std::string_view call;
  static constexpr bool takes_complex = true;
  using real = part_of<T>;
  using number = std::complex<real>;

  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
    if (x.elements() == 0) return;
    const int d = of.are_rows ? of.first + 1 : of.first;
    const index_t groups = of.are_rows ? x.local(of.first) : 1, inner = x.stride(d);
    const block b = x.own(d);
    const local::half_frequencies l{x.elements() / (groups * b.length * inner),
                                    groups,
                                    b.length,
                                    inner,
                                    b.offset,
                                    of.rows,
                                    of.n,
                                    of.rows};
    local::conjugate_mirrored<real>(l, 1, static_cast<real>(middle),
                                    reinterpret_cast<const number*>(x.data<const T>()),
                                    reinterpret_cast<number*>(y[0].data<T>()));
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(2 * x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, *this, to.ybar); }
};

/// Which element (column c, row r) is which of the half, frequency r + rows c or what is left of n.
struct half_rows_map {
  cut_dim row, half;
  half_rows of;

  constexpr half_rows_map(const tensor_core& rows, const tensor_core& h, const half_rows& w)
      : row(placement_of(rows), rows.layout(), w.first + 1, boundary::zero),
        half(placement_of(h), h.layout(), w.first, boundary::zero),
        of(w) {}

  template <class F> constexpr void each(index_t owner, index_t wanting, F&& f) const {
    const block r = row.of(of.are_rows ? owner : wanting),
                h = half.of(of.are_rows ? wanting : owner);
    if (r.length == 0 || h.length == 0) return;
    const index_t r_end = r.offset + r.length, h_end = h.offset + h.length;
    // Rows begin .. end of column c, the first of them element `place` of the half.
    const auto run = [&](index_t c, index_t begin, index_t end, index_t place, index_t step) {
      if (begin >= end) return;
      const index_t own = c * r.length + begin - r.offset;
      f(of.are_rows ? line_run{0, own, 1, place, step, end - begin}
                    : line_run{0, place, step, own, 1, end - begin});
    };
    const columns_between direct(h.offset - r_end, h_end - 1 - r.offset, of);
    for (index_t c = direct.begin; c < direct.end; ++c) {
      const index_t base = c * of.rows, begin = std::max(r.offset, h.offset - base);
      run(c, begin, std::min(r_end, h_end - base), base + begin - h.offset, 1);
    }
    // Rows that are no other's conjugates have all that they stand for themselves.
    const index_t first = std::max<index_t>(r.offset, 1), last = std::min(r_end, (of.rows + 1) / 2);
    const columns_between mirrored(of.n - h_end - r_end, of.n - h.offset - r.offset, of);
    for (index_t c = mirrored.begin; c < mirrored.end; ++c) {
      const index_t left = of.n - c * of.rows, begin = std::max(first, left - h_end + 1);
      run(c, begin, std::min(last, left - h.offset + 1), left - begin - h.offset, -1);
    }
  }

 private:
  /// Columns whose first frequencies lie in low .. high; a few more.
  struct columns_between {
    index_t begin, end;
    constexpr columns_between(index_t low, index_t high, const half_rows& w)
        : begin(low <= 0 ? 0 : low / w.rows),
          end(high < 0 ? 0 : std::min(w.n / w.rows, high / w.rows + 1)) {}
  };
};

/// Columns of half the rows' frequencies as half of all, elements T, or the other way: what is in
/// neither is zero.
template <class T> struct half_rows_op {
  half_rows of;
  std::string_view call;
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* d) const {
    if (same_dim(d, of.half)) return of.n / 2 + 1;
    if (same_dim(d, &facts_of_dim<fft_half_row>)) return of.rows / 2 + 1;
    return same_dim(d, &facts_of_dim<fft_column>) ? of.n / of.rows : dynamic;
  }
  constexpr half_rows_map map(const tensor_core& y, const tensor_core& x) const {
    return of.are_rows ? half_rows_map(x, y, of) : half_rows_map(y, x, of);
  }
  void fill(results y, operands x) const {
    if (!of.are_rows) fill_around(y[0], T{});
    const lines_at<T> there(y[0], of.first, of.are_rows ? 1 : 2);
    const lines_at<const T> here[] = {lines_at<const T>(x[0], of.first, of.are_rows ? 2 : 1)};
    std::optional<line_moves> room;
    move_lines<T>(kept_moves<half_rows_map>(x[0], y[0], {of.first, of.n, of.rows}, room,
                                            [&] {
                                              const half_rows_map m = map(y[0], x[0]);
                                              return line_moves(m, *x[0].grid, m.half.talk,
                                                                there.of.across());
                                            }),
                  here, there, std::string(call).c_str());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const half_rows_map m = map(y[0], x[0]);
    const line_block lines(x[0], of.first, of.are_rows ? 2 : 1);
    count_lines(t, m, m.half.talk, x[0].sizes(), m.half.me(), lines.across() * x[0].facts->element);
    t.compute(0, 2 * y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& back) const {
    back.give(0, half_rows_op{of.turned(), call}, back.ybar);
  }
};

}  // namespace dimesh::detail
