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
// A dim that is to stay split, or has none beside it: op/fft_exchange.hpp, rfft_exchange for reals.
//
// New splits are uneven<> where types do not say that they come out even. Forward transforms begin
// with the last of the dims that are split, inverse ones with the first. Gradients go the same way
// back. Values, elements and normalisation: op/fft.hpp.
#pragma once

#include "dimesh/op/fft.hpp"
#include "dimesh/op/parts/fft_walk.hpp"
#include "dimesh/op/refusals/misuse_of_fft_all_to_all.hpp"

namespace dimesh {

namespace detail {

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
    return detail::fft_walk_from_real<D, H, detail::places_of<X, More...>>(
        "rfft_all_to_all", detail::fft_made_whole<D>(x));
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
    return detail::fft_walk_to_real<H, D, more, 0>("irfft_all_to_all", x, n, scale);
  }
}

}  // namespace dimesh
