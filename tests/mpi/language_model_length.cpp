// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4 8
// labels: heavy device
// A language model of the other form trains alike with its length split: beside heads and hidden
// units on the same axis (sequence parallelism), and alone (context parallelism).
#include "support/language_model_run.hpp"

namespace {
using namespace test_support;
struct x : dm::axis<> {};
struct line : dm::mesh<x> {};
using none = dm::layout<line>;
using sequence = dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>,
                            dm::split_if_free<length, x>>;
using context = dm::layout<line, dm::split<length, x>>;

TEST_CASE("length split") {
  const dm::grid<line> g;
  const training one = train<other, none>(g);
  SUBCASE("sequence") { check_same(train<other, sequence>(g), one); }
  SUBCASE("context") { check_same(train<other, context>(g), one); }
}

}  // namespace
