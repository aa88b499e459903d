// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nvcc's users are told of a lambda that is no kernel's: it prints other lines than these two.
// Here a function stands for the lambda.
// lines: 14
// expect: the function is a lambda, of which nvcc makes no kernel; write KOKKOS_LAMBDA, or a function object that has a name, with KOKKOS_FUNCTION
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
struct twice {
  KOKKOS_FUNCTION float operator()(float a) const { return 2 * a; }
};
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_lambda_of_host<twice> = true;
auto f(const matrix& x) { return dm::map(twice(), x); }
#else
auto f(const matrix& x) { return dm::map(twice(), x); }
#endif
