// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and arguments of the wrong kind, in losses, norms, choices and functions of elements.
#include <complex>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/fft_all_to_all.hpp>
#include <dimesh/op/fft_exchange.hpp>

#include "names.hpp"

struct half : dm::dim<4> {};
extern const dm::tensor<float, whole, batch, hidden> x;
extern const dm::tensor<std::complex<float>, whole, batch, half> z;
extern const dm::tensor<float, whole, hidden> w;
extern const dm::tensor<float, dm::layout<pod, dm::partial<rows>>, hidden> addends;
extern const dm::tensor<float, whole, label> v;
extern const dm::tensor<int, whole, batch> ids;

// mistake: misused_operands__cross_entropy
// expect: softmax_cross_entropy: the dim of classes stands in the angle brackets, logits and targets in the parentheses: softmax_cross_entropy<label>(x, ids)
// expect: not_a_dim<rows>
#ifdef COMPILE_FAIL
auto f() { return dm::softmax_cross_entropy<rows>(x, ids); }
#else
auto f() { return dm::softmax_cross_entropy<hidden>(x, ids); }
#endif

// mistake: misused_operands__cross_entropy_of_no_dim
// expect: softmax_cross_entropy: the dim of classes stands in the angle brackets, logits and targets in the parentheses: softmax_cross_entropy<label>(x, ids)
#ifdef COMPILE_FAIL
auto f() { return dm::softmax_cross_entropy(x, ids); }
#else
auto f() { return dm::softmax_cross_entropy<hidden>(x, ids, {.label_smoothing = 0.1}); }
#endif

// mistake: misused_operands__cross_entropy_counted
// expect: softmax_cross_entropy: the dim of classes stands in the angle brackets, logits and targets in the parentheses: softmax_cross_entropy<label>(x, ids)
#ifdef COMPILE_FAIL
auto f() { return dm::softmax_cross_entropy<1>(x, ids); }
#else
auto f() { return dm::softmax_cross_entropy<hidden>(x, ids); }
#endif

// mistake: misused_operands__layer_norm
// expect: layer_norm: one dim stands in the angle brackets, epsilon before the tensor: layer_norm<model>(x), or (1e-5, x, gain, bias)
// expect: not_a_tensor<double>
#ifdef COMPILE_FAIL
auto f() { return dm::layer_norm<hidden>(x, w, w, 1e-5); }
#else
auto f() { return dm::layer_norm<hidden>(1e-5, x, w, w); }
#endif

// mistake: misused_operands__layer_norm_counted
// expect: layer_norm: one dim stands in the angle brackets, epsilon before the tensor: layer_norm<model>(x), or (1e-5, x, gain, bias)
#ifdef COMPILE_FAIL
auto f() { return dm::layer_norm<1>(x); }
#else
auto f() { return dm::layer_norm<hidden>(x); }
#endif

// mistake: misused_operands__rms_norm
// expect: rms_norm: one dim stands in the angle brackets, epsilon before the tensor: rms_norm<model>(x), or (1e-5, x, gain)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f() { return dm::rms_norm<hidden>(x, w, w); }
#else
auto f() { return dm::rms_norm<hidden>(x, w); }
#endif

// mistake: misused_operands__rms_norm_counted
// expect: rms_norm: one dim stands in the angle brackets, epsilon before the tensor: rms_norm<model>(x), or (1e-5, x, gain)
#ifdef COMPILE_FAIL
auto f() { return dm::rms_norm<1>(x); }
#else
auto f() { return dm::rms_norm<hidden>(1e-5, x); }
#endif

// mistake: misused_operands__outer
// expect: outer: two tensors stand in the parentheses, and nothing in angle brackets: outer(x, y); of three outer(outer(x, y), z)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f() { return dm::outer(w, v, x); }
#else
auto f() { return dm::outer(w, v); }
#endif

// mistake: misused_operands__select
// expect: select: a condition and two values, which may be numbers, stand in the parentheses: select(x > 0, x, y)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f() { return dm::select(x > 0, x); }
#else
auto f() { return dm::select(x > 0, x, 0); }
#endif

// mistake: misused_operands__condition
// expect: select: the condition is a tensor of bool, and stands first: select(x > 0, x, y)
// expect: elements_differ<float, bool>
#ifdef COMPILE_FAIL
auto f() { return dm::select(x, 1, x > 0); }
#else
auto f() { return dm::select(x > 0, 1, x); }
#endif

// mistake: misused_operands__cast
// expect: cast: a type of elements stands in the angle brackets: cast<float>(x)
// expect: not_an_element<batch>
#ifdef COMPILE_FAIL
auto f() { return dm::cast<batch>(x); }
#else
auto f() { return dm::cast<int>(x); }
#endif

// mistake: misused_operands__pow
// expect: pow: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
auto f() { return dm::pow(addends, 2); }
#else
auto f() { return dm::pow(w, 2); }
#endif

// mistake: misused_operands__maximum
// expect: maximum: the operand is a sum yet to be made, or complex; complete it, or take its real part
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
auto f() { return dm::maximum(addends, 0); }
#else
auto f() { return dm::maximum(w, 0); }
#endif

// mistake: misused_operands__minimum
// expect: minimum: the operand is a sum yet to be made, or complex; complete it, or take its real part
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
auto f() { return dm::minimum(addends, 0); }
#else
auto f() { return dm::minimum(w, 0.5); }
#endif

// mistake: misused_operands__irfft_all_to_all
// expect: irfft_all_to_all: the dim of frequencies and the new one stand in the angle brackets, a tensor in the parentheses: irfft_all_to_all<half, time>(x)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f() { return dm::irfft_all_to_all<half>(z); }
#else
auto f() { return dm::irfft_all_to_all<half, hidden>(z); }
#endif

// mistake: misused_operands__irfft_all_to_all_counted
// expect: irfft_all_to_all: the dim of frequencies and the new one stand in the angle brackets, a tensor in the parentheses: irfft_all_to_all<half, time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::irfft_all_to_all<0, 1>(z); }
#else
auto f() { return dm::irfft_all_to_all<half, hidden>(z); }
#endif

// mistake: misused_operands__irfft_exchange
// expect: irfft_exchange: the dim of frequencies and the new one stand in the angle brackets, a tensor in the parentheses: irfft_exchange<half, time>(x)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f() { return dm::irfft_exchange<half>(z); }
#else
auto f() { return dm::irfft_exchange<half, hidden>(z); }
#endif

// mistake: misused_operands__irfft_exchange_counted
// expect: irfft_exchange: the dim of frequencies and the new one stand in the angle brackets, a tensor in the parentheses: irfft_exchange<half, time>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::irfft_exchange<0, 1>(z); }
#else
auto f() { return dm::irfft_exchange<half, hidden>(z); }
#endif

// mistake: misused_operands__cross_entropy_swapped
// expect: softmax_cross_entropy: the first operand, the logits, lacks the dim of the classes; name one that it has, and give logits first, then targets
// expect: dim_not_in_tensor<hidden>
#ifdef COMPILE_FAIL
auto f() { return dm::softmax_cross_entropy<hidden>(ids, x); }
#else
auto f() { return dm::softmax_cross_entropy<hidden>(x, ids); }
#endif
