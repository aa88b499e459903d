// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys, dims, results of several tensors and structs of them where one tensor, or a number, is
// wanted; costs of what is no shape.
#include <dimesh/any_tensor.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/layout/layout_set.hpp>
#include <dimesh/op/sort.hpp>

#include "names.hpp"

struct best : dm::dim<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, hidden, label>, w),
                           (dm::tensor<float, L, label>, b));
};
using parameters = network<whole>;
template <class... D> using shape = dm::tensor<float, dm::shaped<whole>, D...>;
struct tanh_of {
  template <class X> constexpr auto operator()(const X& x) const { return dm::tanh(x); }
};

// mistake: no_numbers__next_key
// expect: random_key: a key is no number; key.fold(1), key.fold(2) are others that are independent of it
// expect: wrong_arguments<dimesh::random_key>
#ifdef COMPILE_FAIL
void f(matrix& x, dm::random_key k) { dm::fill_uniform(x, k + 1, 0, 1); }
#else
void f(matrix& x, dm::random_key k) { dm::fill_uniform(x, k.fold(1), 0, 1); }
#endif

// mistake: no_numbers__dims_multiplied
// expect: dim: a dim is no number; how many elements it has is batch::extent, or x.extent<batch>(), and the index that batch{3} carries is its .n
// expect: wrong_arguments<batch>
#ifdef COMPILE_FAIL
auto f(const matrix&) { return batch{} * hidden{}; }
#else
auto f(const matrix& x) { return batch::extent * x.extent<hidden>(); }
#endif

// mistake: no_numbers__loop_of_dims
// expect: dim: a dim is no number; how many elements it has is batch::extent, or x.extent<batch>(), and the index that batch{3} carries is its .n
// expect: wrong_arguments<batch>
#ifdef COMPILE_FAIL
void f(matrix& x) {
  for (batch i{0}; i < batch{8}; ++i) x.set(1, i, hidden{0});
}
#else
void f(matrix& x) {
  for (dm::index_t i = 0; i < batch::extent; ++i) x.set(1, batch{i}, hidden{0});
}
#endif

// mistake: no_numbers__two_results
// expect: operators take one tensor, and this result has several; name that which is meant: top_k<label, best>(x).values, batch_norm<model>(m, p, x).y
// expect: wrong_arguments<dimesh::top_elements<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return 2 * dm::top_k<hidden, best>(x); }
#else
auto f(const matrix& x) { return 2 * dm::top_k<hidden, best>(x).values; }
#endif

// mistake: no_numbers__any_tensor
// expect: any_tensor: its type is known at run time; ask for the tensor that it holds: a.as<tensor<float, L, batch>>()
// expect: wrong_arguments<dimesh::any_tensor>
#ifdef COMPILE_FAIL
auto f(const dm::any_tensor& a, const matrix& x) { return x + a; }
#else
auto f(const dm::any_tensor& a, const matrix& x) { return x + a.as<matrix>(); }
#endif

// mistake: no_numbers__struct_in_function
// expect: functions of elements take one tensor, and this is a struct of them; walk it: for_each_tensor([](const auto&, auto& x) { x = relu(x); }, p)
// expect: not_a_tensor<network<
// also: SUM
#ifdef COMPILE_FAIL
#ifdef SUM
auto f(const parameters& p) { return dm::sum<label>(p); }
#else
auto f(const parameters& p) { return dm::relu(p); }
#endif
#else
void f(parameters& p) {
  dm::for_each_tensor([](const auto&, auto& x) { x = dm::relu(x); }, p);
  dm::for_each_tensor([](auto& x) { x = dm::relu(x); }, p);
}
#endif

// mistake: no_numbers__several_in_function
// expect: functions of elements take one tensor, and this result has several; name that which is meant: top_k<label, best>(x).values, batch_norm<model>(m, p, x).y
// expect: not_a_tensor<dimesh::top_elements<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::relu(dm::top_k<hidden, best>(x)); }
#else
auto f(const matrix& x) { return dm::relu(dm::top_k<hidden, best>(x).values); }
#endif

// mistake: no_numbers__printed
// expect: operator<<: tensors and structs of them have a text; of others write what is to be seen: step.value, top_k<label, best>(x).values
// expect: wrong_arguments<dimesh::
#ifdef COMPILE_FAIL
void f(const dm::value_and_gradient<dm::tensor<float, whole>, dm::grid<pod>>& step) {
  std::cout << step;
}
#else
void f(const dm::value_and_gradient<dm::tensor<float, whole>, dm::grid<pod>>& step) {
  std::cout << step.value;
}
#endif

// mistake: no_numbers__walked_by_another
// expect: for_each_tensor: the function takes a path and a tensor of each struct that is walked, or of one struct just that: [](const auto& path, auto& x) { ... }
// expect: wrong_arguments<
// lines: 21
#ifdef COMPILE_FAIL
void f(parameters& p) {
  dm::for_each_tensor([](const auto&, auto& x, auto& y) { x = y; }, p);
}
#else
void f(parameters& p, parameters& q) {
  dm::for_each_tensor([](const auto&, auto& x, auto& y) { x = y; }, p, q);
}
#endif

// mistake: no_numbers__shape_of_tensor
// expect: shaped: it stands around the layout, inside of the tensor: tensor<float, shaped<L>, batch>
// expect: not_a_layout<dimesh::basic_tensor<
#ifdef COMPILE_FAIL
auto f() { return dm::count(tanh_of{}, dm::shaped<dm::tensor<float, whole, batch>>{}); }
#else
auto f() { return dm::count(tanh_of{}, shape<batch>{}); }
static_assert(dm::cost_of<tanh_of>(shape<batch>{}).peak == dm::cost_of<tanh_of, shape<batch>>.peak);
#endif

// mistake: no_numbers__declared_of_any
// expect: any_tensor: its type is known at run time; ask for the tensor that it holds: a.as<tensor<float, L, batch>>()
// expect: wrong_arguments<
// levels: 1
// also: ELEMENT
// also: EXTENT
#ifdef COMPILE_FAIL
#if defined(ELEMENT)
auto f(const dm::any_tensor& a) { return a.as<float>(); }
#elif defined(EXTENT)
auto f(const dm::any_tensor& a) { return a.extent<batch>(); }
#else
void f(const dm::any_tensor& a) { const matrix x = a; }
#endif
#else
auto f(const dm::any_tensor& a) { return a.as<matrix>().extent<batch>() + a.extent(0); }
#endif

// mistake: no_numbers__visit_that_returns
// expect: layout_set: the name comes first, then the function that gets its layout: visit(name, []<class L>(layout_tag<L>) { ... })
// expect: wrong_arguments<
// levels: 1
using set = dm::layout_set<whole, by_batch>;
#ifdef COMPILE_FAIL
void f(const set& s) {
  s.visit([]<class L>() {}, "whole");
}
#else
void f(const set& s) {
  s.visit("whole", []<class L>() {});
  s.visit("whole", []<class L>(dm::layout_tag<L>) {});
}
#endif
