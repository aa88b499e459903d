// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and arguments of the wrong kind, in what sees windows, groups and keys, and in extremes
// over ranks.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>
#include <dimesh/op/convolution_exchange.hpp>
#include <dimesh/op/extreme_all_reduce.hpp>
#include <dimesh/op/grouped_einsum.hpp>
#include <dimesh/op/pooling_exchange.hpp>

#include "names.hpp"

struct span : dm::dim<6> {};
struct tap : dm::dim<3> {};
struct high : dm::dim<10> {};
extern const dm::tensor<float, whole, batch, hidden> x;
extern const dm::tensor<float, by_batch, batch, hidden> s;
extern const dm::tensor<float, whole, batch, pixel, hidden> image;
extern const dm::tensor<float, by_batch, batch, pixel, hidden> images;
extern const dm::tensor<float, whole, tap, hidden, label> filter;
extern const dm::tensor<float, whole, label, hidden> keys;
extern const dm::tensor<float, whole, label, hidden, span> weights;
extern const dm::tensor<int, whole, label> lengths;
using seen = dm::window<pixel, tap, high>;
using pooled = dm::pool_window<pixel, label>;

// mistake: misused_windows__convolution
// expect: convolution: dims of the result stand in the angle brackets, tensor, filter and windows in the parentheses: (x, w, window<d, tap>{})
#ifdef COMPILE_FAIL
auto f() { return dm::convolution<batch, high, label>(image, filter); }
#else
auto f() { return dm::convolution<batch, high, label>(image, filter, seen{}); }
#endif

// mistake: misused_windows__transposed_convolution
// expect: transposed_convolution: dims of the result stand in the angle brackets, tensor, filter and windows in the parentheses: (x, w, window<d, tap>{})
#ifdef COMPILE_FAIL
auto f() { return dm::transposed_convolution<batch, pixel, hidden>(image, filter, 2); }
#else
auto f() { return dm::convolution<batch, high, label>(image, filter, seen{}); }
#endif

// mistake: misused_windows__convolution_exchange
// expect: convolution_exchange: dims of the result stand in the angle brackets, tensor, filter and windows in the parentheses: (x, w, window<d, tap>{})
#ifdef COMPILE_FAIL
auto f() { return dm::convolution_exchange<batch, high, label>(images, filter); }
#else
auto f() { return dm::convolution_exchange<batch, high, label>(images, filter, seen{}); }
#endif

// mistake: misused_windows__transposed_convolution_exchange
// expect: transposed_convolution_exchange: dims of the result stand in the angle brackets, tensor, filter and windows in the parentheses: (x, w, window<d, tap>{})
#ifdef COMPILE_FAIL
auto f() { return dm::transposed_convolution_exchange<batch, pixel>(images, filter); }
#else
auto f() { return dm::convolution_exchange<batch, high, label>(images, filter, seen{}); }
#endif

// mistake: misused_windows__max_pool
// expect: max_pool: a tensor and windows stand in the parentheses, and nothing in angle brackets: max_pool(x, pool_window<height>{})
#ifdef COMPILE_FAIL
auto f() { return dm::max_pool<pixel>(image); }
#else
auto f() { return dm::max_pool(image, pooled{.size = 3}); }
#endif

// mistake: misused_windows__mean_pool
// expect: mean_pool: a tensor and windows stand in the parentheses, and nothing in angle brackets: mean_pool(x, pool_window<height>{})
#ifdef COMPILE_FAIL
auto f() { return dm::mean_pool<pixel>(image); }
#else
auto f() { return dm::mean_pool(image, pooled{.size = 3}); }
#endif

// mistake: misused_windows__max_pool_exchange
// expect: max_pool_exchange: a tensor and windows stand in the parentheses, and nothing in angle brackets: max_pool_exchange(x, pool_window<height>{})
#ifdef COMPILE_FAIL
auto f() { return dm::max_pool_exchange<pixel>(images); }
#else
auto f() { return dm::max_pool_exchange(images, pooled{.size = 3}); }
#endif

// mistake: misused_windows__beside_interior_is_local
// expect: convolution: dims of the result stand in the angle brackets, tensor, filter and windows in the parentheses: (x, w, window<d, tap>{})
#ifdef COMPILE_FAIL
auto f() { return dm::convolution<batch, high, label>(dm::beside_interior, image, filter, seen{}); }
#else
auto f() {
  return dm::convolution_exchange<batch, high, label>(dm::beside_interior, images, filter, seen{});
}
#endif

// mistake: misused_windows__beside_interior_comes_first
// expect: max_pool_exchange: a tensor and windows stand in the parentheses, and nothing in angle brackets: max_pool_exchange(x, pool_window<height>{})
#ifdef COMPILE_FAIL
auto f() { return dm::max_pool_exchange(images, dm::beside_interior, pooled{.size = 3}); }
#else
auto f() { return dm::max_pool_exchange(dm::beside_interior, images, pooled{.size = 3}); }
#endif

// mistake: misused_windows__windows_have_no_boundary
// expect: max_pool_exchange: a tensor and windows stand in the parentheses, and nothing in angle brackets: max_pool_exchange(x, pool_window<height>{})
#ifdef COMPILE_FAIL
auto f() {
  return dm::max_pool_exchange(dm::beside_interior(dm::boundary::zero), images, pooled{.size = 3});
}
#else
auto f() { return dm::max_pool_exchange(dm::beside_interior, images, pooled{.size = 3}); }
#endif

// mistake: misused_windows__mean_pool_exchange
// expect: mean_pool_exchange: a tensor and windows stand in the parentheses, and nothing in angle brackets: mean_pool_exchange(x, pool_window<height>{})
#ifdef COMPILE_FAIL
auto f() { return dm::mean_pool_exchange<pixel>(images); }
#else
auto f() { return dm::mean_pool_exchange(images, pooled{.size = 3}); }
#endif

// mistake: misused_windows__grouped_einsum
// expect: grouped_einsum: dims of rows, of groups and of the result stand in the angle brackets, two tensors and lengths in the parentheses
#ifdef COMPILE_FAIL
auto f() { return dm::grouped_einsum<batch, label, batch, span>(x, weights); }
#else
auto f() { return dm::grouped_einsum<batch, label, batch, span>(x, weights, lengths); }
#endif

// mistake: misused_windows__attention
// expect: attention: dims of queries, keys and heads stand in the angle brackets, such tensors in the parentheses: attention<query, key, head>(q, k, v)
#ifdef COMPILE_FAIL
auto f() { return dm::attention<batch, hidden>(x, keys, keys); }
#else
auto f() { return dm::attention<batch, label, hidden>(x, keys, keys); }
#endif

// mistake: misused_windows__max_all_reduce
// expect: max_all_reduce: dims stand in the angle brackets, a tensor in the parentheses: max_all_reduce<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::max_all_reduce<rows>(s); }
#else
auto f() { return dm::max_all_reduce<batch>(s); }
#endif

// mistake: misused_windows__min_all_reduce
// expect: min_all_reduce: dims stand in the angle brackets, a tensor in the parentheses: min_all_reduce<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::min_all_reduce<rows>(s); }
#else
auto f() { return dm::min_all_reduce<batch>(s); }
#endif

// mistake: misused_windows__of_filter_in_pool
// expect: pooling: its windows have no taps: max_pool(x, pool_window<height, high>{.size = 2, .stride = 2})
// expect: wrong_arguments<dimesh::window<
// levels: 1
// also: EXCHANGE
#ifdef COMPILE_FAIL
#ifdef EXCHANGE
auto f() { return dm::mean_pool_exchange(image, dm::window<pixel, tap, label>{}); }
#else
auto f() { return dm::max_pool(image, dm::window<pixel, tap, label>{}); }
#endif
#else
auto f() { return dm::max_pool(image, pooled{.size = 3, .stride = 3}); }
#endif
