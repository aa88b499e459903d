// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The greatest of complex numbers.
// expect: max: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using waves = dm::tensor<std::complex<float>, whole, batch, pixel>;
#ifdef COMPILE_FAIL
auto f(const waves& z) { return dm::max<pixel>(z); }
#else
auto f(const waves& z) { return dm::max<pixel>(dm::norm2(z)); }
#endif
