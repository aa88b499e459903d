// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a stage keep of a micro-batch between its way forward and its way back? One run of a
// cell: its tape, and the cells where cotangents come in and go out. It knows no types, so that the
// executor is compiled once.
//
//   cell_run r(c, weights, x, micro, recorded);     // forward; r.y: what goes on
//   r.backward(ybar, sums);                         // r.xbar() goes back, weights' are in sums
#pragma once

#include <utility>
#include <vector>

#include "dimesh/core/replicas.hpp"
#include "dimesh/grad/recorded_run.hpp"

namespace dimesh::detail::pipeline {

using cores = std::vector<tensor_core>;

/// A cell without its types.
class cell_base {
 public:
  int place = 0;  // along the pipeline's axis
  cores weights, sums;  // and the sums of their cotangents
  cores takes, gives;  // tensors that say nothing but their facts
  cores carries;  // likewise: what a slice gets of the one before it, behind what it takes
  const tensor_facts* const* gradient_facts = nullptr;

  /// The function on tensors that are recorded where their cores say so; the last cell gives the
  /// loss of the micro-batch.
  virtual void call(const cores& w, const cores& x, int micro, cores& y) const = 0;
  /// What the first slice of a sequence gets.
  virtual cores first_past(int micro) const = 0;
  /// `weights` are again those that the user has, after an update.
  virtual void renew() = 0;

 protected:
  ~cell_base() = default;
};

/// While one lives, this thread runs cells of one place of a pipeline, and ranks at other places
/// something else.
class [[nodiscard]] at_one_place {
 public:
  at_one_place() : before_(std::exchange(here(), true)) {}
  at_one_place(const at_one_place&) = delete;
  at_one_place& operator=(const at_one_place&) = delete;
  ~at_one_place() { here() = before_; }
  static bool& here() {
    static thread_local bool it = false;
    return it;
  }

 private:
  bool before_;
};

class cell_run {
 public:
  cores y;  // what the cell gives, recorded

  cell_run(const cell_base& c, const cores& x, int micro, bool recorded, bool wants_inputs) {
    for (const tensor_core& w : c.weights) weights_.push_back(recorded ? opened(w) : w);
    carried_ = c.carries.size();
    for (const tensor_core& one : x) {
      const bool wanted = wants_inputs || x_.size() + carried_ >= x.size();
      const bool opens = recorded && wanted && one.facts->has_gradient;
      x_.push_back(opens ? opened(one) : one);
      if (opens) x_.back().record->to_input = true;
    }
    c.call(weights_, x_, micro, y);
    for (tensor_core& one : x_) one.forget_data();  // what is read again, nodes have
  }
  cell_run(const cell_run&) = delete;
  cell_run& operator=(const cell_run&) = delete;

  /// Takes cotangents of y, one for each that has some; none: y is a loss. Then those of what the
  /// next slice has got, if there is one. The sums are lent first: a weight that the cell gives as
  /// it is has its cotangent here.
  void seed(cores& ybar, cores& sums, cores next = {}) {
    lend(sums);
    std::size_t i = 0, j = 0, left = y.size();
    for (tensor_core& one : y) {
      const bool handed_on = left-- <= carried_;
      if (!one.facts->has_gradient || (handed_on && next.empty())) continue;
      tensor_core bar = handed_on      ? std::move(next[j++])
                        : ybar.empty() ? seed_of(one)
                                       : std::move(ybar[i++]);
      if (one.record == nullptr) continue;
      bar.facts = one.facts->dual;
      one.record->add(std::move(bar));
    }
    y.clear();
  }
  /// The whole way back; or its two parts, one after the other.
  void backward(cores& sums) {
    lend(sums);
    run_.backward();
    collect(sums);
  }
  /// (What runs as a whole, a recomputed block, gives the weights' cotangents already.)
  void backward_input(cores& sums) {
    lend(sums);
    run_.backward_inputs();
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      cell& c = *weights_[i].record;
      if (!std::exchange(c.filled, false)) continue;
      sums[i] = std::move(c.bar);
      sums[i].facts = weights_[i].facts->dual;
    }
  }

  /// The cotangents of the inputs that have one, and of what came from the slice before.
  cores xbar() {
    cores out;
    for (const tensor_core& one : x_) {
      if (one.record == nullptr) continue;
      tensor_core bar(one.facts->dual);
      collect_gradient(bar, one);
      out.push_back(std::move(bar));
    }
    return out;
  }

 private:
  /// A core that is recorded from now on.
  tensor_core opened(const tensor_core& x) {
    tensor_core v = x;
    const tensor_core* const from[] = {&x};
    tensor_core* const to[] = {&v};
    run_.open(from, to, 1, gradients_lie::anywhere);
    return v;
  }
  /// Contributions add up where those of earlier micro-batches do.
  void lend(cores& sums) {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (!sums[i].defined() && !sums[i].is_shape) continue;
      cell& c = *weights_[i].record;
      c.bar = std::move(sums[i]);
      c.filled = true;
    }
  }
  void collect(cores& sums) {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      sums[i] = tensor_core(weights_[i].facts->dual);
      collect_gradient(sums[i], weights_[i]);
    }
  }

  recorded_run run_;
  cores weights_, x_;
  std::size_t carried_ = 0;
};

}  // namespace dimesh::detail::pipeline
