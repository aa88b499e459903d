// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of elements in memory that the host does not reach.
// alone: they specialize a variable of the library
#include <dimesh/dimesh.hpp>
#include <dimesh/op/reductions.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using recorded = dm::tracked_tensor<matrix>;

// mistake: compensated_sum__elsewhere
// Elements in memory that the host does not reach.
// expect: compensated_sum: the kernel runs on the host only; use a host space
using far = dm::tensor<long double, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<long double> = false;
auto f(const far& x) { return dm::compensated_sum<hidden>(x); }
#else
auto f(const far& x) { return dm::compensated_sum<hidden>(x); }
#endif

// mistake: var__elsewhere
// Elements in memory that the host does not reach.
// expect: var: the kernel runs on the host only; use a host space
using far = dm::tensor<long double, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<long double> = false;
auto f(const far& x) { return dm::var<hidden>(x); }
#else
auto f(const far& x) { return dm::var<hidden>(x); }
#endif

// mistake: prod__elsewhere
// Elements in memory that the host does not reach.
// expect: prod: the kernel runs on the host only; use a host space
using far = dm::tensor<long double, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<long double> = false;
auto f(const far& x) { return dm::prod<hidden>(x); }
#else
auto f(const far& x) { return dm::prod<hidden>(x); }
#endif

// mistake: max__elsewhere
// The gradient of elements in memory that the host does not reach.
// expect: max: gradients are made on the host only; use a host space
using far = dm::tracked_tensor<dm::tensor<long double, by_batch, batch, hidden>>;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<long double> = false;
auto f(const far& x) { return dm::max<hidden>(x); }
#else
auto f(const far& x) { return dm::max<hidden>(x); }
#endif
