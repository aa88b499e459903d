// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the compiler pay for a layer of experts and its gradient, for more ranks and for more
// experts? RANKS: of the axis that splits groups and experts; EXPERTS: how many there are.
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/experts.hpp>

#ifndef RANKS
#define RANKS 4
#endif
#ifndef EXPERTS
#define EXPERTS 4
#endif

namespace dm = dimesh;
namespace nn = dm::nn;

struct batch : dm::dim<8192> {};
struct length : dm::dim<64> {};
struct wide : dm::dim<512> {};
struct inside : dm::dim<2048> {};
struct head : dm::dim<1> {};
struct expert : dm::dim<EXPERTS> {};
struct choice : dm::dim<2> {};
struct slot : dm::dim<> {};
struct ranks : dm::axis<RANKS> {};
struct pod : dm::mesh<ranks> {};

struct form : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = wide;
  using heads = dm::shape<::head>;
  using head = ::head;
  using hidden = inside;
  using vocab = ::head;
  using expert = ::expert;
  using choice = ::choice;
  using slot = ::slot;
  static constexpr int layers = 1;
  static constexpr nn::gating gate{.capacity_factor = 1.25};
};
using tokens = dm::layout<pod, dm::split<batch, ranks>>;
using experts = dm::layout<pod, dm::split<dm::uneven<expert>, ranks>>;

struct loss {
  template <class P, class X> auto operator()(const P& p, const X& x) const {
    const auto r = nn::mixture<experts>(nn::model<tokens, form>{}, p, x);
    return dm::mean(dm::square(x + r.y)) +
           dm::cast<float>(nn::balance_loss<length, expert, choice>(
               nn::balance_scale::scaled, r.probabilities, r.route.chosen));
  }
};

auto step(const nn::mixture_parameters<experts, form>& p,
          const dm::tensor<float, tokens, batch, length, wide>& x) {
  return dm::complete(dm::value_and_grad(loss{}, p)(x));
}
