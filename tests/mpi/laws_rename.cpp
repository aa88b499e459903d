// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6 8
// labels: device
// checks: 492 984 984 1476 1800 1800
#include "dimesh/op/rename.hpp"

#include <doctest/doctest.h>

#include "support/adjoint.hpp"

namespace {
using namespace test_support;

TEST_CASE("rename: the same elements under another name, in every layout") {
  for_all_cases<plane, unevenly_with_partial, p, q>(
      {{5, 4}, {0, 3}, {1, 9}}, [](auto x, const array& a) {
        CHECK(agrees(x, a));
        const auto renamed_q = dimesh::rename<q, r>(x);
        CHECK(agrees(renamed_q, renamed(a, "q", "r")));
        CHECK(renamed_q.data() == x.data());
        CHECK(agrees(dimesh::rename<r, q>(renamed_q), a));
        check_operation([](const auto& v) { return dimesh::rename<q, r>(v); }, {}, {a}, x);
      });
}

}  // namespace
