// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the loss of a small language model, and its gradient? Written down once more, in plain
// loops over scalars on a tape (scalar_tape.hpp): shares nothing with the library but the names of
// its parameters.
//
//   reference_model<form> m(parameters by name);
//   m.loss(ids, next)  -> a number;  m.slopes()  -> by name
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dimesh/nn/config.hpp"
#include "support/scalar_tape.hpp"

namespace test_support {

using named_arrays = std::map<std::string, std::vector<double>>;

/// Extents of a language model; queries of head h use keys of head h / (heads / key_heads).
struct model_sizes {
  int batch, length, model, heads, key_heads, head, hidden, vocab, layers;
};

template <class M> class reference_model {
  using vars = std::vector<var>;
  using rows = std::vector<vars>;

 public:
  reference_model(const model_sizes& n, const named_arrays& parameters) : n_(n) {
    for (const auto& [name, values] : parameters)
      for (const double v : values) p_[name].push_back(tape_.input(v));
  }

  /// ids, next [batch * length]; the mean loss in nats. Runs backwards, too.
  double loss(const std::vector<int>& ids, const std::vector<int>& next) {
    var total = 0;
    for (int b = 0; b < n_.batch; ++b) {
      const auto at = static_cast<std::size_t>(b * n_.length);
      const std::vector<int> row(ids.begin() + at, ids.begin() + at + n_.length);
      const rows scores = logits(row);
      for (int t = 0; t < n_.length; ++t) {
        var sum = 0;
        for (const var& s : scores[t]) sum += exp(s);
        total += log(sum) - scores[t][static_cast<std::size_t>(next[at + t])];
      }
    }
    const var mean = total / double(n_.batch * n_.length);
    tape_.backward(mean);
    return mean.v;
  }

  named_arrays slopes() const {
    named_arrays all;
    for (const auto& [name, values] : p_)
      for (const var& v : values) all[name].push_back(tape_.slope(v));
    return all;
  }

 private:
  const vars& at(const std::string& name) { return p_.at(name); }
  bool has(const std::string& name) const { return p_.count(name) > 0; }

  /// x . w + bias; w (in, out) row-major, the bias if there is one of that name.
  vars product(const vars& x, const std::string& w, std::size_t out) {
    const vars& m = at(w);
    vars y(out);
    for (std::size_t j = 0; j < out; ++j) {
      for (std::size_t i = 0; i < x.size(); ++i) y[j] += x[i] * m[i * out + j];
      if (has(w + "_bias")) y[j] += at(w + "_bias")[j];
    }
    return y;
  }
  vars norm(const vars& x, const std::string& name) {
    constexpr bool centre = M::norm == dimesh::nn::norm_kind::layer;
    var mean = 0, square = 0;
    if (centre)
      for (const var& v : x) mean += v / double(x.size());
    for (const var& v : x) square += (v - mean) * (v - mean) / double(x.size());
    vars y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back((x[i] - mean) / sqrt(square + M::epsilon) * at(name + ".gain")[i]);
      if (centre) y[i] += at(name + ".bias")[i];
    }
    return y;
  }
  static var act(var x) {
    using dimesh::nn::activation;
    const var cube = x * x * x;
    if (M::act == activation::gelu || M::act == activation::geglu)
      return 0.5 * x * (1.0 + tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * cube)));
    if (M::act == activation::relu) return x.v > 0 ? x : var(0);
    return x / (1.0 + exp(0.0 - x));
  }
  vars feed_forward(const vars& x, const std::string& name) {
    const auto wide = static_cast<std::size_t>(n_.hidden);
    vars h = product(x, name + ".up", wide);
    for (var& v : h) v = act(v);
    if (dimesh::nn::is_gated(M::act)) {
      const vars g = product(x, name + ".gate", wide);
      for (std::size_t j = 0; j < wide; ++j) h[j] = h[j] * g[j];
    }
    return product(h, name + ".down", x.size());
  }
  /// Halves of a head are turned against each other by angles that grow with the position.
  vars turned(vars x, int heads, int t) const {
    if (M::positions != dimesh::nn::position_kind::rotary) return x;
    const int half = n_.head / 2;
    for (int h = 0; h < heads; ++h)
      for (int i = 0; i < half; ++i) {
        const double angle = t * std::pow(10000.0, -2.0 * i / n_.head);
        var &a = x[h * n_.head + i], &b = x[h * n_.head + half + i];
        const var c = a * std::cos(angle) - b * std::sin(angle);
        b = a * std::sin(angle) + b * std::cos(angle);
        a = c;
      }
    return x;
  }
  rows attention(const rows& x, const std::string& name) {
    const auto wide = static_cast<std::size_t>(n_.heads * n_.head);
    const auto narrow = static_cast<std::size_t>(n_.key_heads * n_.head);
    rows q, k, v, y;
    for (int t = 0; t < n_.length; ++t) {
      q.push_back(turned(product(x[t], name + ".query", wide), n_.heads, t));
      k.push_back(turned(product(x[t], name + ".key", narrow), n_.key_heads, t));
      v.push_back(product(x[t], name + ".value", narrow));
    }
    for (int t = 0; t < n_.length; ++t) {
      vars o(wide);
      for (int h = 0; h < n_.heads; ++h) mix(o, q[t], k, v, h, t);
      y.push_back(product(o, name + ".output", static_cast<std::size_t>(n_.model)));
    }
    return y;
  }
  /// What query t of head h sees: the positions up to its own.
  void mix(vars& o, const vars& q, const rows& k, const rows& v, int h, int t) const {
    const int kh = h / (n_.heads / n_.key_heads) * n_.head, qh = h * n_.head;
    vars weight;
    var sum = 0;
    for (int u = 0; u < (M::causal ? t + 1 : n_.length); ++u) {
      var score = 0;
      for (int i = 0; i < n_.head; ++i) score += q[qh + i] * k[u][kh + i];
      weight.push_back(exp(score / std::sqrt(double(n_.head))));
      sum += weight.back();
    }
    for (std::size_t u = 0; u < weight.size(); ++u)
      for (int i = 0; i < n_.head; ++i) o[qh + i] += weight[u] / sum * v[u][kh + i];
  }
  void add(rows& x, const rows& y) const {
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += y[t][i];
  }
  template <class F> static rows each(const rows& x, const F& f) {
    rows y;
    for (const vars& row : x) y.push_back(f(row));
    return y;
  }
  rows embedded(const std::vector<int>& ids) {
    rows x;
    const auto wide = static_cast<std::size_t>(n_.model);
    for (int t = 0; t < n_.length; ++t) {
      const auto from = at("embedding").begin() + ids[t] * n_.model;
      x.emplace_back(from, from + n_.model);
      for (std::size_t i = 0; i < wide; ++i) {
        if (has("positions")) x[t][i] += at("positions")[t * wide + i];
        if (M::positions == dimesh::nn::position_kind::sinusoidal) {
          const double turn = t * std::pow(10000.0, -double(i / 2 * 2) / n_.model);
          x[t][i] += i % 2 == 0 ? std::sin(turn) : std::cos(turn);
        }
      }
    }
    return x;
  }
  rows logits(const std::vector<int>& ids) {
    rows x = embedded(ids);
    for (int l = 0; l < n_.layers; ++l) {
      const std::string name = "layers[" + std::to_string(l) + "]";
      add(x, attention(each(x, [&](const vars& r) { return norm(r, name + ".norm1"); }),
                       name + ".attention"));
      add(x, each(x, [&](const vars& r) {
            return feed_forward(norm(r, name + ".norm2"), name + ".feed_forward");
          }));
    }
    return each(x, [&](const vars& r) {
      const vars h = norm(r, "last");
      if (has("head")) return product(h, "head", static_cast<std::size_t>(n_.vocab));
      vars y(static_cast<std::size_t>(n_.vocab));
      for (int j = 0; j < n_.vocab; ++j)
        for (int i = 0; i < n_.model; ++i) y[j] += h[i] * at("embedding")[j * n_.model + i];
      return y;
    });
  }

  model_sizes n_;
  scalar_tape tape_;
  std::map<std::string, vars> p_;
};

}  // namespace test_support
