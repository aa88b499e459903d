// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What should a recurrent cell have remembered? By plain loops over whole arrays, from either end;
// and its gradients by differences of these.
//
//   const std::vector<array> w{in, state, bias, state_bias};
//   cell_array(4, w, x, h, c)          -> h [q, p, hidden] of x [p, q, in]; four gates: an LSTM
//   cell_slope(4, w, x, h, c, y, 1)    -> the gradient of <h, y> by state
#pragma once

#include <cmath>

#include "dimesh/core/tracked.hpp"
#include "support/oracle.hpp"

namespace test_support {

/// Of in [in, gates, hidden], state [from, gates, hidden], bias and state_bias [gates, hidden]; x
/// [p, q, in]; the first h, and of an LSTM the first cell [p, hidden].
inline array cell_array(index_t gates, const std::vector<array>& w, const array& x,
                        const array& first_h, const array& first_c, bool reverse = false) {
  const index_t ps = x.size[0], qs = x.size[1], ins = x.size[2], hs = first_h.size[1];
  array all = make({"q", "p", "hidden"}, {qs, ps, hs}, [](const extents&) { return 0.0; });
  const auto at = [](const array& a, index_t i) { return a.values[static_cast<std::size_t>(i)]; };
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (index_t b = 0; b < ps; ++b) {
    std::vector<double> h, c;
    for (index_t j = 0; j < hs; ++j)
      h.push_back(at(first_h, b * hs + j)), c.push_back(at(first_c, b * hs + j));
    for (index_t step = 0; step < qs; ++step) {
      const index_t t = reverse ? qs - 1 - step : step;
      const std::vector<double> before = h;
      for (index_t j = 0; j < hs; ++j) {
        const auto said = [&](index_t k) {
          double v = at(w[2], k * hs + j);
          for (index_t i = 0; i < ins; ++i)
            v += at(x, (b * qs + t) * ins + i) * at(w[0], (i * gates + k) * hs + j);
          return v;
        };
        const auto kept = [&](index_t k) {
          double v = at(w[3], k * hs + j);
          for (index_t i = 0; i < hs; ++i)
            v += before[static_cast<std::size_t>(i)] * at(w[1], (i * gates + k) * hs + j);
          return v;
        };
        double& now = h[static_cast<std::size_t>(j)];
        double& cell = c[static_cast<std::size_t>(j)];
        const auto gate = [&](index_t k) { return said(k) + kept(k); };
        if (gates == 4) {
          cell = sigmoid(gate(1)) * cell + sigmoid(gate(0)) * std::tanh(gate(3));
          now = sigmoid(gate(2)) * std::tanh(cell);
        } else {
          const double n = std::tanh(said(2) + sigmoid(gate(0)) * kept(2));
          now = n + sigmoid(gate(1)) * (now - n);
        }
        all.values[static_cast<std::size_t>((t * ps + b) * hs + j)] = now;
      }
    }
  }
  return all;
}

/// The gradient of the products with y by w[k], from central differences.
inline array cell_slope(index_t gates, const std::vector<array>& w, const array& x,
                        const array& first_h, const array& first_c, const array& y, std::size_t k,
                        bool reverse = false) {
  array d = w[k];
  for (std::size_t i = 0; i < d.values.size(); ++i) {
    const auto moved = [&](double by) {
      std::vector<array> there = w;
      there[k].values[i] += by;
      return dot(cell_array(gates, there, x, first_h, first_c, reverse), y);
    };
    d.values[i] = (moved(1e-5) - moved(-1e-5)) / 2e-5;
  }
  return d;
}

/// The layout of a struct whose members are as X is: plain or shapes, recorded or not.
template <class X, class C> struct modified {
  using kept = std::conditional_t<dimesh::detail::is_shaped<X>, dimesh::shaped<C>, C>;
  using type = std::conditional_t<dimesh::detail::is_tracked<X>, dimesh::tracked<kept>, kept>;
};

}  // namespace test_support
