// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters that a loss writes to, and a const tensor.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, hidden, label>;
using row = dm::tensor<float, whole, label>;

// mistake: in_a_loss
// lines: 18
// expect: tensor: a const one cannot be assigned to, as parameters in a loss; keep the new values beside them: auto w = 0.5f * p.w
// expect: parameters_are_const<const
#ifdef COMPILE_FAIL
auto f(const matrix& w) {
  const auto loss = [](auto& p) {
    p = 0.5f * p;
    return dm::sum(p * p);
  };
  return dm::value_and_grad(loss, w)();
}
#else
auto f(const matrix& w) {
  const auto loss = [](const auto& p) {
    const auto half = 0.5f * p;
    return dm::sum(half * half);
  };
  return dm::value_and_grad(loss, w)();
}
#endif

// mistake: of_another_type
// lines: 12
// expect: tensor: a const one cannot be assigned to, as parameters in a loss; keep the new values beside them: auto w = 0.5f * p.w
// expect: parameters_are_const<const
#ifdef COMPILE_FAIL
void f(const row& b, const matrix& w) { b = w; }
#else
void f(row& b, const matrix& w) { b = dm::sum<hidden>(w); }
#endif

// mistake: added_to
// levels: 1
// expect: tensor: a const one cannot be assigned to, as parameters in a loss; keep the new values beside them: auto w = 0.5f * p.w
// expect: parameters_are_const<const
#ifdef COMPILE_FAIL
void f(const row& b, const row& c) { b += c; }
#else
void f(row& b, const row& c) { b += c; }
#endif
