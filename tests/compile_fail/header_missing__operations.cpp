// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that dimesh.hpp does not include.
// alone: what is included is the point
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct part : dm::dim<4> {};
struct rest : dm::dim<2> {};
struct left : dm::dim<> {};
struct many : dm::dim<> {};
using matrix = dm::tensor<float, whole, batch, hidden>;
using loose = dm::tensor<float, whole, batch, left>;
using places = dm::tensor<std::int32_t, whole, batch, part>;

// mistake: pad
// expect: pad: has a header of its own; #include <dimesh/op/slice.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const loose& x) { return dm::pad<left>(x, 0, 4); }
#else
#include <dimesh/op/slice.hpp>
auto f(const loose& x) { return dm::pad<left>(x, 0, 4); }
#endif

// mistake: pick
// expect: pick: has a header of its own; #include <dimesh/op/slice.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::pick<hidden>(x, 3); }
#else
#include <dimesh/op/slice.hpp>
auto f(const matrix& x) { return dm::pick<hidden>(x, 3); }
#endif

// mistake: flip
// expect: flip: has a header of its own; #include <dimesh/op/slice.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::flip<hidden>(x); }
#else
#include <dimesh/op/slice.hpp>
auto f(const matrix& x) { return dm::flip<hidden>(x); }
#endif

// mistake: slice
// expect: slice: has a header of its own; #include <dimesh/op/slice.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const loose& x) { return dm::slice<left>(x, 0, 4); }
#else
#include <dimesh/op/slice.hpp>
auto f(const loose& x) { return dm::slice<left>(x, 0, 4); }
#endif

// mistake: argsort
// expect: argsort: has a header of its own; #include <dimesh/op/sort.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::argsort<hidden>(x); }
#else
#include <dimesh/op/sort.hpp>
auto f(const matrix& x) { return dm::argsort<hidden>(x); }
#endif

// mistake: top_k
// expect: top_k: has a header of its own; #include <dimesh/op/sort.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::top_k<hidden, part>(x); }
#else
#include <dimesh/op/sort.hpp>
auto f(const matrix& x) { return dm::top_k<hidden, part>(x); }
#endif

// mistake: nth_largest
// expect: nth_largest: has a header of its own; #include <dimesh/op/sort.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::nth_largest<hidden>(x, 2); }
#else
#include <dimesh/op/sort.hpp>
auto f(const matrix& x) { return dm::nth_largest<hidden>(x, 2); }
#endif

// mistake: nth_smallest
// expect: nth_smallest: has a header of its own; #include <dimesh/op/sort.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::nth_smallest<hidden>(x, 2); }
#else
#include <dimesh/op/sort.hpp>
auto f(const matrix& x) { return dm::nth_smallest<hidden>(x, 2); }
#endif

// mistake: cumsum
// expect: cumsum: has a header of its own; #include <dimesh/op/scan.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cumsum<hidden>(x); }
#else
#include <dimesh/op/scan.hpp>
auto f(const matrix& x) { return dm::cumsum<hidden>(x); }
#endif

// mistake: cumprod
// expect: cumprod: has a header of its own; #include <dimesh/op/scan.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cumprod<hidden>(x); }
#else
#include <dimesh/op/scan.hpp>
auto f(const matrix& x) { return dm::cumprod<hidden>(x); }
#endif

// mistake: cummax
// expect: cummax: has a header of its own; #include <dimesh/op/scan.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cummax<hidden>(x); }
#else
#include <dimesh/op/scan.hpp>
auto f(const matrix& x) { return dm::cummax<hidden>(x); }
#endif

// mistake: cummin
// expect: cummin: has a header of its own; #include <dimesh/op/scan.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cummin<hidden>(x); }
#else
#include <dimesh/op/scan.hpp>
auto f(const matrix& x) { return dm::cummin<hidden>(x); }
#endif

// mistake: concat
// expect: concat: has a header of its own; #include <dimesh/op/concat.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const loose& x) { return dm::concat<left>(x, x); }
#else
#include <dimesh/op/concat.hpp>
auto f(const loose& x) { return dm::concat<left>(x, x); }
#endif

// mistake: stack
// expect: stack: has a header of its own; #include <dimesh/op/concat.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::stack<rest>(x, x); }
#else
#include <dimesh/op/concat.hpp>
auto f(const matrix& x) { return dm::stack<rest>(x, x); }
#endif

// mistake: gather
// expect: gather: has a header of its own; #include <dimesh/op/gather.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x, const places& i) { return dm::gather<hidden, part>(x, i); }
#else
#include <dimesh/op/gather.hpp>
auto f(const matrix& x, const places& i) { return dm::gather<hidden, part>(x, i); }
#endif

// mistake: expand
// expect: expand: has a header of its own; #include <dimesh/op/expand.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::expand<part>(x); }
#else
#include <dimesh/op/expand.hpp>
auto f(const matrix& x) { return dm::expand<part>(x); }
#endif

// mistake: split_into
// expect: split_into: has a header of its own; #include <dimesh/op/split_into.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::split_into<hidden, part, rest>(x); }
#else
#include <dimesh/op/split_into.hpp>
auto f(const matrix& x) { return dm::split_into<hidden, part, rest>(x); }
#endif

// mistake: unstack
// expect: unstack: has a header of its own; #include <dimesh/op/split_into.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::unstack<hidden>(x); }
#else
#include <dimesh/op/split_into.hpp>
auto f(const matrix& x) { return dm::unstack<hidden>(x); }
#endif
