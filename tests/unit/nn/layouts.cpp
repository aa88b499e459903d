// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
// Under which layouts is a Transformer well-typed? Under each of these: shapes only, a sixth of a
// second of the compiler's time each.
#include <doctest/doctest.h>

#include "dimesh/nn/encoder_decoder.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::split;

struct batch : dm::dim<4> {};
struct source : dm::dim<64> {};
struct length : dm::dim<128> {};
struct model : dm::dim<256> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<64> {};
struct hidden : dm::dim<1024> {};
struct vocab : dm::dim<1024> {};

struct gpt : nn::transformer {
  using batch = ::batch;
  using source = ::source;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 4;
};
struct half : gpt {
  using activations = dm::bfloat16;
};

struct a : dm::axis<2> {};
struct b : dm::axis<2> {};
struct pod : dm::mesh<a, b> {};
template <class... R> using L = dm::layout<pod, R...>;
template <class C, class Length = length>
using ids = dm::tensor<std::int32_t, dm::shaped<C>, batch, Length>;

template <class C, class M = gpt, class S = C>
using loss = decltype(nn::language_model<C, M>().loss(
    std::declval<const nn::language_model_parameters<dm::shaped<S>, M>&>(),
    std::declval<const ids<C>&>(), std::declval<const ids<C>&>()));
template <class C>
using pair_loss = decltype(nn::encoder_decoder<C, gpt>().loss(
    std::declval<const nn::encoder_decoder_parameters<dm::shaped<C>, gpt>&>(),
    std::declval<const ids<C, source>&>(), std::declval<const ids<C>&>(),
    std::declval<const ids<C>&>()));

/// A number, float, with addends along the axes that split rows or vocabulary.
template <class X, class... R>
constexpr bool is = std::is_same_v<X, dm::tensor<float, dm::shaped<L<R...>>>>;
using dm::partial;
using dm::split_if_free;

static_assert(is<loss<L<>>>);
static_assert(is<loss<L<split<batch, a>>>, partial<a>>);
static_assert(is<loss<L<split<batch, a, b>>>, partial<a>, partial<b>>);
using parts = L<split<heads, a>, split<hidden, a>, split<vocab, a>>;
static_assert(is<loss<parts>, partial<a>>);
static_assert(is<loss<parts, half>, partial<a>>);
using hybrid = L<split<batch, b>, split<heads, a>, split<hidden, a>, split<vocab, a>>;
static_assert(is<loss<hybrid>, partial<a>, partial<b>>);
static_assert(is<loss<hybrid, gpt, L<dm::spread<a>, dm::spread<b>>>, partial<a>, partial<b>>);
using sequence = L<split<heads, a>, split<hidden, a>, split<vocab, a>, split_if_free<length, a>>;
static_assert(is<loss<sequence>, partial<a>>);
static_assert(is<loss<L<split<length, a>>>, partial<a>>);
static_assert(is<loss<L<split<batch, b>, split<length, a>>>, partial<a>, partial<b>>);
static_assert(is<loss<L<split<model, b>>>>);
static_assert(is<loss<L<split<heads, b>, split<hidden, a>>>>);
static_assert(is<loss<L<split<vocab, a, b>>>, partial<a>, partial<b>>);
static_assert(is<pair_loss<hybrid>, partial<a>, partial<b>>);

}  // namespace

TEST_CASE("a Transformer is well-typed under many layouts") {
  CHECK(is<loss<hybrid>, partial<a>, partial<b>>);
}
