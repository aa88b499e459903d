// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alone: its kernels are cut into pieces
// ranks: 1
// library: headers
// An optimizer's step whose loops are cut into pieces, as threads of a host take them: every
// element is stepped once, with its own gradient and state.
#define DIMESH_TEST_REVERSED
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/optim/step.hpp"

namespace {
namespace dm = dimesh;
using dm::index_t;

struct one : dm::axis<1> {};
struct alone : dm::mesh<one> {};
struct place : dm::dim<> {};
using numbers = dm::tensor<float, dm::layout<alone>, place>;

numbers counted(const dm::grid<alone>& g, index_t n, index_t from) {
  return dm::generate<numbers>(
      g, [from](index_t i) { return static_cast<float>(i + from); }, place{n});
}
/// Is element i of x by(i)?
template <class F> bool holds(const numbers& x, const F& by) {
  bool all = true;
  for (index_t i = 0; i < x.local_size(); ++i)
    all = all && x.at(place{i}) == by(static_cast<float>(i));
  return all;
}

TEST_CASE("update_each in pieces: no state, one, two and three") {
  const dm::grid<alone> g;
  for (const index_t n : {0, 1, 2, 7, 1000}) {
    CAPTURE(n);
    auto p = counted(g, n, 1), s = counted(g, n, 2), t = counted(g, n, 3), u = counted(g, n, 4);
    const auto d = counted(g, n, 5);
    dm::update_each([](float& x, const float& y) { x += 2 * y; }, p, d);
    CHECK(holds(p, [](float i) { return i + 1 + 2 * (i + 5); }));
    dm::update_each([](float& x, const float& y, float& a) { a += y, x = a; }, p, d, s);
    CHECK(holds(s, [](float i) { return i + 2 + i + 5; }));
    CHECK(holds(p, [](float i) { return i + 2 + i + 5; }));
    dm::update_each([](float& x, const float& y, float& a, float& b) { a = y, b += x, x = 0; }, p,
                    d, s, t);
    CHECK(holds(s, [](float i) { return i + 5; }));
    CHECK(holds(t, [](float i) { return i + 3 + i + 2 + i + 5; }));
    CHECK(holds(p, [](float) { return 0.0f; }));
    dm::update_each(
        [](float& x, const float& y, float& a, float& b, float& c) { x = y + a, b = 1, c += 1; }, p,
        d, s, t, u);
    CHECK(holds(p, [](float i) { return 2 * (i + 5); }));
    CHECK(holds(t, [](float) { return 1.0f; }));
    CHECK(holds(u, [](float i) { return i + 5; }));
  }
}

}  // namespace
