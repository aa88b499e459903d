// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operators are taken for mistakes with tensors? None between others.
#include "dimesh/op/refusals/wrong_operators.hpp"

#include <dimesh/dimesh.hpp>

#include "dimesh/op/refusals/untyped_makers.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct rows : dm::axis<2> {};
struct pod : dm::mesh<rows> {};
using L = dm::layout<pod>;
using x_type = dm::tensor<float, L, batch>;
template <class K> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, K, batch>, w));
};
struct bits {
  int value;
  friend constexpr bits operator^(bits a, int b) { return {a.value ^ b}; }
  friend constexpr bits operator*(bits a, const network<L>&) { return a; }
};

using namespace dm::detail;  // NOLINT: the test is of its parts

static_assert(TensorMeetsAny<x_type, x_type> && TensorMeetsAny<x_type, int>);
static_assert(TensorMeetsAny<double, x_type> && TensorMeetsAny<dm::poison, int>);
static_assert(!TensorMeetsAny<x_type, bits> && !TensorMeetsAny<bits, int>);
static_assert(StructMeets<network<L>, network<L>> && StructMeets<x_type, network<L>>);
static_assert(!StructMeets<bits, network<L>> && !StructMeets<bits, bits>);
static_assert((bits{6} ^ 3).value == 5, "other operators are left alone");

// What is walked, and what is no struct.
static_assert(is_function<int>() && !is_function<network<L>>());
struct loss {
  template <class X> auto operator()(const X& x) const { return x; }
};
struct nothing_in_it {};
static_assert(is_function<loss>() && !is_function<nothing_in_it>() && !is_function<dm::poison>());

}  // namespace
