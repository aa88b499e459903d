// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A batch norm of elements in memory that the host does not reach.
// alone: it specializes a variable of the library
// expect: batch_norm: the kernel runs on the host only; use a host space
#include <dimesh/dimesh.hpp>
#include <dimesh/op/batch_norm.hpp>

#include "names.hpp"

using far = dm::tensor<long double, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<long double> = false;
auto f(const far& x) { return dm::group_norm<batch>(x); }
#else
auto f(const far& x) { return dm::group_norm<batch>(x); }
#endif
