// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters are complex, whose squares Adafactor has no rows and columns of.
// expect: adafactor: it averages squares of real numbers; keep real and imaginary parts as parameters, or take adam
// expect: parameter_is_complex<std::complex<double>
#include <complex>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/adafactor.hpp>
#include <dimesh/optim/adam.hpp>

#include "names.hpp"

using weight = dm::tensor<std::complex<double>, hybrid, batch, hidden>;
#ifdef COMPILE_FAIL
using optimizer = dm::adafactor;
#else
using optimizer = dm::adam;
#endif
void f(weight& w, const weight& gradient) {
  auto state = optimizer{}.start(w);
  optimizer{}(w, gradient, state);
}
