// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a training step of a two-layer network do, call by call? Under two layouts, the list is
// exactly this, and its sum the ledger.
#include "dimesh/grad/cost.hpp"

#include <doctest/doctest.h>

#include <array>
#include <sstream>
#include <string>
#include <tuple>

#include "dimesh/ledger/event_log.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/relayout.hpp"

namespace dm = dimesh;
namespace {

struct batch : dm::dim<8> {};
struct in : dm::dim<6> {};
struct hidden : dm::dim<4> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};

using data = dm::layout<pod, dm::split<batch, rows>>;
using hybrid = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, in, hidden>, first),
                           (dm::tensor<float, L, hidden>, second));
};
template <class L> using input = dm::tensor<float, L, batch, in>;

struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto h = dm::relu(dm::einsum<batch, hidden>(x, p.first));
    return dm::sum(dm::square(dm::complete(dm::einsum<batch>(h, p.second))));
  }
};
struct step {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(x));
  }
};

/// Operation, transposed or not, kind, axes, numbers.
template <class M> std::string text_of(const dm::event_log<M>& log) {
  std::ostringstream out;
  for (const dm::event& e : log.events) {
    if (e.kind != dm::event_kind::compute && !is_communication(e.kind)) continue;
    out << e.what << (e.backward() ? " <- " : "") << e.transpose_of << ": " << name_of(e.kind);
    if (e.axes != 0) out << " over " << e.axes << " of " << log.ranks(e) << ", " << e.bytes;
    if (e.kind == dm::event_kind::compute) out << " " << e.flops;
    out << "; ";
  }
  return out.str();
}
template <class L> auto step_events() {
  return dm::events_of(step{}, network<dm::shaped<L>>{}, input<dm::shaped<L>>{});
}
template <class L> void check_sum() {
  const auto log = step_events<L>();
  const auto sum = log.total();
  const auto direct = dm::count(step{}, network<dm::shaped<L>>{}, input<dm::shaped<L>>{});
  CHECK(sum.flops() == direct.flops());
  CHECK(sum.moved() == direct.moved());
  CHECK(sum.peak() == direct.peak());
  CHECK(sum.counts.live == direct.counts.live);
  CHECK(sum.counts.over == direct.counts.over);
  CHECK(direct.counts.sink == nullptr);
  CHECK(log.sizes.size == std::array<dm::index_t, 2>{2, 2});
}

TEST_CASE("events_of: data parallel") {
  CHECK(text_of(step_events<data>()) ==
        "einsum: compute 192; relu: compute 16; einsum: compute 32; square: compute 4; "
        "sum: compute 4; "
        "expand <- sum: compute 0; map_transpose <- square: compute 16; "
        "einsum <- einsum: compute 16; einsum <- einsum: compute 32; "
        "map_transpose <- relu: compute 64; einsum <- einsum: compute 192; "
        "complete: all_reduce over 1 of 2, 196; ");
  check_sum<data>();
}
TEST_CASE("events_of: batch and hidden split") {
  CHECK(text_of(step_events<hybrid>()) ==
        "einsum: compute 96; relu: compute 8; einsum: compute 16; "
        "all_reduce: all_reduce over 2 of 2, 16; square: compute 4; sum: compute 4; "
        "expand <- sum: compute 0; map_transpose <- square: compute 16; "
        "einsum <- einsum: compute 8; einsum <- einsum: compute 16; "
        "map_transpose <- relu: compute 32; einsum <- einsum: compute 96; "
        "complete: all_reduce over 1 of 2, 132; ");
  check_sum<hybrid>();
}

TEST_CASE("events_of: of copies whose cotangent counts once, ranks get back what they lack") {
  using cut = dm::layout<pod, dm::split<batch, cols>, dm::split<in, rows>>;
  constexpr auto f = [](const auto& x) { return dm::sum(dm::square(dm::relayout<data>(x))); };
  constexpr auto gradient = [f](const auto& x) { return dm::value_and_grad(f, x)(); };
  CHECK(text_of(dm::events_of(gradient, input<dm::shaped<cut>>{})) ==
        "exchange: all_to_all over 3 of 4, 48; square: compute 24; sum: compute 24; "
        "expand <- sum: compute 0; map_transpose <- square: compute 96; "
        "exchange <- exchange: all_to_all over 1 of 2, 48; ");
}
TEST_CASE("events_of: a member that was not made says nothing of the mesh") {
  constexpr auto total = [](const auto& x, const auto&) { return dm::complete(dm::sum(x)); };
  const std::tuple<dm::tensor<float, data, batch>> not_made;
  const auto log = dm::events_of(total, input<dm::shaped<data>>{}, not_made);
  CHECK(log.sizes.size == std::array<dm::index_t, 2>{2, 2});
}

TEST_CASE("events_of: memory comes and goes, and phases have names") {
  const auto log = step_events<hybrid>();
  dm::index_t live = 0, most = 0;
  int backward = 0;
  for (const dm::event& e : log.events) {
    if (e.kind == dm::event_kind::compute || is_communication(e.kind)) {
      CHECK(e.memory == 0);
      if (e.what != "complete") CHECK(e.phase == (e.backward() ? "backward" : "forward"));
      backward += e.backward();
      continue;
    }
    CHECK((e.kind == dm::event_kind::acquire) == (e.memory > 0));
    live += e.memory;
    CHECK(e.live == live);
    most = std::max(most, live);
  }
  CHECK(most == log.total().peak());
  CHECK(backward > 0);
}

TEST_CASE("count: a function that gives nothing") {
  const network<dm::shaped<hybrid>> p{};
  const input<dm::shaped<hybrid>> x{};
  const auto nothing = [](const auto& q, const auto& y) { (void)step{}(q, y); };
  const auto some = dm::count(step{}, p, x), none = dm::count(nothing, p, x);
  CHECK(none.flops() == some.flops());
  CHECK(none.counts.over == some.counts.over);
  CHECK(none.flops() > 0);
}

}  // namespace
