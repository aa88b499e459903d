// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the compiler pay for a two-layer network and its gradient, and for every further
// layout? LAYOUTS: how many layouts the step is compiled for (0: the header alone); SIZE: of both
// mesh axes.
#include <dimesh/dimesh.hpp>

#ifndef LAYOUTS
#define LAYOUTS 1
#endif
#ifndef SIZE
#define SIZE 2
#endif

namespace dm = dimesh;

struct batch : dm::dim<256> {};
struct pixel : dm::dim<768> {};
struct hidden : dm::dim<1024> {};
struct label : dm::dim<10> {};
struct rows : dm::axis<SIZE> {};
struct cols : dm::axis<SIZE> {};
struct pod : dm::mesh<rows, cols> {};

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, pixel, hidden>, w1),
                           (dm::tensor<float, L, hidden>, b1),
                           (dm::tensor<float, L, hidden, label>, w2),
                           (dm::tensor<float, L, label>, b2));
};

/// A lambda inside loss would be a type of its own for each layout, and its kernels with it.
struct activate {
  template <class A, class B> KOKKOS_INLINE_FUNCTION auto operator()(const A& z, const B& b) const {
    return dm::relu(z + b);
  }
};

struct loss {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    auto h = dm::map(activate{}, dm::complete(dm::einsum<batch, hidden>(x, p.w1)), p.b1);
    auto y = dm::complete(dm::einsum<batch, label>(h, p.w2)) + p.b2;
    return dm::mean<batch>(dm::log_sum_exp<label>(y) - dm::einsum<batch>(y, target));
  }
};

/// One training step's loss and gradient, whole.
template <class... Rule> struct step {
  using L = dm::layout<pod, Rule...>;
  static auto run(const network<L>& p, const dm::tensor<float, L, batch, pixel>& x,
                  const dm::tensor<float, L, batch, label>& target) {
    return dm::complete(dm::value_and_grad(loss{}, p)(x, target));
  }
};

#if LAYOUTS > 0
auto* first = &step<dm::split<batch, rows>, dm::split<hidden, cols>>::run;
#endif
#if LAYOUTS > 1
auto* second = &step<dm::split<batch, rows>, dm::split<pixel, cols>>::run;
#endif
#if LAYOUTS > 2
auto* third = &step<dm::split<pixel, rows>, dm::split<hidden, cols>>::run;
#endif
#if LAYOUTS > 3
auto* fourth = &step<dm::split<batch, rows, cols>>::run;
#endif
