// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4 6
// checks: 124 245 366 487
// labels: local device
#include "dimesh/op/attention.hpp"

#include <doctest/doctest.h>

#include "support/attention.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::split, dm::uneven;

template <class T, class... Rule> void check_layout(double tolerance) {
  using L = dm::layout<plane, Rule...>;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for (const auto& a : {attention_arrays(2, 3, 2, 5, 5, 3), attention_arrays(3, 1, 1, 1, 70, 2),
                          attention_arrays(1, 2, 1, 21, 4, 17), attention_arrays(2, 2, 0, 3, 3, 2)})
      for (const dm::attention_options& o :
           {dm::attention_options{}, dm::attention_options{.causal = true},
            dm::attention_options{.window = 2, .scale = -0.5},
            dm::attention_options{.causal = true, .window = 3, .offset = 2},
            dm::attention_options{.causal = true, .dropout = 0.3, .key = dm::random_key(5)}}) {
        const auto q = scattered<queries_of<T, L>>(g, a.q);
        const auto k = scattered<keys_of<T, L>>(g, a.k), v = scattered<keys_of<T, L>>(g, a.v);
        CHECK(agrees(dm::attention<length, key, head>(q, k, v, o), attended(a.q, a.k, a.v, o),
                     tolerance));
      }
  });
}

TEST_CASE("attention: nothing split") { check_layout<double>(1e-13); }
TEST_CASE("attention: batch and heads") {
  check_layout<double, split<uneven<batch>, x>, split<uneven<heads>, y>>(1e-13);
  check_layout<float, split<uneven<heads>, y, x>>(1e-5);
}
TEST_CASE("attention: queries split, causal by global index") {
  check_layout<double, split<uneven<length>, x>>(1e-13);
  check_layout<double, split<uneven<batch>, y>, split<uneven<length>, x>>(1e-13);
}
TEST_CASE("attention: a dim of the queries alone is split") {
  check_layout<double, split<uneven<group>, x>, split<uneven<length>, y>>(1e-13);
}

TEST_CASE("attention: dims in any order, values and keys that lack different dims") {
  using L = dm::layout<plane, split<uneven<batch>, x>, split<uneven<heads>, y>>;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    const attention_arrays a(3, 4, 1, 5, 6, 3);
    const array qa = sum({"head", "heads", "length", "batch"}, a.q);
    const array ka = sum({"head", "key"}, a.k), va = sum({"key", "head", "heads"}, a.v);
    const auto q = scattered<dm::tensor<double, L, head, heads, length, batch>>(g, qa);
    const auto k = scattered<dm::tensor<double, L, head, key>>(g, ka);
    const auto v = scattered<dm::tensor<double, L, key, head, heads>>(g, va);
    CHECK(agrees(dm::attention<length, key, head>(q, k, v), attended(qa, ka, va, {}), 1e-13));
  });
}

TEST_CASE("attention: options out of range are refused") {
  const dm::grid<line> g;
  using L = dm::layout<line>;
  const attention_arrays a(1, 1, 1, 2, 2, 2);
  const auto q = scattered<queries_of<float, L>>(g, a.q);
  const auto k = scattered<keys_of<float, L>>(g, a.k);
  for (const dm::attention_options& o :
       {dm::attention_options{.window = -1}, dm::attention_options{.dropout = 1},
        dm::attention_options{.dropout = -0.1}})
    CHECK_THROWS_AS((dm::attention<length, key, head>(q, k, k, o)), dm::error);
}

}  // namespace
