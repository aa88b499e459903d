// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dimesh/ledger/timeline.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>

namespace {

using dimesh::lane;
using dimesh::timeline;
using dimesh::trace_span;

/// A function of the kind that also runs on shapes.
constexpr int traced(int x) {
  const trace_span here("traced");
  return 2 * x;
}
static_assert(traced(4) == 8);

}  // namespace

TEST_CASE("timeline: nothing is recorded unless it is on") {
  timeline& t = timeline::instance();
  t.start();
  t.stop();
  CHECK(t.spans().empty());
  traced(1);
  CHECK(t.spans().empty());
}

TEST_CASE("timeline: spans in the order of their ends, inner ones inside outer ones") {
  timeline& t = timeline::instance();
  t.start();
  {
    const trace_span outer("outer");
    traced(1);
    { const trace_span inner("inner", lane::communication, 0b10, 4096); }
  }
  t.stop();
  const auto s = t.spans();
  REQUIRE(s.size() == 3);
  CHECK(std::string(s[0].name) == "traced");
  CHECK(std::string(s[1].name) == "inner");
  CHECK(std::string(s[2].name) == "outer");
  CHECK(s[1].where == lane::communication);
  CHECK(s[2].where == lane::compute);
  CHECK(s[1].axes == 0b10);
  CHECK(s[1].bytes == 4096);
  CHECK(s[2].begin <= s[0].begin);
  CHECK(s[0].begin <= s[0].end);
  CHECK(s[0].end <= s[1].begin);
  CHECK(s[1].end <= s[2].end);
}

TEST_CASE("trace_span: ends once, where it is told to or with its scope") {
  timeline& t = timeline::instance();
  t.start();
  {
    trace_span first("first");
    first.end();
    const trace_span second("second");
  }
  t.stop();
  const auto s = t.spans();
  REQUIRE(s.size() == 2);
  CHECK(std::string(s[0].name) == "first");
  CHECK(s[0].end <= s[1].begin);
}

TEST_CASE("timeline: what is not wholly between start and stop is left out") {
  timeline& t = timeline::instance();
  t.start();
  {
    const trace_span early("early");
    t.start();
  }
  {
    const trace_span late("late");
    t.stop();
  }
  {
    const trace_span after("after");
    t.start();
  }
  t.stop();
  CHECK(t.spans().empty());
}

TEST_CASE("timeline: threads record side by side") {
  timeline& t = timeline::instance();
  t.start();
  const auto work = [] {
    for (int i = 0; i < 1000; ++i) traced(i);
  };
  std::thread other(work);
  work();
  other.join();
  t.stop();
  CHECK(t.spans().size() == 2000);
}
