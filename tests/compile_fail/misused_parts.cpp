// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and arguments of the wrong kind, in what cuts, joins and counts.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/expand.hpp>
#include <dimesh/op/fft.hpp>
#include <dimesh/op/gather.hpp>
#include <dimesh/op/merge_exchange.hpp>
#include <dimesh/op/scan.hpp>
#include <dimesh/op/slice_exchange.hpp>
#include <dimesh/op/split_into.hpp>
#include <dimesh/op/split_into_exchange.hpp>

#include "names.hpp"

struct left : dm::dim<2> {};
struct right : dm::dim<4> {};
struct both : dm::dim<12> {};
struct half : dm::dim<4> {};
struct span : dm::dim<6> {};
struct tap : dm::dim<3> {};
struct high : dm::dim<10> {};
struct length : dm::dim<> {};
extern const dm::tensor<float, whole, batch, hidden> x;
extern const dm::tensor<float, whole, batch, length> l;
extern const dm::tensor<float, whole, batch, left, tap> parts;
extern const dm::tensor<float, by_batch, batch, hidden> s;
extern const dm::tensor<float, dm::layout<pod, dm::split<hidden, rows>>, batch, hidden> e;
extern const dm::tensor<std::complex<float>, whole, batch, half> z;
extern const dm::tensor<int, whole, batch> ids;
extern const dm::tensor<float, whole, batch> r;
struct sum_of {
  float operator()(float a, float b) const { return a + b; }
};

// mistake: misused_parts__cut
// expect: cut: the dim and those it becomes stand in the angle brackets, a tensor in the parentheses: cut<model, heads, head>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cut<hidden>(x); }
#else
auto f() { return dm::cut<hidden, left, tap>(x); }
#endif

// mistake: misused_parts__concat
// expect: concat: the new dim and those it joins, or one of all, stand in the angle brackets, tensors in the parentheses: concat<both, left, right>(x, y)
#ifdef COMPILE_FAIL
auto f() { return dm::concat<both, hidden>(x, x); }
#else
auto f() { return dm::concat<both, hidden, hidden>(x, x); }
#endif

// mistake: misused_parts__split_into
// expect: split_into: the dim and its parts stand in the angle brackets, a tensor in the parentheses: split_into<both, left, right>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::split_into(x, left{}); }
#else
auto f() { return dm::split_into<hidden, left, right>(x); }
#endif

// mistake: misused_parts__split_into_exchange
// expect: split_into_exchange: the dim and its parts stand in the angle brackets, a tensor in the parentheses: split_into_exchange<both, left, right>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::split_into_exchange(x, left{}); }
#else
auto f() { return dm::split_into_exchange<hidden, left, right>(x); }
#endif

// mistake: misused_parts__slice_exchange
// expect: slice_exchange: a dim stands in the angle brackets, a tensor and from where to where in the parentheses: slice_exchange<token>(x, 0, 4)
#ifdef COMPILE_FAIL
auto f() { return dm::slice_exchange<cols>(x, 0, 4); }
#else
auto f() { return dm::slice_exchange<length>(l, 0, 4); }
#endif

// mistake: misused_parts__pad_exchange
// expect: pad_exchange: a dim stands in the angle brackets, a tensor and how many elements in the parentheses: pad_exchange<token>(x, 1, 1)
#ifdef COMPILE_FAIL
auto f() { return dm::pad_exchange<cols>(x, 1, 1); }
#else
auto f() { return dm::pad_exchange<length>(l, 1, 1); }
#endif

// mistake: misused_parts__merge_exchange
// expect: merge_exchange: the new dim and those it replaces stand in the angle brackets, a tensor in the parentheses: merge_exchange<flat, batch, token>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::merge_exchange<both>(parts); }
#else
auto f() { return dm::merge_exchange<span, left, tap>(parts); }
#endif

// mistake: misused_parts__cut_exchange
// expect: cut_exchange: the dim and those it becomes stand in the angle brackets, a tensor in the parentheses: cut_exchange<flat, batch, token>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cut_exchange<hidden>(x); }
#else
auto f() { return dm::cut_exchange<hidden, left, tap>(x); }
#endif

// mistake: misused_parts__scan
// expect: scan: a dim stands in the angle brackets, a function, its first value and a tensor in the parentheses: scan<token>(f, 0, x)
#ifdef COMPILE_FAIL
auto f() { return dm::scan<hidden>(x, 0, sum_of{}); }
#else
auto f() { return dm::scan<hidden>(sum_of{}, 0, x); }
#endif

// mistake: misused_parts__scan_exscan
// expect: scan_exscan: a dim stands in the angle brackets, a function, its first value and a tensor in the parentheses: scan_exscan<token>(f, 0, x)
#ifdef COMPILE_FAIL
auto f() { return dm::scan_exscan<hidden>(x, 0, sum_of{}); }
#else
auto f() { return dm::scan_exscan<hidden>(sum_of{}, 0, x); }
#endif

// mistake: misused_parts__scatter_add
// expect: scatter_add: the dim of rows and the new one stand in the angle brackets, rows and their places in the parentheses: scatter_add<token, vocab>(x, ids)
#ifdef COMPILE_FAIL
auto f() { return dm::scatter_add<batch>(r, ids); }
#else
auto f() { return dm::scatter_add<batch, label>(r, ids); }
#endif

// mistake: misused_parts__bincount
// expect: bincount: the dim of places and the new one stand in the angle brackets, a tensor in the parentheses: bincount<token, vocab>(ids)
#ifdef COMPILE_FAIL
auto f() { return dm::bincount<batch>(ids); }
#else
auto f() { return dm::bincount<batch, label>(ids); }
#endif

// mistake: misused_parts__expand
// expect: expand: a new dim stands in the angle brackets, a tensor in the parentheses: expand<layer>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::expand<rows>(x); }
#else
auto f() { return dm::expand<label>(x); }
#endif

// mistake: misused_parts__one_hot
// expect: one_hot: a dim for the classes stands in the angle brackets, whole numbers in the parentheses: one_hot<label>(ids)
#ifdef COMPILE_FAIL
auto f() { return dm::one_hot<rows>(ids); }
#else
auto f() { return dm::one_hot<label>(ids); }
#endif

// mistake: misused_parts__irfft
// expect: irfft: the dim of frequencies and the new one stand in the angle brackets, a tensor in the parentheses: irfft<half, time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::irfft<half>(z); }
#else
auto f() { return dm::irfft<half, span>(z); }
#endif
