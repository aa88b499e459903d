// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4 8
// labels: heavy device
// A language model trains alike with its batch split, and with parameters spread over the ranks;
// heads, hidden units and vocabulary split; the length split.
#include "support/language_model_run.hpp"

namespace {
using namespace test_support;
struct x : dm::axis<> {};
struct line : dm::mesh<x> {};
using none = dm::layout<line>;
using data = dm::layout<line, dm::split<batch, x>>;
using spread = dm::layout<line, dm::spread<x>>;
using parts = dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>>;

TEST_CASE("batch split; parameters spread; model split") {
  const dm::grid<line> g;
  const training one = train<small, none>(g);
  SUBCASE("data") { check_same(train<small, data>(g), one); }
  SUBCASE("zero") { check_same(train<small, data, spread>(g), one); }
  SUBCASE("model") { check_same(train<small, parts>(g), one); }
}

}  // namespace
