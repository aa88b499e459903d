// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/ledger/ledger.hpp"

#include <doctest/doctest.h>

using namespace dimesh;
namespace {

struct rows : axis<2> {};
struct cols : axis<3> {};
struct deep : axis<> {};
struct cube : mesh<rows, cols, deep> {};

constexpr ledger<cube> filled() {
  ledger<cube> l;
  l.counts.compute(100, 40);
  l.counts.compute(11, 2);
  l.counts.collective(0b001, 8, 4);    // rows
  l.counts.collective(0b011, 80, 40);  // rows and cols
  l.counts.collective(0b011, 20, 10);
  l.counts.collective(0b100, 500, 0);  // deep
  l.counts.hold(64);
  l.counts.hold(32);
  l.counts.hold(-64);
  l.counts.hold(16);
  return l;
}
constexpr ledger<cube> l = filled();

static_assert(l.flops() == 111 && l.moved() == 42);
static_assert(l.peak() == 96 && l.counts.live == 48);
static_assert(l.bytes<>() == 608 && l.calls<>() == 4 && l.ring_bytes<>() == 54);
static_assert(l.bytes<rows>() == 108 && l.calls<rows>() == 3);  // every group that includes rows
static_assert(l.bytes<cols>() == 100 && l.bytes<deep>() == 500);
static_assert(l.bytes<cols, rows>() == 100 && l.bytes<rows, deep>() == 0);
static_assert(l.exactly<rows>() == traffic{8, 4, 1});  // the group of rows alone
static_assert(l.exactly<cols>() == traffic{});
static_assert(l.exactly<cols, rows>() == traffic{100, 50, 2});
static_assert(ledger<cube>{}.bytes<>() == 0 && ledger<cube>{}.peak() == 0);

TEST_CASE("a ledger is filled at run time, too") {
  const ledger<cube> now = filled();
  CHECK(now.bytes<rows>() == 108);
  CHECK(now.exactly<deep>().bytes == 500);
}

}  // namespace
