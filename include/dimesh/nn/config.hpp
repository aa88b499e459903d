// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What shape has a Transformer? A struct that names its dims and choices. Layers take it as one
// template argument; parameters that it does without are empty members.
//
//   struct small : nn::transformer {
//     using batch = ::batch;  using length = ::length;  using model = ::model;
//     using heads = shape<::heads>;  using head = ::head;  using hidden = ::hidden;
//     using vocab = ::vocab;
//     static constexpr int layers = 4;
//   };
#pragma once

#include "dimesh/random.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh::nn {

enum class norm_kind : unsigned char { layer, rms };
enum class position_kind : unsigned char { none, learned, sinusoidal, rotary };
/// What lies between the two products of a feed-forward layer. The gated forms multiply by a second
/// product of the input (Shazeer 2020, GLU variants).
enum class activation : unsigned char { relu, gelu, silu, geglu, swiglu };

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
  static constexpr bool recompute = false;  ///< a layer's inside anew in the backward pass
};

/// Key position: another name for a length, for queries and keys in one tensor.
template <class Length> struct keys_of : dim<Length::extent> {
  using dim<Length::extent>::dim;
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

/// What changes from step to step: dropout, off unless it is given a rate.
struct run_options {
  double dropout = 0;
  random_key key{0};

  /// The options of part n, with random numbers of its own.
  constexpr run_options part(std::uint64_t n) const {
    return dropout == 0 ? *this : run_options{dropout, key.fold(n)};
  }
};

/// Stands for a parameter that a model does without.
struct absent {};

namespace detail {

/// A parameter with dims First..., those of a shape, and More...
template <class M, class L, class First, class Shape, class... More> struct parameter_impl;
template <class M, class L, class... F, class... D, class... More>
struct parameter_impl<M, L, shape<F...>, shape<D...>, More...> {
  using type = tensor<typename M::element, L, F..., D..., More...>;
};
template <class M, class L, class First, class Shape, class... More>
using parameter = typename parameter_impl<M, L, First, Shape, More...>::type;

template <bool There, class X> using if_there = std::conditional_t<There, X, absent>;

}  // namespace detail

}  // namespace dimesh::nn
