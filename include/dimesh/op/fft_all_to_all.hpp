// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are dims transformed that ranks split? One after another: what a rank holds whole is
// transformed where it lies, then the axes that split the next dim move to one that is done, by one
// all-to-all each time. What the result's type says of its layout is what the last step left.
//
//   fft_all_to_all<x, y, z>(u[x/rows, y, z])        slabs:   -> [x, y/rows, z], one all-to-all
//   fft_all_to_all<x, y, z>(u[x/rows, y/cols, z])   pencils: -> [x, y/rows, z/cols], two
//   ifft_all_to_all<x, y, z>(v)                     back to where they were; relayout<L> elsewhere
//   rfft_all_to_all<x, half, y, z>(u), irfft_all_to_all<half, x, y, z>(v)
//
// A dim that is to stay split, or has none beside it: op/fft_exchange.hpp.
//
// New splits are uneven<> where types do not say that they come out even. Forward transforms begin
// with the last of the dims that are split, inverse ones with the first. Gradients go the same way
// back. Values, elements and normalisation: op/fft.hpp.
#pragma once

#include "dimesh/op/fft.hpp"
#include "dimesh/op/refusals/misuse_of_fft_all_to_all.hpp"
#include "dimesh/op/relayout.hpp"

namespace dimesh {

namespace detail {

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
      ranks = ranks == dynamic || x.axis_sizes[a] == dynamic ? dynamic : ranks * x.axis_sizes[a];
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
template <bool Forward, unsigned Left, unsigned Done, class X>
constexpr auto fft_walk(std::string_view call, const X& x, double scale) {
  if constexpr (is_probe<X>) {
    return fft_walk_probe<Forward>(call, x, Left, Done, scale);
  } else if constexpr (Left == 0) {
    return x;
  } else {
    using S = spec_of<X>;
    constexpr unsigned now = whole_dims(S::table, Left);
    if constexpr (now != 0)
      return fft_walk<Forward, (Left & ~now), (Done | now)>(
          call, fft_along(call, x, now, Forward, Left == now ? scale : 1), scale);
    else
      return fft_walk<Forward, Left, Done>(
          call, relayout<fft_layout<S, fft_moved_table<S, Forward, Left, Done>>>(x), scale);
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

/// Rule of transforms along D..., whole or split: the operand's layout, if all of it can be done.
template <bool Forward, fft_takes What, class... D> struct fft_moves_rule : keeps_dims {
  using named = list<D...>;
  static constexpr outcome of(rule_operands x, dim_list) {
    const outcome o = fft_dims_rule_of(x[0], dims_in<named>, false, What);
    if (!o.ok()) return o;
    if (const dim_facts* const h = haloed_dim(x[0]); h != nullptr)
      return blamed(fault_code::dim_has_halo, h);
    unsigned left = 0;
    for (int i = 0; i < dims_in<named>.size; ++i) left |= 1u << x[0].place_of(dims_in<named>[i]);
    const fft_move m = fft_moves<Forward>(x[0], x[0].layout, left, 0);
    if (m.possible) return o;
    return blamed(fault_code::dim_is_split, x[0].dim[m.dim], x[0].layout.axis_at(m.dim, 0));
  }
};
/// The same of a half transform from dim From to dim To.
template <bool Forward, class From, class To, bool Fits, class... More>
struct half_moves_rule : keeps_dims {
  using named = list<From, To, More...>;
  static constexpr outcome of(rule_operands x, dim_list out) {
    constexpr auto what = Forward ? fft_takes::real : fft_takes::complex;
    const outcome o = fft_moves_rule<Forward, what, From, More...>::of(x, out);
    if (!o.ok()) return o;
    if (x[0].place_of(&facts_of_dim<To>) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &facts_of_dim<To>);
    return Fits ? o : blamed(fault_code::extents_differ, &facts_of_dim<From>, &facts_of_dim<To>);
  }
};

template <class Fault> constexpr void assert_fft_moves() {
  static_assert(ok<only<Fault, element_not_differentiable>>,
                "fft_all_to_all, fft_exchange (ifft_.., ..): not of such elements; rfft_.. takes "
                "float or double, irfft_.. std::complex of them, the others both; cast<T> them");
  static_assert(ok<only<Fault, dim_is_split>>,
                "fft_all_to_all (ifft_.., ..): the dim is split, and the tensor has no other to "
                "split instead; fft_exchange<dim> leaves it split, whole<dim> gathers it");
  static_assert(
      ok<only<Fault, dim_not_in_tensor>>,
      "fft_all_to_all, fft_exchange (ifft_.., ..): the tensor lacks a dim; name dims of its own");
  static_assert(ok<only<Fault, dim_repeated>>,
                "fft_all_to_all, fft_exchange (ifft_.., ..): a dim is named twice; name each once");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "fft_all_to_all, fft_exchange (ifft_.., ..): blocks with halos stay where they "
                "are; transform the tensor without them");
  static_assert(ok<only<Fault, partial_operand>>,
                "fft_all_to_all, fft_exchange (ifft_.., ..): the tensor holds maxima or minima of "
                "parts along this axis; complete it first");
}

}  // namespace detail

/// The forward transform along D, More..., any of them split: complex, the same shape; not divided.
/// An all-to-all for each split dim. The result's layout: see the head of this header.
template <Dim D, Dim... More, Operand X> constexpr auto fft_all_to_all(const X& x) {
  using rule = detail::fft_moves_rule<true, detail::fft_takes::both, D, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft_moves<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("fft_all_to_all", x);
    return detail::fft_walk<true, detail::places_of<X, D, More...>, 0>("fft_all_to_all",
                                                                       detail::as_numbers(x), 1);
  }
}
/// The inverse, divided by the number of elements along D, More.... After fft_all_to_all of slabs
/// or pencils the layout is what it was.
template <Dim D, Dim... More, Operand X> constexpr auto ifft_all_to_all(const X& x) {
  using rule = detail::fft_moves_rule<false, detail::fft_takes::both, D, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft_moves<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("ifft_all_to_all", x);
    constexpr unsigned along = detail::places_of<X, D, More...>;
    return detail::fft_walk<false, along, 0>("ifft_all_to_all", detail::as_numbers(x),
                                             detail::one_over_points(detail::core_of(x), along));
  }
}

/// rfft along D to H, then More..., any of them split. D is made whole first; then the others as in
/// fft_all_to_all. An all-to-all for each split dim.
template <Dim D, Dim H, Dim... More, Operand X> constexpr auto rfft_all_to_all(const X& x) {
  using rule = detail::half_moves_rule<true, D, H, detail::is_half_of<D, H>, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft_moves<fault>();
  detail::assert_half<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("rfft_all_to_all", x);
    const auto half = detail::to_half<detail::half_rule<detail::fft_takes::real, D, H, true>, D, H>(
        "rfft_all_to_all", detail::fft_made_whole<D>(x));
    return detail::fft_walk<true, detail::places_of<X, More...>, detail::places_of<X, D>>(
        "rfft_all_to_all", half, 1);
  }
}
/// irfft: along More... first, then real numbers along D from H; any dim may be split. D's extent
/// is given where it is not static, as for irfft.
template <Dim H, Dim D, Dim... More, Operand X>
constexpr auto irfft_all_to_all(const X& x, D d = {}) {
  using rule = detail::half_moves_rule<false, H, D, detail::is_half_of<D, H>, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft_moves<fault>();
  detail::assert_half<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("irfft_all_to_all", x);
    const index_t n = detail::full_extent<H, D>("irfft_all_to_all", x, d);
    constexpr unsigned more = detail::places_of<X, More...>;
    const double scale = detail::one_over_points(detail::core_of(x), more) / static_cast<double>(n);
    const auto half =
        detail::fft_made_whole<H>(detail::fft_walk<false, more, 0>("irfft_all_to_all", x, 1));
    return detail::from_half<detail::half_rule<detail::fft_takes::complex, H, D, true>, H, D>(
        "irfft_all_to_all", half, n, scale);
  }
}

}  // namespace dimesh
