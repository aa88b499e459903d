// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
// What does a layer of experts cost a rank where ranks, groups and experts grow together? The
// products of experts stay what they are; the router's grows with the number of experts, and
// all-to-alls send the part of the slots that is for others.
#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/nn/moe/experts.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dm::nn;
using dm::index_t;

struct group : dm::dim<> {};
struct token : dm::dim<64> {};
struct wide : dm::dim<8> {};
struct inside : dm::dim<32> {};
struct head : dm::dim<1> {};
struct expert : dm::dim<> {};
struct choice : dm::dim<2> {};
struct slot : dm::dim<> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};

struct form : nn::transformer {
  using batch = group;
  using length = token;
  using model = wide;
  using heads = dm::shape<::head>;
  using head = ::head;
  using hidden = inside;
  using vocab = ::head;
  using expert = ::expert;
  using choice = ::choice;
  using slot = ::slot;
  static constexpr int layers = 1;
  static constexpr bool biases = false;
  static constexpr nn::activation act = nn::activation::relu;
};
using tokens = dm::layout<line, dm::split<group, ranks>>;
using experts = dm::layout<line, dm::split<expert, ranks>>;

struct layer {
  template <class P, class X> auto operator()(const P& p, const X& x) const {
    return nn::mixture<experts>(nn::model<tokens, form>{}, p, x).y;
  }
};

TEST_CASE("four groups and one expert a rank: the experts' work does not grow with their number") {
  using weights = nn::mixture_parameters<dm::shaped<experts>, form>;
  using batch = dm::tensor<float, dm::shaped<tokens>, group, token, wide>;
  for (const index_t n : {4, 16, 64}) {
    const dm::mesh_sizes<line> sizes{ranks{n}};
    const auto all =
        dm::events_of(layer{}, dm::make<weights>(sizes, expert{n}), batch(sizes, group{4 * n}));
    index_t products = 0, sent = 0;
    for (const dm::event& e : all.events) {
      if (e.what == "einsum" || e.what == "filled_einsum") products += e.flops;
      if (e.kind == dm::event_kind::all_to_all) sent += e.bytes;
    }
    const index_t slots = 4 * n * nn::capacity_of({}, 2, 64, n);  // of the one expert here
    CHECK(slots == 4 * 2 * 64);
    CHECK(products == 2 * 2 * slots * 8 * 32 + 2 * 4 * 64 * 8 * n);  // the experts', the router's
    // Slots there and back; for each expert and group, how many of its slots are filled.
    const index_t there_and_back = 2 * slots * 8 * index_t{sizeof(float)};
    CHECK(sent == (there_and_back + 4 * n * index_t{sizeof(std::int32_t)}) * (n - 1) / n);
  }
}

}  // namespace
