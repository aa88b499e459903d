// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters that are numbers.
#include <vector>

#include <dimesh/dimesh.hpp>

#include "names.hpp"

using number = dm::tensor<float, whole>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
constexpr auto scaled = [](const auto& w, const auto& x) { return dm::mean(x * w); };
constexpr auto scaled_by_first = [](const auto& w, const auto& x) { return dm::mean(x * w[0]); };

// mistake: not_a_tensor__value_and_grad
// expect: value_and_grad: parameters are tensors and structs of them, and these hold none; make a number a tensor without dims
// expect: not_a_tensor<float>
#ifdef COMPILE_FAIL
auto f(float w, const matrix& x) { return dm::value_and_grad(scaled, w)(x); }
#else
auto f(const number& w, const matrix& x) { return dm::value_and_grad(scaled, w)(x); }
#endif

// mistake: not_a_tensor__value_and_grad_of_vector
// expect: value_and_grad: parameters are tensors and structs of them, and these hold none; make a number a tensor without dims
// expect: not_a_tensor<std::vector<float
#ifdef COMPILE_FAIL
auto f(const std::vector<float>& w, const matrix& x) {
  return dm::complete(dm::value_and_grad(scaled_by_first, w)(x));
}
#else
auto f(const std::vector<number>& w, const matrix& x) {
  return dm::complete(dm::value_and_grad(scaled_by_first, w)(x));
}
#endif

// mistake: not_a_tensor__value_and_grad_of_temporary
// expect: value_and_grad: parameters are tensors and structs of them, and these hold none; make a number a tensor without dims
// expect: not_a_tensor<double>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::value_and_grad(scaled, 0.5)(x); }
#else
auto f(const dm::grid<pod>& g, const matrix& x) {
  return dm::value_and_grad(scaled, dm::zeros<number>(g))(x);
}
#endif
