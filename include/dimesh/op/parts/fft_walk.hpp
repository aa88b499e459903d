// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which way do transforms along split dims go, and how do tensors go it? What is whole is
// transformed, then the axes that split the next dim move to one that is done, until all are.
//
//   next_fft_move<true>(facts, table, left, done)     which dim comes to be whole, and how
//   fft_walk<true, 0b111, 0>("fft_all_to_all", u, 1)  u[x/rows, y, z] -> [x, y/rows, z]
//
// What nobody else holds is transformed where it lies; halves of real numbers, in one with the dims
// that are whole beside them.
#pragma once

#include "dimesh/op/fft.hpp"
#include "dimesh/op/relayout.hpp"

namespace dimesh::detail {

/// Which dim comes to be whole next, and the layout in which it is.
struct fft_move {
  int dim = -1;
  bool possible = false;
  table to;
};

/// How well dim e serves to be split in the place of another, 0: not at all. Done ones first, since
/// the others must be whole yet; whole ones first, since blocks stay large; even ones first.
constexpr int fft_target_rank(const tensor_facts& x, const table& now, unsigned left, unsigned done,
                              int e, unsigned axes) {
  if (now.ragged[e]) return 0;  // its cuts are for as many blocks as there are
  const bool even = without_axes(now, axes).split_count(e) == 0;
  index_t ranks = 1;
  for (int a = 0; a < now.axes; ++a)
    if (axes >> a & 1u)
      ranks =
          ranks == dynamic || x.axis_sizes()[a] == dynamic ? dynamic : ranks * x.axis_sizes()[a];
  const index_t n = x.dim[e]->extent;
  const bool fits = n != dynamic && ranks != dynamic && n % ranks == 0;
  const int kind = left >> e & 1u ? 0 : done >> e & 1u ? 2 : 1;
  return 1 + (even ? 40 : 0) + 10 * kind + (fits ? 1 : 0);
}
/// The axes that split dim d split another instead.
constexpr fft_move fft_move_from(const tensor_facts& x, const table& now, unsigned left,
                                 unsigned done, int d) {
  fft_move m;
  m.dim = d;
  int best = 0, to = -1;
  for (int e = 0; e < x.rank; ++e) {
    if (e == d) continue;
    const int r = fft_target_rank(x, now, left, done, e, now.axes_of(d));
    if (r > best) best = r, to = e;
  }
  m.to = now;
  m.possible = to >= 0;
  while (m.possible && m.to.split_count(d) > 0)
    m.to = with_split(m.to, m.to.axis_at(d, 0), to, true);
  if (m.possible) m.to.uneven[d] = m.to.ragged[d] = false, m.to = tidied(x, m.to);
  return m;
}
/// Those of the dims in a mask that are whole.
constexpr unsigned whole_dims(const table& t, unsigned dims) {
  for (int a = 0; a < t.axes; ++a)
    if (t.axis[a].what == use::split) dims &= ~(1u << static_cast<unsigned>(t.axis[a].dim));
  return dims;
}
/// The next move, where none of the dims `left` is whole: of the last of them, or the first.
template <bool Forward>
constexpr fft_move next_fft_move(const tensor_facts& x, const table& now, unsigned left,
                                 unsigned done) {
  const int d = Forward ? static_cast<int>(std::bit_width(left)) - 1 : std::countr_zero(left);
  return fft_move_from(x, now, left, done, d);
}
/// The layout after all of it; not possible where a dim has none beside it to be split instead.
template <bool Forward>
constexpr fft_move fft_moves(const tensor_facts& x, const table& from, unsigned left,
                             unsigned done) {
  fft_move m;
  m.possible = true;
  m.to = from;
  for (;;) {
    const unsigned now = whole_dims(m.to, left);
    left &= ~now, done |= now;
    if (left == 0) return m;
    m = next_fft_move<Forward>(x, m.to, left, done);
    if (!m.possible) return m;
  }
}

/// The layout of a table over the dims of spec S; for probes, the table.
template <class S, bool Forward, unsigned Left, unsigned Done> struct fft_moved_table {
  static constexpr table result = next_fft_move<Forward>(spec_facts<S>, S::table, Left, Done).to;
};
template <class S, int D> struct fft_whole_table {
  static constexpr table result = fft_move_from(spec_facts<S>, S::table, 0, 0, D).to;
};
template <class S, class Table>
using fft_layout = layout_type<typename S::mesh, typename S::dims, Table>;

/// Transforms along the dims of the mask Left, each when it is whole; `scale` at the end. Of
/// probes the masks are known when the program runs.
template <bool Forward, class X>
X fft_walk_probe(std::string_view call, X x, unsigned left, unsigned done, double scale) {
  for (;;) {
    const unsigned now = whole_dims(core_of(x).layout(), left);
    left &= ~now, done |= now;
    if (now != 0) x = fft_along(call, x, now, Forward, left == 0 ? scale : 1);
    if (left == 0) return x;
    x = relaid_probe(x,
                     next_fft_move<Forward>(*core_of(x).facts, core_of(x).layout(), left, done).to);
  }
}
/// x under L; x itself is given up, so that the result is alone where it shares its memory.
template <class L, class X> constexpr auto fft_relaid(X& x) {
  auto y = relayout<L>(x);
  const X gone = std::move(x);
  return y;
}
/// x is a handle of its own: what nobody else holds is transformed where it lies.
template <bool Forward, unsigned Left, unsigned Done, class X>
constexpr auto fft_walk(std::string_view call, X x, double scale) {
  if constexpr (is_probe<X>) {
    return fft_walk_probe<Forward>(call, x, Left, Done, scale);
  } else if constexpr (Left == 0) {
    return x;
  } else {
    using S = spec_of<X>;
    constexpr unsigned now = whole_dims(S::table, Left);
    if constexpr (now != 0)
      return fft_walk<Forward, (Left & ~now), (Done | now)>(
          call, fft_onto(call, x, now, Forward, Left == now ? scale : 1), scale);
    else
      return fft_walk<Forward, Left, Done>(
          call, fft_relaid<fft_layout<S, fft_moved_table<S, Forward, Left, Done>>>(x), scale);
  }
}
/// Dim D whole, and what split it somewhere else.
template <class D, class X> constexpr auto fft_made_whole(const X& x) {
  using S = spec_of<X>;
  constexpr int d = index_of<D, typename S::dims>;
  if constexpr (is_probe<X>)
    return core_of(x).layout().split_count(d) == 0
               ? x
               : relaid_probe(x, fft_move_from(*core_of(x).facts, core_of(x).layout(), 0, 0, d).to);
  else if constexpr (S::table.split_count(d) == 0)
    return x;
  else
    return relayout<fft_layout<S, fft_whole_table<S, d>>>(x);
}

/// The half transform along D, which is whole, and along those of the dims Left that are; then
/// along the others.
template <class D, class H, unsigned Left, class X>
constexpr auto fft_walk_from_real(std::string_view call, const X& x) {
  using rule = half_rule<fft_takes::real, D, H, true>;
  constexpr unsigned done = places_of<X, D>;
  if constexpr (is_probe<X>) {
    const unsigned now = whole_dims(core_of(x).layout(), Left);
    return fft_walk_probe<true>(call, to_half<rule, D, H>(call, x, now), Left & ~now, done | now,
                                1);
  } else {
    constexpr unsigned now = whole_dims(spec_of<X>::table, Left);
    return fft_walk<true, (Left & ~now), (done | now)>(call, to_half<rule, D, H>(call, x, now), 1);
  }
}
/// The inverse along the dims Left, and back along H, in one where all of them are whole.
template <class H, class D, unsigned Left, unsigned Done, class X>
constexpr auto fft_walk_to_real(std::string_view call, X x, index_t n, double scale) {
  using rule = half_rule<fft_takes::complex, H, D, true>;
  constexpr unsigned half = places_of<X, H>;
  if constexpr (is_probe<X>) {
    unsigned left = Left, done = 0;
    X v = x;
    for (unsigned now = 0; whole_dims(core_of(v).layout(), left | half) != (left | half);) {
      now = whole_dims(core_of(v).layout(), left);
      left &= ~now, done |= now;
      if (now != 0) v = fft_along(call, v, now, false, 1);
      if (left != 0)
        v = relaid_probe(
            v, next_fft_move<false>(*core_of(v).facts, core_of(v).layout(), left, done).to);
      else
        v = fft_made_whole<H>(v);
    }
    return from_half<rule, H, D>(call, v, left, n, scale);
  } else {
    using S = spec_of<X>;
    constexpr unsigned now = whole_dims(S::table, Left);
    if constexpr (whole_dims(S::table, Left | half) == (Left | half))
      return from_half<rule, H, D>(call, x, Left, n, scale);
    else if constexpr (Left == 0)
      return fft_walk_to_real<H, D, 0, Done>(call, fft_made_whole<H>(x), n, scale);
    else if constexpr (now != 0)
      return fft_walk_to_real<H, D, (Left & ~now), (Done | now)>(
          call, fft_onto(call, x, now, false, 1), n, scale);
    else
      return fft_walk_to_real<H, D, Left, Done>(
          call, fft_relaid<fft_layout<S, fft_moved_table<S, false, Left, Done>>>(x), n, scale);
  }
}

}  // namespace dimesh::detail
