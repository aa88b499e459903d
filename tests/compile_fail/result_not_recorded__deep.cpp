// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of a constant is taken two templates deep.
// expect: value_and_grad: no parameter reaches the value of the function; compute it from the parameters
// expect: result_not_recorded<
// levels: 3
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct squares {
  template <class P> auto operator()(const P& p) const {
#ifdef COMPILE_FAIL
    return dm::sum(dm::stop_gradient(p.b));
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
