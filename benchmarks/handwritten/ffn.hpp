// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast is the two-layer network y = relu(x.w1 + b1).w2 + b2 under each layout when a programmer
// writes it by hand for MPI and a matrix library? The twin against which the typed step is timed.
//
//   network n(MPI_COMM_WORLD, {.batch = 2, .hidden = 2}, {256, 784, 1024, 10});   // 4 ranks
//   n.set_parameters(full);
//   n.step(x_block, labels_block, lr, mu)     -> the mean softmax cross-entropy of the global batch
//
// Ranks are numbered batch-major: rank = (batch * io + io_index) * hidden + hidden_index. With
// b = B/batch, p = P/io, h = H/hidden a rank holds x[b,p], w1[p,h], b1[h], w2[h,L], b2[L]. Per step
// it hands to MPI (no call at all over an axis of one rank):
//
//   axis     message                         floats                    calls
//   io       x.w1, partial over the pixels   b*h                       1
//   hidden   a.w2, partial over the hidden   b*L                       1
//   batch    all gradients and the loss      p*h + h + h*L + L + 1     1
//
// After each of the first two sums all ranks of the axis go on with the same numbers, so the
// backward pass sums over the batch only. `backward::transposed` instead does what the transposes
// of those sums do when every replica's gradient counts as one addend (the first replica starts
// with the loss's gradient, the others with zeros):
//
//   io       twice b*h                       hidden   twice b*L          batch   p*h, and the loss
//   batch and io together: h + h*L           all ranks: L
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "all_reduce.hpp"
#include "sgemm.hpp"
#include "vector_loops.hpp"

namespace handwritten {

struct mesh {
  int batch = 1, io = 1, hidden = 1;
};
struct extents {
  int batch = 256, pixel = 784, hidden = 1024, label = 10;
};
enum class backward { shortest, transposed };

/// Whole arrays: w1[pixel, hidden], b1[hidden], w2[hidden, label], b2[label].
struct parameters {
  std::vector<float> w1, b1, w2, b2;
};

/// Memory on a cache line's boundary, zeroed.
class buffer {
 public:
  explicit buffer(std::size_t n)
      : data_(static_cast<float*>(std::aligned_alloc(64, (4 * n + 63) / 64 * 64)), &std::free) {
    std::fill_n(data_.get(), n, 0.0f);
  }
  float* data() const { return data_.get(); }

 private:
  std::unique_ptr<float, decltype(&std::free)> data_;
};

/// The ranks that differ in some of the coordinates only, or nobody to talk to.
class group {
 public:
  group(MPI_Comm world, int colour) {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_split(world, colour, rank, &comm_);
    MPI_Comm_size(comm_, &size_);
  }
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  ~group() { MPI_Comm_free(&comm_); }

  void sum(float* x, std::size_t n) const {
    if (size_ > 1) all_reduce(x, n, comm_);
  }
  int size() const { return size_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int size_ = 1;
};

class network {
 public:
  network(MPI_Comm world, mesh m, extents e, backward way = backward::shortest)
      : mesh_(m),
        full_(e),
        way_(way),
        at_(coordinates(world, m)),
        b_(block(e.batch, m.batch)),
        p_(block(e.pixel, m.io)),
        h_(block(e.hidden, m.hidden)),
        l_(e.label),
        over_batch_(world, at_.io * m.hidden + at_.hidden),
        over_io_(world, at_.batch * m.hidden + at_.hidden),
        over_hidden_(world, at_.batch * m.io + at_.io),
        over_batch_io_(world, at_.hidden),
        over_all_(world, 0),
        first_('N', 'N', b_, h_, p_),
        second_('N', 'N', b_, l_, h_),
        to_w2_('T', 'N', h_, l_, b_),
        to_a_('N', 'T', b_, h_, l_),
        to_w1_('T', 'N', p_, h_, b_),
        n_(floats(p_, h_) + floats(1, h_) + floats(h_, l_) + floats(1, l_)),
        parameters_(n_),
        gradients_(n_ + 1),
        m_(n_),
        v_(n_),
        a_(floats(b_, h_)),
        da_(floats(b_, h_)),
        y_(floats(b_, l_)) {
    for (product* p : {&first_, &second_, &to_w2_, &to_a_, &to_w1_}) p->tune(world);
  }

  /// Forward and backward, then m = mu m + g, w -= lr m. x_block[b,p], labels_block[b].
  double step(const float* x_block, const std::int32_t* labels_block, float lr, float mu) {
    const double loss = loss_and_gradients(x_block, labels_block);
    momentum(parameters_.data(), m_.data(), gradients_.data(), n_, lr, mu);
    return loss;
  }

  /// Forward and backward, then Adam with bias correction.
  double step_adam(const float* x_block, const std::int32_t* labels_block, float lr,
                   float beta1 = 0.9f, float beta2 = 0.999f, float eps = 1e-8f) {
    const double loss = loss_and_gradients(x_block, labels_block);
    ++steps_;
    const double c1 = 1 - std::pow(beta1, steps_), c2 = 1 - std::pow(beta2, steps_);
    adam(parameters_.data(), m_.data(), v_.data(), gradients_.data(), n_,
         {static_cast<float>(lr / c1), static_cast<float>(1 / c2), beta1, beta2, eps});
    return loss;
  }

  /// The loss of the global batch; afterwards every rank holds its block of every gradient.
  double loss_and_gradients(const float* x_block, const std::int32_t* labels_block) {
    const parts w = split(parameters_.data()), g = split(gradients_.data());
    // a[b,h] = relu(x[b,p] . w1[p,h] + b1[h])
    first_(x_block, w.w1, a_.data());
    over_io_.sum(a_.data(), floats(b_, h_));
    add_bias_relu(a_.data(), w.b1, b_, h_);
    // y[b,l] = a[b,h] . w2[h,l] + b2[l], turned into the loss's gradient in place
    second_(a_.data(), w.w2, y_.data());
    over_hidden_.sum(y_.data(), floats(b_, l_));
    const double loss = softmax_loss(y_.data(), w.b2, labels_block, b_, l_, full_.batch);
    if (way_ == backward::transposed) return backward_transposed(x_block, loss);
    to_w2_(a_.data(), y_.data(), g.w2);
    sum_rows(y_.data(), g.b2, b_, l_);
    to_a_(y_.data(), w.w2, da_.data());
    mask_and_sum_rows(da_.data(), a_.data(), g.b1, b_, h_);
    to_w1_(x_block, da_.data(), g.w1);
    gradients_.data()[n_] = static_cast<float>(loss);
    over_batch_.sum(gradients_.data(), n_ + 1);
    return over_batch_.size() > 1 ? gradients_.data()[n_] : loss;
  }

  void set_parameters(const parameters& full) {
    const parts w = split(parameters_.data());
    const int p0 = at_.io * p_, h0 = at_.hidden * h_;
    for (int i = 0; i < p_; ++i)
      std::copy_n(&full.w1[floats(p0 + i, full_.hidden) + h0], h_, w.w1 + floats(i, h_));
    std::copy_n(&full.b1[h0], h_, w.b1);
    std::copy_n(&full.w2[floats(h0, l_)], floats(h_, l_), w.w2);
    std::copy_n(&full.b2[0], l_, w.b2);
    std::fill_n(m_.data(), n_, 0.0f);
    std::fill_n(v_.data(), n_, 0.0f);
    steps_ = 0;
  }

  /// The whole arrays, on every rank.
  parameters gather_parameters() const { return gather(parameters_.data()); }
  parameters gather_gradients() const { return gather(gradients_.data()); }

  std::size_t local_parameters() const { return n_; }
  std::array<const char*, 5> kernels() const {
    return {first_.name(), second_.name(), to_w2_.name(), to_a_.name(), to_w1_.name()};
  }

 private:
  struct parts {
    float *w1, *b1, *w2, *b2;
  };
  parts split(float* all) const {
    float* const b1 = all + floats(p_, h_);
    float* const w2 = b1 + h_;
    return {all, b1, w2, w2 + floats(h_, l_)};
  }

  static std::size_t floats(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }

  static mesh coordinates(MPI_Comm world, mesh m) {
    int rank = 0, size = 0;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    if (size != m.batch * m.io * m.hidden)
      throw std::invalid_argument("handwritten::network: the mesh needs another number of ranks");
    return {rank / (m.io * m.hidden), rank / m.hidden % m.io, rank % m.hidden};
  }

  static int block(int extent, int ranks) {
    if (extent % ranks != 0)
      throw std::invalid_argument("handwritten::network: an axis does not divide an extent");
    return extent / ranks;
  }

  double backward_transposed(const float* x_block, double loss) {
    const parts w = split(parameters_.data()), g = split(gradients_.data());
    if (at_.io > 0 || at_.hidden > 0) std::fill_n(y_.data(), floats(b_, l_), 0.0f);
    sum_rows(y_.data(), g.b2, b_, l_);
    over_hidden_.sum(y_.data(), floats(b_, l_));
    to_w2_(a_.data(), y_.data(), g.w2);
    to_a_(y_.data(), w.w2, da_.data());
    mask_and_sum_rows(da_.data(), a_.data(), g.b1, b_, h_);
    over_io_.sum(da_.data(), floats(b_, h_));
    to_w1_(x_block, da_.data(), g.w1);
    over_batch_.sum(g.w1, floats(p_, h_));
    over_batch_io_.sum(g.b1, floats(1, h_) + floats(h_, l_));
    over_all_.sum(g.b2, floats(1, l_));
    float& total = gradients_.data()[n_];
    total = static_cast<float>(loss);
    over_batch_.sum(&total, 1);
    return over_batch_.size() > 1 ? total : loss;
  }

  /// Every element is contributed by the one rank that comes first among those that hold it.
  parameters gather(float* all) const {
    const parts w = split(all);
    const int P = full_.pixel, H = full_.hidden, p0 = at_.io * p_, h0 = at_.hidden * h_;
    parameters out{std::vector<float>(floats(P, H)), std::vector<float>(floats(1, H)),
                   std::vector<float>(floats(H, l_)), std::vector<float>(floats(1, l_))};
    if (at_.batch == 0)
      for (int i = 0; i < p_; ++i)
        std::copy_n(w.w1 + floats(i, h_), h_, &out.w1[floats(p0 + i, H) + h0]);
    if (at_.batch == 0 && at_.io == 0) {
      std::copy_n(w.b1, h_, &out.b1[h0]);
      std::copy_n(w.w2, floats(h_, l_), &out.w2[floats(h0, l_)]);
      if (at_.hidden == 0) std::copy_n(w.b2, l_, &out.b2[0]);
    }
    for (std::vector<float>* x : {&out.w1, &out.b1, &out.w2, &out.b2})
      over_all_.sum(x->data(), x->size());
    return out;
  }

  mesh mesh_;
  extents full_;
  backward way_;
  mesh at_;  // this rank's coordinates
  int b_, p_, h_, l_;
  group over_batch_, over_io_, over_hidden_, over_batch_io_, over_all_;
  product first_, second_, to_w2_, to_a_, to_w1_;
  std::size_t n_;
  buffer parameters_, gradients_, m_, v_;  // w1, b1, w2, b2 one after the other
  buffer a_, da_, y_;  // [b,h], [b,h], [b,l]
  int steps_ = 0;
};

}  // namespace handwritten
