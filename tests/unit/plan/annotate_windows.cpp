// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
// A net of convolutions of which the images alone are annotated (spatial partitioning: Lepikhin et
// al. 2020, section 3.3): strides, dilations and transposes join dims of other names, and what is
// said of height and width flows through all of them.
#include <doctest/doctest.h>

#include "../../../examples/unet/net.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/plan/annotate.hpp"

namespace {
namespace dm = dimesh;
using dm::split, dm::uneven;
using unet::high, unet::across;

struct rows : dm::axis<2> {};
struct cols : dm::axis<4> {};
struct tiles : dm::mesh<rows, cols> {};
using any = dm::layout<tiles, dm::at_run_time>;

/// The U-Net, whose extents are all open.
struct annotated_net {
  template <class P, class X> constexpr auto operator()(const P& p, const X& v) const {
    return unet::forward{}(p, dm::shard<split<uneven<high>, rows>, split<uneven<across>, cols>>(v));
  }
};
using found = dm::inferred<annotated_net, unet::weights<any, float>,
                           dm::probe<float, tiles, unet::image, high, across, unet::bright>>;
static_assert(
    std::is_same_v<found::layout,
                   dm::layout<tiles, split<uneven<high>, rows>, split<uneven<across>, cols>>>);
static_assert(std::is_same_v<found::moves, dm::inserted<>>);

// Extents that types say; the pooled result is brought back whole, and listed.
struct tall : dm::dim<3> {};
struct lines : dm::dim<64> {};
struct halves : dm::dim<32> {};
struct pooled : dm::dim<16> {};
struct channel : dm::dim<4> {};
struct strided {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    using dm::padding;
    const auto y = dm::convolution_exchange<halves, channel>(
        dm::shard<split<lines, rows>>(x), w,
        dm::window<lines, tall, halves>{.stride = 2, .around = padding::same});
    const auto z =
        dm::max_pool_exchange(y, dm::pool_window<halves, pooled>{.size = 2, .stride = 2});
    return dm::replicate<pooled>(z);
  }
};
using found_strided =
    dm::inferred<strided, dm::probe<float, tiles, lines, channel>, dm::probe<float, tiles, tall>>;
static_assert(std::is_same_v<found_strided::layout, dm::layout<tiles, split<lines, rows>>>);
static_assert(
    std::is_same_v<
        found_strided::moves,
        dm::inserted<dm::moved<2, dm::movement::all_gather, dm::received_bytes<8 * 4 * 4>, rows>>>);

TEST_CASE("annotate: what was inferred of a U-Net, as a table") {
  CHECK(found::text().starts_with(
      "layout<tiles, split<uneven<high>, rows>, split<uneven<across>, cols>>\n"));
}

}  // namespace
