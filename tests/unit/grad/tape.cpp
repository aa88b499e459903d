// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/grad/tape.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/arena.hpp"
#include "dimesh/grad/cell.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/einsum.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using by_batch = dm::layout<pod, dm::split<batch, rows>>;
template <class L> struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (dm::tensor<float, L, batch, hidden>, w),
                           (dm::tensor<float, L, hidden>, b));
};

// The types of recorded values, gradients and completed gradients follow from the parameters'.
using tracked_w = decltype(model<dm::tracked<by_batch>>::w);
static_assert(
    std::is_same_v<tracked_w, dm::tracked_tensor<dm::tensor<float, by_batch, batch, hidden>>>);
using gradient_b = decltype(model<dm::gradient<by_batch>>::b);
static_assert(std::is_same_v<
              gradient_b,
              dm::tensor<float, dm::layout<pod, dm::partial<rows>, dm::partial<cols>>, hidden>>);
static_assert(
    std::is_same_v<typename dm::detail::completed_type<model<dm::gradient<by_batch>>>::type,
                   model<by_batch>>);
static_assert(
    std::is_same_v<typename dm::detail::cell<dm::tensor<float, by_batch, hidden>>::bar_type,
                   gradient_b>);

struct loss {
  template <class P> constexpr auto operator()(const P& p) const {
    auto y = p.w * p.b;
    return dm::einsum<>(y, p.w);
  }
};
struct step {
  template <class P> constexpr auto operator()(const P& p) const {
    return dm::complete(dm::value_and_grad(loss{}, p)());
  }
};

// The whole step runs while compiling; b's gradient and the loss are summed over rows in one
// message, w's needs no sum, and along cols all is computed by every rank alike.
constexpr auto cost = dm::cost_of<step, model<dm::shaped<by_batch>>>;
static_assert(cost.bytes<rows> == 64 + 4, "6 floats, filled up to a cache line, and the loss");
static_assert(cost.calls<rows> == 1);
static_assert(cost.bytes<cols> == 0);
static_assert(cost.flops > 0);
static_assert(cost.value.counts.live == 0, "all that was held has been given back");

}  // namespace

TEST_CASE("arena: what is given back is used again") {
  auto& a = dm::detail::arena::here();
  const auto mark = a.mark();
  void* first = a.take(100);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  void* second = a.take(1 << 20);
  CHECK(second != first);
  a.back_to(mark);
  CHECK(a.take(100) == first);
  a.back_to(mark);
}

TEST_CASE("cost: the same at run time as while compiling") {
  const auto counted = dm::count(step{}, model<dm::shaped<by_batch>>{});
  CHECK(counted.flops() == cost.flops);
  CHECK(counted.moved() == cost.moved);
  CHECK(counted.peak() == cost.peak);
  CHECK(counted.bytes<rows>() == cost.bytes<rows>);
}
