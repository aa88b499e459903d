// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cost as a constant of a struct with a vector of tensors.
// expect: cost_of: a struct has a vector of tensors, whose length only the run knows; use count(f, shapes...) when the program runs, or an array
// expect: vector_without_length<layers<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "names.hpp"

struct total {
  template <class S> constexpr auto operator()(const S& s) const {
    return dm::complete(dm::sum(s.weights[0]));
  }
};
#ifdef COMPILE_FAIL
template <class L> struct layers {
  using weights_type = std::vector<dm::tensor<float, L, hidden, label>>;
  BOOST_HANA_DEFINE_STRUCT(layers, (weights_type, weights));
};
constexpr auto flops = dm::cost_of<total, layers<dm::shaped<whole>>>.flops;
#else
template <class L> struct layers {
  using weights_type = std::array<dm::tensor<float, L, hidden, label>, 3>;
  BOOST_HANA_DEFINE_STRUCT(layers, (weights_type, weights));
};
constexpr auto flops = dm::cost_of<total, layers<dm::shaped<whole>>>.flops;
#endif
