// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do those write who come from other libraries? Numbers where names stand, tensors before the
// function, functions of std, types for objects.
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "mistakes.hpp"

// mistake: numbers__sum
// A dim by its number.
// expect: sum: dims are named, not counted; write the dims in the angle brackets: sum<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::sum<0>(x); }
#else
auto f() { return dm::sum<batch>(x); }
#endif

// mistake: numbers__mean
// The same of a mean.
// expect: mean: dims are named, not counted; write the dims in the angle brackets: mean<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::mean<1>(x); }
#else
auto f() { return dm::mean<hidden>(x); }
#endif

// mistake: numbers__max
// The same of a maximum.
// expect: max: dims are named, not counted; write the dims in the angle brackets: max<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::max<0, 1>(x); }
#else
auto f() { return dm::max<batch, hidden>(x); }
#endif

// mistake: numbers__min
// The same of a minimum.
// expect: min: dims are named, not counted; write the dims in the angle brackets: min<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::min<-1>(x); }
#else
auto f() { return dm::min<hidden>(x); }
#endif

// mistake: numbers__argmax
// The same of the place of a maximum.
// expect: argmax: dims are named, not counted; write the dim in the angle brackets: argmax<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::argmax<1>(x); }
#else
auto f() { return dm::argmax<hidden>(x); }
#endif

// mistake: numbers__argmin
// The same of the place of a minimum.
// expect: argmin: dims are named, not counted; write the dim in the angle brackets: argmin<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::argmin<1>(x); }
#else
auto f() { return dm::argmin<hidden>(x); }
#endif

// mistake: numbers__softmax
// The same of a softmax.
// expect: softmax: dims are named, not counted; write the dims in the angle brackets: softmax<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::softmax<-1>(x); }
#else
auto f() { return dm::softmax<hidden>(x); }
#endif

// mistake: numbers__log_softmax
// The same of its logarithm.
// expect: log_softmax: dims are named, not counted; write the dims in the angle brackets: log_softmax<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::log_softmax<-1>(x); }
#else
auto f() { return dm::log_softmax<hidden>(x); }
#endif

// mistake: numbers__permute
// A new order by numbers.
// expect: permute: dims are named, not counted; write the dims in the angle brackets: permute<label, batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::permute<1, 0>(x); }
#else
auto f() { return dm::permute<hidden, batch>(x); }
#endif

// mistake: numbers__grid
// An axis by its number.
// expect: grid: axes are named, not numbered; write the axis in angle brackets: g.size<rows>(), g.coord<rows>()
// lines: 11
#ifdef COMPILE_FAIL
auto f() { return g.size(0); }
#else
auto f() { return g.size<rows>(); }
#endif

// mistake: size__std
// The size of several dims.
// expect: size: extents are those of dims; write x.extent<batch>(), or x.local_size() for the elements of this rank
#ifdef COMPILE_FAIL
auto f() { return size(x); }
#else
auto f() { return x.local_size(); }
#endif

// mistake: count__no_function
// Nothing to be counted.
// expect: count: the function comes first, then what it is called with: count(f, params, x)
#ifdef COMPILE_FAIL
auto f() { return dm::count(p, x); }
#else
auto f() { return dm::count(loss, p, x); }
#endif

// mistake: count__type
// A type for the function.
// expect: count: the function comes first, an object and not its type: count(f{}, params, x)
#ifdef COMPILE_FAIL
auto f() { return dm::count<mean_of>(x); }
#else
auto f() { return dm::count(mean_of{}, x); }
#endif

// mistake: count__mutable
// A function that takes what it may change.
// expect: count: the function changes itself or what it is given; take const auto&, and let operator() be const
#ifdef COMPILE_FAIL
auto f() {
  return dm::count([](auto& v) { return dm::mean(v); }, x);
}
#else
auto f() {
  return dm::count([](const auto& v) { return dm::mean(v); }, x);
}
#endif

// mistake: count__few
// An argument is missing.
// expect: count: the function cannot be called with these arguments; give one for each of its parameters, which are const auto&
#ifdef COMPILE_FAIL
auto f() { return dm::count(loss, p); }
#else
auto f() { return dm::count(loss, p, x); }
#endif

// mistake: ledger__print
// All of a ledger in one print.
// expect: ledger: it holds many numbers; print those that are meant: l.bytes<rows>(), l.flops(), l.peak()
// lines: 12
#ifdef COMPILE_FAIL
auto& f(std::ostream& out) { return out << dm::count(mean_of{}, x); }
#else
auto& f(std::ostream& out) { return out << dm::count(mean_of{}, x).bytes<rows>(); }
#endif

// mistake: function_not_an_object__template
// The name of a function template.
// expect: value_and_grad: a function template's name is no object; write a function object: [](const auto& p, const auto& x) { ... }
template <class P, class V> auto loss_of(const P& p, const V& v) { return loss(p, v); }
#ifdef COMPILE_FAIL
auto f() { return dm::value_and_grad(loss_of, p)(x); }
#else
auto f() { return dm::value_and_grad(loss, p)(x); }
#endif

// mistake: optimizer__numbers
// A number too many.
// expect: optimizer: it has no such number; name those that are meant: sgd{.rate = 0.1, .weight_decay = 0.01}
#ifdef COMPILE_FAIL
dm::sgd f() { return {0.1, 0.0, 1}; }
#else
dm::sgd f() { return {.rate = 0.1}; }
#endif

// mistake: order__max
// A dim as an argument.
// expect: max: dims stand in the angle brackets, one tensor in the parentheses: max<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::max(x, batch{}); }
#else
auto f() { return dm::max<batch>(x); }
#endif

// mistake: order__min
// The same of a minimum.
// expect: min: dims stand in the angle brackets, one tensor in the parentheses: min<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::min(x, batch{}); }
#else
auto f() { return dm::min<batch>(x); }
#endif

// mistake: order__argmax
// The same of the place of a maximum.
// expect: argmax: a dim stands in the angle brackets, a tensor in the parentheses: argmax<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::argmax(x, hidden{}); }
#else
auto f() { return dm::argmax<hidden>(x); }
#endif

// mistake: order__argmin
// The same of the place of a minimum.
// expect: argmin: a dim stands in the angle brackets, a tensor in the parentheses: argmin<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::argmin(x, hidden{}); }
#else
auto f() { return dm::argmin<hidden>(x); }
#endif

// mistake: order__softmax
// The same of a softmax.
// expect: softmax: dims stand in the angle brackets, one tensor in the parentheses: softmax<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::softmax(x, hidden{}); }
#else
auto f() { return dm::softmax<hidden>(x); }
#endif

// mistake: order__log_softmax
// The same of its logarithm.
// expect: log_softmax: dims stand in the angle brackets, one tensor in the parentheses: log_softmax<label>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::log_softmax(x, hidden{}); }
#else
auto f() { return dm::log_softmax<hidden>(x); }
#endif

// mistake: order__permute
// A new order as arguments.
// expect: permute: dims stand in the angle brackets, one tensor in the parentheses: permute<label, batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::permute(x, hidden{}, batch{}); }
#else
auto f() { return dm::permute<hidden, batch>(x); }
#endif

// mistake: order__rename
// Names as arguments.
// expect: rename: two dims stand in the angle brackets, one tensor in the parentheses: rename<length, memory>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::rename(x, batch{}, length{}); }
#else
auto f() { return dm::rename<batch, length>(x); }
#endif

// mistake: order__take
// A dim as an argument.
// expect: take: a dim of the table stands in the angle brackets, tensors in the parentheses: take<vocab>(table, ids)
#ifdef COMPILE_FAIL
auto f() { return dm::take(w, ids, hidden{}); }
#else
auto f() { return dm::take<hidden>(w, ids); }
#endif

// mistake: order__whole
// A dim as an argument.
// expect: whole: a dim stands in the angle brackets, a tensor in the parentheses: whole<batch>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::whole(x, batch{}); }
#else
auto f() { return dm::whole<batch>(x); }
#endif

// mistake: order__all_gather
// An axis as an argument.
// expect: all_gather: an axis stands in the angle brackets, a tensor in the parentheses: all_gather<rows>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::all_gather(x, rows{}); }
#else
auto f() { return dm::all_gather<rows>(x); }
#endif

// mistake: order__reduce_scatter
// A dim and an axis as arguments.
// expect: reduce_scatter: a dim and an axis stand in the angle brackets, a tensor in the parentheses: reduce_scatter<batch, rows>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::reduce_scatter(dm::sum<batch>(x), hidden{}, rows{}); }
#else
auto f() { return dm::reduce_scatter<hidden, rows>(dm::sum<batch>(x)); }
#endif

// mistake: order__all_to_all
// The same of an all-to-all.
// expect: all_to_all: two dims and an axis stand in the angle brackets, a tensor in the parentheses: all_to_all<batch, hidden, rows>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::all_to_all(x, batch{}, hidden{}, rows{}); }
#else
auto f() { return dm::all_to_all<batch, hidden, rows>(x); }
#endif

// mistake: std__log
// A function of std.
// expect: log: that of std takes one number; of a tensor write dm::log(x)
#ifdef COMPILE_FAIL
auto f() { return std::log(x); }
#else
auto f() { return dm::log(x); }
#endif

// mistake: std__tanh
// A function of std.
// expect: tanh: that of std takes one number; of a tensor write dm::tanh(x)
#ifdef COMPILE_FAIL
auto f() { return std::tanh(x); }
#else
auto f() { return dm::tanh(x); }
#endif

// mistake: std__sqrt
// A function of std.
// expect: sqrt: that of std takes one number; of a tensor write dm::sqrt(x)
#ifdef COMPILE_FAIL
auto f() { return std::sqrt(x); }
#else
auto f() { return dm::sqrt(x); }
#endif

// mistake: std__sin
// A function of std.
// expect: sin: that of std takes one number; of a tensor write dm::sin(x)
#ifdef COMPILE_FAIL
auto f() { return std::sin(x); }
#else
auto f() { return dm::sin(x); }
#endif

// mistake: std__cos
// A function of std.
// expect: cos: that of std takes one number; of a tensor write dm::cos(x)
#ifdef COMPILE_FAIL
auto f() { return std::cos(x); }
#else
auto f() { return dm::cos(x); }
#endif

// mistake: std__abs
// A function of std.
// expect: abs: that of std takes one number; of a tensor write dm::abs(x)
#ifdef COMPILE_FAIL
auto f() { return std::abs(x); }
#else
auto f() { return dm::abs(x); }
#endif

// mistake: std__pow
// A function of std.
// expect: pow: that of std takes numbers; of a tensor write map([](auto v) { return dm::pow(v, 3); }, x)
#ifdef COMPILE_FAIL
auto f() { return std::pow(x, 3); }
#else
auto f() {
  return dm::map([](auto v) { return dm::pow(v, 3); }, x);
}
#endif
