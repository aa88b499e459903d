// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/ledger/event.hpp"

#include <doctest/doctest.h>

#include "dimesh/ledger/ledger.hpp"

using namespace dimesh;
namespace {

// ---- a sink in a constant expression ------------------------------------------------------------
struct found {
  int count = 0, backward = 0;
  index_t bytes = 0;
};
struct sums_of_einsum final : event_sink {
  found f;
  constexpr void take(const event& e) override {
    if (e.what != "einsum") return;
    ++f.count;
    f.backward += e.backward();
    f.bytes += e.bytes;
  }
};
constexpr detail::tally fill(sums_of_einsum& s) {
  detail::tally t;
  t.sink = &s;
  t.compute(1, 2);  // between operations
  {
    const running here(&s, "einsum");
    t.compute(3, 4);
    {
      const running inner(&s, "all_reduce");
      t.collective(event_kind::all_reduce, 1, 100, 100);
    }
    t.collective(event_kind::all_gather, 1, 10, 10);
  }
  const auto back = running::transpose(&s, "map");
  t.collective(1, 1000, 1000);
  {
    const running here(&s, "einsum");
    t.collective(event_kind::broadcast, 1, 1, 1);
  }
  t.hold(5);
  t.hold(-5);
  t.sink = nullptr;
  return t;
}
constexpr found in_a_constant() {
  sums_of_einsum s;
  (void)fill(s);
  return s.f;
}
static_assert(in_a_constant().count == 3 && in_a_constant().backward == 1);
static_assert(in_a_constant().bytes == 11);

static_assert(name_of(event_kind::compute) == "compute" &&
              name_of(event_kind::release) == "release");
static_assert(name_of(event_kind::message) == "message");
static_assert(!is_communication(event_kind::compute) && is_communication(event_kind::all_reduce));
static_assert(is_communication(event_kind::collective) && !is_communication(event_kind::acquire));
static_assert(ring_bytes(event_kind::all_reduce, 90, 3) == 120);
static_assert(ring_bytes(event_kind::all_gather, 90, 3) == 60);
static_assert(ring_bytes(event_kind::reduce_scatter, 91, 3) == 61);
static_assert(ring_bytes(event_kind::message, 90, 3) == 90);

bool same(const detail::tally& a, const detail::tally& b) {
  return a.flops == b.flops && a.moved == b.moved && a.live == b.live && a.peak == b.peak &&
         a.over == b.over;
}

TEST_CASE("event: a list keeps what a tally sums, with the names of what ran") {
  event_list list;
  detail::tally t;
  t.sink = &list;
  const trace_span step("step");
  t.hold(64);
  {
    const running here(&list, "einsum");
    const trace_span inner("product");
    t.compute(100, 40);
    t.collective(event_kind::all_reduce, 0b10, 8, 6);
  }
  t.hold(32);
  t.hold(-64);
  REQUIRE(list.events.size() == 5);
  const event& e = list.events[1];
  CHECK((e.kind == event_kind::compute && e.flops == 100 && e.moved == 40 && e.bytes == 0));
  CHECK((e.what == "einsum" && e.phase == "product" && !e.backward()));
  CHECK(list.events[2].kind == event_kind::all_reduce);
  CHECK(
      (list.events[2].axes == 0b10 && list.events[2].bytes == 8 && list.events[2].ring_bytes == 6));
  CHECK(list.events[3].kind == event_kind::acquire);
  CHECK((list.events[3].memory == 32 && list.events[3].live == 96));
  CHECK((list.events[3].what.empty() && list.events[3].phase == "step"));
  CHECK(list.events[4].kind == event_kind::release);
  CHECK((list.events[4].memory == -64 && list.events[4].live == 32));

  detail::tally again;
  for (const event& one : list.events) again.enter(one);
  CHECK(same(again, t));
  CHECK(again.peak == 96);
}

TEST_CASE("event: phases end where their spans do, also by hand, and calls are no phases") {
  event_list list;
  detail::tally t;
  t.sink = &list;
  {
    trace_span first("first");
    first.end();
    t.compute(1, 1);
    const trace_span second("second");
    const trace_span call("all_reduce", lane::communication);
    t.compute(1, 1);
  }
  t.compute(1, 1);
  CHECK((list.events[0].phase.empty() && list.events[1].phase == "second"));
  CHECK(list.events[2].phase.empty());
}

TEST_CASE("event: the innermost watcher is told, with a time, and nobody once it is gone") {
  event_list outer, inner;
  {
    const watch all(outer);
    { const detail::watched one(3, 4); }
    {
      const watch more(inner);
      const running here(detail::watcher, "einsum");
      const detail::watched two(event_kind::all_gather, 1u, 7, 5);
    }
    { const detail::watched three(5, 6); }
  }
  { const detail::watched unseen(7, 8); }
  CHECK(detail::watcher == nullptr);
  REQUIRE(outer.events.size() == 2);
  REQUIRE(inner.events.size() == 1);
  CHECK((outer.events[0].flops == 3 && outer.events[0].moved == 4 && outer.events[1].flops == 5));
  CHECK(outer.events[0].bytes == 0);
  const event& e = inner.events[0];
  CHECK((e.kind == event_kind::all_gather && e.axes == 1 && e.bytes == 7 && e.ring_bytes == 5));
  CHECK((e.what == "einsum" && e.flops == 0 && e.begin > 0 && e.end >= e.begin));
}

}  // namespace
