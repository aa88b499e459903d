// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models that are trained, cut into stages, chosen and asked with arguments of other kinds.
#include <dimesh/dimesh.hpp>
#include <dimesh/layout/layout_set.hpp>
#include <dimesh/optim/clip.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/schedules.hpp>

#include "names.hpp"

struct stage : dm::axis<2> {};
struct staged : dm::mesh<stage> {};
template <int K>
using weight_at = dm::tensor<float, dm::layout<staged, dm::placed<stage, K>>, hidden>;
using weights = std::tuple<weight_at<0>, weight_at<1>>;
constexpr auto scaled = [](const auto& w, const auto& x) { return w * x; };
constexpr auto loss = [](const auto& y, int) { return dm::sum(y * y); };
inline const auto net = dm::pipeline<stage>(dm::cell<0>(scaled), dm::cell<1>(scaled));
constexpr dm::one_f_one_b schedule{.ranks = 2, .micros = 4};
struct input {
  weight_at<0> x;
  weight_at<0> operator()(int) const { return x; }
};
using set = dm::layout_set<whole, by_batch>;

// mistake: trained_wrongly__no_axis
// expect: pipeline: the axis of the stages stands in the angle brackets, cells with their places in the parentheses: pipeline<stage>(cell<0>(f), cell<1>(g))
// expect: not_an_axis<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::pipeline(dm::cell<0>(scaled), dm::cell<1>(scaled)); }
#else
auto f() { return dm::pipeline<stage>(dm::cell<0>(scaled), dm::cell<1>(scaled)); }
#endif

// mistake: trained_wrongly__no_cells
// expect: pipeline: the axis of the stages stands in the angle brackets, cells with their places in the parentheses: pipeline<stage>(cell<0>(f), cell<1>(g))
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f() { return dm::pipeline<stage>(scaled, scaled); }
#else
auto f() { return dm::pipeline<stage>(dm::cell<0>(scaled), dm::cell<1>(scaled)); }
#endif

// mistake: trained_wrongly__dim_for_axis
// expect: pipeline: the axis of the stages stands in the angle brackets, cells with their places in the parentheses: pipeline<stage>(cell<0>(f), cell<1>(g))
// expect: not_an_axis<batch>
#ifdef COMPILE_FAIL
auto f() { return dm::pipeline<batch>(dm::cell<0>(scaled), dm::cell<1>(scaled)); }
#else
auto f() { return dm::pipeline<stage>(dm::cell<0>(scaled), dm::cell<1>(scaled)); }
#endif

// mistake: trained_wrongly__no_schedule
// expect: pipeline: value_and_grad(schedule, weights, inputs, loss): a tuple with the weights of each cell, then functions inputs(i) and loss(y, i)
// expect: wrong_arguments<std::tuple<
#ifdef COMPILE_FAIL
void f(const weights& w, const input& in) { (void)net.value_and_grad(w, in, loss); }
#else
void f(const weights& w, const input& in) { (void)net.value_and_grad(schedule, w, in, loss); }
#endif

// mistake: trained_wrongly__number_for_schedule
// expect: pipeline: value_and_grad(schedule, weights, inputs, loss): a tuple with the weights of each cell, then functions inputs(i) and loss(y, i)
// expect: wrong_arguments<int, std::tuple<
#ifdef COMPILE_FAIL
void f(const weights& w, const input& in) { (void)net.value_and_grad(2, w, in, loss); }
#else
void f(const weights& w, const input& in) { (void)net.value_and_grad(schedule, w, in, loss); }
#endif

// mistake: trained_wrongly__input_no_function
// expect: pipeline: value_and_grad(schedule, weights, inputs, loss): a tuple with the weights of each cell, then functions inputs(i) and loss(y, i)
// expect: wrong_arguments<dimesh::one_f_one_b, std::tuple<
#ifdef COMPILE_FAIL
void f(const weights& w, const input& in) { (void)net.value_and_grad(schedule, w, in.x, loss); }
#else
void f(const weights& w, const input& in) { (void)net.value_and_grad(schedule, w, in, loss); }
#endif

// mistake: trained_wrongly__weights_of_one_cell
// expect: pipeline: value_and_grad(schedule, weights, inputs, loss): a tuple with the weights of each cell, then functions inputs(i) and loss(y, i)
// expect: wrong_arguments<dimesh::one_f_one_b, dimesh::basic_tensor<
#ifdef COMPILE_FAIL
void f(const weights& w, const input& in) {
  (void)net.value_and_grad(schedule, std::get<0>(w), in, loss);
}
#else
void f(const weights& w, const input& in) { (void)net.value_and_grad(schedule, w, in, loss); }
#endif

// mistake: trained_wrongly__set_without_names
// expect: layout_set: each layout has a name, in the order of the types: layout_set<data, hybrid>{"data", "hybrid"}
// expect: wrong_arguments<>
// levels: 1
#ifdef COMPILE_FAIL
void f() { const set s; }
#else
void f() { const set s{"whole", "by_batch"}; }
#endif

// mistake: trained_wrongly__set_with_one_name
// expect: layout_set: each layout has a name, in the order of the types: layout_set<data, hybrid>{"data", "hybrid"}
// expect: wrong_arguments<char
// levels: 1
#ifdef COMPILE_FAIL
void f() { const set s{"whole"}; }
#else
void f() { const set s{"whole", "by_batch"}; }
#endif

// mistake: trained_wrongly__set_visited_by_name_last
// expect: layout_set: the name comes first, then the function that gets its layout: visit(name, []<class L>(layout_tag<L>) { ... })
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
void f(const set& s) {
  s.visit([](auto) {}, "whole");
}
#else
void f(const set& s) {
  s.visit("whole", [](auto) {});
}
#endif

// mistake: trained_wrongly__clip_of_const
// expect: clip_by_global_norm: gradients change in place, and these are const; let the step be auto step = complete(value_and_grad(f, p)(x))
// expect: parameters_are_const<const dimesh::basic_tensor<
using vector_of_batch = dm::tensor<float, by_batch, batch>;
#ifdef COMPILE_FAIL
void f(const vector_of_batch& d) { dm::clip_by_global_norm(d, 1.0); }
#else
void f(vector_of_batch& d) { dm::clip_by_global_norm(d, 1.0); }
#endif

// mistake: trained_wrongly__cell_without_place
// expect: cell: the coordinate of its stage stands in the angle brackets, and the dims that it takes may follow: cell<0>(f), cell<0, batch, hidden>(f)
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(const weights& w, const input& in) {
  const auto cells = dm::pipeline<stage>(dm::cell(scaled), dm::cell(scaled));
  (void)cells.value_and_grad(schedule, w, in, loss);
}
#else
void f(const weights& w, const input& in) {
  const auto cells = dm::pipeline<stage>(dm::cell<0>(scaled), dm::cell<1>(scaled));
  (void)cells.value_and_grad(schedule, w, in, [](const auto& y) { return dm::sum(y * y); });
}
#endif

// mistake: trained_wrongly__called_as_on_one_rank
// expect: pipeline: value_and_grad(schedule, weights, inputs, loss): a tuple with the weights of each cell, then functions inputs(i) and loss(y, i)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
void f(const weights& w, const input& in) { (void)net.value_and_grad(loss, w)(in.x); }
#else
void f(const weights& w, const input& in) { (void)net.value_and_grad(schedule, w, in, loss); }
#endif
