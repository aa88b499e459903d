// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and arguments of the wrong kind, in what orders, scans and cuts.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/gather.hpp>
#include <dimesh/op/merge.hpp>
#include <dimesh/op/scan.hpp>
#include <dimesh/op/slice.hpp>
#include <dimesh/op/slice_exchange.hpp>
#include <dimesh/op/sort.hpp>
#include <dimesh/op/sort_all_to_all.hpp>
#include <dimesh/op/split_into.hpp>
#include <dimesh/op/top_k_all_gather.hpp>

#include "names.hpp"

struct best : dm::dim<2> {};
struct two : dm::dim<2> {};
struct half : dm::dim<4> {};
struct flat : dm::dim<48> {};
struct length : dm::dim<> {};
extern const dm::tensor<float, whole, batch, hidden> x;
extern const dm::tensor<std::complex<float>, whole, batch, hidden> z;
extern const dm::tensor<float, whole, length> l;
extern const dm::tensor<float, whole, hidden> w;
extern const dm::tensor<bool, whole, batch, hidden> mask;
extern const dm::tensor<int, whole, batch, best> ids;
inline constexpr dm::random_key key{1};
struct next_one {
  dm::index_t operator()(dm::index_t i) const { return 1 - i; }
};
inline constexpr next_one next{};

// mistake: misused_orders__argsort
// expect: argsort: a dim stands in the angle brackets, a tensor in the parentheses: argsort<token>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::argsort<rows>(x); }
#else
auto f() { return dm::argsort<hidden>(x); }
#endif

// mistake: misused_orders__sort
// expect: sort: a dim stands in the angle brackets, a tensor in the parentheses: sort<token>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::sort<rows>(x); }
#else
auto f() { return dm::sort<hidden>(x); }
#endif

// mistake: misused_orders__sort_counted
// expect: sort: a dim stands in the angle brackets, a tensor in the parentheses: sort<token>(x)
// expect: not_a_dim<std::integral_constant<long
#ifdef COMPILE_FAIL
auto f() { return dm::sort<1>(x); }
#else
auto f() { return dm::sort<hidden>(x); }
#endif

// mistake: misused_orders__sort_all_to_all
// expect: sort_all_to_all: a dim stands in the angle brackets, a tensor in the parentheses: sort_all_to_all<token>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::sort_all_to_all<rows>(x); }
#else
auto f() { return dm::sort_all_to_all<hidden>(x); }
#endif

// mistake: misused_orders__argsort_all_to_all
// expect: argsort_all_to_all: a dim stands in the angle brackets, a tensor in the parentheses: argsort_all_to_all<token>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::argsort_all_to_all<rows>(x); }
#else
auto f() { return dm::argsort_all_to_all<hidden>(x); }
#endif

// mistake: misused_orders__top_k
// expect: top_k: a dim and a new one stand in the angle brackets, a tensor in the parentheses: top_k<token, best>(x), best a dim<3>
#ifdef COMPILE_FAIL
auto f() { return dm::top_k<hidden>(x, 3); }
#else
auto f() { return dm::top_k<hidden, best>(x); }
#endif

// mistake: misused_orders__top_k_counted
// expect: top_k: a dim and a new one stand in the angle brackets, a tensor in the parentheses: top_k<token, best>(x), best a dim<3>
// expect: not_a_dim<std::integral_constant<long
#ifdef COMPILE_FAIL
auto f() { return dm::top_k<hidden, 3>(x); }
#else
auto f() { return dm::top_k<hidden, best>(x); }
#endif

// mistake: misused_orders__top_k_all_gather
// expect: top_k_all_gather: a dim and a new one stand in the angle brackets, a tensor in the parentheses: top_k_all_gather<token, best>(x), best a dim<3>
#ifdef COMPILE_FAIL
auto f() { return dm::top_k_all_gather<hidden>(x, 3); }
#else
auto f() { return dm::top_k_all_gather<hidden, best>(x); }
#endif

// mistake: misused_orders__nth_largest
// expect: nth_largest: a dim stands in the angle brackets, the tensor and how many are greater in the parentheses: nth_largest<token>(x, 0)
#ifdef COMPILE_FAIL
auto f() { return dm::nth_largest<hidden>(0, x); }
#else
auto f() { return dm::nth_largest<hidden>(x, 0); }
#endif

// mistake: misused_orders__nth_smallest
// expect: nth_smallest: a dim stands in the angle brackets, the tensor and how many are smaller in the parentheses: nth_smallest<token>(x, 0)
#ifdef COMPILE_FAIL
auto f() { return dm::nth_smallest<hidden>(0, x); }
#else
auto f() { return dm::nth_smallest<hidden>(x, 0); }
#endif

// mistake: misused_orders__nth_largest_all_gather
// expect: nth_largest_all_gather: a dim stands in the angle brackets, the tensor and how many are greater in the parentheses: nth_largest_all_gather<token>(x, 0)
#ifdef COMPILE_FAIL
auto f() { return dm::nth_largest_all_gather<hidden>(0, x); }
#else
auto f() { return dm::nth_largest_all_gather<hidden>(x, 0); }
#endif

// mistake: misused_orders__cumsum
// expect: cumsum: a dim stands in the angle brackets, a tensor in the parentheses: cumsum<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cumsum<rows>(x); }
#else
auto f() { return dm::cumsum<hidden>(x); }
#endif

// mistake: misused_orders__cumsum_exscan
// expect: cumsum_exscan: a dim stands in the angle brackets, a tensor in the parentheses: cumsum_exscan<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cumsum_exscan<rows>(x); }
#else
auto f() { return dm::cumsum_exscan<hidden>(x); }
#endif

// mistake: misused_orders__cumprod
// expect: cumprod: a dim stands in the angle brackets, a tensor in the parentheses: cumprod<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cumprod<rows>(x); }
#else
auto f() { return dm::cumprod<hidden>(x); }
#endif

// mistake: misused_orders__cumprod_exscan
// expect: cumprod_exscan: a dim stands in the angle brackets, a tensor in the parentheses: cumprod_exscan<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cumprod_exscan<rows>(x); }
#else
auto f() { return dm::cumprod_exscan<hidden>(x); }
#endif

// mistake: misused_orders__cummax
// expect: cummax: a dim stands in the angle brackets, a tensor in the parentheses: cummax<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cummax<rows>(x); }
#else
auto f() { return dm::cummax<hidden>(x); }
#endif

// mistake: misused_orders__cummax_exscan
// expect: cummax_exscan: a dim stands in the angle brackets, a tensor in the parentheses: cummax_exscan<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cummax_exscan<rows>(x); }
#else
auto f() { return dm::cummax_exscan<hidden>(x); }
#endif

// mistake: misused_orders__cummin
// expect: cummin: a dim stands in the angle brackets, a tensor in the parentheses: cummin<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cummin<rows>(x); }
#else
auto f() { return dm::cummin<hidden>(x); }
#endif

// mistake: misused_orders__cummin_exscan
// expect: cummin_exscan: a dim stands in the angle brackets, a tensor in the parentheses: cummin_exscan<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cummin_exscan<rows>(x); }
#else
auto f() { return dm::cummin_exscan<hidden>(x); }
#endif

// mistake: misused_orders__linear_recurrence
// expect: linear_recurrence: a dim stands in the angle brackets, two tensors in the parentheses: linear_recurrence<time>(a, b)
#ifdef COMPILE_FAIL
auto f() { return dm::linear_recurrence<hidden>(x); }
#else
auto f() { return dm::linear_recurrence<hidden>(x, x); }
#endif

// mistake: misused_orders__linear_recurrence_exscan
// expect: linear_recurrence_exscan: a dim stands in the angle brackets, two tensors in the parentheses: linear_recurrence_exscan<time>(a, b)
#ifdef COMPILE_FAIL
auto f() { return dm::linear_recurrence_exscan<hidden>(x); }
#else
auto f() { return dm::linear_recurrence_exscan<hidden>(x, x); }
#endif

// mistake: misused_orders__slice
// expect: slice: a dim stands in the angle brackets, a tensor and from where to where in the parentheses: slice<token>(x, 0, 4)
#ifdef COMPILE_FAIL
auto f() { return dm::slice<rows>(x, 0, 4); }
#else
auto f() { return dm::slice<length>(l, 0, 4); }
#endif

// mistake: misused_orders__pad
// expect: pad: a dim stands in the angle brackets, a tensor and how many elements in the parentheses: pad<token>(x, 1, 1)
#ifdef COMPILE_FAIL
auto f() { return dm::pad<length>(l); }
#else
auto f() { return dm::pad<length>(l, 1, 1); }
#endif

// mistake: misused_orders__flip
// expect: flip: a dim stands in the angle brackets, a tensor in the parentheses: flip<token>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::flip<rows>(x); }
#else
auto f() { return dm::flip<hidden>(x); }
#endif

// mistake: misused_orders__pick
// expect: pick: a dim stands in the angle brackets, a tensor and the place in the parentheses: pick<token>(x, 3)
#ifdef COMPILE_FAIL
auto f() { return dm::pick<hidden>(x); }
#else
auto f() { return dm::pick<hidden>(x, 3); }
#endif

// mistake: misused_orders__flip_exchange
// expect: flip_exchange: a dim stands in the angle brackets, a tensor in the parentheses: flip_exchange<token>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::flip_exchange<dm::uneven<hidden>>(x); }
#else
auto f() { return dm::flip_exchange<hidden>(x); }
#endif

// mistake: misused_orders__unstack
// expect: unstack: a dim stands in the angle brackets, a tensor in the parentheses: unstack<layer>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::unstack<rows>(x); }
#else
auto f() { return dm::unstack<hidden>(x); }
#endif

// mistake: misused_orders__merge
// expect: merge: the new dim and those it replaces stand in the angle brackets, a tensor in the parentheses: merge<flat, batch, token>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::merge<batch, hidden>(x, flat{}); }
#else
auto f() { return dm::merge<flat, batch, hidden>(x); }
#endif

// mistake: misused_orders__stack
// expect: stack: a new dim stands in the angle brackets, tensors in the parentheses: stack<layer>(x, y)
#ifdef COMPILE_FAIL
auto f() { return dm::stack<rows>(x, x); }
#else
auto f() { return dm::stack<two>(x, x); }
#endif

// mistake: misused_orders__gather
// expect: gather: a dim of the tensor and one of the ids stand in the angle brackets, both in the parentheses: gather<token, best>(x, ids)
#ifdef COMPILE_FAIL
auto f() { return dm::gather<hidden>(x, ids); }
#else
auto f() { return dm::gather<hidden, best>(x, ids); }
#endif
