// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Transformer under a layout in which length and heads share an axis: the length must give way.
// expect: einsum: two dims are split over the same mesh axis; split one of them over another axis, or gather it with whole<dim>
// expect: dims_share_mesh_axis<length, heads, cols>
// levels: 10
// also: RECORDED
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/language_model.hpp>

#include "names.hpp"

struct length : dm::dim<8> {};
struct model : dm::dim<16> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<4> {};
struct vocab : dm::dim<32> {};
struct small : dm::nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 2;
};

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<heads, cols>, dm::split<length, cols>>;
#else
using layout = dm::layout<pod, dm::split<heads, cols>, dm::split_if_free<length, cols>>;
#endif

using parameters = dm::nn::language_model_parameters<layout, small>;
using tokens = dm::nn::tokens<layout, small>;

auto f(const parameters& p, const tokens& ids, const tokens& next) {
  auto loss = [](const auto& q, const auto& a, const auto& b) {
    return dm::nn::language_model<layout, small>::loss(q, a, b);
  };
#ifdef RECORDED
  return dm::value_and_grad(loss, p)(ids, next).value;
#else
  return loss(p, ids, next);
#endif
}
