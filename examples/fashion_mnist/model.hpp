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

/// x[batch, pixel] -> logits[batch, label].
struct classify {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    constexpr auto activate = [](auto z, auto b) { return dm::relu(z + b); };
    auto h = dm::map(activate, dm::complete(dm::einsum<batch, hidden>(x, p.w1)), p.b1);
    return dm::complete(dm::einsum<batch, label>(h, p.w2)) + p.b2;
  }
};

/// Mean cross-entropy of the logits; target[batch, label] is 1 at the right label, else 0.
struct loss {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    auto y = classify{}(p, x);
    return dm::mean<batch>(dm::log_sum_exp<label>(y) - dm::einsum<batch>(y, target));
  }
};

/// The loss and its gradient, both whole: everything that one training step communicates.
struct training_step {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(x, target));
  }
};
