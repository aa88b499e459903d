// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2
// labels: heavy device
// A language model with float parameters and bfloat16 activations: it learns as one in float does,
// alike under every layout up to bfloat16's rounding, and a layer's messages are half as long.
#include "support/language_model_run.hpp"

namespace {
using namespace test_support;
struct x : dm::axis<> {};
struct line : dm::mesh<x> {};
using data = dm::layout<line, dm::split<batch, x>>;
using parts = dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>>;

struct full : small {
  using element = float;
};
struct half : full {
  using activations = dm::bfloat16;
};

template <class C, class M> index_t bytes_of_layer(const dm::grid<line>& g) {
  struct layer {
    nn::block_parameters<C, M> p;
    dm::tensor<nn::activation_element<M>, C, batch, length, model> in;
  } l{dm::make<nn::block_parameters<C, M>>(g),
      dm::make<dm::tensor<nn::activation_element<M>, C, batch, length, model>>(g)};
  const auto f = [](const auto& p, const auto& in) { return nn::block(nn::model<C, M>(), p, in); };
  return dm::count(f, dm::shapes_of(l.p), dm::shapes_of(l.in)).template bytes<>();
}

TEST_CASE("bfloat16 activations") {
  const dm::grid<line> g;
  const training exact = train<full, data>(g), rounded = train<half, data>(g),
                 split = train<half, parts>(g);
  CHECK(rounded.bytes == "");
  CHECK(split.bytes == "");
  for (std::size_t i = 0; i < exact.losses.size(); ++i) {
    CHECK(rounded.losses[i] == doctest::Approx(exact.losses[i]).scale(0).epsilon(0.005));
    CHECK(split.losses[i] == doctest::Approx(exact.losses[i]).scale(0).epsilon(0.005));
  }
  CHECK(rounded.losses.back() < 0.9 * rounded.losses.front());
  CHECK((2 * bytes_of_layer<parts, half>(g)) == (bytes_of_layer<parts, full>(g)));
}

}  // namespace
