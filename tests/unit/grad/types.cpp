// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/grad/cost.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/arena.hpp"
#include "dimesh/grad/complete.hpp"
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
static_assert(dm::TensorOf<tracked_w, float, batch, hidden>);
using gradient_b = decltype(model<dm::gradient<by_batch>>::b);
static_assert(std::is_same_v<
              gradient_b,
              dm::tensor<float, dm::layout<pod, dm::partial<rows>, dm::partial<cols>>, hidden>>);
static_assert(
    std::is_same_v<typename dm::detail::completed_type<model<dm::gradient<by_batch>>>::type,
                   model<by_batch>>);
static_assert(
    std::is_same_v<dm::detail::bar_of_type<dm::tensor<float, by_batch, hidden>>, gradient_b>);

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
constexpr dm::index_t parameter_bytes = [] {
  dm::index_t bytes = 0;
  dm::for_each_tensor([&](const auto&, const auto& x) { bytes += x.local_bytes(); },
                      model<dm::shaped<by_batch>>{});
  return bytes;
}();
static_assert(cost.value.counts.live == 2 * parameter_bytes,
              "all that was held has been given back, but for parameters and their gradients");

// An operation with an auxiliary result: y = x^3, and x^2 for the way back.
struct cube_op {
  template <class S> using result = dm::detail::list<S, S>;
  constexpr void cost(dm::detail::tally& t, dm::detail::results y, dm::detail::operands) const {
    t.compute(2 * y[0].elements(), 0);
  }
  void fill(dm::detail::results y, dm::detail::operands x) const {
    for (dm::index_t i = 0; i < x[0].elements(); ++i) {
      const float v = x[0].data<const float>()[i];
      y[1].data<float>()[i] = v * v;
      y[0].data<float>()[i] = v * y[1].data<float>()[i];
    }
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    using product = dm::detail::map_op<dm::detail::multiply_function, float, float, float>;
    to.give(0, product{}, to.ybar, to.y(1));
  }
};
template <class X> constexpr auto cube(const X& x) {
  return dm::detail::apply_as<typename cube_op::result<dm::spec_of<X>>>(cube_op{}, x);
}
using block_of_w = dm::tensor<float, dm::shaped<by_batch>, batch, hidden>;
constexpr dm::detail::tally after_cube(bool backward) {
  dm::detail::tally counted, t;
  {
    dm::detail::tape tape;
    const auto w = block_of_w{}.counted_by(&t);
    const auto recorded = dm::detail::recorded_on(tape, w);
    auto* const start = tape.last();
    {
      const auto y = cube(recorded);
      static_assert(
          std::is_same_v<std::remove_const_t<decltype(y)>, dm::tracked_tensor<block_of_w>>);
      if (backward) y.cell()->add(dm::detail::gradient_type<block_of_w>::type{});
    }
    if (backward) tape.backward(start);
    counted = t;
  }
  counted.moved = t.live;  // what is left when the tape is gone
  return counted;
}
// Of 96 bytes each: the operand, and the auxiliary result on the tape; its transpose reads no
// other.
static_assert(after_cube(false).live == 2 * 96 && after_cube(false).peak == 3 * 96);
static_assert(after_cube(false).flops == 2 * 24 && after_cube(true).flops == 3 * 24);
static_assert(after_cube(true).live == 2 * 96, "the operand, and its cotangent");
static_assert(after_cube(false).moved == 0 && after_cube(true).moved == 0);
static_assert(std::is_same_v<decltype(cube(block_of_w{})), block_of_w>);

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
