// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A feed-forward layer of experts as one writes it with MPI and BLAS: two experts a token by index,
// slots there and back by MPI_Alltoall, products by CBLAS's sgemm or oneDNN's; and the whole way
// back. Experts are split over the ranks, and so are groups of tokens.
#pragma once

#include <cblas.h>
#include <mpi.h>
#ifdef DIMESH_WITH_ONEDNN
#include <dnnl.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace handwritten {

struct expert_sizes {
  int ranks, groups, tokens, experts, model, hidden, slots;  ///< groups: of a rank
  int own() const { return experts / ranks; }
  int all_tokens() const { return groups * tokens; }
  int rows() const { return groups * slots; }  ///< of one rank for one expert
};

class expert_layer {
 public:
  using array = std::vector<float>;
  const expert_sizes s;
  bool onednn = false;  ///< multiplies, in place of CBLAS
  array x, router, up, down;  ///< (tokens, model), (model, experts), (own, model, hidden), ...
  array y, x_bar, router_bar, up_bar, down_bar;

  expert_layer(const expert_sizes& sizes, MPI_Comm comm) : s(sizes), comm_(comm) {
    const auto n = [](auto... k) { return (static_cast<std::size_t>(k) * ...); };
    x.resize(n(s.all_tokens(), s.model)), y = x_bar = x;
    router.resize(n(s.model, s.experts)), router_bar = router;
    up.resize(n(s.own(), s.model, s.hidden)), up_bar = up;
    down.resize(up.size()), down_bar = down;
    p_.resize(n(s.all_tokens(), s.experts)), p_bar_ = p_;
    slot_.resize(n(s.all_tokens(), 2)), expert_ = slot_;
    gate_.resize(slot_.size());
    sent_rows_.resize(n(s.experts)), filled_ = sent_rows_;
    held_.resize(n(s.experts, s.rows(), s.model)), sent_ = out_ = back_ = held_;
    inside_.resize(n(s.experts, s.rows(), s.hidden)), inside_bar_ = inside_;
  }

  void forward() {
    route();
    fill_slots([this](std::size_t, int t) { return &x[row(t)]; }, held_);
    exchange(held_, sent_);
    MPI_Alltoall(sent_rows_.data(), s.own(), MPI_INT, filled_.data(), s.own(), MPI_INT, comm_);
    for_experts([&](int e, int filled, std::size_t rows, std::size_t wide) {
      multiply(false, false, filled, s.hidden, s.model, &sent_[rows], weights(up, e),
               &inside_[wide]);
      float* const h = &inside_[wide];
      const int n = filled * s.hidden;
      for (int i = 0; i < n; ++i) h[i] = h[i] > 0 ? h[i] : 0;
      multiply(false, false, filled, s.model, s.hidden, h, weights(down, e), &out_[rows]);
    });
    exchange(out_, back_);
    std::fill(y.begin(), y.end(), 0.0f);
    for (std::size_t c = 0; c < slot_.size(); ++c)
      if (slot_[c] >= 0) cblas_saxpy(s.model, gate_[c], at_slot(back_, c), 1, &y[row(token(c))], 1);
  }

  /// Cotangents of all operands, y's being given. The router's are summed over the ranks.
  void backward(const array& y_bar) {
    array gate_bar(gate_.size(), 0.0f);
    for (std::size_t c = 0; c < slot_.size(); ++c)
      if (slot_[c] >= 0)
        gate_bar[c] = cblas_sdot(s.model, &y_bar[row(token(c))], 1, at_slot(back_, c), 1);
    fill_slots([&](std::size_t, int t) { return &y_bar[row(t)]; }, held_);
    for (std::size_t c = 0; c < slot_.size(); ++c)
      if (slot_[c] >= 0) cblas_sscal(s.model, gate_[c], at_slot(held_, c), 1);
    exchange(held_, out_);
    std::fill(up_bar.begin(), up_bar.end(), 0.0f);
    std::fill(down_bar.begin(), down_bar.end(), 0.0f);
    for_experts([&](int e, int filled, std::size_t rows, std::size_t wide) {
      float *const h = &inside_[wide], *const g = &inside_bar_[wide];
      multiply(true, false, s.hidden, s.model, filled, h, &out_[rows], weights(down_bar, e), true);
      multiply(false, true, filled, s.hidden, s.model, &out_[rows], weights(down, e), g);
      const int n = filled * s.hidden;
      for (int i = 0; i < n; ++i) g[i] = h[i] > 0 ? g[i] : 0;
      multiply(true, false, s.model, s.hidden, filled, &sent_[rows], g, weights(up_bar, e), true);
      multiply(false, true, filled, s.model, s.hidden, g, weights(up, e), &out_[rows]);
    });
    exchange(out_, held_);
    pull_router(gate_bar);
    multiply(false, true, s.all_tokens(), s.model, s.experts, p_bar_.data(), router.data(),
             x_bar.data());
    for (std::size_t c = 0; c < slot_.size(); ++c)
      if (slot_[c] >= 0) cblas_saxpy(s.model, 1, at_slot(held_, c), 1, &x_bar[row(token(c))], 1);
  }

 private:
  std::size_t row(int t) const { return static_cast<std::size_t>(t) * model(); }
  std::size_t model() const { return static_cast<std::size_t>(s.model); }
  static int token(std::size_t choice) { return static_cast<int>(choice / 2); }
  float* weights(array& w, int e) const {
    return &w[static_cast<std::size_t>(e) * model() * static_cast<std::size_t>(s.hidden)];
  }
  float* at_slot(array& slots, std::size_t choice) const {
    return &slots[static_cast<std::size_t>(slot_[choice]) * model()];
  }

  /// C = A B, or C += A B; row-major, either transposed.
  void multiply(bool ta, bool tb, int m, int n, int k, const float* a, const float* b, float* c,
                bool add = false) const {
    const int row_a = ta ? m : k, row_b = tb ? k : n;
#ifdef DIMESH_WITH_ONEDNN
    if (onednn) {
      dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, row_a, b, row_b, add ? 1.0f : 0.0f,
                 c, n);
      return;
    }
#endif
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n,
                k, 1, a, row_a, b, row_b, add ? 1.0f : 0.0f, c, n);
  }
  /// Probabilities, the two greatest, and slots in the order of tokens: first choices first. An
  /// expert's rows of all groups stand side by side.
  void route() {
    multiply(false, false, s.all_tokens(), s.experts, s.model, x.data(), router.data(), p_.data());
    for (int t = 0; t < s.all_tokens(); ++t) {
      float* const p = &p_[static_cast<std::size_t>(t) * static_cast<std::size_t>(s.experts)];
      const float top = *std::max_element(p, p + s.experts);
      float sum = 0;
      for (int e = 0; e < s.experts; ++e) sum += p[e] = std::exp(p[e] - top);
      for (int e = 0; e < s.experts; ++e) p[e] /= sum;
      int first = 0, second = -1;
      for (int e = 1; e < s.experts; ++e)
        if (p[e] > p[first]) first = e;
      for (int e = 0; e < s.experts; ++e)
        if (e != first && (second < 0 || p[e] > p[second])) second = e;
      const std::size_t c = 2 * static_cast<std::size_t>(t);
      expert_[c] = first, expert_[c + 1] = second;
      gate_[c] = p[first] / (p[first] + p[second]);
      gate_[c + 1] = p[second] / (p[first] + p[second]);
    }
    std::vector<int> filled(static_cast<std::size_t>(s.experts));
    std::fill(sent_rows_.begin(), sent_rows_.end(), 0);
    for (int g = 0; g < s.groups; ++g) {
      std::fill(filled.begin(), filled.end(), 0);
      for (int k = 0; k < 2; ++k)
        for (int t = g * s.tokens; t < (g + 1) * s.tokens; ++t) {
          const std::size_t c = 2 * static_cast<std::size_t>(t) + static_cast<std::size_t>(k);
          const auto e = static_cast<std::size_t>(expert_[c]);
          slot_[c] = filled[e]++ < s.slots ? expert_[c] * s.rows() + sent_rows_[e]++ : -1;
        }
    }
  }
  /// What lies behind the filled ones nobody reads.
  template <class From> void fill_slots(const From& from, array& slots) {
    for (std::size_t c = 0; c < slot_.size(); ++c)
      if (slot_[c] >= 0) std::copy_n(from(c, token(c)), s.model, at_slot(slots, c));
  }
  /// (experts, rows, model) of this rank to (ranks, own, rows, model) of its experts, or back.
  void exchange(const array& from, array& to) const {
    const int n = s.own() * s.rows() * s.model;
    MPI_Alltoall(from.data(), n, MPI_FLOAT, to.data(), n, MPI_FLOAT, comm_);
  }
  /// f(expert, how many of its rows from one rank are filled, where they begin, where those as wide
  /// as `hidden` do).
  template <class F> void for_experts(const F& f) const {
    for (int e = 0; e < s.own(); ++e)
      for (int r = 0; r < s.ranks; ++r) {
        const auto block = static_cast<std::size_t>(r * s.own() + e);
        const auto rows = block * static_cast<std::size_t>(s.rows());
        f(e, filled_[block], rows * model(), rows * static_cast<std::size_t>(s.hidden));
      }
  }
  /// Cotangents of gates to those of logits, and of the router.
  void pull_router(const array& gate_bar) {
    for (int t = 0; t < s.all_tokens(); ++t) {
      const std::size_t begin = static_cast<std::size_t>(t) * static_cast<std::size_t>(s.experts);
      const std::size_t c = 2 * static_cast<std::size_t>(t);
      const float* const p = &p_[begin];
      float* const g = &p_bar_[begin];
      std::fill_n(g, s.experts, 0.0f);
      const float all = p[expert_[c]] + p[expert_[c + 1]];
      const float mean = gate_[c] * gate_bar[c] + gate_[c + 1] * gate_bar[c + 1];
      for (const std::size_t k : {c, c + 1}) g[expert_[k]] = (gate_bar[k] - mean) / all;
      float along = 0;
      for (const std::size_t k : {c, c + 1}) along += p[expert_[k]] * g[expert_[k]];
      for (int e = 0; e < s.experts; ++e) g[e] = p[e] * (g[e] - along);
    }
    multiply(true, false, s.model, s.experts, s.all_tokens(), x.data(), p_bar_.data(),
             router_bar.data());
    MPI_Allreduce(MPI_IN_PLACE, router_bar.data(), s.model * s.experts, MPI_FLOAT, MPI_SUM, comm_);
  }

  MPI_Comm comm_;
  array p_, p_bar_, gate_, held_, sent_, out_, back_, inside_, inside_bar_;
  std::vector<int> slot_, expert_, sent_rows_, filled_;  ///< rows: of each expert
};

}  // namespace handwritten
