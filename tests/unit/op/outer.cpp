// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All pairs by name; by an operator they are a fault.
#include "dimesh/op/outer.hpp"

#include "dimesh/op/is_legal.hpp"
#include "dimesh/op/reduce.hpp"
#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using A = X<float, L<dm::split<batch, cols>>, batch>;
using B = X<float, L<>, hidden>;
using AB = X<float, L<dm::split<batch, cols>>, batch, hidden>;

static_assert(is_same_v<decltype(dm::outer(A{}, B{})), AB>);
static_assert(is_same_v<decltype(dm::outer(AB{}, B{})), AB>, "nothing to spread");
static_assert(is_same_v<decltype(dm::outer(A{}, dm::poison{})), dm::poison>);

static_assert(!dm::is_addable<A, B> && !dm::is_multipliable<A, B> && !dm::is_divisible<A, B>);
static_assert(dm::is_addable<AB, B> && dm::is_multipliable<B, AB> && dm::is_divisible<AB, A>);
static_assert(is_same_v<dm::detail::operator_fault<dm::detail::join_kind::product, A, B>,
                        dm::no_operand_has_all_dims<hidden, batch>>);

}  // namespace
