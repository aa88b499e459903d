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
// What goes from cell to cell is a tensor, or a tuple or struct of them. Where several cells have a
// layer's result, it is carried on under a name: remember, recall (layers.hpp).
#pragma once

#include "dimesh/pipeline/executor.hpp"
#include "dimesh/pipeline/forecast.hpp"
#include "dimesh/pipeline/rank_operations.hpp"
#include "dimesh/pipeline/typed_cell.hpp"

namespace dimesh {

/// How a pipeline runs.
struct pipeline_settings {
  bool blocking = false;  ///< messages are waited for; of schedules that are safe_blocking
  pipeline_report* report = nullptr;  ///< where to note what this rank did
};

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
    requires(std::tuple_size_v<W> == count)
  auto value_and_grad(const S& s, const W& weights, const Inputs& inputs, const Loss& loss,
                      const pipeline_settings& how = {}) const {
    using after = detail::pipeline::mean_of<Loss>;
    using X = std::remove_cvref_t<decltype(inputs(0))>;
    using fault = fault_of<true, after, W, X>;
    static_assert(ok<only<fault, weight_not_on_stage>>,
                  "pipeline: a weight of a cell does not live at the cell's place; give its layout "
                  "placed<axis, k> of the cell's own k");
    static_assert(ok<only<fault, stages_do_not_meet, layers_do_not_meet>>,
                  "pipeline: a cell or a layer takes other dims than the one before it gives; let "
                  "the one give what the other takes");
    static_assert(ok<only<fault, name_not_carried, name_carried_already, name_not_recalled>>,
                  "pipeline: a name stands for no layer, for two, or for one that none recalls; "
                  "say remember<name>(f) of one layer, and recall<name>(f) of a later one");
    static_assert(ok<only<fault, cell_not_callable_with>>,
                  "pipeline: a cell cannot be called with its weights and what the cell before it "
                  "gives; take both as const auto&, and return a tensor");
    static_assert(ok<only<fault, slice_hands_on_other_type>>,
                  "pipeline: a cell of slices hands on other tensors than it takes from the slice "
                  "before; return a pair, the second as past(i) gives it");
    if constexpr (!ok<fault>) {
      return value_and_gradient<poison, poison>{};
    } else {
      return step<X>(detail::pipeline::listed_schedule(s), weights, cores_of(inputs), loss, how);
    }
  }
  /// The mean loss; and update(k, weights of cell k, their gradient) is called as soon as that is
  /// whole, while other cells go back still, those of this rank among them, and before the next
  /// batch of this rank whatever the others do: the optimizer works in the pipeline's bubble. k is
  /// an integral_constant; where a cell does not live, it is called at the end, with tensors
  /// without elements. Without a flush (stale.hpp) each update has the mean gradient of its
  /// micro-batches, by the weights that they saw on their way forward; the loss is the mean of all.
  template <PipelineSchedule S, class W, class Inputs, class Loss, class Update>
    requires(std::tuple_size_v<W> == count)
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
        return train_along(s, cores_of(inputs), how, weights, update, cell...);
      });
    }
  }
  /// What value_and_grad will take on this rank: memory, messages and arithmetic, counted on
  /// shapes. Nothing is computed or sent, so each rank may ask by itself; inputs(0) is called on
  /// every rank that does, and those of all slices of a sequence. What inputs and loss have
  /// captured was there before. Where blocks differ, of the first rank's, which are the largest.
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
            detail::pipeline::cell_base* const all[] = {&cell...};
            const auto on = detail::pipeline::standing_of<A>(all);
            const schedule list(s);
            const auto mine = list_of(list, all, on, how);
            const auto x = input_of(cores_of(inputs), *all[0]);
            return detail::pipeline::rehearse(all, on, how.blocking, x, list.slices, mine);
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
      return next_cell<0, false, after, W, X>(after{}, weights, [&](auto&... cell) {
        return serve(detail::pipeline::listed_schedule(s), cores_of(inputs), how, cell...);
      });
  }

 private:
  using micro_batches = std::function<detail::pipeline::cores(int)>;
  using schedule = detail::pipeline::listed_schedule;

  /// One function for all schedules, and for all functions that give an X.
  template <class X, class W, class Loss>
  auto step(const schedule& s, const W& weights, const micro_batches& inputs, const Loss& loss,
            const pipeline_settings& how) const {
    using after = detail::pipeline::mean_of<Loss>;
    return next_cell<0, true, after, W, X>(
        after{loss, 1.0 / s.micros}, weights,
        [&](auto&... cell) { return train(s, inputs, how, cell...); });
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
  /// The micro-batch at the first cell's place, which it need not have by type.
  static micro_batches input_of(const micro_batches& inputs, const detail::pipeline::cell_base& c) {
    return [inputs, &c](int micro) {
      detail::pipeline::cores all = inputs(micro);
      for (std::size_t i = 0; i < all.size(); ++i) all[i].facts = c.takes[i].facts;
      return all;
    };
  }
  /// This rank's operations.
  static auto list_of(const schedule& s, std::span<detail::pipeline::cell_base* const> all,
                      const detail::pipeline::standing& on, const pipeline_settings& how) {
    return detail::pipeline::operations_of(s, all, on.grid->sizes()[on.axis], on.coord(),
                                           how.blocking);
  }
  template <bool Recorded, class... C, class Then>
  static auto run(const schedule& s, const micro_batches& inputs, const pipeline_settings& how,
                  detail::pipeline::stage_listener* listener, const Then& then, C&... cell) {
    detail::pipeline::cell_base* const all[] = {&cell...};
    const auto on = detail::pipeline::standing_of<A>(all);
    const auto mine = list_of(s, all, on, how);
    detail::pipeline::messenger m(on.object, *on.grid, on.axis, how.blocking);
    detail::pipeline::executor e(all, m, on.coord(), Recorded, input_of(inputs, *all[0]), s.slices);
    e.listener = listener;
    e.run(mine);
    if (how.report != nullptr) *how.report = e.report;
    return then(e, on);
  }
  template <class... C>
  static auto train(const schedule& s, const micro_batches& inputs, const pipeline_settings& how,
                    C&... cell) {
    return run<true>(
        s, inputs, how, nullptr,
        [&](detail::pipeline::executor& e, const detail::pipeline::standing& on) {
          auto loss = loss_of<C...>(e, on);
          using gradients = std::tuple<decltype(cell.gradient())...>;
          return value_and_gradient<decltype(loss), gradients>{std::move(loss),
                                                               gradients{cell.gradient()...}};
        },
        cell...);
  }
  template <class... C>
  static auto loss_of(detail::pipeline::executor& e, const detail::pipeline::standing& on) {
    typename std::tuple_element_t<count - 1, std::tuple<C...>>::plain_given loss{};
    e.take_loss(detail::core_of(loss), on.object, *on.grid);
    return loss;
  }
  template <class S, class W, class Update, class... C>
  static auto train_along(const S& s, const micro_batches& inputs, const pipeline_settings& how,
                          W& weights, const Update& update, C&... cell) {
    detail::pipeline::cell_base* const all[] = {&cell...};
    detail::pipeline::stage_updates<S> updates(s, all, [&](int stage) {
      update_cell(std::index_sequence_for<C...>{}, stage, weights, update, cell...);
    });
    return run<true>(
        schedule(s), inputs, how, &updates,
        [&](detail::pipeline::executor& e, const detail::pipeline::standing& on) {
          const auto rank = on.grid->coords()[on.axis];
          const int times = detail::pipeline::updates_of(s);
          for (int k = 0; k < s.stages(); ++k)
            for (int i = 0; i < times && all[k]->place != rank; ++i)
              update_cell(std::index_sequence_for<C...>{}, k, weights, update, cell...);
          auto loss = loss_of<C...>(e, on);
          if (times > 1) loss = loss * (1.0 / times);
          return loss;
        },
        cell...);
  }
  template <std::size_t... I, class W, class Update, class... C>
  static void update_cell(std::index_sequence<I...>, int stage, W& weights, const Update& update,
                          C&... cell) {
    const auto one = [&](auto k, auto& c) {
      auto g = c.gradient();
      c.weights.clear();  // where nobody else has them, they are changed in place
      update(k, std::get<k>(weights), g);
      c.renew();
    };
    ((static_cast<int>(I) == stage ? one(std::integral_constant<std::size_t, I>{}, cell) : void()),
     ...);
  }
  template <class... C>
  static auto serve(const schedule& s, const micro_batches& inputs, const pipeline_settings& how,
                    C&... cell) {
    using last = std::tuple_element_t<count - 1, std::tuple<C...>>;
    using Y = typename last::plain_given;
    return run<false>(
        s, inputs, how, nullptr,
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
