// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/detail/name.hpp"

#include <doctest/doctest.h>

#include "dimesh/core/user_function.hpp"
#include "dimesh/detail/names.hpp"

struct at_file_scope {};
namespace my::app {
struct inside {};
template <class T> struct family {};
struct outer {
  struct member {};
};
}  // namespace my::app

namespace {
using dimesh::detail::name_of;

struct unnamed {};

static_assert(name_of<at_file_scope>() == "at_file_scope");
static_assert(name_of<my::app::inside>() == "inside");
static_assert(name_of<my::app::outer::member>() == "member");
static_assert(name_of<unnamed>() == "unnamed");
static_assert(name_of<int>() == "int");
static_assert(name_of<my::app::family<int>>() == "family<int>");
static_assert(dimesh::detail::name_before_arguments<my::app::family<my::app::inside>>() ==
              "family");
static_assert(dimesh::detail::name_before_arguments<my::app::inside>() == "inside");

// As nvcc and g++ spell lambdas, and what holds one.
constexpr bool (*is_lambda)(std::string_view) = dimesh::detail::is_lambda;
static_assert(is_lambda("spelled() [with T = lambda [](long)->float]"));
static_assert(is_lambda("spelled() [with T = main()::<lambda(long int)>; V = int]"));
static_assert(is_lambda("spelled() [with T = <lambda(auto:1)>; V = int]"));
static_assert(is_lambda("spelled() [with T = a<b<int> >::operator<(int)::<lambda(int)>; V = int]"));
static_assert(is_lambda("spelled() [with T = heat_operator<int>::go()::<lambda(int)>; V = int]"));
static_assert(!is_lambda("spelled() [with T = wrap<main()::<lambda(long int)> >; V = int]"));
static_assert(!is_lambda("spelled() [with T = wrap<lambda [](long)->float>]"));
static_assert(!is_lambda("spelled() [with T = my::inside; V = int]"));

template <class A, class B> std::string name_of_one_within(A, B) {
  struct within {};
  return std::string(name_of<within>());
}

TEST_CASE("names of local structs and of templates over other names") {
  struct local {};
  CHECK(name_of<local>() == "local");
  CHECK(std::string(name_of<my::app::family<my::app::inside>>()).substr(0, 7) == "family<");
  const auto in_lambda = [] {
    struct deeper {};
    return std::string(name_of<deeper>());
  };
  CHECK(in_lambda() == "deeper");
  const auto in_generic_lambda = [](auto) {
    struct deepest {};
    return std::string(name_of<deepest>());
  };
  CHECK(in_generic_lambda(1) == "deepest");
  CHECK(name_of_one_within(1, 2.0) == "within");
  CHECK(dimesh::detail::quoted<at_file_scope>() == "'at_file_scope'");
}

}  // namespace
