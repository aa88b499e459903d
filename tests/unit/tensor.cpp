// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/tensor.hpp"

#include <doctest/doctest.h>

#include "dimesh/shaped.hpp"

using namespace dimesh;
namespace {

struct batch : dim<8> {};
struct hidden : dim<12> {};
struct odd : dim<7> {};
struct length : dim<> {};
struct rows : axis<2> {};
struct cols : axis<3> {};
struct pod : mesh<rows, cols> {};

template <class A, class B> constexpr bool same = std::is_same_v<A, B>;
using program = layout<pod, split<hidden, cols>, split<batch, rows>>;

// ---- one type per meaning ---------------------------------------------------------------------
static_assert(
    same<tensor<float, program, batch, hidden>,
         basic_tensor<float, layout<pod, split<batch, rows>, split<hidden, cols>>, batch, hidden>>);
static_assert(same<tensor<float, program, hidden>,
                   tensor<float, layout<pod, split<hidden, cols>, split<batch, cols>>, hidden>>);
static_assert(!same<tensor<float, program, batch>, tensor<double, program, batch>>);
static_assert(same<tensor<float, program>, basic_tensor<float, layout<pod>>>);

// ---- modifiers ----------------------------------------------------------------------------------
static_assert(same<tensor<float, gradient<program>, hidden>,
                   tensor<float, layout<pod, split<hidden, cols>, partial<rows>>, hidden>>);
static_assert(
    same<tensor<float, gradient<gradient<program>>, hidden>, tensor<float, program, hidden>>);
static_assert(same<tensor<float, shaped<program>, hidden>,
                   shaped_tensor<float, layout<pod, split<hidden, cols>>, hidden>>);
static_assert(same<tensor<float, gradient<shaped<program>>, hidden>,
                   tensor<float, shaped<gradient<program>>, hidden>>);
static_assert(
    same<tensor<float, tracked<program>, hidden>, tracked_tensor<tensor<float, program, hidden>>>);
static_assert(same<tensor<float, tracked<shaped<program>>, hidden>,
                   tracked_tensor<tensor<float, shaped<program>, hidden>>>);

// ---- concepts -----------------------------------------------------------------------------------
static_assert(Tensor<tensor<float, program, hidden>> &&
              Tensor<tensor<float, shaped<program>, hidden>>);
static_assert(!Tensor<float> && !Tensor<program> && !Tensor<poison>);
static_assert(Operand<tensor<float, program, hidden>> && Operand<poison> && !Operand<int>);
static_assert(TensorOf<tensor<float, program, batch, hidden>, float, batch, hidden> &&
              TensorOf<tensor<float, shaped<program>, hidden>, float, hidden> &&
              TensorOf<poison, float, hidden>);
static_assert(!TensorOf<tensor<float, program, hidden, batch>, float, batch, hidden> &&
              !TensorOf<tensor<double, program, hidden>, float, hidden> && !TensorOf<int, float>);
// What is const is to be read only.
static_assert(
    same<decltype(std::declval<tensor<float, program, hidden>&>().data()), float*> &&
    same<decltype(std::declval<const tensor<float, program, hidden>&>().data()), const float*>);
static_assert(same<spec_of<tensor<float, program, hidden>>,
                   spec<float, layout<pod, split<hidden, cols>>, hidden>>);

TEST_CASE("a tensor without a grid is not defined and holds nothing") {
  const tensor<float, program, batch, hidden> x;
  CHECK(!x.defined());
  CHECK(x.data() == nullptr);
  const auto y = x;
  CHECK(!y.defined());
}

}  // namespace
