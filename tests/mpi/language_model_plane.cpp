// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 2 4 8
// labels: heavy device
// A language model trains alike on two axes: batch and model split, and all of that with the length
// and the parameters split, too.
#include "support/language_model_run.hpp"

namespace {
using namespace test_support;
struct x : dm::axis<> {};
struct y : dm::axis<2> {};
struct plane : dm::mesh<x, y> {};
using none = dm::layout<plane>;
using hybrid = dm::layout<plane, dm::split<batch, x>, dm::split<heads, y>, dm::split<hidden, y>,
                          dm::split<vocab, y>>;
using everything = dm::layout<plane, dm::split<batch, x>, dm::split<heads, y>, dm::split<hidden, y>,
                              dm::split<vocab, y>, dm::split_if_free<length, y>>;
using stored = dm::layout<plane, dm::split<heads, y>, dm::split<hidden, y>, dm::split<vocab, y>,
                          dm::spread<x>>;

TEST_CASE("two axes") {
  const dm::grid<plane> g;
  const training one = train<small, none>(g);
  SUBCASE("hybrid") { check_same(train<small, hybrid>(g), one); }
  SUBCASE("everything") { check_same(train<small, everything, stored>(g), one); }
}

}  // namespace
