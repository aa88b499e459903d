// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/grad/recompute.hpp"

#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<64> {};
struct width : dm::dim<8> {};
struct hidden : dm::dim<16> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using both = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<float, L, width, hidden>, in),
                           (dm::tensor<float, L, hidden, width>, out));
};
// A tuple: g++ 12 destroys the elements of copied arrays twice in constant evaluation.
template <class L> using network = std::tuple<layer<L>, layer<L>, layer<L>, layer<L>>;

struct block {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    auto h = dm::relu(dm::complete(dm::einsum<batch, hidden>(x, p.in)));
    return x + dm::complete(dm::einsum<batch, width>(h, p.out));
  }
};
template <bool Again> struct step {
  template <class P, class X> constexpr auto operator()(const P& p, const X& in) const {
    return dm::value_and_grad(
        [&in](const auto& layers) {
          auto x = block{}(std::get<0>(layers), in);
          const auto more = [&x](const auto& layer) {
            if constexpr (Again)
              x = dm::recompute(block{})(layer, x);
            else
              x = block{}(layer, x);
          };
          more(std::get<1>(layers));
          more(std::get<2>(layers));
          more(std::get<3>(layers));
          return dm::einsum<>(x, x);
        },
        p)();
  }
};

using X = dm::tensor<float, dm::shaped<both>, batch, width>;
using P = network<dm::shaped<both>>;
constexpr auto kept = dm::cost_of<step<false>, P, X>;
constexpr auto again = dm::cost_of<step<true>, P, X>;

// Counted while compiling. Three blocks run twice: 4 flops a weight and row, and the sum over cols.
static_assert(again.flops > kept.flops + 3 * (32 * 8 * 8 * 4));
static_assert(again.calls<cols> == kept.calls<cols> + 3);
static_assert(again.bytes<cols> == kept.bytes<cols> + 3 * 32 * 8 * 4);
static_assert(again.calls<rows> == kept.calls<rows>);
static_assert(again.peak < kept.peak);
static_assert(again.value.counts.live == kept.value.counts.live,
              "what is held at the end is alike");

// Nothing is recorded of what is not recorded; types are those of the function.
using plain = decltype(dm::recompute(block{})(
    std::declval<layer<both>>(), std::declval<dm::tensor<float, both, batch, width>>()));
static_assert(std::is_same_v<plain, dm::tensor<float, both, batch, width>>);

}  // namespace

TEST_CASE("recompute: the same cost at run time as while compiling") {
  const auto counted = dm::count(step<true>{}, P{}, X{});
  CHECK(counted.flops() == again.flops);
  CHECK(counted.peak() == again.peak);
  CHECK(counted.bytes<cols>() == again.bytes<cols>);
}
