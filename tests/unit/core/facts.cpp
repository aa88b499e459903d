// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/core/facts.hpp"

#include "dimesh/core/real_functions.hpp"

using namespace dimesh;
namespace {

struct batch : dim<8> {};
struct hidden : dim<> {};
struct rows : axis<2> {};
struct cols : axis<2> {};
struct pod : mesh<rows, cols> {};
struct other : mesh<rows, cols> {};

using by_rows = detail::make_spec<float, layout<pod, split<batch, rows>>, batch, hidden>;
using by_cols = detail::make_spec<float, layout<pod, split<batch, cols>>, batch, hidden>;
using addends =
    detail::make_spec<double, layout<pod, split<batch, rows>, partial<cols>>, batch, hidden>;
using turned = detail::make_spec<float, layout<pod, split<batch, rows>>, hidden, batch>;
using elsewhere = detail::make_spec<float, layout<other, split<batch, rows>>, batch, hidden>;
using counts = detail::make_spec<int, layout<pod>, batch>;
using detail::facts_of_dim;
using detail::spec_facts;

// ---- dims by address ----------------------------------------------------------------------------
static_assert(facts_of_dim<batch>.name == "batch" && facts_of_dim<batch>.extent == 8);
static_assert(facts_of_dim<hidden>.extent == dynamic);
static_assert(spec_facts<by_rows>.rank == 2 && spec_facts<by_rows>.element == sizeof(float));
static_assert(spec_facts<by_rows>.place_of(&facts_of_dim<hidden>) == 1);
static_assert(spec_facts<counts>.place_of(&facts_of_dim<hidden>) == -1);
static_assert(!spec_facts<by_rows>.is_static && spec_facts<counts>.is_static);
static_assert(spec_facts<by_rows>.axis_name(1) == "cols");

// ---- meshes by address: two with the same axes are two ------------------------------------------
static_assert(spec_facts<by_rows>.mesh == spec_facts<by_cols>.mesh);
static_assert(spec_facts<by_rows>.mesh != spec_facts<elsewhere>.mesh);

// ---- gradients ----------------------------------------------------------------------------------
static_assert(spec_facts<by_rows>.partial == 0 && spec_facts<by_rows>.dual->partial == 0b10);
static_assert(spec_facts<by_rows>.dual->dual == &spec_facts<by_rows>);
static_assert(spec_facts<by_rows>.dual->layout == dual_of(by_rows::table));
static_assert(spec_facts<addends>.partial == 0b10 && spec_facts<addends>.dual->partial == 0);
static_assert(spec_facts<by_rows>.shared->real == &detail::real_functions_of<float>);
static_assert(spec_facts<counts>.shared->real == nullptr);

// ---- what layouts do not change stands in one place, and a rule's changes in another ------------
static_assert(spec_facts<by_rows>.shared == spec_facts<by_cols>.shared);
static_assert(spec_facts<by_rows>.shared == spec_facts<turned>.dual->shared);
static_assert(spec_facts<by_rows>.dim == spec_facts<by_cols>.dim);
static_assert(spec_facts<by_rows>.dim == spec_facts<by_rows>.dual->dim);
constexpr detail::facts_of_own_dims without_batch(detail::facts_of_own_dims f) {
  f.rank = 0;
  f.add_dim(&facts_of_dim<hidden>);
  return f;
}
static_assert(without_batch(spec_facts<by_rows>).place_of(&facts_of_dim<hidden>) == 0);
static_assert(without_batch(spec_facts<by_rows>).place_of(&facts_of_dim<batch>) == -1);
static_assert(spec_facts<by_rows>.place_of(&facts_of_dim<hidden>) == 1);

// ---- whose blocks are the same? -----------------------------------------------------------------
static_assert(spec_facts<by_rows>.same_blocks(spec_facts<by_rows>));
static_assert(spec_facts<by_rows>.same_blocks(*spec_facts<by_rows>.dual));
static_assert(spec_facts<by_rows>.same_blocks(spec_facts<addends>));
static_assert(!spec_facts<by_rows>.same_blocks(spec_facts<by_cols>));
static_assert(spec_facts<by_rows>.same_dims(spec_facts<by_cols>));
static_assert(!spec_facts<by_rows>.same_dims(spec_facts<turned>));
static_assert(!spec_facts<by_rows>.same_blocks(spec_facts<turned>));

}  // namespace
