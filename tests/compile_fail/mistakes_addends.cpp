// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What may sums, maxima and minima that ranks have yet to make not be used for?
#include <dimesh/dimesh.hpp>

#include "mistakes.hpp"

using addends_type = T<dm::layout<pod, dm::partial<rows>>, hidden>;
extern addends_type addends;
extern const decltype(dm::max<batch>(x)) extreme;
extern T<dm::layout<line>, batch, hidden> elsewhere;
extern T<dm::layout<line>, hidden> b_elsewhere;
struct wide : dm::dim<16> {};
extern T<dm::layout<pod, dm::split<wide, rows, cols>>, wide> one_way;
extern T<dm::layout<pod, dm::split<wide, cols, rows>>, wide> other_way;

// mistake: addends__exp
// Of a sum of products it is no sum.
// expect: exp: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::exp(addends); }
#else
auto f() { return dm::exp(dm::complete(addends)); }
#endif

// mistake: addends__log
// Of a sum of products it is no sum.
// expect: log: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::log(addends); }
#else
auto f() { return dm::log(dm::complete(addends)); }
#endif

// mistake: addends__log1p
// Of a sum of products it is no sum.
// expect: log1p: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::log1p(addends); }
#else
auto f() { return dm::log1p(dm::complete(addends)); }
#endif

// mistake: addends__tanh
// Of a sum of products it is no sum.
// expect: tanh: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::tanh(addends); }
#else
auto f() { return dm::tanh(dm::complete(addends)); }
#endif

// mistake: addends__sigmoid
// Of a sum of products it is no sum.
// expect: sigmoid: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::sigmoid(addends); }
#else
auto f() { return dm::sigmoid(dm::complete(addends)); }
#endif

// mistake: addends__sqrt
// Of a sum of products it is no sum.
// expect: sqrt: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::sqrt(addends); }
#else
auto f() { return dm::sqrt(dm::complete(addends)); }
#endif

// mistake: addends__rsqrt
// Of a sum of products it is no sum.
// expect: rsqrt: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::rsqrt(addends); }
#else
auto f() { return dm::rsqrt(dm::complete(addends)); }
#endif

// mistake: addends__square
// Of a sum of products it is no sum.
// expect: square: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::square(addends); }
#else
auto f() { return dm::square(dm::complete(addends)); }
#endif

// mistake: addends__abs
// Of a sum of products it is no sum.
// expect: abs: the operand is a sum yet to be made, or complex; complete it, or take sqrt(norm2(x))
#ifdef COMPILE_FAIL
auto f() { return dm::abs(addends); }
#else
auto f() { return dm::abs(dm::complete(addends)); }
#endif

// mistake: addends__gelu
// Of a sum of products it is no sum.
// expect: gelu: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::gelu(addends); }
#else
auto f() { return dm::gelu(dm::complete(addends)); }
#endif

// mistake: addends__silu
// Of a sum of products it is no sum.
// expect: silu: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::silu(addends); }
#else
auto f() { return dm::silu(dm::complete(addends)); }
#endif

// mistake: addends__softplus
// Of a sum of products it is no sum.
// expect: softplus: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::softplus(addends); }
#else
auto f() { return dm::softplus(dm::complete(addends)); }
#endif

// mistake: addends__elu
// Of a sum of products it is no sum.
// expect: elu: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::elu(addends); }
#else
auto f() { return dm::elu(dm::complete(addends)); }
#endif

// mistake: addends__selu
// Of a sum of products it is no sum.
// expect: selu: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::selu(addends); }
#else
auto f() { return dm::selu(dm::complete(addends)); }
#endif

// mistake: addends__leaky_relu
// Of a sum of products it is no sum.
// expect: leaky_relu: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::leaky_relu(addends); }
#else
auto f() { return dm::leaky_relu(dm::complete(addends)); }
#endif

// mistake: addends__sign
// Of a sum of products it is no sum.
// expect: sign: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::sign(addends); }
#else
auto f() { return dm::sign(dm::complete(addends)); }
#endif

// mistake: addends__floor_div
// Of a sum of products it is no sum.
// expect: floor_div: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
#ifdef COMPILE_FAIL
auto f() { return dm::floor_div(addends, addends); }
#else
auto f() { return dm::floor_div(dm::complete(addends), dm::complete(addends)); }
#endif

// mistake: addends__floor_div_number
// Of a sum of products it is no sum.
// expect: floor_div: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::floor_div(addends, 3); }
#else
auto f() { return dm::floor_div(dm::complete(addends), 3); }
#endif

// mistake: addends__number_floor_div
// Of a sum of products it is no sum.
// expect: floor_div: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::floor_div(3, addends); }
#else
auto f() { return dm::floor_div(3, dm::complete(addends)); }
#endif

// mistake: addends__mod
// Of a sum of products it is no sum.
// expect: mod: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
#ifdef COMPILE_FAIL
auto f() { return dm::mod(addends, addends); }
#else
auto f() { return dm::mod(dm::complete(addends), dm::complete(addends)); }
#endif

// mistake: addends__mod_number
// Of a sum of products it is no sum.
// expect: mod: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::mod(addends, 3); }
#else
auto f() { return dm::mod(dm::complete(addends), 3); }
#endif

// mistake: addends__number_mod
// Of a sum of products it is no sum.
// expect: mod: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::mod(3, addends); }
#else
auto f() { return dm::mod(3, dm::complete(addends)); }
#endif

// mistake: addends__sin
// Of a sum of products it is no sum.
// expect: sin: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::sin(addends); }
#else
auto f() { return dm::sin(dm::complete(addends)); }
#endif

// mistake: addends__cos
// Of a sum of products it is no sum.
// expect: cos: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
#ifdef COMPILE_FAIL
auto f() { return dm::cos(addends); }
#else
auto f() { return dm::cos(dm::complete(addends)); }
#endif

// mistake: addends__floor
// Of a sum of products it is no sum.
// expect: floor: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return dm::floor(addends); }
#else
auto f() { return dm::floor(dm::complete(addends)); }
#endif

// mistake: addends__less
// A truth of addends.
// expect: operator<: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return addends < 1; }
#else
auto f() { return dm::complete(addends) < 1; }
#endif

// mistake: addends__less_equal
// A truth of addends.
// expect: operator<=: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return addends <= 1; }
#else
auto f() { return dm::complete(addends) <= 1; }
#endif

// mistake: addends__greater_equal
// A truth of addends.
// expect: operator>=: the operand is a sum yet to be made, or complex; complete it, or take its real part
#ifdef COMPILE_FAIL
auto f() { return addends >= 1; }
#else
auto f() { return dm::complete(addends) >= 1; }
#endif

// mistake: addends__equal
// A truth of addends.
// expect: operator==: the operand is a sum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return addends == 1; }
#else
auto f() { return dm::complete(addends) == 1; }
#endif

// mistake: addends__not_equal
// A truth of addends.
// expect: operator!=: the operand is a sum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return addends != 1; }
#else
auto f() { return dm::complete(addends) != 1; }
#endif

// mistake: fits__less
// Operands of two meshes.
// expect: operator<: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
#ifdef COMPILE_FAIL
auto f() { return x < elsewhere; }
#else
auto f() { return x < x; }
#endif

// mistake: fits__less_equal
// Operands of two meshes.
// expect: operator<=: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
#ifdef COMPILE_FAIL
auto f() { return x <= elsewhere; }
#else
auto f() { return x <= x; }
#endif

// mistake: fits__greater
// Operands of two meshes.
// expect: operator>: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
#ifdef COMPILE_FAIL
auto f() { return x > elsewhere; }
#else
auto f() { return x > x; }
#endif

// mistake: fits__greater_equal
// Operands of two meshes.
// expect: operator>=: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
#ifdef COMPILE_FAIL
auto f() { return x >= elsewhere; }
#else
auto f() { return x >= x; }
#endif

// mistake: fits__equal
// Operands of two meshes.
// expect: operator==: the operands do not fit; complete what is partial, relayout what is split differently
#ifdef COMPILE_FAIL
auto f() { return x == elsewhere; }
#else
auto f() { return x == x; }
#endif

// mistake: fits__not_equal
// Operands of two meshes.
// expect: operator!=: the operands do not fit; complete what is partial, relayout what is split differently
#ifdef COMPILE_FAIL
auto f() { return x != elsewhere; }
#else
auto f() { return x != x; }
#endif

// mistake: fits__subtract_meshes
// Operands of two meshes.
// expect: operator-: the operands live on different meshes; put them on one
#ifdef COMPILE_FAIL
auto f() { return x - elsewhere; }
#else
auto f() { return x - x; }
#endif

// mistake: fits__subtract_split
// A block meets all of a dim.
// expect: operator-: a dim is split in one operand only; take own<dim, axis> of the other (free), or gather it with whole<dim>
#ifdef COMPILE_FAIL
auto f() { return x - xw; }
#else
auto f() { return x - dm::own<batch, rows>(xw); }
#endif

// mistake: fits__subtract_differently
// Blocks in another order.
// expect: operator-: the operands are split differently; relayout one of them
#ifdef COMPILE_FAIL
auto f() { return one_way - other_way; }
#else
auto f() { return one_way - one_way; }
#endif

// mistake: extreme__subtract
// A maximum yet to be found.
// expect: operator-: the operand is a maximum or minimum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return -extreme; }
#else
auto f() { return -dm::complete(extreme); }
#endif

// mistake: fits__multiply_meshes
// Operands of two meshes.
// expect: operator*: the operands live on different meshes; put them on one
#ifdef COMPILE_FAIL
auto f() { return x * elsewhere; }
#else
auto f() { return x * x; }
#endif

// mistake: fits__multiply_split
// A block meets all of a dim.
// expect: operator*: a dim is split in one operand only; take own<dim, axis> of the other (free), or gather it with whole<dim>
#ifdef COMPILE_FAIL
auto f() { return x * xw; }
#else
auto f() { return x * dm::own<batch, rows>(xw); }
#endif

// mistake: fits__multiply_differently
// Blocks in another order.
// expect: operator*: the operands are split differently; relayout one of them
#ifdef COMPILE_FAIL
auto f() { return one_way * other_way; }
#else
auto f() { return one_way * one_way; }
#endif

// mistake: extreme__multiply
// A maximum yet to be found.
// expect: operator*: the operand is a maximum or minimum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return extreme * 2.f; }
#else
auto f() { return dm::complete(extreme) * 2.f; }
#endif

// mistake: fits__divide_meshes
// Operands of two meshes.
// expect: operator/: the operands live on different meshes; put them on one
#ifdef COMPILE_FAIL
auto f() { return x / elsewhere; }
#else
auto f() { return x / x; }
#endif

// mistake: fits__divide_split
// A block meets all of a dim.
// expect: operator/: a dim is split in one operand only; take own<dim, axis> of the other (free), or gather it with whole<dim>
#ifdef COMPILE_FAIL
auto f() { return x / xw; }
#else
auto f() { return x / dm::own<batch, rows>(xw); }
#endif

// mistake: fits__divide_differently
// Blocks in another order.
// expect: operator/: the operands are split differently; relayout one of them
#ifdef COMPILE_FAIL
auto f() { return one_way / other_way; }
#else
auto f() { return one_way / one_way; }
#endif

// mistake: extreme__divide
// A maximum yet to be found.
// expect: operator/: the operand is a maximum or minimum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return extreme / 2.f; }
#else
auto f() { return dm::complete(extreme) / 2.f; }
#endif

// mistake: extremes__add
// A maximum yet to be found beside a tensor.
// expect: operator+: an operand is a maximum or minimum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return extreme + b; }
#else
auto f() { return dm::complete(extreme) + b; }
#endif

// mistake: extremes__subtract
// A maximum yet to be found beside a tensor.
// expect: operator-: an operand is a maximum or minimum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return extreme - b; }
#else
auto f() { return dm::complete(extreme) - b; }
#endif

// mistake: extremes__multiply
// A maximum yet to be found beside a tensor.
// expect: operator*: an operand is a maximum or minimum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return extreme * b; }
#else
auto f() { return dm::complete(extreme) * b; }
#endif

// mistake: addends__divide
// A quotient of addends by a block.
// expect: operator/: one operand is a sum yet to be made along an axis that splits the other; complete it first
#ifdef COMPILE_FAIL
auto f() { return addends / x; }
#else
auto f() { return dm::complete(addends) / b; }
#endif

// mistake: fits__pow
// Operands of two meshes.
// expect: pow: the operands do not fit; complete what is partial, relayout what is split differently, map a function where they are complex
#ifdef COMPILE_FAIL
auto f() { return dm::pow(x, elsewhere); }
#else
auto f() { return dm::pow(x, x); }
#endif

// mistake: fits__minimum
// Operands of two meshes.
// expect: minimum: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
#ifdef COMPILE_FAIL
auto f() { return dm::minimum(x, elsewhere); }
#else
auto f() { return dm::minimum(x, x); }
#endif

// mistake: addends__argmax
// The place of the greatest addend.
// expect: argmax: the operand is a sum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::argmax<hidden>(addends); }
#else
auto f() { return dm::argmax<hidden>(dm::complete(addends)); }
#endif

// mistake: addends__argmin
// The place of the least addend.
// expect: argmin: the operand is a sum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::argmin<hidden>(addends); }
#else
auto f() { return dm::argmin<hidden>(dm::complete(addends)); }
#endif

// mistake: addends__map
// A function of addends.
// expect: map: an operand is a sum yet to be made, and a function of parts is no part of it; complete it first
#ifdef COMPILE_FAIL
auto f() {
  return dm::map([](auto a, auto c) { return a * c; }, addends, b);
}
#else
auto f() {
  return dm::map([](auto a, auto c) { return a * c; }, dm::complete(addends), b);
}
#endif

// mistake: fits__map_meshes
// Operands of two meshes.
// expect: map: the operands live on different meshes; put them on one
#ifdef COMPILE_FAIL
auto f() {
  return dm::map([](auto a, auto c) { return a * c; }, x, elsewhere);
}
#else
auto f() {
  return dm::map([](auto a, auto c) { return a * c; }, x, x);
}
#endif

// mistake: fits__map_split
// Blocks of two axes.
// expect: map: the operands are split differently; relayout one of them
#ifdef COMPILE_FAIL
auto f() {
  return dm::map([](auto a, auto c) { return a * c; }, one_way, other_way);
}
#else
auto f() {
  return dm::map([](auto a, auto c) { return a * c; }, one_way, one_way);
}
#endif

// mistake: addends__layer_norm
// The norm of addends.
// expect: layer_norm: the operand is a sum yet to be made; complete it first
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::layer_norm<hidden>(addends); }
#else
auto f() { return dm::layer_norm<hidden>(dm::complete(addends)); }
#endif

// mistake: addends__rms_norm
// The norm of addends.
// expect: rms_norm: the operand is a sum yet to be made; complete it first
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::rms_norm<hidden>(addends); }
#else
auto f() { return dm::rms_norm<hidden>(dm::complete(addends)); }
#endif

// mistake: fits__layer_norm
// A gain of another mesh.
// expect: layer_norm: gain and bias do not fit the tensor; complete what is partial, relayout what is split differently
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::layer_norm<hidden>(xw, b_elsewhere, b); }
#else
auto f() { return dm::layer_norm<hidden>(xw, b, b); }
#endif

// mistake: fits__rms_norm
// A gain of another mesh.
// expect: rms_norm: the gain does not fit the tensor; complete what is partial, relayout what is split differently
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::rms_norm<hidden>(xw, b_elsewhere); }
#else
auto f() { return dm::rms_norm<hidden>(xw, b); }
#endif

// mistake: addends__one_hot
// Places of addends.
// expect: one_hot: the operand is a sum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::one_hot<label>(dm::sum<batch>(ids)); }
#else
auto f() { return dm::one_hot<label>(ids); }
#endif

// mistake: numbers__one_hot
// Places that are no whole numbers.
// expect: one_hot: places are whole numbers; cast the tensor to an integer type first
#ifdef COMPILE_FAIL
auto f() { return dm::one_hot<label>(x); }
#else
auto f() { return dm::one_hot<label>(ids); }
#endif

// mistake: addends__sum
// The sum of maxima.
// expect: sum: the operand is a maximum or minimum yet to be found; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::sum<hidden>(extreme); }
#else
auto f() { return dm::sum<hidden>(dm::complete(extreme)); }
#endif

// mistake: addends__mean
// The mean of maxima.
// expect: mean: the operand is a maximum or minimum yet to be found; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::mean<hidden>(extreme); }
#else
auto f() { return dm::mean<hidden>(dm::complete(extreme)); }
#endif

// mistake: addends__max_of
// The greatest addend.
// expect: max: the operand is a sum yet to be made, of which addends say nothing; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::max<hidden>(addends); }
#else
auto f() { return dm::max<hidden>(dm::complete(addends)); }
#endif

// mistake: addends__min_of
// The least addend.
// expect: min: the operand is a sum yet to be made, of which addends say nothing; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::min<hidden>(addends); }
#else
auto f() { return dm::min<hidden>(dm::complete(addends)); }
#endif

// mistake: addends__log_softmax
// Of a sum of products it is no sum.
// expect: log_softmax: the operand is a sum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::log_softmax<hidden>(addends); }
#else
auto f() { return dm::log_softmax<hidden>(dm::complete(addends)); }
#endif

// mistake: addends__log_sum_exp
// Of a sum of products it is no sum.
// expect: log_sum_exp: the operand is a sum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::log_sum_exp<hidden>(addends); }
#else
auto f() { return dm::log_sum_exp<hidden>(dm::complete(addends)); }
#endif

// mistake: extreme__dropout
// Elements left out of a maximum yet to be found.
// expect: dropout: the operand is a maximum or minimum yet to be found; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::dropout(0.1, key, extreme); }
#else
auto f() { return dm::dropout(0.1, key, dm::complete(extreme)); }
#endif

// mistake: addends__cross_entropy
// Logits that are addends.
// expect: softmax_cross_entropy: an operand is a sum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::softmax_cross_entropy<label>(dm::einsum<batch, label>(xh, wh), ids); }
#else
auto f() {
  return dm::softmax_cross_entropy<label>(dm::complete(dm::einsum<batch, label>(xh, wh)), ids);
}
#endif

// mistake: addends__cast
// Addends rounded one by one.
// expect: cast: the operand is a sum yet to be made, and its rounded addends would not add up to it; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::cast<std::int32_t>(addends); }
#else
auto f() { return dm::cast<std::int32_t>(dm::complete(addends)); }
#endif

// mistake: lacking__mean
// A dim that the tensor lacks.
// expect: mean: the tensor lacks this dim; name its own dims
#ifdef COMPILE_FAIL
auto f() { return dm::mean<label>(x); }
#else
auto f() { return dm::mean<hidden>(x); }
#endif

// mistake: lacking__max
// A dim that the tensor lacks.
// expect: max: the tensor lacks this dim; name its own dims
#ifdef COMPILE_FAIL
auto f() { return dm::max<label>(x); }
#else
auto f() { return dm::max<hidden>(x); }
#endif

// mistake: lacking__min
// A dim that the tensor lacks.
// expect: min: the tensor lacks this dim; name its own dims
#ifdef COMPILE_FAIL
auto f() { return dm::min<label>(x); }
#else
auto f() { return dm::min<hidden>(x); }
#endif

// mistake: lacking__argmax
// A dim that the tensor lacks.
// expect: argmax: the tensor lacks this dim; name its own dims
#ifdef COMPILE_FAIL
auto f() { return dm::argmax<label>(x); }
#else
auto f() { return dm::argmax<hidden>(x); }
#endif

// mistake: lacking__argmin
// A dim that the tensor lacks.
// expect: argmin: the tensor lacks this dim; name its own dims
#ifdef COMPILE_FAIL
auto f() { return dm::argmin<label>(x); }
#else
auto f() { return dm::argmin<hidden>(x); }
#endif

// mistake: split__argmin
// A dim of which a rank sees a block.
// expect: argmin: the dim is split, and a rank sees its block only; take argmin_all_gather, or gather it with whole<dim> first
#ifdef COMPILE_FAIL
auto f() { return dm::argmin<batch>(x); }
#else
auto f() { return dm::argmin<batch>(dm::whole<batch>(x)); }
#endif

// mistake: lacking__layer_norm
// A dim that the tensor lacks.
// expect: layer_norm: the tensor lacks this dim; name one of its own
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::layer_norm<label>(x); }
#else
auto f() { return dm::layer_norm<hidden>(x); }
#endif

// mistake: lacking__rms_norm
// A dim that the tensor lacks.
// expect: rms_norm: the tensor lacks this dim; name one of its own
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return dm::rms_norm<label>(x); }
#else
auto f() { return dm::rms_norm<hidden>(x); }
#endif

// mistake: lacking__log_softmax
// A dim that the tensor lacks.
// expect: log_softmax: the tensor lacks this dim, or it is named twice; name its own dims, each once
#ifdef COMPILE_FAIL
auto f() { return dm::log_softmax<label>(x); }
#else
auto f() { return dm::log_softmax<hidden>(x); }
#endif

// mistake: lacking__log_sum_exp
// A dim that the tensor lacks.
// expect: log_sum_exp: the tensor lacks this dim, or it is named twice; name its own dims, each once
#ifdef COMPILE_FAIL
auto f() { return dm::log_sum_exp<label>(x); }
#else
auto f() { return dm::log_sum_exp<hidden>(x); }
#endif

// mistake: twice__mean
// A dim twice.
// expect: mean: a dim is named twice; name it once
#ifdef COMPILE_FAIL
auto f() { return dm::mean<hidden, hidden>(x); }
#else
auto f() { return dm::mean<hidden>(x); }
#endif

// mistake: twice__max
// A dim twice.
// expect: max: a dim is named twice; name it once
#ifdef COMPILE_FAIL
auto f() { return dm::max<hidden, hidden>(x); }
#else
auto f() { return dm::max<hidden>(x); }
#endif

// mistake: twice__min
// A dim twice.
// expect: min: a dim is named twice; name it once
#ifdef COMPILE_FAIL
auto f() { return dm::min<hidden, hidden>(x); }
#else
auto f() { return dm::min<hidden>(x); }
#endif

// mistake: twice__permute
// A dim twice.
// expect: permute: a dim stands twice in the new order; name each once
#ifdef COMPILE_FAIL
auto f() { return dm::permute<hidden, hidden>(x); }
#else
auto f() { return dm::permute<hidden, batch>(x); }
#endif
