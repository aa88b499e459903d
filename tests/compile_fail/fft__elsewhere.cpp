// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms of elements in memory that the host does not reach.
// alone: it specializes a variable of the library
// expect: fft: the kernel runs on the host only; use a host space
#include <dimesh/dimesh.hpp>
#include <dimesh/op/fft.hpp>

#include "names.hpp"

using number = std::complex<double>;
using far = dm::tensor<number, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<number> = false;
auto f(const far& x) { return dm::fft<hidden>(x); }
#else
auto f(const far& x) { return dm::fft<hidden>(x); }
#endif
