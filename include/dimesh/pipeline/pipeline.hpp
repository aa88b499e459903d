// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a model train whose layers live on the stages of a pipeline? Its cells are functions at
// coordinates of an axis; a schedule says in which order each rank works; values and gradients are
// means over the micro-batches, whatever the schedule.
//
//   const auto net = pipeline<stage>(cell<0>(f), cell<1>(g));
//   auto step = net.value_and_grad(one_f_one_b{2, 8}, weights, inputs, loss);
//     weights: a tuple, one element for each cell, its tensors at the cell's place
//     inputs(i): what the first cell gets of micro-batch i, on that stage
//     loss(y, i): a tensor without dims, of what the last cell gives, on that stage
//   step.value, step.gradient     as value_and_grad gives; complete(step) sums over other axes
//
// What goes from one cell to the next is a tensor, or a tuple or struct of them: what a later cell
// needs, too, is handed through.
#pragma once

#include "dimesh/pipeline/checked_schedule.hpp"
#include "dimesh/pipeline/executor.hpp"
#include "dimesh/pipeline/forecast.hpp"
#include "dimesh/pipeline/typed_cell.hpp"

namespace dimesh {

/// How a pipeline runs.
struct pipeline_settings {
  bool blocking = false;  ///< messages are waited for; of schedules that are safe_blocking
  pipeline_report* report = nullptr;  ///< where to note what this rank did
};

namespace detail::pipeline {

[[noreturn]] inline void refuse_place(const stage_operation& o, int rank, int place) {
  (words() << "pipeline: the schedule has stage " << o.stage << " on rank " << rank
           << ", and its cell lives at coordinate " << place
           << "; place cells as the schedule says")
      .raise();
}
[[noreturn]] inline void refuse_stages(int schedule, int cells, index_t ranks, index_t axis) {
  (words() << "pipeline: the schedule has " << schedule << " stages on " << ranks
           << " ranks, the pipeline " << cells << " cells on " << axis
           << "; give as many cells as stages, on an axis of as many ranks")
      .raise();
}

/// The list of a rank's operations. Throws where the schedule is wrong, or not made for the cells.
template <class S>
std::vector<stage_operation> operations_of(const S& s, std::span<cell_base* const> cells,
                                           index_t size, index_t rank, bool blocking) {
  const schedule_facts facts = checked_schedule(s);
  if (s.stages() != static_cast<int>(cells.size()) || s.ranks != size)
    refuse_stages(s.stages(), static_cast<int>(cells.size()), s.ranks, size);
  if (blocking && !facts.safe_blocking)
    (words() << "pipeline: the schedule does not run with blocking messages: two ranks would both "
                "send; leave `blocking` out")
        .raise();
  for (int stage = 0; stage < s.stages(); ++stage)
    for (int micro = 0; micro < s.micros; ++micro)
      if (const int at = s.rank_of(stage, micro);
          at != cells[static_cast<std::size_t>(stage)]->place)
        refuse_place({stage_work::forward, micro, stage}, at,
                     cells[static_cast<std::size_t>(stage)]->place);
  std::vector<stage_operation> all;
  const int mine = static_cast<int>(rank);
  for (int k = 0; k < s.length(mine); ++k) all.push_back(s.at(mine, k));
  return all;
}

/// Where a pipeline stands: the grid of its weights, and an axis of it.
struct standing {
  const void* object = nullptr;
  const grid_state* grid = nullptr;
  int axis = 0;
};

}  // namespace detail::pipeline

/// What pipeline<A>(cells...) gives.
template <class A, class... Cell> class pipeline_of {
  static constexpr std::size_t count = sizeof...(Cell);
  template <std::size_t I> using cell_type = std::tuple_element_t<I, std::tuple<Cell...>>;
  template <std::size_t I>
  using function_type = std::remove_cvref_t<decltype(std::declval<cell_type<I>>().function)>;

  /// The type of cell I with these weights, of what the one before gives.
  template <std::size_t I, class W, class X, bool Recorded, class After>
  using typed = detail::pipeline::typed_cell<
      cell_type<I>::place, function_type<I>, std::tuple_element_t<I, W>,
      detail::pipeline::moved<X, A, cell_type<I>::place>, Recorded, I == 0,
      std::conditional_t<I + 1 == count, After, detail::pipeline::nothing_more>>;

 public:
  constexpr explicit pipeline_of(const Cell&... c) : cells_(c...) {}

  /// Means over the micro-batches of the loss, and of its gradient with respect to the weights:
  /// a tuple as they are. On ranks of other stages a cell's gradient has no elements, and the loss
  /// has some on the last cell's stage only. Sums along other axes are left to `complete`. Sends
  /// what goes from cell to cell; a header goes before the first message of each boundary. Throws
  /// dimesh::error for a schedule that is wrong, or not made for these cells, and where
  /// micro-batches differ in their extents.
  template <PipelineSchedule S, class W, class Inputs, class Loss>
    requires(std::tuple_size_v<W> == count)
  auto value_and_grad(const S& s, const W& weights, const Inputs& inputs, const Loss& loss,
                      const pipeline_settings& how = {}) const {
    using after = detail::pipeline::mean_of<Loss>;
    using X = std::remove_cvref_t<decltype(inputs(0))>;
    using fault = fault_of<true, after, W, X>;
    static_assert(ok<only<fault, weight_not_on_stage>>,
                  "pipeline: a weight of a cell does not live at the cell's place; give its layout "
                  "placed<axis, k> of the cell's own k");
    static_assert(ok<only<fault, stages_do_not_meet>>,
                  "pipeline: a cell takes other dims than the cell before it gives; let the one "
                  "give what the other takes");
    static_assert(ok<only<fault, cell_not_callable_with>>,
                  "pipeline: a cell cannot be called with its weights and what the cell before it "
                  "gives; take both as const auto&, and return a tensor");
    if constexpr (!ok<fault>) {
      return value_and_gradient<poison, poison>{};
    } else {
      const after mean{loss, 1.0 / s.micros};
      return next_cell<0, true, after, W, X>(
          mean, weights, [&](auto&... cell) { return train(s, inputs, how, cell...); });
    }
  }
  /// What value_and_grad will take on this rank: memory, messages and arithmetic, counted on
  /// shapes. Nothing is computed or sent, so each rank may ask by itself; inputs(0) is called on
  /// every rank that does. What inputs and loss have captured counts as being there before. Where
  /// blocks differ, of the first rank's, which are the largest.
  template <PipelineSchedule S, class W, class Inputs, class Loss>
    requires(std::tuple_size_v<W> == count)
  pipeline_forecast forecast(const S& s, const W& weights, const Inputs& inputs, const Loss& loss,
                             const pipeline_settings& how = {}) const {
    using after = detail::pipeline::mean_of<Loss>;
    using X = std::remove_cvref_t<decltype(inputs(0))>;
    static_assert(ok<fault_of<true, after, W, X>>,
                  "pipeline: the cells and their weights do not fit; value_and_grad of them says "
                  "what is wrong");
    if constexpr (!ok<fault_of<true, after, W, X>>)
      return {};
    else
      return next_cell<0, true, after, W, X>(
          after{loss, 1.0 / s.micros}, weights, [&](auto&... cell) {
            const detail::pipeline::standing on = standing_of(cell...);
            detail::pipeline::cell_base* const all[] = {&cell...};
            const auto mine = detail::pipeline::operations_of(
                s, all, on.grid->sizes()[on.axis], on.grid->coords()[on.axis], how.blocking);
            return detail::pipeline::rehearse(all, on.object, *on.grid, on.axis, how.blocking,
                                              input_of(inputs, first_cell(cell...))(0), mine);
          });
  }
  /// What the last cell gives of each micro-batch, a vector, empty on other stages. Of
  /// forward_only.
  template <PipelineSchedule S, class W, class Inputs>
    requires(std::tuple_size_v<W> == count)
  auto forward(const S& s, const W& weights, const Inputs& inputs,
               const pipeline_settings& how = {}) const {
    using X = std::remove_cvref_t<decltype(inputs(0))>;
    using after = detail::pipeline::nothing_more;
    static_assert(ok<fault_of<false, after, W, X>>,
                  "pipeline: the cells and their weights do not fit; value_and_grad of them says "
                  "what is wrong");
    if constexpr (!ok<fault_of<false, after, W, X>>)
      return std::vector<poison>{};
    else
      return next_cell<0, false, after, W, X>(
          after{}, weights, [&](auto&... cell) { return serve(s, inputs, how, cell...); });
  }

 private:
  template <bool Recorded, class After, class W, class X>
  using fault_of =
      typename detail::pipeline::chain_fault<A, Recorded, After, W, X, 0, Cell...>::type;

  template <std::size_t I, bool Recorded, class After, class W, class X, class Then, class... Done>
  auto next_cell(const After& after, const W& weights, const Then& then, Done&... done) const {
    using typed_here = typed<I, W, X, Recorded, After>;
    typed_here here(std::get<I>(cells_).function, std::get<I>(weights), after_of<I>(after));
    if constexpr (I + 1 < count)
      return next_cell<I + 1, Recorded, After, W, typename typed_here::plain_given>(
          after, weights, then, done..., here);
    else
      return then(done..., here);
  }
  template <std::size_t I, class After> static const auto& after_of(const After& after) {
    static constexpr detail::pipeline::nothing_more nothing;
    if constexpr (I + 1 == count)
      return after;
    else
      return nothing;
  }
  [[noreturn]] static void refuse_grids() {
    (detail::words() << "pipeline: weights of the cells live on different grids; make all of them "
                        "on one")
        .raise();
  }
  template <class... C> static detail::pipeline::standing standing_of(const C&... cell) {
    detail::pipeline::standing found;
    const auto look = [&found](const detail::pipeline::cell_base& c) {
      for (const detail::tensor_core& w : c.weights) {
        detail::require_grid("pipeline", w);
        if (found.grid != nullptr && found.grid != w.grid) refuse_grids();
        found = {w.grid_object, w.grid, w.facts->axis_of(detail::type_number<A>)};
      }
    };
    (look(cell), ...);
    if (found.grid == nullptr)
      (detail::words() << "pipeline: no cell has a weight, so that nothing says on which grid it "
                          "runs; give one of them a tensor")
          .raise();
    return found;
  }
  template <class First, class... C> static First& first_cell(First& first, C&...) { return first; }
  /// The micro-batch at the first cell's place, which it need not have by type.
  template <class First, class Inputs> static auto input_of(const Inputs& inputs, const First& c) {
    return [&inputs, &c](int micro) {
      const auto x = inputs(micro);
      using X = std::remove_cvref_t<decltype(x)>;
      detail::pipeline::cores all;
      const detail::core_list<X> from(x);
      for (int i = 0; i < from.size; ++i) {
        all.push_back(*from.at[i]);
        all.back().facts = c.takes[static_cast<std::size_t>(i)].facts;
      }
      return all;
    };
  }
  template <bool Recorded, class S, class Inputs, class First, class... C, class Then>
  static auto run(const S& s, const Inputs& inputs, const pipeline_settings& how, const Then& then,
                  First& first, C&... cell) {
    const detail::pipeline::standing on = standing_of(first, cell...);
    detail::pipeline::cell_base* const all[] = {&first, &cell...};
    const index_t size = on.grid->sizes()[on.axis], rank = on.grid->coords()[on.axis];
    const auto mine = detail::pipeline::operations_of(s, all, size, rank, how.blocking);
    detail::pipeline::messenger m(on.object, *on.grid, on.axis, how.blocking);
    detail::pipeline::executor e(all, m, static_cast<int>(rank), Recorded, input_of(inputs, first));
    e.run(mine);
    if (how.report != nullptr) *how.report = e.report;
    return then(e, on);
  }
  template <class S, class Inputs, class... C>
  static auto train(const S& s, const Inputs& inputs, const pipeline_settings& how, C&... cell) {
    using last = std::tuple_element_t<count - 1, std::tuple<C...>>;
    using loss_type = typename last::plain_given;
    return run<true>(
        s, inputs, how,
        [&](detail::pipeline::executor& e, const detail::pipeline::standing& on) {
          loss_type loss{};
          detail::tensor_core& to = detail::core_of(loss);
          const detail::tensor_facts* const facts = to.facts;
          if (e.loss.empty())
            to.make_on(on.object, *on.grid, nullptr, detail::storage{});
          else
            to = std::move(e.loss[0]);
          to.facts = facts;
          using gradients = std::tuple<decltype(cell.gradient())...>;
          return value_and_gradient<loss_type, gradients>{std::move(loss),
                                                          gradients{cell.gradient()...}};
        },
        cell...);
  }
  template <class S, class Inputs, class... C>
  static auto serve(const S& s, const Inputs& inputs, const pipeline_settings& how, C&... cell) {
    using last = std::tuple_element_t<count - 1, std::tuple<C...>>;
    using Y = typename last::plain_given;
    return run<false>(
        s, inputs, how,
        [&](detail::pipeline::executor& e, const detail::pipeline::standing&) {
          std::vector<Y> all;
          for (auto& [micro, y] : e.given) {
            Y one{};
            const detail::core_list<Y> to(one);
            for (int i = 0; i < to.size; ++i) *to.at[i] = std::move(y[static_cast<std::size_t>(i)]);
            all.push_back(std::move(one));
          }
          return all;
        },
        cell...);
  }

  std::tuple<Cell...> cells_;
};

/// A pipeline along axis A, of cells in the order in which a micro-batch goes through them.
template <Axis A, class... Cell> constexpr auto pipeline(const Cell&... cells) {
  return pipeline_of<A, Cell...>(cells...);
}

}  // namespace dimesh
