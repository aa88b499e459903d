// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/core/tape.hpp"

#include "dimesh/core/addends.hpp"
#include "dimesh/core/cell.hpp"

using namespace dimesh;
namespace {

struct width : dim<6> {};
struct rows : axis<2> {};
struct line : mesh<rows> {};
using row = detail::make_spec<float, layout<line>, width>;
using detail::cell;
using detail::spec_facts;
using detail::tally;
using detail::tape;
using detail::tensor_core;

// ---- nodes run from the last to the first, each once, and are dropped ---------------------------
struct log {
  int ran[8]{}, runs = 0, dropped = 0;
};
struct numbered final : detail::node_base {
  log* to;
  int number;
  constexpr numbered(log& l, int n) : to(&l), number(n) {}
  constexpr ~numbered() {}
  constexpr void backward() override { to->ran[to->runs++] = number; }
  constexpr void drop() override {
    ++to->dropped;
    detail::drop_node(this);
  }
};
constexpr bool backwards() {
  log l;
  {
    tape t;
    t.add<numbered>(l, 0);
    const detail::node_base* const until = t.last();
    for (int n = 1; n < 4; ++n) t.add<numbered>(l, n);
    t.backward(until);
    if (l.runs != 3 || l.ran[0] != 3 || l.ran[1] != 2 || l.ran[2] != 1) return false;
    if (l.dropped != 3 || t.last() != until) return false;
    t.add<numbered>(l, 4);
  }
  return l.runs == 3 && l.dropped == 5;  // what has not run is dropped with the tape
}
static_assert(backwards());

struct counter final : detail::backward_listener {
  int calls = 0;
  constexpr void after_node() override { ++calls; }
};
constexpr int listened() {
  log l;
  counter c;
  tape t;
  t.listener = &c;
  for (int n = 0; n < 3; ++n) t.add<numbered>(l, n);
  t.backward(nullptr);
  return c.calls;
}
static_assert(listened() == 3);

// ---- a cell takes the first contribution as it is, and adds the others --------------------------
constexpr tensor_core shape(tally* t) {
  const index_t sizes[] = {2}, extents[] = {6};
  tensor_core x(spec_facts<row>.dual);
  x.make_shape(sizes, extents, t);
  return x;
}
constexpr bool adds() {
  tally t;
  bool fine = true;
  {
    cell c;
    c.add(shape(&t));
    fine = c.filled && t.flops == 0 && t.live == 24;
    c.add(shape(&t));
    fine = fine && t.flops == 6 && t.moved == 3 * 24 && t.live == 24 && t.peak == 48;
    c.bar = tensor_core{};
  }
  return fine && t.live == 0;
}
static_assert(adds());

// A value held whole and addends are addends.
constexpr bool settles() {
  tensor_core whole = shape(nullptr), part = shape(nullptr);
  whole.once = 1;
  cell c;
  c.add(tensor_core(whole));
  c.add(tensor_core(whole));
  if (c.bar.once != 1) return false;
  c.add(tensor_core(part));
  detail::settle(whole, 1);
  return c.bar.once == 0 && whole.once == 0;
}
static_assert(settles());

// ---- places for cores ---------------------------------------------------------------------------
constexpr bool holds() {
  tape t;
  detail::held* const a = t.hold();
  a->next = t.hold();
  a->core = shape(nullptr);
  t.release(a);
  detail::held* const again = t.hold();
  const bool fresh = again->core.facts == nullptr && again->next == nullptr;
  t.release(again);
  return fresh;
}
static_assert(holds());

}  // namespace
