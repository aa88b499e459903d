// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a split dim transformed where it lies? As rows and columns, N = rows x columns: element n
// is in row n / columns, frequency k in row k % rows (Bailey, J. Supercomputing 4 (1990)).
//
//   x[n/rows]              -> [row, column/rows]     to_columns_rule: one exchange
//   transformed along row, times exp(-+ 2 pi i row column / N)     twiddled_fft_op
//   [row, column/rows]     -> [row/rows, column]     made_whole: an all-to-all
//   transformed along column to [column, row/rows] -> [k/rows]     from_rows_rule: one exchange
#pragma once

#include "dimesh/local/twiddle.hpp"
#include "dimesh/op/merge_exchange.hpp"
#include "dimesh/op/parts/fft_op.hpp"
#include "dimesh/op/parts/relayout_of_probe.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/relayout.hpp"

namespace dimesh::detail {

/// What a long dim is cut into.
struct fft_row : dim<> {};
struct fft_column : dim<> {};

/// How many rows a dim of n elements has that so many ranks split: a divisor of n, at most its
/// root, for which the longest blocks of both cuts have the fewest elements together; of equals the
/// greatest.
constexpr index_t six_step_rows(index_t n, index_t ranks) {
  const auto longest = [ranks](index_t k) { return (k + ranks - 1) / ranks; };
  index_t best = 1, least = -1;
  for (index_t r = 1; r * r <= n && ranks > 1; ++r) {
    if (n % r != 0) continue;
    const index_t work = r * longest(n / r) + longest(r) * (n / r);
    if (least < 0 || work <= least) best = r, least = work;
  }
  return best;
}

/// Rule of dim D as rows and columns, of which the columns are split as D is. (Or as other two.)
template <class D, class Row = fft_row, class Column = fft_column> struct to_columns_rule {
  using named = list<D, Row, Column>;
  template <class E>
  using one = std::conditional_t<std::is_same_v<E, D>, list<Row, Column>, list<E>>;
  template <class Dims> struct dims;
  template <class... E> struct dims<list<E...>> {
    using type = typename concat_impl<list<>, one<E>...>::type;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    const unsigned axes = x[0].layout.axes_of(x[0].place_of(&facts_of_dim<D>));
    const int to = out.place_of(&facts_of_dim<Column>);
    table t = table_over_dims(x[0].layout, x[0].dims(), out);
    for (int a = 0; a < t.axes; ++a)
      if (axes >> a & 1u)
        t.axis[a] = {use::split, static_cast<signed char>(to), x[0].layout.axis[a].level};
    t.uneven[to] = axes != 0;
    return formed(t, out, x[0]);
  }
};
/// Blocks of dim d that were ragged, uneven.
constexpr table unevenly(table t, int d) {
  t.uneven[d] = t.uneven[d] || t.ragged[d];
  t.ragged[d] = false;
  return t;
}

/// Rule of columns and rows, in this order, as dim D, split as it is in the second operand, in
/// blocks that are uneven where they are ragged there.
template <class D> struct from_rows_rule {
  using named = list<D, fft_row, fft_column>;
  template <class, class Like> struct dims {
    using type = Like;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    return formed(unevenly(x[1].layout, x[1].place_of(&facts_of_dim<D>)), out, x[1]);
  }
};

/// Elements T, complex, of rows and columns, neighbours in storage: transformed along the rows,
/// then times their roots of unity; or, the transpose of that, the other way round.
template <class T> struct twiddled_fft_op {
  static constexpr bool on_host = true;
  int row;
  bool forward, roots_first;
  std::string_view call;
  static constexpr bool takes_complex = true;
  using real = part_of<T>;
  using number = std::complex<real>;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(fft_flops(x[0], 1u << row) + 12 * x[0].elements(), x[0].bytes() + 3 * y[0].bytes());
  }
  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
    if (x.elements() == 0) return;
    storage copied;
    const auto* const from = reinterpret_cast<const number*>(aligned<real, T>(x, copied));
    auto* const to = reinterpret_cast<number*>(y[0].data<T>());
    const block r = x.own(row), c = x.own(row + 1);
    const index_t inner = x.stride(row + 1);
    const local::twiddle_lines lines{x.elements() / (r.length * c.length * inner),
                                     r.length,
                                     c.length,
                                     inner,
                                     r.offset,
                                     c.offset,
                                     x.extent(row) * x.extent(row + 1)};
    const local::fft_loops along = fft_loops_of(x, x, 1u << row);
    if (roots_first) local::twiddle(lines, forward, from, to);
    local::fft_dims<real>(along, forward, 1, roots_first ? to : from, to);
    if (!roots_first) local::twiddle<real>(lines, forward, to, to);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, twiddled_fft_op{row, !forward, !roots_first, call}, to.ybar);
  }
};

/// The axes that split dim `from` split dim `to` instead.
constexpr table split_moved(const tensor_facts& x, table t, int from, int to) {
  while (t.split_count(from) > 0) t = with_split(t, t.axis_at(from, 0), to, true);
  t.uneven[from] = false;
  return tidied(x, t);
}
template <class S, int From, int To> struct split_moved_table {
  static constexpr table result = split_moved(spec_facts<S>, S::table, From, To);
};
/// Dim From whole, one of rows and columns, which are neighbours, and To split.
template <int From, int To, class X> constexpr auto made_whole(const X& x) {
  if constexpr (is_probe<X>) {
    return relaid_probe(x, split_moved(*core_of(x).facts, core_of(x).layout(), From, To));
  } else {
    using S = spec_of<X>;
    return relayout<
        layout_type<typename S::mesh, typename S::dims, split_moved_table<S, From, To>>>(x);
  }
}

/// Dims in which rows and columns have changed places.
template <class Dims, class Row = fft_row> struct turned_dims;
template <class Row, class... D> struct turned_dims<list<D...>, Row> {
  using type =
      list<std::conditional_t<std::is_same_v<D, Row>, fft_column,
                              std::conditional_t<std::is_same_v<D, fft_column>, Row, D>>...>;
};

}  // namespace dimesh::detail
