// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of a function whose value has dims is taken two templates deep.
// expect: value_and_grad: the function's value has dims; sum or average them first
// expect: value_not_scalar<label>
// levels: 3
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct squares {
  template <class P> auto operator()(const P& p) const {
#ifdef COMPILE_FAIL
    return p.b * p.b;
#else
    return dm::sum(p.b * p.b);
#endif
  }
};
struct training {
  template <class P> auto gradient(const P& p) const {
    return dm::complete(dm::value_and_grad(squares{}, p)());
  }
  template <class P> auto operator()(const P& p) const {
    auto [value, gradients] = gradient(p);
    return dm::value(value);
  }
};
float f(const parameters<hybrid>& p) { return training{}(p); }
