// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are real numbers transformed along a split dim where it lies? As others (six_steps.hpp), and
// of the transforms along the rows the first half: the other rows have the conjugates of these
// (Sorensen et al., IEEE Trans. ASSP 35 (1987)). So two of the three exchanges are of half as much.
//
//   x[n/rows]                   -> [row, column/rows]        to_columns_rule: real numbers travel
//   transformed along row       -> [half, column/rows]       to_half_op, then roots_op
//   [half, column/rows]         -> [half/rows, column]       made_whole: an all-to-all
//   along column to [column, half/rows] -> [h/rows]          half_rows_op: each frequency of h from
//                                                    where it is, or its conjugate; mirrored_op
//
// The inverse goes the same way back: it is the transpose, of frequencies that count for two.
#pragma once

#include "dimesh/op/fft.hpp"
#include "dimesh/op/parts/half_rows.hpp"
#include "dimesh/op/parts/six_steps.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh::detail {

/// How many rows a dim of n real elements has that so many ranks split: a divisor of n, for which
/// the longest blocks of both cuts have the fewest elements together. One column, where n is prime.
constexpr index_t six_step_rows_of_real(index_t n, index_t ranks) {
  const auto longest = [ranks](index_t k) { return (k + ranks - 1) / ranks; };
  index_t best = 1, least = -1;
  const auto try_rows = [&](index_t r) {
    const index_t half = r / 2 + 1, work = half * longest(n / r) + longest(half) * (n / r);
    if (least < 0 || work < least) best = r, least = work;
  };
  for (index_t r = 1; r * r <= n; ++r)
    if (n % r == 0) try_rows(r), try_rows(n / r);
  return best;
}

/// Elements T, complex, of neighbouring dims `row`, `row` + 1, times roots of unity of order n.
template <class T> struct roots_op {
  static constexpr bool on_host = true;
  int row;
  bool forward;
  index_t n;
  std::string_view call;
  static constexpr bool takes_complex = true;
  using number = std::complex<part_of<T>>;

  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
    if (x.elements() == 0) return;
    const block r = x.own(row), c = x.own(row + 1);
    const index_t inner = x.stride(row + 1), outer = x.elements() / (r.length * c.length * inner);
    local::twiddle({outer, r.length, c.length, inner, r.offset, c.offset, n}, forward,
                   reinterpret_cast<const number*>(x.data<const T>()),
                   reinterpret_cast<number*>(y[0].data<T>()));
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(12 * x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, roots_op{row, !forward, n, call}, to.ybar);
  }
};

/// The layout over `out` of x, whose dim From is called To, in blocks as even as types say.
template <class From, class To> constexpr outcome cut_as_even(const tensor_facts& x, dim_list out) {
  table t = with_dim_called(x, &facts_of_dim<From>, &facts_of_dim<To>, out);
  const int d = out.place_of(&facts_of_dim<To>);
  t.uneven[d] = t.split_count(d) > 0;
  t.ragged[d] = false;
  return formed(t, out, x);
}
/// Rule of a transform from dim From to dim To where one rank has all of it.
template <class From, class To> struct half_here_rule {
  using named = list<From, To>;
  template <class First> struct dims : replaced_dims<From, To, First> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    return cut_as_even<From, To>(x[0], out);
  }
};
/// Rule of rows and columns, of which one is a half or none, as dim To, split as From is in the
/// second operand.
template <class From, class To> struct half_there_rule {
  using named = list<From, To, fft_row, fft_half_row, fft_column>;
  template <class, class Like> struct dims : replaced_dims<From, To, Like> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    return cut_as_even<From, To>(x[1], out);
  }
};

template <class X, class Row>
using turned_rule =
    permute_rule<typename turned_dims<typename spec_of<std::remove_cvref_t<X>>::dims, Row>::type>;

/// From real numbers along D, which is split, to H.
template <class D, class H, class X>
constexpr auto six_steps_to_half(std::string_view call, const X& x, index_t n, index_t rows) {
  constexpr int d = index_of<D, typename spec_of<X>::dims>;
  using R = value_of<X>;
  using T = complex_of<R>;
  named_extents parts;
  parts.add(&facts_of_dim<fft_row>, rows);
  parts.add(&facts_of_dim<fft_column>, n / rows);
  const auto cut = apply_rule<to_columns_rule<D>, R>(merged_exchange_op<R>{d, 1, parts, call}, x);
  auto half = apply_rule<half_rule<fft_takes::real, fft_row, fft_half_row, true>, T>(
      to_half_op<R>({d, 0, &facts_of_dim<fft_row>, &facts_of_dim<fft_half_row>, rows, 1, 1, call}),
      cut);
  const auto whole =
      made_whole<d + 1, d>(apply_rule_onto<like_rule, T>(roots_op<T>{d, true, n, call}, half));
  const auto done = apply_rule<turned_rule<decltype(whole), fft_half_row>, T>(
      fft_op<T>{2u << d, true, 1, call}, whole);
  const half_rows of{d, true, n, rows, &facts_of_dim<H>};
  auto y = apply_rule<half_there_rule<D, H>, T>(half_rows_op<T>{of, call}, done, stop_gradient(x));
  return apply_rule_onto<like_rule, T>(mirrored_op<T>{of.turned(), 1, call}, y);
}
/// From H, which is split, to n real numbers along D.
template <class H, class D, class X>
constexpr auto six_steps_from_half(std::string_view call, const X& x, index_t n, index_t rows) {
  constexpr int d = index_of<H, typename spec_of<X>::dims>;
  using T = value_of<X>;
  using R = part_of<T>;
  const half_rows of{d, false, n, rows, &facts_of_dim<H>};
  auto spread =
      apply_rule<to_columns_rule<H, fft_column, fft_half_row>, T>(half_rows_op<T>{of, call}, x);
  const auto mirrored = apply_rule_onto<like_rule, T>(mirrored_op<T>{of.turned(), 2, call}, spread);
  const auto turned = apply_rule<turned_rule<decltype(mirrored), fft_half_row>, T>(
      fft_op<T>{1u << d, false, 1, call}, mirrored);
  auto whole = made_whole<d, d + 1>(turned);
  const auto half = apply_rule_onto<like_rule, T>(roots_op<T>{d, false, n, call}, whole);
  const auto done = apply_rule<half_rule<fft_takes::complex, fft_half_row, fft_row, true>, R>(
      from_half_op<R>({d, 0, &facts_of_dim<fft_row>, &facts_of_dim<fft_half_row>, rows,
                       1 / static_cast<double>(n), 0.5, call}),
      half);
  named_extents all;
  all.add(&facts_of_dim<D>, n);
  return apply_rule<half_there_rule<H, D>, R>(merged_exchange_op<R>{d, 2, all, call}, done,
                                              stop_gradient(x));
}

/// The ranks that split dim d and talk to one another about it.
constexpr unsigned split_among(const tensor_core& x, int d) {
  return talking(x.layout().axes_of(d), x.sizes());
}
/// From n real numbers along D, split or not, to H.
template <class D, class H, class X>
constexpr auto to_half_where_it_lies(std::string_view call, const X& x) {
  constexpr int d = index_of<D, typename spec_of<X>::dims>;
  const auto here = [&] { return to_half<half_here_rule<D, H>, D, H>(call, x, 0); };
  if constexpr (is_whole_by_type<X, D>) {
    return here();
  } else {
    const unsigned over = split_among(core_of(x), d);
    if (over == 0) return here();
    const index_t n = x.template extent<D>(), ranks = group_size(over, core_of(x).sizes());
    if (!has_assumed_extents(x)) require_half<D, H>(call, n, half_extent<D, H, X>(n));
    return six_steps_to_half<D, H>(call, x, n, six_step_rows_of_real(n, ranks));
  }
}
/// From H, split or not, to n real numbers along D.
template <class H, class D, class X>
constexpr auto from_half_where_it_lies(std::string_view call, const X& x, index_t n) {
  constexpr int d = index_of<H, typename spec_of<X>::dims>;
  const auto here = [&] {
    return from_half<half_here_rule<H, D>, H, D>(call, x, 0, n, 1 / static_cast<double>(n));
  };
  if constexpr (is_whole_by_type<X, H>) {
    return here();
  } else {
    const unsigned over = split_among(core_of(x), d);
    if (over == 0) return here();
    const index_t ranks = group_size(over, core_of(x).sizes());
    return six_steps_from_half<H, D>(call, x, n, six_step_rows_of_real(n, ranks));
  }
}

}  // namespace dimesh::detail
