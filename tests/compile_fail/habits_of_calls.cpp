// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names, indices, coordinates and functions on the wrong side of the parentheses, lists where
// tensors stand one by one, grids where tensors are made.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, hybrid, batch, hidden>;
using weights = dm::tensor<float, dm::layout<pod, dm::split<label, cols>>, hidden, label>;
using rows_only = dm::tensor<float, by_batch, batch, hidden>;
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, hidden, label>, w));
};

// mistake: habits_of_calls__number_for_index
// expect: tensor: indices are dims with a value, in the parentheses, and what is set stands before them: x.at(batch{3}, hidden{4}), x.set(7, batch{3}, hidden{4})
// expect: wrong_arguments<batch, long
// levels: 1
#ifdef COMPILE_FAIL
float f(const matrix& x) { return x.at<batch>(3); }
#else
float f(const matrix& x) { return x.at(batch{3}, hidden{0}); }
#endif

// mistake: habits_of_calls__value_behind
// expect: tensor: indices are dims with a value, in the parentheses, and what is set stands before them: x.at(batch{3}, hidden{4}), x.set(7, batch{3}, hidden{4})
// expect: wrong_arguments<batch, hidden, int>
// levels: 1
#ifdef COMPILE_FAIL
void f(matrix& x) { x.set(batch{3}, hidden{4}, 7); }
#else
void f(matrix& x) { x.set(7, batch{3}, hidden{4}); }
#endif

// mistake: habits_of_calls__list
// expect: einsum: tensors stand one by one in the parentheses, not in a list: einsum<batch, label>(x, w)
// expect: wrong_arguments<dimesh::detail::nothing<batch, label>
#ifdef COMPILE_FAIL
auto f(const rows_only& x, const weights& w) { return dm::einsum<batch, label>({x, w}); }
#else
auto f(const rows_only& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#endif

// mistake: habits_of_calls__root
// expect: reduce: an axis and the coordinate that gets the sum stand in the angle brackets, a tensor in the parentheses: reduce<stage, 0>(x)
// expect: not_an_axis<dimesh::detail::nothing<rows>
#ifdef COMPILE_FAIL
auto f(const rows_only& x) { return dm::reduce<rows>(dm::sum<batch>(x), 0); }
#else
auto f(const rows_only& x) { return dm::reduce<rows, 0>(dm::sum<batch>(x)); }
#endif

// mistake: habits_of_calls__rank
// expect: to_rank: the rank stands in the parentheses: to_rank(x, 0)
// expect: wrong_arguments<std::integral_constant<int, 0>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::to_rank<0>(x); }
#else
auto f(const matrix& x) { return dm::to_rank(x, 0); }
#endif

// mistake: habits_of_calls__permuted_along_nothing
// expect: permute_along: an axis stands in the angle brackets, a tensor and who sends to whom in the parentheses: permute_along<rows>(x, f)
// expect: not_an_axis<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::permute_along(x, [](dm::index_t i) { return 1 - i; });
}
#else
auto f(const matrix& x) {
  return dm::permute_along<rows>(x, [](dm::index_t i) { return 1 - i; });
}
#endif

// mistake: habits_of_calls__permuted_by_number
// expect: permute_along: each block has a place to go to, so write a function or a table: permute_along<rows>(x, [](index_t i) { return 1 - i; })
// expect: , int>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::permute_along<rows>(x, 1); }
#else
auto f(const matrix& x) { return dm::permute_along<rows>(x, std::vector<int>{1, 0}); }
#endif

// mistake: habits_of_calls__mesh_for_axis
// expect: grid: the mesh stands in the angle brackets, a communicator and sizes in the parentheses: grid<pod> g(comm); elsewhere an axis is wanted: g.size<rows>()
// expect: wrong_arguments<pod>
// levels: 1
#ifdef COMPILE_FAIL
void f() { const dm::grid g(MPI_COMM_WORLD, pod{}); }
#else
void f() { const dm::grid<pod> g(MPI_COMM_WORLD); }
#endif

// mistake: habits_of_calls__struct_of_grid
// expect: tensor: a grid is no tensor; write X(g) or zeros<X>(g), and of a struct of tensors make<network<L>>(g)
// expect: wrong_arguments<dimesh::grid<pod>
// levels: 1
#ifdef COMPILE_FAIL
network<whole> f(const dm::grid<pod>& g) { return {g}; }
#else
network<whole> f(const dm::grid<pod>& g) { return dm::make<network<whole>>(g); }
#endif

// mistake: habits_of_calls__random_struct
// expect: uniform: a tensor stands in the angle brackets; the grid, a key, the two ends and open extents in the parentheses: uniform<X>(grid, random_key{1}, -1, 1)
// expect: not_a_tensor<network<
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::uniform<network<whole>>(g, dm::random_key{1}, -1, 1); }
#else
auto f(const dm::grid<pod>& g) { return dm::uniform<matrix>(g, dm::random_key{1}, -1, 1); }
auto h(const dm::grid<pod>& g) { return dm::zeros<network<dm::shaped<whole>>>(g); }
#endif

// mistake: habits_of_calls__zeros_like_type
// expect: zeros_like: takes a tensor or a struct of them, and no type: zeros_like(x); of a type they are zeros<tensor<float, L, batch>>(grid)
// expect: wrong_arguments<dimesh::detail::nothing<dimesh::basic_tensor<
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::zeros_like<matrix>(g); }
#else
auto f(const matrix& x) { return dm::zeros_like(x); }
#endif

// mistake: habits_of_calls__distance_from_nothing
// expect: at: what the function is given comes first, then a distance for each dim: at<north>(v, -1)
// expect: wrong_arguments<hidden
// levels: 1
// also: AMONG_NAMES
using with_halo = decltype(dm::halo_exchange<1, hidden>(std::declval<rows_only>()));
#ifdef COMPILE_FAIL
#ifdef AMONG_NAMES
constexpr auto look = [](const auto& v) { return dm::at<hidden, -1>(v); };
#else
constexpr auto look = [](const auto& v) { return dm::at<hidden>(-1) * dm::at<>(v); };
#endif
#else
constexpr auto look = [](const auto& v) { return dm::at<hidden>(v, -1) * dm::at<>(v); };
#endif
auto f(const with_halo& u) { return dm::stencil(look, u); }

// mistake: habits_of_calls__untyped_bernoulli
// expect: bernoulli: the tensor's type stands in the angle brackets; grid, key and probability in the parentheses: bernoulli<X>(grid, random_key{1}, 0.5)
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::bernoulli(g, dm::random_key{1}, 0.5); }
#else
auto f(const dm::grid<pod>& g) { return dm::uniform<matrix>(g, dm::random_key{1}, 0, 1); }
#endif
