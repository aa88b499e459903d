// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network under a layout in which batch and hidden share an axis: the layout is wrong.
// expect: einsum: two dims are split over the same mesh axis; split one of them over another axis, or gather it with whole<dim>
// expect: dims_share_mesh_axis<batch, hidden, rows>
// levels: 2
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, rows>>;
#else
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;
#endif

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, pixel, hidden>, w1),
                           (dm::tensor<float, L, hidden>, b1),
                           (dm::tensor<float, L, hidden, label>, w2),
                           (dm::tensor<float, L, label>, b2));
};
constexpr auto logits = [](const auto& p, const auto& x) {
  auto h = dm::relu(dm::complete(dm::einsum<batch, hidden>(x, p.w1)) + p.b1);
  return dm::complete(dm::einsum<batch, label>(h, p.w2)) + p.b2;
};

auto f(const network<layout>& p, const dm::tensor<float, layout, batch, pixel>& x) {
#ifdef RECORDED
  auto loss = [](const auto& q, const auto& in) { return dm::mean(dm::square(logits(q, in))); };
  auto [value, gradient] = dm::complete(dm::value_and_grad(loss, p)(x));
  return value;
#else
  return logits(p, x);
#endif
}
