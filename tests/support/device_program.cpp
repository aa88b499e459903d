// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Most operations, forward and backward, for scripts/nvcc.sh: what a device's compiler sees of the
// library. It is compiled, not run.
#include <dimesh/dimesh.hpp>

#include <tuple>

#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/nn/positions.hpp"
#include "dimesh/op/argmax.hpp"
#include "dimesh/op/attention.hpp"
#include "dimesh/op/batch_norm.hpp"
#include "dimesh/op/categorical.hpp"
#include "dimesh/op/cross_entropy.hpp"
#include "dimesh/op/dropout.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/norm.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/rotary.hpp"
#include "dimesh/op/scan.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/shuffle.hpp"
#include "dimesh/op/softmax.hpp"
#include "dimesh/op/sort.hpp"
#include "dimesh/op/start.hpp"
#include "dimesh/op/stencil.hpp"
#include "dimesh/op/take.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/optim/adafactor.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/clip.hpp"
#include "dimesh/random/fill.hpp"

namespace dm = dimesh;

struct batch : dm::dim<> {};
struct hidden : dm::dim<> {};
struct label : dm::dim<> {};
struct query : dm::dim<> {};
struct key : dm::dim<> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
using by_batch = dm::layout<pod, dm::split<batch, rows>>;
using by_hidden = dm::layout<pod, dm::split<hidden, cols>>;
using array = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<float, dm::layout<pod>, hidden, label>;
using numbers = dm::tensor<int, by_batch, batch>;

struct twice {
  template <class T> KOKKOS_FUNCTION auto operator()(const T& x) const { return x + x; }
};
struct neighbours {
  template <class E> KOKKOS_FUNCTION auto operator()(const E& e) const {
    return dm::at<batch>(e, -1) + dm::at<batch>(e, 1);
  }
};

auto products_maps_and_sums(const array& x, const weights& w) {
  const auto loss = [&x](const auto& v) {
    const auto h = dm::complete(dm::einsum<batch, label>(x, v));
    return dm::complete(dm::sum(dm::softmax<label>(dm::map(twice{}, h)) * dm::exp(h)));
  };
  return std::tuple(dm::value_and_grad(loss, w)(), dm::max<hidden>(x), dm::relayout<by_hidden>(x),
                    dm::complete(dm::mean<batch>(x)));
}
auto layers(const array& x, const numbers& ids, const weights& w) {
  const auto loss = [](const auto& v) {
    const auto turned = dm::rotary<batch, hidden>(v);
    const auto thinned = dm::dropout(0.1, dm::random_key{1}, turned);
    return dm::complete(dm::sum(dm::layer_norm<hidden>(thinned)));
  };
  return std::tuple(dm::value_and_grad(loss, x)(), dm::take<hidden>(w, ids),
                    dm::softmax_cross_entropy<hidden>(x, ids), dm::group_norm<batch>(x),
                    dm::nn::waves<batch, hidden>(x));
}
auto moves(const array& x) {
  const auto wide = dm::halo_exchange<1, batch>(x);
  return std::tuple(dm::stencil(neighbours{}, wide), dm::shift<batch>(x, 1), dm::to_rank(x),
                    dm::await(dm::start_all_gather<rows>(x)));
}
auto orders_and_scans(const array& x) {
  return std::tuple(dm::sort<hidden>(x), dm::cumsum<hidden>(x), dm::var<hidden>(x),
                    dm::prod<hidden>(x), dm::argmax<hidden>(x),
                    dm::shuffle<hidden>(dm::random_key{2}, x));
}
auto attention(const dm::tensor<float, by_batch, batch, query, hidden>& q,
               const dm::tensor<float, by_batch, batch, key, hidden>& k) {
  const auto loss = [&k](const auto& v) {
    return dm::complete(dm::sum(dm::attention<query, key, hidden>(v, k, k, {.causal = true})));
  };
  return dm::value_and_grad(loss, q)();
}
void steps(weights& p, const weights& g) {
  const dm::adam adam;
  auto moments = adam.start(p);
  adam(p, g, moments);
  const dm::adafactor factored;
  auto averages = factored.start(p);
  factored(p, g, averages);
  dm::clip_by_global_norm(p, 1);
  dm::fill(p, 1.0f);
}
auto numbers_at_random(const dm::grid<pod>& g) {
  return std::tuple(dm::normal<array>(g, dm::random_key{1}, 0, 1, batch{4}, hidden{4}),
                    dm::uniform<array>(g, dm::random_key{1}, 0, 1, batch{4}, hidden{4}));
}
