// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the discrete Fourier transform of a tensor along some of its dims? Local: a rank holds
// those dims whole. (Of split ones, op/fft_all_to_all.hpp moves the splits, and op/fft_exchange.hpp
// leaves them: fft_exchange, rfft_exchange and their inverses.) Dims keep their names and places.
//
//   fft<x>(u), fft<x, y, z>(u)     sum over n of u[n] exp(-2 pi i k n / N): not divided; complex
//   ifft<x, y>(v)                  sum over k of v[k] exp(+2 pi i k n / N), divided by all N
//   rfft<x, half, y>(u)            u real: x becomes half : dim<N/2 + 1>, the rest are conjugates;
//                                  then along y
//   irfft<half, x, y>(v)           back to real numbers; x{n} behind v, if the run says how many
//
// As in NumPy's fft module: ifft(fft(u)) is u. Elements are complex (of float or double); real ones
// are taken as complex. Addends stay addends, and gradients are transforms, too. Needs FFTW (on the
// host; link with -lfftw3 -lfftw3f); the umbrella header does not include it.
#pragma once

#include "dimesh/op/complex.hpp"
#include "dimesh/op/parts/fft_op.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

/// The places of some dims, as a mask.
template <class X, class... D>
inline constexpr unsigned places_of = (0u | ... | (1u << index_of<D, typename spec_of<X>::dims>));
/// One over the number of elements along the dims of a mask.
constexpr double one_over_points(const tensor_core& x, unsigned along) {
  double n = 1;
  for (int d = 0; d < x.rank(); ++d)
    if ((along >> d & 1u) && x.extent(d) > 0) n *= static_cast<double>(x.extent(d));
  return 1 / n;
}

/// Where the elements are complex already.
template <class X>
constexpr auto fft_along(std::string_view call, const X& x, unsigned along, bool forward,
                         double scale) {
  return apply_rule<like_rule, value_of<X>>(fft_op<value_of<X>>{along, forward, scale, call}, x);
}
/// The same of a tensor that nobody needs any more.
template <class X>
constexpr auto fft_onto(std::string_view call, X& gone, unsigned along, bool forward,
                        double scale) {
  using T = value_of<X>;
  return apply_rule_onto<like_rule, T>(fft_op<T>{along, forward, scale, call}, gone);
}
/// Complex numbers, whatever they were.
template <class X> constexpr auto as_numbers(const X& x) {
  if constexpr (has_complex_elements<X>)
    return x;
  else
    return dimesh::as_complex(x);
}

template <class Full, class Half>
constexpr index_t require_half(std::string_view call, index_t n, index_t half) {
  if (n < 1 || half != n / 2 + 1)
    (words() << call << ": dim '" << name_of<Full>() << "' has " << n << " elements, dim '"
             << name_of<Half>() << "' has " << half << "; it must have half as many and one, and "
             << "the other one at least")
        .raise();
  return n;
}
/// X under rule: a transform from half to full, or the other way.
template <class Full, class Half, class X> constexpr index_t half_extent(index_t n) {
  if constexpr (is_static_dim<Half>)
    return static_extent<Half>;
  else
    return n / 2 + 1;
}
template <class Rule, class D, class H, class X>
constexpr auto to_half(std::string_view call, const X& x, unsigned more) {
  using T = value_of<X>;
  const index_t n = x.template extent<D>();
  if (!has_assumed_extents(x)) require_half<D, H>(call, n, half_extent<D, H, X>(n));
  return apply_rule<Rule, complex_of<T>>(
      to_half_op<T>({index_of<D, typename spec_of<X>::dims>, more, &facts_of_dim<D>,
                     &facts_of_dim<H>, n, 1, 1, call}),
      x);
}
/// How many elements D is to have.
template <class H, class D, class X>
constexpr index_t full_extent(std::string_view call, const X& x, const D& d) {
  const index_t n = shape<D>(d).template extent<D>(), half = x.template extent<H>();
  if (n == dynamic)
    (words() << call << ": dim '" << name_of<H>() << "' may stand for " << 2 * half - 2 << " or "
             << 2 * half - 1 << " elements of '" << name_of<D>() << "'; pass that dim with its "
             << "extent behind the tensor")
        .raise();
  return has_assumed_extents(x) ? n : require_half<D, H>(call, n, half);
}
template <class Rule, class H, class D, class X>
constexpr auto from_half(std::string_view call, const X& x, unsigned more, index_t n,
                         double scale) {
  using T = part_of<value_of<X>>;
  return apply_rule<Rule, T>(
      from_half_op<T>({index_of<H, typename spec_of<X>::dims>, more, &facts_of_dim<D>,
                       &facts_of_dim<H>, n, scale, 1, call}),
      x);
}

template <class Fault> constexpr void assert_fft() {
  static_assert(ok<only<Fault, element_not_differentiable>>,
                "fft, ifft, rfft, irfft: such elements are not transformed; rfft takes float or "
                "double, irfft std::complex of them, the others both; cast<T> them");
  static_assert(ok<only<Fault, dim_is_split>>,
                "fft, ifft, rfft, irfft: a dim is split, and a rank sees its block only; use "
                "fft_exchange, which leaves it split, fft_all_to_all, or whole<dim>");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "fft, ifft, rfft, irfft: the tensor lacks a dim; name dims of its own");
  static_assert(ok<only<Fault, dim_repeated>>,
                "fft, ifft, rfft, irfft: a dim is named twice; name each once");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "fft, ifft, rfft, irfft: blocks of a dim carry halos, which would count twice; "
                "transform the tensor without them");
  static_assert(ok<only<Fault, partial_operand>>,
                "fft, ifft, rfft, irfft: the tensor holds maxima or minima of parts along this "
                "axis; complete it first");
}
template <class Fault> constexpr void assert_half() {
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "rfft, irfft (.._all_to_all, .._exchange): the tensor has the new dim already; "
                "choose another for the result");
  static_assert(ok<only<Fault, extents_differ>>,
                "rfft, irfft (.._all_to_all, .._exchange): of N real numbers the half transform "
                "has N / 2 + 1; give one of the dims another extent");
}

}  // namespace detail

/// The forward transform along D, More...: [.., D, ..] -> complex, the same shape and layout; not
/// divided. Local. complex_of real elements, else of the operand's type.
template <Dim D, Dim... More, Operand X> constexpr auto fft(const X& x) {
  using fault = detail::fault_of<detail::fft_rule<D, More...>, X>;
  detail::assert_fft<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<detail::fft_rule<D, More...>>("fft", x);
    return detail::fft_along("fft", detail::as_numbers(x), detail::places_of<X, D, More...>, true,
                             1);
  }
}
/// The inverse: the backward transform along D, More..., divided by the number of elements along
/// them. Shape and layout stay. Local.
template <Dim D, Dim... More, Operand X> constexpr auto ifft(const X& x) {
  using fault = detail::fault_of<detail::fft_rule<D, More...>, X>;
  detail::assert_fft<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<detail::fft_rule<D, More...>>("ifft", x);
    constexpr unsigned along = detail::places_of<X, D, More...>;
    return detail::fft_along("ifft", detail::as_numbers(x), along, false,
                             detail::one_over_points(detail::core_of(x), along));
  }
}

/// The forward transform of real numbers along D, of which H, in its place, has the first half: the
/// other elements are conjugates of these. Then along More.... [.., D, ..] -> complex [.., H, ..],
/// the same layout; not divided. H has N / 2 + 1 elements. Local.
template <Dim D, Dim H, Dim... More, Operand X> constexpr auto rfft(const X& x) {
  using rule = detail::half_rule<detail::fft_takes::real, D, H, detail::is_half_of<D, H>, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft<fault>();
  detail::assert_half<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::to_half<rule, D, H>("rfft", x, detail::places_of<X, More...>);
}
/// The inverse: real numbers along D from H, the half of their transform, divided by the number of
/// elements of the result along D, More.... [.., H, ..] -> real [.., D, ..], the same layout.
/// Imaginary parts that no real numbers have count for nothing. Where D's extent is not static it
/// is given: irfft<half, x>(v, x{64}). Local. Throws dimesh::error where the extents do not fit.
template <Dim H, Dim D, Dim... More, Operand X> constexpr auto irfft(const X& x, D d = {}) {
  using rule =
      detail::half_rule<detail::fft_takes::complex, H, D, detail::is_half_of<D, H>, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft<fault>();
  detail::assert_half<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    const index_t n = detail::full_extent<H, D>("irfft", x, d);
    constexpr unsigned more = detail::places_of<X, More...>;
    const double others = detail::one_over_points(detail::core_of(x), more);
    return detail::from_half<rule, H, D>("irfft", x, more, n, others / static_cast<double>(n));
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using fft_call = call_taking<some_dims, 1, a_tensor>;
using ifft_call = call_taking<some_dims, 1, a_tensor>;
using rfft_call = call_taking<more_dims, 1, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::fft_call, detail::list<N...>, A...>
constexpr poison fft(const A&...) {
  static_assert(ok<detail::misuse<detail::fft_call, detail::list<N...>, A...>>,
                "fft: dims stand in the angle brackets, a tensor in the parentheses: fft<height, "
                "width>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison fft(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "fft: dims stand in the angle brackets, a tensor in the parentheses: fft<height, "
                "width>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::ifft_call, detail::list<N...>, A...>
constexpr poison ifft(const A&...) {
  static_assert(ok<detail::misuse<detail::ifft_call, detail::list<N...>, A...>>,
                "ifft: dims stand in the angle brackets, a tensor in the parentheses: "
                "ifft<height, width>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison ifft(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "ifft: dims stand in the angle brackets, a tensor in the parentheses: "
                "ifft<height, width>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::rfft_call, detail::list<N...>, A...>
constexpr poison rfft(const A&...) {
  static_assert(ok<detail::misuse<detail::rfft_call, detail::list<N...>, A...>>,
                "rfft: a dim and that of half as many frequencies stand in the angle brackets, a "
                "tensor in the parentheses: rfft<time, half>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison rfft(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "rfft: a dim and that of half as many frequencies stand in the angle brackets, a "
                "tensor in the parentheses: rfft<time, half>(x)");
  return {};
}

namespace detail {
using irfft_call = call_taking<more_dims, 1, a_tensor, no_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::irfft_call, detail::list<N...>, A...>
constexpr poison irfft(const A&...) {
  static_assert(ok<detail::misuse<detail::irfft_call, detail::list<N...>, A...>>,
                "irfft: the dim of frequencies and the new one stand in the angle brackets, a "
                "tensor in the parentheses: irfft<half, time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison irfft(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "irfft: the dim of frequencies and the new one stand in the angle brackets, a "
                "tensor in the parentheses: irfft<half, time>(x)");
  return {};
}

}  // namespace dimesh
