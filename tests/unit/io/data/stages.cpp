// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Orders and transformations of records: laws, against plain loops.
#include <dimesh/io/data/any_stage.hpp>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/pack.hpp>
#include <dimesh/io/data/sample.hpp>
#include <dimesh/io/data/stage.hpp>
#include <dimesh/io/data/transform.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "support/scratch.hpp"

namespace {
namespace in = dimesh::input;
using dimesh::index_t;
using test_support::thrown;

void says(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}
template <class S> auto all(const S& s, index_t epoch = 0) {
  std::vector<in::record_of<S>> out;
  const auto pass = s.epoch(epoch);
  for (index_t i = 0; i < pass.size(); ++i) out.push_back(pass(i));
  return out;
}
template <class T> std::vector<T> sorted(std::vector<T> v) {
  std::sort(v.begin(), v.end());
  return v;
}
using numbers = std::vector<index_t>;

TEST_CASE("shuffle: a permutation, another one each epoch, a function of the seed") {
  for (const index_t n : {0, 1, 2, 7, 100}) {
    const auto s = in::numbers(n) | in::shuffle(7);
    for (const index_t e : {0, 1, 5}) CHECK(sorted(all(s, e)) == all(in::numbers(n)));
  }
  const auto s = in::numbers(100) | in::shuffle(7);
  CHECK(all(s, 0) != all(s, 1));
  CHECK(all(s, 3) == all(in::numbers(100) | in::shuffle(7), 3));
  CHECK(all(s, 3) != all(in::numbers(100) | in::shuffle(8), 3));
  CHECK(s.epoch(2).where(4) == "number " + std::to_string(s.epoch(2)(4)));
  says(thrown([&] { s.epoch(0)(100); }), "shuffle has no record 100; it has 100");
}

TEST_CASE("sample: so many of all, with the same chance, a function of key, epoch and place") {
  const auto s = in::numbers(20) | in::sample(7, 30);
  CHECK(all(s, 3).size() == 30);
  CHECK(all(s, 3) == all(in::numbers(20) | in::sample(7, 30), 3));
  CHECK(all(s, 3) != all(s, 4));
  CHECK(all(s, 3) != all(in::numbers(20) | in::sample(8, 30), 3));
  const auto fewer = all(in::numbers(20) | in::sample(7, 10), 3);
  const auto more = all(s, 3);
  CHECK(std::equal(fewer.begin(), fewer.end(), more.begin()));  // whatever their number
  CHECK(s.epoch(2).where(4) == "number " + std::to_string(s.epoch(2)(4)));
  const auto by_key = in::numbers(20) | in::sample(dimesh::random_key(7).fold(1), 30);
  CHECK(all(by_key) != all(s));
  std::vector<int> hits(20, 0);
  for (index_t e = 0; e < 1000; ++e)
    for (const index_t i : all(in::numbers(20) | in::sample(1, 20), e))
      ++hits[static_cast<std::size_t>(i)];
  for (const int h : hits) CHECK(std::abs(h - 1000) < 160);  // five standard deviations
  CHECK(all(in::numbers(0) | in::sample(7, 3)).empty());
  says(thrown([&] { s.epoch(0)(30); }), "sample has no record 30; it has 30");
  says(thrown([&] { s.epoch(0)(-1); }), "sample has no record -1; it has 30");
  says(thrown([] { in::sample(7, 0); }), "input::sample: 0 records or times; give 1 or more");
}

TEST_CASE("any_stage: the records, places and faults of the stage that it stands for") {
  in::any_stage<index_t> s = in::numbers(9) | in::shuffle(7);
  const auto of = in::numbers(9) | in::shuffle(7);
  for (const index_t e : {0, 3}) CHECK(all(s, e) == all(of, e));
  CHECK(s.epoch(2).where(4) == of.epoch(2).where(4));
  CHECK(all(s | in::take(3), 1) == all(of | in::take(3), 1));
  const in::any_stage<double> wider = s;  // records that become others
  CHECK(wider.epoch(0)(2) == static_cast<double>(of.epoch(0)(2)));
  const auto before = s;  // shares the stage, whatever becomes of the other one
  s = in::numbers(2);
  CHECK(all(s) == numbers{0, 1});
  CHECK(all(before, 3) == all(of, 3));
  says(thrown([&] { s.epoch(0)(2); }), "numbers has no record 2; it has 2");
}

TEST_CASE("take and skip: parts, also of more than there is") {
  const in::numbers n(5);
  CHECK(all(n | in::take(2)) == numbers{0, 1});
  CHECK(all(n | in::skip(3)) == numbers{3, 4});
  CHECK(all(n | in::take(9)) == numbers{0, 1, 2, 3, 4});
  CHECK(all(n | in::skip(9)) == numbers{});
  CHECK((n | in::skip(3)).epoch(0).where(1) == "number 4");
  says(thrown([&] { (n | in::take(2)).epoch(0)(2); }), "take or skip has no record 2; it has 2");
  says(thrown([] { in::take(-1); }), "input::take: -1 records or times; give 0 or more");
  says(thrown([] { in::skip(-1); }), "input::skip: -1 records or times; give 0 or more");
}

/// Epoch e has sizes[e] records, 0, 1 ..; those behind it as many as the last.
struct uneven_epochs {
  static constexpr bool fixed = false;
  std::vector<index_t> sizes;
  in::numbers epoch(index_t e) const {
    return in::numbers(sizes[std::min(static_cast<std::size_t>(e), sizes.size() - 1)]);
  }
};
constexpr index_t most = std::numeric_limits<index_t>::max();

TEST_CASE("repeat: passes one after the other, each shuffled as an epoch is") {
  const auto s = in::numbers(5) | in::shuffle(3);
  for (const index_t times : {1, 3, 70})  // 70: more passes than are kept
    for (const index_t e : {0, 2}) {
      numbers want;
      for (index_t k = 0; k < times; ++k)
        for (const index_t v : all(s, e * times + k)) want.push_back(v);
      CHECK(all(s | in::repeat(times), e) == want);
    }
  CHECK(all(in::numbers(2) | in::repeat(2)) == numbers{0, 1, 0, 1});
  CHECK((s | in::repeat(70)).epoch(0).where(349) ==
        "number " + std::to_string((s | in::repeat(70)).epoch(0)(349)));
  const auto none = (in::records<int>({}) | in::repeat(2)).epoch(0);
  CHECK(none.size() == 0);
  says(thrown([&] { none(0); }), "repeat or mixture has no record 0; it has 0");
  says(thrown([&] { (in::numbers(2) | in::repeat(2)).epoch(0)(4); }),
       "repeat or mixture has no record 4; it has 4");
  says(thrown([] { in::repeat(0); }), "input::repeat: 0 records or times; give 1 or more");
  const auto uneven =
      in::numbers(9) |
      in::map(1, [](index_t,
                    dimesh::random_key k) { return static_cast<index_t>(k.at(0).word[0] % 4); }) |
      in::filter([](index_t v) { return v == 0; });
  says(thrown([&] { (uneven | in::repeat(50)).epoch(0); }),
       "records follow one another; filter and pack before the shuffle");
  // Of passes that are not made beforehand it is said where a record of theirs is asked for.
  std::vector<index_t> sizes(70, 4);
  sizes[65] = 5;
  const auto late = (uneven_epochs{sizes} | in::repeat(70)).epoch(0);
  CHECK(late(4 * 64 + 3) == 3);
  says(thrown([&] { late(4 * 65); }), "input: epochs of 4 and of 5 records follow one another");
  says(thrown([] { (in::numbers(10) | in::repeat(most)).epoch(0); }),
       "10 times 9223372036854775807 records are more than can be counted");
  says(thrown([] { (in::numbers(1) | in::repeat(most)).epoch(2); }),
       "are more than can be counted");
  CHECK((in::numbers(1) | in::repeat(most)).epoch(0).size() == most);
}

TEST_CASE("zip: records at one place; unequal ones are refused") {
  const auto s = in::numbers(4) | in::shuffle(3);
  const auto z = in::zip(s, in::numbers(4), s);
  const auto pass = z.epoch(1);
  CHECK(pass.size() == 4);
  for (index_t i = 0; i < 4; ++i)
    CHECK(pass(i) == std::tuple<index_t, index_t, index_t>(s.epoch(1)(i), i, s.epoch(1)(i)));
  CHECK(in::zip(in::numbers(2), in::numbers(2)).epoch(0).where(1) == "number 1 and number 1");
  says(thrown([&] { in::zip(s, in::numbers(5)).epoch(0); }),
       "input::zip: the stages have 4, 5 records");
}

TEST_CASE("mixture: weights hold in every round; all of the longest, the others in turn") {
  const auto a = in::numbers(7) | in::shuffle(1);
  const auto b = in::numbers(2) | in::map([](index_t v) { return v + 100; }) | in::shuffle(2);
  const auto m = in::mixture(5, {3, 2}, a, b);
  CHECK(m.epoch(0).size() == 15);  // ceil(7 / 3) rounds of 5
  std::map<index_t, int> seen;
  for (const index_t e : {0, 1, 2, 3}) {
    const numbers got = all(m, e);
    for (std::size_t round = 0; round < 3; ++round) {
      int of_b = 0;
      for (std::size_t k = 0; k < 5; ++k) of_b += got[5 * round + k] >= 100;
      CHECK(of_b == 2);
    }
    for (const index_t v : got) ++seen[v];
  }
  // 36 of a (5 passes and 1), 24 of b (12 passes): none twice as often before the others came
  for (index_t v = 0; v < 7; ++v) CHECK((seen[v] == 5 || seen[v] == 6));
  CHECK((seen[100] == 12 && seen[101] == 12));
  CHECK(all(m, 0) != all(in::mixture(6, {3, 2}, a, b), 0));
  CHECK(all(m, 2) == all(in::mixture(5, {3, 2}, a, b), 2));
  CHECK(m.epoch(1).where(0).starts_with("number "));
  says(thrown([&] { m.epoch(0)(15); }), "mixture has no record 15; it has 15");
  says(thrown([&] { in::mixture(5, {1, 0}, a, b); }),
       "input::mixture: a weight of 0; give 1 or more");
  says(thrown([&] { in::mixture(5, {1, 1}, a, in::numbers(0)).epoch(0); }),
       "input::mixture: stage 1 has no records");
}

TEST_CASE("mixture: epochs of a stage that differ in size are refused, and what none can count") {
  for (const index_t other : {3, 7}) {
    const auto m = in::mixture(5, {1, 2}, uneven_epochs{{5, other, 5}}, in::numbers(4));
    CHECK(sorted(all(m, 0)) == numbers{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4});
    says(thrown([&] { m.epoch(1); }), "input: epochs of 5 and of " + std::to_string(other) +
                                          " records follow one another; filter and pack before");
    CHECK(m.epoch(2).size() == 15);
  }
  const auto n = in::numbers(3);
  says(thrown([&] { in::mixture(5, {1, most}, n, n); }),
       "input::mixture: weights that are together more than can be counted");
  const auto wide = in::mixture(5, {1, most / 2}, n, n);
  says(thrown([&] { wide.epoch(0); }), "are more than can be counted");
  const index_t whole = most - most % 3;  // records are read in passes over all three
  CHECK(in::mixture(5, {whole}, n).epoch(0).size() == whole);
}
TEST_CASE("mixture: records of one stage become those of the first") {
  const auto words = in::numbers(2) | in::map([](index_t i) { return std::string(40, "ab"[i]); });
  const in::records<std::string_view> views({"x", "y"});
  const auto got = sorted(all(in::mixture(5, {1, 1}, words, views)));
  CHECK(got == std::vector<std::string>{std::string(40, 'a'), std::string(40, 'b'), "x", "y"});
}

TEST_CASE("mixture: weights of more than a small deck") {
  const auto b = in::numbers(5) | in::map([](index_t v) { return v + 1000; });
  const numbers got = all(in::mixture(5, {300, 200}, in::numbers(600), b), 1);
  REQUIRE(got.size() == 1000);
  for (std::size_t round = 0; round < 2; ++round) {
    int of_b = 0;
    for (std::size_t k = 0; k < 500; ++k) of_b += got[500 * round + k] >= 1000;
    CHECK(of_b == 200);
  }
}

TEST_CASE("map: of records alone, and of records and keys that repeat") {
  CHECK(all(in::numbers(3) | in::map([](index_t v) { return v * v; })) == numbers{0, 1, 4});
  const auto noisy =
      in::numbers(50) | in::map(9, [](index_t, dimesh::random_key k) { return k.at(0).word[0]; });
  const auto got = all(noisy, 1);
  CHECK(got == all(noisy, 1));
  CHECK(got != all(noisy, 2));
  CHECK(std::set<std::uint32_t>(got.begin(), got.end()).size() == 50);
}

TEST_CASE("filter: what is kept, before a shuffle and after it; errors name the record") {
  const auto even = in::filter([](index_t v) { return v % 2 == 0; });
  CHECK(all(in::numbers(7) | even) == numbers{0, 2, 4, 6});
  const auto s = in::numbers(20) | in::shuffle(4);
  numbers want;
  for (const index_t v : all(s, 3))
    if (v % 2 == 0) want.push_back(v);
  CHECK(all(s | even, 3) == want);
  CHECK((in::numbers(7) | even).epoch(0).where(3) == "number 6");
  says(thrown([&] { (in::numbers(7) | even).epoch(0)(4); }), "filter has no record 4; it has 4");
  says(thrown([] {
         in::numbers(7) | in::filter([](index_t v) -> bool {
           if (v == 5) throw std::runtime_error("five");
           return true;
         });
       }),
       "input::filter: at number 5: five");
}

/// A source that says that its file has changed.
struct changed : in::numbers {
  using numbers::numbers;
  const changed& epoch(index_t) const { return *this; }
  void require_unchanged() const { throw std::runtime_error("changed"); }
};
TEST_CASE("every stage hears of a file that has changed") {
  const auto heard = [](const auto& stage) {
    const auto pass = stage.epoch(0);
    return thrown([&] { in::detail::require_unchanged(pass); }) == "changed";
  };
  const changed c(4);
  const auto same = [](index_t i) { return i; };
  const auto text = [](index_t) { return std::string(); };
  CHECK(heard(c));
  CHECK(heard(c | in::shuffle(1)));
  CHECK(heard(c | in::take(2)));
  CHECK(heard(c | in::skip(2)));
  CHECK(heard(c | in::sample(1, 2)));
  CHECK(heard(in::any_stage<index_t>(c)));
  CHECK(heard(c | in::repeat(2)));
  CHECK(heard(in::zip(in::numbers(4), c)));
  CHECK(heard(in::mixture(1, {1, 2}, in::numbers(4), c)));
  CHECK(heard(c | in::map(same)));
  CHECK(heard(c | in::map(1, [](index_t i, dimesh::random_key) { return i; })));
  CHECK(heard(c | in::map(text) | in::pad(1, 'x')));
  CHECK(thrown([&] { c | in::filter([](index_t) { return true; }); }) == "changed");
  CHECK(thrown([&] { c | in::map(text) | in::pack(1, 'x'); }) == "changed");
  CHECK(!heard(in::numbers(4) | in::shuffle(1)));
}

TEST_CASE("adaptors join") {
  const auto both = in::take(5) | in::map([](index_t v) { return -v; });
  CHECK(all(in::numbers(9) | both) == numbers{0, -1, -2, -3, -4});
}

using text = std::vector<std::string>;

TEST_CASE("pad: rows of one length and what is in them") {
  const auto p = (in::records<std::string>({"abc", "", "d"}) | in::pad(3, '.')).epoch(0);
  using row = std::tuple<std::vector<char>, std::vector<std::uint8_t>>;
  CHECK(p(0) == row({'a', 'b', 'c'}, {1, 1, 1}));
  CHECK(p(1) == row({'.', '.', '.'}, {0, 0, 0}));
  CHECK(p(2) == row({'d', '.', '.'}, {1, 0, 0}));
  const auto shorter = in::records<std::string>({"abc", "abcd"}) | in::pad(3, '.');
  says(thrown([&] { shorter.epoch(0)(1); }),
       "input::pad: at record 1: a sequence of 4 does not fit a row of 3; filter long ones");
  says(thrown([] { in::pad(0, '.'); }), "input::pad: rows of 0; give 1 or more");
}

TEST_CASE("pack: neighbours share rows, each sequence whole and once, segments and positions") {
  const text words{"ab", "c", "", "def", "gh", "ij", "klmn"};
  const auto p = (in::records<std::string>(words) | in::pack(4, '.')).epoch(0);
  REQUIRE(p.size() == 4);
  std::string rows;
  for (index_t i = 0; i < p.size(); ++i) {
    const auto [values, segment, position] = p(i);
    rows += std::string(values.begin(), values.end()) + " ";
    for (const auto s : segment) rows += std::to_string(s);
    for (const auto s : position) rows += std::to_string(s);
    rows += "|";
  }
  CHECK(rows == "abc. 11200100|def. 11100120|ghij 11220101|klmn 11110123|");
  CHECK(p.where(0) == "record 0 and 2 more");
  says(thrown([&] { p(4); }), "pack has no record 4; it has 4");
  says(thrown([&] { in::records<std::string>(words) | in::pack(3, '.'); }),
       "input::pack: at record 6: a sequence of 4 does not fit a row of 3");
  says(thrown([] { in::pack(0, '.'); }), "input::pack: rows of 0; give 1 or more");
  CHECK((in::records<std::string>({}) | in::pack(4, '.')).epoch(0).size() == 0);
  // after a shuffle: planned for each epoch
  const auto s = in::records<std::string>(words) | in::shuffle(2) | in::pack(4, '.');
  std::string letters;
  const auto pass = s.epoch(1);
  for (index_t i = 0; i < pass.size(); ++i) {
    const auto row = pass(i);
    for (const char c : std::get<0>(row))
      if (c != '.') letters += c;
  }
  std::sort(letters.begin(), letters.end());
  CHECK(letters == "abcdefghijklmn");
  // a source that grows longer between the plan and the record
  int calls = 0;
  const auto growing =
      in::numbers(1) |
      in::map([&calls](index_t) { return std::string(static_cast<std::size_t>(++calls), 'x'); }) |
      in::pack(1, '.');
  says(thrown([&] { growing.epoch(0)(0); }),
       "the sequence is longer than it was when rows were packed");
}

}  // namespace
