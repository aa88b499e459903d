// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What shape has a Transformer? A struct that names its dims and choices. Layers take it within one
// object (nn/model.hpp); parameters that it does without are empty members.
//
//   struct small : nn::transformer {
//     using batch = ::batch;  using length = ::length;  using model = ::model;
//     using heads = shape<::heads>;  using head = ::head;  using hidden = ::hidden;
//     using vocab = ::vocab;
//     static constexpr int layers = 4;
//   };
#pragma once

#include "dimesh/nn/parameter.hpp"

namespace dimesh::nn {

enum class norm_kind : unsigned char { layer, rms };
enum class position_kind : unsigned char { none, learned, sinusoidal, rotary };
/// What lies between the two products of a feed-forward layer. The gated forms multiply by a second
/// product of the input (Shazeer 2020, GLU variants).
enum class activation : unsigned char { relu, gelu, silu, geglu, swiglu };

/// What is computed anew on the way back, so that it need not be kept: the inside of attention (its
/// norm's result stays, queries, keys and values do not; scores never do), or that of whole layers.
enum class recomputing : unsigned char { nothing, attention, layers };

constexpr bool is_gated(activation a) { return a == activation::geglu || a == activation::swiglu; }

/// The choices of GPT-2 (Radford et al. 2019): what a model says nothing of.
struct transformer {
  using element = float;  ///< of the parameters
  using activations = void;  ///< elements of what flows between layers, and of its messages:
      ///< bfloat16, or (void) those of the parameters
  static constexpr norm_kind norm = norm_kind::layer;
  static constexpr double epsilon = 1e-5;  ///< of the norms
  static constexpr position_kind positions = position_kind::learned;
  static constexpr activation act = activation::gelu;
  static constexpr bool biases = true;
  static constexpr bool tied = true;  ///< the embedding is also the last product
  static constexpr bool causal = true;  ///< a query sees no later key
  static constexpr index_t window = 0;  ///< keys that a query sees at most; 0: all
  static constexpr auto recompute = recomputing::nothing;  ///< or true: whole layers
  static constexpr bool cross = false;  ///< layers also look at an encoder's result
  using deviation = std::ratio<2, 100>;  ///< of the weights that training begins with
};

/// Key position: another name for a length, for queries and keys in one tensor.
template <class Length> struct keys_of : dim<static_extent<Length>> {
  using dim<static_extent<Length>>::dim;
};

/// Dims of queries, and those of keys among them: fewer for grouped-query attention (Ainslie et al.
/// 2023), where queries of shape<kv, group> share the keys of shape<kv>.
template <class M> struct key_heads_of {
  using type = typename M::heads;
};
template <class M>
  requires requires { typename M::key_heads; }
struct key_heads_of<M> {
  using type = typename M::key_heads;
};

/// The element type of a model's activations.
template <class M>
using activation_element = std::conditional_t<std::is_void_v<typename M::activations>,
                                              typename M::element, typename M::activations>;

/// Stands for a parameter that a model does without.
struct absent {};

namespace detail {

/// Dims and the dims of shapes, as one shape.
template <class Have, class... D> struct flattened;
template <class... H> struct flattened<shape<H...>> {
  using type = shape<H...>;
};
template <class... H, class D, class... More>
struct flattened<shape<H...>, D, More...> : flattened<shape<H..., D>, More...> {};
template <class... H, class... D, class... More>
struct flattened<shape<H...>, shape<D...>, More...> : flattened<shape<H..., D...>, More...> {};

/// M stands in for what is no form, which has been said (nn/form.hpp).
template <class M> inline constexpr bool is_stand_in = false;

/// A parameter over a shape.
template <class How, class T, class L, class Shape> struct parameter_over;
template <class How, class T, class L, class... D>
struct parameter_over<How, T, L, shape<D...>> : parameter_type<How, T, L, D...> {};
template <class M, class How, class L, class... D>
struct parameter_for
    : parameter_over<How, typename M::element, L, typename flattened<shape<>, D...>::type> {};
template <class M, class How, class L, class... D>
using parameter_of = typename parameter_for<M, How, L, D...>::type;

/// A bool says of whole layers whether they are computed anew.
constexpr recomputing as_recomputing(recomputing r) { return r; }
constexpr recomputing as_recomputing(bool layers) {
  return layers ? recomputing::layers : recomputing::nothing;
}
template <class M> inline constexpr recomputing recomputes = as_recomputing(M::recompute);

/// How many products are added to the stream: two a layer, three where it looks at an encoder.
template <class M> inline constexpr int addends = (M::cross ? 3 : 2) * M::layers;

template <bool There, class X> using if_there = std::conditional_t<There, X, absent>;

}  // namespace detail

// Parameters of a model of the form M, over dims and shapes of dims; they begin as those of GPT-2
// do (Radford et al. 2019, section 2.3).

/// A product's matrix: normal with standard deviation M::deviation.
template <class L, class M, class... D>
using weight = detail::parameter_of<M, normal<typename M::deviation>, L, D...>;
/// That of a product which is added to the stream: less by the root of how many are.
template <class L, class M, class... D>
using output_weight =
    detail::parameter_of<M, normal_in_sum<typename M::deviation, detail::addends<M>>, L, D...>;
/// A gain: 1.
template <class L, class M, class... D> using gain = detail::parameter_of<M, ones, L, D...>;
/// A bias, if There: 0.
template <class L, class M, bool There, class... D>
using bias = detail::if_there<There, detail::parameter_of<M, zeros, L, D...>>;

}  // namespace dimesh::nn
