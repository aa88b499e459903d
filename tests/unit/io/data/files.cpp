// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many files: opened by several threads, in an order of blocks that a plain loop gives, too.
#include <dimesh/io/data/files.hpp>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/text.hpp>

#include <doctest/doctest.h>

#include <deque>

#include "support/gzip.hpp"
#include "support/scratch.hpp"

namespace {
namespace in = dimesh::input;
using dimesh::index_t;
using test_support::gzip;
using test_support::scratch_file;
using test_support::thrown;

void says(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}
using numbers = std::vector<index_t>;
/// Record r of sequence s is 1000 s + r.
struct sequence : in::detail::source<sequence> {
  index_t s, n;
  sequence(index_t number, index_t count) : s(number), n(count) {}
  index_t size() const { return n; }
  index_t operator()(index_t r) const {
    if (r < 0 || r >= n) in::detail::refuse_place("sequence", r, n);
    return 1000 * s + r;
  }
  std::string where(index_t r) const {
    return "record " + std::to_string(r) + " of " + std::to_string(s);
  }
};
std::vector<sequence> sequences(const numbers& sizes) {
  std::vector<sequence> all;
  for (const index_t n : sizes) all.emplace_back(static_cast<index_t>(all.size()), n);
  return all;
}
/// The order by a loop over queues.
numbers expected(const numbers& sizes, std::size_t at_once, index_t block) {
  numbers order;
  for (std::size_t begin = 0; begin < sizes.size(); begin += at_once) {
    const std::size_t end = std::min(sizes.size(), begin + at_once);
    std::vector<std::deque<index_t>> left(sizes.size());
    for (std::size_t s = begin; s < end; ++s)
      for (index_t r = 0; r < sizes[s]; ++r) left[s].push_back(1000 * static_cast<index_t>(s) + r);
    for (bool any = true; any;) {
      any = false;
      for (std::size_t s = begin; s < end; ++s)
        for (index_t k = 0; k < block && !left[s].empty(); ++k) {
          order.push_back(left[s].front());
          left[s].pop_front();
          any = true;
        }
    }
  }
  return order;
}

TEST_CASE("interleave: the order of a loop, for many sizes, at every place") {
  const std::vector<numbers> all{{},
                                 {0},
                                 {3},
                                 {0, 0, 0},
                                 {5, 5, 5, 5},
                                 {1, 2, 3},
                                 {3, 2, 1},
                                 {0, 7, 0, 1},
                                 {9, 0, 4, 4, 1, 12, 3},
                                 {6, 6, 2},
                                 {8, 16, 4, 4, 4}};
  std::size_t places = 0;
  for (const numbers& sizes : all)
    for (const std::size_t at_once : {1u, 2u, 3u, 4u, 100u})
      for (const index_t block : {1, 2, 3, 4, 100}) {
        const auto s =
            in::interleave(sequences(sizes), static_cast<index_t>(at_once), block).epoch(1);
        const numbers want = expected(sizes, at_once, block);
        REQUIRE(s.size() == static_cast<index_t>(want.size()));
        // From the end: no place needs those before it.
        bool right = true;
        for (std::size_t i = want.size(); i-- > 0; ++places)
          right = right && s(static_cast<index_t>(i)) == want[i];
        CHECK(right);
      }
  CHECK(places > 1000);
  const auto s = in::interleave(sequences({3, 2}), 2, 2).epoch(0);
  CHECK(s.where(2) == "record 0 of 1");
  says(thrown([&] { s(5); }), "interleave has no record 5; it has 5");
  says(thrown([&] { s(-1); }), "interleave has no record -1; it has 5");
  says(thrown([] { in::interleave(sequences({1}), 0); }),
       "input::interleave: 1 records of each of 0 stages; give 1 or more of both");
  says(thrown([] { in::interleave(sequences({1}), 1, 0); }),
       "input::interleave: 0 records of each of 1 stages; give 1 or more of both");
}

TEST_CASE("interleave of stages that differ from epoch to epoch, in a pipeline") {
  std::vector<decltype(in::numbers(1) | in::shuffle(1))> shuffled;
  for (const index_t n : {4, 6}) shuffled.push_back(in::numbers(n) | in::shuffle(7));
  const auto s = in::interleave(shuffled, 2, 2);
  CHECK(!s.fixed);
  const auto a = shuffled[0].epoch(3), b = shuffled[1].epoch(3);
  const auto pass = s.epoch(3);
  const numbers want{a(0), a(1), b(0), b(1), a(2), a(3), b(2), b(3), b(4), b(5)};
  for (index_t i = 0; i < 10; ++i) CHECK(pass(i) == want[static_cast<std::size_t>(i)]);
  const auto after = (in::interleave(sequences({3, 3}), 2) | in::skip(2) | in::take(3)).epoch(0);
  CHECK(after(0) == 1);
  CHECK(after(2) == 2);
}

TEST_CASE("files: opened by any number of threads alike; the first that cannot be is the error") {
  std::vector<std::unique_ptr<scratch_file>> files;
  std::vector<std::string> paths;
  for (int f = 0; f < 7; ++f) {
    std::string text;
    for (int i = 0; i < 100 * f; ++i) text += std::to_string(f) + " " + std::to_string(i) + "\n";
    files.push_back(std::make_unique<scratch_file>(f % 2 == 0 ? text : gzip(text)));
    paths.push_back(files.back()->path);
  }
  const in::lines one(paths, 1);
  CHECK(one.size() == 2100);
  for (const int threads : {0, 2, 3, 16}) {
    const in::lines several(paths, threads);
    REQUIRE(several.size() == one.size());
    bool same = true;
    for (index_t i = 0; i < one.size(); ++i)
      same = same && several(i) == one(i) && several.where(i) == one.where(i);
    CHECK(same);
    const auto parts = in::open_all<in::lines>(paths, threads);
    REQUIRE(parts.size() == 7);
    const auto in_turn = in::interleave(parts, 3, 50).epoch(0);
    CHECK(in_turn.size() == one.size());
    CHECK(in_turn(0) == "1 0");
    CHECK(in_turn(50) == "2 0");
    CHECK(in_turn.where(50) == "line 1 of '" + paths[2] + "'");
    const auto w = in::open_all(
        std::vector<std::string>(paths.begin() + 1, paths.end()),
        [](const std::string& p) { return in::windows(p, 4, 4); }, threads);
    CHECK(w.size() == 6);
    // Two of them cannot be read.
    std::vector<std::string> bad = paths;
    bad[3] = "/nowhere/3", bad[5] = "/nowhere/5";
    says(thrown([&] { in::lines(bad, threads); }), "input: '/nowhere/3': cannot be opened");
  }
  files[4]->write("less");
  says(thrown([&] { in::interleave(in::open_all<in::lines>({paths[4]})).epoch(0)(1); }),
       "interleave has no record 1");
  const auto parts = in::open_all<in::lines>(paths);
  files[2]->write("less");
  says(thrown([&] { in::interleave(parts).epoch(0).require_unchanged(); }), "changed while it was");
  says(thrown([&] { in::lines(paths, -1); }),
       "input::open_all: -1 threads; give 1 or more, or 0 for one on each processor");
}

TEST_CASE("work for several threads: each number once, what is thrown first in order") {
  for (const int threads : {1, 2, 5})
    for (const std::size_t n : {0u, 1u, 4u, 100u}) {
      std::vector<std::atomic<int>> done(n);
      in::detail::for_each_by(threads, n, [&](std::size_t i) { ++done[i]; });
      CHECK(std::all_of(done.begin(), done.end(), [](const auto& d) { return d == 1; }));
    }
  says(thrown([] {
         in::detail::for_each_by(3, 50, [](std::size_t i) {
           if (i % 7 == 6) throw std::runtime_error(std::to_string(i));
         });
       }),
       "6");
  CHECK(in::detail::processors() >= 1);
}

}  // namespace
