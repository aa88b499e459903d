// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls as other libraries have them: of std, of Kokkos, with a name too many, an argument too few.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, hybrid, batch, hidden>;
using number = dm::tensor<float, whole>;

// mistake: habits__std_max
// expect: max: that of std takes numbers; of a tensor write dm::maximum(x, 0)
// expect: not_by_element<
// also: ON_THE_RIGHT
#ifdef COMPILE_FAIL
#ifdef ON_THE_RIGHT
auto f(const matrix& x) { return std::max(0.0f, x); }
#else
auto f(const matrix& x) { return std::max(x, 0.0f); }
#endif
#else
auto f(const matrix& x) { return dm::maximum(x, std::max(0.0f, 1.0f)) + dm::maximum(0, x); }
#endif

// mistake: habits__std_min
// expect: min: that of std takes numbers; of a tensor write dm::minimum(x, 0)
// expect: not_by_element<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return std::min(x, 0.0f); }
#else
auto f(const matrix& x) { return dm::minimum(x, std::min(0.0f, 1.0f)) + dm::minimum(0, x); }
#endif

// mistake: habits__deep_copy
// expect: deep_copy: that of Kokkos takes views; write deep_copy(x.view(), 0), or fill(x, 0), fill_block(x, array), y = clone(x)
// expect: not_by_element<
#ifdef COMPILE_FAIL
void f(matrix& x) { Kokkos::deep_copy(x, 0.0f); }
#else
void f(matrix& x) { Kokkos::deep_copy(x.view(), 0.0f); }
#endif

// mistake: habits__pow_of_one
// expect: pow: takes a base and an exponent, of which one may be a number: pow(x, 3)
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::pow(x); }
#else
auto f(const matrix& x) { return dm::pow(x, 3) + dm::pow(2, x); }
#endif

// mistake: habits__map_of_nothing
// expect: map: the function comes first, then the tensors whose elements it takes: map(f, x, y)
// expect: not_a_tensor<dimesh::detail::nothing<>
// also: OF_ARRAY
#ifdef COMPILE_FAIL
#ifdef OF_ARRAY
auto f(const std::vector<float>& x) {
  return dm::map([](auto v) { return v; }, x);
}
#else
auto f(const matrix&) {
  return dm::map([](auto v) { return v; });
}
#endif
#else
auto f(const matrix& x) {
  return dm::map([](auto v) { return v; }, x);
}
#endif

// mistake: habits__map_over_dim
// expect: map: goes over all elements, and no dim is named: map(f, x); over a dim go sum, softmax, cumsum and the like
// expect: wrong_arguments<batch>
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::map<batch>([](auto v) { return v; }, x);
}
#else
auto f(const matrix& x) {
  return dm::map([](auto v) { return v; }, x);
}
#endif

// mistake: habits__stencil_without_ends
// expect: stencil_exchange: the function comes first, then what lies beyond the ends, then tensors: stencil_exchange(f, boundary::zero, u)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  const auto u = dm::halo_exchange<1, batch>(x);
  return dm::stencil_exchange([](auto v) { return dm::at<batch>(v, 1); }, u);
}
#else
auto f(const matrix& x) {
  const auto u = dm::halo_exchange<1, batch>(x);
  return dm::stencil_exchange([](auto v) { return dm::at<batch>(v, 1); }, dm::boundary::zero, u);
}
#endif

// mistake: habits__select_of_two
// expect: select: a condition and two values, which may be numbers, stand in the parentheses: select(x > 0, x, y)
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::select(x > 0, 1); }
#else
auto f(const matrix& x) { return dm::select(x > 0, 1, x); }
#endif

// mistake: habits__function_with_mistake
// expect: alpha
struct scaled {
  template <class T> auto operator()(T v) const {
#ifdef COMPILE_FAIL
    return v.alpha;
#else
    return 2 * v;
#endif
  }
};
auto f(const matrix& x) { return dm::map(scaled{}, x); }

// mistake: habits__value_of_place
// expect: value: takes a tensor without dims and nothing else; one element is x.at(batch{0}), on the rank that holds it
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const number& x) { return dm::value(x, 0); }
#else
auto f(const number& x) { return dm::value(x); }
#endif

// mistake: habits__complete_by_axis
// expect: complete: sums over all axes along which x is partial, and none is named: complete(x); over some, all_reduce<rows>(x)
// expect: wrong_arguments<rows>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::complete<rows>(dm::sum<batch>(x)); }
#else
auto f(const matrix& x) { return dm::complete(dm::sum<batch>(x)); }
#endif

// mistake: habits__extent_of_number
// expect: tensor: the dim that is asked for stands in the angle brackets, and nothing in the parentheses: x.extent<batch>(), x.local<batch>(), x.block<batch>()
// expect: wrong_arguments<int>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.extent(0); }
#else
auto f(const matrix& x) { return x.extent<batch>(); }
#endif

// mistake: habits__block_of_dim
// expect: tensor: the dim that is asked for stands in the angle brackets, and nothing in the parentheses: x.extent<batch>(), x.local<batch>(), x.block<batch>()
// expect: wrong_arguments<batch>
// levels: 1
// also: ITS_LOCAL
#ifdef COMPILE_FAIL
#ifdef ITS_LOCAL
auto f(const matrix& x) { return x.local(batch{}); }
#else
auto f(const matrix& x) { return x.block(batch{}); }
#endif
#else
auto f(const matrix& x) { return x.block<batch>().length + x.local<batch>(); }
#endif

// mistake: habits__size_of_grid
// expect: grid: sizes and places are those of an axis: g.size<rows>(), g.coord<rows>(); of all ranks they are g.ranks() and g.rank()
// expect: not_an_axis<dimesh::detail::list<>
// levels: 1
// also: ITS_COORD
#ifdef COMPILE_FAIL
#ifdef ITS_COORD
auto f(const dm::grid<pod>& g) { return g.coord(); }
#else
auto f(const dm::grid<pod>& g) { return g.size(); }
#endif
#else
auto f(const dm::grid<pod>& g) { return g.size<rows>() + g.coord<rows>() + g.ranks(); }
#endif

// mistake: habits__clone_of_number
// expect: clone: a tensor, or a struct of tensors, is given a copy of its own; a number is one already
// expect: not_a_tensor<int>
#ifdef COMPILE_FAIL
auto f(int n) { return dm::clone(n); }
#else
auto f(const matrix& x) { return dm::clone(x); }
#endif

// mistake: habits__element_written
// expect: tensor: elements are not reached one by one; broadcast_element(x, {3, 4}) gives one to every rank, to_rank(x) all to one rank, data() this rank's block
// expect: not_by_element<
// levels: 1
#ifdef COMPILE_FAIL
void f(matrix& x) { x(1, 0) = 1; }
#else
void f(matrix& x) { x.set(1, batch{1}, hidden{0}); }
#endif
