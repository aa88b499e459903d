// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A struct of tensors with a member that its description leaves out.
// expect: for_each_tensor: a struct has members that its BOOST_HANA_DEFINE_STRUCT leaves out; describe them all
// expect: member_not_described<linear<
// levels: 3
#include "dimesh/create.hpp"
namespace dm = dimesh;
struct model : dm::dim<8> {};
struct rows : dm::axis<2> {};
struct line : dm::mesh<rows> {};
using L = dm::layout<line, dm::split<model, rows>>;
template <class L> struct linear {
#ifdef COMPILE_FAIL
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, model>, weight));
  dm::tensor<float, L, model> bias;
#else
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, model>, weight),
                           (dm::tensor<float, L, model>, bias));
#endif
};
auto make(const dm::mesh_sizes<line>& sizes) { return dm::make<linear<dm::shaped<L>>>(sizes); }
