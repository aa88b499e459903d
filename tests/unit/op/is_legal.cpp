// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/is_legal.hpp"

#include <doctest/doctest.h>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct pixel : dm::dim<12> {};
struct hidden : dm::dim<6> {};
struct odd : dm::dim<9> {};
struct hidden_out : dm::dim<6> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
struct line : dm::mesh<rows> {};

template <class... Rule> using under = dm::layout<pod, Rule...>;
template <class L, class... D> using tensor = dm::tensor<float, L, D...>;
using hybrid = under<dm::split<batch, rows>, dm::split<hidden, cols>>;
using addends = under<dm::partial<cols>>;
using x_type = tensor<hybrid, batch, hidden>;
using bias = tensor<hybrid, hidden>;
using whole_bias = tensor<under<>, hidden>;

// Formation.
static_assert(dm::is_formable<hybrid, batch, hidden>);
static_assert(
    !dm::is_formable<under<dm::split<batch, rows>, dm::split<hidden, rows>>, batch, hidden>);
static_assert(
    dm::is_formable<under<dm::split<batch, rows>, dm::split<hidden, rows>>, batch, pixel>);
static_assert(!dm::is_formable<under<dm::split<odd, rows>>, odd>);
static_assert(dm::is_formable<under<dm::split<dm::uneven<odd>, rows>>, odd>);
static_assert(!dm::is_formable<hybrid, batch, batch>);

// Sums: equal states, broadcasting by name, addends with addends.
static_assert(dm::is_addable<x_type, x_type>);
static_assert(dm::is_addable<x_type, bias>);
static_assert(!dm::is_addable<x_type, whole_bias>);
static_assert(dm::is_addable<tensor<addends, batch>, tensor<addends, batch>>);
static_assert(!dm::is_addable<tensor<addends, batch>, tensor<under<>, batch>>);
static_assert(!dm::is_addable<tensor<addends, batch>, bias>);
static_assert(!dm::is_addable<x_type, tensor<dm::layout<line>, hidden>>);
static_assert(!dm::is_addable<tensor<under<dm::split<batch, rows>>, batch>,
                              tensor<under<dm::split<hidden, rows>>, hidden>>);

// Products: one operand may hold addends; quotients: the numerator.
static_assert(dm::is_multipliable<tensor<addends, batch>, tensor<under<>, batch>>);
static_assert(!dm::is_multipliable<tensor<addends, batch>, tensor<addends, batch>>);
static_assert(!dm::is_multipliable<tensor<addends, batch>, bias>);
static_assert(dm::is_divisible<tensor<addends, batch>, tensor<under<>, batch>>);
static_assert(!dm::is_divisible<tensor<under<>, batch>, tensor<addends, batch>>);

// Functions: no addends.
static_assert(dm::is_mappable<x_type, bias>);
static_assert(!dm::is_mappable<tensor<addends, batch>>);

// Contractions.
using images = tensor<hybrid, batch, pixel>;
using weights = tensor<hybrid, pixel, hidden>;
static_assert(dm::is_einsum<dm::shape<batch, hidden>, images, weights>);
static_assert(!dm::is_einsum<dm::shape<batch, odd>, images, weights>);
static_assert(!dm::is_einsum<dm::shape<batch>, images, weights>);
static_assert(!dm::is_einsum<dm::shape<batch, hidden>, images,
                             tensor<under<dm::split<hidden, rows>>, pixel, hidden>>);
static_assert(
    !dm::is_einsum<dm::shape<batch, hidden>, images, dm::tensor<double, hybrid, pixel, hidden>>);

// One tensor.
static_assert(dm::is_summable<x_type, hidden> && dm::is_summable<tensor<addends, batch>, batch>);
static_assert(!dm::is_summable<x_type, pixel> && !dm::is_summable<x_type, hidden, hidden>);
static_assert(dm::is_comparable_over<x_type, hidden> &&
              !dm::is_comparable_over<tensor<addends, batch>, batch>);
static_assert(dm::is_renamable<x_type, hidden, hidden_out>);
static_assert(!dm::is_renamable<x_type, hidden, batch> && !dm::is_renamable<x_type, hidden, pixel>);
static_assert(dm::is_relayoutable<x_type, under<>> && !dm::is_relayoutable<x_type, addends>);
static_assert(!dm::is_relayoutable<x_type, dm::layout<line>>);

// Poison is silent in operations, but nothing to build on.
static_assert(!dm::is_addable<dm::poison, x_type> && !dm::is_mappable<dm::poison>);

template <class X, class Y>
  requires dm::is_addable<X, Y>
constexpr int how(const X*, const Y*) {
  return 1;
}
template <class X, class Y> constexpr int how(const X*, const Y*) { return 2; }

TEST_CASE("legality chooses an overload") {
  CHECK(how(static_cast<x_type*>(nullptr), static_cast<bias*>(nullptr)) == 1);
  CHECK(how(static_cast<x_type*>(nullptr), static_cast<whole_bias*>(nullptr)) == 2);
}

}  // namespace
