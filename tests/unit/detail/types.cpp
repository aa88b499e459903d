// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/detail/types.hpp"

#include <doctest/doctest.h>

namespace {
using namespace dimesh::detail;

struct a;
struct b;
struct c;
struct d;

static_assert(index_of<a, list<a, b, c>> == 0);
static_assert(index_of<c, list<a, b, c>> == 2);
static_assert(index_of<d, list<a, b, c>> == -1);
static_assert(index_of<a, list<>> == -1);
static_assert(index_of<b, list<a, b, b>> == 1);  // the first

static_assert(std::is_same_v<type_at<0, list<a, b, c>>, a>);
static_assert(std::is_same_v<type_at<2, list<a, b, c>>, c>);
static_assert(std::is_same_v<type_at<1, list<a, a>>, a>);  // the same type twice is no ambiguity
static_assert(std::is_same_v<type_at<0, list<void>>, void>);

static_assert(list<>::size == 0 && list<a, b>::size == 2);
static_assert(std::is_same_v<united<>, list<>>);
static_assert(std::is_same_v<united<list<>>, list<>>);
static_assert(std::is_same_v<united<list<a, b>, list<>, list<b, c, a>>, list<a, b, c>>);
static_assert(std::is_same_v<united<list<c>, list<b>, list<c, a, b>>, list<c, b, a>>);
static_assert(std::is_same_v<united<list<a, a>>, list<a>>);

TEST_CASE("places are usable at run time") {
  const int place = index_of<b, list<a, b>>;
  CHECK(place == 1);
}

}  // namespace
