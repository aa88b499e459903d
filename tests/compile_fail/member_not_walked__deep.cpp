// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer of a network has a member that is no tensor, and not described.
// expect: for_each_tensor: a member is neither a tensor, a number, an array or tuple, nor a described struct; describe it by BOOST_HANA_DEFINE_STRUCT
// expect: member_not_walked<note>
// levels: 3
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
struct note {
  const char* text = "";
};
#else
enum class note { none, bias_first };
#endif
template <class L> struct linear {
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, hidden, label>, weight), (note, about));
};
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (std::array<linear<L>, 2>, layers));
};
struct squares {
  template <class P> auto operator()(const P& p) const {
    return dm::sum(dm::square(p.layers[0].weight)) + dm::sum(dm::square(p.layers[1].weight));
  }
};
float f(const dm::grid<pod>& g) {
  const auto p = dm::zeros<network<hybrid>>(g);
  auto [value, gradients] = dm::complete(dm::value_and_grad(squares{}, p)());
  return dm::value(value);
}
