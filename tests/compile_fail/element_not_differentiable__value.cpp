// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of a complex number: neither part alone is a loss.
// expect: value_and_grad: the function's value is complex; take its real part or its norm2
// expect: element_not_differentiable<std::complex<float>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/complex.hpp>

#include "names.hpp"

using weights = dm::tensor<std::complex<float>, hybrid, hidden>;
#ifdef COMPILE_FAIL
constexpr auto f = [](const auto& p) { return dm::sum(p * p); };
#else
constexpr auto f = [](const auto& p) { return dm::sum(dm::norm2(p)); };
#endif
auto g(const weights& p) { return dm::value_and_grad(f, p)(); }
