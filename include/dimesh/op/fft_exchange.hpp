// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a dim transformed that ranks split, where it is to stay split? A long signal, say, that
// has no other dim, or none of enough elements, for fft_all_to_all to split instead. In six steps:
// as rows and columns, transformed along either, with three exchanges of all elements.
//
//   fft_exchange<time>(u[time/rows])               -> [time/rows], complex
//   ifft_exchange<time>(v)                         back
//   fft_exchange<y, x>(u[y/rows, x/cols])          -> [y/rows, x/cols], one dim after the other
//   rfft_exchange<time, half>(u[time/rows])        -> [half/rows]: u real, half : dim<N/2 + 1>
//   irfft_exchange<half, time>(v)                  back; time{n} behind v, if the run says how many
//
// Layouts stay, blocks of ragged dims become uneven, and so do those of a half where types do not
// say that they come out even. The work is spread as evenly as N has divisors near its root: where
// N is prime, one rank has all of it. Real numbers travel as such, and halves as halves. Gradients
// go the same way back. Values, elements and normalisation: op/fft.hpp.
#pragma once

#include "dimesh/op/fft_all_to_all.hpp"
#include "dimesh/op/parts/six_steps_of_half.hpp"
#include "dimesh/op/refusals/misuse_of_fft_exchange.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh {

namespace detail {

/// Rule of transforms along D..., which stay split.
template <class... D> struct fft_exchange_rule : keeps_dims {
  using named = list<D...>;
  static constexpr outcome of(rule_operands x, dim_list) {
    const outcome o = fft_dims_rule_of(x[0], dims_in<named>, false, fft_takes::both);
    if (!o.ok()) return o;
    const dim_facts* const h = haloed_dim(x[0]);
    return h == nullptr ? o : blamed(fault_code::dim_has_halo, h);
  }
};

/// The same of a half transform from dim From to dim To.
template <bool Forward, class From, class To, bool Fits, class... More>
struct half_exchange_rule : keeps_dims {
  using named = list<From, To, More...>;
  static constexpr outcome of(rule_operands x, dim_list) {
    constexpr auto what = Forward ? fft_takes::real : fft_takes::complex;
    const outcome o = fft_dims_rule_of(x[0], dims_in<list<From, More...>>, false, what);
    if (!o.ok()) return o;
    if (x[0].place_of(&facts_of_dim<To>) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &facts_of_dim<To>);
    if (!Fits) return blamed(fault_code::extents_differ, &facts_of_dim<From>, &facts_of_dim<To>);
    const dim_facts* const h = haloed_dim(x[0]);
    return h == nullptr ? o : blamed(fault_code::dim_has_halo, h);
  }
};

/// The transform along D, which is split.
template <bool Forward, class D, class X>
constexpr auto six_steps(std::string_view call, const X& x) {
  constexpr int d = index_of<D, typename spec_of<X>::dims>;
  const tensor_core& core = core_of(x);
  const unsigned over = talking(core.layout().axes_of(d), core.sizes());
  const index_t n = core.extent(d), rows = six_step_rows(n, group_size(over, core.sizes()));
  named_extents parts, all;
  parts.add(&facts_of_dim<fft_row>, rows);
  parts.add(&facts_of_dim<fft_column>, n / rows);
  all.add(&facts_of_dim<D>, n);
  auto cut = as_numbers(apply_rule<to_columns_rule<D>, value_of<X>>(
      merged_exchange_op<value_of<X>>{d, 1, parts, call}, x));
  using T = value_of<std::remove_cvref_t<decltype(cut)>>;
  const auto turned = made_whole<d + 1, d>(
      apply_rule_onto<like_rule, T>(twiddled_fft_op<T>{d, Forward, false, call}, cut));
  const double scale = Forward ? 1 : one_over_points(core, 1u << d);
  using dims = typename spec_of<std::remove_cvref_t<decltype(turned)>>::dims;
  const auto done = apply_rule<permute_rule<typename turned_dims<dims>::type>, T>(
      fft_op<T>{2u << d, Forward, scale, call}, turned);
  return apply_rule<from_rows_rule<D>, T>(merged_exchange_op<T>{d, 2, all, call}, done,
                                          stop_gradient(x));
}
/// The transform along D, which is whole, or of which one rank has all.
template <bool Forward, class D, class X>
constexpr auto one_step(std::string_view call, const X& x) {
  constexpr unsigned along = places_of<X, D>;
  return fft_along(call, as_numbers(x), along, Forward,
                   Forward ? 1 : one_over_points(core_of(x), along));
}
template <bool Forward, class D, class X>
constexpr auto fft_where_it_lies(std::string_view call, const X& x) {
  constexpr int d = index_of<D, typename spec_of<X>::dims>;
  const auto is_here = [&x] {  // all along D
    const tensor_core& core = core_of(x);
    return talking(core.layout().axes_of(d), core.sizes()) == 0;
  };
  if constexpr (is_probe<X>) {
    if (!is_here()) return six_steps<Forward, D>(call, x);
    const auto y = one_step<Forward, D>(call, x);
    const table& t = core_of(y).layout();
    return t.split_count(d) == 0 ? y : relaid_probe(y, unevenly(t, d));
  } else if constexpr (spec_of<X>::table.split_count(d) == 0) {
    return one_step<Forward, D>(call, x);
  } else {
    using kept = typename spec_of<decltype(six_steps<Forward, D>(call, x))>::layout;
    if (is_here()) return relayout<kept>(one_step<Forward, D>(call, x));
    return six_steps<Forward, D>(call, x);
  }
}
/// Along one dim after another.
template <bool Forward, class X>
constexpr auto fft_one_by_one(std::string_view, list<>, const X& x) {
  return x;
}
template <bool Forward, class D, class... More, class X>
constexpr auto fft_one_by_one(std::string_view call, list<D, More...>, const X& x) {
  if constexpr (sizeof...(More) == 0)
    return fft_where_it_lies<Forward, D>(call, x);
  else
    return fft_one_by_one<Forward>(call, list<More...>{}, fft_where_it_lies<Forward, D>(call, x));
}

}  // namespace detail

/// The forward transform along D, More..., any of them split: complex, the same shape and layout;
/// not divided. Three exchanges for each dim that several ranks split.
template <Dim D, Dim... More, Operand X> constexpr auto fft_exchange(const X& x) {
  using rule = detail::fft_exchange_rule<D, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft_moves<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("fft_exchange", x);
    return detail::fft_one_by_one<true>("fft_exchange", detail::list<D, More...>{}, x);
  }
}
/// The inverse, divided by the number of elements along D, More....
template <Dim D, Dim... More, Operand X> constexpr auto ifft_exchange(const X& x) {
  using rule = detail::fft_exchange_rule<D, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft_moves<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("ifft_exchange", x);
    return detail::fft_one_by_one<false>("ifft_exchange", detail::list<D, More...>{}, x);
  }
}

/// The forward transform of real numbers along D, of which H, in its place and split as it is, has
/// the first half; then along More.... [.., D, ..] -> complex [.., H, ..]; not divided. H has N / 2
/// + 1 elements. Three exchanges where several ranks split D, of N real numbers and twice of half
/// as many complex ones; for each of More... as in fft_exchange. Throws dimesh::error where the
/// extents do not fit.
template <Dim D, Dim H, Dim... More, Operand X> constexpr auto rfft_exchange(const X& x) {
  using rule = detail::half_exchange_rule<true, D, H, detail::is_half_of<D, H>, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft_moves<fault>();
  detail::assert_half<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("rfft_exchange", x);
    return detail::fft_one_by_one<true>("rfft_exchange", detail::list<More...>{},
                                        detail::to_half_where_it_lies<D, H>("rfft_exchange", x));
  }
}
/// The inverse: along More... first, then real numbers along D from H, divided by the number of
/// elements of the result along D, More.... [.., H, ..] -> real [.., D, ..], split as H is. D's
/// extent is given where it is not static, as for irfft. Throws dimesh::error where the extents do
/// not fit.
template <Dim H, Dim D, Dim... More, Operand X>
constexpr auto irfft_exchange(const X& x, D d = {}) {
  using rule = detail::half_exchange_rule<false, H, D, detail::is_half_of<D, H>, More...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_fft_moves<fault>();
  detail::assert_half<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("irfft_exchange", x);
    const index_t n = detail::full_extent<H, D>("irfft_exchange", x, d);
    return detail::from_half_where_it_lies<H, D>(
        "irfft_exchange",
        detail::fft_one_by_one<false>("irfft_exchange", detail::list<More...>{}, x), n);
  }
}

}  // namespace dimesh
