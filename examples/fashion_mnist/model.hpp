// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is trained? The two-layer network y = relu(x.w1 + b1).w2 + b2 (the running example of the
// Mesh-TensorFlow paper), on 28x28 images with ten labels. No line here mentions a layout.
#pragma once

#include <dimesh/dimesh.hpp>

namespace dm = dimesh;

struct batch : dm::dim<200> {};
struct pixel : dm::dim<784> {};
struct hidden : dm::dim<512> {};
struct label : dm::dim<10> {};

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, pixel, hidden>, w1),
                           (dm::tensor<float, L, hidden>, b1),
                           (dm::tensor<float, L, hidden, label>, w2),
                           (dm::tensor<float, L, label>, b2));
};
/// A batch of them: brightness of pixels, and the right labels.
template <class L> struct images {
  BOOST_HANA_DEFINE_STRUCT(images, (dm::tensor<float, L, batch, pixel>, x),
                           (dm::tensor<std::int32_t, L, batch>, right));
};

/// x[batch, pixel] -> logits[batch, label].
struct classify {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    constexpr auto activate = [](auto z, auto b) { return dm::relu(z + b); };
    auto h = dm::map(activate, dm::complete(dm::einsum<batch, hidden>(x, p.w1)), p.b1);
    return dm::complete(dm::einsum<batch, label>(h, p.w2)) + p.b2;
  }
};

/// Mean cross-entropy of the logits.
struct loss {
  template <class P, class X, class R>
  constexpr auto operator()(const P& p, const X& x, const R& right) const {
    return dm::mean<batch>(dm::softmax_cross_entropy<label>(classify{}(p, x), right));
  }
};

/// The loss and its gradient, both whole: everything that one training step communicates.
struct training_step {
  template <class P, class B> constexpr auto operator()(const P& p, const B& b) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(b.x, b.right));
  }
};
