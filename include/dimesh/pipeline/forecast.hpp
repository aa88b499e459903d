// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What will a step of a pipeline take, before it is taken? The ranks' operations run on shapes:
// memory, messages and arithmetic are counted, and nothing is computed or sent.
//
//   const pipeline_forecast f = net.forecast(one_f_one_b{2, 8}, weights, inputs, loss);
//   f.peak, f.bytes          bytes that the step adds to this rank's memory at most; that it sends
//   f.stages[1].forward      floating-point operations of stage 1 for a micro-batch
//   check_schedule(one_f_one_b{2, 8}, f).bubble     of stages that take as long as they compute
#pragma once

#include "dimesh/pipeline/executor.hpp"

namespace dimesh {

/// Floating-point operations of a stage for a micro-batch.
struct stage_cost {
  index_t forward = 0, backward_input = 0, backward_weight = 0;
};

/// What `forecast` finds. It also gives durations to check_schedule, simulate and the pictures.
struct pipeline_forecast {
  int held = 0;  ///< micro-batches' activations of a stage at a time, at most, on this rank
  index_t peak = 0;  ///< bytes at once, at most, on this rank, beside weights and micro-batches:
      ///< gradients, what waits for its way back, and what comes from other stages
  index_t messages = 0;  ///< that this rank sends to other stages
  index_t bytes = 0;  ///< of their elements
  std::vector<stage_cost> stages = {};  ///< all stages, in order
  double message = 0;  ///< what a message takes, in the time of a floating-point operation
  double of(const stage_operation& o) const {
    const stage_cost& c = stages[static_cast<std::size_t>(o.stage)];
    switch (o.work) {
      case stage_work::forward:
        return static_cast<double>(c.forward);
      case stage_work::backward_input:
        return static_cast<double>(c.backward_input);
      case stage_work::backward_weight:
        return static_cast<double>(c.backward_weight);
      default:
        return static_cast<double>(c.backward_input + c.backward_weight);
    }
  }
};

namespace detail::pipeline {

/// A tensor without elements, that costs no memory: it was there before.
inline tensor_core as_shape(const tensor_core& x, tally* t) {
  tensor_core s = x;
  s.become_shape(nullptr);
  s.count = t;
  return s;
}
inline cores as_shapes(const cores& x, tally* t) {
  cores all;
  for (const tensor_core& one : x) all.push_back(as_shape(one, t));
  return all;
}

/// Messages that are counted: what is sent is gone, what is received a shape as long as it should.
class rehearsal final : public messenger {
 public:
  /// headers: of all channels, in the order in which they are opened.
  rehearsal(const void* object, const grid_state& g, bool waits, tally& t,
            std::vector<std::vector<index_t>> headers)
      : messenger(object, g, waits), sizes_(g.sizes()), tally_(&t), headers_(std::move(headers)) {}
  void send(channel&, int, const cores& x, int) override {
    for (const tensor_core& one : x) ++messages, bytes += one.bytes();
  }
  std::unique_ptr<transfer> receive(channel& c, int, const cores& like) override {
    auto t = std::make_unique<transfer>();
    c.known = true;
    const index_t* at = c.header.data();
    for (const tensor_core& one : like) {
      tensor_core x(one.facts);
      x.once = static_cast<unsigned>(*at++);
      x.make_shape(sizes_, at, tally_);
      at += one.facts->rank;
      t->tensors.push_back(std::move(x));
    }
    return t;
  }
  channel open() override { return {0, 0, headers_[next_++], false}; }
  void reap(bool) override {}
  void give_up(const channel&, int) noexcept override {}

 private:
  const index_t* sizes_;
  tally* tally_;
  std::vector<std::vector<index_t>> headers_;
  std::size_t next_ = 0;
};

/// Shapes in place of weights, while this lives; then cells have neither.
class shape_weights {
 public:
  shape_weights(std::span<cell_base* const> cells, tally& t) : cells_(cells) {
    for (cell_base* c : cells_) {
      c->weights = as_shapes(c->weights, &t);
      c->sums.assign(c->weights.size(), tensor_core{});
    }
  }
  shape_weights(const shape_weights&) = delete;
  ~shape_weights() {
    for (cell_base* c : cells_)
      for (tensor_core& one : c->sums) one = tensor_core{};
  }

 private:
  std::span<cell_base* const> cells_;
};

/// One micro-batch through all stages and back: what each of them computes, and the headers of
/// channels, in and back for each stage.
inline std::vector<std::vector<index_t>> survey(std::span<cell_base* const> cells,
                                                const cores& input, std::vector<stage_cost>& cost) {
  tally t;
  t.takes_captured = true;
  const shape_weights here(cells, t);
  const std::size_t n = cells.size();
  std::vector<std::vector<index_t>> headers(2 * n);
  std::vector<std::unique_ptr<cell_run>> runs;
  cores x = as_shapes(input, &t);
  index_t before = 0;
  const auto since = [&t, &before] { return t.flops - std::exchange(before, t.flops); };
  for (std::size_t s = 0; s < n; ++s) {
    runs.push_back(std::make_unique<cell_run>(*cells[s], x, 0, true, s > 0));
    cost.push_back({since(), 0, 0});
    x = runs[s]->y;
    if (s + 1 == n) break;
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i].record = nullptr, x[i].facts = cells[s + 1]->takes[i].facts;
    headers[2 * (s + 1)] = channel::header_of(x);
  }
  x.clear();
  cores bar;
  for (std::size_t s = n; s-- > 0;) {
    runs[s]->seed(bar, cells[s]->sums);
    runs[s]->backward_input(cells[s]->sums);
    if (s > 0) bar = runs[s]->xbar();
    if (s > 0) headers[2 * (s - 1) + 1] = channel::header_of(bar);
    cost[s].backward_input = since();
    runs[s]->backward(cells[s]->sums);
    cost[s].backward_weight = since();
  }
  return headers;
}

/// This rank's operations on shapes.
inline pipeline_forecast rehearse(std::span<cell_base* const> cells, const void* object,
                                  const grid_state& g, int axis, bool waits, const cores& input,
                                  std::span<const stage_operation> mine) {
  for (const cell_base* c : cells)
    if (!c->carries.empty())
      (words() << "pipeline: a cell of slices has no forecast, since each slice costs what those "
                  "before it make it cost; run it")
          .raise();
  pipeline_forecast f;
  auto headers = survey(cells, input, f.stages);
  tally t;
  t.takes_captured = true;
  const shape_weights here(cells, t);
  rehearsal m(object, g, waits, t, std::move(headers));
  executor e(cells, m, static_cast<int>(g.coords()[axis]), true,
             [&](int) { return as_shapes(input, &t); });
  e.run(mine);
  f.held = e.report.peak, f.messages = m.messages, f.bytes = m.bytes, f.peak = t.peak;
  return f;
}

}  // namespace detail::pipeline
}  // namespace dimesh
