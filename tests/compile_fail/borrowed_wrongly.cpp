// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of the program's own that is lent, or copied to, in another order or without its size.
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/borrow.hpp>
#include <vector>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
using block = Kokkos::View<float**, Kokkos::LayoutRight>;

// mistake: borrowed_wrongly__without_type
// expect: borrow: the tensor's type, then grid and View, or address and number of its elements: borrow<X>(grid, view); borrow<X>(grid, a.data(), a.size())
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g, const block& a) { return dm::borrow(g, a); }
#else
auto f(const dm::grid<pod>& g, const block& a) { return dm::borrow<matrix>(g, a); }
#endif

// mistake: borrowed_wrongly__without_grid
// expect: borrow: the tensor's type, then grid and View, or address and number of its elements: borrow<X>(grid, view); borrow<X>(grid, a.data(), a.size())
// expect: wrong_arguments<Kokkos::View<
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>&, const block& a) { return dm::borrow<matrix>(a); }
#else
auto f(const dm::grid<pod>& g, const block& a) { return dm::borrow<matrix>(g, a); }
#endif

// mistake: borrowed_wrongly__vector
// expect: borrow: the tensor's type, then grid and View, or address and number of its elements: borrow<X>(grid, view); borrow<X>(grid, a.data(), a.size())
// expect: wrong_arguments<dimesh::grid<pod>, std::vector<
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g, std::vector<float>& a) { return dm::borrow<matrix>(g, a); }
#else
auto f(const dm::grid<pod>& g, std::vector<float>& a) {
  return dm::borrow<matrix>(g, a.data(), std::ssize(a));
}
#endif

// mistake: borrowed_wrongly__address
// expect: borrow: the tensor's type, then grid and View, or address and number of its elements: borrow<X>(grid, view); borrow<X>(grid, a.data(), a.size())
// expect: wrong_arguments<dimesh::grid<pod>, float
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g, std::vector<float>& a) { return dm::borrow<matrix>(g, a.data()); }
#else
auto f(const dm::grid<pod>& g, std::vector<float>& a) {
  return dm::borrow<matrix>(g, a.data(), std::ssize(a));
}
#endif

// mistake: borrowed_wrongly__copied_to_tensor
// expect: copy_to: the View that is written comes first, then the tensor: copy_to(view, x); of a View a tensor is made by from_view<X>(grid, view)
// expect: wrong_arguments<dimesh::basic_tensor<
#ifdef COMPILE_FAIL
void f(const matrix& x, const block& a) { dm::copy_to(x, a); }
#else
void f(const matrix& x, const block& a) { dm::copy_to(a, x); }
#endif

// mistake: borrowed_wrongly__view_with_type
// expect: view_of: a tensor's type says what its elements are, and how many dims there are: view_of(x)
// expect: wrong_arguments<float, std::integral_constant<int, 2>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::view_of<float, 2>(x); }
#else
auto f(const matrix& x) { return dm::view_of(x); }
#endif
