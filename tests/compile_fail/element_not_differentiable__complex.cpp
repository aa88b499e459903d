// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of one's own of complex elements: dual numbers know real derivatives only.
// expect: map: gradients do not pass through a function of complex elements; compose it of + - * /, conj, real, imag and norm2, or use stop_gradient
// expect: element_not_differentiable<std::complex<float>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/complex.hpp>

#include "names.hpp"

using weights = dm::tensor<std::complex<float>, dm::tracked<hybrid>, hidden>;
struct squared {
  template <class Z> Z operator()(const Z& z) const { return z * z; }
};
#ifdef COMPILE_FAIL
auto f(const weights& p) { return dm::real(dm::map(squared{}, p)); }
#else
auto f(const weights& p) { return dm::real(p * p); }
#endif
