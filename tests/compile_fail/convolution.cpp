// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What windows do not go over.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/convolution.hpp>
#include <dimesh/op/pooling.hpp>

#include <dimesh/op/convolution_exchange.hpp>
#include <dimesh/op/pooling_exchange.hpp>

#include "names.hpp"

struct tap : dm::dim<3> {};
struct high : dm::dim<10> {};
struct out : dm::dim<5> {};
struct other_mesh : dm::mesh<cols, rows> {};
using image = dm::tensor<float, by_batch, batch, pixel, hidden>;
using filter = dm::tensor<float, whole, tap, hidden, out>;
using w = dm::window<pixel, tap, high>;
using v = dm::pool_window<pixel, label>;

// mistake: convolution__meshes
// Tensor and filter on two meshes.
// expect: convolution: tensor and filter live on different meshes; put them on one
// expect: meshes_differ<
using elsewhere = dm::tensor<float, dm::layout<other_mesh>, tap, hidden, out>;
#ifdef COMPILE_FAIL
auto f(const image& x, const elsewhere& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#else
auto f(const image& x, const filter& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#endif

// mistake: convolution__placed
// At two places of an axis.
// expect: convolution: tensor and filter live on different ranks of this axis; place<axis, k> the one that all ranks hold, or send<axis, k> the one that lives elsewhere
// expect: placed_elsewhere<rows, 0, 1>
using first = dm::tensor<float, dm::layout<pod, dm::placed<rows, 0>>, batch, pixel, hidden>;
using second = dm::tensor<float, dm::layout<pod, dm::placed<rows, 1>>, tap, hidden, out>;
#ifdef COMPILE_FAIL
auto f(const first& x, const second& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#else
auto f(const first& x, const second& k) {
  return dm::convolution<batch, high, out>(x, dm::send<rows, 0>(k), w{});
}
#endif

// mistake: convolution__lacking
// The taps are no dim of the filter.
// expect: convolution: a window goes over a dim that the tensor lacks, or its taps are no dim of the filter; name window<dim of the tensor, dim of the filter, new dim>
// expect: dim_not_in_tensor<label>
#ifdef COMPILE_FAIL
auto f(const image& x, const filter& k) {
  return dm::convolution<batch, high, out>(x, k, dm::window<pixel, label, high>{});
}
#else
auto f(const image& x, const filter& k) {
  return dm::convolution<batch, high, out>(x, k, dm::window<pixel, tap, high>{});
}
#endif

// mistake: convolution__there_already
// The results get a name that the tensor has.
// expect: convolution: dims of windows stand in one tensor each: the taps in the filter, the others never there; rename a dim
// expect: dim_already_in_tensor<batch>
#ifdef COMPILE_FAIL
auto f(const image& x, const filter& k) {
  return dm::convolution<batch, out>(x, k, dm::window<pixel, tap, batch>{});
}
#else
auto f(const image& x, const filter& k) {
  return dm::convolution<batch, high, out>(x, k, dm::window<pixel, tap, high>{});
}
#endif

// mistake: convolution__split
// A window over a dim that is split.
// expect: convolution: a window needs its dim whole on each rank, and it is split; take convolution_exchange, which gets what windows see of others, or whole<dim> it
// expect: dim_is_split<pixel, rows>
using rows_of_pixels =
    dm::tensor<float, dm::layout<pod, dm::split<pixel, rows>>, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const rows_of_pixels& x, const filter& k) {
  return dm::convolution<batch, high, out>(x, k, w{});
}
#else
auto f(const rows_of_pixels& x, const filter& k) {
  return dm::convolution_exchange<batch, high, out>(x, k, w{});
}
#endif

// mistake: convolution__halo
// Blocks with halos.
// expect: convolution: blocks of a dim carry halos; take the tensor without them
// expect: dim_has_halo<pixel>
#ifdef COMPILE_FAIL
auto f(const image& x, const filter& k) {
  return dm::convolution<batch, high, out>(dm::halo_exchange<1, pixel>(x), k, w{});
}
#else
auto f(const image& x, const filter& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#endif

// mistake: convolution__halo_beside
// Blocks with halos along a dim that is in no window.
// expect: convolution: blocks of a dim carry halos; take the tensor without them
// expect: dim_has_halo<hidden>
#ifdef COMPILE_FAIL
auto f(const image& x, const filter& k) {
  return dm::convolution<batch, high, out>(dm::halo_exchange<1, hidden>(x), k, w{});
}
#else
auto f(const image& x, const filter& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#endif

// mistake: convolution__halo_of_filter
// The filter's blocks with halos.
// expect: convolution: blocks of a dim carry halos; take the tensor without them
// expect: dim_has_halo<out>
#ifdef COMPILE_FAIL
auto f(const image& x, const filter& k) {
  return dm::convolution<batch, high, out>(x, dm::halo_exchange<1, out>(k), w{});
}
#else
auto f(const image& x, const filter& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#endif

// mistake: convolution__not_summed
// The channels of the filter are neither kept nor the tensor's.
// expect: convolution: the result has dims of its operands, with the windows' new dims, each once; what it lacks stands in both operands, and is summed
// expect: dim_in_one_input_only<out>
#ifdef COMPILE_FAIL
auto f(const image& x, const filter& k) { return dm::convolution<batch, high>(x, k, w{}); }
#else
auto f(const image& x, const filter& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#endif

// mistake: convolution__elements
// Floats and doubles.
// expect: convolution: tensor and filter have different element types; cast one of them
// expect: elements_differ<float, double>
using fine = dm::tensor<double, whole, tap, hidden, out>;
#ifdef COMPILE_FAIL
auto f(const image& x, const fine& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#else
auto f(const image& x, const fine& k) {
  return dm::convolution<batch, high, out>(x, dm::cast<float>(k), w{});
}
#endif

// mistake: convolution__split_apart
// Channels are split in the tensor alone.
// expect: convolution: tensor and filter are split differently; relayout one of them
// expect: dim_split_in_one_operand_only<hidden, cols>
using by_channel = dm::tensor<float, hybrid, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const by_channel& x, const filter& k) {
  return dm::convolution<batch, high, out>(x, k, w{});
}
#else
auto f(const by_channel& x, const filter& k) {
  return dm::convolution<batch, high, out>(dm::whole<hidden>(x), k, w{});
}
#endif

// mistake: convolution__addends
// Both yet to be summed.
// expect: convolution: an operand is a sum yet to be made along an axis where the other one is not whole; complete it first
// expect: both_operands_partial<rows>
using sum = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch, pixel, hidden>;
using filters = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, tap, hidden, out>;
#ifdef COMPILE_FAIL
auto f(const sum& x, const filters& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#else
auto f(const sum& x, const filters& k) {
  return dm::convolution<batch, high, out>(x, dm::complete(k), w{});
}
#endif

// mistake: pool__lacking
// A window over no dim of the tensor.
// expect: max_pool, mean_pool: the tensor lacks the dim of a window; name pool_window<dim of the tensor, new dim>
// expect: dim_not_in_tensor<label>
#ifdef COMPILE_FAIL
auto f(const image& x) { return dm::max_pool(x, dm::pool_window<label, high>{}); }
#else
auto f(const image& x) { return dm::max_pool(x, dm::pool_window<pixel, label>{.size = 3}); }
#endif

// mistake: pool__there_already
// The results get a name that the tensor has.
// expect: max_pool, mean_pool: the tensor has a window's new dim already; rename it
// expect: dim_already_in_tensor<hidden>
#ifdef COMPILE_FAIL
auto f(const image& x) { return dm::max_pool(x, dm::pool_window<pixel, hidden>{}); }
#else
auto f(const image& x) { return dm::max_pool(x, v{.size = 3}); }
#endif

// mistake: pool__twice
// Two windows over one dim.
// expect: max_pool, mean_pool: two windows go over one dim, or give one; name each dim in one window
// expect: dim_repeated<pixel>
using same = dm::pool_window<pixel>;
#ifdef COMPILE_FAIL
auto f(const image& x) { return dm::max_pool(x, same{.size = 3}, same{.size = 3}); }
#else
auto f(const image& x) { return dm::max_pool(x, same{.size = 3}); }
#endif

// mistake: convolution__twice
// Two windows over one dim.
// expect: convolution: the result has dims of its operands, with the windows' new dims, each once; what it lacks stands in both operands, and is summed
// expect: dim_repeated<pixel>
struct wide : dm::dim<2> {};
using two_taps = dm::tensor<float, whole, tap, wide, hidden, out>;
#ifdef COMPILE_FAIL
auto f(const image& x, const two_taps& k) {
  return dm::convolution<batch, pixel, out>(x, k,
                                            dm::window<pixel, tap>{.around = dm::padding::same},
                                            dm::window<pixel, wide>{.around = dm::padding::same});
}
#else
auto f(const image& x, const filter& k) {
  return dm::convolution<batch, pixel, out>(x, k,
                                            dm::window<pixel, tap>{.around = dm::padding::same});
}
#endif

// mistake: pool__split
// A window over a dim that is split.
// expect: max_pool, mean_pool: a window needs its dim whole on each rank, and it is split; take max_pool_exchange or mean_pool_exchange, or whole<dim> it
// expect: dim_is_split<pixel, rows>
using rows_of_pixels =
    dm::tensor<float, dm::layout<pod, dm::split<pixel, rows>>, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const rows_of_pixels& x) { return dm::mean_pool(x, v{.size = 3}); }
#else
auto f(const rows_of_pixels& x) { return dm::mean_pool_exchange(x, v{.size = 3}); }
#endif

// mistake: pool__halo
// Blocks with halos.
// expect: max_pool, mean_pool: blocks of a dim carry halos; take the tensor without them
// expect: dim_has_halo<pixel>
#ifdef COMPILE_FAIL
auto f(const image& x) { return dm::max_pool(dm::halo_exchange<1, pixel>(x), v{.size = 3}); }
#else
auto f(const image& x) { return dm::max_pool(x, v{.size = 3}); }
#endif

// mistake: pool__halo_beside
// Blocks with halos along a dim that is in no window.
// expect: max_pool, mean_pool: blocks of a dim carry halos; take the tensor without them
// expect: dim_has_halo<hidden>
#ifdef COMPILE_FAIL
auto f(const image& x) { return dm::mean_pool(dm::halo_exchange<1, hidden>(x), v{.size = 3}); }
#else
auto f(const image& x) { return dm::mean_pool(x, v{.size = 3}); }
#endif

// mistake: pool__addends
// The greatest of addends.
// expect: max_pool, mean_pool: the operand is yet to be joined along an axis (of a mean: an extreme); complete it first
// expect: partial_operand<rows>
using sum = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const sum& x) { return dm::max_pool(x, v{.size = 3}); }
#else
auto f(const sum& x) { return dm::max_pool(dm::complete(x), v{.size = 3}); }
#endif

// mistake: convolution_exchange__taps
// A part of the filter on each rank.
// expect: convolution_exchange: each rank needs the whole filter, and a dim of taps is split; whole<dim> it
// expect: dim_is_split<taps, cols>
struct taps : dm::dim<4> {};
struct nine : dm::dim<9> {};
using rows_of_pixels =
    dm::tensor<float, dm::layout<pod, dm::split<dm::uneven<pixel>, rows>>, batch, pixel, hidden>;
using some_taps = dm::tensor<float, dm::layout<pod, dm::split<taps, cols>>, taps, hidden, out>;
#ifdef COMPILE_FAIL
auto f(const rows_of_pixels& x, const some_taps& k) {
  return dm::convolution_exchange<batch, nine, out>(x, k, dm::window<pixel, taps, nine>{});
}
#else
auto f(const rows_of_pixels& x, const some_taps& k) {
  return dm::convolution_exchange<batch, pixel, out>(
      x, dm::whole<taps>(k), dm::window<pixel, taps>{.around = dm::padding::same});
}
#endif

// mistake: convolution_exchange__not_divisible
// Nine results, on two ranks.
// expect: convolution_exchange: results along this dim do not divide over the ranks of the dim that they come from; split that as uneven<dim>
// expect: extent_not_divisible<nine, 9, rows, 2>
struct nine : dm::dim<9> {};
using rows_of_pixels =
    dm::tensor<float, dm::layout<pod, dm::split<pixel, rows>>, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const rows_of_pixels& x, const filter& k) {
  return dm::convolution_exchange<batch, nine, out>(x, k, dm::window<pixel, tap, nine>{});
}
#else
auto f(const rows_of_pixels& x, const filter& k) {
  return dm::convolution_exchange<batch, high, out>(x, k, w{});
}
#endif

// mistake: pool_exchange__not_divisible
// Three results, on two ranks.
// expect: max_pool_exchange, mean_pool_exchange: results along this dim do not divide over the ranks of the dim that they come from; split that as uneven<dim>
// expect: extent_not_divisible<three, 3, rows, 2>
struct three : dm::dim<3> {};
using rows_of_pixels =
    dm::tensor<float, dm::layout<pod, dm::split<pixel, rows>>, batch, pixel, hidden>;
using by_four = dm::pool_window<pixel, three>;
#ifdef COMPILE_FAIL
auto f(const rows_of_pixels& x) { return dm::max_pool_exchange(x, by_four{.size = 4}); }
#else
auto f(const rows_of_pixels& x) { return dm::max_pool_exchange(x, v{.size = 3}); }
#endif
