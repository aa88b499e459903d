// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../../examples/common/translation_scores.hpp"

#include <doctest/doctest.h>

using report::bleu;
using report::chrf;

namespace {
doctest::Approx near(double x) { return doctest::Approx(x).scale(0).epsilon(1e-12); }
}  // namespace

TEST_CASE("bleu: known answers") {
  CHECK(bleu({"the cat sat on the mat"}, {"the cat sat on the mat"}) == near(100));
  CHECK(bleu({"dogs bark"}, {"the cat sat on the mat"}) == 0);
  // Right are 5 words of 6, 3 pairs of 5, 2 triples of 4, 1 run of four of 3.
  CHECK(bleu({"the cat sat on the mat"}, {"the cat sat on a mat"}) ==
        near(100 * std::pow(5.0 / 6 * 3 / 5 * 2 / 4 * 1 / 3, 0.25)));
  // All of it is right, and two words are missing: exp(1 - 7/5).
  CHECK(bleu({"a b c d e"}, {"a b c d e f g"}) == near(100 * std::exp(1 - 7.0 / 5)));
  // A word is right as often as it is wanted: 2 of 7 (Papineni et al. 2002, section 2.1).
  CHECK(bleu({"the the the the the the the"}, {"the cat is on the mat"}) == 0);
  // Counts are of all sentences together: 8 of 9, 5 of 7, 3 of 5, 2 of 3.
  CHECK(bleu({"a b c d e", "x y z w"}, {"a b c d e", "x y q w"}) ==
        near(100 * std::pow(8.0 / 9 * 5 / 7 * 3 / 5 * 2 / 3, 0.25)));
  CHECK(bleu({}, {}) == 0);
}

TEST_CASE("bleu: signs are words, and spaces between them do not matter") {
  CHECK(bleu({"(a, b) c"}, {"( a , b ) c"}) == near(100));
  CHECK(bleu({"ab c d e"}, {"a b c d e"}) < 100);
}

TEST_CASE("chrf: known answers") {
  CHECK(chrf({"abcdefg"}, {"abcdefg"}) == near(100));
  CHECK(chrf({"ab"}, {"ab"}) == near(100));  // runs of one and two only
  CHECK(chrf({"xyz"}, {"abc"}) == 0);
  CHECK(chrf({}, {}) == 0);
  CHECK(chrf({""}, {"abc"}) == 0);
  // Right are 3 of 4, 2 of 3, 1 of 2, 0 of 1: mean 23/48 of both, and F is the same.
  CHECK(chrf({"abcd"}, {"abce"}) == near(100 * 23.0 / 48));
  // Right are all: 2 of 2, 1 of 1; found are 2 of 4, 1 of 3. Precision 1, recall 5/12.
  CHECK(chrf({"ab"}, {"abcd"}) == near(100 * 5 * (5.0 / 12) / (4 + 5.0 / 12)));
  // The other way round, F is nearer to the recall of 1.
  CHECK(chrf({"abcd"}, {"ab"}) == near(100 * 5 * (5.0 / 12) / (4 * (5.0 / 12) + 1)));
}

TEST_CASE("chrf: characters, not bytes; spaces do not count") {
  CHECK(chrf({"\xc3\xa9"
              "a"},
             {"\xc3\xa8"
              "a"}) == near(100 * (0.5 + 0) / 2));  // one of two right
  CHECK(chrf({"a b"}, {"ab"}) == near(100));
}
