// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is trained? A byte-level language model of GPT-2's form (dimesh/nn/language_model.hpp). No
// line here mentions a layout: `Plan` says under which one computation and parameters live.
#pragma once

#include <dimesh/dimesh.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/nn/language_model.hpp>

namespace dm = dimesh;
namespace nn = dimesh::nn;

struct batch : dm::dim<16> {};
struct length : dm::dim<128> {};
struct model : dm::dim<128> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<32> {};
struct hidden : dm::dim<512> {};
struct vocab : dm::dim<256> {};  // all bytes
struct one_text : dm::dim<1> {};  // the batch of what is written

struct form : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 4;
};

/// Compute layout C; parameters, their gradients and the optimizer's state under layout S.
template <dm::Layout C, dm::Layout S = C> struct plan {
  using compute = C;
  using storage = S;
  using mesh = typename C::mesh;
};

template <class Plan> using network = nn::language_model<typename Plan::compute, form>;
template <class Plan>
using parameters = nn::language_model_parameters<typename Plan::storage, form>;
/// Numbers of tokens, and of those that follow them.
template <dm::Tensor X> struct pieces {
  BOOST_HANA_DEFINE_STRUCT(pieces, (X, ids), (X, next));
};
template <class Plan> using batch_of_text = pieces<typename network<Plan>::tokens>;

/// The mean loss of all tokens, in nats.
template <class Plan> struct loss {
  network<Plan> net = {};
  template <class P, class I>
  constexpr auto operator()(const P& p, const I& ids, const I& next) const {
    return net.loss(p, ids, next);
  }
};

/// The loss on a batch of text and its gradient, both whole: everything that one training step
/// communicates.
template <class Plan> struct loss_and_gradient {
  network<Plan> net = {};
  template <class P, class B> constexpr auto operator()(const P& p, const B& b) const {
    return dm::complete(dm::value_and_grad(loss<Plan>{net}, p)(b.ids, b.next));
  }
};
