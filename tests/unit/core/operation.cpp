// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/core/operation.hpp"

#include "dimesh/core/pullback.hpp"
#include "dimesh/core/results.hpp"

using namespace dimesh;
namespace {

struct width : dim<6> {};
struct length : dim<> {};
struct rows : axis<2> {};
struct line : mesh<rows> {};
using halves = layout<line, split<width, rows>>;
using table = detail::make_spec<float, halves, width, length>;
using addends = detail::make_spec<float, layout<line, partial<rows>>, length>;
using detail::bound;
using detail::facts_of_dim;
using detail::operands;
using detail::results;
using detail::spec_facts;
using detail::storage;
using detail::tally;
using detail::tensor_core;

// ---- operations as a user writes them -----------------------------------------------------------
struct plain_op {
  void fill(results, operands) const {}
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(y[0].elements(), y.bytes() + bytes_of(x));
  }
};
struct stretch_op : plain_op {  // the extent of `length` is its own
  index_t to = 5;
  constexpr index_t extent_of(const detail::dim_facts* d) const {
    return d == &facts_of_dim<length> ? to : dynamic;
  }
};
struct linear_op : plain_op {
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto&) const {}
};
struct share_op : linear_op {
  static constexpr int aliases = 0;
};
struct called_op : plain_op {  // by another name
  std::string_view call = "operator+";
};
static_assert(bound<plain_op, 1>(plain_op{}).facts->name == "plain");
static_assert(bound<called_op, 1>(called_op{}).facts->name == "operator+");
static_assert(bound<called_op, 1>({{}, "maximum"}).facts->name == "maximum");
static_assert(!bound<called_op, 1>(called_op{}).facts->has_transpose);
static_assert(!bound<plain_op, 1>(plain_op{}).facts->has_transpose);
static_assert(bound<linear_op, 1>(linear_op{}).facts->has_transpose);
static_assert(!bound<linear_op, 0>(linear_op{}).facts->has_transpose);  // nothing is recorded there
static_assert(bound<share_op, 1>(share_op{}).facts->aliases == 0);
static_assert(bound<stretch_op, 0>(stretch_op{}).facts->own_dims);

// ---- operands and results by number -------------------------------------------------------------
template <class S> constexpr tensor_core shape(index_t n, tally* t = nullptr) {
  const index_t sizes[] = {2}, wide[] = {6, n}, narrow[] = {n};
  tensor_core x(&spec_facts<S>);
  x.make_shape(sizes, S::rank == 2 ? wide : narrow, t);
  return x;
}
constexpr bool numbers() {
  tensor_core a = shape<table>(4), b = shape<addends>(4);
  const tensor_core* const in[] = {&a, &b};
  tensor_core* const out[] = {nullptr, &b};
  const operands x(in, 2);
  const results y(out, 2);
  return x.count() == 2 && &x[1] == &b && bytes_of(x) == 4 * (3 * 4 + 4) && y.count() == 2 &&
         !y.has(0) && y.has(1) && y.bytes() == 16;
}
static_assert(numbers());

// ---- what a result looks like -------------------------------------------------------------------
template <class Op> constexpr tensor_core placed(const Op& op, const tensor_core& like) {
  const bound<Op, 0> it(op);
  const tensor_core* const in[] = {&like};
  tensor_core y(&spec_facts<table>);
  match_operands(it, operands(in, 1));
  place(it, y, operands(in, 1));
  give_memory(it, y, operands(in, 1), nullptr, like.count);
  return y;
}
static_assert(placed(plain_op{}, shape<table>(4)).own(0).length == 3);
static_assert(placed(plain_op{}, shape<table>(4)).extent(1) == 4);
static_assert(placed(plain_op{}, shape<addends>(4)).extent(0) == 6);  // static: from the type
static_assert(placed(stretch_op{}, shape<table>(4)).extent(1) == 5);

// Results are alive as long as they are there; one that shares its operand's bytes adds none.
template <class Op> constexpr index_t live_with(const Op& op) {
  tally t;
  const tensor_core x = shape<table>(4, &t);
  const tensor_core y = placed(op, x);
  return t.live;
}
static_assert(live_with(plain_op{}) == 2 * 48 && live_with(share_op{}) == 48);

// A value held whole stays that through a linear operation, unless real addends come in.
constexpr unsigned joined(unsigned first, unsigned second) {
  tensor_core a = shape<addends>(4), b = shape<addends>(4);
  a.once = first;
  b.once = second;
  const tensor_core* const in[] = {&a, &b};
  return detail::common_once(1, operands(in, 2));
}
static_assert(joined(1, 1) == 1 && joined(1, 0) == 0 && joined(0, 0) == 0);

}  // namespace
