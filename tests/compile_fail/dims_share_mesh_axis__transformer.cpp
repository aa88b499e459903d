// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout that splits the length and the heads of a Transformer over one axis.
// expect: nn: the compute layout splits two dims that meet in a product over the same mesh axis; split one of them over another axis, or let it give way: split_if_free
// expect: dims_share_mesh_axis<heads, length, cols>
// levels: 1
#include "dimesh/nn/language_model.hpp"

namespace dm = dimesh;
namespace nn = dimesh::nn;

struct batch : dm::dim<4> {};
struct length : dm::dim<16> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<4> {};
struct hidden : dm::dim<16> {};
struct vocab : dm::dim<8> {};
struct cols : dm::axis<2> {};
struct line : dm::mesh<cols> {};

struct gpt : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 1;
};

#ifdef COMPILE_FAIL
using C = dm::layout<line, dm::split<heads, cols>, dm::split<length, cols>>;
#else
using C = dm::layout<line, dm::split<heads, cols>, dm::split_if_free<length, cols>>;
#endif
using parameters = nn::language_model_parameters<dm::shaped<C>, gpt>;
using ids = dm::tensor<std::int32_t, dm::shaped<C>, batch, length>;

auto loss(const parameters& p, const ids& x) { return nn::language_model<C, gpt>().loss(p, x, x); }
