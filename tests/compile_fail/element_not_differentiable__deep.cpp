// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits in a struct of parameters, the gradient is taken two templates deep.
// expect: value_and_grad: a parameter's elements are no real numbers; use float or double
// expect: element_not_differentiable<int>
// levels: 2
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

#ifdef COMPILE_FAIL
using number = int;
#else
using number = float;
#endif
template <class L> struct table {
  BOOST_HANA_DEFINE_STRUCT(table, (dm::tensor<float, L, label>, b),
                           (dm::tensor<number, L, hidden>, w));
};
struct squares {
  template <class P> auto operator()(const P& p) const {
    return dm::sum(p.b * p.b) + dm::sum(p.w * p.w);
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
float f(const table<whole>& p) { return training{}(p); }
