// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and arguments of the wrong kind, in what computes.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/batch_norm.hpp>
#include <dimesh/op/categorical.hpp>
#include <dimesh/op/exchange.hpp>
#include <dimesh/op/fft.hpp>
#include <dimesh/op/fft_all_to_all.hpp>
#include <dimesh/op/fft_exchange.hpp>
#include <dimesh/op/logic.hpp>
#include <dimesh/op/masked_mean.hpp>
#include <dimesh/op/reductions.hpp>
#include <dimesh/op/rotary.hpp>
#include <dimesh/op/shuffle.hpp>
#include <dimesh/op/shuffle_exchange.hpp>

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
extern const dm::tensor<float, by_batch, batch> s;
extern const dm::tensor<bool, whole, batch, hidden> mask;
extern const dm::tensor<int, whole, batch, best> ids;
inline constexpr dm::random_key key{1};
struct next_one {
  dm::index_t operator()(dm::index_t i) const { return 1 - i; }
};
inline constexpr next_one next{};

// mistake: misused_numbers__var
// expect: var: dims stand in the angle brackets, a tensor in the parentheses: var<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::var<rows>(x); }
#else
auto f() { return dm::var<batch>(x); }
#endif

// mistake: misused_numbers__stddev
// expect: stddev: dims stand in the angle brackets, a tensor in the parentheses: stddev<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::stddev<rows>(x); }
#else
auto f() { return dm::stddev<batch>(x); }
#endif

// mistake: misused_numbers__prod
// expect: prod: dims stand in the angle brackets, a tensor in the parentheses: prod<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::prod(x, batch{}); }
#else
auto f() { return dm::prod<batch>(x); }
#endif

// mistake: misused_numbers__prod_all_reduce
// expect: prod_all_reduce: dims stand in the angle brackets, a tensor in the parentheses: prod_all_reduce<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::prod_all_reduce(x, batch{}); }
#else
auto f() { return dm::prod_all_reduce<batch>(x); }
#endif

// mistake: misused_numbers__compensated_sum
// expect: compensated_sum: dims stand in the angle brackets, a tensor in the parentheses: compensated_sum<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::compensated_sum(x, batch{}); }
#else
auto f() { return dm::compensated_sum<batch>(x); }
#endif

// mistake: misused_numbers__l1_norm
// expect: l1_norm: dims stand in the angle brackets, a tensor in the parentheses: l1_norm<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::l1_norm(x, batch{}); }
#else
auto f() { return dm::l1_norm<batch>(x); }
#endif

// mistake: misused_numbers__l2_norm
// expect: l2_norm: dims stand in the angle brackets, a tensor in the parentheses: l2_norm<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::l2_norm(x, batch{}); }
#else
auto f() { return dm::l2_norm<batch>(x); }
#endif

// mistake: misused_numbers__max_norm
// expect: max_norm: dims stand in the angle brackets, a tensor in the parentheses: max_norm<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::max_norm(x, batch{}); }
#else
auto f() { return dm::max_norm<batch>(x); }
#endif

// mistake: misused_numbers__batch_norm
// expect: batch_norm: kept dims stand in the angle brackets, epsilon before the tensor: batch_norm<channel>(x), or (1e-5, x, gain, bias)
#ifdef COMPILE_FAIL
auto f() { return dm::batch_norm<hidden>(x, 1e-5); }
#else
auto f() { return dm::batch_norm<hidden>(1e-5, x); }
#endif

// mistake: misused_numbers__batch_norm_all_reduce
// expect: batch_norm_all_reduce: kept dims stand in the angle brackets, epsilon before the tensor: batch_norm_all_reduce<channel>(x), or (1e-5, x, gain, bias)
#ifdef COMPILE_FAIL
auto f() { return dm::batch_norm_all_reduce<hidden>(x, 1e-5); }
#else
auto f() { return dm::batch_norm_all_reduce<hidden>(1e-5, x); }
#endif

// mistake: misused_numbers__group_norm
// expect: group_norm: kept dims stand in the angle brackets, epsilon before the tensor: group_norm<channel>(x), or (1e-5, x, gain, bias)
#ifdef COMPILE_FAIL
auto f() { return dm::group_norm<hidden>(x, 1e-5); }
#else
auto f() { return dm::group_norm<hidden>(1e-5, x); }
#endif

// mistake: misused_numbers__group_norm_all_reduce
// expect: group_norm_all_reduce: kept dims stand in the angle brackets, epsilon before the tensor: group_norm_all_reduce<channel>(x), or (1e-5, x, gain, bias)
#ifdef COMPILE_FAIL
auto f() { return dm::group_norm_all_reduce<hidden>(x, 1e-5); }
#else
auto f() { return dm::group_norm_all_reduce<hidden>(1e-5, x); }
#endif

// mistake: misused_numbers__masked_mean
// expect: masked_mean: dims stand in the angle brackets, a tensor and a mask in the parentheses: masked_mean<batch>(x, mask)
#ifdef COMPILE_FAIL
auto f() { return dm::masked_mean<batch>(x); }
#else
auto f() { return dm::masked_mean<batch>(x, mask); }
#endif

// mistake: misused_numbers__categorical
// expect: categorical: a dim stands in the angle brackets, a key and then logits in the parentheses: categorical<label>(key, x)
#ifdef COMPILE_FAIL
auto f() { return dm::categorical<hidden>(x, key); }
#else
auto f() { return dm::categorical<hidden>(key, x); }
#endif

// mistake: misused_numbers__shuffle
// expect: shuffle: a dim stands in the angle brackets, a key and then a tensor in the parentheses: shuffle<sample>(key, x)
#ifdef COMPILE_FAIL
auto f() { return dm::shuffle<batch>(x, key); }
#else
auto f() { return dm::shuffle<batch>(key, x); }
#endif

// mistake: misused_numbers__shuffle_exchange
// expect: shuffle_exchange: a dim stands in the angle brackets, a key and then a tensor in the parentheses: shuffle_exchange<sample>(key, x)
#ifdef COMPILE_FAIL
auto f() { return dm::shuffle_exchange<batch>(x, key); }
#else
auto f() { return dm::shuffle_exchange<batch>(key, x); }
#endif

// mistake: misused_numbers__rotary
// expect: rotary: the dims of positions and of heads stand in the angle brackets, a tensor in the parentheses: rotary<length, head>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::rotary<hidden>(x); }
#else
auto f() { return dm::rotary<batch, hidden>(x); }
#endif

// mistake: misused_numbers__any
// expect: any: dims stand in the angle brackets, a tensor of bool in the parentheses: any<batch>(x > 0)
#ifdef COMPILE_FAIL
auto f() { return dm::any<rows>(x > 0); }
#else
auto f() { return dm::any<batch>(x > 0); }
#endif

// mistake: misused_numbers__all
// expect: all: dims stand in the angle brackets, a tensor of bool in the parentheses: all<batch>(x > 0)
#ifdef COMPILE_FAIL
auto f() { return dm::all<rows>(x > 0); }
#else
auto f() { return dm::all<batch>(x > 0); }
#endif

// mistake: misused_numbers__exchange
// expect: exchange: a layout stands in the angle brackets, a tensor in the parentheses: exchange<layout<pod>>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::exchange<batch>(x); }
#else
auto f() { return dm::exchange<whole>(x); }
#endif

// mistake: misused_numbers__fft
// expect: fft: dims stand in the angle brackets, a tensor in the parentheses: fft<height, width>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::fft<rows>(z); }
#else
auto f() { return dm::fft<hidden>(z); }
#endif

// mistake: misused_numbers__fft_counted
// expect: fft: dims stand in the angle brackets, a tensor in the parentheses: fft<height, width>(x)
// expect: not_a_dim<std::integral_constant<long
#ifdef COMPILE_FAIL
auto f() { return dm::fft<0, 1>(z); }
#else
auto f() { return dm::fft<hidden>(z); }
#endif

// mistake: misused_numbers__ifft
// expect: ifft: dims stand in the angle brackets, a tensor in the parentheses: ifft<height, width>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::ifft<rows>(z); }
#else
auto f() { return dm::ifft<hidden>(z); }
#endif

// mistake: misused_numbers__fft_all_to_all
// expect: fft_all_to_all: dims stand in the angle brackets, a tensor in the parentheses: fft_all_to_all<height, width>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::fft_all_to_all<rows>(z); }
#else
auto f() { return dm::fft_all_to_all<hidden>(z); }
#endif

// mistake: misused_numbers__ifft_all_to_all
// expect: ifft_all_to_all: dims stand in the angle brackets, a tensor in the parentheses: ifft_all_to_all<height, width>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::ifft_all_to_all<rows>(z); }
#else
auto f() { return dm::ifft_all_to_all<hidden>(z); }
#endif

// mistake: misused_numbers__fft_exchange
// expect: fft_exchange: dims stand in the angle brackets, a tensor in the parentheses: fft_exchange<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::fft_exchange<rows>(z); }
#else
auto f() { return dm::fft_exchange<hidden>(z); }
#endif

// mistake: misused_numbers__ifft_exchange
// expect: ifft_exchange: dims stand in the angle brackets, a tensor in the parentheses: ifft_exchange<time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::ifft_exchange<rows>(z); }
#else
auto f() { return dm::ifft_exchange<hidden>(z); }
#endif

// mistake: misused_numbers__rfft
// expect: rfft: a dim and that of half as many frequencies stand in the angle brackets, a tensor in the parentheses: rfft<time, half>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::rfft<hidden>(x); }
#else
auto f() { return dm::rfft<hidden, half>(x); }
#endif

// mistake: misused_numbers__rfft_all_to_all
// expect: rfft_all_to_all: a dim and that of half as many frequencies stand in the angle brackets, a tensor in the parentheses: rfft_all_to_all<time, half>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::rfft_all_to_all<hidden>(x); }
#else
auto f() { return dm::rfft_all_to_all<hidden, half>(x); }
#endif

// mistake: misused_numbers__rfft_exchange
// expect: rfft_exchange: a dim and that of half as many frequencies stand in the angle brackets, a tensor in the parentheses: rfft_exchange<time, half>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::rfft_exchange<hidden>(x); }
#else
auto f() { return dm::rfft_exchange<hidden, half>(x); }
#endif

// mistake: misused_numbers__log_sum_exp
// expect: log_sum_exp: dims stand in the angle brackets, a tensor in the parentheses: log_sum_exp<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::log_sum_exp<rows>(x); }
#else
auto f() { return dm::log_sum_exp<hidden>(x); }
#endif

// mistake: misused_numbers__broadcast
// expect: broadcast: an axis stands in the angle brackets, a tensor in the parentheses: broadcast<rows>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::broadcast<batch>(x); }
#else
auto f() { return dm::broadcast<rows>(w); }
#endif

// mistake: misused_numbers__permute_along
// expect: permute_along: an axis stands in the angle brackets, a tensor and who sends to whom in the parentheses: permute_along<rows>(x, f)
#ifdef COMPILE_FAIL
auto f() { return dm::permute_along<batch>(s, next); }
#else
auto f() { return dm::permute_along<rows>(s, next); }
#endif
