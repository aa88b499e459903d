// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a model train whose layers live on the stages of a pipeline? Its cells are functions at
// coordinates of an axis; a schedule says in which order each rank works; values and gradients are
// means over the micro-batches, whatever the schedule.
//
//   const auto net = pipeline<stage>(cell<0>(f), cell<1>(g));
//   auto step = net.value_and_grad(one_f_one_b{2, 8}, weights, inputs, loss);
//     weights: a tuple, one element for each cell, its tensors at the cell's place
//     inputs(i): what the first cell gets of micro-batch i, on that stage
//     loss(y, i), or loss(y): a tensor without dims, of what the last cell gives, on that stage
//   step.value, step.gradient     as value_and_grad gives; complete(step) sums over other axes
//
// What goes from cell to cell is a tensor, or a tuple or struct of them. Where several cells have a
// layer's result, it is carried on under a name: remember, recall (layers.hpp).
#pragma once

#include "dimesh/core/any_argument.hpp"
#include "dimesh/pipeline/cells_runner.hpp"
#include "dimesh/pipeline/forecast.hpp"

namespace dimesh {

namespace detail::pipeline {
template <class C> inline constexpr bool is_cell = false;
template <index_t K, class F, class... D>
inline constexpr bool is_cell<pipeline_cell<K, F, D...>> = true;

template <class W, std::size_t Cells>
concept WeightsOf = requires { requires std::tuple_size<W>::value == Cells; };

/// A schedule, a tuple of as many weights as there are cells, what gives a micro-batch, and more.
template <std::size_t Cells, class... A> inline constexpr bool trains = false;
template <std::size_t Cells, class S, class W, class Inputs, class Loss, class... How>
inline constexpr bool trains<Cells, S, W, Inputs, Loss, How...> =
    PipelineSchedule<S> && WeightsOf<W, Cells> && !Operand<Inputs> &&
    std::is_invocable_v<const Inputs&, int> && sizeof...(How) < 2;
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
  /// what goes from cell to cell, and a header before the first message of each boundary. Throws
  /// dimesh::error for a schedule that is wrong, or made for other cells, and where extents differ.
  template <PipelineSchedule S, class W, class Inputs, class Loss>
    requires detail::pipeline::trains<count, S, W, Inputs, Loss>
  auto value_and_grad(const S& s, const W& weights, const Inputs& inputs, const Loss& loss,
                      const pipeline_settings& how = {}) const {
    using after = detail::pipeline::mean_of<Loss>;
    using X = std::remove_cvref_t<decltype(inputs(0))>;
    using fault = fault_of<true, after, W, X>;
    using updates = detail::pipeline::fault_of_updates<S>;
    static_assert(ok<updates>,
                  "pipeline: value_and_grad gives one gradient, and this schedule updates weights "
                  "between micro-batches; take value_and_update, or one_f_one_b");
    static_assert(ok<only<fault, weight_not_on_stage>>,
                  "pipeline: a weight of a cell does not live at the cell's place; give its layout "
                  "placed<axis, k> of the cell's own k");
    static_assert(ok<only<fault, input_not_on_stage>>,
                  "pipeline: the inputs live at another place than the first cell; give their "
                  "layout placed<axis, k> of its k, or none, or send<axis, k> them");
    static_assert(ok<only<fault, stages_do_not_meet, layers_do_not_meet>>,
                  "pipeline: a cell or a layer takes other dims than the one before it gives; let "
                  "the one give what the other takes");
    static_assert(ok<only<fault, name_not_carried, name_carried_already, name_not_recalled>>,
                  "pipeline: a name stands for no layer, for two, or for one that none recalls; "
                  "say remember<name>(f) of one layer, and recall<name>(f) of a later one");
    static_assert(ok<only<fault, cell_not_callable_with>>,
                  "pipeline: a cell cannot be called with its weights and what the cell before it "
                  "gives; take both as const auto&, and return a tensor");
    static_assert(ok<only<fault, not_a_tensor>>,
                  "pipeline: what cells get, give or hand on has a part that is no tensor, or a "
                  "vector, which other ranks cannot make; use arrays, and tensors for numbers");
    static_assert(ok<only<fault, slice_hands_on_other_type>>,
                  "pipeline: a cell of slices hands on other tensors than it takes from the slice "
                  "before; return a pair, the second as past(i) gives it");
    if constexpr (!ok<fault> || !ok<updates>) {
      return value_and_gradient<poison, poison>{};
    } else {
      return step<X>(detail::pipeline::listed_schedule(s), weights, cores_of(inputs), loss, how);
    }
  }
  /// Arguments of other kinds, or in another order.
  template <class... Given>
    requires(!detail::pipeline::trains<count, Given...>)
  auto value_and_grad(const Given&...) const {
    static_assert(ok<wrong_arguments<Given...>>,
                  "pipeline: value_and_grad(schedule, weights, inputs, loss): a tuple with the "
                  "weights of each cell, then functions inputs(i) and loss(y, i)");
    return value_and_gradient<poison, poison>{};
  }
  /// The mean loss; and update(k, weights of cell k, their gradient) is called as soon as that is
  /// whole, while other cells go back still, those of this rank among them, and before the next
  /// batch of this rank whatever the others do: the optimizer works in the pipeline's bubble. k is
  /// an integral_constant; where a cell does not live, it is called at the end, with tensors
  /// without elements. Without a flush (stale.hpp) each update has the mean gradient of its
  /// micro-batches, by the weights that they saw on their way forward; the loss is the mean of all.
  template <PipelineSchedule S, class W, class Inputs, class Loss, class Update>
    requires detail::pipeline::WeightsOf<W, count>
  auto value_and_update(const S& s, W& weights, const Inputs& inputs, const Loss& loss,
                        const Update& update, const pipeline_settings& how = {}) const {
    using after = detail::pipeline::mean_of<Loss>;
    using X = std::remove_cvref_t<decltype(inputs(0))>;
    static_assert(ok<fault_of<true, after, W, X>>,
                  "pipeline: the cells and their weights do not fit; value_and_grad of them says "
                  "what is wrong");
    if constexpr (!ok<fault_of<true, after, W, X>>) {
      return poison{};
    } else {
      detail::pipeline::require_versions(s);
      const after mean{loss, 1.0 / detail::pipeline::micros_of_update(s)};
      return next_cell<0, true, after, W, X>(mean, weights, [&](auto&... cell) {
        return runner::train_along(s, cores_of(inputs), how, weights, update, cell...);
      });
    }
  }
  /// What value_and_grad will take on this rank: memory, messages and arithmetic, counted on
  /// shapes. Nothing is computed or sent, so each rank may ask by itself; inputs(0) is called on
  /// every rank that does, and those of all slices of a sequence. What inputs and loss have
  /// captured was there before. Where blocks differ, of the first rank's, which are the largest.
  template <PipelineSchedule S, class W, class Inputs, class Loss>
    requires detail::pipeline::WeightsOf<W, count>
  pipeline_forecast forecast(const S& s, const W& weights, const Inputs& inputs, const Loss& loss,
                             const pipeline_settings& how = {}) const {
    using after = detail::pipeline::mean_of<Loss>;
    using X = std::remove_cvref_t<decltype(inputs(0))>;
    using updates = detail::pipeline::fault_of_updates<S>;
    static_assert(ok<updates>,
                  "pipeline: forecast is of value_and_grad, and this schedule updates weights "
                  "between micro-batches; take one_f_one_b");
    static_assert(ok<fault_of<true, after, W, X>>,
                  "pipeline: the cells and their weights do not fit; value_and_grad of them says "
                  "what is wrong");
    if constexpr (!ok<fault_of<true, after, W, X>> || !ok<updates>)
      return {};
    else
      return next_cell<0, true, after, W, X>(
          after{loss, 1.0 / s.micros}, weights, [&](auto&... cell) {
            detail::pipeline::cell_base* const all[] = {&cell...};
            const auto on = detail::pipeline::standing_of<A>(all);
            const schedule list(s);
            const auto mine = runner::list_of(list, all, on, how.blocking, true);
            const auto x = runner::input_of(cores_of(inputs), *all[0]);
            return detail::pipeline::rehearse(all, on, how.blocking, x, list.slices, mine);
          });
  }
  /// What the last cell gives of each micro-batch, a vector, empty on other stages. Of
  /// forward_only; or by the way forward of any schedule, where cells are placed for that.
  template <PipelineSchedule S, class W, class Inputs>
    requires detail::pipeline::WeightsOf<W, count>
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
      return next_cell<0, false, after, W, X>(after{}, weights, [&](auto&... cell) {
        return runner::serve(detail::pipeline::listed_schedule(s), cores_of(inputs), how, cell...);
      });
  }

 private:
  using micro_batches = detail::pipeline::micro_batches;
  using schedule = detail::pipeline::listed_schedule;
  using runner = detail::pipeline::cells_runner<A>;

  /// One function for all schedules, and for all functions that give an X.
  template <class X, class W, class Loss>
  auto step(const schedule& s, const W& weights, const micro_batches& inputs, const Loss& loss,
            const pipeline_settings& how) const {
    using after = detail::pipeline::mean_of<Loss>;
    return next_cell<0, true, after, W, X>(
        after{loss, 1.0 / s.micros}, weights,
        [&](auto&... cell) { return runner::train(s, inputs, how, cell...); });
  }
  template <class Inputs> static micro_batches cores_of(const Inputs& inputs) {
    return [&inputs](int micro) {
      const auto x = inputs(micro);
      detail::pipeline::cores all;
      const detail::core_list<std::remove_cvref_t<decltype(x)>> from(x);
      for (int i = 0; i < from.size; ++i) all.push_back(*from.at[i]);
      return all;
    };
  }
  template <bool Recorded, class After, class W, class X>
  using fault_of =
      typename detail::pipeline::chain_fault<A, Recorded, After, W, X, 0, void, Cell...>::type;

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

  std::tuple<Cell...> cells_;
};

// Names without a coordinate in front.
template <class... D> constexpr poison cell(detail::any_argument) {
  static_assert(ok<wrong_arguments<detail::nothing<D...>>>,
                "cell: the coordinate of its stage stands in the angle brackets, and the dims that "
                "it takes may follow: cell<0>(f), cell<0, batch, hidden>(f)");
  return {};
}

/// A pipeline along axis A, of cells in the order in which a micro-batch goes through them.
template <Axis A, class... Cell>
  requires(detail::pipeline::is_cell<Cell> && ...)
constexpr auto pipeline(const Cell&... cells) {
  return pipeline_of<A, Cell...>(cells...);
}
template <class A, class... Cell>
  requires(!(Axis<A> && ... && detail::pipeline::is_cell<Cell>))
poison pipeline(const Cell&...) {
  using fault = std::conditional_t<Axis<A>, wrong_arguments<Cell...>, not_an_axis<A>>;
  static_assert(ok<std::conditional_t<(is_poison<Cell> || ...), no_fault, fault>>,
                "pipeline: the axis of the stages stands in the angle brackets, cells with their "
                "places in the parentheses: pipeline<stage>(cell<0>(f), cell<1>(g))");
  return {};
}
template <class... No>
  requires(sizeof...(No) == 0)
poison pipeline(detail::any_argument, detail::any_argument = {}, detail::any_argument = {},
                detail::any_argument = {}) {
  static_assert(ok<not_an_axis<detail::nothing<No...>>>,
                "pipeline: the axis of the stages stands in the angle brackets, cells with their "
                "places in the parentheses: pipeline<stage>(cell<0>(f), cell<1>(g))");
  return {};
}

}  // namespace dimesh
