// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/value.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct rows : dm::axis<2> {};
struct line : dm::mesh<rows> {};
template <class... R> using L = dm::layout<line, R...>;

template <class X> using fault = dm::detail::fault_of<dm::detail::value_rule, X>;
static_assert(std::is_same_v<fault<dm::tensor<float, L<>>>, dm::no_fault>);
static_assert(std::is_same_v<fault<dm::tensor<float, L<>, batch>>, dm::value_not_scalar<batch>>);
static_assert(
    std::is_same_v<fault<dm::tensor<float, L<dm::partial<rows>>>>, dm::partial_operand<rows>>);
static_assert(std::is_same_v<decltype(dm::value(dm::poison{})), dm::poison>);
static_assert(std::is_same_v<decltype(dm::value(std::declval<dm::tensor<double, L<>>>())), double>);

}  // namespace
