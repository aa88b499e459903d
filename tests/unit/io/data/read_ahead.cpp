// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that work ahead: what comes out has the order of the places, whoever was first.
#include <dimesh/io/data/read_ahead.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "support/scratch.hpp"

namespace {
using dimesh::index_t;
using reader = dimesh::input::detail::read_ahead<index_t, index_t>;
using test_support::thrown;

/// So that threads overtake one another.
void dawdle(index_t place) {
  if (place % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
}
index_t next(const index_t& place) { return place + 2; }
index_t square(const index_t& place) {
  dawdle(place);
  return place * place;
}

TEST_CASE("the order is that of the places, with any number of threads") {
  for (const int threads : {0, 1, 2, 3, 4})
    for (const index_t ahead : {1, 2, 7}) {
      reader r(threads, ahead, next, square);
      r.begin(1);
      for (index_t i = 0; i < 50; ++i) CHECK(r.get() == (1 + 2 * i) * (1 + 2 * i));
      r.begin(4);  // while threads are at work
      CHECK(r.get() == 16);
      CHECK(r.get() == 36);
    }
}

TEST_CASE("never more than so many ahead") {
  for (const int threads : {1, 4}) {
    std::atomic<index_t> made{0}, fetched{0}, most{0};
    reader r(threads, 3, next, [&](const index_t& place) {
      const index_t ahead = ++made - fetched;
      for (index_t m = most; ahead > m && !most.compare_exchange_weak(m, ahead);) continue;
      return square(place);
    });
    r.begin(0);
    for (int i = 0; i < 40; ++i) {
      r.get();
      ++fetched;
    }
    CHECK(most >= 1);
    CHECK(most <= 4);  // 3, and one between its fetching and its being counted
  }
}

TEST_CASE("what is made already, in groups, as far as it is good") {
  const auto any = [](index_t) { return true; };
  reader none(0, 3, next, square);
  none.begin(0);
  CHECK(none.ready(1, any) == 0);
  reader r(2, 7, next, square);
  r.begin(0);
  while (r.ready(1, any) < 7) std::this_thread::yield();
  CHECK(r.ready(1, any) == 7);
  CHECK(r.ready(2, any) == 3);
  CHECK(r.ready(8, any) == 0);
  CHECK(r.ready(1, [](index_t v) { return v != 36; }) == 3);
  CHECK(r.ready(2, [](index_t v) { return v != 36; }) == 1);  // the last of the second group
  CHECK(r.ready(2, [](index_t v) { return v != 16; }) == 3);
  CHECK(r.get() == 0);
  CHECK(r.ready(1, any) >= 6);
  // What throws is not ready, nor is what is behind it.
  reader bad(1, 4, next, [](const index_t& place) {
    if (place == 4) throw std::runtime_error("four");
    return square(place);
  });
  bad.begin(0);
  while (bad.ready(1, any) < 2) std::this_thread::yield();
  CHECK(bad.ready(1, any) == 2);
}

TEST_CASE("what is thrown comes in its turn, stays, and ends with begin") {
  for (const int threads : {0, 1, 2, 3, 4}) {
    reader r(threads, 4, next, [](const index_t& place) {
      if (place == 6) throw std::runtime_error("six");
      return square(place);
    });
    r.begin(0);
    CHECK(r.get() == 0);
    CHECK(r.get() == 4);
    CHECK(r.get() == 16);
    CHECK(thrown([&] { r.get(); }) == "six");
    CHECK(thrown([&] { r.get(); }) == "six");
    r.begin(8);
    CHECK(r.get() == 64);
    reader ends(
        threads, 4,
        [](const index_t& place) {
          if (place == 2) throw std::runtime_error("no more");
          return place + 1;
        },
        square);
    ends.begin(1);
    CHECK(ends.get() == 1);
    CHECK(thrown([&] { ends.get(); }) == "no more");
  }
}

TEST_CASE("it ends while threads are at work, and before they had any") {
  for (const int threads : {0, 1, 4}) {
    {
      reader r(threads, 2, next, square);
    }
    reader r(threads, 2, next, square);
    r.begin(0);
    CHECK(r.get() == 0);
  }
}

}  // namespace
