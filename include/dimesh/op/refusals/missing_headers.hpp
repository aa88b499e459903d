// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who calls an operation that dimesh.hpp does not include? unnamed_dims.hpp
// declares the name, so the compiler would speak of functions that do not fit. A header that is
// there says so by is_included, and no overload of these is left.
//
//   slice<token>(x, 0, 4)   -> header_missing<op_header::slice>: slice: ... #include <...>
#pragma once

#include "dimesh/op/refusals/missing_header.hpp"

namespace dimesh {

template <class... N, class... A>
  requires detail::calls_without<op_header::slice, detail::list<N...>, A...>
constexpr poison slice(const A&...) {
  static_assert(ok<detail::missing_header<op_header::slice, A...>>,
                "slice: has a header of its own; #include <dimesh/op/slice.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::slice, detail::list<N...>, A...>
constexpr poison pad(const A&...) {
  static_assert(ok<detail::missing_header<op_header::slice, A...>>,
                "pad: has a header of its own; #include <dimesh/op/slice.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::slice, detail::list<N...>, A...>
constexpr poison pick(const A&...) {
  static_assert(ok<detail::missing_header<op_header::slice, A...>>,
                "pick: has a header of its own; #include <dimesh/op/slice.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::slice, detail::list<N...>, A...>
constexpr poison flip(const A&...) {
  static_assert(ok<detail::missing_header<op_header::slice, A...>>,
                "flip: has a header of its own; #include <dimesh/op/slice.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::sort, detail::list<N...>, A...>
constexpr poison sort(const A&...) {
  static_assert(ok<detail::missing_header<op_header::sort, A...>>,
                "sort: has a header of its own; #include <dimesh/op/sort.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::sort, detail::list<N...>, A...>
constexpr poison argsort(const A&...) {
  static_assert(ok<detail::missing_header<op_header::sort, A...>>,
                "argsort: has a header of its own; #include <dimesh/op/sort.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::sort, detail::list<N...>, A...>
constexpr poison top_k(const A&...) {
  static_assert(ok<detail::missing_header<op_header::sort, A...>>,
                "top_k: has a header of its own; #include <dimesh/op/sort.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::sort, detail::list<N...>, A...>
constexpr poison nth_largest(const A&...) {
  static_assert(ok<detail::missing_header<op_header::sort, A...>>,
                "nth_largest: has a header of its own; #include <dimesh/op/sort.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::sort, detail::list<N...>, A...>
constexpr poison nth_smallest(const A&...) {
  static_assert(ok<detail::missing_header<op_header::sort, A...>>,
                "nth_smallest: has a header of its own; #include <dimesh/op/sort.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::scan, detail::list<N...>, A...>
constexpr poison cumsum(const A&...) {
  static_assert(ok<detail::missing_header<op_header::scan, A...>>,
                "cumsum: has a header of its own; #include <dimesh/op/scan.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::scan, detail::list<N...>, A...>
constexpr poison cumprod(const A&...) {
  static_assert(ok<detail::missing_header<op_header::scan, A...>>,
                "cumprod: has a header of its own; #include <dimesh/op/scan.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::scan, detail::list<N...>, A...>
constexpr poison cummax(const A&...) {
  static_assert(ok<detail::missing_header<op_header::scan, A...>>,
                "cummax: has a header of its own; #include <dimesh/op/scan.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::scan, detail::list<N...>, A...>
constexpr poison cummin(const A&...) {
  static_assert(ok<detail::missing_header<op_header::scan, A...>>,
                "cummin: has a header of its own; #include <dimesh/op/scan.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::concat, detail::list<N...>, A...>
constexpr poison concat(const A&...) {
  static_assert(ok<detail::missing_header<op_header::concat, A...>>,
                "concat: has a header of its own; #include <dimesh/op/concat.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::concat, detail::list<N...>, A...>
constexpr poison stack(const A&...) {
  static_assert(ok<detail::missing_header<op_header::concat, A...>>,
                "stack: has a header of its own; #include <dimesh/op/concat.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::gather, detail::list<N...>, A...>
constexpr poison gather(const A&...) {
  static_assert(ok<detail::missing_header<op_header::gather, A...>>,
                "gather: has a header of its own; #include <dimesh/op/gather.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::expand, detail::list<N...>, A...>
constexpr poison expand(const A&...) {
  static_assert(ok<detail::missing_header<op_header::expand, A...>>,
                "expand: has a header of its own; #include <dimesh/op/expand.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::split_into, detail::list<N...>, A...>
constexpr poison split_into(const A&...) {
  static_assert(ok<detail::missing_header<op_header::split_into, A...>>,
                "split_into: has a header of its own; #include <dimesh/op/split_into.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::calls_without<op_header::split_into, detail::list<N...>, A...>
constexpr poison unstack(const A&...) {
  static_assert(ok<detail::missing_header<op_header::split_into, A...>>,
                "unstack: has a header of its own; #include <dimesh/op/split_into.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::may_call_without<op_header::attention, detail::list<N...>, A...>
constexpr poison attention(const A&...) {
  static_assert(ok<detail::missing_header<op_header::attention, A...>>,
                "attention: has a header of its own; #include <dimesh/op/attention.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::may_call_without<op_header::reductions, detail::list<N...>, A...>
constexpr poison var(const A&...) {
  static_assert(ok<detail::missing_header<op_header::reductions, A...>>,
                "var: has a header of its own; #include <dimesh/op/reductions.hpp>");
  return {};
}
template <class... N, class... A>
  requires detail::may_call_without<op_header::masked_mean, detail::list<N...>, A...>
constexpr poison masked_mean(const A&...) {
  static_assert(ok<detail::missing_header<op_header::masked_mean, A...>>,
                "masked_mean: has a header of its own; #include <dimesh/op/masked_mean.hpp>");
  return {};
}

}  // namespace dimesh
