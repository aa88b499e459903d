// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/ledger/time_estimate.hpp"

#include <doctest/doctest.h>

#include "dimesh/ledger/event_log.hpp"

using namespace dimesh;
namespace {

struct rows : axis<2> {};
struct cols : axis<4> {};
struct pod : mesh<rows, cols> {};
struct deep : axis<8> {};
struct pile : mesh<rows, cols, deep> {};

constexpr machine unit{.latency = 1000, .bandwidth = 1, .flops = 2, .memory_bandwidth = 4};

constexpr event sent(event_kind k, unsigned axes, index_t ring_bytes) {
  event e;
  e.kind = k;
  e.axes = axes;
  e.bytes = 77;
  e.ring_bytes = ring_bytes;
  return e;
}
constexpr event computed(index_t flops, index_t moved) {
  event e;
  e.flops = flops;
  e.moved = moved;
  return e;
}

constexpr time_estimate filled() {
  time_estimate t(unit, mesh_sizes<pod>{});
  t.take(computed(20, 4));  // 10 s of arithmetic, 1 s of memory
  t.take(computed(2, 400));
  t.take(sent(event_kind::all_reduce, 0b10, 6));  // 6 hops among four ranks
  t.take(sent(event_kind::all_reduce, 0b11, 8));  // 14 among eight
  t.take(sent(event_kind::all_gather, 0b01, 5));
  t.take(sent(event_kind::message, 0b10, 3));
  event memory;
  memory.kind = event_kind::acquire;
  memory.memory = 1 << 20;
  t.take(memory);
  return t;
}
constexpr time_estimate t = filled();
static_assert(t.of(event_kind::compute).events == 2 && t.of(event_kind::compute).seconds == 110);
static_assert(t.of(event_kind::compute).bytes == 404);
static_assert(t.of(event_kind::all_reduce).events == 2 && t.of(event_kind::all_reduce).bytes == 14);
static_assert(t.of(event_kind::all_reduce).latencies == 6 + 14);
static_assert(t.of(event_kind::all_reduce).seconds == 20014);
static_assert(t.of(event_kind::all_gather).latencies == 1);
static_assert(t.of(event_kind::message).latencies == 1 && t.of(event_kind::message).bytes == 3);
static_assert(t.of(event_kind::acquire).events == 1 && t.of(event_kind::acquire).seconds == 0);
static_assert(t.seconds() == 110 + 20014 + 1005 + 1003);

TEST_CASE("time_estimate: a log tells it what it told the ledger") {
  event_log<pod> log;
  log.events = {computed(20, 4), sent(event_kind::all_reduce, 0b11, 8)};
  CHECK(log.ranks(log.events[1]) == 8);
  CHECK(log.total().flops() == 20);
  CHECK(log.total().exactly<rows, cols>() == traffic{77, 8, 1});
  time_estimate u(unit, log.sizes);
  log.replay(u);
  CHECK(u.seconds() == 10 + 14008);
}

TEST_CASE("time_estimate: of a mesh that it was not told of it knows the bytes alone") {
  event elsewhere = sent(event_kind::all_reduce, 0b101, 8);
  elsewhere.mesh = mesh_number<pile>;
  event within = sent(event_kind::all_gather, 0b010, 8);
  within.mesh = mesh_number<pile>;
  time_estimate u(unit, mesh_sizes<pod>{});
  u.take(elsewhere);
  u.take(within);
  CHECK(u.seconds() == 8 + 8);
  time_estimate v(unit, mesh_sizes<pod>{});
  v.also(mesh_sizes<pile>{});
  v.take(elsewhere);
  v.take(within);
  CHECK(v.seconds() == 2 * 15 * 1000 + 8 + 3 * 1000 + 8);
}

TEST_CASE("time_estimate, tally: more meshes than there is room for") {
  time_estimate u(unit, dimesh::mesh_sizes<pod>{});
  for (int k = 0; k < 7; ++k) u.also(dimesh::mesh_sizes<pod>{});
  CHECK_THROWS_WITH_AS(u.also(dimesh::mesh_sizes<pod>{}),
                       "time_estimate: too many meshes; 8 are supported", dimesh::error);
  dimesh::detail::tally t;
  t.home = 1;
  for (unsigned k = 0; k < t.most_elsewhere; ++k) {
    t.mesh = 2 + k;
    t.collective(1, 8, 8);
  }
  t.mesh = 1000;
  CHECK_THROWS_WITH_AS(
      t.collective(1, 8, 8),
      "ledger: collectives over more than 32 sets of axes of other meshes; count parts",
      dimesh::error);
}

}  // namespace
