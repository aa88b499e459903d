// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors made as in other libraries: of numbers, of arrays of other elements, without their type.
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <vector>

#include "names.hpp"

using matrix = dm::tensor<float, hybrid, batch, hidden>;
struct line : dm::mesh<rows> {};

// mistake: made_wrongly__of_extents
// expect: tensor: a grid stands first, then extents that the type leaves open, with their dims: tensor<float, L, length>(grid, length{7})
// expect: wrong_arguments<int, int>
// levels: 1
#ifdef COMPILE_FAIL
void f(const dm::grid<pod>&) { matrix x(8, 6); }
#else
void f(const dm::grid<pod>& g) { matrix x(g); }
#endif

// mistake: made_wrongly__of_grid_and_extents
// expect: tensor: a grid stands first, then extents that the type leaves open, with their dims: tensor<float, L, length>(grid, length{7})
// expect: wrong_arguments<dimesh::grid<pod>, int>
// levels: 1
#ifdef COMPILE_FAIL
void f(const dm::grid<pod>& g) { matrix x(g, 6); }
#else
void f(const dm::grid<pod>& g) { matrix x(g, batch{8}); }
#endif

// mistake: made_wrongly__of_dims
// expect: tensor: a grid stands first, then extents that the type leaves open, with their dims: tensor<float, L, length>(grid, length{7})
// expect: wrong_arguments<batch, hidden>
// levels: 1
#ifdef COMPILE_FAIL
void f(const dm::grid<pod>&) { matrix x(batch{8}, hidden{6}); }
#else
void f(const dm::grid<pod>& g) { matrix x(g, batch{8}, hidden{6}); }
#endif

// mistake: made_wrongly__on_other_grid
// expect: tensor: the grid is of another mesh than the layout; make a grid of the layout's mesh, or the layout one of the grid's
// expect: meshes_differ<pod, line>
// levels: 1
#ifdef COMPILE_FAIL
void f(const dm::grid<line>& g) { matrix x(g); }
#else
void f(const dm::grid<pod>& g) { matrix x(g); }
#endif

// mistake: made_wrongly__constant_order
// expect: constant: a tensor or a struct of them stands in the angle brackets; the grid, a number and open extents in the parentheses: constant<X>(grid, 1)
// expect: wrong_arguments<float, dimesh::grid<pod>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::constant<matrix>(1.0f, g); }
#else
auto f(const dm::grid<pod>& g) { return dm::constant<matrix>(g, 1.0f); }
#endif

// mistake: made_wrongly__array_of_doubles
// expect: from an array: the tensor's elements are of another type than the array's; convert them: std::vector<float>(a.begin(), a.end())
// expect: elements_differ<float, double>
// levels: 1
// also: FROM_BLOCKS
// also: BY_FILL
#ifdef COMPILE_FAIL
using numbers = std::vector<double>;
#else
using numbers = std::vector<float>;
#endif
#if defined(FROM_BLOCKS)
auto f(const dm::grid<pod>& g, const numbers& a) { return dm::from_blocks<matrix>(g, a); }
#elif defined(BY_FILL)
void f(matrix& x, const numbers& a) { dm::fill_from(x, a); }
#else
auto f(const dm::grid<pod>& g, const numbers& a) { return dm::from_array<matrix>(g, a); }
#endif

// mistake: made_wrongly__array_of_nothing
// expect: from an array: a grid or a tensor stands first, then an array on the host with the tensor's type of elements (vector, array, span): from_array<X>(grid, a)
// expect: wrong_arguments<float>
// levels: 1
#ifdef COMPILE_FAIL
void f(matrix& x, const std::vector<float>& a) { dm::fill_block(x, a[0]); }
#else
void f(matrix& x, const std::vector<float>& a) { dm::fill_block(x, a); }
#endif

// mistake: made_wrongly__filled_by_function
// expect: fill: one number fills all elements; of a function of their indices write fill_by(x, f), of an array fill_from(x, a), of another tensor x = y
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
void f(matrix& x) {
  dm::fill(x, [](dm::index_t i, dm::index_t j) { return i + j; });
}
#else
void f(matrix& x) {
  dm::fill_by(x, [](dm::index_t i, dm::index_t j) { return i + j; });
}
#endif

// mistake: made_wrongly__number_assigned
// expect: tensor: a number is no tensor; fill(x, 0) sets all elements, and clear(x) sets them to 0
// expect: wrong_arguments<int>
// levels: 1
#ifdef COMPILE_FAIL
void f(matrix& x) { x = 0; }
#else
void f(matrix& x) { dm::clear(x); }
#endif

// mistake: made_wrongly__number_assigned_in_a_loss
// expect: tensor: a number is no tensor; fill(x, 0) sets all elements, and clear(x) sets them to 0
// expect: wrong_arguments<float>
// levels: 2
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& x) {
  auto h = x + x;
  h = 0.0f;
  return dm::mean(h * x);
};
#else
constexpr auto loss = [](const auto& x) { return dm::mean((x + x) * x); };
#endif
auto f(const dm::tensor<float, dm::layout<pod>, hidden>& x) {
  return dm::value_and_grad(loss, x)();
}

// mistake: made_wrongly__number_assigned_to_parameters
// expect: tensor: a const one cannot be assigned to, as parameters in a loss; keep the new values beside them: auto w = 0.5f * p.w
// expect: parameters_are_const<const
// levels: 2
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& x) {
  x = 0.0f;
  return dm::mean(x * x);
};
#else
constexpr auto loss = [](const auto& x) { return dm::mean(x * x); };
#endif
auto f(const dm::tensor<float, dm::layout<pod>, hidden>& x) {
  return dm::value_and_grad(loss, x)();
}

// mistake: made_wrongly__number_assigned_to_a_shape
// expect: tensor: a number is no tensor; fill(x, 0) sets all elements, and clear(x) sets them to 0
// expect: wrong_arguments<float>
// levels: 3
#ifdef COMPILE_FAIL
constexpr auto doubled = [](const auto& x) {
  auto h = x + x;
  h = 0.0f;
  return h;
};
#else
constexpr auto doubled = [](const auto& x) { return x + x; };
#endif
auto f(const dm::tensor<float, dm::shaped<hybrid>, batch, hidden>& x) {
  return dm::count(doubled, x);
}

// mistake: made_wrongly__make_without_type
// expect: make: the type of what is made stands in the angle brackets, the grid in the parentheses: make<tensor<float, L, batch>>(grid)
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::make(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::make<matrix>(g); }
#endif

// mistake: made_wrongly__zeros_without_type
// expect: zeros: the type of what is made stands in the angle brackets, the grid in the parentheses: zeros<tensor<float, L, batch>>(grid)
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>&) { return dm::zeros(8, 6); }
#else
auto f(const dm::grid<pod>& g) { return dm::zeros<matrix>(g); }
#endif

// mistake: made_wrongly__constant_without_type
// expect: constant: the type of what is made stands in the angle brackets, grid and number in the parentheses: constant<tensor<float, L, batch>>(grid, 1)
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::constant(g, 1); }
#else
auto f(const dm::grid<pod>& g) { return dm::constant<matrix>(g, 1); }
#endif

// mistake: made_wrongly__generate_without_type
// expect: generate: the tensor's type stands in the angle brackets, grid and function in the parentheses: generate<tensor<float, L, batch>>(grid, f)
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return dm::generate(g, [](dm::index_t i, dm::index_t) { return i; });
}
#else
auto f(const dm::grid<pod>& g) {
  return dm::generate<matrix>(g, [](dm::index_t i, dm::index_t) { return i; });
}
#endif

// mistake: made_wrongly__uniform_without_type
// expect: uniform: the tensor's type stands in the angle brackets; grid, key and ends in the parentheses: uniform<tensor<float, L, batch>>(grid, random_key{1}, -1, 1)
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::uniform(g, dm::random_key{1}, -1, 1); }
#else
auto f(const dm::grid<pod>& g) { return dm::uniform<matrix>(g, dm::random_key{1}, -1, 1); }
#endif

// mistake: made_wrongly__normal_without_type
// expect: normal: the tensor's type stands in the angle brackets; grid, key and moments in the parentheses: normal<tensor<float, L, batch>>(grid, random_key{1}, 0, 0.1)
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::normal(g, dm::random_key{1}, 0, 1); }
#else
auto f(const dm::grid<pod>& g) { return dm::normal<matrix>(g, dm::random_key{1}, 0, 1); }
#endif

// mistake: made_wrongly__from_array_without_type
// expect: from_array: the tensor's type stands in the angle brackets, grid and array in the parentheses: from_array<tensor<float, L, batch>>(grid, a)
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g, const std::vector<float>& a) { return dm::from_array(g, a); }
#else
auto f(const dm::grid<pod>& g, const std::vector<float>& a) { return dm::from_array<matrix>(g, a); }
#endif

// mistake: made_wrongly__zeros_of_parts
// expect: zeros: one type stands in the angle brackets, the tensor's or a struct's: zeros<tensor<float, L, batch>>(grid)
// expect: not_a_tensor<float>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::zeros<float, hybrid, batch, hidden>(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::zeros<dm::tensor<float, hybrid, batch, hidden>>(g); }
#endif

// mistake: made_wrongly__make_of_parts
// expect: make: one type stands in the angle brackets, the tensor's or a struct's: make<tensor<float, L, batch>>(grid)
// expect: not_a_tensor<float>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::make<float, hybrid, batch, hidden>(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::make<dm::tensor<float, hybrid, batch, hidden>>(g); }
#endif
