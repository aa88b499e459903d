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
#include "dimesh/pipeline/rank_operations.hpp"
#include "dimesh/pipeline/shape_cells.hpp"

namespace dimesh {

/// Floating-point operations of a stage for a micro-batch.
struct stage_cost {
  index_t forward = 0, backward_input = 0, backward_weight = 0;
};

/// What `forecast` finds. It also gives durations to check_schedule, simulate and the pictures.
struct pipeline_forecast {
  int held = 0;  ///< micro-batches' activations of a stage at a time, at most, on this rank
  index_t peak = 0;  ///< bytes at once, at most, on this rank, beside weights and micro-batches:
      ///< gradients, what waits for its way back, what comes from other stages and goes there
  index_t messages = 0;  ///< that this rank sends to other stages
  index_t bytes = 0;  ///< of their elements
  int slices = 1;  ///< of a sequence (slices.hpp)
  std::vector<stage_cost> stages = {};  ///< all stages, in order; of each, slice by slice
  double message = 0;  ///< what a message takes, in the time of a floating-point operation
  double of(const stage_operation& o) const {
    const stage_cost& c = stages[static_cast<std::size_t>(o.stage * slices + o.micro % slices)];
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

/// Messages that are counted: shapes of what is sent stay as long as it would, and what is received
/// is a shape as long as it should be.
class rehearsal final : public messenger {
 public:
  /// headers: of all channels, in the order in which they are opened.
  rehearsal(const void* object, const grid_state& g, bool waits, tally& t,
            std::vector<std::vector<index_t>> headers)
      : messenger(object, g, waits), sizes_(g.sizes()), tally_(&t), headers_(std::move(headers)) {}
  std::unique_ptr<transfer> send(channel&, int, const cores& x, int) override {
    for (const tensor_core& one : x) ++messages, bytes += one.bytes();
    auto t = std::make_unique<transfer>();
    if (!waits()) t->tensors = x;
    return t;
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
  void settle(std::unique_ptr<transfer>& t) override { t.reset(); }
  void progress(const std::unique_ptr<transfer>&) override {}
  void give_up(const channel&, int) noexcept override {}
  void take_no_more(int) noexcept override {}

 private:
  const index_t* sizes_;
  tally* tally_;
  std::vector<std::vector<index_t>> headers_;
  std::size_t next_ = 0;
};

/// Goes through all stages and back with one micro-batch, or with the slices of one sequence: what
/// each operation computes, and the headers of all channels.
class survey {
 public:
  std::vector<stage_cost> cost;
  std::vector<std::vector<index_t>> headers;  // of stage s and a slice, in and back

  /// inputs: of the slices.
  survey(std::span<cell_base* const> cells, const std::vector<cores>& inputs)
      : cost(cells.size() * inputs.size()),
        headers(2 * cost.size()),
        cells_(cells),
        slices_(inputs.size()),
        here_(cells, tally_),
        runs_(cost.size()),
        pasts_(cells.size()) {
    tally_.takes_captured = true;
    for (std::size_t i = 0; i < slices_; ++i) go_forward(i, as_shapes(inputs[i], &tally_));
    pasts_.assign(cells.size(), {});
    for (std::size_t i = slices_; i-- > 0;) go_back(i);
  }

 private:
  std::size_t at(std::size_t stage, std::size_t slice) const { return stage * slices_ + slice; }
  index_t since() { return tally_.flops - std::exchange(before_, tally_.flops); }
  static cores split_off(cores& from, std::size_t count) {
    cores out(from.end() - static_cast<std::ptrdiff_t>(count), from.end());
    from.resize(from.size() - count);
    return out;
  }
  void go_forward(std::size_t slice, cores x) {
    for (std::size_t s = 0; s < cells_.size(); ++s) {
      const cell_base& c = *cells_[s];
      if (slice == 0 && !c.carries.empty()) pasts_[s] = as_shapes(c.first_past(0), &tally_);
      x.insert(x.end(), pasts_[s].begin(), pasts_[s].end());
      auto& run = runs_[at(s, slice)];
      run = std::make_unique<cell_run>(c, x, static_cast<int>(slice), true, s > 0);
      cost[at(s, slice)].forward = since();
      x = run->y;
      for (tensor_core& one : x) one.record = nullptr;
      pasts_[s] = split_off(x, c.carries.size());
      if (s + 1 == cells_.size()) break;
      for (std::size_t i = 0; i < x.size(); ++i) x[i].facts = cells_[s + 1]->takes[i].facts;
      headers[2 * at(s + 1, slice)] = channel::header_of(x);
    }
  }
  void go_back(std::size_t slice) {
    cores bar;
    for (std::size_t s = cells_.size(); s-- > 0;) {
      cell_base& c = *cells_[s];
      cell_run& run = *runs_[at(s, slice)];
      stage_cost& here = cost[at(s, slice)];
      run.seed(bar, c.sums, std::exchange(pasts_[s], {}));
      run.backward_input(c.sums);
      bar = run.xbar();
      std::size_t carried = 0;
      for (const tensor_core& one : c.carries) carried += one.facts->has_gradient;
      pasts_[s] = split_off(bar, carried);
      if (s > 0) headers[2 * at(s - 1, slice) + 1] = channel::header_of(bar);
      here.backward_input = since();
      run.backward(c.sums);
      here.backward_weight = since();
    }
  }

  tally tally_;
  std::span<cell_base* const> cells_;
  std::size_t slices_;
  shape_weights here_;
  index_t before_ = 0;
  std::vector<std::unique_ptr<cell_run>> runs_;
  std::vector<cores> pasts_;  // of each stage, of the slice before; then their cotangents
};

/// This rank's operations on shapes. input(i): of the slices of a sequence, or of one micro-batch.
inline pipeline_forecast rehearse(std::span<cell_base* const> cells, const standing& on, bool waits,
                                  const std::function<cores(int)>& input_of, int slices,
                                  const rank_operations& mine) {
  pipeline_forecast f;
  f.slices = slices;
  std::vector<cores> inputs;
  for (int i = 0; i < slices; ++i) inputs.push_back(input_of(i));
  survey seen(cells, inputs);
  f.stages = std::move(seen.cost);
  tally t;
  t.takes_captured = true;
  const shape_weights here(cells, t);
  rehearsal m(on.object, *on.grid, waits, t, std::move(seen.headers));
  const auto input = [&](int i) {
    return as_shapes(inputs[static_cast<std::size_t>(i) % inputs.size()], &t);
  };
  executor e(cells, m, on.coord(), true, input, f.slices);
  e.run(mine.all, mine.window);
  f.held = e.report.peak, f.messages = m.messages, f.bytes = m.bytes, f.peak = t.peak;
  return f;
}

}  // namespace detail::pipeline
}  // namespace dimesh
